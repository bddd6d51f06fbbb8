# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Features of MuJoCo alone: height fields, friction, restitution, kept models and divergence."""

from dataclasses import replace
import importlib

import numpy as np
import pytest

from gait_core.errors import ConfigurationError, SimulationDiverged
from gait_core.height_field import HeightField
from gait_core.terrains import load_terrain
from gait_core.testing.doubles import legged_box
from gait_core.testing.free_bodies import (
    applied_targets,
    free_ball,
    free_box,
    one_joint_robot,
    step_through,
)
from gait_core.testing.skips import need_engine
from gait_core.trial.scene import InitialState, Push, Scene, TerrainSpec

need_engine('mujoco')
from sim_bridge.engines.mujoco import client
from sim_bridge.engines.mujoco.client import mj
from sim_bridge.engines.mujoco.engine import MujocoEngine
from sim_bridge.engines.mujoco.model import add_height_field, damping_ratio

pytestmark = pytest.mark.physics
G = 9.81
ROUGH = TerrainSpec(name='rough', parameters={'nodes': 16, 'extent': 3.0}, seed=3)


@pytest.mark.parametrize(('release', 'too_old'), [('3.8.9', True), ('3.10.0', False)])
def test_a_release_that_is_too_old_is_refused(monkeypatch, release, too_old):
    monkeypatch.setattr(mj, '__version__', release)
    if too_old:
        with pytest.raises(ImportError, match=r"MuJoCo 3\.8\.9 is too old.*'mujoco>=3\.9'"):
            importlib.reload(client)
    else:
        importlib.reload(client)


@pytest.fixture
def engine_of():
    """Make engines for a robot; they are closed at the end."""
    made = []

    def make(robot) -> MujocoEngine:
        made.append(MujocoEngine(lambda name, draw: robot))
        return made[-1]

    yield make
    for engine in made:
        engine.close()


def heights_of_rays(field: HeightField, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return where vertical rays meet a height field that MuJoCo has built."""
    spec = mj.MjSpec()
    add_height_field(spec, spec.worldbody.add_geom(), field)
    model = spec.compile()
    data = mj.MjData(model)
    mj.mj_forward(model, data)
    down, hit = np.array([0.0, 0.0, -1.0]), np.zeros(1, dtype=np.int32)
    return np.array(
        [
            2.0 - mj.mj_ray(model, data, np.array([a, b, 2.0]), down, None, 1, -1, hit)
            for a, b in zip(x, y, strict=True)
        ]
    )


def test_a_ray_hits_the_height_that_the_query_gives():
    field = load_terrain(ROUGH).heightfield
    x, y = np.random.default_rng(0).uniform(-1.49, 1.49, (2, 500))
    # A point on the other side of a diagonal would be off by centimetres.
    np.testing.assert_allclose(heights_of_rays(field, x, y), field.height(x, y), atol=1e-7)


def test_a_grid_that_is_not_square_and_not_centred_lies_where_the_query_says():
    heights = np.random.default_rng(1).uniform(0.2, 0.4, (5, 9))
    field = HeightField(heights=heights, cell=0.25, origin=(-0.5, 0.3))
    x = np.random.default_rng(2).uniform(-0.49, 1.49, 200)
    y = np.random.default_rng(3).uniform(0.31, 1.29, 200)
    np.testing.assert_allclose(heights_of_rays(field, x, y), field.height(x, y), atol=1e-7)


def test_a_sliding_box_does_not_hop(engine_of):
    engine = engine_of(free_box(size=(0.4, 0.4, 0.05), mass=2.0))
    push = Push(start=0.0, duration=0.2, force=(40.0, 0.0, 0.0))
    engine.reset(Scene(robot='x', friction=0.5, control_period=0.001, pushes=(push,)), 0, 500)
    seen = step_through(engine, [applied_targets(engine.robot)] * 400)
    assert seen[200].body_twists[0, 0] > 2.5
    # The convex problem alone opens a contact by friction times speed: it rose by 30 mm.
    assert max(abs(one.body_poses[0, 2] - 0.025) for one in seen) < 2e-4


@pytest.mark.parametrize('restitution', [0.2, 0.5, 0.8, 0.95])
@pytest.mark.parametrize('step', [0.001, 0.002])
def test_restitution_is_that_of_the_scene_whatever_the_step(engine_of, restitution, step):
    engine = engine_of(free_ball())
    scene = Scene(
        robot='x', restitution=restitution, physics_step=step, control_period=step,
        gravity=(0.0, 0.0, -0.1), initial=InitialState(clearance=0.05),
    )  # fmt: skip
    engine.reset(scene, 0)
    fallen = step_through(engine, [applied_targets(engine.robot)] * round(1.1 / step))
    speeds = np.array([one.body_twists[0, 2] for one in fallen])
    assert speeds[-1] > 0.0
    assert speeds.max() / -speeds.min() == pytest.approx(restitution, abs=0.03)


def test_the_damping_of_a_contact_gives_the_restitution_of_its_closed_form():
    # Critical damping leaves exp(-2); the undamped spring gives everything back.
    assert damping_ratio(np.exp(-2.0)) == pytest.approx(1.0, abs=1e-4)
    # For little damping the bodies part almost where the spring is at rest: exp(-pi ratio).
    assert np.exp(-np.pi * damping_ratio(0.97)) == pytest.approx(0.97, abs=1e-3)


@pytest.mark.parametrize(
    ('field', 'value', 'valid'),
    [
        ('restitution', 0.05, '0'),
        ('restitution', 0.1, '0.136'),
        ('restitution', 0.135, '0.136'),
        ('restitution', 1.0, '0.99'),
        ('friction', 1e3, '100'),
    ],
)
def test_a_surface_that_it_cannot_give_is_refused_with_the_nearest(engine_of, field, value, valid):
    engine = engine_of(free_ball())
    with pytest.raises(ConfigurationError, match=f'a {field} of .*; nearest valid: {valid}$'):
        engine.reset(Scene(robot='x', **{field: value}), 0)
    # What is named as the nearest is taken.
    assert engine.reset(Scene(robot='x', **{field: float(valid)}), 0).tick == 0


def test_a_kept_model_gives_the_bits_of_a_new_one(engine_of):
    robot = legged_box(4, 3)
    tape = [
        applied_targets(robot, robot.stance + 0.3 * np.sin(0.4 * k + np.arange(12)))
        for k in range(9)
    ]
    scene = Scene(robot='x', physics_step=0.002, terrain=ROUGH)
    engine = engine_of(robot)

    def end():
        engine.reset(scene, 0, settle_ticks=2)
        return step_through(engine, tape)[-1].joint_positions

    first, model = end(), engine._world.model
    np.testing.assert_array_equal(end(), first)
    assert engine._world.model is model
    engine.reset(replace(scene, friction=0.1), 0)
    np.testing.assert_array_equal(end(), first)
    assert engine._world.model is not model


def test_a_nan_is_divergence_and_gone_after_the_reset(engine_of):
    engine = engine_of(legged_box())
    scene = Scene(robot='x', physics_step=0.002)
    first = engine.reset(scene, 0, settle_ticks=3)
    engine._world.data.qvel[:] = np.nan
    with pytest.raises(SimulationDiverged, match='QVEL'):
        engine.step(applied_targets(engine.robot))
    again = engine.reset(scene, 0, settle_ticks=3)
    np.testing.assert_array_equal(again.body_poses, first.body_poses)


def test_divergence_leaves_no_log_file(engine_of, monkeypatch, tmp_path, capfd):
    monkeypatch.chdir(tmp_path)
    engine = engine_of(legged_box())
    engine.reset(Scene(robot='x', physics_step=0.002), 0)
    engine._world.data.qpos[:] = np.nan
    with pytest.raises(SimulationDiverged):
        engine.step(applied_targets(engine.robot))
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ('', '')


def test_a_strong_damper_of_an_exponential_spring_is_steady_at_a_coarse_step(engine_of):
    inertia, damping, step = 1e-3, 5.0, 0.001
    constants = {'strength': 0.0, 'rise': 1.0, 'damping': damping}
    arm = one_joint_robot('exponential', constants, com=(0.0, 0.0, 0.0), inertia=inertia)
    engine = engine_of(arm)
    # An explicit damper would turn the rate over at every step: 5 times its size.
    assert damping * step / inertia == 5.0
    engine.reset(Scene(robot='r', fixed_base=True, control_period=step), 0)
    engine._world.data.qvel[0] = 1.0
    seen = step_through(engine, [applied_targets(arm)] * 3)
    rates = [one.joint_velocities[0] for one in seen]
    # Implicitly: v' = v / (1 + damping * step / inertia).
    assert rates == pytest.approx([6.0**-1, 6.0**-2, 6.0**-3], rel=1e-6)
    # The report is the law's torque in the state at the start of the step.
    assert seen[1].joint_efforts[0] == pytest.approx(-damping * rates[0], rel=1e-9)


def test_a_callback_of_another_part_of_the_process_stays_and_changes_no_trial(engine_of):
    robot, called = legged_box(4, 3), []
    engine = engine_of(robot)

    def end():
        engine.reset(Scene(robot='x', physics_step=0.002), 0)
        return [engine.step(applied_targets(robot)) for _ in range(5)][-1].joint_positions

    alone = end()
    assert mj.get_mjcb_control() is None

    # While a model is compiled MuJoCo takes no callback of Python's; this one is kept.
    def callback(model, data):
        called.append(True)

    mj.set_mjcb_control(callback)
    try:
        np.testing.assert_array_equal(end(), alone)
        assert mj.get_mjcb_control() is callback
    finally:
        mj.set_mjcb_control(None)
    assert called
