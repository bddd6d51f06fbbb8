# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Ankles of standing legs give way to the lean of the base, by a linear law."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gait_core.errors import BadCommand
from gait_core.motion.observation import Imu, Observation
from gait_core.robot.load import load_robot
from gait_stage_walk.behaviours.balance import (
    MAX_ANKLE_CORRECTION,
    Balance,
    load_shares,
    tilt_from_imu,
)
from gait_stage_walk.behaviours.behaviour import Period
from gait_stage_walk.staged.controller import StagedWalkController
from gait_stage_walk.staged.parameters import StagedWalkParams
from gait_stage_walk.staged.pulse import to_nanoseconds
from gait_stage_walk.staged.walk import StagedWalk, WalkMode

TICK = to_nanoseconds(0.02)


def seen(roll=0.0, pitch=0.0, yaw=0.0, rates=(0.0, 0.0, 0.0)):
    """Return what an IMU at an attitude [rad] and rates [rad/s] reports."""
    return Observation(
        tick=0,
        time=0.0,
        imu=Imu(
            orientation=Rotation.from_euler('ZYX', [yaw, pitch, roll]).as_quat(),
            angular_velocity=np.array(rates),
            linear_acceleration=np.zeros(3),
        ),
    )


def standing(**gains):
    walk = StagedWalk(StagedWalkParams(stop=True, **gains))
    return Balance(walk)


@pytest.mark.parametrize('yaw', [0.0, 2.5])
def test_lean_is_roll_and_pitch_whatever_the_heading(yaw):
    roll, pitch, roll_rate, pitch_rate = tilt_from_imu(seen(0.1, -0.2, yaw, (0.3, -0.4, 9.0)))
    assert (roll, pitch) == pytest.approx((0.1, -0.2), abs=1e-12)
    assert (roll_rate, pitch_rate) == (0.3, -0.4)


def test_the_ankles_stand_at_the_linear_law_and_return():
    balance = standing(balance_gain=0.5, balance_damping=0.1)
    leaning = Period(0, TICK, observation=seen(0.04, 0.02, rates=(0.1, -0.2, 0.0)))
    turned = balance.step(leaning)
    fwd, side = -(0.5 * 0.02 - 0.1 * 0.2), -(0.5 * 0.04 + 0.1 * 0.1)
    assert turned == pytest.approx([fwd, side, fwd, side], abs=1e-12)
    # Nothing more while the lean stays; all of it back when it is gone.
    assert balance.step(leaning) == pytest.approx(np.zeros(4), abs=1e-15)
    assert balance.step(Period(TICK, 2 * TICK, observation=seen())) == pytest.approx(-turned)


def test_a_correction_is_bounded():
    balance = standing(balance_gain=2.0)
    turned = balance.step(Period(0, TICK, observation=seen(1.0, -1.0)))
    assert turned == pytest.approx([MAX_ANKLE_CORRECTION, -MAX_ANKLE_CORRECTION] * 2)


def test_without_gains_it_reads_nothing():
    assert not standing().step(Period(0, TICK)).any()


def test_with_a_gain_a_missing_imu_is_named():
    with pytest.raises(BadCommand, match='IMU'):
        standing(balance_gain=0.1).step(Period(0, TICK))


def test_an_imu_is_needed_only_where_balance_is_kept_by_it():
    robot = load_robot('guroo')
    controller = StagedWalkController(robot, StagedWalkParams())
    assert controller.needs == frozenset()
    for gains in ({'balance_gain': 0.1}, {'balance_damping': 0.1}):
        controller.set_params(StagedWalkParams(**gains))
        assert controller.needs == {'imu'}
    controller.set_params(StagedWalkParams(heading_gain=0.5))
    assert controller.needs == frozenset()


def test_some_leg_always_carries_and_each_is_free_in_its_swing():
    walk = StagedWalk(StagedWalkParams())
    free = {'left': 0, 'right': 0}
    for tick in range(600):
        begin, end = tick * TICK, (tick + 1) * TICK
        walk.update_mode(begin, stop=walk.cycles >= 2)
        walk.advance_angles(begin, end)
        shares = load_shares(walk, end)
        assert all(0.0 <= share <= 1.0 for share in shares.values())
        assert max(shares.values()) > 0.5
        for leg, share in shares.items():
            free[leg] += share == 0.0
    assert walk.mode is WalkMode.IDLE
    assert load_shares(walk, end) == {'left': 1.0, 'right': 1.0}
    assert min(free.values()) > 2 * 0.3 / 0.02


def test_shares_do_not_jump():
    walk = StagedWalk(StagedWalkParams())
    before = np.ones(2)
    for tick in range(900):
        begin, end = tick * TICK, (tick + 1) * TICK
        walk.update_mode(begin, stop=walk.cycles >= 4)
        walk.advance_angles(begin, end)
        now = np.array(list(load_shares(walk, end).values()))
        # The steepest slope of ``progress`` is 2.
        assert np.abs(now - before).max() <= 2.0 * 0.02 / (0.4 * 0.9) + 1e-9, (tick, walk.mode)
        before = now
    assert math.isclose(before.sum(), 2.0)
