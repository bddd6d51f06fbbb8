# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Clipped components of a commanded velocity are named with the limit and the reason."""

import math

import numpy as np
import pytest

from gait_core.motion.stance_controller import HoldController
from gait_core.motion.velocity_limits import UNLIMITED, VelocityRange, describe_clipping
from gait_core.parameters.declaration import Parameters
from gait_core.testing.doubles import WaveController, WaveParams, legged_box

BOUNDS = (VelocityRange(0.0, 0.5, 'its legs'), VelocityRange.symmetric(0.0, 'no hips'), UNLIMITED)


@pytest.mark.parametrize('velocity', [(0.0, 0.0, 0.0), (0.5, 0.0, 99.0), (0.2, 0.0, -1.0)])
def test_of_what_is_walked_nothing_is_said(velocity):
    assert describe_clipping(BOUNDS, velocity) == ''


@pytest.mark.parametrize(
    ('velocity', 'line'),
    [
        ((100.0, 0.0, 0.0), '100 m/s forward is limited to 0.5 (its legs)'),
        ((-0.1, 0.0, 0.0), '0.1 m/s backward is limited to 0 (its legs)'),
        ((0.1, -0.2, 0.0), '0.2 m/s to the right is limited to 0 (no hips)'),
        ((1.0, 0.2, 0.0), '1 m/s forward is limited to 0.5 (its legs); 0.2 m/s to the left is'),
    ],
)
def test_what_is_not_walked_is_named_with_what_is_and_why(velocity, line):
    assert describe_clipping(BOUNDS, velocity).startswith(line)


def test_a_controller_that_follows_nothing_says_why_and_one_without_bounds_nothing():
    box = legged_box()
    bounds = HoldController(box, Parameters()).velocity_limits
    assert (
        describe_clipping(bounds, (0.0, 0.0, -2.0))
        == '2 rad/s to the right: it holds the nominal stance'
    )
    assert describe_clipping(bounds, (0.0, 0.0, 0.0)) == ''
    assert (
        describe_clipping(WaveController(box, WaveParams()).velocity_limits, (1e9, 0.0, -math.inf))
        == ''
    )
    assert np.isinf([UNLIMITED.low, UNLIMITED.high]).all()
