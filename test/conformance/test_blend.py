# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Changes between gaits are smooth, for every controller, preset and random parameters."""

import numpy as np
import pytest

from gait_core import registry
from gait_core.errors import ConfigurationError, NotInstalled
from gait_core.motion.targets import TargetMemory
from gait_core.parameters.declaration import declared_parameters, make_parameters, parameter_values
from gait_core.robot.find import robot_names
from gait_core.robot.load import load_robot
from gait_core.safety.layer import RESET, RUNNING, STEP, SafetyLayer
from gait_core.safety.parameters import SafetyParams
from gait_core.testing.doubles import KinematicEngine
from gait_core.trial.scene import Scene
from gait_core.trial.spec import Command

DT = 0.02
START_SPEED = 0.3
# What a pace is measured over, and after which time more may pass: of Blend.
BEFORE, AT_ONCE, STOOD = 100, 24, 74
CHANGES = 3


def cases():
    """Yield each controller with each of its presets."""
    for name in registry.names('controllers'):
        cls = registry.controller(name)
        for preset in cls.presets:
            yield pytest.param(name, preset, id=f'{name}-{preset}')


def suited(cls, name, params):
    """Return a robot that a controller takes, first of those whose default it is, and both."""
    robots = []
    for robot in robot_names():
        try:
            robots.append(load_robot(robot))
        except NotInstalled:
            continue
    for robot in sorted(robots, key=lambda robot: robot.defaults.get('controller') != name):
        try:
            return robot, cls(robot, params)
        except ConfigurationError:
            continue
    return pytest.skip(f'no robot here suits {name}')


def drawn(controller, rng):
    """Return parameters of which a few are drawn anew within their ranges."""
    cls = type(controller)
    infos = [info for info in declared_parameters(cls.Params) if info.kind in ('float', 'int')]
    values = parameter_values(controller.params)
    for index in rng.choice(len(infos), size=min(4, len(infos)), replace=False):
        info = infos[index]
        high = min(info.high, info.low + 20.0) if info.kind == 'int' else info.high
        value = rng.uniform(info.low, high)
        values[info.name] = round(value) if info.kind == 'int' else value
    return make_parameters(cls.Params, values)


class Walk:
    """A controller behind a safety layer, and a robot that follows its targets exactly."""

    def __init__(self, robot, controller, command):
        self.layer = SafetyLayer(robot, SafetyParams(start_speed=START_SPEED))
        self._controller, self._command = controller, command
        self._engine, self._memory = (
            KinematicEngine(robot),
            TargetMemory(robot.target_names, robot.stance),
        )
        self._seen = self._engine.reset(Scene(robot=robot.name), 0)
        self._last = robot.stance
        controller.reset(0)

    def speeds(self, ticks):
        """Return the greatest speed of each joint's targets in some control periods, (T, m)."""
        found = []
        for _ in range(ticks):
            action = self.layer.next_action(DT, self._seen, 0.0)
            targets = None
            if action in (STEP, RESET):
                targets = self._controller.step(DT, self._command, self._seen)
            applied = self._memory.resolve(self.layer.output(DT, targets))
            rows = applied.position
            moved = np.abs(np.diff(rows, axis=0, prepend=self._last[None])) / (DT / len(rows))
            found.append(moved.max(axis=0))
            self._last = rows[-1]
            self._seen = self._engine.step(applied)
        return np.array(found)

    def change(self, params):
        self._controller.set_params(params)
        self.layer.start_blend()


@pytest.mark.parametrize('velocity', [0.0, 0.2], ids=['standing', 'walking'])
@pytest.mark.parametrize(('name', 'preset'), cases())
def test_a_changed_gait_adds_no_more_than_the_start_speed(name, preset, velocity):
    cls = registry.controller(name)
    robot, controller = suited(cls, name, make_parameters(cls.Params, cls.presets[preset]))
    walk = Walk(robot, controller, Command(velocity=(velocity, 0.0, 0.0)))
    while walk.layer.mode != RUNNING:
        walk.speeds(1)
    before = walk.speeds(BEFORE + 50)[-BEFORE:].max(axis=0)
    rng = np.random.default_rng(len(name) + len(preset))
    for _ in range(CHANGES):
        params = drawn(controller, rng)
        try:
            cls(robot, params)
        except ConfigurationError:
            continue
        stands = not (before > START_SPEED).any()
        walk.change(params)
        after = walk.speeds(STOOD if stands else AT_ONCE).max(axis=0)
        assert (after <= before + START_SPEED * (1.0 + 1e-9)).all()
        if not stands:
            break
        before = np.maximum(before, after) if (before > 0.0).any() else before


def test_a_walk_returns_to_its_full_speed():
    """The rest angles of an insect's step jump: the fastest that there is."""
    cls = registry.controller('insect_gait')
    robot, controller = suited(cls, 'insect_gait', make_parameters(cls.Params, {}))
    walk = Walk(robot, controller, Command(velocity=(0.2, 0.0, 0.0)))
    walk.speeds(50)
    before = walk.speeds(BEFORE).max()
    walk.change(make_parameters(cls.Params, {'step_time': 0.04}))
    walk.speeds(300)
    assert walk.speeds(BEFORE).max() > 0.9 * before
