# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Positions of contact nodes, from the geometry of a leg written out."""

from dataclasses import replace

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.measures.contact_nodes import contact_node_index, contact_node_positions
from gait_core.robot.mechanism import ContactNode
from gait_core.testing.doubles import legged_box, make_rollout, spec_for_test

ROBOT = replace(
    legged_box(),
    contact_nodes=(
        ContactNode(name='top', link='base', point=(0.1, 0.05, 0.02)),
        ContactNode(name='toe', link='leg0_link1', point=(0.01, 0.0, -0.15)),
    ),
)


def test_nodes_move_with_their_links():
    hip, knee, yaw = 0.3, -0.5, 0.8
    angles = np.zeros((2, 8))
    angles[1, :2] = hip, knee
    poses = np.zeros((2, 1, 7))
    poses[:, 0, 6] = 1.0
    poses[1, 0] = 1.0, 2.0, 0.5, 0.0, 0.0, np.sin(yaw / 2), np.cos(yaw / 2)
    rollout = make_rollout(ROBOT, spec_for_test(), 1, joint_positions=angles, body_poses=poses)
    found = contact_node_positions(rollout)
    np.testing.assert_allclose(found[0], [[0.1, 0.05, 0.02], [0.21, 0.1, -0.35]], atol=1e-12)
    # A turn about y moves a point below its joint backwards: x = -0.15 sin q per segment.
    bend = hip + knee
    ahead = 0.2 - 0.15 * np.sin(hip) - 0.15 * np.sin(bend) + 0.01 * np.cos(bend)
    below = -0.05 - 0.15 * np.cos(hip) - 0.15 * np.cos(bend) - 0.01 * np.sin(bend)
    c, s = np.cos(yaw), np.sin(yaw)
    toe = [1.0 + c * ahead - s * 0.1, 2.0 + s * ahead + c * 0.1, 0.5 + below]
    top = [1.0 + 0.1 * c - 0.05 * s, 2.0 + 0.1 * s + 0.05 * c, 0.52]
    np.testing.assert_allclose(found[1], [top, toe], atol=1e-12)


def test_a_node_is_found_by_its_name():
    assert contact_node_index(ROBOT, 'toe') == 1
    with pytest.raises(ConfigurationError, match="did you mean 'toe'"):
        contact_node_index(ROBOT, 'toee')
