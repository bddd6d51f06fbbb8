# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every robot stands live, with every controller and preset, until motion is requested."""

from contextlib import suppress
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from gait_core import registry
from gait_core.errors import ConfigurationError, NotInstalled
from gait_core.motion.motion_request import MAX_STOP_TIME
from gait_core.motion.targets import TargetMemory
from gait_core.parameters.declaration import make_parameters
from gait_core.robot.find import robot_names
from gait_core.robot.load import load_robot
from gait_core.safety.layer import STANDING
from gait_core.testing.doubles import KinematicEngine
from gait_core.testing.live import LiveGait
from gait_core.trial.scene import InitialState, Scene

DT = 0.02
EXPIRES = 0.5
VELOCITY = (0.2, 0.1, 0.2)


@cache
def robot_of(name):
    return load_robot(name)


def cases():
    """Yield every controller with every preset."""
    for controller in registry.names('controllers'):
        for preset in registry.controller(controller).presets:
            yield pytest.param(controller, preset, id=f'{controller}-{preset}')


def suited(controller, preset):
    """Return every built-in robot that a controller takes, with the controller made for it."""
    cls = registry.controller(controller)
    found = []
    for name in robot_names():
        # The a1 comes with PyBullet; a controller refuses a robot that it cannot walk.
        with suppress(ConfigurationError, NotInstalled):
            model = robot_of(name)
            found.append((model, cls(model, make_parameters(cls.Params, cls.presets[preset]))))
    return found


def bent(model):
    """Return a pose beside the stance, within the limits, by joint."""
    pose = np.clip(model.joint_stance + 0.02, model.lower, model.upper)
    return dict(zip(model.joint_names, pose.tolist(), strict=True))


class Walk:
    """A live gait whose joints are where they were sent last, and all that it sent."""

    def __init__(self, model, controller):
        scene = Scene(
            robot=model.name, control_period=DT, initial=InitialState(joint_positions=bent(model))
        )
        self._seen = KinematicEngine(model).reset(scene, 0)
        memory = TargetMemory(model.target_names, model.stance)
        self.sent = []

        def send(targets):
            applied = memory.resolve(targets)
            self.sent.append(np.concatenate([applied.position[-1], applied.effort[-1]]))
            joints = applied.position[-1][: len(model.joint_names)]
            return replace(self._seen, joint_positions=joints)

        self.gait = LiveGait(model, controller, DT, VELOCITY, send, start_speed=100.0)

    def go(self, seconds, ask=False):
        """Return the targets sent meanwhile, (ticks, 2 m)."""
        self.sent.clear()
        for _ in range(round(seconds / DT)):
            if ask:
                self.gait.request_motion()
            self._seen = self.gait.step(self._seen)
        return np.array(self.sent)

    def until_standing(self):
        """Return the time until the joints hold [s]."""
        for tick in range(round((EXPIRES + MAX_STOP_TIME + 0.1) / DT)):
            if self.gait.layer.mode == STANDING:
                return tick * DT
            self.go(DT)
        raise AssertionError('it does not stand')


@pytest.mark.parametrize(('controller', 'preset'), cases())
def test_the_joints_hold_before_motion_is_asked_for_and_afterwards(controller, preset):
    walkers = suited(controller, preset)
    assert walkers
    for model, walker in walkers:
        check_motion(model, walker, controller)


def check_motion(model, walker, controller):
    """Check that a robot stands before a walk and after it."""
    walk = Walk(model, walker)
    held = walk.go(1.0)
    measured = np.array([bent(model)[name] for name in model.joint_names])
    expected = np.tile(measured, (len(held), 1))
    np.testing.assert_array_equal(held[:, : len(measured)], expected, err_msg=model.name)
    assert np.ptp(held, axis=0).max(initial=0.0) == 0.0, model.name
    moved = walk.go(1.5, ask=True)
    # The stance of a robot without joints is no way to go.
    stays = controller == 'hold' and not len(measured)
    assert np.ptp(moved, axis=0).max() > 0.01 or stays, model.name
    if not walk.gait.request.follows_velocity:
        walk.gait.end_motion()
    walk.until_standing()
    assert np.ptp(walk.go(1.0), axis=0).max() == 0.0, model.name
