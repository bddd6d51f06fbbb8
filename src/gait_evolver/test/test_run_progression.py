# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Randomised trials, curricula, stopping rules, several objectives, and disks that refuse."""

import csv
from dataclasses import replace
import errno
import os

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.parameters.plain_data import to_plain_data
from gait_core.testing.doubles import InProcessEvaluator
from gait_core.testing.workspace import workspace
from gait_core.trial.champion import read_champion
from gait_core.trial.loop import run_trial
from gait_evolver.curriculum import RunProgression
from gait_evolver.experiment import rebuild_experiment
from gait_evolver.loop import Evolution
from gait_evolver.pareto_front import FrontMember, ParetoFront
from gait_evolver.plan import resolve_experiment
from gait_evolver.run.files import StoreError
from gait_evolver.run.logged_candidates import read_logged_candidate
from gait_evolver.run.store import RunStore

EXPERIMENT = {
    'robot': 'legged_box',
    'genes': {'amplitude': {'lower': 0.05, 'upper': 0.5}, 'frequency': None},
    'duration': 0.3,
    'fitness': {'distance': 1.0},
    'optimizer': {'name': 'genetic', 'settings': {'elites': 1, 'reevaluate': True}},
    'population': 4,
    'generations': 6,
    'seed': 5,
}
CURRICULUM = [
    {'generations': 2, 'duration': 0.2, 'scene': {'friction': 0.7}},
    {'fitness': 0.0, 'randomise': {'mass': [0.9, 1.1]}},
]


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


def resumed(folder, generations=None):
    store, rows = RunStore.open_run(folder, generations)
    try:
        return Evolution(store, InProcessEvaluator(), rows).run()
    finally:
        store.close()


def table(folder, name='evaluations.csv'):
    return list(csv.DictReader((folder / name).read_text().splitlines()))


# What differs from trial to trial


def test_repeats_of_a_randomised_experiment_differ_and_its_champion_replays(tmp_path):
    given = {'friction': [0.2, 0.9], 'sensors': {'delay_ticks': [0, 2]}, 'initial.x': [0.0, 1.0]}
    run(tmp_path / 'run', randomise=given, repeats=3, generations=2)
    champion = read_champion(tmp_path / 'run' / 'champion.yaml')
    assert champion.spec.randomise['sensors.delay_ticks'] == (0.0, 2.0)
    results = [run_trial(replace(champion.spec, seed=seed)) for seed in champion.seeds]
    assert tuple(one.trial_hash for one in results) == champion.trial_hashes
    # Three trials, and three more if it was evaluated again.
    assert len(set(champion.trial_hashes)) == len(champion.seeds) in (3, 6)
    assert np.mean([one.fitness for one in results]) == champion.fitness


def test_an_event_may_name_a_folder_whose_name_is_no_utf_8(tmp_path):
    store = RunStore.create(tmp_path / 'r\udcff', plan())
    store.log_event(f'interrupted; resume with: --run-dir {store.folder}')
    store.close()
    assert (store.folder / 'events.log').read_text().endswith('r\\udcff\n')


def test_a_run_without_a_generation_has_no_candidate(tmp_path):
    RunStore.create(tmp_path / 'run', plan()).close()
    with pytest.raises(ConfigurationError, match='no generation of the run is finished'):
        read_logged_candidate(tmp_path / 'run', '0/0')


def test_the_log_of_individuals_tells_mean_and_spread(tmp_path):
    run(tmp_path / 'run', randomise={'initial.yaw': [-1.0, 1.0]}, repeats=2, generations=3)
    trials = {}
    for row in table(tmp_path / 'run'):
        genome = row['gait.amplitude'], row['gait.frequency']
        trials.setdefault(genome, []).append((int(row['generation']), float(row['fitness'])))
        trials[row['generation'], row['individual']] = genome
    standings = table(tmp_path / 'run', 'individuals.csv')
    assert len(standings) == 3 * 4
    for one in standings:
        until = [
            fitness
            for generation, fitness in trials[trials[one['generation'], one['individual']]]
            if generation <= int(one['generation'])
        ]
        assert int(one['trials']) == len(until)
        assert float(one['fitness']) == np.mean(until)
        assert float(one['deviation']) == np.std(until)
    assert max(int(one['trials']) for one in standings) > 2


def test_a_hopeless_trial_is_logged_and_never_wins(tmp_path):
    free = run(tmp_path / 'free', generations=3)
    far = free.best.rows[0].metrics['distance_m']
    # The best of the free run moves on at an even pace, others are behind it half-way.
    progress = run(tmp_path / 'run', generations=3, hopeless=[{'time': 0.16, 'moved': 0.2 * far}])
    caught = [row for row in table(tmp_path / 'run') if row['status'] == 'invalid:hopeless']
    assert 0 < len(caught) == progress.invalid_counts['invalid:hopeless'] < 12
    assert {row['ticks'] for row in caught} == {'8'} and progress.best is not None


def test_an_experiment_without_the_later_keys_is_written_and_hashed_as_before(tmp_path):
    resolved = to_plain_data(plan().experiment)
    later = {'objectives', 'randomise', 'hopeless', 'curriculum', 'stop'}
    assert not later & set(resolved)
    again = resolve_experiment(rebuild_experiment(resolved, 'small', {}))
    assert again.config_hash == plan().config_hash
    assert plan(stop={'stagnation': 3}).config_hash == plan().config_hash
    assert plan(randomise={'friction': [0.5, 0.6]}).config_hash != plan().config_hash
    header = (RunStore.create(tmp_path / 'run', plan()).folder / 'evaluations.csv').read_text()
    assert 'stage' not in header


# Curricula


def test_stages_follow_one_another_by_generations_and_by_fitness(tmp_path):
    progress = run(tmp_path / 'run', curriculum=CURRICULUM)
    rows = table(tmp_path / 'run')
    stages = {int(row['generation']): int(row['stage']) for row in rows}
    assert stages == {0: 0, 1: 0, 2: 1, 3: 2, 4: 2, 5: 2}
    ticks = {int(row['stage']): row['ticks'] for row in rows}
    assert ticks == {0: '10', 1: '15', 2: '15'}
    # Of the experiment itself: what an easier stage gave does not count.
    last = [float(one['fitness']) for one in table(tmp_path / 'run', 'individuals.csv')
            if int(one['generation']) >= 3]  # fmt: skip
    champion = read_champion(tmp_path / 'run' / 'champion.yaml')
    assert champion.fitness == progress.best.fitness <= max(last)
    assert champion.spec.duration == 0.3 and not champion.spec.randomise
    assert run_trial(champion.spec).trial_hash == champion.trial_hashes[0]


@pytest.mark.parametrize('stop_at', [5, 9, 14, 21])
def test_a_run_with_a_curriculum_resumes_to_the_log_of_the_whole_one(tmp_path, stop_at):
    run(tmp_path / 'whole', curriculum=CURRICULUM)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / 'cut', InProcessEvaluator(stop_at), curriculum=CURRICULUM)
    (tmp_path / 'cut' / 'individuals.csv').write_text('what a kill left')
    resumed(tmp_path / 'cut')
    for name in ('evaluations.csv', 'individuals.csv', 'champion.yaml'):
        assert (tmp_path / 'cut' / name).read_bytes() == (tmp_path / 'whole' / name).read_bytes()


# Stopping rules


@pytest.mark.parametrize(
    ('rules', 'reason', 'generations'),
    [
        ({'fitness': -100.0}, 'a fitness of -100 was reached', 1),
        ({'trials': 9}, '9 trials were run', 3),
        ({'stagnation': 1, 'trials': 1000}, 'no better candidate in 1 generations', None),
        ({'wall_time': 1e-9}, 's has passed', 0),
    ],
)
def test_a_rule_ends_the_run_and_says_so(tmp_path, rules, reason, generations):
    progress = run(tmp_path / 'run', stop=rules, generations=40)
    assert reason in progress.stop_reason
    assert generations in (progress.generation, None) and progress.generation < 40
    if 'wall_time' not in rules:
        assert resumed(tmp_path / 'run').generation == progress.generation


def test_stagnation_counts_generations_since_the_best_rose():
    rules = RunProgression(plan(stop={'stagnation': 2}).experiment)
    for fitness, over in ((1.0, False), (1.0, False), (2.0, False), (2.0, False), (1.5, True)):
        rules.count_generation(fitness, fitness)
        assert bool(rules.stop_reason(0)) == over


def test_wall_time_is_that_of_the_clock():
    now = [100.0]
    course = RunProgression(plan(stop={'wall_time': 60.0}).experiment, lambda: now[0])
    assert course.stop_reason(0) == ''
    now[0] = 160.0
    assert course.stop_reason(0) == 'the wall time of 60 s has passed'


# Several objectives

BOTH = {
    'objectives': {'calm': {'smoothness': 1.0}},
    'optimizer': {'name': 'nsga2'},
    'population': 8,
}


def test_the_front_is_what_no_other_trial_beats_in_all_objectives(tmp_path):
    run(tmp_path / 'run', **BOTH)
    points = np.array(
        [
            (float(row['term.distance']), float(row['term.smoothness']))
            for row in table(tmp_path / 'run')
        ]
    )
    best = {
        tuple(one)
        for one in points
        if not ((points >= one).all(axis=1) & (points > one).any(axis=1)).any()
    }
    front = table(tmp_path / 'run', 'front.csv')
    assert {(float(one['fitness']), float(one['calm'])) for one in front} == best
    assert len(best) >= 3
    champion = read_champion(tmp_path / 'run' / 'champion.yaml')
    assert champion.fitness == max(first for first, _ in best)
    whole = (tmp_path / 'run' / 'front.csv').read_bytes()
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / 'cut', InProcessEvaluator(20), **BOTH)
    resumed(tmp_path / 'cut')
    assert (tmp_path / 'cut' / 'front.csv').read_bytes() == whole


def test_a_front_keeps_one_of_equals_and_drops_the_beaten():
    front = ParetoFront()
    found = [
        front.add(
            FrontMember(generation=0, individual=i, id=i, objectives=np.array(point), values={})
        )
        for i, point in enumerate([(1.0, 1.0), (2.0, 0.0), (1.0, 1.0), (0.5, 0.5), (2.0, 2.0)])
    ]  # fmt: skip
    assert found == [True, True, False, False, True]
    assert [one.id for one in front.members] == [4]


# Mistakes


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'randomise': {'fricton': [0.1, 0.2]}}, "did you mean 'friction'"),
        ({'randomise': {'friction': 0.5}}, r"randomise.friction is 0.5, expected a list"),
        ({'randomise': {'terrain': {'range': [0.1, 0.2]}}}, 'range'),
        ({'hopeless': [{'tim': 0.1, 'moved': 1.0}]}, r'hopeless\[0\].time'),
        ({'hopeless': [{'time': 9.0, 'moved': 1.0}]}, 'nearest valid: 0.28'),
        ({'stop': {'stagnatio': 3}}, "did you mean 'experiment.stop.stagnation'"),
        ({'stop': {'trials': -3}}, 'nearest valid: 0'),
        ({'curriculum': [{'duration': 0.2}]}, 'never ends'),
        ({'curriculum': [{'generations': 1, 'scene': {'fricton': 1}}]}, "did you mean"),
        ({'curriculum': [{'generations': 1, 'scene': {'engine': 'muc'}}]}, 'not one of'),
        ({'curriculum': [{'generations': 1, 'scene': {'engine': None}}]}, 'engine is None'),
        (
            {'curriculum': [{'generations': 1}], 'optimizer': {'settings': {'reevaluate': False}}},
            'keeps fitness values',
        ),
        ({'objectives': {'calm': {'smoothnes': 1.0}}, 'optimizer': {'name': 'nsga2'}},
         "did you mean 'smoothness'"),
        ({'objectives': {'calm': {'smoothness': 1.0}}}, 'nearest valid: nsga2'),
        ({'optimizer': {'name': 'nsga2', 'settings': {'objectives': 2}}}, 'nearest valid: 1'),
        ({'objectives': {'calm': {}}, 'optimizer': {'name': 'nsga2'}}, 'calm is empty'),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line(change, message):
    with pytest.raises(ConfigurationError, match=message) as caught:
        plan(**change)
    assert '\n' not in str(caught.value)


# Disks


@pytest.mark.parametrize('number', [errno.EROFS, errno.ENOSPC])
def test_a_disk_that_refuses_at_any_moment_is_one_line_and_the_run_goes_on_later(
    tmp_path, monkeypatch, number
):
    run(tmp_path / 'whole', generations=3)
    left = [0]

    def refusing(real):
        def call(*given):
            left[0] -= 1
            if left[0] == 0:
                raise OSError(number, os.strerror(number))
            return real(*given)

        return call

    for name in ('fsync', 'replace'):
        monkeypatch.setattr(os, name, refusing(getattr(os, name)))
    refused = 0
    for moment in range(1, 40):
        left[0], folder = moment, tmp_path / str(moment)
        try:
            run(folder, generations=3)
        except StoreError as error:
            assert os.strerror(number) in str(error) and '\n' not in str(error)
            refused += 1
        left[0] = 0
        resumed(folder) if (folder / 'run.yaml').exists() else run(folder, generations=3)
        log = (folder / 'evaluations.csv').read_bytes()
        assert log == (tmp_path / 'whole' / 'evaluations.csv').read_bytes()
        if refused < moment:
            break
    # Folder and file of everything that a run of three generations writes.
    assert refused >= 20
