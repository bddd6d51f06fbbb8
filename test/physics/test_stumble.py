# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""A stumble signal, right or false, does not stop a walk in any phase."""

from dataclasses import replace

import numpy as np
import pytest

from gait_core.robot.load import load_robot
from gait_core.testing.doubles import register_temporarily
from gait_core.testing.skips import need_engine, need_robot
from gait_core.trial.loop import run_trial
from gait_core.trial.robot_gait import resolve_gait
from gait_core.trial.setup import constant_script, make_scene
from gait_core.trial.spec import TrialSpec
from gait_cpg.phase_cpg.controller import PhaseCpgController

need_engine('mujoco')
pytestmark = pytest.mark.physics
CYCLE = 0.4
"""Of the trot [s]."""
REFLEXES = {'elevator_reflex': True, 'retraction': True, 'held_lag': 0.1}


class Stumbler(PhaseCpgController):
    """Receives a lagging first leg for four control periods from a time on."""

    at = np.inf
    stood = []

    def __init__(self, robot, params):
        super().__init__(robot, params)
        self._leg = robot.legs[0].name
        self._columns = [robot.joint_index[name] for name in robot.legs[0].joints]
        self._lifts = 0.0

    def step(self, dt, command, observation):
        if Stumbler.at - 1e-9 < observation.time < Stumbler.at + 3.5 * dt:
            told = observation.joint_positions.copy()
            told[self._columns] -= 0.3
            observation = replace(observation, joint_positions=told)
        targets = super().step(dt, command, observation)
        state = self.state()
        if state['reflex.elevator_reflex'] > self._lifts:
            Stumbler.stood.append(state[f'stance.{self._leg}'])
        self._lifts = state['reflex.elevator_reflex']
        return targets


def walked(at):
    """Return the trial in which the signal comes at a time."""
    Stumbler.at = at
    return run_trial(
        TrialSpec(
            scene=make_scene('a1', {'engine': 'mujoco'}),
            controller='stumbler',
            parameters=resolve_gait(load_robot('a1'), 'stumbler', 'trot', REFLEXES).parameters,
            script=constant_script((0.3, 0.0, 0.0)),
            duration=2.5,
        )
    )


def test_whenever_it_comes_the_walk_goes_on_and_only_a_swinging_foot_is_lifted():
    need_robot('a1')
    Stumbler.stood.clear()
    with register_temporarily('controllers', stumbler=Stumbler):
        normal = walked(np.inf)
        assert normal.status == 'ok' and not Stumbler.stood
        disturbed = [walked(1.2 + share * CYCLE) for share in np.arange(8) / 8.0]
    assert {result.status for result in disturbed} == {'ok'}
    fastest = max(result.metrics['speed_max_mps'] for result in disturbed)
    assert fastest < 2.0 * normal.metrics['speed_max_mps']
    # A foot is in the air for less than half of the cycle, and the signal lasts a fifth of it.
    assert 2 <= len(Stumbler.stood) <= 6 and not any(Stumbler.stood)
