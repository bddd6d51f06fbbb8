# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Scenes that the seed of a trial draws, and trials that end because they came nowhere."""

from dataclasses import replace

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.parameters.plain_data import sha256_of, to_plain_data
from gait_core.parameters.schema import read_value
from gait_core.testing.doubles import (
    KinematicEngine,
    WaveController,
    register_temporarily,
    spec_for_test,
)
from gait_core.trial.loop import TrialLoop, run_loop, run_trial, start_trial, step_controller
from gait_core.trial.randomisation import RANDOMISED_QUANTITIES, randomise_scene
from gait_core.trial.scene import Scene
from gait_core.trial.spec import Milestone, TrialSpec

SCENE = Scene(robot='legged_box', engine='kinematic')
EVERY = {name: (1.0, 3.0) for name in RANDOMISED_QUANTITIES if name != 'restitution'}


@pytest.fixture(autouse=True)
def wave():
    with register_temporarily('controllers', wave=WaveController):
        yield


def test_draws_lie_in_their_range_and_depend_on_the_seed_alone():
    frictions = [
        randomise_scene(SCENE, {'friction': (0.5, 0.9)}, seed).friction for seed in range(400)
    ]
    assert 0.5 <= min(frictions) < 0.51 and 0.89 < max(frictions) <= 0.9
    # The mean of 400 even draws is within five of its standard deviations of the middle.
    assert abs(np.mean(frictions) - 0.7) < 5 * 0.4 / np.sqrt(12 * 400)
    delays = {randomise_scene(SCENE, {'sensors.delay_ticks': (0, 2)}, s).sensors.delay_ticks
              for s in range(40)}  # fmt: skip
    assert delays == {0, 1, 2}
    assert randomise_scene(SCENE, EVERY, 3) == randomise_scene(
        SCENE, dict(reversed(EVERY.items())), 3
    )


def test_a_quantity_more_leaves_the_draws_of_the_others():
    alone = randomise_scene(SCENE, {'friction': (0.1, 0.9)}, 7).friction
    assert randomise_scene(SCENE, {**EVERY, 'friction': (0.1, 0.9)}, 7).friction == alone


def test_every_quantity_reaches_the_scene():
    drawn = to_plain_data(randomise_scene(SCENE, EVERY, 1))
    ground = randomise_scene(SCENE, {'terrain.range': (0.1, 0.1)}, 1).terrain
    assert ground.parameters == {'range': 0.1}
    changed = {name for name, value in drawn.items() if value != to_plain_data(SCENE).get(name)}
    assert changed == {
        'draw', 'mass_factor', 'friction', 'terrain', 'initial', 'sensors', 'pushes'
    }  # fmt: skip
    for part in ('initial', 'sensors'):
        assert all(1.0 <= value <= 3.0 for value in drawn[part].values() if value != {})
    (push,) = drawn['pushes']
    assert 1.0 <= np.hypot(*push['force'][:2]) <= 3.0 and push['force'][2] == 0.0


@pytest.mark.parametrize(
    ('ranges', 'message'),
    [
        ({'fricton': (0.1, 0.2)}, "did you mean 'friction'"),
        ({'friction': (0.9, 0.1)}, r'nearest valid: \[0.1, 0.9\]'),
        ({'friction': (-1.0, 0.5)}, 'scene.friction is -1'),
        ({'mass': (0.0, 1.0)}, 'mass_factor is 0'),
        ({'sensors.delay_ticks': (0.0, 1.5)}, 'expected whole numbers'),
        ({'push.force': (1.0, 2.0)}, 'push.force but no push.start'),
    ],
)
def test_a_mistake_is_named(ranges, message):
    with pytest.raises(ConfigurationError, match=message) as caught:
        spec_for_test(randomise=ranges)
    assert '\n' not in str(caught.value)


def test_the_record_tells_the_scene_that_was_drawn_and_runs_again():
    spec = spec_for_test(
        randomise={'friction': (0.2, 0.8), 'initial.x': (1.0, 2.0), 'mass': (2.0, 3.0)}, seed=4
    )
    loop = run_loop(spec, KinematicEngine())
    drawn = loop.rollout().spec
    assert drawn.scene == randomise_scene(spec.scene, spec.randomise, 4) and not drawn.randomise
    assert loop.result().spec_hash == sha256_of(spec)
    assert run_trial(drawn, KinematicEngine()).trial_hash == loop.result().trial_hash


def test_what_does_not_use_the_later_fields_keeps_its_hash():
    spec = spec_for_test()
    assert not {'randomise', 'hopeless'} & set(to_plain_data(spec))
    assert 'mass_factor' not in to_plain_data(spec.scene)
    used = replace(spec, randomise={'mass': (1.0, 2.0)}, hopeless=(Milestone(time=0.1, moved=1),))
    assert read_value(TrialSpec, to_plain_data(used), 'spec') == used
    assert len({sha256_of(spec), sha256_of(used)}) == 2


# Hopeless trials


def moved(spec):
    poses = run_loop(spec, KinematicEngine()).rollout().body_poses
    return np.hypot(*(poses[:, 0, :2] - poses[0, 0, :2]).T)


def test_a_trial_ends_at_the_milestone_that_it_misses():
    spec = spec_for_test()
    gone = moved(spec)
    tick = 15
    for share, status, ticks in ((0.99, 'ok', spec.ticks), (1.01, 'invalid:hopeless', tick)):
        one = Milestone(time=tick * spec.scene.control_period, moved=share * gone[tick])
        result = run_trial(replace(spec, hopeless=(one,)), KinematicEngine())
        assert (result.status, result.ticks) == (status, ticks)
        assert (result.fitness is None) and ('moved' in result.reason) == (share > 1.0)


def test_a_milestone_is_looked_at_on_tapes_as_in_steps():
    spec = spec_for_test('hold', hopeless=(Milestone(time=0.2, moved=0.01),))
    stepped = TrialLoop(spec, KinematicEngine())
    controller = start_trial(stepped)
    while stepped.is_running:
        step_controller(stepped, controller)
    played = run_trial(spec, KinematicEngine())
    assert played.status == 'invalid:hopeless' and played.ticks == 10
    assert played.trial_hash == stepped.result().trial_hash


@pytest.mark.parametrize(
    ('milestones', 'message'),
    [
        ([(0.2, 0.1), (0.1, 0.1)], 'not in order'),
        ([(0.5, 0.1)], 'nearest valid: 0.48'),
    ],
)
def test_milestones_out_of_order_or_too_late_are_refused(milestones, message):
    given = tuple(Milestone(time=time, moved=far) for time, far in milestones)
    with pytest.raises(ConfigurationError, match=message):
        spec_for_test(hopeless=given)


def test_a_milestone_is_positive():
    with pytest.raises(ConfigurationError, match='hopeless.moved is 0'):
        Milestone(time=1.0, moved=0.0)
