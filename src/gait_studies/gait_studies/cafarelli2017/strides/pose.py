# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Pose of the body over three feet, dragging and stability, as printed and as coded.

Pitch follows from planar triangles of the legs of one side, roll from the third leg. The frame is
that of the thesis: origin below hip 1, x towards hip 3 (backward), y towards hip 2.

References
----------
Cafarelli (2017), sections 5.2.7 and 5.2.8; ``DraggingObjective`` and ``StabilityObjective`` of
appendix B.

"""

from __future__ import annotations

import math
from typing import NamedTuple

from numba import njit

from gait_core.arrays import FloatArray
from gait_studies.cafarelli2017.strides.hexapod import BodyConstants
from gait_studies.cafarelli2017.strides.rules import RuleFlags


class Pose(NamedTuple):
    """
    Pose of the body over the three feet of a tripod.

    Attributes
    ----------
    pitch, roll : float [rad]
        Pitch is positive nose down; roll is pi/2 if the body is level.
    side : (3,) tuple [m]
        Heights of hips 1 to 3 in the plane of the body's side.
    feet_x, feet_y : (3,) tuples [m]
        Feet on the ground.
    centre_x, centre_y : float [m]
        Projection of the centre of mass.

    """

    pitch: float
    roll: float
    side: tuple[float, float, float]
    feet_x: tuple[float, float, float]
    feet_y: tuple[float, float, float]
    centre_x: float
    centre_y: float


@njit(cache=True)
def _triangle_side(a: float, b: float, opposite: float) -> float:
    return math.sqrt(a * a + b * b - 2.0 * a * b * math.cos(opposite))


@njit(cache=True)
def _triangle_angle(opposite: float, b: float, c: float) -> float:
    cosine = (opposite * opposite - b * b - c * c) / (-2.0 * b * c)
    # No such triangle: nan, as in Java, and every comparison with it is false.
    return math.acos(cosine) if -1.0 <= cosine <= 1.0 else math.nan


@njit(cache=True)
def _hip_to_foot(leg: FloatArray) -> tuple[float, float]:
    """Return the distance from hip to foot, hf of Eq. 5.6, and its angle to the upper segment."""
    distance = _triangle_side(leg[2], leg[3], math.pi - leg[1])
    return distance, _triangle_angle(leg[3], leg[2], distance)


@njit(cache=True)
def pose_from_feet(posture: FloatArray, body: BodyConstants, rules: RuleFlags) -> Pose:
    """
    Return the pose over the feet of a posture, (3, 4) [rad, rad, m, m].

    References
    ----------
    Cafarelli (2017), equations 5.6 to 5.23 and 5.32 to 5.35.

    """
    hf1, u1 = _hip_to_foot(posture[0])
    hf2, u2 = _hip_to_foot(posture[1])
    hf3, u3 = _hip_to_foot(posture[2])
    # Angles theta between the body and the lines from hip to foot, as in the listing.
    theta1, theta3 = math.pi - posture[0, 0] - u1, posture[2, 0] + u3
    theta2 = math.pi - posture[1, 0] - u2
    length = body.body_length
    diagonal = _triangle_side(hf1, length, theta1)  # Eq. 5.7, a
    inner3 = _triangle_angle(hf1, length, diagonal)  # Eq. 5.8, theta_3'
    if not rules.pose_angles:
        inner3 = math.pi - inner3
    delta1 = math.pi - theta1 - inner3  # Eq. 5.9
    ground = _triangle_side(hf3, diagonal, theta3 - inner3)  # Eq. 5.10, l_g
    inner1 = _triangle_angle(hf3, ground, diagonal)  # Eq. 5.11, delta_1'
    if not rules.pose_angles:
        inner1 = math.pi - inner1
    delta3 = math.pi - inner1 - (theta3 - inner3)  # Eq. 5.12
    pitch = math.pi - delta3 - theta3  # Eq. 5.13, delta_13
    # Eqs. 5.14 to 5.17: heights h' of the hips in the plane of the side; 5.14 is printed with 108.
    straight = math.pi if rules.front_height else 108.0 * math.pi / 180.0
    front, rear = straight - delta1 - inner1, delta3
    delta2 = theta2 - pitch
    h1, h2, h3 = hf1 * math.sin(front), hf2 * math.sin(delta2), hf3 * math.sin(rear)
    # Eq. 5.20: delta_123, with the dead band of the program.
    difference = (h3 + h1) / 2.0 - h2
    roll = math.pi / 2.0
    if not abs(difference) < rules.dead_band:
        roll = math.atan2(body.tripod_width, difference)
    cos_roll, sin_roll = math.cos(roll), math.sin(roll)
    # Eqs. 5.32 to 5.34: feet 1 to 3; Eq. 5.35: the centre of mass.
    return Pose(
        pitch,
        roll,
        (h1, h2, h3),
        (
            hf1 * math.cos(math.pi - delta1 - inner1),
            length / 2.0 * math.cos(pitch) + hf2 * math.cos(delta2),
            length * math.cos(pitch) + hf3 * math.cos(rear),
        ),
        (-h1 * cos_roll, body.tripod_width / sin_roll - h2 * cos_roll, -h3 * cos_roll),
        length / 2.0 * math.cos(pitch),
        (body.tripod_width - body.body_width / 2.0) / sin_roll,
    )


@njit(cache=True)
def swings_free(pose: Pose, swing: FloatArray, body: BodyConstants, rules: RuleFlags) -> bool:
    """
    Return whether no foot of a swinging posture, (3, 4), reaches the ground (dragging objective).

    False if a triangle does not exist.

    References
    ----------
    Cafarelli (2017), equations 5.18, 5.19 and 5.24 to 5.27.

    """
    slope = math.tan(math.pi / 2.0 - pose.roll)
    inward = 2.0 * body.tripod_width - body.body_width
    if not rules.side_clearance:
        inward = body.body_width
    for leg in range(3):
        # Eqs. 5.21 to 5.23: h_i = h'_i sin(delta_123), the limit on a level body.
        limit = pose.side[leg] * math.sin(pose.roll)
        if slope != 0.0:
            # Eqs. 5.24 and 5.26: s_i = h'_i / tan(90 - delta_123); Eq. 5.25 (leg 2) and Eq. 5.27
            # (legs 1 and 3): the largest h' of the swing leg across the body.
            shift = body.body_width if leg == 1 else -inward
            limit = (pose.side[leg] / slope + shift) * slope
        # Eqs. 5.18 and 5.19: h'_iu = hf_iu sin(theta_iu - delta_13).
        distance, angle = _hip_to_foot(swing[leg])
        height = distance * math.sin(math.pi - swing[leg, 0] - angle - pose.pitch)
        if not limit > height:
            return False
    return True


@njit(cache=True)
def _height_above_edge(pose: Pose, a: int, b: int, offset: float) -> float:
    """Return the y distance of the CoM above the line of two feet, shifted by an offset [m]."""
    run = pose.feet_x[a] - pose.feet_x[b]
    rise = pose.feet_y[a] - pose.feet_y[b]
    # As in Java, a division by zero makes no exception but an infinite slope.
    slope = rise / run if run != 0.0 else math.copysign(math.inf, rise)
    # Eqs. 5.36 to 5.38: the line through two feet; Eqs. 5.39 to 5.41: shifted by the buffer c.
    shift = offset / math.cos(math.atan(slope))
    return pose.centre_y - (slope * (pose.centre_x - pose.feet_x[a]) + pose.feet_y[a] + shift)


@njit(cache=True)
def is_stable(pose: Pose, rules: RuleFlags) -> bool:
    """
    Return whether the centre of mass lies in the triangle of feet, clear of each edge.

    References
    ----------
    Cafarelli (2017), equations 5.36 to 5.44.

    """
    # Eq. 5.42: below the edge from foot 1 to 2.
    if not _height_above_edge(pose, 0, 1, -rules.buffer) < 0.0:
        return False
    # Eq. 5.43: above the edge from foot 1 to 3.
    if not _height_above_edge(pose, 2, 0, rules.buffer) > 0.0:
        return False
    # Eq. 5.44: below the edge from foot 2 to 3 as coded, above it as printed.
    below: float = _height_above_edge(pose, 1, 2, -rules.buffer)
    above: float = _height_above_edge(pose, 2, 1, rules.buffer)
    return below < 0.0 if rules.rear_edge else above > 0.0
