# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Behaviours started, stopped, set and listed by name beside a walk."""

import math

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.motion.observation import Observation
from gait_core.robot.load import load_robot
from gait_core.trial.spec import Command
from gait_stage_walk.staged.controller import StagedWalkController
from gait_stage_walk.staged.parameters import StagedWalkParams

SEEN = Observation(tick=0, time=0.0)
STOP = Command(set_points={'stop': 1.0})
NOD = {'joint': 'neck_fwd', 'angle_deg': 10.0, 'period': 0.5}


@pytest.fixture
def controller():
    return StagedWalkController(load_robot('guroo'), StagedWalkParams())


def angle_after(controller, ticks, joint, command=STOP):
    for _ in range(ticks):
        targets = controller.step(0.02, command, SEEN)
    return math.degrees(targets.position[0, targets.names.index(joint)])


def names(controller):
    return [row.name for row in controller.mixer.running]


def test_the_walk_and_what_goes_with_it_run_first(controller):
    assert names(controller)[0] == 'walk'
    controller.mixer.start('pulse', NOD)
    assert names(controller)[-1] == 'pulse'


def test_pulses_beside_a_walk_add_to_it_exactly(controller):
    alone = StagedWalkController(load_robot('guroo'), StagedWalkParams())
    for number in range(2):
        controller.mixer.start('pulse', {**NOD, 'joint': 'left_knee'}, name=f'p{number}')
    for _ in range(200):
        mixed, plain = (c.step(0.02, Command(), SEEN) for c in (controller, alone))
    difference = np.degrees(mixed.position - plain.position)[0]
    knee = mixed.names.index('left_knee')
    assert difference[knee] == pytest.approx(20.0, abs=1e-9)
    assert np.abs(np.delete(difference, knee)).max() < 1e-9


@pytest.mark.parametrize(
    'action, degrees', [('add', 20.0), ('subtract', 0.0), ('overwrite', 10.0)]
)
def test_actions_by_name(controller, action, degrees):
    controller.mixer.start('pulse', NOD, name='first')
    controller.mixer.start('pulse', NOD, name='second', action=action)
    assert angle_after(controller, 30, 'neck_fwd') == pytest.approx(degrees, abs=1e-9)
    assert 'first' not in names(controller)


def test_what_is_left_of_a_pulse_can_be_changed_and_stopped(controller):
    controller.mixer.start('pulse', {**NOD, 'period': 1.0})
    assert angle_after(controller, 25, 'neck_fwd') == pytest.approx(5.0)
    controller.mixer.set('pulse', {'angle_deg': 30.0})
    half = angle_after(controller, 12, 'neck_fwd')
    assert 5.0 < half < 20.0
    controller.mixer.stop('pulse')
    assert angle_after(controller, 20, 'neck_fwd') == half
    assert 'pulse' not in names(controller)


def test_the_walk_is_stopped_and_started_again(controller):
    angle_after(controller, 110, 'left_knee', Command())
    controller.mixer.stop('walk')
    angle_after(controller, 250, 'left_knee', Command())
    assert controller.state()['stage'] == 0.0 and names(controller)[0] == 'walk'
    controller.mixer.start('walk', {'step_size_deg': 10.0})
    angle_after(controller, 2, 'left_knee', Command())
    assert controller.state()['stage'] == 1.0
    assert controller.params.step_size_deg == 10.0


def test_a_reset_leaves_only_the_walk(controller):
    controller.mixer.start('pulse', NOD)
    angle_after(controller, 10, 'neck_fwd')
    controller.reset(0)
    assert 'pulse' not in names(controller)
    assert angle_after(controller, 1, 'neck_fwd') == 0.0


def test_a_finished_name_is_free_again(controller):
    controller.mixer.start('pulse', NOD)
    angle_after(controller, 25, 'neck_fwd')
    controller.mixer.start('pulse', NOD)
    assert angle_after(controller, 30, 'neck_fwd') == pytest.approx(20.0)


@pytest.mark.parametrize(
    'call, message',
    [
        (lambda m: m.start('pluse'), "unknown kind of behaviour 'pluse': did you mean 'pulse'"),
        (lambda m: m.start('walk'), "behaviour 'walk' is registered already"),
        (lambda m: m.start('pulse', NOD, name='walk'), "behaviour 'walk' is registered already"),
        (lambda m: m.start('pulse', NOD, name='a b'), "'a b' cannot name a behaviour"),
        (lambda m: m.start('pulse', NOD, action='ad'), "unknown action 'ad': did you mean 'add'"),
        (
            lambda m: m.start('pulse', {'joint': 'nek_fwd'}),
            "joint 'nek_fwd': did you mean 'neck_fwd'",
        ),
        (lambda m: m.start('turn', {'share': 3}), "'share' = 3 is outside .* nearest valid: 1"),
        (lambda m: m.stop('wlak'), "unknown behaviour 'wlak': did you mean 'walk'"),
        (lambda m: m.stop('levelling'), "belongs to the walk: set it by parameters of 'walk'"),
        (lambda m: m.set('walk', {'step_size': 5}), "did you mean 'step_size_deg'"),
    ],
)
def test_mistakes_change_nothing(controller, call, message):
    before = controller.mixer.running
    with pytest.raises(ConfigurationError, match=message):
        call(controller.mixer)
    assert controller.mixer.running == before
