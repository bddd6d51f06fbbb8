# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rays of every engine: closed forms, agreement of the engines, and no effect on a trial."""

from dataclasses import replace
import math

import numpy as np
import pytest

from gait_core import registry
from gait_core.errors import ConfigurationError, ProtocolError
from gait_core.sensors.ranging import RangingEngine
from gait_core.testing.doubles import legged_box
from gait_core.testing.free_bodies import free_box
from gait_core.testing.skips import need_engine
from gait_core.trial.loop import run_loop
from gait_core.trial.scene import InitialState, Scene, TerrainSpec
from gait_core.trial.spec import TrialSpec

pytestmark = pytest.mark.physics
ROOM = TerrainSpec(name='room', parameters={'length': 5.0, 'width': 4.0}, seed=2)


def fan(count, down=0.0):
    angle = np.linspace(-math.pi, math.pi, count, endpoint=False)
    level = math.cos(down)
    return np.column_stack(
        [level * np.cos(angle), level * np.sin(angle), np.full(count, -math.sin(down))]
    )


def test_a_ray_to_level_ground_is_as_long_as_height_over_sine(engine_of):
    engine = engine_of(free_box())
    engine.reset(Scene(robot='x'), 0)
    assert isinstance(engine, RangingEngine)
    for down in (0.05, 0.3, 1.5):
        # The robot stands in the way of none: it is not there for rays.
        far = engine.cast(np.array([0.0, 0.0, 0.4]), fan(32, down), 50.0)
        np.testing.assert_allclose(far, 0.4 / math.sin(down), atol=1e-4)
    assert np.isinf(engine.cast(np.array([0.0, 0.0, 0.4]), fan(8, -0.1), 50.0)).all()
    # One that ends before the ground meets nothing.
    assert np.isinf(engine.cast(np.array([0.0, 0.0, 0.4]), fan(8, 0.3), 1.0)).all()


def test_a_ray_meets_the_walls_of_a_room_where_they_are(engine_of):
    engine = engine_of(free_box())
    bare = replace(ROOM, parameters={**ROOM.parameters, 'box': 0.0})
    engine.reset(Scene(robot='x', terrain=bare), 0)
    start, height = np.array([0.2, 0.1, 0.3]), 0.6
    ahead = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0]])
    # A wall rises within one cell of 0.1 m: at half of its height it is half a cell nearer.
    nearer = 0.1 * (1.0 - 0.3 / height)
    expected = np.array([2.5 - 0.2, 2.5 + 0.2, 2.0 - 0.1, 2.0 + 0.1]) - nearer
    np.testing.assert_allclose(engine.cast(start, ahead, 20.0), expected, atol=1e-4)
    # On a robot that is enlarged in the engine lengths are its own all the same.
    engine.reset(Scene(robot='x', terrain=bare, length_scale=2.0), 0)
    np.testing.assert_allclose(engine.cast(start, ahead, 20.0), expected, atol=1e-4)


def test_engines_agree_to_a_millimetre():
    need_engine('bullet')
    need_engine('mujoco')
    terrains = (
        ROOM,
        TerrainSpec(name='rough', parameters={'range': 0.3, 'nodes': 60, 'extent': 12.0}, seed=1),
        TerrainSpec(name='slope', parameters={'angle_deg': 10.0, 'extent': 12.0}),
    )
    seen = {}
    for name in ('bullet', 'mujoco'):
        engine = registry.engine(name)(lambda name, draw: free_box())
        for terrain in terrains:
            engine.reset(Scene(robot='x', terrain=terrain), 0)
            rays = np.concatenate([fan(60, down) for down in (0.02, 0.1, 0.4)])
            seen.setdefault(name, []).append(engine.cast(np.array([0.31, 0.17, 0.45]), rays, 8.0))
        engine.close()
    first, second = np.concatenate(seen['bullet']), np.concatenate(seen['mujoco'])
    met = np.isfinite(first)
    np.testing.assert_array_equal(met, np.isfinite(second))
    assert met.mean() > 0.5
    np.testing.assert_allclose(first[met], second[met], atol=1e-3)


def test_rays_leave_the_trial_as_it_is(engine_of):
    engine = engine_of(legged_box(4, 2))
    spec = TrialSpec(
        scene=Scene(robot='x', engine=engine.name, terrain=ROOM), controller='hold', duration=0.2
    )
    alone = run_loop(spec, engine).result().trial_hash

    class Looking:
        """The engine, which looks around at every step."""

        def __getattr__(self, name):
            return getattr(engine, name)

        def step(self, targets):
            seen = engine.step(targets)
            assert np.isfinite(engine.cast(seen.body_poses[0, :3], fan(16, 0.2), 9.0)).all()
            return seen

    assert run_loop(spec, Looking()).result().trial_hash == alone


def test_rays_need_a_scene_and_an_engine_that_has_them(engine_of, monkeypatch):
    engine = engine_of(free_box())
    with pytest.raises(ProtocolError, match='needs a reset'):
        engine.cast(np.zeros(3), fan(1), 1.0)
    engine.reset(Scene(robot='x', initial=InitialState(clearance=0.1)), 0)
    with monkeypatch.context() as patched:
        patched.setattr(type(engine), 'RayCaster', None)
        with pytest.raises(ConfigurationError, match='casts no rays'):
            engine.cast(np.zeros(3), fan(1), 1.0)
    engine.close()
    with pytest.raises(ProtocolError):
        engine.cast(np.zeros(3), fan(1), 1.0)
