# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every experiment of the package resolves, and its first generation leaves room to improve."""

from pathlib import Path

import numpy as np
import pytest

from gait_core.contracts import Evaluation
from gait_core.testing.skips import need_engine, need_robot
from gait_core.trial.champion import read_champion
from gait_core.trial.loop import run_trial
from gait_evolver.evaluators.local import LocalEvaluator
from gait_evolver.experiment import experiment_names, load_experiment
from gait_evolver.plan import TrialIndex, load_plan

FEW = {'population': 6}
SHORT = {'tetraspine': {'duration': 6.0}}
"""Robots whose experiments are tried with shorter trials: they have many."""
ROOT = Path(__file__).resolve().parents[2]
GENES = [name for name in experiment_names() if load_experiment(name).genes]
"""Experiments that search networks are tried in test_bishop2008.py."""


@pytest.fixture(scope='module')
def evaluator():
    made = LocalEvaluator()
    yield made
    made.close()


@pytest.mark.physics
@pytest.mark.parametrize('name', GENES)
def test_two_generations_run_and_none_is_spoilt(name, evaluator):
    experiment = load_experiment(name)
    need_robot(experiment.robot)
    plan = load_plan(name, {**FEW, **SHORT.get(experiment.robot, {})})
    for engine in plan.scenes:
        need_engine(engine)
    assert plan.experiment.description
    optimizer = plan.make_optimizer()
    fitness = []
    for generation in range(2):
        candidates = optimizer.ask()
        results = evaluator.evaluate(
            [
                plan.spec(
                    plan.space.decode(candidate.values),
                    TrialIndex(generation=generation, individual=i),
                )
                for i, candidate in enumerate(candidates)
            ]
        )
        # Whatever the genes are, a trial ends by itself or in a fall.
        assert {result.status for result in results} <= {'ok', 'fell'}
        fitness.append([result.fitness for result in results])
        optimizer.tell(
            [
                Evaluation(
                    id=candidate.id, status=result.status, objectives=np.array([result.fitness])
                )
                for candidate, result in zip(candidates, results, strict=True)
            ]
        )
    # Worth a search: the genes matter.
    assert np.ptp(fitness[0]) > 0.1


@pytest.mark.physics
def test_the_champion_of_the_documentation_still_walks_as_recorded():
    champion = read_champion(ROOT / 'doc/results/guroo_champion.yaml')
    need_engine(champion.spec.scene.engine)
    result = run_trial(champion.spec)
    assert result.status == 'ok'
    # The bound of `gait replay` across platforms.
    assert result.fitness == pytest.approx(champion.fitness, rel=0.05)
