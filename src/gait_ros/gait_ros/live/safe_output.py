# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Safety layer of a controller node: its parameters, services and log lines."""

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
    Safety layer with the parameters ``safety.*`` and services ``~/emergency_stop``, ``~/resume``.

    Parameters
    ----------
    node : Node
    robot : RobotModel
    begin : callable
        Resets the controller.
    stop : callable
        Called at an emergency stop, to publish a hold before the next control period.
    quantity : str
        The only command interface of the robot; see SafetyLayer.

    Attributes
    ----------
    layer : SafetyLayer
    last_stop_reason : str
        Reason of the present or last hold, fall or stop; empty before the first.
    fault : str
        One line on the failure of the last control period; empty after a good one.

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
        self._logged_mode = self.layer.mode
        self.last_stop_reason = ''
        self.fault = ''
        self._log_fault = ThrottledLogger(node.get_logger())
        self._stop_service = offer_service(node, Trigger, '~/emergency_stop', self._on_stop)
        offer_service(node, Trigger, '~/resume', self._on_resume)

    @property
    def trouble(self) -> str:
        """One line on why the robot does not follow the controller; empty if it does."""
        layer = self.layer
        return self.fault or ('' if layer.mode in (STARTING, STANDING) else layer.reason)

    @property
    def is_urgent(self) -> bool:
        """True if the robot is stopped by a fault, hold, fall or stop, and not just starting."""
        return bool(self.fault) or self.layer.mode in _STOPPED_MODES

    @property
    def stop_reason(self) -> str:
        """Reason of the present emergency stop; empty without one."""
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
        Return the targets of a control period of length ``dt`` [s]; None: publish nothing.

        Parameters
        ----------
        dt : float [s]
        observation : Observation
        age : float [s]
            Age of the oldest joint state.
        step : callable
            Steps the controller and returns its targets. An exception is counted, and the last
            targets hold.
        moving : bool
            Whether the controller moves the robot; otherwise the joints hold.

        """
        layer = self.layer
        # The layer first decides by the observation whether to step or reset the controller, and
        # then limits its targets; without targets the joints hold.
        action = layer.next_action(dt, observation, age, moving)
        self.fault = ''
        targets = None
        if action in (STEP, RESET):
            targets = self._step_controller(step, after_reset=action == RESET)
        self._log_mode()
        return layer.output(dt, targets)

    def record_fault(self, error: BaseException) -> None:
        """Count and log a control period without valid targets."""
        self.layer.count_refusal()
        self.fault = (
            'the robot holds, because the controller gave no valid targets: '
            f'{describe_error(error)}'
        )
        self._log_fault(self.fault)

    def handle_stops(self) -> None:
        """Handle waiting emergency stops at once, ahead of all other events."""
        # Take requests from the service directly, because the executor serves events in order.
        stops = self._stop_service
        while True:
            with stops.handle:
                request, header = stops.handle.service_take_request(Trigger.Request)
            if request is None:
                return
            stops.send_response(self._on_stop(request, Trigger.Response()), header)

    def counts(self) -> Mapping[str, object]:
        """Return the mode and the counts of refusals, clamps, holds, falls and stops."""
        layer = self.layer
        return {
            'safety': layer.mode if layer.params.enabled or self.stop_reason else 'off',
            'refused': layer.refusals,
            'holds': layer.holds,
            'falls': layer.falls,
            'stops': layer.stops,
            **{f'clamped_{what}': int(count.sum()) for what, count in layer.clamped.items()},
        }

    def _step_controller(
        self, step: Callable[[], JointTargets], after_reset: bool
    ) -> JointTargets | None:
        """Step the controller, which may need a reset first; None if it raises an exception."""
        try:
            if after_reset:
                self._begin()
            return step()
        except CAUGHT_EXCEPTIONS as error:
            self.record_fault(error)
            return None

    def _log_mode(self) -> None:
        """Log a change of mode, once."""
        mode = self.layer.mode
        if mode == self._logged_mode:
            return
        self._logged_mode = mode
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
        self._log_mode()
        return response

    def _on_resume(self, request: Any, response: Trigger.Response) -> Trigger.Response:
        response.message = self.layer.resume()
        response.success = not response.message
        return response
