# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Exact resets of every engine: a trial depends on its scene and targets, on nothing else."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gait_core import registry
from gait_core.errors import BadCommand, ConfigurationError, ProtocolError, SimulationDiverged
from gait_core.motion.observation import Observation
from gait_core.motion.targets import AppliedTargets, JointTargets, TargetMemory
from gait_core.robot.model import RobotModel
from gait_core.testing.doubles import legged_box
from gait_core.testing.free_bodies import (
    applied_targets,
    free_ball,
    free_box,
    one_joint_robot,
    step_through,
)
from gait_core.trial.scene import InitialState, Push, Scene, TerrainSpec

pytestmark = pytest.mark.physics

# Unlimited torque on light links: a command that no integrator survives.
WILD = one_joint_robot('effort', inertia=1e-8, mass=1e-3)
ROBOTS = {
    'quadruped': legged_box(4, 3),
    'biped': legged_box(2, 3),
    'torque': replace(
        legged_box(4, 2),
        actuators={
            name: replace(actuator, kind='pd', constants={'stiffness': 60.0, 'damping': 1.0})
            for name, actuator in legged_box(4, 2).actuators.items()
        },
    ),
    'box': free_box(),
    'ball': free_ball(),
    'wild': WILD,
}
ROUGH = TerrainSpec(name='rough', parameters={'nodes': 32, 'extent': 6.0, 'range': 0.04}, seed=5)


def another(engine_name: str):
    return registry.engine(engine_name)(lambda name, draw: ROBOTS[name])


@pytest.fixture
def engine(engine_name):
    engine = another(engine_name)
    yield engine
    engine.close()


def tape(robot: RobotModel, ticks: int = 25) -> list[AppliedTargets]:
    """Return a wave over all joints, two sub-samples a period."""
    n = len(robot.joint_names)
    phase = np.arange(n)

    def at(tick: float) -> np.ndarray:
        return robot.stance + 0.3 * np.sin(0.4 * tick + phase)

    return [applied_targets(robot, [at(tick), at(tick + 0.5)]) for tick in range(ticks)]


def numbers(seen: Observation) -> bytes:
    """Return every number of an observation, to the last bit."""
    parts = [
        seen.joint_positions, seen.joint_velocities, seen.joint_efforts, seen.body_poses,
        seen.body_twists, seen.imu.orientation, seen.imu.angular_velocity,
        seen.imu.linear_acceleration, seen.contacts.sole, seen.contacts.points,
        seen.contacts.forces, seen.contacts.depths,
    ]  # fmt: skip
    return b''.join(np.ascontiguousarray(part).tobytes() for part in parts)


def trial(engine, scene: Scene, settle: int = 3) -> list[bytes]:
    first = engine.reset(scene, 0, settle_ticks=settle)
    return [numbers(seen) for seen in (first, *step_through(engine, tape(engine.robot)))]


def diverge(engine, effort: float = 1e30) -> None:
    engine.reset(Scene(robot='wild', fixed_base=True), 0)
    with pytest.raises(SimulationDiverged) as caught:
        step_through(engine, [applied_targets(engine.robot, effort=[effort])] * 5)
    assert '\n' not in str(caught.value)


@pytest.mark.parametrize('terrain', [TerrainSpec(), ROUGH], ids=['flat', 'rough'])
@pytest.mark.parametrize('robot', ['quadruped', 'torque'])
def test_a_trial_after_any_history_equals_the_first_to_the_last_bit(engine, robot, terrain):
    push = Push(start=0.1, duration=0.1, force=(20.0, 5.0, 0.0))
    scene = Scene(
        robot=robot, physics_step=0.002, terrain=terrain, pushes=(push,),
        engine_options={'self_collision': 1},
    )  # fmt: skip
    first = trial(engine, scene)
    assert len(set(first)) == len(first)
    histories = (
        lambda: trial(engine, scene),
        lambda: trial(engine, Scene(robot='biped', friction=0.2, gravity=(1.0, 0.0, -3.0))),
        lambda: trial(engine, Scene(robot='ball', restitution=0.9, physics_step=0.001)),
        lambda: trial(engine, replace(scene, engine_options={}, friction=0.1)),
        lambda: trial(engine, replace(scene, robot='box', fixed_base=True, terrain=ROUGH)),
        lambda: diverge(engine),
        lambda: diverge(engine, 1e300),
        lambda: engine.reset(scene, 0),
    )
    for history in histories:
        history()
        assert trial(engine, scene) == first


def test_another_engine_gives_the_same_bits(engine, engine_name):
    scene = Scene(robot='quadruped', physics_step=0.002)
    first = trial(engine, scene)
    other = another(engine_name)
    assert trial(other, scene) == first
    other.close()


def test_a_rollout_equals_stepping_bit_for_bit(engine):
    scene = Scene(robot='quadruped', physics_step=0.002)
    rolled = trial(engine, scene)
    start = engine.reset(scene, 0, settle_ticks=3)
    stepped = [numbers(start)] + [numbers(engine.step(row)) for row in tape(engine.robot)]
    assert stepped == rolled


def test_two_engines_side_by_side_do_not_influence_each_other(engine, engine_name):
    scenes = (
        Scene(robot='quadruped', physics_step=0.002),
        Scene(robot='torque', friction=0.3, gravity=(0.0, 0.0, -1.6), terrain=ROUGH),
    )
    alone = [trial(engine, scene) for scene in scenes]
    other = another(engine_name)
    engines = (engine, other)
    seen = [
        [numbers(one.reset(scene, 0, settle_ticks=3))]
        for one, scene in zip(engines, scenes, strict=True)
    ]
    for rows in zip(*(tape(one.robot) for one in engines), strict=True):
        for one, row, log in zip(engines, rows, seen, strict=True):
            log.append(numbers(one.step(row)))
    other.close()
    assert seen == alone


def test_where_the_imu_sits_does_not_change_the_motion(engine, monkeypatch):
    scene = Scene(robot='quadruped', physics_step=0.002)
    engine.reset(scene, 0)
    poses = [seen.body_poses for seen in step_through(engine, tape(engine.robot))]
    carried = replace(ROBOTS['quadruped'], imu_link=ROBOTS['quadruped'].soles[2])
    monkeypatch.setitem(ROBOTS, 'quadruped', carried)
    engine.reset(scene, 0)
    again = [seen.body_poses for seen in step_through(engine, tape(engine.robot))]
    np.testing.assert_array_equal(again, poses)


def test_a_reset_restores_every_physics_setting_and_forgets_old_targets(engine):
    scene = Scene(robot='box', initial=InitialState(clearance=20.0))
    trial(engine, Scene(robot='quadruped', physics_step=0.005, gravity=(0.0, 0.0, -1.0)))
    start = engine.reset(scene, 0)
    end = step_through(engine, [applied_targets(engine.robot)] * 50)[-1]
    # 4.9 m in 1 s at a step of 1 ms, not what the step and gravity before would give.
    assert start.body_poses[0, 2] - end.body_poses[0, 2] == pytest.approx(4.905, rel=2e-3)
    engine.reset(replace(scene, robot='quadruped', fixed_base=True), 0)
    engine.step(applied_targets(engine.robot, engine.robot.stance + 1.0))
    held = engine.reset(replace(scene, robot='quadruped', fixed_base=True), 0, settle_ticks=25)
    np.testing.assert_allclose(held.joint_positions, engine.robot.stance, atol=2e-3)


def test_changed_geometry_under_the_same_name_is_seen(engine, monkeypatch):
    for side in (0.2, 0.4, 0.1):
        monkeypatch.setitem(ROBOTS, 'box', free_box(size=(side, side, side)))
        rest = engine.reset(Scene(robot='box', physics_step=0.002), 0, settle_ticks=25)
        assert rest.body_poses[0, 2] == pytest.approx(0.5 * side, abs=2e-4)
        assert rest.contacts.points[:, 0].max() == pytest.approx(0.5 * side, abs=2e-3)


def test_an_initial_state_is_reached_exactly(engine):
    initial = InitialState(
        x=1.0, y=-2.0, yaw=0.3, clearance=0.1, joint_positions={'leg1_joint0': -0.7}
    )
    seen = engine.reset(Scene(robot='quadruped', initial=initial), 0)
    wanted = dict(zip(seen.joint_names, engine.robot.stance.tolist(), strict=True))
    wanted['leg1_joint0'] = -0.7
    assert dict(zip(seen.joint_names, seen.joint_positions.tolist(), strict=True)) == wanted
    np.testing.assert_allclose(seen.body_poses[0, :2], [1.0, -2.0], atol=1e-15)
    assert (seen.tick, seen.time) == (0, 0.0)
    assert not seen.joint_velocities.any() and not seen.body_twists.any()


def test_memory_and_bodies_stay_constant_over_resets(engine):
    def resident() -> int:
        return int(Path('/proc/self/statm').read_text().split()[1]) * 4096

    scene = Scene(robot='quadruped', terrain=ROUGH)

    def trials(count: int) -> None:
        for _ in range(count):
            engine.reset(scene, 0)
            engine.step(applied_targets(engine.robot))

    trials(50)
    before = resident()
    trials(300)
    # Budget: 20 MB over 500 trials.
    assert resident() - before < 12e6


def test_a_diverged_engine_needs_a_reset_and_then_works(engine):
    diverge(engine)
    with pytest.raises(ProtocolError):
        engine.step(applied_targets(engine.robot))
    rest = engine.reset(Scene(robot='box'), 0, settle_ticks=25)
    assert np.isfinite(rest.body_poses).all()
    assert rest.contacts.forces[:, 2].sum() == pytest.approx(2.0 * 9.81, rel=0.01)


def test_targets_that_are_not_finite_never_reach_the_physics(engine):
    scene = Scene(robot='quadruped', physics_step=0.002)
    undisturbed = trial(engine, scene)
    engine.reset(scene, 0, settle_ticks=3)
    robot, log = engine.robot, []
    memory = TargetMemory(robot.target_names, robot.stance)
    for row in tape(robot):
        for bad in (np.nan, np.inf):
            wrong = row.position.copy()
            wrong[1, 2] = bad
            with pytest.raises(BadCommand):
                engine.step(memory.resolve(JointTargets(names=robot.target_names, position=wrong)))
        log.append(numbers(engine.step(row)))
    assert log == undisturbed[1:]


def test_a_closed_engine_and_one_without_reset_refuse_calls(engine_name):
    engine = another(engine_name)
    with pytest.raises(ProtocolError):
        engine.step(applied_targets(ROBOTS['box']))
    with pytest.raises(ProtocolError):
        _ = engine.robot
    engine.close()
    engine.close()
    with pytest.raises(ProtocolError):
        engine.reset(Scene(robot='box'), 0)


def test_a_reset_writes_nothing_to_the_standard_streams(engine, capfd):
    for robot in ROBOTS:
        engine.reset(Scene(robot=robot), 0)
    assert capfd.readouterr() == ('', '')


@pytest.mark.parametrize(
    ('fields', 'named'),
    [
        ({'engine_options': {'self_collisions': 1}}, "did you mean 'self_collision'"),
        ({'engine_options': {'self_collision': 2}}, 'nearest valid: 1'),
        ({'engine_options': {'self_collision': 0.5}}, 'whole number'),
        ({'contact_law': 'engines'}, "did you mean 'engine'"),
        ({'pushes': (Push(start=0, duration=1, force=(1, 0, 0), link='bas'),)}, "'base'"),
        ({'initial': InitialState(joint_positions={'knee': 0.1})}, "'knee'"),
    ],
)
def test_a_scene_that_the_engine_cannot_build_is_refused_in_one_line(engine, fields, named):
    with pytest.raises(ConfigurationError) as caught:
        engine.reset(Scene(robot='quadruped', **fields), 0)
    assert named in str(caught.value)
    assert '\n' not in str(caught.value)


def test_a_control_period_that_the_physics_step_does_not_divide_is_refused():
    with pytest.raises(ConfigurationError, match='1/250, 1/200 s'):
        Scene(robot='box', physics_step=1.0 / 240.0, control_period=0.02)
