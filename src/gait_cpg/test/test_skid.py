# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Turning of robots whose feet cannot step aside: against the friction of feet that slide."""

import numpy as np
import pytest
from scipy.optimize import brentq

from gait_core.kinematics.leg_ik import LegKinematics
from gait_core.motion.observation import Observation
from gait_core.parameters.declaration import make_parameters
from gait_core.testing.doubles import legged_box
from gait_core.trial.spec import Command
from gait_cpg.phase_cpg.controller import PhaseCpgController
from gait_cpg.phase_cpg.parameters import PhaseCpgParams
from gait_cpg.phase_cpg.skid import skid_yaw_ratio

DT = 0.02
BLIND = Observation(tick=0, time=0.0)
PLANAR, FREE = legged_box(4, 2), legged_box(4, 3, roll=True)


def legs_of(robot):
    legs = [LegKinematics(robot, leg.name) for leg in robot.legs]
    return legs, [robot.stance[leg.columns] for leg in legs]


def feet_of(robot):
    return np.array([leg.forward(joints)[0] for leg, joints in zip(*legs_of(robot), strict=True)])


def test_feet_that_can_step_aside_bring_all_of_a_turn():
    assert skid_yaw_ratio(*legs_of(FREE)) == 1.0


def test_feet_that_cannot_bring_the_share_at_which_frictions_are_in_balance():
    feet = feet_of(PLANAR)[:, :2]
    feet = feet - feet.mean(axis=0)

    def moment(share):
        # Under a body that turns by the share of 1 rad/s for which both sides' strides are made.
        sliding = np.column_stack(((1.0 - share) * feet[:, 1], share * feet[:, 0]))
        friction = -sliding / np.linalg.norm(sliding, axis=1)[:, None]
        return float(np.sum(feet[:, 0] * friction[:, 1] - feet[:, 1] * friction[:, 0]))

    share = skid_yaw_ratio(*legs_of(PLANAR))
    assert 0.0 < share < 1.0
    assert share == pytest.approx(brentq(moment, 0.01, 0.99), abs=1e-9)


@pytest.mark.parametrize('turn', [0.2, -0.1])
def test_strides_differ_by_as_much_more_as_sliding_takes(turn):
    one = PhaseCpgController(
        PLANAR, make_parameters(PhaseCpgParams, {'frequency': 2.5, 'duty_factor': 0.75})
    )
    command = Command(velocity=(0.2, 0.0, turn))
    legs, speeds, before = legs_of(PLANAR)[0], [], np.zeros(4)
    for _ in range(150):
        joints = np.split(one.step(DT, command, BLIND).position[-1], len(legs))
        now = np.array([leg.forward(q)[0][0] for leg, q in zip(legs, joints, strict=True)])
        speeds.append((before - now) / DT)
        before = now
    # A foot goes back while it stands, for most of a cycle, as fast as the body over it; that a
    # turn bends its way makes for some per cent.
    share = skid_yaw_ratio(*legs_of(PLANAR))
    expected = 0.2 - turn / share * feet_of(PLANAR)[:, 1]
    np.testing.assert_allclose(np.median(speeds[100:], axis=0), expected, rtol=0.1)
