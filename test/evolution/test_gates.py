# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Faults of a simulator that would have won, in every engine, and the walks that pass."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gait_core.kinematics.start_pose import pose_on_terrain
from gait_core.motion.targets import JointTargets
from gait_core.robot.load import load_robot
from gait_core.testing.doubles import WaveController, register_temporarily
from gait_core.testing.skips import need_engine, need_robot
from gait_core.trial.gates import default_gate_limits
from gait_core.trial.loop import run_trial
from gait_core.trial.setup import default_trial


@pytest.fixture(params=['bullet', 'mujoco'])
def engine(request):
    need_engine(request.param)
    return request.param


def standing(engine, **changes):
    """Return a trial in which an a1 holds its stance and is paid for distance."""
    need_robot('a1')
    spec = default_trial('a1', 1.5, {'engine': engine})
    spec = replace(spec, controller='hold', parameters={}, fitness_terms={'distance': 1.0})
    return replace(spec, **changes)


def limits_of(spec, *without):
    limits = default_gate_limits(load_robot(spec.scene.robot), spec.scene)
    return {name: limit for name, limit in limits.items() if name not in without}


class Jitter(WaveController):
    """Full-range square waves of 30 Hz on every joint."""

    def step(self, dt, command, observation):
        robot = self._robot
        up = np.sin(2.0 * np.pi * 30.0 * (observation.time + 0.5 * dt)) > 0.0
        position = robot.upper if up else robot.lower
        return JointTargets(names=robot.joint_names, position=position)


def test_jitter_of_30_hertz_would_have_won(engine):
    honest = run_trial(standing(engine))
    with register_temporarily('controllers', jitter=Jitter):
        free = run_trial(standing(engine, controller='jitter'))
        caught = run_trial(
            standing(engine, controller='jitter', gates=limits_of(standing(engine)))
        )
    assert free.fitness > honest.fitness + 0.05
    assert caught.status == 'invalid:command_jitter' and caught.fitness is None


@pytest.fixture
def sunk(monkeypatch):
    """Let robots start 15 cm inside the ground, where the solver throws them out."""
    from sim_bridge.engines.shared.scene_engine import SceneEngine

    def sunk_pose(engine, *start):
        pose = pose_on_terrain(*start)
        pose[2] -= 0.15
        return pose

    monkeypatch.setattr(SceneEngine, '_start_pose', sunk_pose)


def test_a_start_inside_the_ground_would_have_won(engine, request):
    need_robot('a1')
    honest = run_trial(standing(engine))
    request.getfixturevalue('sunk')
    free = run_trial(standing(engine))
    assert free.fitness > honest.fitness + 0.1
    limits = limits_of(standing(engine))
    assert run_trial(standing(engine, gates=limits)).status == 'invalid:penetration'
    # The flight that follows is caught by itself, as any that a solver launches.
    thrown = {name: limits[name] for name in ('airborne', 'energy')}
    for name, limit in thrown.items():
        result = run_trial(standing(engine, gates={name: limit}))
        assert (result.status, result.fitness) == (f'invalid:{name}', None)


@pytest.mark.parametrize('robot', ['guroo', 'a1'])
@pytest.mark.parametrize('controller', ['', 'hold'])
def test_walking_and_standing_robots_pass_every_gate(engine, robot, controller):
    need_robot(robot)
    spec = default_trial(robot, 4.0, {'engine': engine})
    if controller:
        spec = replace(spec, controller=controller, parameters={}, duration=1.0)
    gated = run_trial(replace(spec, gates=limits_of(spec)))
    assert gated.status == 'ok', gated.reason


@pytest.mark.parametrize('robot', ['hexapod', 'roach', 'spider', 'tetraspine'])
def test_robots_of_other_kinds_pass_every_gate_on_their_own_engine(robot):
    spec = default_trial(robot, 0.6)
    need_engine(spec.scene.engine)
    gated = run_trial(replace(spec, gates=limits_of(spec)))
    assert gated.status in ('ok', 'fell'), gated.reason
