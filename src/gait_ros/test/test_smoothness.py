# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""A trajectory controller of ros2_control follows streamed single points smoothly."""

import numpy as np
import pytest

pytest.importorskip('rclpy')

from gait_core.messages.reader import to_seconds
from gait_core.motion.targets import JointTargets
from gait_ros.messages.conversions import BUILDER

RATE, CYCLES_PER_S, UPDATE = 50.0, 1.0, 0.001
TURN = 2.0 * np.pi * CYCLES_PER_S


def followed(messages: list) -> np.ndarray:
    """
    Return the path of a joint_trajectory_controller that gets one message a period.

    As its ``Trajectory::interpolate_between_points`` has it: from the desired state when the
    message came to the point, a cubic if the point has a velocity and a line otherwise.
    """
    place, speed, path = 0.0, TURN, []
    for message in messages:
        point = message.points[-1]
        span, end = to_seconds(point.time_from_start), point.positions[0]
        at = np.arange(1, round(span / UPDATE) + 1) * UPDATE
        if point.velocities:
            rise, final = (end - place) / span, point.velocities[0]
            second = (3.0 * rise - 2.0 * speed - final) / span
            third = (speed + final - 2.0 * rise) / span**2
            path.append(place + at * (speed + at * (second + at * third)))
            speed = final
        else:
            path.append(place + (end - place) * at / span)
        place = end
    return np.concatenate(path)


def streamed(is_fed_forward: bool) -> np.ndarray:
    """Return the path of a sine of 1 Hz whose points come at 50 Hz."""
    times = np.arange(1, round(4.0 * RATE) + 1) / RATE
    return followed(
        [
            BUILDER.trajectory(
                JointTargets(
                    names=('knee',),
                    position=np.array([np.sin(TURN * time)]),
                    velocity=np.array([TURN * np.cos(TURN * time)]) if is_fed_forward else None,
                ),
                1.0 / RATE,
            )
            for time in times
        ]
    )


def test_points_with_velocities_are_followed_without_a_jiggle():
    ideal = TURN**2 / np.sqrt(2.0)
    accelerations = [
        np.sqrt(np.mean((np.diff(streamed(fed), 2) / UPDATE**2) ** 2)) for fed in (True, False)
    ]
    assert accelerations[0] < 1.2 * ideal
    assert accelerations[1] > 2.0 * ideal, 'positions alone jiggle: the test can tell'
