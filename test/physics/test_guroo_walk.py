# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""GuRoo stands, and walks open loop, in the default engine at its default settings."""

import itertools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gait_core.kinematics.forward_kinematics import link_poses
from gait_core.measures.metrics import trial_gait_diagram
from gait_core.parameters.space import parameter_space
from gait_core.robot.load import load_robot
from gait_core.trial.loop import run_loop
from gait_core.trial.robot_gait import resolve_gait
from gait_core.trial.setup import default_trial, make_scene
from gait_core.trial.spec import Command, TimedCommand, TrialSpec
from gait_stage_walk.staged.parameters import StagedWalkParams

pytestmark = pytest.mark.physics


def run(controller, seconds, parameters=None, **spec):
    """Return the loop of a finished trial at the robot's default scene."""
    return run_loop(
        TrialSpec(
            scene=make_scene('guroo', {}),
            controller=controller,
            parameters=parameters or {},
            duration=seconds,
            **spec,
        )
    )


def attitude_deg(rollout):
    """Return roll, pitch, yaw of the base [deg], (T + 1, 3)."""
    return Rotation.from_quat(rollout.body_poses[:, 0, 3:]).as_euler('xyz', degrees=True)


def loads(rollout):
    """Return the share of the weight on the left sole at every tick, (T + 1,)."""
    force = rollout.sole_forces()[:, :, 2]
    return force[:, 0] / np.maximum(force.sum(axis=1), 1e-9)


@pytest.fixture(scope='module')
def walk():
    return run('staged_walk', 12.0)


def test_it_stands():
    loop = run('hold', 6.0)
    assert loop.status == 'ok'
    rollout = loop.rollout()
    settled = slice(50, None)
    assert np.abs(attitude_deg(rollout)[settled, :2]).max() < 0.1
    creep = np.ptp(rollout.body_poses[settled, 0, :2], axis=0)
    assert creep.max() < 0.003
    assert rollout.sole_forces()[-1, :, 2].sum() == pytest.approx(38.0 * 9.81, rel=0.02)


def test_it_walks_upright_and_straight(walk):
    assert walk.status == 'ok'
    rollout = walk.rollout()
    moved = rollout.body_poses[-1, 0, :2] - rollout.body_poses[0, 0, :2]
    # Ten seconds of cycles at the 0.065 m/s of the long run.
    assert moved[0] > 0.5
    assert abs(moved[1]) < 0.2
    assert np.abs(attitude_deg(rollout)[:, :2]).max() < 3.0
    assert np.abs(attitude_deg(rollout)[:, 2]).max() < 15.0


def test_feet_carry_the_weight_in_turn(walk):
    share = loads(walk.rollout())
    # One foot bears all in the middle of each half-cycle of 1.575 s, the first from 2 s on.
    first = 2.0 + (1.0 + 0.65) * 0.9
    for step in range(6):
        tick = round((first + step * 1.58) / 0.02)
        carried = share[tick - 5 : tick + 5].mean()
        assert (carried > 0.95) if step % 2 == 0 else (carried < 0.05)


def test_lifted_feet_leave_the_ground_and_stay_level(walk):
    rollout = walk.rollout()
    share = loads(rollout)
    alone = (share > 0.99).mean(), (share < 0.01).mean()
    assert min(alone) > 0.2
    frames = link_poses(rollout.robot, rollout.joint_positions, rollout.body_poses)
    soles = frames[:, [rollout.robot.link_index[name] for name in rollout.robot.soles]]
    assert np.degrees(np.arccos(np.minimum(soles[..., 2, 2], 1.0))).max() < 3.0
    # A lift of 25 degrees of the knee raises the sole by 2 * 0.28 m * (1 - cos 12.5 degrees).
    assert np.ptp(soles[..., 2, 3], axis=0).min() > 0.010
    assert rollout.contacts.depths.max() < 0.002


@pytest.mark.parametrize('engine', ['bullet', 'mujoco'])
def test_its_touch_downs_are_those_of_its_timetable(engine, walk):
    rollout = (
        walk if engine == 'bullet' else run_loop(default_trial('guroo', 12.0, {'engine': engine}))
    ).rollout()
    found = trial_gait_diagram(rollout).touch_downs
    in_turn = sorted((time, leg) for leg, times in found.items() for time in times if time > 4.0)
    # A foot lands once in each half-cycle of 3.5 units of 0.9 s; in mujoco it bounces for 0.1 s.
    half_cycle = 3.5 * 0.9 / 2.0
    assert len(in_turn) == pytest.approx((12.0 - 4.0) / half_cycle, abs=1.0)
    for (before, leg), (after, other) in itertools.pairwise(in_turn):
        assert after - before == pytest.approx(half_cycle, abs=0.1)
        assert leg != other


def test_it_stops_on_request_and_stands():
    stop = TimedCommand(time=3.0, command=Command(set_points={'stop': 1.0}))
    loop = run('staged_walk', 8.0, script=(stop,))
    assert loop.status == 'ok'
    rollout = loop.rollout()
    assert np.abs(rollout.target_positions[-1]).max() < 1e-9
    assert np.abs(attitude_deg(rollout)[-50:, :2]).max() < 1.0
    assert np.abs(rollout.body_twists[-1, 0, :3]).max() < 0.01


def test_any_parameters_in_range_end_as_ok_or_fell():
    rng = np.random.default_rng(2003)
    genes = parameter_space(StagedWalkParams).genes
    for _ in range(5):
        values = {gene.name: float(rng.uniform(gene.lower, gene.upper)) for gene in genes}
        loop = run('staged_walk', 5.0, values)
        assert loop.status in ('ok', 'fell'), (loop.status, loop.reason, values)
        assert np.isfinite(list(loop.result().metrics.values())).all()


def test_published_and_levelled_are_different_walks():
    published = run(
        'staged_walk',
        4.0,
        resolve_gait(load_robot('guroo'), 'staged_walk', 'published').parameters,
    )
    levelled = run('staged_walk', 4.0)
    knee = levelled.robot.joint_index['left_knee']
    bent = [loop.rollout().target_positions[:, knee].max() for loop in (published, levelled)]
    assert bent[1] > bent[0] + np.radians(5.0)
