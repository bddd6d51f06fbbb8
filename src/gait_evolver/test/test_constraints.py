# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Constraints and measures: from the experiment to the optimiser, the log and the report."""

from __future__ import annotations

import csv
import math

import numpy as np
import pytest

from gait_core import registry
from gait_core.contracts import Evaluation
from gait_core.errors import ConfigurationError
from gait_core.registry import optimizer
from gait_core.testing.doubles import InProcessEvaluator, register_temporarily
from gait_core.testing.skips import need_optimizer
from gait_core.testing.workspace import workspace
from gait_core.trial.champion import read_champion
from gait_core.trial.loop import run_trial
from gait_evolver.experiment import ConstraintBounds, read_experiment, rebuild_experiment
from gait_evolver.loop import Evolution
from gait_evolver.plan import TrialIndex, resolve_experiment
from gait_evolver.run.log import TrialRow
from gait_evolver.run.store import RunStore
from gait_evolver.scoring import evaluate_candidate

EXPERIMENT = {
    'robot': 'legged_box',
    'genes': {'amplitude': {'lower': 0.05, 'upper': 0.5}, 'frequency': None},
    'duration': 0.4,
    'fitness': {'distance': 1.0},
    'optimizer': {'name': 'genetic', 'settings': {'elites': 1}},
    'population': 6,
    'generations': 3,
    'seed': 5,
}


@pytest.fixture(autouse=True, scope='module')
def kinematic(tmp_path_factory):
    with workspace(tmp_path_factory.mktemp('workspace')):
        yield


def plan(**overrides):
    return resolve_experiment(rebuild_experiment(EXPERIMENT, 'small', overrides))


def run(folder, evaluator=None, **overrides):
    store = RunStore.create(folder, plan(**overrides))
    try:
        return Evolution(store, evaluator or InProcessEvaluator()).run()
    finally:
        store.close()


def table(file):
    with file.open(newline='') as lines:
        return list(csv.DictReader(lines))


def test_nsga2_finds_the_front_that_a_constraint_leaves():
    """Maximise (x, y) within x^2 + y^2 <= 1: the front is the quarter circle."""
    search = optimizer('nsga2')(dimension=2, seed=3, population=40, objectives=2)
    for _ in range(60):
        search.tell(
            [
                Evaluation(
                    id=candidate.id,
                    status='ok',
                    objectives=np.array(candidate.values),
                    constraints={'circle': float(candidate.values @ candidate.values) - 1.0},
                )
                for candidate in search.ask()
            ]
        )
    front = search.pareto_front()
    assert len(front) > 20
    radius = np.hypot(*front.T)
    assert radius.max() <= 1.0 and radius.min() > 0.95 and np.median(radius) > 0.99
    # Both ends are found, not only the middle.
    assert front.max(axis=0).min() > 0.95


@pytest.mark.parametrize(
    'name',
    [
        'genetic',
        'cma_es',
        'nsga2',
        'nsga3',
        'differential_evolution',
        'particle_swarm',
        'gaussian_process',
        'tpe',
        # Of a study, which can be removed.
        *({'steady_state'} & set(registry.names('optimizers'))),
    ],
)
def test_optimisers_that_rank_constraints_climb_to_the_bound(name):
    """Maximise x + y within 4 x <= 1: the optimum is (0.25, 1)."""
    size = {} if name == 'steady_state' else {'population': 20}
    search = need_optimizer(name)(dimension=2, seed=1, **size)
    assert search.ranks_constraints
    best = -np.inf
    generations = {'steady_state': 800, 'gaussian_process': 10, 'tpe': 10}.get(name, 40)
    for _ in range(generations):
        evaluations = []
        for candidate in search.ask():
            x, y = candidate.values
            excess = 4.0 * x - 1.0
            if excess <= 0.0:
                best = max(best, x + y)
            evaluations.append(
                Evaluation(
                    id=candidate.id,
                    status='ok',
                    objectives=np.array([x + y]),
                    constraints={'wall': excess},
                )
            )
        search.tell(evaluations)
    assert 1.2 < best <= 1.25


@pytest.mark.parametrize(
    ('bounds', 'value', 'violation'),
    [
        ({'at_most': 0.5}, 0.4, -0.2),
        ({'at_most': 0.5}, 0.75, 0.5),
        ({'at_most': -2.0}, -1.0, 0.5),
        ({'at_least': 4.0}, 3.0, 0.25),
        ({'at_least': 0.0}, -0.3, 0.3),
        ({'at_least': 1.0, 'at_most': 2.0}, 3.0, 0.5),
        ({'at_least': 1.0, 'at_most': 2.0}, 1.5, -0.25),
        ({'at_most': 0.5}, None, math.inf),
    ],
)
def test_a_violation_is_a_share_of_the_bound_and_positive_outside(bounds, value, violation):
    assert ConstraintBounds(**bounds).violation(value) == pytest.approx(violation)


def row(engine, repeat, fitness, **metrics):
    return TrialRow(
        generation=0, individual=0, id=7, repeat=repeat, engine=engine, parents=(), seed=1,
        status='ok', fitness=fitness, ticks=1, trial_hash='', values={}, terms={'distance': 2.0},
        metrics=metrics,
    )  # fmt: skip


def test_measures_are_means_on_the_deciding_engine_and_constraints_of_the_worst():
    experiment = rebuild_experiment(
        EXPERIMENT,
        'small',
        {
            'measures': ['height_mean_m', 'phase_lag.fl', 'tilt_max_rad'],
            'constraints': {'height_mean_m': {'at_most': 2.0}, 'distance': {'at_least': 4.0}},
        },
    )
    # 6.2 and 0.2 rad are 0.083 rad on either side of 0.117 rad.
    near = {'phase_lag.fl': 2.0 * math.pi - 0.1}, {'phase_lag.fl': 0.3}
    rows = [
        row('a', 0, 1.0, height_mean_m=1.0, tilt_max_rad=0.1, **near[0]),
        row('a', 1, 3.0, height_mean_m=2.0, **near[1]),
        row('b', 0, 5.0, height_mean_m=3.0),
        row('b', 1, 5.0, height_mean_m=5.0),
    ]
    found = evaluate_candidate(rows, experiment)
    assert (found.id, found.status, found.fitness) == (7, 'ok', 2.0)
    assert found.measures == pytest.approx({'height_mean_m': 1.5, 'phase_lag.fl': 0.1})
    assert found.constraints == {'height_mean_m': 1.0, 'distance': 0.5}
    assert not found.is_feasible
    fallen = evaluate_candidate([*rows[:3], row('b', 1, None)], experiment)
    assert (fallen.measures, fallen.constraints, fallen.is_feasible) == ({}, {}, False)


def test_the_champion_of_a_run_satisfies_its_constraints(tmp_path):
    free = run(tmp_path / 'free')
    bound = 0.8 * free.best.rows[0].metrics['distance_m']
    named = {
        'constraints': {'distance_m': {'at_most': bound}, 'survival': {'at_least': 1.0}},
        'measures': ['duty_factor.leg1', 'stance_fraction.leg1', 'height_mean_m'],
    }
    progress = run(tmp_path / 'bound', **named)
    champion = read_champion(tmp_path / 'bound' / 'champion.yaml')
    assert champion.metrics['distance_m'] <= bound < free.best.rows[0].metrics['distance_m']
    assert run_trial(champion.spec).trial_hash == champion.trial_hashes[0]
    # Log and summaries hold the measured values of every candidate.
    rows = table(tmp_path / 'bound' / 'evaluations.csv')
    candidates = table(tmp_path / 'bound' / 'individuals.csv')
    assert (
        'metric.stance_fraction.leg1' in rows[0] and 'metric.stance_fraction.leg2' not in rows[0]
    )
    violated = 0
    for trial, candidate in zip(rows, candidates, strict=True):
        assert candidate['measure.stance_fraction.leg1'] == trial['metric.stance_fraction.leg1']
        excess = float(trial['metric.distance_m']) / bound - 1.0
        assert float(candidate['violation.distance_m']) == pytest.approx(excess)
        assert float(candidate['violation.survival']) == 1.0 - float(trial['term.survival'])
        violated += excess > 0.0
    assert progress.violation_counts == {'distance_m': violated} and violated
    best = max(
        float(one['fitness']) for one in candidates if float(one['violation.distance_m']) <= 0.0
    )
    assert progress.best.fitness == best
    # An interrupted run continues to the same files.
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / 'cut', InProcessEvaluator(8), **named)
    store, recorded = RunStore.open_run(tmp_path / 'cut')
    Evolution(store, InProcessEvaluator(), recorded).run()
    store.close()
    for name in ('evaluations.csv', 'individuals.csv', 'champion.yaml'):
        files = [(tmp_path / folder / name).read_bytes() for folder in ('cut', 'bound')]
        assert files[0] == files[1], name


def test_the_front_of_several_objectives_satisfies_the_constraints(tmp_path):
    several = {
        'optimizer': {'name': 'nsga2', 'settings': {}},
        'population': 8,
        'objectives': {'calm': {'smoothness': 1.0}},
    }
    run(tmp_path / 'free', **several)
    fitness = [float(row['fitness']) for row in table(tmp_path / 'free' / 'front.csv')]
    bound = 0.5 * max(fitness)
    run(tmp_path / 'bound', constraints={'distance': {'at_most': bound}}, **several)
    front = table(tmp_path / 'bound' / 'front.csv')
    assert front and all(0.0 < float(row['fitness']) <= bound for row in front)
    # Offspring of candidates within the bound, not of the best: most of the last ones are within.
    last = table(tmp_path / 'bound' / 'individuals.csv')[-8:]
    free = table(tmp_path / 'free' / 'individuals.csv')[-8:]
    within = [sum(float(row['fitness']) <= bound for row in rows) for rows in (last, free)]
    assert within[0] > within[1]


@pytest.mark.parametrize('optimizer', ['genetic', 'cma_es'])
def test_repeats_with_a_spread_of_starts_replay_each_from_its_own(tmp_path, optimizer):
    spread = {'repeats': 2, 'start_spread': 0.5, 'engines': ['kinematic']}
    run(tmp_path / 'run', optimizer={'name': optimizer, 'settings': {}}, **spread)
    champion = read_champion(tmp_path / 'run' / 'champion.yaml')
    specs = champion.specs
    assert len({spec.scene.initial.x for spec in specs}) == 2 == len(specs)
    assert tuple(run_trial(spec).trial_hash for spec in specs) == champion.trial_hashes


def test_without_a_feasible_candidate_there_is_no_champion(tmp_path):
    progress = run(tmp_path / 'run', generations=1, constraints={'distance_m': {'at_most': -1.0}})
    assert progress.best is None and progress.violation_counts == {'distance_m': 6}
    assert not (tmp_path / 'run' / 'champion.yaml').exists()


def test_constraints_change_the_hash_of_the_experiment_only_if_they_are_given():
    plain = plan()
    assert 'constraints' not in plain.experiment.__dict__ or not plain.experiment.constraints
    assert plan(constraints={}, measures=[]).config_hash == plain.config_hash
    hashes = {
        plain.config_hash,
        plan(measures=['height_mean_m']).config_hash,
        plan(constraints={'height_mean_m': {'at_most': 1.0}}).config_hash,
        plan(constraints={'height_mean_m': {'at_most': 2.0}}).config_hash,
    }
    assert len(hashes) == 4
    # A trial does not depend on them.
    spec = plan(constraints={'height_mean_m': {'at_most': 1.0}}).spec({}, TrialIndex())
    assert spec == plain.spec({}, TrialIndex())


@pytest.mark.parametrize(
    ('lines', 'message'),
    [
        (
            'measures: [duty_factor.leg7]',
            r"line 6, .*leg in 'duty_factor.leg7': did you mean 'duty_factor.leg",
        ),
        ('measures: [steps, steps]', "measures names 'steps' more than once"),
        ('measures: steps', 'experiment.measures is .steps., expected a list'),
        ('constraints: {tilt_max: {at_most: 1}}', r"line 6, .*did you mean 'tilt_max_rad'"),
        ('constraints: {steps: {at_mos: 1}}', r"line 6, .*did you mean '.*at_most'"),
        ('constraints: {steps: {}}', r'line 6, .*steps.* needs at_most or at_least'),
        ('constraints: {steps: 3}', r'line 6, .*steps is 3, expected named values'),
        (
            'constraints: {steps: {at_least: 3, at_most: 2}}',
            'line 6, .*at_least is 3, above at_most 2; nearest valid: 2',
        ),
    ],
)
def test_a_mistake_is_named_with_its_line_and_the_nearest_name(tmp_path, lines, message):
    file = tmp_path / 'wrong.yaml'
    file.write_text(
        'robot: legged_box\ngenes: {amplitude: {}}\nduration: 0.4\nfitness: {distance: 1.0}\n'
        f'population: 4\n{lines}\n'
    )
    with pytest.raises(ConfigurationError, match=message):
        resolve_experiment(*read_experiment(str(file)))


def test_an_optimiser_without_constraints_is_refused_by_name():
    class Unranked(optimizer('genetic')):
        """Ranks no constraints."""

        ranks_constraints = False

    with (
        register_temporarily('optimizers', unranked=Unranked),
        pytest.raises(ConfigurationError, match=r"'unranked' cannot use .*cma_es, .*genetic"),
    ):
        plan(
            optimizer={'name': 'unranked', 'settings': {}},
            constraints={'steps': {'at_least': 1}},
        )
