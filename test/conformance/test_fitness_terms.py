# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every registered fitness term keeps the contract of ``gait.fitness_terms``."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gait_core import registry
from gait_core.robot.load import load_robot
from gait_core.testing.doubles import legged_box, make_rollout, spec_for_test

OWN_ROBOTS = {'korbel2013_': 'tetraspine'}
"""Robots whose nodes the terms of a publication name."""


def robot_for(name):
    own = (robot for start, robot in OWN_ROBOTS.items() if name.startswith(start))
    robot = next(own, None)
    return legged_box() if robot is None else load_robot(robot)


@pytest.mark.parametrize('name', registry.names('fitness_terms'))
@pytest.mark.parametrize('ticks', [1, 50])
def test_it_is_a_finite_number_of_any_length_of_trial(name, ticks):
    robot = robot_for(name)
    poses = np.zeros((ticks + 1, len(robot.roots), 7))
    poses[..., 6] = 1.0
    spec = spec_for_test('hold', duration=ticks * 0.02)
    value = registry.fitness_term(name)(make_rollout(robot, spec, ticks, body_poses=poses))
    assert isinstance(value, float) and math.isfinite(value)


@pytest.mark.parametrize('name', registry.names('fitness_terms'))
def test_it_says_its_unit_in_its_summary(name):
    summary = (registry.fitness_term(name).__doc__ or '').strip().split('\n\n')[0]
    assert '[' in summary and ']' in summary
