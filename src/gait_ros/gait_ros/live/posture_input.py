# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Posture of the body over its feet, from ``body_pose`` and ``~/sit``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
import math

from geometry_msgs.msg import Pose
from rclpy.node import Node
from scipy.spatial.transform import Rotation
from std_srvs.srv import SetBool

from gait_core.contracts import Controller
from gait_core.errors import ConfigurationError
from gait_core.trial.spec import Command
from gait_ros.nodes.faults import ThrottledLogger
from gait_ros.nodes.qos import subscribe
from gait_ros.nodes.services import offer_service

POSE_TOPIC, SIT_SERVICE = 'body_pose', '~/sit'
POSE_SET_POINTS = ('height', 'roll', 'pitch', 'yaw')
SIT_SET_POINT = 'sit'
# Largest deviation of the norm of a quaternion from 1.
_NORM_TOLERANCE = 1e-3


class PostureInput:
    """
    Set points of a posture, from the topic ``body_pose`` and the service ``~/sit``.

    They are the height above that of the walk, which is z of the pose, and the attitude; x and y
    are ignored. A quaternion of zeros, the default of the message, means no rotation.

    Attributes
    ----------
    is_requested : bool
        Whether a new posture was requested; the caller clears it once the robot moves to it.

    """

    def __init__(self, node: Node, refusal: Callable[[], str]) -> None:
        self._refusal = refusal
        self._warn = ThrottledLogger(node.get_logger(), is_error=False)
        self._points: dict[str, float] = {}
        self.is_requested = False
        subscribe(node, Pose, POSE_TOPIC, self._on_pose)
        offer_service(node, SetBool, SIT_SERVICE, self._on_sit)

    @property
    def set_points(self) -> Mapping[str, float]:
        """Present set points; empty before the first request."""
        return self._points

    @property
    def requests_sit(self) -> bool:
        """True if the robot is requested to sit, so that it does not walk."""
        return self._points.get(SIT_SET_POINT, 0.0) > 0.0

    def add_set_points(self, command: Command) -> Command:
        """Return a command with the present set points added."""
        points = {**command.set_points, **self._points}
        return replace(command, set_points=points) if self._points else command

    def _on_pose(self, message: Pose) -> None:
        """Request the posture of a pose, whose quaternion may be zero."""
        quaternion = [getattr(message.orientation, name) for name in 'xyzw']
        norm = math.sqrt(sum(part * part for part in quaternion))
        if not (
            math.isfinite(message.position.z)
            and (norm == 0.0 or abs(norm - 1.0) < _NORM_TOLERANCE)
        ):
            self._warn(
                f'message on {POSE_TOPIC} refused: the height is {message.position.z:g} m and the '
                f'norm of the quaternion {norm:g}, expected a finite height and norm 1'
            )
            return
        if refusal := self._refusal():
            self._warn(f'message on {POSE_TOPIC} refused: {refusal}')
            return
        roll, pitch, yaw = (0.0, 0.0, 0.0)
        if norm > 0.0:
            roll, pitch, yaw = Rotation.from_quat(quaternion).as_euler('xyz').tolist()
        pose = (float(message.position.z), roll, pitch, yaw)
        self._request(dict(zip(POSE_SET_POINTS, pose, strict=True)))

    def _on_sit(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        if refusal := self._refusal():
            raise ConfigurationError(f'the robot cannot move: {refusal}')
        self._request({SIT_SET_POINT: float(request.data)})
        response.success = True
        return response

    def _request(self, points: Mapping[str, float]) -> None:
        new_points = {**self._points, **points}
        self.is_requested |= any(
            value != self._points.get(name, 0.0) for name, value in new_points.items()
        )
        self._points = new_points


def make_posture_input(
    node: Node, controller: Controller, refusal: Callable[[], str]
) -> PostureInput | None:
    """
    Return the input of a controller with the set points of a posture; None for another one.

    ``refusal`` returns why the robot cannot move now; empty if it can.
    """
    accepts_posture = {*POSE_SET_POINTS, SIT_SET_POINT} <= set(controller.set_points)
    return PostureInput(node, refusal) if accepts_posture else None
