# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Footholds to the left and right of a path that follows a commanded twist.

A planar pose is (x, y, yaw) in the frame of the plan [m, m, rad].
"""

from __future__ import annotations

import math

Pose = tuple[float, float, float]
Twist = tuple[float, float, float]
ZERO_TWIST: Twist = (0.0, 0.0, 0.0)
_POSE_TOLERANCE = 1e-4
"""Distance [m] and angle [rad] below which two poses are equal."""


def compose_poses(pose: Pose, step: Pose) -> Pose:
    """Return the pose that ``step``, given in the frame of ``pose``, leads to from there."""
    x, y, yaw = pose
    c, s = math.cos(yaw), math.sin(yaw)
    return x + c * step[0] - s * step[1], y + s * step[0] + c * step[1], yaw + step[2]


def integrate_twist(twist: Twist, time: float) -> Pose:
    """Return the displacement of a body with constant twist after a time [s]: along an arc."""
    angle = twist[2] * time
    if abs(angle) > 1e-6:
        along, across = math.sin(angle) / angle, (1.0 - math.cos(angle)) / angle
    else:
        along, across = 1.0, 0.5 * angle
    x, y = twist[0] * time, twist[1] * time
    return along * x - across * y, across * x + along * y, angle


def next_foothold(
    support: Pose, side: float, half_width: float, twist: Twist, time: float
) -> Pose:
    """
    Return the foothold of the swinging foot.

    The foot on the side of the motion makes the sideways motion and the turn of two steps; the
    other foot makes none. So feet and toes never come closer than in the nominal stance. Forward,
    both steps are equal.

    Parameters
    ----------
    support : (x, y, yaw)
        Pose of the stance foot.
    side : float
        Side of the swinging foot: 1 for left, -1 for right.
    half_width : float [m]
        Distance of each foot from the path.
    twist : (x, y, yaw) [m/s, m/s, rad/s]
        Twist of the body in the frame of the path.
    time : float [s]
        Duration of a step.

    """
    path = compose_poses(support, (0.0, side * half_width, 0.0))
    side_speed = 2.0 * twist[1] if side * twist[1] > 0.0 else 0.0
    yaw_rate = 2.0 * twist[2] if side * twist[2] > 0.0 else 0.0
    path_end = compose_poses(path, integrate_twist((twist[0], side_speed, yaw_rate), time))
    return compose_poses(path_end, (0.0, side * half_width, 0.0))


def poses_match(first: Pose, second: Pose) -> bool:
    """Return whether two poses are equal within a tolerance."""
    return all(abs(a - b) < _POSE_TOLERANCE for a, b in zip(first, second, strict=True))
