# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The terms of Korbel's Eq. 10 on spines put by hand where a trial might have ended."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.constants import inch
from scipy.spatial.transform import Rotation

from gait_core.errors import ConfigurationError
from gait_core.kinematics.frames import assembly_poses
from gait_core.measures.contact_nodes import contact_node_index, contact_node_positions
from gait_core.registry import load
from gait_core.robot.load import load_robot
from gait_core.testing.doubles import legged_box, make_rollout
from gait_core.trial.scene import Scene
from gait_core.trial.spec import TrialSpec

DT = 0.02
WEIGHTS = {'forward': 1.0, 'twist': -10.0, 'direction': 0.0, 'lateral': -1.0}
"""Table 7."""


def rollout_of(robot, body_poses):
    """Return a record with these poses, (T + 1, b, 7), and nothing else."""
    ticks = len(body_poses) - 1
    spec = TrialSpec(scene=Scene(robot=robot.name), controller='hold', duration=ticks * DT)
    return make_rollout(robot, spec, ticks, body_poses=body_poses)


def crawled(at_3_s=0.0, at_end=0.0, left=0.0, yaw=0.0, seconds=15.0):
    """Return a rollout whose node 1 moved along x [in], and turned by ``yaw`` at the end."""
    robot = load_robot('tetraspine')
    ticks = round(seconds / DT)
    poses = np.tile(assembly_poses(robot), (ticks + 1, 1, 1))
    poses[round(3.0 / DT) :, :, 0] += at_3_s * inch
    node = robot.contact_nodes[contact_node_index(robot, 't1_a')].point
    turn = Rotation.from_euler('z', yaw)
    # What turning about the node does to the middle of the rear tetrahedron.
    away = np.array(node) - turn.apply(node)
    poses[-1, 0, :2] += away[:2] + np.array([at_end - at_3_s, left]) * inch
    poses[-1, 0, 3:] = turn.as_quat()
    return rollout_of(robot, poses)


def term(name, rollout):
    return load('fitness_terms', f'korbel2013_{name}')(rollout)


def fitness(rollout):
    return sum(weight * term(name, rollout) for name, weight in WEIGHTS.items())


def test_korbel_20_fitness_of_the_stated_example():
    # Nodes 1 and 2 are 6 in apart: this yaw sets their x apart by 0.1 in.
    rollout = crawled(at_3_s=2.0, at_end=12.0, left=-0.5, yaw=np.arcsin(0.1 / 6.0))
    assert term('forward', rollout) == pytest.approx(10.0, abs=1e-9)
    assert term('twist', rollout) == pytest.approx(0.1, abs=1e-9)
    assert term('lateral', rollout) == pytest.approx(0.5, abs=1e-9)
    assert fitness(rollout) == pytest.approx(8.5, abs=1e-9)


def test_what_happens_before_3_s_counts_for_nothing():
    assert fitness(crawled(at_3_s=5.0, at_end=5.0)) == pytest.approx(0.0, abs=1e-9)
    late = crawled(at_3_s=-5.0, at_end=2.0)
    assert fitness(late) == pytest.approx(7.0, abs=1e-9)
    assert term('travel', late) == pytest.approx(2.0, abs=1e-9)
    # A trial that ended sooner scored nothing, and no error.
    assert fitness(crawled(seconds=1.0)) == 0.0


def test_signs_of_twist_and_drift_do_not_matter_but_that_of_the_distance_does():
    for name, value in (('twist', {'yaw': 0.2}), ('lateral', {'left': 1.5})):
        key, amount = next(iter(value.items()))
        there, back = crawled(**{key: amount}), crawled(**{key: -amount})
        assert term(name, there) == pytest.approx(term(name, back), abs=1e-9)
        assert term(name, there) > 0.5
    assert fitness(crawled(at_end=-3.0)) == pytest.approx(-3.0, abs=1e-9)


def test_direction_is_the_length_of_the_spine_and_unscored():
    # Four gaps of 2.944 in and the height of a tetrahedron.
    length = 4 * 2.944 + np.sqrt(24.0)
    assert term('direction', crawled()) == pytest.approx(length, abs=1e-3)
    rollout = crawled(at_end=4.0)
    assert term('direction', rollout) == pytest.approx(length - 4.0, abs=1e-3)
    nodes = contact_node_positions(rollout)[-1]
    names = [node.name for node in rollout.robot.contact_nodes]
    ahead = nodes[names.index('t5_d'), 0] - nodes[names.index('t1_a'), 0]
    assert term('direction', rollout) == pytest.approx(ahead / inch)
    assert fitness(rollout) == pytest.approx(4.0, abs=1e-9)


def test_another_robot_is_refused_by_name():
    robot = legged_box()
    poses = np.zeros((2, 1, 7))
    poses[:, :, 6] = 1.0
    with pytest.raises(ConfigurationError, match="contact node 't1_a'"):
        term('forward', rollout_of(robot, poses))
