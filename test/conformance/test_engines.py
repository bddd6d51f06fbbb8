# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every engine at rest, rolling and swinging for long; then the engines against one another."""

from functools import cache
from itertools import combinations

import numpy as np
import pytest

from gait_core import registry
from gait_core.errors import BadCommand, ConfigurationError, ProtocolError, SimulationDiverged
from gait_core.robot.load import load_robot
from gait_core.testing.doubles import legged_box
from gait_core.testing.free_bodies import (
    applied_targets,
    free_ball,
    free_box,
    one_joint_robot,
    step_through,
)
from gait_core.testing.skips import joint_engines
from gait_core.trial.loop import run_trial
from gait_core.trial.scene import InitialState, Push, Scene
from gait_core.trial.setup import default_trial
from gait_core.trial.spec import OK

pytestmark = pytest.mark.physics
G = 9.81


def tilted(angle: float) -> tuple[float, float, float]:
    """Return the gravity of a slope that falls towards x by an angle."""
    return (G * np.sin(angle), 0.0, -G * np.cos(angle))


@pytest.mark.parametrize('robot', [free_box(), legged_box(4, 2)], ids=lambda robot: robot.name)
def test_what_stands_below_the_friction_angle_does_not_creep(engine_of, robot):
    engine = engine_of(robot)
    gravity = tilted(np.arctan(0.9 * 0.5))
    engine.reset(Scene(robot='x', friction=0.5, gravity=gravity, physics_step=0.002), 0, 25)
    seen = step_through(engine, [applied_targets(robot)] * 300)
    way = seen[-1].body_poses[0, 0] - seen[50].body_poses[0, 0]
    # Less than 0.2 mm a second for 5 s. MuJoCo's own impedance ratio of 1 gives twice as much.
    assert abs(way) < 1e-3


@pytest.mark.parametrize('angle', [0.1, 0.3])
def test_a_ball_rolls_down_at_five_sevenths_of_what_it_would_slide(engine_of, angle):
    engine = engine_of(free_ball(radius=0.05))
    start = InitialState(clearance=0.0)
    engine.reset(Scene(robot='x', gravity=tilted(angle), initial=start), 0)
    end = step_through(engine, [applied_targets(engine.robot)] * 50)[-1]
    speed = end.body_twists[0, 0]
    assert speed == pytest.approx(5.0 / 7.0 * G * np.sin(angle), rel=1e-3)
    assert 0.05 * end.body_twists[0, 4] == pytest.approx(speed, rel=1e-3)


@pytest.mark.parametrize('step', [0.001, 0.002])
def test_a_frictionless_pendulum_keeps_its_energy(engine_of, step):
    engine = engine_of(one_joint_robot())
    start = InitialState(joint_positions={'hinge': 1.5})
    engine.reset(Scene(robot='x', fixed_base=True, physics_step=step, initial=start), 0)
    seen = step_through(engine, [applied_targets(engine.robot)] * 1500)
    angle = np.array([one.joint_positions[0] for one in seen])
    rate = np.array([one.joint_velocities[0] for one in seen])
    energy = 0.5 * (0.25 + 1e-4) * rate**2 + G * 0.5 * (1.0 - np.cos(angle))
    first, last = energy[:300].mean(), energy[-300:].mean()
    # The semi-implicit step lets it oscillate within a swing, but not drift over 18 of them.
    assert last == pytest.approx(first, rel=1e-4)


def usable(name: str) -> bool:
    try:
        registry.engine(name)
    except ConfigurationError:
        return False
    return True


PAIRS = list(combinations([name for name in joint_engines() if usable(name)], 2))
ALONE = pytest.param('', '', marks=pytest.mark.skip(reason='one engine alone is installed'))
either = pytest.mark.parametrize(('one', 'other'), PAIRS or [ALONE])


def rolled(name: str, robot, scene: Scene, rows, settle: int = 0):
    engine = registry.engine(name)(lambda known, draw: robot)
    try:
        first = engine.reset(scene, 0, settle_ticks=settle)
        return [first, *step_through(engine, rows)]
    finally:
        engine.close()


@either
def test_a_chain_in_the_air_moves_alike(one, other):
    """Torques, a push and the reaction of the free base: mechanics without contact."""
    robot = legged_box(2, 3)
    push = Push(start=0.05, duration=0.1, force=(3.0, 2.0, -1.0), link='leg1_link2')
    scene = Scene(
        robot='x', gravity=(0.0, 0.0, 0.0), physics_step=0.0005, pushes=(push,),
        initial=InitialState(clearance=1.0, yaw=0.4, roll=0.2),
    )  # fmt: skip
    rows = [
        applied_targets(robot, robot.stance + 0.5 * np.sin(0.2 * k + np.arange(6)))
        for k in range(25)
    ]
    a, b = (rolled(name, robot, scene, rows)[-1] for name in (one, other))
    # Half a second at 0.5 ms: both are off by some parts in a thousand of what has moved.
    np.testing.assert_allclose(a.joint_positions, b.joint_positions, atol=2e-3)
    np.testing.assert_allclose(a.body_poses, b.body_poses, atol=2e-3)


@either
@pytest.mark.parametrize('robot', ['a1', 'guroo'])
def test_a_standing_robot_presses_alike(one, other, robot):
    """Equal force at an equal place; how two flat feet share it is statically undetermined."""
    model = load_robot(robot)
    scene = Scene(robot=robot, physics_step=0.002)
    places = []
    for name in (one, other):
        contacts = [
            seen.contacts
            for seen in rolled(name, model, scene, [applied_targets(model)] * 10, settle=75)
        ]
        forces = np.concatenate([each.forces[:, 2] for each in contacts])
        points = np.concatenate([each.points[:, :2] for each in contacts])
        assert forces.sum() / len(contacts) == pytest.approx(model.mass * G, rel=0.01)
        places.append(forces @ points / forces.sum())
    np.testing.assert_allclose(places[0], places[1], atol=2e-3)


@cache
def walked(robot: str, engine: str):
    return run_trial(default_trial(robot, 10.0 if robot == 'a1' else 20.0, {'engine': engine}))


@either
@pytest.mark.parametrize('robot', ['a1', 'guroo'])
def test_a_walk_transfers(one, other, robot):
    a, b = walked(robot, one), walked(robot, other)
    assert (a.status, b.status) == (OK, OK)
    assert a.metrics['distance_m'] == pytest.approx(b.metrics['distance_m'], rel=0.15)
    assert a.metrics['displacement_x_m'] > 0.9 * a.metrics['distance_m']


def test_what_diverges_ends_in_one_step_and_needs_a_reset(engine_of):
    # Unlimited torque on a light link: a command that no integrator survives.
    robot = one_joint_robot('effort', inertia=1e-8, mass=1e-3)
    engine, scene = engine_of(robot), Scene(robot='x', fixed_base=True)
    engine.reset(scene, 0)
    step_through(engine, [applied_targets(robot)] * 4)
    with pytest.raises(SimulationDiverged) as caught:
        step_through(engine, [applied_targets(robot, effort=[1e30])] * 6)
    assert len(caught.value.states) < 6
    with pytest.raises(ProtocolError):
        engine.step(applied_targets(robot))


def test_targets_for_another_robot_are_refused(engine_of):
    engine = engine_of(one_joint_robot('effort'))
    engine.reset(Scene(robot='x', fixed_base=True), 0)
    with pytest.raises(BadCommand, match='shape'):
        engine.step(applied_targets(legged_box(4, 3)))
