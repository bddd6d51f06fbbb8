# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The tensegrity spine of Korbel (2013) in the engines cables and bullet, by its checks."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from gait_core.errors import ConfigurationError, SimulationDiverged
from gait_core.kinematics.forward_kinematics import link_poses
from gait_core.measures.contact_nodes import contact_node_index, contact_node_positions
from gait_core.motion.targets import AppliedTape
from gait_core.robot.load import load_robot
from gait_core.terrains import load_terrain
from gait_core.testing.free_bodies import free_box, step_through
from gait_core.testing.skips import need_engine
from gait_core.trial.loop import run_loop
from gait_core.trial.scene import Push, TerrainSpec
from gait_core.trial.setup import default_trial, make_scene
from sim_bridge.engines.cables.engine import CablesEngine
from sim_bridge.engines.cables.ground import bristle_friction, normal_force
from sim_bridge.engines.cables.layout import make_ground
from sim_bridge.engines.cables.options import CablesOptions

pytestmark = pytest.mark.physics
INCH, POUND = 0.0254, 4.4482216152605
SPINE = load_robot('tetraspine')


def scene(**changes):
    return make_scene('tetraspine', changes)


def waves(ticks: int, seed: int, samples: int = 8) -> AppliedTape:
    """Return sines of up to half a pound on the four signals from 0.1 s on."""
    rng = np.random.default_rng(seed)
    phases, pace = rng.uniform(0.0, 2.0 * np.pi, 4), rng.uniform(0.3, 0.6)
    times = np.arange(ticks * samples) * 0.02 / samples
    shape = (ticks, samples, len(SPINE.target_names))
    effort = np.zeros((ticks * samples, shape[2]))
    for phase, (_, names) in zip(phases, SPINE.signals, strict=True):
        columns = [SPINE.target_names.index(name) for name in names]
        pull = 0.46 * POUND * np.sin(2.0 * np.pi * pace * times + phase) * (times >= 0.1)
        effort[:, columns] = pull[:, None]
    still = np.broadcast_to(SPINE.stance, shape)
    return AppliedTape(still, np.zeros(shape), effort.reshape(shape))


@cache
def standing():
    """Return 3 s without signals."""
    return run_loop(replace(default_trial('tetraspine', 3.0), controller='hold', parameters={}))


@cache
def crawl():
    """Return 3 s of waves in the cables engine."""
    engine = CablesEngine()
    engine.reset(scene(), 0)
    return engine.rollout(waves(150, 1))


def test_korbel_4_unactuated_it_stands():
    rollout = standing().rollout()
    poses = rollout.body_poses
    assert (poses[-1, 1, 0] - poses[-1, 0, 0]) / INCH == pytest.approx(2.944, abs=0.03)
    assert abs(poses[-1] - poses[50])[:, :3].max() / INCH < 0.01
    links = link_poses(SPINE, rollout.joint_positions, poses)
    tops = links[..., :3, :3] @ np.array([-1.2247, 0.0, 3.4641]) * INCH + links[..., :3, 3]
    assert tops[..., 2].min() / INCH > 5.0
    nodes = contact_node_positions(rollout)[-1] / INCH
    rears = nodes[[contact_node_index(SPINE, f't{i}_a') for i in range(1, 6)], 0] - nodes[0, 0]
    np.testing.assert_allclose(rears, [0.0, 2.944, 5.888, 8.829, 11.748], atol=0.005)
    assert nodes[contact_node_index(SPINE, 't5_d'), 2] == pytest.approx(1.618, abs=0.005)


def test_korbel_5_no_cable_goes_slack_and_the_ground_bears_the_weight():
    rollout = standing().rollout()
    assert (
        rollout.states.element_forces is not None and rollout.states.element_forces[1:].min() > 0.0
    )
    assert crawl().element_forces.min() > 0.0
    push = rollout.sole_forces()[-50:, :, 2].sum(axis=1).mean()
    assert push / POUND == pytest.approx(0.2236, rel=1e-3)


@pytest.mark.parametrize(
    ('policy', 'aloft', 'at_the_limit'),
    [(0, 0.5, 1.0), (1, 0.0, 1.0), (2, 0.6, 1.0), (3, 0.5, 0.0)],
)
def test_korbel_t8_t9_what_lifts_off_and_breaks_away(policy, aloft, at_the_limit):
    ground = make_ground(scene(), CablesOptions(lift_off=policy), load_terrain(TerrainSpec()))
    p, dt = ground.stiction_range, 1e-3
    force, x = bristle_friction(ground, 1.0, False, 0.5 * p, 0.1 * p / dt, dt)
    assert force == 0.0 and x / p == pytest.approx(aloft)
    _, x = bristle_friction(ground, 1.0, True, 0.95 * p, 0.1 * p / dt, dt)
    assert x / p == pytest.approx(at_the_limit)


def test_reading_c_multiplies_by_the_speed_and_one_way_friction_spares_the_way_forward():
    c = make_ground(
        scene(), CablesOptions(reading=1, forward_share=0.25), load_terrain(TerrainSpec())
    )
    p, v = c.stiction_range, 0.02
    forward, _ = bristle_friction(c, c.forward_share, True, p, v, 1e-6)
    backward, _ = bristle_friction(c, c.forward_share, True, -p, -v, 1e-6)
    assert backward == pytest.approx(0.3 * POUND / INCH**2 * v * p)
    assert forward == pytest.approx(-0.25 * backward)


@pytest.mark.parametrize(
    ('displacement', 'velocity', 'spring_share', 'damper_share'),
    [
        (0.0, 0.002, 0.25, 0.25),
        (0.0, -0.002, 0.25, 1.0),
        (0.5, 0.002, 0.25, 0.25),
        (0.5, -0.002, 0.25, 1.0),
        (-0.5, 0.002, 1.0, 0.25),
        (-0.5, -0.002, 1.0, 1.0),
    ],
)
def test_one_way_friction_spares_each_part_that_acts_against_forward_motion(
    displacement, velocity, spring_share, damper_share
):
    # Stuck inside the range (Eqs. 4 and 5): 0.3 lb/in with a boost of 0.7, and 0.4 lb s/in.
    ground = make_ground(scene(), CablesOptions(forward_share=0.25), load_terrain(TerrainSpec()))
    x = displacement * ground.stiction_range
    spring = spring_share * 0.3 * POUND / INCH * 1.7 * x
    damper = damper_share * 0.4 * POUND / INCH * velocity
    force, _ = bristle_friction(ground, ground.forward_share, True, x, velocity, 1e-6)
    assert force == pytest.approx(-(spring + damper))


def test_korbel_30_both_cables_of_a_pair_pull_alike():
    states = crawl()
    by_name = dict(zip(states.element_names, states.element_forces.T, strict=True))
    for _, (left, right) in SPINE.signals:
        assert abs(by_name[left] - by_name[right]).max() / POUND < 1e-3
    # The thesis's twist is the difference of the rear nodes along x.
    poses = link_poses(SPINE, np.zeros((len(states), 0)), states.body_poses)[:, 0]
    a, b = (poses[:, :3, :3] @ np.array(SPINE.contact_nodes[i].point) for i in (0, 1))
    assert abs(a[:, 0] - b[:, 0]).max() / INCH < 0.01


def test_korbel_31_half_the_step_gives_the_same_way():
    engine = CablesEngine()
    tape, ways = waves(150, 1), []
    for step in (5e-5, 2.5e-5):
        start = engine.reset(scene(physics_step=step), 0)
        ways.append(engine.rollout(tape).body_poses[-1, 0] - start.body_poses[0])
    assert abs(ways[0] - ways[1])[:3].max() / INCH < 0.02
    assert abs(ways[0][:3]).max() / INCH > 0.3


@pytest.mark.parametrize(
    ('changes', 'ticks'),
    [
        ({}, 100),
        ({'terrain': {'name': 'slope', 'parameters': {'angle_deg': 4.0, 'start': 0.1}}}, 15),
        (
            {'pushes': [{'start': 0.1, 'duration': 0.1, 'force': [0.3, 0.2, 0.0], 'link': 't3'}]},
            15,
        ),
        ({'contact_law': 'coulomb', 'friction': 0.5}, 15),
    ],
    ids=['plane', 'slope', 'push', 'coulomb'],
)
def test_bullet_moves_it_as_the_kernel_does(changes, ticks):
    need_engine('bullet')
    from sim_bridge.engines.bullet.engine import BulletEngine

    found = []
    for engine in (CablesEngine(), BulletEngine()):
        engine.reset(scene(engine=engine.name, **changes), 0)
        states = step_through(engine, waves(ticks, 2))
        engine.reset(scene(engine=engine.name, **changes), 0)
        again = step_through(engine, waves(10, 2))
        assert np.array_equal(states.body_poses[:10], again.body_poses)
        found.append(states)
        engine.close()
    ours, theirs = found
    moved = abs(ours.body_poses[-1] - ours.body_poses[0])[:, :3].max()
    assert moved / INCH > 0.1
    assert abs(ours.body_poses - theirs.body_poses)[..., :3].max() / INCH < 1e-4
    assert abs(ours.element_forces - theirs.element_forces).max() < 1e-6
    assert np.array_equal(ours.contact_counts, theirs.contact_counts)


def test_stepping_equals_a_tape_to_the_last_bit():
    engine, tape = CablesEngine(), waves(12, 5)
    engine.reset(scene(), 0, settle_ticks=5)
    alone = engine.rollout(tape)
    engine.reset(scene(), 0, settle_ticks=5)
    steps = [engine.step(targets) for targets in tape]
    for i, one in enumerate(steps):
        for name in ('body_poses', 'body_twists', 'element_forces', 'element_lengths'):
            assert np.array_equal(getattr(one, name), getattr(alone, name)[i])
        assert np.array_equal(one.contacts.forces, alone[i].contacts.forces)
        assert np.array_equal(one.contacts.sole, alone[i].contacts.sole)
        felt = alone.imu.linear_acceleration[i]
        assert np.array_equal(one.imu.linear_acceleration, felt)


def test_enlarged_fourfold_it_moves_the_same():
    engine, found = CablesEngine(), []
    for ratio in (1.0, 4.0):
        engine.reset(scene(length_scale=ratio), 0, settle_ticks=2)
        found.append(engine.rollout(waves(10, 3)))
    small, large = found
    np.testing.assert_allclose(large.body_poses, small.body_poses, atol=1e-9)
    np.testing.assert_allclose(large.element_forces, small.element_forces, rtol=1e-6)
    np.testing.assert_allclose(large.contacts.forces, small.contacts.forces, atol=1e-6)


def test_it_climbs_where_the_ground_rises():
    engine = CablesEngine()
    terrain = {'name': 'steps', 'parameters': {'height': 0.002, 'up_share': 1, 'start': 0.0}}
    start = engine.reset(scene(terrain=terrain, initial={'x': 0.4}), 0)
    end = engine.rollout(waves(10, 1))[-1]
    # The rear stands on the second tread, the front beyond the next riser on the third.
    assert start.body_poses[0, 2] > 0.044 + 0.0039
    points = end.contacts.points
    assert points[:, 2].min() == pytest.approx(0.004, abs=1e-4)
    assert points[:, 2].max() == pytest.approx(0.006, abs=1e-4)


def test_what_diverges_keeps_the_states_before():
    engine = CablesEngine()
    engine.reset(scene(pushes=[{'start': 0.1, 'duration': 1.0, 'force': [1e7, 0, 0]}]), 0)
    with pytest.raises(SimulationDiverged) as error:
        engine.rollout(waves(20, 1))
    assert 4 <= len(error.value.states) < 20
    assert np.isfinite(error.value.states.body_poses).all()


def test_what_diverges_at_once_has_no_states():
    engine = CablesEngine()
    engine.reset(scene(pushes=[{'start': 0.0, 'duration': 1.0, 'force': [1e9, 0, 0]}]), 0)
    with pytest.raises(SimulationDiverged) as error:
        engine.rollout(waves(20, 1))
    assert len(error.value.states) == 0


@pytest.mark.parametrize(
    ('robot', 'changes', 'said'),
    [
        ('guroo', {}, 'engines with joints: bullet, mujoco'),
        ('tetraspine', {'contact_law': 'colomb'}, "did you mean 'coulomb'?"),
        ('tetraspine', {'restitution': 0.5}, 'nearest valid: 0'),
        ('tetraspine', {'fixed_base': True}, 'its bodies are free'),
        ('tetraspine', {'engine_options': {'lift_of': 1}}, "did you mean 'lift_off'?"),
    ],
)
def test_what_it_cannot_carry_is_told_in_one_line(robot, changes, said):
    with pytest.raises(ConfigurationError) as error:
        CablesEngine().reset(make_scene(robot, {'engine': 'cables', **changes}), 0)
    assert said in str(error.value) and '\n' not in str(error.value)


def test_a_robot_on_collision_shapes_is_sent_elsewhere():
    engine = CablesEngine(lambda name, draw: free_box())
    with pytest.raises(ConfigurationError, match='has no contact nodes'):
        engine.reset(scene(robot='tetraspine'), 0)


def test_mujoco_says_which_engines_have_contact_nodes():
    need_engine('mujoco')
    from sim_bridge.engines.mujoco.engine import MujocoEngine

    with pytest.raises(ConfigurationError, match="'cables', 'bullet'"):
        MujocoEngine().reset(scene(engine='mujoco'), 0)


def test_normal_force_only_pushes():
    assert normal_force(4378.0, 186158.0, 1e-4, -0.05) == 0.0
    assert normal_force(4378.0, 186158.0, -1e-4, 1.0) == 0.0


def test_a_push_turns_what_is_off_its_middle():
    engine = CablesEngine()
    shove = Push(start=0.0, duration=0.1, force=(0.0, 0.5, 0.0), link='t5')
    start = engine.reset(replace(scene(), pushes=(shove,)), 0)
    end = engine.rollout(waves(10, 1))[-1]
    assert end.body_poses[4, 1] > start.body_poses[4, 1] + 0.001


def test_its_default_trial_walks_and_its_energy_is_that_of_the_driven_cables():
    loop = run_loop(default_trial('tetraspine', 4.0))
    result = loop.result()
    assert result.status == 'ok' and result.metrics['energy_j'] > 0.0
    assert run_loop(default_trial('tetraspine', 4.0)).result().trial_hash == result.trial_hash
