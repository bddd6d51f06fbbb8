# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every registered controller keeps the contract of ``gait.controllers``."""

from dataclasses import replace
from functools import cache
import math

import numpy as np
import pytest

from gait_core import registry
from gait_core.contracts import TapeController, TapeEngine
from gait_core.errors import ConfigurationError, NotInstalled
from gait_core.motion.observation import OBSERVABLE_FIELDS
from gait_core.motion.targets import TargetMemory
from gait_core.parameters.declaration import Parameters, declared_parameters, make_parameters
from gait_core.robot.find import robot_names
from gait_core.robot.legged_box import legged_box
from gait_core.robot.load import load_robot
from gait_core.testing.doubles import KinematicEngine
from gait_core.testing.free_bodies import step_through
from gait_core.trial.loop import TrialLoop, play_target_tape, start_trial, step_controller
from gait_core.trial.scene import Scene
from gait_core.trial.spec import Command, TimedCommand, TrialSpec

CONTROLLERS = registry.names('controllers')
COMMAND = Command(velocity=(0.2, 0.05, 0.1))
TICKS = 40


@cache
def suited(name, preset=None):
    """
    Return the first robot that it accepts, with a preset where one is given.

    Robots that default to the controller come first.
    """
    cls = registry.controller(name)
    params = make_parameters(cls.Params, {} if preset is None else cls.presets[preset])
    robots, refusals = [], []
    for robot in robot_names():
        try:
            robots.append(load_robot(robot))
        except NotInstalled as error:
            # The a1's files come with PyBullet, which is not everywhere.
            refusals.append(str(error))
    robots.append(legged_box(4, 3, roll=True))
    for robot in sorted(robots, key=lambda robot: robot.defaults.get('controller') != name):
        try:
            cls(robot, params)
        except ConfigurationError as error:
            refusals.append(str(error))
        else:
            return robot
    raise AssertionError(f'no robot suits the controller {name}: {refusals}')


def made(name, preset=None, robot=None):
    cls = registry.controller(name)
    params = make_parameters(cls.Params, {} if preset is None else cls.presets[preset])
    return cls(robot or suited(name, preset), params)


def run(controller, robot, ticks=TICKS, only=OBSERVABLE_FIELDS, command=COMMAND):
    """Return the targets of some ticks on an engine that shows the controller only some fields."""
    scene = Scene(robot=robot.name)
    engine = KinematicEngine(robot)
    memory = TargetMemory(robot.target_names, robot.stance)
    hidden = dict.fromkeys(set(OBSERVABLE_FIELDS) - set(only))
    seen, given = engine.reset(scene, 0), []
    for _ in range(ticks):
        given.append(controller.step(scene.control_period, command, replace(seen, **hidden)))
        seen = engine.step(memory.resolve(given[-1]))
    return given


def arrays_of(targets):
    fields = ((t.position, t.velocity, t.effort) for t in targets)
    return [array for three in fields for array in three if array is not None]


def assert_same(one, other):
    assert [t.names for t in one] == [t.names for t in other]
    for a, b in zip(arrays_of(one), arrays_of(other), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize('name', CONTROLLERS)
def test_its_class_declares_parameters_presets_and_needs(name):
    cls = registry.controller(name)
    assert issubclass(cls.Params, Parameters)
    assert cls.presets, 'the first preset is the default one'
    for info in declared_parameters(cls.Params):
        assert info.doc.endswith('.') and info.unit
    for preset in cls.presets:
        controller = made(name, preset)
        assert isinstance(controller.params, cls.Params)
        assert controller.needs <= set(OBSERVABLE_FIELDS)


@pytest.mark.parametrize('name', CONTROLLERS)
def test_its_targets_are_of_known_joints_and_finite(name):
    controller, robot = made(name), suited(name)
    controller.reset(1)
    given = run(controller, robot)
    for targets in given:
        assert set(targets.names) <= set(robot.target_names)
        assert targets.sub_samples == given[0].sub_samples
    # Shapes and finiteness are checked where targets are made: there must be some to check.
    assert arrays_of(given)


@pytest.mark.parametrize('name', CONTROLLERS)
def test_it_runs_on_what_it_declares_to_need(name):
    controller = made(name)
    controller.reset(1)
    assert len(run(controller, suited(name), only=controller.needs)) == TICKS


@pytest.mark.parametrize('name', CONTROLLERS)
def test_equal_seeds_give_equal_targets_after_any_history(name):
    robot = suited(name)
    one, other = made(name), made(name)
    one.reset(7)
    first = run(one, robot)
    run(other, robot, ticks=13, command=Command(velocity=(-0.1, 0.0, 0.3)))
    other.reset(7)
    assert_same(first, run(other, robot))


@pytest.mark.parametrize('name', CONTROLLERS)
def test_parameters_can_be_replaced_while_it_runs_and_hold_after_a_reset(name):
    cls = registry.controller(name)
    for preset, changes in cls.presets.items():
        robot = suited(name, preset)
        changed, fresh = made(name, None, robot), made(name, preset, robot)
        for controller in (changed, fresh):
            controller.reset(3)
        run(changed, robot, ticks=10)
        changed.set_params(make_parameters(cls.Params, changes))
        run(changed, robot, ticks=10)
        changed.reset(3)
        assert changed.params == fresh.params
        assert_same(run(changed, robot), run(fresh, robot))


@pytest.mark.parametrize('name', CONTROLLERS)
def test_it_survives_any_finite_velocity_and_long_control_periods(name):
    cls = registry.controller(name)
    known = {info.name for info in declared_parameters(cls.Params)}
    gains = dict.fromkeys(known & {'heading_gain', 'speed_gain'}, 1.0)
    robot = suited(name)
    controller = cls(robot, make_parameters(cls.Params, gains))
    for size in (1e308, -1e308, np.finfo(float).max):
        for axis in range(3):
            velocity = [0.1, 0.0, 0.1]
            velocity[axis] = size
            controller.reset(0)
            given = run(controller, robot, ticks=5, command=Command(velocity=tuple(velocity)))
            given += run(controller, robot, ticks=3)
            assert all(np.isfinite(array).all() for array in arrays_of(given))
    seen = KinematicEngine(robot).reset(Scene(robot=robot.name), 0)
    for dt in (0.25, 0.02):
        assert arrays_of([controller.step(dt, COMMAND, seen)])


@pytest.mark.parametrize('name', CONTROLLERS)
def test_its_state_is_finite_numbers_by_name(name):
    controller = made(name)
    controller.reset(1)
    run(controller, suited(name), ticks=10)
    state = controller.state()
    assert all(isinstance(key, str) and math.isfinite(value) for key, value in state.items())


SCRIPT = tuple(
    TimedCommand(time=time, command=Command(velocity=velocity, set_points=set_points))
    for time, velocity, set_points in (
        (0.0, (0.2, 0.05, 0.1), {}),
        (1.3, (-0.1, 0.0, 0.3), {'turn': 0.2}),
        (2.1, (0.0, 0.0, 0.0), {'stop': 1.0}),
    )
)


class Played(KinematicEngine, TapeEngine):
    def rollout(self, tape):
        return step_through(self, tape)


def trial_by(drive, engine, name, preset):
    """Return the loop and the number of calls of a trial that is driven in one of two ways."""
    robot = engine.robot
    cls = registry.controller(name)
    spec = TrialSpec(
        scene=Scene(robot=robot.name),
        controller=name,
        parameters=cls.presets[preset],
        script=SCRIPT,
        duration=3.0,
    )
    loop, calls = TrialLoop(spec, engine), 0
    controller = start_trial(loop)
    while loop.is_running:
        drive(loop, controller)
        calls += 1
    return loop, calls


OPEN_LOOP = [n for n in CONTROLLERS if issubclass(registry.controller(n), TapeController)]


def assert_same_record(one, other):
    names = (
        *('joint_positions', 'joint_efforts', 'body_poses', 'body_twists'),
        *('target_positions', 'target_velocities', 'target_efforts', 'commands'),
    )
    for name in names:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)


@pytest.mark.parametrize('name', OPEN_LOOP)
def test_a_trial_by_tape_equals_one_by_steps_to_the_last_bit(name):
    played_presets = 0
    for preset in registry.controller(name).presets:
        robot = replace(suited(name, preset), fall=None)
        if made(name, preset).target_tape(0.02, [COMMAND]) is None:
            continue
        played_presets += 1
        stepped, ticks = trial_by(step_controller, Played(robot), name, preset)
        played, calls = trial_by(play_target_tape, Played(robot), name, preset)
        assert calls <= 4 < ticks <= 150
        assert_same_record(played.rollout(), stepped.rollout())
        one, other = (replace(loop.result(), wall_time=0.0) for loop in (played, stepped))
        assert one == other
        assert one.status == 'ok'
    assert played_presets
