"""Trials tried together give what each gives alone, to the last bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gait_core.contracts import TapeEngine
from gait_core.state_tape import by_steps
from gait_core.targets import TargetTape
from gait_core.testing import (
    BatchKinematicEngine,
    KinematicEngine,
    WaveController,
    registered,
    spec_for_test,
)
from gait_core.trial import run_trial
from gait_core.trial_batch import run_together


class Taped(WaveController):
    """A wave that is given as a tape, but where it is slow or wild."""

    def tape(self, dt, commands):
        if self.params.frequency < 0.5:
            return None
        tape = TargetTape.of([self.step(dt, command, None) for command in commands])
        if self.params.frequency > 4.0:
            position = tape.position.copy()
            position[12:] = 200.0
            return TargetTape(names=tape.names, position=position)
        return tape


class Alone(KinematicEngine, TapeEngine):
    def rollout(self, tape):
        return by_steps(self.step, tape)


class Lanes(BatchKinematicEngine):
    """Draws where the robot begins on slippery ground."""

    def reset(self, scene, seed, settle_ticks=0):
        state = super().reset(scene, seed, settle_ticks)
        if scene.friction == 0.25:
            self._pose = self._pose + np.array([1e-6 * (seed % 97), *np.zeros(6)])
            return self._observation()
        return state


def specs(*frequencies, **changes):
    return [
        spec_for_test('taped', parameters={'frequency': frequency}, seed=seed, **changes)
        for seed, frequency in enumerate(frequencies)
    ]


@pytest.fixture(autouse=True)
def taped():
    with registered('controllers', taped=Taped):
        yield


def both(wanted, threads=1):
    """Return the engine and the results after checking that they are those of single trials."""
    engine = Lanes()
    found = run_together(wanted, threads, engine)
    for spec, result in zip(wanted, found, strict=True):
        alone = run_trial(spec, Alone() if spec.scene.friction != 0.25 else Lanes())
        same = replace(result, wall_time=0.0, reason='')
        assert same == replace(alone, wall_time=0.0, reason='')
    return engine, found


def test_one_rollout_serves_trials_that_differ_in_their_gait_alone():
    engine, found = both(specs(1.0, 1.5, 2.0), threads=2)
    assert engine.batches == [3]
    assert len({result.trial_hash for result in found}) == 3


def test_other_scenes_and_durations_have_rollouts_of_their_own():
    wanted = [
        *specs(1.0, 1.5),
        *specs(1.2, 1.7, scene={'friction': 0.1}),
        *specs(2.0, duration=0.3),
    ]
    engine, _ = both([wanted[i] for i in (0, 2, 4, 1, 3)])
    assert engine.batches == [2, 2]


def test_a_controller_without_a_tape_is_run_alone():
    engine, _ = both(specs(1.0, 0.4, 1.5))
    assert engine.batches == [2]


def test_trials_that_begin_elsewhere_are_run_alone():
    engine, _ = both(specs(1.0, 1.5, scene={'friction': 0.25}))
    assert engine.batches == []


def test_a_trial_that_diverges_spoils_none_of_the_others():
    engine, found = both(specs(1.0, 4.5, 1.5))
    assert engine.batches == [3]
    assert [result.status for result in found] == ['ok', 'diverged', 'ok']
    assert found[1].ticks == 12


def test_an_engine_that_cannot_runs_them_one_by_one():
    wanted = specs(1.0, 1.5)
    found = run_together(wanted, engine=KinematicEngine())
    assert [one.trial_hash for one in found] == [
        run_trial(spec, KinematicEngine()).trial_hash for spec in wanted
    ]
    assert run_together([]) == []


def test_many_trials_are_more_than_one_rollout(monkeypatch):
    monkeypatch.setattr('gait_core.trial_batch.MOST', 2)
    engine, _ = both(specs(1.0, 1.1, 1.2, 1.3, 1.4))
    assert engine.batches == [2, 2]
