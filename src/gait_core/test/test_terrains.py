# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.terrains import Grid, HeightField, load_terrain
from gait_core.terrains.rough import Rough
from gait_core.trial.scene import TerrainSpec

place = st.floats(-4.0, 4.0)
COORDINATES = np.linspace(-2.0, 2.0, 5)


def plane_grid(a, b, c):
    """Z = a + b x + c y on a grid of 1 m; sixteenths are exact in single precision."""
    heights = a + b * COORDINATES[None, :] + c * COORDINATES[:, None]
    return Grid(HeightField(heights=heights, cell=1.0, origin=(-2.0, -2.0)))


def test_a_gridded_plane_is_the_plane():
    grid = plane_grid(0.25, 0.125, -0.5)
    x, y = np.random.default_rng(0).uniform(-2.0, 2.0, (2, 100))
    np.testing.assert_allclose(grid.height(x, y), 0.25 + 0.125 * x - 0.5 * y, atol=1e-12)
    normal = np.array([-0.125, 0.5, 1.0])
    np.testing.assert_allclose(
        grid.normal(x, y), np.tile(normal / np.linalg.norm(normal), (100, 1)), atol=1e-12
    )


def test_vertices_have_their_own_heights():
    field = Rough(extent=4.0, nodes=5).build(3).heightfield
    x, y = np.meshgrid(COORDINATES, COORDINATES)
    np.testing.assert_array_equal(field.height(x, y), field.heights)


def test_the_diagonal_runs_from_greatest_x_to_greatest_y():
    heights = np.array([[0.0, 1.0], [1.0, 0.0]])
    field = HeightField(heights=heights, cell=1.0, origin=(0.0, 0.0))
    # Along the other diagonal, 0 at both ends: this one lifts its middle to 1.
    assert field.height(0.5, 0.5) == 1.0
    assert field.height(0.25, 0.25) == 0.5


@given(x=place, y=place, step=st.floats(-1e-9, 1e-9))
def test_the_surface_has_no_jumps(x, y, step):
    field = Rough(extent=6.0, nodes=7, range=1.0).build(1).heightfield
    # 1 m of height per 1 m cell at most, twice over along a diagonal.
    assert abs(field.height(x + step, y - step) - field.height(x, y)) <= 1e-8


@given(x=place, y=place)
def test_normals_are_unit_vectors_pointing_up_and_fit_the_slope(x, y):
    field = Rough(extent=6.0, nodes=7, range=1.0).build(1).heightfield
    normal = field.normal(x, y)
    assert np.linalg.norm(normal) == pytest.approx(1.0)
    assert normal[2] > 0.0


def test_normals_are_those_of_the_slope_within_a_triangle():
    field = Rough(extent=6.0, nodes=7, range=1.0).build(1).heightfield
    x, y, d = np.array([0.2, 0.7]), np.array([0.3, 0.8]), 1e-3
    slope = np.stack([
        (field.height(x + d, y) - field.height(x - d, y)) / (2 * d),
        (field.height(x, y + d) - field.height(x, y - d)) / (2 * d),
    ], axis=-1)  # fmt: skip
    normal = field.normal(x, y)
    np.testing.assert_allclose(-normal[:, :2] / normal[:, 2:], slope, atol=1e-9)


def test_outside_the_grid_its_edge_goes_on():
    grid = plane_grid(0.0, 0.25, 0.0)
    assert grid.height(9.0, 0.0) == 0.5
    assert grid.height(-9.0, 9.0) == -0.5


def test_queries_broadcast():
    for terrain in (load_terrain(TerrainSpec()), plane_grid(0.0, 0.0, 0.0)):
        assert terrain.height(np.zeros((3, 1)), np.zeros(4)).shape == (3, 4)
        assert terrain.normal(np.zeros((3, 1)), np.zeros(4)).shape == (3, 4, 3)
        assert np.shape(terrain.height(0.0, 0.0)) == ()


def test_rough_ground_is_that_of_bishop_2008():
    field = load_terrain(TerrainSpec(name='rough', seed=5)).heightfield
    heights = field.heights
    assert heights.size == 65536
    # Section 4.2: 0.13 m band, nodes 50/255 m apart over 50 x 50 m.
    assert 0.128 <= heights.max() - heights.min() <= 0.13
    assert field.cell == pytest.approx(50.0 / 255.0)
    assert field.size == pytest.approx((50.0, 50.0))
    assert field.centre == pytest.approx((0.0, 0.0))
    # Two uniform draws differ by a third of the band on average; 65280 pairs, not independent.
    assert np.abs(np.diff(heights, axis=1)).mean() == pytest.approx(0.13 / 3.0, rel=0.02)


def test_heights_are_exact_in_single_precision():
    heights = load_terrain(TerrainSpec(name='rough')).heightfield.heights
    np.testing.assert_array_equal(heights, heights.astype(np.float32).astype(np.float64))


def test_the_hash_names_the_surface():
    rough = [load_terrain(TerrainSpec(name='rough', seed=seed)).hash for seed in (0, 1)]
    lower = load_terrain(TerrainSpec(name='rough', parameters={'range': 0.05})).hash
    flat = load_terrain(TerrainSpec()).hash
    assert len({*rough, lower, flat}) == 4
    assert Rough().build(0).hash == rough[0]
    shifted = Grid(HeightField(heights=np.zeros((2, 2)), cell=1.0, origin=(0.0, 0.5)))
    level = Grid(HeightField(heights=np.zeros((2, 2)), cell=1.0, origin=(0.0, 0.0)))
    assert shifted.hash != level.hash


def test_no_range_makes_it_level_and_a_flat_radius_the_start():
    level = Rough(range=0.0).build(1)
    np.testing.assert_array_equal(level.heightfield.heights, 0.0)
    started = Rough(extent=10.0, nodes=101, flat_radius=1.0).build(1)
    angles = np.linspace(0.0, 6.0, 50)
    # Cells of 0.1 m: whatever is a diagonal inside the radius has level corners.
    np.testing.assert_array_equal(started.height(0.8 * np.cos(angles), 0.8 * np.sin(angles)), 0.0)
    assert np.any(started.height(1.5 * np.cos(angles), 1.5 * np.sin(angles)) != 0.0)


def test_equal_specs_share_one_surface():
    once = load_terrain(TerrainSpec(name='rough', parameters={'range': 0.1}, seed=2))
    assert load_terrain(TerrainSpec(name='rough', parameters={'range': 0.1}, seed=2)) is once
    with pytest.raises(ValueError, match='read-only'):
        once.heightfield.heights[0, 0] = 1.0


@pytest.mark.parametrize(
    ('spec', 'message'),
    [
        (TerrainSpec(name='ruff'), "unknown terrain 'ruff'.*'rough'"),
        (TerrainSpec(name='rough', parameters={'rnage': 0.1}), "'rnage'.*did you mean 'range'"),
        (TerrainSpec(name='rough', parameters={'range': 2.0}), r'outside \[0, 1\]'),
        (TerrainSpec(name='rough', parameters={'nodes': 10.5}), 'whole number'),
        (TerrainSpec(name='rough', parameters={'range': [0.1]}), 'expected a number'),
        (TerrainSpec(name='flat', parameters={'range': 0.1}), "unknown parameter 'range'"),
    ],
)
def test_bad_specs_are_refused_by_name(spec, message):
    with pytest.raises(ConfigurationError, match=message):
        load_terrain(spec)


@pytest.mark.parametrize('heights', [np.zeros((1, 3)), [[0.0, np.nan], [0.0, 0.0]]])
def test_height_fields_without_a_finite_cell_are_refused(heights):
    with pytest.raises(ValueError, match='height'):
        HeightField(heights=heights, cell=1.0, origin=(0.0, 0.0))
