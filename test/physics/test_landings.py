# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Feet land where controllers say in mid-swing that they will, in physics."""

import numpy as np
import pytest

from gait_core.kinematics.forward_kinematics import link_poses, pose_matrices
from gait_core.robot.load import load_robot
from gait_core.testing.skips import need_engine, need_robot
from gait_core.trial.loop import TrialLoop, start_trial, step_controller
from gait_core.trial.parts import cached_engine
from gait_core.trial.robot_gait import resolve_gait
from gait_core.trial.setup import make_scene
from gait_core.trial.spec import Command, TimedCommand, TrialSpec


def footfalls(name, preset, velocity, duration, after):
    """Yield predicted landing, foothold and stride of each step, in odom."""
    need_robot(name)
    scene = make_scene(name, {})
    need_engine(scene.engine)
    engine = cached_engine(scene.engine)
    begin = TimedCommand(time=0.0, command=Command(velocity=velocity))
    gait = resolve_gait(load_robot(name), '', preset)
    spec = TrialSpec(
        scene=scene,
        controller=gait.controller,
        parameters=gait.parameters,
        script=(begin,),
        duration=duration,
    )
    loop = TrialLoop(spec, engine)
    walker, robot, told = start_trial(loop), loop.robot, {}
    while loop.is_running:
        step_controller(loop, walker)
        state = loop.true_state
        links = link_poses(robot, state.joint_positions, state.body_poses)
        base = pose_matrices(state.body_poses[0])
        feet = {
            leg.name: (links[robot.link_index[leg.sole]] @ [*leg.sole_point, 1.0])[:2]
            for leg in robot.legs
        }
        landings = walker.planned_footholds()
        for leg in [leg for leg in told if leg not in landings]:
            points, began = told.pop(leg)
            if state.time > after:
                yield points[len(points) // 2], feet[leg], feet[leg] - began
        for leg, point in landings.items():
            told.setdefault(leg, ([], feet[leg]))[0].append((base @ [*point, 1.0])[:2])


@pytest.mark.parametrize(
    ('name', 'preset', 'velocity', 'duration', 'after', 'stride'),
    [
        ('a1', 'trot', (0.3, 0.0, 0.0), 2.0, 1.0, 0.12),
        ('a1', 'trot', (0.2, 0.1, 0.4), 2.0, 1.0, 0.09),
        ('guroo', 'levelled', (0.068, 0.0, 0.0), 6.0, 2.0, 0.12),
        ('hexapod', 'fixed', (0.1, 0.0, 0.0), 9.0, 4.0, 0.21),
        ('hexapod', 'extending', (-0.06, 0.0, 0.0), 9.0, 4.0, 0.21),
    ],
)
def test_a_foot_lands_where_it_was_said_to(name, preset, velocity, duration, after, stride):
    told, came, strides = map(
        np.array, zip(*footfalls(name, preset, velocity, duration, after), strict=True)
    )
    assert len(told) >= 2
    assert np.linalg.norm(strides, axis=1).mean() == pytest.approx(stride, rel=0.15)
    # A twelfth of the stride: legs give a little, and the base sways.
    assert np.linalg.norm(told - came, axis=1).max() < 0.01
