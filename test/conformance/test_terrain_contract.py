# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every registered terrain keeps the contract of ``gait.terrains``."""

import numpy as np
import pytest

from gait_core import registry
from gait_core.parameters.declaration import Parameters, declared_parameters
from gait_core.terrains import load_terrain
from gait_core.testing.free_bodies import applied_targets, free_box, step_through
from gait_core.trial.scene import InitialState, Scene, TerrainSpec


@pytest.mark.parametrize('name', registry.names('terrains'))
def test_every_registered_terrain_keeps_the_contract(name):
    assert issubclass(registry.terrain(name), Parameters)
    a, b = (registry.terrain(name)().build(7) for _ in range(2))
    assert a.hash == b.hash and len(a.hash) == 64
    x, y = np.random.default_rng(0).uniform(-3.0, 3.0, (2, 20))
    np.testing.assert_array_equal(a.height(x, y), b.height(x, y))
    assert np.isfinite(a.height(x, y)).all()
    np.testing.assert_allclose(np.linalg.norm(a.normal(x, y), axis=-1), 1.0)
    if a.heightfield is not None:
        reach = 0.5 * np.array(a.heightfield.size)
        assert (np.abs(np.stack([x, y], axis=-1) - a.heightfield.centre) <= reach).all()


@pytest.mark.parametrize('name', registry.names('terrains'))
def test_a_spec_that_names_every_parameter_gives_the_same_surface(name):
    declared = registry.terrain(name)
    # What a spec and a message carry are numbers.
    numbers = {info.name: float(info.default) for info in declared_parameters(declared)}
    spec = TerrainSpec(name=name, parameters=numbers, seed=7)
    assert load_terrain(spec).hash == declared().build(7).hash


@pytest.mark.parametrize('name', ['bumps', 'flat', 'slope', 'steps'])
def test_the_ground_is_level_where_a_robot_starts(name):
    ground = registry.terrain(name)().build(3)
    x, y = np.random.default_rng(1).uniform(-0.25, 0.25, (2, 200))
    np.testing.assert_array_equal(ground.height(x, y), 0.0)


@pytest.mark.physics
@pytest.mark.parametrize('name', ['bumps', 'slope', 'steps'])
def test_engines_carry_a_flat_sole_over_all_of_it(engine_of, name):
    """On a grid much finer than a sole MuJoCo's contacts run out and Bullet's flicker."""
    robot = free_box(size=(0.2, 0.2, 0.2), mass=2.0)
    engine = engine_of(robot)
    # With its corners exactly on vertices the box would rock in Bullet.
    start = InitialState(x=0.013, y=0.007)
    scene = Scene(robot='x', terrain=TerrainSpec(name=name), initial=start)
    engine.reset(scene, 0, settle_ticks=50)
    seen = step_through(engine, [applied_targets(robot)] * 20)
    points = np.concatenate([one.contacts.points for one in seen])
    assert np.ptp(points[:, :2], axis=0).min() > 0.12
    weights = [one.contacts.forces[:, 2].sum() for one in seen]
    assert np.mean(weights) == pytest.approx(2.0 * 9.81, rel=0.02)
    assert max(one.body_poses[0, 2] for one in seen) == pytest.approx(0.1, abs=5e-4)


@pytest.mark.physics
def test_contacts_on_a_slope_lie_on_its_plane(engine_of):
    ground = {'angle_deg': 8.0, 'direction_deg': 90.0, 'start': -100.0}
    scene = Scene(robot='x', terrain=TerrainSpec(name='slope', parameters=ground))
    robot = free_box(size=(0.2, 0.2, 0.1), mass=2.0)
    engine = engine_of(robot)
    engine.reset(scene, 0, settle_ticks=50)
    end = step_through(engine, [applied_targets(robot)] * 20)[-1]
    points = end.contacts.points
    np.testing.assert_allclose(points[:, 2], np.tan(np.radians(8.0)) * points[:, 1], atol=1e-3)
    # At rest by friction, its underside along the plane: it rolled by the angle of the rise.
    x, _, _, w = end.body_poses[0, 3:7]
    assert 2.0 * np.arctan2(x, w) == pytest.approx(np.radians(8.0), abs=2e-3)
    assert np.abs(end.body_twists[0]).max() < 0.02
