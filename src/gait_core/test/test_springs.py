# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""A soft start of a robot on springs begins with the rest angles that carry it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gait_core.motion.observation import Observation
from gait_core.robot.model import Actuator
from gait_core.safety.layer import SafetyLayer
from gait_core.safety.parameters import SafetyParams
from gait_core.safety.springs import ExponentialSprings
from gait_core.testing.doubles import legged_box

STRENGTH, RISE, DAMPING = 0.4, 3.0, 0.02


def springy():
    robot = legged_box()
    law = Actuator(
        kind='exponential', constants={'strength': STRENGTH, 'rise': RISE, 'damping': DAMPING}
    )
    first = robot.joint_names[0]
    return replace(robot, actuators={**robot.actuators, first: law})


def observed(robot, angle, rate, torque):
    n = len(robot.joint_names)
    positions, rates, torques = np.zeros(n), np.zeros(n), np.full(n, 0.3)
    positions[0], rates[0], torques[0] = angle, rate, torque
    return Observation(
        tick=0,
        time=0.0,
        joint_names=robot.joint_names,
        joint_positions=positions,
        joint_velocities=rates,
        joint_efforts=torques,
    )


@pytest.mark.parametrize(('rest', 'angle', 'rate'), [(0.5, 0.2, 0.0), (-0.3, 0.1, 1.5)])
def test_the_rest_angle_is_that_of_the_published_law(rest, angle, rate):
    robot = springy()
    x = angle - rest
    torque = -np.sign(x) * STRENGTH * (np.exp(RISE * abs(x)) - 1.0) - DAMPING * rate
    found = ExponentialSprings(robot).stretch(observed(robot, angle, rate, torque))
    assert found[0] == pytest.approx(rest - angle, rel=1e-12)
    # Other actuators are told where they are.
    assert not found[1:].any()
    unknown = replace(observed(robot, angle, rate, torque), joint_efforts=None)
    assert not ExponentialSprings(robot).stretch(unknown).any()


def test_a_soft_start_carries_the_robot():
    robot = springy()
    layer = SafetyLayer(robot, SafetyParams())
    torque = STRENGTH * (np.exp(RISE * 0.25) - 1.0)
    seen = observed(robot, 0.1, 0.0, torque)
    layer.next_action(0.02, seen, 0.0)
    first = layer.output(0.02, None)
    assert first.position[-1][0] == pytest.approx(0.35, rel=1e-12)
