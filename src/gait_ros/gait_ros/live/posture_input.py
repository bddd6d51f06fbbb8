"""Posture of the body over its feet, by topic and service: set points of a controller."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
import math

from geometry_msgs.msg import Pose
from rclpy.node import Node
from scipy.spatial.transform import Rotation
from std_srvs.srv import SetBool

from gait_core.contracts import Controller
from gait_core.trial.spec import Command
from gait_ros.nodes.faults import Repeated
from gait_ros.nodes.qos import listen
from gait_ros.nodes.services import serve

TOPIC, SERVICE = 'body_pose', '~/sit'
POSE = ('height', 'roll', 'pitch', 'yaw')
SIT = 'sit'
_UNIT = 1e-3


def takes_posture(controller: Controller) -> bool:
    """Return whether a controller has the set points of a posture."""
    return {*POSE, SIT} <= set(controller.set_points)


class PostureInput:
    """
    Subscribes to ``body_pose`` and serves ``~/sit``.

    Of the pose counts what moves a body over standing feet: z, over the height of the walk, and
    the attitude. A quaternion of zeros, which a message has by default, is no turn.

    Attributes
    ----------
    asked : bool
        Whether a new posture was requested; cleared by the caller once the robot moves to it.

    """

    def __init__(self, node: Node) -> None:
        self._warn = Repeated(node.get_logger(), is_error=False)
        self._points: dict[str, float] = {}
        self.asked = False
        listen(node, Pose, TOPIC, self._on_pose)
        serve(node, SetBool, SERVICE, self._on_sit)

    @property
    def set_points(self) -> Mapping[str, float]:
        """Set points in force; empty until a message has come."""
        return self._points

    @property
    def sits(self) -> bool:
        """True if the robot is asked to sit, and therefore does not walk."""
        return self._points.get(SIT, 0.0) > 0.0

    def added(self, command: Command) -> Command:
        """Return a command with these set points."""
        points = {**command.set_points, **self._points}
        return replace(command, set_points=points) if self._points else command

    def _on_pose(self, message: Pose) -> None:
        turn = [getattr(message.orientation, name) for name in 'xyzw']
        size = math.sqrt(sum(part * part for part in turn))
        if not (math.isfinite(message.position.z) and (size == 0.0 or abs(size - 1.0) < _UNIT)):
            self._warn(
                f'{TOPIC} refused: height {message.position.z:g} m, length of quaternion '
                f'{size:g}, expected finite and 1'
            )
            return
        roll, pitch, yaw = (0.0, 0.0, 0.0)
        if size > 0.0:
            roll, pitch, yaw = Rotation.from_quat(turn).as_euler('xyz').tolist()
        pose = (float(message.position.z), roll, pitch, yaw)
        self._ask(dict(zip(POSE, pose, strict=True)))

    def _on_sit(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self._ask({SIT: float(request.data)})
        response.success = True
        return response

    def _ask(self, points: Mapping[str, float]) -> None:
        wanted = {**self._points, **points}
        self.asked |= any(value != self._points.get(name, 0.0) for name, value in wanted.items())
        self._points = wanted
