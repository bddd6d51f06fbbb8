# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The roach of McKenna (1990) on the ground: it stands, walks wave and tripod, keeps straight."""

from dataclasses import replace

import numpy as np
import pytest

from gait_core.measures.metrics import heading_angles
from gait_core.robot.load import load_robot
from gait_core.robot.model import Actuator
from gait_core.testing.free_bodies import applied_targets
from gait_core.testing.skips import need_engine
from gait_core.trial.loop import run_loop
from gait_core.trial.setup import default_trial, make_scene
from gait_cpg.insect.reflexes import REFLEXES

need_engine('mujoco')
from sim_bridge.engines.mujoco.engine import MujocoEngine

pytestmark = pytest.mark.physics
CYCLE = 0.1
# Half the height of the abdomen, whose middle the base frame is.
BELLY = 0.00353


def walk(seconds: float, scene=None, **parameters):
    """Return the record of a walk by the robot's own defaults."""
    trial = default_trial('roach', seconds, scene or {})
    return run_loop(replace(trial, parameters={**trial.parameters, **parameters})).rollout()


def forward_speed(rollout, cycle: float = CYCLE) -> float:
    """Return the mean speed along the heading [m/s] over whole cycles after the first two."""
    every = round(cycle / rollout.dt)
    base, yaw = (
        rollout.body_poses[2 * every :, 0],
        heading_angles(rollout.body_poses[2 * every :, 0]),
    )
    ways = np.diff(base[::every, :2], axis=0)
    ahead = np.column_stack([np.cos(yaw[::every]), np.sin(yaw[::every])])[: len(ways)]
    return float((ways * ahead).sum() / (len(ways) * cycle))


@pytest.fixture(scope='module')
def tripod():
    """Walk the published programs open loop at the shortest cycle."""
    return walk(1.0, heading_gain=0.0)


def stand(robot, settle: int = 960):
    """Drop a robot that holds its rest angles; return its last observation and mean loads."""
    engine = MujocoEngine(lambda name, draw: robot)
    scene = make_scene('roach', {'initial': {'clearance': 0.001}})
    seen = engine.reset(scene, 0, settle)
    loads = []
    for _ in range(240):
        seen = engine.step(applied_targets(robot, position=robot.stance))
        loads.append(seen.contacts.forces[:, 2].sum())
    engine.close()
    return seen, float(np.mean(loads))


def test_exponential_springs_carry_the_body_clear_of_the_ground():
    robot = load_robot('roach')
    seen, load = stand(robot)
    # The thesis's own model stands at 8 mm in a crude cross-check.
    assert seen.body_poses[0, 2] - BELLY > 0.002
    assert load == pytest.approx(robot.mass * 9.8, rel=0.05)
    assert seen.contacts.points[:, 2] == pytest.approx(0.0, abs=1e-4)


def test_linear_springs_as_stiff_at_rest_let_it_sink():
    robot = load_robot('roach')
    # An exponential spring that hardly rises is a linear one of stiffness strength * rise.
    linear = {
        name: Actuator(
            kind='exponential',
            constants={
                **one.constants,
                'strength': one.constants['strength'] * one.constants['rise'] * 1e3,
                'rise': 1e-3,
            },
        )
        if one.kind == 'exponential'
        else one
        for name, one in robot.actuators.items()
    }
    soft, _ = stand(replace(robot, actuators=linear))
    hard, _ = stand(robot)
    assert soft.body_poses[0, 2] < hard.body_poses[0, 2] - 0.003


def test_the_tripod_walks_as_fast_as_published(tripod):
    assert tripod.status == 'ok'
    assert forward_speed(tripod) == pytest.approx(0.055, rel=0.3)


def test_the_body_wiggles_once_a_cycle(tripod):
    yaw = heading_angles(tripod.body_poses[round(0.2 / tripod.dt) :, 0])
    rate = np.diff(yaw) / tripod.dt
    size = np.abs(np.fft.rfft((rate - rate.mean()) * np.hanning(len(rate))))
    frequency = np.fft.rfftfreq(len(rate), tripod.dt)
    assert frequency[size.argmax()] == pytest.approx(1.0 / CYCLE, rel=0.13)


def test_the_wave_is_slower_than_the_tripod_and_goes_forward(tripod):
    wave = walk(1.2, period_scale=3.0)
    assert wave.status == 'ok'
    assert 0.005 < forward_speed(wave, 3.0 * CYCLE) < 0.5 * forward_speed(tripod)


@pytest.mark.parametrize('scale', [1.5, 2.0])
def test_between_tripod_and_wave_it_goes_forward_and_does_not_rear_up(scale):
    # With back legs where the tripod has them it tips back here: their feet stand before the
    # centre of mass for longer than the body takes to fall.
    found = walk(0.9, period_scale=scale)
    x, y, z, w = found.body_poses[:, 0, 3:].T
    pitch = np.degrees(np.arcsin(2.0 * (w * y - z * x)))
    assert found.status == 'ok'
    assert np.abs(pitch).max() < 15.0
    assert 0.015 < forward_speed(found, scale * CYCLE) < 0.035


def test_feet_that_stick_walk_as_fast_as_published():
    stuck = walk(1.0, {'contact_law': 'sticky'}, heading_gain=0.0)
    every = round(CYCLE / stuck.dt)
    way = np.diff(stuck.body_poses[2 * every :: every, 0, :2], axis=0)
    assert np.linalg.norm(way, axis=1).mean() / CYCLE == pytest.approx(0.08, rel=0.3)


def test_without_friction_it_flips_over():
    # So does the thesis's, on the way to walking on its back.
    assert walk(0.6, {'friction': 0.01}, heading_gain=0.0).status == 'fell'


def test_the_ratio_of_the_simulated_to_the_real_length_does_not_matter(tripod):
    third = walk(0.6, {'length_scale': 30.0}, heading_gain=0.0)
    assert third.body_poses[240, 0] == pytest.approx(tripod.body_poses[240, 0], abs=1e-3)
    assert forward_speed(third) == pytest.approx(forward_speed(tripod), rel=0.1)


def test_it_walks_20_cycles_straight_with_its_heading_held():
    held = walk(2.1)
    assert held.status == 'ok'
    cycle = round(CYCLE / held.dt)
    yaw = (
        np.degrees(heading_angles(held.body_poses[:, 0]))[: 21 * cycle]
        .reshape(21, cycle)
        .mean(axis=1)
    )
    assert np.abs(yaw - yaw[0]).max() < 10.0


def test_a_walk_made_longer_passes_through_where_the_shorter_one_stopped():
    """To the last bit, with reflexes on, commands under way and a held heading."""
    reflexes, ground = dict.fromkeys(REFLEXES, True), {'terrain': {'name': 'steps'}}
    short, long = (walk(seconds, ground, **reflexes) for seconds in (0.05, 0.15))
    count = len(short.joint_positions)
    assert count < len(long.joint_positions)
    for name in ('joint_positions', 'joint_velocities', 'body_poses', 'target_positions'):
        one, other = getattr(short, name), getattr(long, name)
        np.testing.assert_array_equal(one, other[: len(one)])
    assert np.ptp(short.joint_positions, axis=0).max() > 0.1
