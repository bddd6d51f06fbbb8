"""The safety layer of a live controller as its node has it: parameters, services, log lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rclpy.node import Node
from std_srvs.srv import Trigger

from gait_core.errors import BadCommand
from gait_core.observation import Observation
from gait_core.robot.model import RobotModel
from gait_core.safety import FALLEN, HOLDING, RESET, STARTING, STEP, STOPPED, SafetyLayer
from gait_core.safety_params import SafetyParams
from gait_core.targets import JointTargets
from gait_ros.parameters import DeclaredParameters
from gait_ros.services import serve

PREFIX = 'safety'
_BAD = (HOLDING, FALLEN, STOPPED)


class SafeOutput:
    """
    Declares ``safety.*``, offers ``~/emergency_stop`` and ``~/resume``, and wires the layer.

    Parameters
    ----------
    node : Node
    robot : RobotModel
    begin : callable
        Resets the controller.

    """

    def __init__(self, node: Node, robot: RobotModel, begin: Callable[[], None]) -> None:
        self._node, self._begin = node, begin
        declared = DeclaredParameters(node, SafetyParams, prefix=PREFIX, on_change=self._on_change)
        self.layer = SafetyLayer(robot, declared.value)
        self._said = self.layer.mode
        self.last_stop = ''
        """Why the robot stands, or what ended its last walk; empty: nothing has."""
        serve(node, Trigger, '~/emergency_stop', self._on_stop)
        serve(node, Trigger, '~/resume', self._on_resume)

    @property
    def trouble(self) -> str:
        """What keeps the robot from doing as the controller says; empty if nothing does."""
        return '' if self.layer.mode == STARTING else self.layer.reason

    @property
    def urgent(self) -> bool:
        """Whether that is more than a start under way."""
        return self.layer.mode in _BAD

    def targets(
        self,
        dt: float,
        observation: Observation,
        age: float,
        step: Callable[[], JointTargets],
    ) -> JointTargets | None:
        """
        Return what to publish for a control period of length dt [s], or nothing.

        Parameters
        ----------
        dt : float [s]
        observation : Observation
        age : float [s]
            Of the oldest joint state.
        step : callable
            Steps the controller; what it raises as BadCommand is refused, and the last holds.

        """
        layer = self.layer
        if not layer.params.enabled:
            return self._stepped(step)
        action = layer.sense(dt, observation, age)
        if action == RESET:
            self._begin()
        targets = self._stepped(step) if action in (STEP, RESET) else None
        self._say()
        return layer.output(dt, targets)

    def counts(self) -> Mapping[str, object]:
        """Return what was refused, clamped, held and stopped, for diagnostics."""
        layer = self.layer
        return {
            'safety': layer.mode if layer.params.enabled else 'off',
            'refused': layer.refused,
            'holds': layer.holds,
            'falls': layer.falls,
            'stops': layer.stops,
            **{f'clamped_{what}': int(count.sum()) for what, count in layer.clamped.items()},
        }

    def _stepped(self, step: Callable[[], JointTargets]) -> JointTargets | None:
        try:
            return step()
        except BadCommand as error:
            self.layer.refuse()
            self._node.get_logger().error(
                f'the controller gave no usable targets: {error}', throttle_duration_sec=10.0
            )
            return None

    def _say(self) -> None:
        """Log a change of mode, once."""
        mode = self.layer.mode
        if mode == self._said:
            return
        self._said = mode
        logger = self._node.get_logger()
        if mode in _BAD:
            self.last_stop = self.layer.reason
            logger.warning(self.layer.reason)
        else:
            logger.info(self.layer.reason or 'the controller moves the robot')

    def _on_change(self, params: SafetyParams) -> None:
        self.layer.params = params

    def _on_stop(self, request: Any, response: Trigger.Response) -> Trigger.Response:
        self.layer.stop('emergency stop')
        response.success, response.message = True, self.layer.reason
        self._say()
        return response

    def _on_resume(self, request: Any, response: Trigger.Response) -> Trigger.Response:
        response.message = self.layer.resume()
        response.success = not response.message
        return response
