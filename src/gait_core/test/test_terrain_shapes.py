# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Slopes, steps and bumps have the shapes that their parameters say."""

import math

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.terrains import load_terrain
from gait_core.terrains.bumps import Bumps
from gait_core.terrains.slope import Slope
from gait_core.terrains.steps import Steps
from gait_core.trial.scene import TerrainSpec

X = np.linspace(-2.0, 4.0, 61)


@pytest.mark.parametrize('angle', [-10.0, 3.0])
def test_a_slope_is_level_then_a_plane(angle):
    ground = Slope(angle_deg=angle, start=0.5).build(0)
    expected = math.tan(math.radians(angle)) * np.maximum(X - 0.5, 0.0)
    np.testing.assert_allclose(ground.height(X, 0.3), expected, atol=1e-6)
    tilt = math.acos(ground.normal(2.0, 0.0)[2])
    assert tilt == pytest.approx(math.radians(abs(angle)), abs=1e-4)


def test_a_slope_can_rise_to_the_left_and_under_the_start():
    ground = Slope(angle_deg=10.0, direction_deg=90.0, start=-100.0).build(0)
    rise = math.tan(math.radians(10.0))
    np.testing.assert_allclose(ground.height(1.0, X), rise * X, atol=1e-6)


def test_a_staircase_rises_by_one_riser_a_tread():
    steps = Steps(height=0.01, length=0.3, start=0.5, up_share=1.0, cell=0.02)
    ground = steps.build(0)
    middles = 0.5 + 0.3 * (np.arange(10) + 0.5)
    np.testing.assert_allclose(ground.height(middles, 0.0), 0.01 * np.arange(1, 11), atol=1e-7)
    np.testing.assert_array_equal(ground.height(np.linspace(-2.0, 0.5, 20), 1.0), 0.0)
    # A riser takes one cell, from the foot on.
    assert ground.height(0.5 + 0.3 + 0.01, 0.0) == pytest.approx(0.015, abs=1e-7)
    assert ground.height(0.5 + 0.3 + 0.02, 0.0) == pytest.approx(0.02, abs=1e-7)


def test_steps_go_up_and_down_by_the_seed_or_one_way():
    middles = 0.5 + 0.3 * (np.arange(30) + 0.6)

    def levels(up_share, seed=0):
        return Steps(height=0.002, up_share=up_share).build(seed).height(middles, 0.0) / 0.002

    np.testing.assert_allclose(levels(0.0), -np.arange(1, 31), atol=1e-4)
    np.testing.assert_allclose(levels(1.0, seed=9), np.arange(1, 31), atol=1e-4)
    rises = np.diff(levels(0.5, 3), prepend=0.0)
    np.testing.assert_allclose(np.abs(rises), 1.0, atol=1e-3)
    assert rises.min() < 0.0 < rises.max()
    assert not np.allclose(levels(0.5, 3), levels(0.5, 4))


def test_bumps_of_negative_height_are_holes_in_the_same_places():
    up, down = [
        Bumps(height=sign * 0.03, radius=0.1, spacing=0.3, cell=0.05, extent=6.0)
        .build(5)
        .heightfield.heights
        for sign in (1.0, -1.0)
    ]
    np.testing.assert_array_equal(down, -up)
    assert down.min() < -0.02


def test_bumps_stand_apart_reach_their_height_and_leave_the_start_level():
    bumps = Bumps(height=0.03, radius=0.1, spacing=0.3, cell=0.01, extent=6.0)
    heights = bumps.build(5).heightfield.heights
    assert heights.min() == 0.0
    assert 0.95 * 0.03 < heights.max() <= 0.03 * (1.0 + 1e-6)
    ground = bumps.build(5)
    angle = np.linspace(0.0, 2.0 * math.pi, 30)
    np.testing.assert_array_equal(ground.height(0.37 * np.cos(angle), 0.37 * np.sin(angle)), 0.0)
    # Each takes pi r^2 of its square, half as high as wide on average over its foot: its volume
    # is height * pi * r^2 * (1/2 - 2 / pi^2).
    part = heights[:, heights.shape[1] // 2 + 60 :]
    mean = 0.03 * math.pi * 0.1**2 * (0.5 - 2.0 / math.pi**2) / 0.3**2
    assert part.mean() == pytest.approx(mean, rel=0.05)


@pytest.mark.parametrize('seed', range(5))
def test_no_bump_is_cut_by_the_level_ground_around_the_start(seed):
    field = Bumps(height=0.05, cell=0.02, radius=0.1, flat_radius=0.4).build(seed).heightfield
    # The steepest place of half a cosine wave rises by pi / 2 of its mean slope.
    steepest = 0.5 * math.pi * 0.05 / 0.1 * field.cell
    for axis in (0, 1):
        assert np.abs(np.diff(field.heights, axis=axis)).max() <= steepest * (1.0 + 1e-5)


@pytest.mark.parametrize(
    ('name', 'parameters', 'nearest'),
    [
        # Four million vertices of a square are 1999 cells along a side; to 1 %.
        ('slope', {'cell': 0.01, 'extent': 500.0}, 500.0 / 1999.0),
        ('bumps', {'cell': 0.001, 'extent': 100.0, 'radius': 0.15}, 100.0 / 1999.0),
        # 100 m, 0.5 m before the steps and 3.2 m behind the origin.
        ('steps', {'cell': 0.001, 'extent': 100.0}, (103.7 * 6.4 / 4e6) ** 0.5),
        ('steps', {'length': 0.02}, 0.01),
        ('bumps', {'radius': 0.04}, 0.02),
    ],
)
def test_a_grid_too_big_or_too_coarse_is_refused_with_the_nearest_cell(name, parameters, nearest):
    with pytest.raises(ConfigurationError, match='^[^\n]*$') as raised:
        load_terrain(TerrainSpec(name=name, parameters=parameters))
    cell = float(str(raised.value).rpartition('nearest valid: ')[2])
    assert cell == pytest.approx(nearest, rel=0.02)
    spec = TerrainSpec(name=name, parameters=parameters | {'cell': cell})
    assert load_terrain(spec).heightfield.cell == cell


def test_a_bump_wider_than_its_square_is_refused():
    with pytest.raises(ConfigurationError, match=r'nearest valid: 0\.15'):
        Bumps(radius=0.2, spacing=0.3)
