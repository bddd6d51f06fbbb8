# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every robot stands, walks, stands and walks again in physics when asked live, and stays up."""

import math

import pytest
from scipy.spatial.transform import Rotation

from gait_core import registry
from gait_core.motion.motion_request import STOP_TIME
from gait_core.parameters.declaration import make_parameters
from gait_core.robot.load import load_robot
from gait_core.safety.layer import FALLEN, RUNNING, STANDING
from gait_core.testing.live import LiveGait
from gait_core.testing.skips import need_engine, need_robot
from gait_core.trial.robot_gait import resolve_gait
from gait_core.trial.setup import make_scene
from sim_bridge.live import LiveSimulation

EXPIRES = 0.5


class Walk:
    """A robot in physics and its own gait, or another, as a node runs it live."""

    def __init__(self, name, controller='', preset=''):
        need_robot(name)
        robot = load_robot(name)
        scene = make_scene(name, {})
        need_engine(scene.engine)
        gait = resolve_gait(robot, controller, preset)
        cls = registry.load('controllers', gait.controller)
        self.live = LiveSimulation(scene, 0)

        def send(targets):
            if targets is not None:
                self.live.command(targets)
            return self.live.step()

        self.gait = LiveGait(
            robot, cls(robot, make_parameters(cls.Params, gait.parameters)), self.live.dt,
            robot.defaults.get('command', (0.1, 0.0, 0.0)), send,
        )  # fmt: skip
        self.size = robot.length_scale

    @property
    def x(self):
        return float(self.live.observation.body_poses[:, 0].mean()) / self.size

    @property
    def tilt(self):
        up = Rotation.from_quat(self.live.observation.body_poses[0, 3:]).as_matrix()[2, 2]
        return math.acos(min(1.0, up))

    def go(self, seconds, ask=False):
        for _ in range(round(seconds / self.live.dt)):
            if ask:
                self.gait.request_motion()
            self.gait.step(self.live.observation)
            assert self.gait.layer.mode != FALLEN

    def until_standing(self):
        """Return the time until the joints hold [s]."""
        if not self.gait.request.follows_velocity:
            self.gait.end_motion()
        time = 0.0
        while self.gait.layer.mode != STANDING:
            self.go(self.live.dt)
            time += self.live.dt
            assert time < 10.0
        return time


# The small roach steps ten times as often as the others.
@pytest.mark.parametrize(
    ('name', 'unit'),
    [('a1', 1.0), ('guroo', 1.0), ('hexapod', 1.0), ('roach', 0.2), ('tetraspine', 1.0)],
)
def test_a_robot_stands_walks_stands_and_walks_again(name, unit):
    walk = Walk(name)
    walk.go(0.5 * unit)
    here = walk.x
    walk.go(0.5 * unit)
    assert abs(walk.x - here) < 0.08
    walk.go(2.5 * unit, ask=True)
    assert walk.x - here > 0.05
    time = walk.until_standing()
    assert time <= EXPIRES + STOP_TIME + 0.1
    # What moved it comes to rest: then it stays where it is, with every foot down.
    walk.go(0.5 * unit)
    here = walk.x
    walk.go(1.0 * unit)
    assert abs(walk.x - here) < 0.05 and walk.tilt < 0.1
    ticks = 0
    while walk.gait.layer.mode != RUNNING:
        walk.go(walk.live.dt, ask=True)
        ticks += 1
        assert ticks * walk.live.dt < 5.0
    walk.go(2.0 * unit, ask=True)
