# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""GuRoo turns while it walks, by count and to a measured heading."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gait_core.testing.skips import need_engine
from gait_core.trial.loop import TrialLoop, run_loop, step_controller
from gait_core.trial.parts import cached_engine, make_controller
from gait_core.trial.setup import make_scene
from gait_core.trial.spec import Command, TimedCommand, TrialSpec

need_engine('mujoco')
pytestmark = pytest.mark.physics

CYCLE = 3.16
START_UP = 2.0


def spec_of(seconds, parameters=None, **more):
    scene = make_scene('guroo', {'engine': 'mujoco'})
    return TrialSpec(
        scene=scene,
        controller='staged_walk',
        parameters=parameters or {},
        duration=seconds,
        **more,
    )


def heading_deg(rollout):
    """Return the yaw of the base over whole turns at every tick [deg], (T + 1,)."""
    yaw = Rotation.from_quat(rollout.body_poses[:, 0, 3:]).as_euler('xyz')[:, 2]
    return np.degrees(np.unwrap(yaw))


def path_length(rollout):
    """Return the way of the base without its sway [m]: steps of one cycle, end to end."""
    positions = rollout.body_poses[:: round(CYCLE / 0.02), 0, :2]
    return np.linalg.norm(np.diff(positions, axis=0), axis=1).sum()


def turned(spec, **values):
    """Return the record of a trial beside whose walk a turn was started."""
    loop = TrialLoop(spec, cached_engine('mujoco'))
    loop.begin()
    controller = make_controller(spec, loop.robot)
    controller.reset(0)
    controller.mixer.start('turn', values)
    while loop.is_running:
        step_controller(loop, controller)
    assert loop.status == 'ok'
    assert 'turn' not in [row.name for row in controller.mixer.running]
    return loop.rollout()


@pytest.fixture(scope='module')
def straight():
    return run_loop(spec_of(START_UP + 6 * CYCLE)).rollout()


@pytest.mark.parametrize('angle', [20.0, -20.0])
def test_check_30_a_turn_of_20_degrees_beside_the_walk(straight, angle):
    rollout = turned(spec_of(START_UP + 6 * CYCLE), angle_deg=angle)
    drift = heading_deg(straight)[-1]
    assert heading_deg(rollout)[-1] - drift == pytest.approx(angle, abs=5.0)
    for leg in ('left', 'right'):
        column = rollout.robot.joint_index[f'{leg}_leg_twist']
        assert math.degrees(rollout.target_positions[-1, column]) == pytest.approx(0.0, abs=0.2)
    assert path_length(rollout) == pytest.approx(path_length(straight), rel=0.15)


@pytest.mark.parametrize('angle', [90.0, -90.0])
def test_by_the_measured_yaw_it_turns_a_corner(angle):
    parameters = {'turn_deg': angle, 'heading_gain': 0.8}
    loop = run_loop(spec_of(START_UP + 8 * CYCLE, parameters))
    assert loop.status == 'ok'
    assert heading_deg(loop.rollout())[-1] == pytest.approx(angle, abs=2.0)


def test_the_commanded_yaw_rate_is_followed_until_it_ends():
    rate = 0.06
    script = tuple(
        TimedCommand(time=time, command=Command(velocity=(0.0, 0.0, yaw)))
        for time, yaw in ((0.0, rate), (START_UP + 4 * CYCLE, 0.0))
    )
    loop = run_loop(spec_of(START_UP + 6 * CYCLE, {'heading_gain': 0.8}, script=script))
    assert loop.status == 'ok'
    expected = math.degrees(rate * 4 * CYCLE)
    assert heading_deg(loop.rollout())[-1] == pytest.approx(expected, abs=3.0)
