# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Force elements as RViz sees them."""

import numpy as np
import pytest

pytest.importorskip('rclpy')

from builtin_interfaces.msg import Time
from visualization_msgs.msg import Marker

from gait_core.kinematics.frames import assembly_poses
from gait_core.motion.observation import Observation
from gait_core.robot.load import load_robot
from gait_ros.messages.markers import element_marker


def state(robot, forces):
    return Observation(
        tick=0,
        time=0.0,
        joint_positions=np.zeros(len(robot.joint_names)),
        body_poses=assembly_poses(robot),
        element_forces=forces,
    )


def test_cables_are_lines_between_their_ends_in_the_colours_of_their_tensions():
    spine = load_robot('tetraspine')
    forces = np.zeros(24)
    forces[3] = 50.0
    lines = element_marker(Time(), state(spine, forces), spine)
    assert (lines.type, lines.action) == (Marker.LINE_LIST, Marker.ADD)
    assert len(lines.points) == len(lines.colors) == 48
    # gap1_inner_a, from the tip of t1 to the lower right corner of t2.
    start, end = lines.points[6], lines.points[7]
    assert (start.x, start.y, start.z) == pytest.approx((0.09332556, 0.0, 0.0))
    assert (end.x, end.y, end.z) == pytest.approx((0.0747776 - 0.03110852, -0.0762, -0.04399409))
    assert lines.colors[6].r > lines.colors[6].b and lines.colors[0].r < lines.colors[0].b


def test_a_robot_without_force_elements_has_no_lines():
    guroo = load_robot('guroo')
    assert element_marker(Time(), state(guroo, None), guroo).action == Marker.DELETE
