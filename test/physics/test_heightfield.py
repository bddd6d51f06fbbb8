# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The height query against rays on the height field that PyBullet builds from the same grid."""

import numpy as np
import pytest

from gait_core.height_field import HeightField
from gait_core.terrains.rough import Rough
from gait_core.terrains.surfaces import Grid
from gait_core.testing.skips import need_engine

need_engine('bullet')
import pybullet

# Bullet computes in single precision; heights are of the order of 0.1 m and rays 2 m long.
TOLERANCE = 2e-6


@pytest.fixture
def client():
    number = pybullet.connect(pybullet.DIRECT)
    yield number
    pybullet.disconnect(number)


def placed(client: int, field: HeightField) -> None:
    """Build a height field where it belongs, undoing Bullet's centring."""
    ny, nx = field.heights.shape
    shape = pybullet.createCollisionShape(
        pybullet.GEOM_HEIGHTFIELD,
        meshScale=[field.cell, field.cell, 1.0],
        heightfieldData=field.heights.ravel().tolist(),
        numHeightfieldRows=nx,
        numHeightfieldColumns=ny,
        physicsClientId=client,
    )
    pybullet.createMultiBody(
        0.0, shape, basePosition=[*field.centre, field.mid_height], physicsClientId=client
    )


def hits(client: int, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return height and normal where vertical rays meet the ground."""
    rays = pybullet.rayTestBatch(
        [[a, b, 1.0] for a, b in zip(x, y, strict=True)],
        [[a, b, -1.0] for a, b in zip(x, y, strict=True)],
        physicsClientId=client,
    )
    assert all(ray[0] == 0 for ray in rays)
    return np.array([ray[3][2] for ray in rays]), np.array([ray[4] for ray in rays])


def test_a_ray_hits_the_height_and_normal_that_the_query_gives(client):
    field = Rough(extent=3.0, nodes=16).build(seed=3).heightfield
    placed(client, field)
    x, y = np.random.default_rng(0).uniform(-1.49, 1.49, (2, 500))
    height, normal = hits(client, x, y)
    # A point on the other side of a diagonal would be off by centimetres.
    np.testing.assert_allclose(height, field.height(x, y), atol=TOLERANCE)
    np.testing.assert_allclose(normal, field.normal(x, y), atol=1e-4)


def test_a_grid_that_is_not_square_and_not_centred_lies_where_the_query_says(client):
    heights = np.random.default_rng(1).uniform(0.2, 0.4, (5, 9))
    field = HeightField(heights=heights, cell=0.25, origin=(-0.5, 0.3))
    placed(client, field)
    x = np.random.default_rng(2).uniform(-0.49, 1.49, 200)
    y = np.random.default_rng(3).uniform(0.31, 1.29, 200)
    height, _ = hits(client, x, y)
    np.testing.assert_allclose(height, Grid(field).height(x, y), atol=TOLERANCE)


def test_bullet_centres_a_height_field_about_its_mid_height(client):
    heights = np.full((4, 4), 0.1)
    heights[0, 0] = 0.5
    field = HeightField(heights=heights, cell=1.0, origin=(-1.5, -1.5))
    shape = pybullet.createCollisionShape(
        pybullet.GEOM_HEIGHTFIELD,
        meshScale=[1.0, 1.0, 1.0],
        heightfieldData=field.heights.ravel().tolist(),
        numHeightfieldRows=4,
        numHeightfieldColumns=4,
        physicsClientId=client,
    )
    pybullet.createMultiBody(0.0, shape, physicsClientId=client)
    height, _ = hits(client, np.array([1.2]), np.array([1.2]))
    assert height[0] == pytest.approx(0.1 - field.mid_height, abs=TOLERANCE)
    assert field.mid_height == pytest.approx(0.3)
