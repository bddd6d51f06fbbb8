# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The a1 follows commands on phase oscillators, on its feet and without slip."""

from dataclasses import replace
from functools import cache
import json
from pathlib import Path
import shlex

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gait_core.kinematics.forward_kinematics import link_poses
from gait_core.measures.metrics import robot_weight, trial_stances
from gait_core.motion.observation import Imu, Observation
from gait_core.parameters.declaration import make_parameters
from gait_core.robot.load import load_robot
from gait_core.testing.skips import need_engine
from gait_core.trial.loop import run_loop
from gait_core.trial.scene import Scene
from gait_core.trial.setup import constant_script, default_trial
from gait_core.trial.spec import OK, Command, TimedCommand, TrialSpec
from gait_cpg.phase_cpg.controller import PhaseCpgController
from gait_cpg.phase_cpg.parameters import PhaseCpgParams
from gait_tools.cli import main

need_engine('bullet')
pytestmark = pytest.mark.physics

TROT, WALK = ('trot', (0.3, 0.0, 0.0)), ('walk', (0.15, 0.0, 0.0))
OTHERS = [
    ('trot', (-0.3, 0.0, 0.0)),
    ('trot', (0.0, 0.1, 0.0)),
    ('trot', (0.0, 0.0, 0.5)),
    ('walk', (-0.15, 0.0, 0.0)),
    ('walk', (0.0, -0.1, 0.0)),
    ('walk', (0.0, 0.0, 0.3)),
]
STEADY = 2.0
"""After so long [s] velocity and steps have their full size."""
TOE_RADIUS = 0.02


def trial(preset, *script, seconds=5.0):
    robot = load_robot('a1')
    spec = TrialSpec(
        scene=Scene(
            robot='a1', engine_options=robot.defaults['engines']['bullet'],
            **robot.defaults['scene']),
        controller='phase_cpg',
        parameters=PhaseCpgController.presets[preset],
        script=tuple(TimedCommand(time=t, command=Command(velocity=v)) for t, v in script),
        duration=seconds,
    )  # fmt: skip
    return run_loop(spec)


@cache
def walked(preset, velocity):
    return trial(preset, (0.0, velocity))


def steady(rollout):
    return slice(round(STEADY / rollout.dt), None)


def base_velocity(rollout):
    """Return the mean forward and left speed and yaw rate in the base frame."""
    poses = rollout.body_poses[steady(rollout), 0]
    turns = Rotation.from_quat(poses[:, 3:])
    seconds = (len(poses) - 1) * rollout.dt
    steps = turns[:-1].inv().apply(np.diff(poses[:, :3], axis=0))
    yaw = np.unwrap(turns.as_euler('ZYX')[:, 0])
    return np.array([*steps.sum(axis=0)[:2], yaw[-1] - yaw[0]]) / seconds


def toes(rollout):
    """Return orientations (T + 1, 4, 3, 3) and centres (T + 1, 4, 3) of the toe balls."""
    robot = rollout.robot
    poses = link_poses(robot, rollout.joint_positions, rollout.body_poses[:, 0])
    poses = poses[:, [robot.link_index[sole] for sole in robot.soles]]
    return poses[..., :3, :3], poses[..., :3, 3]


def slip_speeds(rollout):
    """Return the speed [m/s] of the contact point of each toe that is loaded for two ticks."""
    turns, centres = toes(rollout)
    below = np.array([0.0, 0.0, -TOE_RADIUS])
    moved = turns[1:] @ np.swapaxes(turns[:-1], -1, -2) @ below - below + np.diff(centres, axis=0)
    # A foot without load slides freely, in the short gaps of a stance too.
    down = rollout.sole_forces()[:, :, 2] > 0.02 * robot_weight(rollout)
    return np.linalg.norm(moved[..., :2], axis=-1)[down[1:] & down[:-1]] / rollout.dt


@pytest.mark.parametrize(('preset', 'velocity'), [TROT, WALK])
def test_it_walks_at_the_commanded_speed_and_straight(preset, velocity):
    loop = walked(preset, velocity)
    assert loop.status == OK
    forward, left, _ = base_velocity(loop.rollout())
    # Toes of 20 mm radius roll on: the body is a few per cent faster than its feet are led.
    assert forward == pytest.approx(velocity[0], rel=0.1)
    assert abs(left) < 0.02
    assert abs(np.rad2deg(loop.result().metrics['yaw_rad'])) < 5.0


@pytest.mark.parametrize(('preset', 'velocity'), OTHERS)
def test_it_goes_where_it_is_told(preset, velocity):
    loop = walked(preset, velocity)
    assert loop.status == OK
    velocity = np.array(velocity)
    error = np.abs(base_velocity(loop.rollout()) - velocity)
    # Nothing holds the heading of an open-loop trot: it may drift by 6 deg/s.
    assert np.all(error < np.array([0.02, 0.02, 0.1]) + 0.1 * np.abs(velocity))


@pytest.mark.parametrize(('preset', 'velocity'), [TROT, WALK])
def test_its_feet_clear_the_ground_and_do_not_slip(preset, velocity):
    rollout = walked(preset, velocity).rollout()
    _, centres = toes(rollout)
    lift = centres[steady(rollout), :, 2].max(axis=0) - TOE_RADIUS
    wanted = PhaseCpgParams().stride_height
    np.testing.assert_allclose(lift, wanted, rtol=0.2)
    assert slip_speeds(rollout).mean() < 0.01


@pytest.mark.parametrize(('preset', 'velocity'), [TROT, WALK])
def test_its_body_stays_level(preset, velocity):
    rollout = walked(preset, velocity).rollout()
    poses = rollout.body_poses[steady(rollout), 0]
    tilt = Rotation.from_quat(poses[:, 3:]).as_euler('xyz', degrees=True)[:, :2]
    assert np.abs(tilt).max() < 3.0
    assert np.ptp(poses[:, 2]) < 0.01


def test_a_walk_is_carried_by_three_feet_and_a_trot_by_two():
    shares = {}
    for preset, velocity in (TROT, WALK):
        rollout = walked(preset, velocity).rollout()
        shares[preset] = trial_stances(rollout)[0][steady(rollout)].sum(axis=1).mean()
    assert 1.3 < shares['trot'] < 2.3
    assert 2.3 < shares['walk'] < 3.5


@pytest.mark.parametrize('engine', ['bullet', 'mujoco'])
@pytest.mark.parametrize('speed', [0.1, 0.5])
def test_its_own_trot_stands_as_long_as_it_is_to(engine, speed):
    need_engine(engine)
    spec = replace(
        default_trial('a1', 5.0, {'engine': engine}), script=constant_script((speed, 0.0, 0.0))
    )
    loop = run_loop(spec)
    assert loop.status == OK
    rollout = loop.rollout()
    stances, _ = trial_stances(rollout)
    found = stances[steady(rollout)]
    # At a duty factor of 0.7 a pair of feet stands at any time. At 0.55 touch-downs threw it up:
    # 0.37, and no foot was on the ground for 20 % of the time.
    assert found.any(axis=1).all()
    assert found.mean() == pytest.approx(spec.parameters['duty_factor'], abs=0.08)
    assert base_velocity(rollout)[0] == pytest.approx(speed, rel=0.1)
    assert abs(np.rad2deg(loop.result().metrics['yaw_rad'])) < 5.0
    assert loop.result().metrics['tilt_max_rad'] < np.radians(2.0)


def test_it_stops_when_told_and_stands_still():
    rollout = trial('trot', (0.0, (0.3, 0.0, 0.1)), (2.0, (0.0, 0.0, 0.0)), seconds=6.0).rollout()
    last = rollout.body_poses[-50:, 0]
    assert np.abs(last - last[-1]).max() < 1e-3
    np.testing.assert_array_equal(
        rollout.target_positions[-50:], np.tile(rollout.target_positions[-1], (50, 1))
    )


def test_it_sits_down_and_stands_up_without_falling():
    script = [
        (0.0, Command(velocity=(0.3, 0.0, 0.0))),
        (1.5, Command(set_points={'sit': 1.0})),
        (5.0, Command()),
    ]
    loop = run_loop(
        replace(
            trial('trot', (0.0, (0.0, 0.0, 0.0)), seconds=0.1).spec,
            script=tuple(TimedCommand(time=t, command=command) for t, command in script),
            duration=7.5,
        )
    )
    assert loop.status == OK
    height = loop.rollout().body_poses[:, 0, 2] / load_robot('a1').length_scale
    # As low as it may be without counting as fallen, at half of its height.
    assert 0.5 < height[round(4.5 / loop.dt)] < 0.6
    assert height[-1] == pytest.approx(1.0, abs=0.03)


def test_the_odometry_of_its_legs_finds_the_way_it_went():
    preset, velocity = TROT
    rollout = walked(preset, velocity).rollout()
    robot = rollout.robot
    # The same controller says which feet are meant to stand: it walks open loop.
    walker = PhaseCpgController(
        robot,
        make_parameters(PhaseCpgParams, {**PhaseCpgController.presets[preset], 'odometry': True}),
    )
    for tick in range(rollout.ticks):
        orientation = rollout.body_poses[tick, 0, 3:]
        seen = Observation(
            tick=tick,
            time=tick * rollout.dt,
            joint_positions=rollout.joint_positions[tick],
            imu=Imu(orientation=orientation, angular_velocity=None, linear_acceleration=None),
        )
        walker.step(rollout.dt, Command(velocity=velocity), seen)
    x, y, _ = rollout.body_poses[rollout.ticks - 1, 0, :3]
    state = walker.state()
    # Its toes roll on: 20 mm of a leg of 0.27 m.
    assert state['odom.x'] == pytest.approx(x, rel=0.1)
    assert state['odom.y'] == pytest.approx(y, abs=0.1 * x)


def test_the_same_walk_has_the_same_hash():
    preset, velocity = TROT
    again = trial(preset, (0.0, velocity)).result()
    assert again.trial_hash == walked(preset, velocity).result().trial_hash


def test_the_commands_of_the_page_on_controllers_work(capsys):
    page = (Path(__file__).parents[2] / 'doc/controllers.md').read_text(encoding='utf-8')
    lines = [line for line in page.splitlines() if line.startswith('./gait ')]
    assert lines
    for line in lines:
        assert main([*shlex.split(line, comments=True)[1:], '--json']) == 0
        assert json.loads(capsys.readouterr().out)['status'] == OK
