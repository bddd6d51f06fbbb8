"""The safety layer of a live controller as its node has it: parameters, services, log lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rclpy.node import Node
from std_srvs.srv import Trigger

from gait_core.errors import describe_error
from gait_core.motion.observation import Observation
from gait_core.motion.targets import JointTargets
from gait_core.robot.model import RobotModel
from gait_core.safety.layer import (
    FALLEN,
    HOLDING,
    RESET,
    STANDING,
    STARTING,
    STEP,
    STOPPED,
    SafetyLayer,
)
from gait_core.safety.parameters import SafetyParams
from gait_ros.nodes.faults import CAUGHT_EXCEPTIONS, ThrottledLogger
from gait_ros.nodes.parameters import DeclaredParameters
from gait_ros.nodes.services import offer_service

SAFETY_PREFIX = 'safety'
MOTION_STARTED = 'the controller moves the robot'
"""Logged at the end of a soft start."""
_STOPPED_MODES = (HOLDING, FALLEN, STOPPED)


class SafeOutput:
    """
    Declares ``safety.*``, offers ``~/emergency_stop`` and ``~/resume``, and wires the layer.

    Parameters
    ----------
    node : Node
    robot : RobotModel
    begin : callable
        Resets the controller.
    stop : callable
        Called at an emergency stop, to send a hold before the next control period.
    quantity : str
        The only command interface of the robot; see SafetyLayer.

    """

    def __init__(
        self,
        node: Node,
        robot: RobotModel,
        begin: Callable[[], None],
        stop: Callable[[], None],
        quantity: str = '',
    ) -> None:
        self._node, self._begin, self._stop = node, begin, stop
        declared = DeclaredParameters(
            node, SafetyParams, prefix=SAFETY_PREFIX, on_change=self._on_change
        )
        self.layer = SafetyLayer(robot, declared.value, quantity)
        self._said = self.layer.mode
        self.last_stop_reason = ''
        """Reason for which the robot stands or last stood; empty if there was none."""
        self.fault = ''
        """One line on the failure of the last control period; empty if there was none."""
        self._say_fault = ThrottledLogger(node.get_logger())
        self._stops = offer_service(node, Trigger, '~/emergency_stop', self._on_stop)
        offer_service(node, Trigger, '~/resume', self._on_resume)

    @property
    def trouble(self) -> str:
        """One line on why the controller is not followed; empty if it is."""
        layer = self.layer
        return self.fault or ('' if layer.mode in (STARTING, STANDING) else layer.reason)

    @property
    def is_urgent(self) -> bool:
        """True if the trouble needs attention, and is not just a start under way."""
        return bool(self.fault) or self.layer.mode in _STOPPED_MODES

    @property
    def stop_reason(self) -> str:
        """Reason of the emergency stop in force; empty if there is none."""
        return self.layer.reason if self.layer.mode == STOPPED else ''

    def next_targets(
        self,
        dt: float,
        observation: Observation,
        age: float,
        step: Callable[[], JointTargets],
        moving: bool = True,
    ) -> JointTargets | None:
        """
        Return what to publish for a control period of length dt [s], or nothing.

        Parameters
        ----------
        dt : float [s]
        observation : Observation
        age : float [s]
            Age of the oldest joint state.
        step : callable
            Steps the controller; an exception is counted, and the last targets hold.
        moving : bool
            Whether the controller moves the robot; else the joints hold.

        """
        layer = self.layer
        action = layer.next_action(dt, observation, age, moving)
        self.fault = ''
        targets = None
        if action in (STEP, RESET):
            targets = self._stepped(step, anew=action == RESET)
        self._say()
        return layer.output(dt, targets)

    def refuse(self, error: BaseException) -> None:
        """Count and log a control period without usable targets."""
        self.layer.count_refusal()
        self.fault = (
            f'the robot holds, for the controller gave no valid targets: {describe_error(error)}'
        )
        self._say_fault(self.fault)

    def handle_stops(self) -> None:
        """Handle waiting emergency stops at once, ahead of other requests."""
        stops = self._stops
        while True:
            with stops.handle:
                request, header = stops.handle.service_take_request(Trigger.Request)
            if request is None:
                return
            stops.send_response(self._on_stop(request, Trigger.Response()), header)

    def counts(self) -> Mapping[str, object]:
        """Return the counts of refusals, clamps, holds, falls and stops, for diagnostics."""
        layer = self.layer
        return {
            'safety': layer.mode if layer.params.enabled or self.stop_reason else 'off',
            'refused': layer.refusals,
            'holds': layer.holds,
            'falls': layer.falls,
            'stops': layer.stops,
            **{f'clamped_{what}': int(count.sum()) for what, count in layer.clamped.items()},
        }

    def _stepped(self, step: Callable[[], JointTargets], anew: bool) -> JointTargets | None:
        try:
            if anew:
                self._begin()
            return step()
        except CAUGHT_EXCEPTIONS as error:
            self.refuse(error)
            return None

    def _say(self) -> None:
        """Log a change of mode, once."""
        mode = self.layer.mode
        if mode == self._said:
            return
        self._said = mode
        logger = self._node.get_logger()
        if mode in _STOPPED_MODES:
            self.last_stop_reason = self.layer.reason
            logger.warning(self.layer.reason)
        elif mode != STANDING:
            logger.info(self.layer.reason or MOTION_STARTED)

    def _on_change(self, params: SafetyParams) -> None:
        self.layer.params = params

    def _on_stop(self, request: Any, response: Trigger.Response) -> Trigger.Response:
        self.layer.stop('emergency stop')
        self._stop()
        response.success, response.message = True, self.layer.reason
        self._say()
        return response

    def _on_resume(self, request: Any, response: Trigger.Response) -> Trigger.Response:
        response.message = self.layer.resume()
        response.success = not response.message
        return response
