# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Run store and loop, with trials on the engine without physics, in this process."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
import json
import os
import random
import re
import signal
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

from gait_core.contracts import Optimizer
from gait_core.errors import ConfigurationError
from gait_core.parameters.declaration import Parameters, float_parameter, int_parameter
from gait_core.parameters.plain_data import to_plain_data
from gait_core.testing.doubles import InProcessEvaluator, register_temporarily
from gait_core.testing.workspace import workspace
from gait_core.trial.champion import read_champion
from gait_core.trial.loop import run_trial
from gait_evolver import loop
from gait_evolver.experiment import experiment_names, load_experiment, rebuild_experiment
from gait_evolver.loop import Evolution, evolution_summary, new_run_folder
from gait_evolver.plan import load_plan, resolve_experiment
from gait_evolver.run.files import StoreError
from gait_evolver.run.log import TrialRow
from gait_evolver.run.store import RunStore
from gait_evolver.scoring import status_and_fitness

EXPERIMENT = {
    'robot': 'legged_box',
    'genes': {'amplitude': {'lower': 0.05, 'upper': 0.5}, 'frequency': None},
    'duration': 0.4,
    'fitness': {'distance': 1.0, 'smoothness': 1e-4},
    'optimizer': {'name': 'genetic', 'settings': {'elites': 1}},
    'population': 6,
    'generations': 4,
    'seed': 5,
}


@pytest.fixture(autouse=True, scope='module')
def kinematic(tmp_path_factory):
    boggy = 'boggy = gait_core.testing.folders:BoggyKinematicEngine'
    with workspace(tmp_path_factory.mktemp('workspace'), engines=boggy):
        yield


def plan(**overrides):
    return resolve_experiment(rebuild_experiment(EXPERIMENT, 'small', overrides))


def run(folder, evaluator=None, **overrides):
    store = RunStore.create(folder, plan(**overrides))
    try:
        evolution = Evolution(store, evaluator or InProcessEvaluator())
        return evolution.run(), store
    finally:
        store.close()


def resumed(folder, generations=None, evaluator=None):
    store, rows = RunStore.open_run(folder, generations)
    try:
        return Evolution(store, evaluator or InProcessEvaluator(), rows).run(), store
    finally:
        store.close()


def log_of(folder):
    return (folder / 'evaluations.csv').read_bytes()


@pytest.mark.parametrize('optimizer', ['genetic', 'cma_es'])
def test_it_improves_and_the_champion_replays(tmp_path, optimizer):
    progress, store = run(tmp_path / 'run', optimizer={'name': optimizer}, generations=6)
    assert progress.stop_reason == 'all generations done'
    assert progress.best.fitness > progress.first_generation_best
    champion = read_champion(store.champion_file)
    result = run_trial(champion.spec)
    assert result.fitness == champion.fitness == progress.best.fitness
    assert (result.trial_hash,) == champion.trial_hashes
    assert champion.spec.seed == champion.seeds[0]


@pytest.mark.parametrize('stop_at', [0, 3, 6, 8, 14, 20])
def test_an_interrupted_run_resumes_to_the_log_of_the_whole_one(tmp_path, stop_at):
    whole, _ = run(tmp_path / 'whole')
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / 'cut', InProcessEvaluator(stop_at))
    progress, _ = resumed(tmp_path / 'cut')
    assert log_of(tmp_path / 'cut') == log_of(tmp_path / 'whole')
    champions = [(tmp_path / name / 'champion.yaml').read_bytes() for name in ('cut', 'whole')]
    assert champions[0] == champions[1]
    assert progress.best == whole.best


def test_what_a_kill_leaves_beyond_the_checkpoint_is_cut_off(tmp_path):
    run(tmp_path / 'whole')
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / 'cut', InProcessEvaluator(14))
    with (tmp_path / 'cut' / 'evaluations.csv').open('ab') as log:
        log.write(b'2,0,16,0,,123,ok,0.1')
    resumed(tmp_path / 'cut')
    assert log_of(tmp_path / 'cut') == log_of(tmp_path / 'whole')


def test_a_run_can_be_made_longer_and_no_shorter_than_it_is(tmp_path):
    run(tmp_path / 'whole', generations=5)
    run(tmp_path / 'short', generations=2)
    for generations in (5, 2):
        progress, _ = resumed(tmp_path / 'short', generations=generations)
        assert (progress.generation, progress.generations) == (5, 5)
        assert log_of(tmp_path / 'short') == log_of(tmp_path / 'whole')


def test_rate_and_time_left_follow_from_the_generations_of_this_process(tmp_path, monkeypatch):
    now, left = [0.0], []
    monkeypatch.setattr(loop, 'time', SimpleNamespace(perf_counter=lambda: now[0]))

    def take_half_a_second(number, result):
        now[0] += 0.5
        return result

    store = RunStore.create(tmp_path / 'run', plan(generations=3))
    evolution = Evolution(
        store,
        InProcessEvaluator(spoil=take_half_a_second),
        listener=lambda progress: left.append((progress.generation, progress.time_left)),
    )
    progress = evolution.run()
    store.close()
    assert progress.rate == pytest.approx(2.0)
    # As long for each generation to come as those before took on average.
    first = [line for line in log_of(tmp_path / 'run').splitlines() if line.startswith(b'0,')]
    assert (1, 2 * 0.5 * len(first)) in left and left[-1] == (3, 0.0)


def test_repeats_have_their_own_seeds_and_the_mean_counts(tmp_path):
    progress, store = run(tmp_path / 'run', repeats=3, generations=2)
    champion = read_champion(store.champion_file)
    assert len(set(champion.seeds)) == 3
    fitness = [run_trial(replace(champion.spec, seed=seed)).fitness for seed in champion.seeds]
    assert np.mean(fitness) == champion.fitness == progress.best.fitness
    assert progress.evaluations == (6 + 5) * 3


BOTH = {'engines': ['kinematic', 'boggy']}


def test_each_individual_is_run_on_every_engine_and_its_worst_counts(tmp_path):
    progress, store = run(tmp_path / 'run', **BOTH, repeats=2)
    assert progress.evaluations == (6 + 3 * 5) * 2 * 2
    individuals, worst, decided = {}, {}, set()
    for row in csv.DictReader(log_of(tmp_path / 'run').decode().splitlines()):
        trials = individuals.setdefault((row['generation'], row['individual']), {})
        trials.setdefault(row['engine'], []).append(row)
    for place, trials in individuals.items():
        seeds = [[row['seed'] for row in rows] for rows in trials.values()]
        assert seeds[0] == seeds[1] and len(set(seeds[0])) == 2
        means = {
            name: np.mean([float(row['fitness']) for row in rows]) for name, rows in trials.items()
        }
        worst[place] = min(means.values())
        decided.add(min(means, key=means.get))
    assert decided == {'kinematic', 'boggy'}
    assert progress.best.fitness == max(worst.values())
    first = max(value for place, value in worst.items() if place[0] == '0')
    assert progress.first_generation_best == first


def test_the_champion_of_several_engines_replays_on_each(tmp_path):
    progress, store = run(tmp_path / 'run', **BOTH, repeats=2)
    found = {
        name: read_champion(tmp_path / 'run' / f'champion.{name}.yaml') for name in BOTH['engines']
    }
    for name, champion in found.items():
        assert champion.spec.scene.engine == name
        results = [run_trial(replace(champion.spec, seed=seed)) for seed in champion.seeds]
        assert tuple(result.trial_hash for result in results) == champion.trial_hashes
        assert np.mean([result.fitness for result in results]) == champion.fitness
    least = min(found.values(), key=lambda champion: champion.fitness)
    assert read_champion(store.champion_file) == least
    assert least.fitness == progress.best.fitness
    assert len({champion.fitness for champion in found.values()}) == 2
    assert len({tuple(champion.spec.parameters.items()) for champion in found.values()}) == 1


@pytest.mark.parametrize('stop_at', [5, 17, 30])
def test_a_run_on_several_engines_resumes_to_the_log_of_the_whole_one(tmp_path, stop_at):
    run(tmp_path / 'whole', **BOTH)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / 'cut', InProcessEvaluator(stop_at), **BOTH)
    for file in (tmp_path / 'cut').glob('champion.*'):
        file.unlink()
    resumed(tmp_path / 'cut')
    names = ['evaluations.csv', 'champion.yaml', 'champion.kinematic.yaml', 'champion.boggy.yaml']
    for name in names:
        cut, whole = (tmp_path / folder / name for folder in ('cut', 'whole'))
        assert cut.read_bytes() == whole.read_bytes()


def test_one_engine_in_the_list_is_the_engine_of_the_scene():
    alone = plan(scene={'engine': 'boggy'})
    assert plan(engines=['boggy']).config_hash == alone.config_hash
    assert list(alone.scenes) == ['boggy'] != list(plan().scenes)
    # Options are those of the scene's engine, which need not be the first.
    options = {'engine': 'boggy', 'engine_options': {'depth': 1}}
    scenes = plan(**BOTH, scene=options).scenes
    assert list(scenes) == ['kinematic', 'boggy']
    assert scenes['boggy'].engine_options == {'depth': 1}
    assert scenes['kinematic'] == plan().trial.scene


def row(engine, status='ok', fitness=1.0):
    return TrialRow(
        generation=0, individual=0, id=0, repeat=0, engine=engine, parents=(), seed=0,
        status=status, fitness=fitness, ticks=1, trial_hash='', values={}, terms={}, metrics={},
    )  # fmt: skip


@pytest.mark.parametrize(
    ('rows', 'expected'),
    [
        ([row('a', fitness=1.0), row('b', fitness=3.0)], ('ok', 1.0)),
        # The means are 2 and 1.5: not the least of the single trials.
        ([row('a', fitness=0.0), row('b'), row('a', fitness=4.0), row('b', fitness=2.0)],
         ('ok', 1.5)),
        ([row('a'), row('b', 'fell', 2.0)], ('fell', 1.0)),
        ([row('a', 'fell', 2.0), row('b', 'diverged', None)], ('diverged', None)),
        ([row('a', 'invalid:jitter', None), row('b')], ('invalid:jitter', None)),
        ([row('a'), row('b', fitness=float('inf'))], ('invalid:fitness', None)),
    ],
)  # fmt: skip
def test_the_worst_of_the_engines_is_the_status_and_the_fitness(rows, expected):
    assert status_and_fitness(rows) == expected


def test_a_third_of_bad_trials_ends_with_a_finite_champion(tmp_path):
    def spoil(number, result):
        if number % 10 == 0:
            return replace(result, fitness=float('nan'))
        if number % 10 in (3, 6):
            return replace(result, status='invalid:jitter', fitness=None, terms={})
        return result

    progress, store = run(tmp_path / 'run', InProcessEvaluator(spoil=spoil), generations=5)
    champion = read_champion(store.champion_file)
    assert np.isfinite(champion.fitness)
    assert run_trial(champion.spec).fitness == champion.fitness
    # 6 + 4 * 5 trials: numbers 0, 10, 20 and 3, 6, 13, 16, 23.
    assert progress.invalid_counts == {'invalid:fitness': 3, 'invalid:jitter': 5}
    assert evolution_summary(store, progress)['invalid_counts'] == progress.invalid_counts
    again, _ = resumed(tmp_path / 'run')
    assert again.best.fitness == champion.fitness


def test_no_champion_where_all_fail(tmp_path):
    def spoil(number, result):
        return replace(result, status='diverged', fitness=None, terms={})

    progress, store = run(tmp_path / 'run', InProcessEvaluator(spoil=spoil), generations=2)
    assert progress.best is None
    assert not store.champion_file.exists()
    made = json.dumps(evolution_summary(store, progress), allow_nan=False)
    assert json.loads(made)['champion'] is None


def test_a_run_is_held_by_one_process(tmp_path):
    store = RunStore.create(tmp_path / 'run', plan())
    with pytest.raises(StoreError, match='in use by another process'):
        RunStore.open_run(tmp_path / 'run')
    store.close()
    with pytest.raises(StoreError, match='holds a run already'):
        RunStore.create(tmp_path / 'run', plan())


@pytest.mark.parametrize(
    'name', ['experiment.yaml', 'evaluations.csv', 'times.csv', 'champion.yaml', 'weights/7.npz']
)
def test_a_new_run_replaces_no_file_of_the_user(tmp_path, name):
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text('mine\n')
    with pytest.raises(StoreError, match=f'holds {name}, which a run would replace: remove it'):
        run(tmp_path)
    assert file.read_text() == 'mine\n'
    assert [found for found in tmp_path.rglob('*') if found.is_file()] == [file]


def test_a_run_killed_while_it_began_is_begun_again_and_no_other(tmp_path):
    run(tmp_path / 'whole', generations=1)
    store = RunStore.create(tmp_path / 'cut', plan(generations=1))
    store.close()
    (tmp_path / 'cut' / 'run.yaml').unlink()
    with pytest.raises(StoreError, match='remove them, or choose another folder'):
        run(tmp_path / 'cut', generations=2)
    run(tmp_path / 'cut', generations=1)
    assert log_of(tmp_path / 'cut') == log_of(tmp_path / 'whole')


def test_a_changed_log_is_refused(tmp_path):
    run(tmp_path / 'run', generations=2)
    log = log_of(tmp_path / 'run')
    (tmp_path / 'run' / 'evaluations.csv').write_bytes(log.replace(b'ok', b'no', 1))
    with pytest.raises(ConfigurationError, match='was changed'):
        RunStore.open_run(tmp_path / 'run')


@pytest.mark.parametrize('left', [None, b''])
@pytest.mark.parametrize('torn', [b'', b'3,0,2', b'3,0,22,0,kinematic'])
def test_a_power_cut_costs_generations_that_are_run_again(tmp_path, left, torn):
    # Of a checkpoint that no one waited for nothing may have come to the disk.
    run(tmp_path / 'whole')
    run(tmp_path / 'cut', generations=3)
    checkpoint = tmp_path / 'cut' / 'checkpoint.json'
    checkpoint.unlink()
    if left is not None:
        checkpoint.write_bytes(left)
    with (tmp_path / 'cut' / 'evaluations.csv').open('ab') as log:
        log.write(torn)
    store, rows = RunStore.open_run(tmp_path / 'cut')
    store.close()
    assert [{row.generation for row in generation} for generation in rows] == [{0}, {1}]
    resumed(tmp_path / 'cut', generations=4)
    assert log_of(tmp_path / 'cut') == log_of(tmp_path / 'whole')


def test_a_generation_waits_once_for_the_disk(tmp_path, monkeypatch):
    # Waiting takes longer than all the rest of the recording.
    run(tmp_path / 'run', generations=5)
    waits = []
    sync = os.fsync
    monkeypatch.setattr(os, 'fsync', lambda handle: (waits.append(handle), sync(handle)))
    worse = InProcessEvaluator(spoil=lambda number, result: replace(result, fitness=-1e9))
    resumed(tmp_path / 'run', generations=8, evaluator=worse)
    assert len(waits) == 3


@pytest.mark.parametrize('content', [b'{"form', b'[]', b'\xff\xfe', b'{"format": 9}'])
def test_a_damaged_checkpoint_is_refused_in_one_line(tmp_path, content):
    run(tmp_path / 'run')
    (tmp_path / 'run' / 'checkpoint.json').write_bytes(content)
    with pytest.raises(ConfigurationError, match='checkpoint.json') as caught:
        RunStore.open_run(tmp_path / 'run')
    assert '\n' not in str(caught.value)


@pytest.mark.parametrize('name', ['run.yaml', 'checkpoint.json', 'evaluations.csv'])
def test_an_edited_run_is_named_and_left_as_it_is(tmp_path, name):
    run(tmp_path / 'run')
    file = tmp_path / 'run' / name
    if name == 'evaluations.csv':
        file.unlink()
    else:
        lines = file.read_text().splitlines()
        edited = [re.sub('(generations": ).*', r'\g<1>1,', line) for line in lines]
        file.write_text('\n'.join(line for line in edited if 'config_hash' not in line))
    before = {one: one.read_bytes() for one in file.parent.iterdir()}
    with pytest.raises(ConfigurationError, match=str(file.parent)) as caught:
        RunStore.open_run(file.parent)
    assert '\n' not in str(caught.value)
    assert {one: one.read_bytes() for one in file.parent.iterdir() if one in before} == before


def test_a_log_and_a_checkpoint_that_are_empty_are_one_line(tmp_path):
    run(tmp_path / 'run')
    for name in ('evaluations.csv', 'checkpoint.json'):
        (tmp_path / 'run' / name).write_bytes(b'')
    with pytest.raises(ConfigurationError, match='evaluations.csv has no header') as caught:
        RunStore.open_run(tmp_path / 'run')
    assert '\n' not in str(caught.value)


def test_lost_wall_times_do_not_hold_up_a_run(tmp_path):
    run(tmp_path / 'run')
    (tmp_path / 'run' / 'times.csv').unlink()
    resumed(tmp_path / 'run', generations=5)
    lines = (tmp_path / 'run' / 'times.csv').read_text().splitlines()
    assert lines[0].startswith('generation,') and lines[1].startswith('4,')


def test_resuming_after_an_edit_warns(tmp_path):
    run(tmp_path / 'run', generations=1)
    store, _ = RunStore.open_run(tmp_path / 'run')
    assert store.describe_changes() == ''
    facts = tmp_path / 'run' / 'run.yaml'
    facts.write_text(facts.read_text().replace('sources: ', 'sources: 0'))
    assert store.describe_changes() == 'code or robot were changed since the run began'
    store.close()


def test_a_champion_that_was_lost_is_written_again_on_resume(tmp_path):
    run(tmp_path / 'run')
    champion = tmp_path / 'run' / 'champion.yaml'
    before = champion.read_bytes()
    champion.unlink()
    resumed(tmp_path / 'run')
    assert champion.read_bytes() == before


@pytest.mark.skipif(not hasattr(os, 'fork'), reason='needs fork')
def test_a_full_disk_is_one_line_and_leaves_the_run_whole(tmp_path):
    # RLIMIT_FSIZE of a child: no file may grow beyond what two generations take.
    run(tmp_path / 'whole')
    limit = len(log_of(tmp_path / 'whole')) * 6 // 10
    folder = tmp_path / 'run'
    child = os.fork()
    if child == 0:
        import resource

        code = 1
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            run(folder)
        except StoreError as error:
            code = 2 if 'File too large' in str(error) and '\n' not in str(error) else 3
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
    assert not [name for name in os.listdir(folder) if name.startswith('.')]
    progress, _ = resumed(folder)
    assert progress.generation == 4
    assert log_of(folder) == log_of(tmp_path / 'whole')


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / 'file').write_text('')
    with pytest.raises(StoreError, match='Not a directory'):
        RunStore.create(tmp_path / 'file' / 'run', plan())


def test_the_recorded_experiment_is_complete(tmp_path):
    store = RunStore.create(tmp_path / 'run', plan())
    store.close()
    again, rows = RunStore.open_run(tmp_path / 'run')
    again.close()
    assert rows == []
    assert again.plan.experiment == store.plan.experiment
    assert again.plan.experiment.genes['frequency'].upper == 5.0
    assert again.plan.experiment.scene['engine'] == 'kinematic'
    assert again.run_id == store.run_id


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'robott': 'x'}, "did you mean 'experiment.robot'"),
        ({'robot': 'legged_bax'}, "did you mean 'legged_box'"),
        ({'controller': 'wav'}, "did you mean 'wave'"),
        ({'preset': 'waves'}, "did you mean 'wave'"),
        ({'gait': {'amplitud': 0.1}}, "did you mean 'amplitude'"),
        ({'gait': {'amplitude': 0.1}}, 'both a gene and a fixed parameter'),
        ({'genes': {'amplitud': {}}}, "did you mean 'amplitude'"),
        ({'genes': {'amplitude': {'upper': 7.0}}}, r'outside \[0, 1\]; nearest valid: 1'),
        ({'genes': {'amplitude': {'lower': 0.9}}}, 'the lower must be below the upper'),
        (
            {'genes': {'amplitude': {'uper': 7.0}}},
            "did you mean 'experiment.genes.amplitude.upper'",
        ),
        ({'fitness': {'distance': float('nan')}}, 'fitness.distance is nan'),
        ({'name': '../x'}, "without '/'"),
        ({'name': 'two\nlines'}, "'two.*lines', expected a line"),
        ({'fitness': {'distanc': 1.0}}, "did you mean 'distance'"),
        ({'optimizer': {'name': 'genetik'}}, "did you mean 'genetic'"),
        ({'optimizer': {'settings': {'elits': 1}}}, "did you mean 'elites'"),
        ({'scene': {'fricton': 1.0}}, "did you mean 'scene.friction'"),
        ({'scene': {'terrain': {'name': 'ruff'}}}, "did you mean 'rough'"),
        ({'scene': {'terrain': 'rough'}}, 'nearest valid: {name: rough}'),
        ({'scene': {'engine': 'bulet'}}, "did you mean 'bullet'"),
        ({'engines': ['kinematic', 'bulet']}, "unknown engine 'bulet': did you mean 'bullet'"),
        ({'engines': ['boggy', 'boggy']}, "names 'boggy' more than once"),
        ({'engines': 'boggy'}, "experiment.engines is 'boggy'"),
        ({'engines': ['boggy'], 'scene': {'engine': 'kinematic'}}, 'valid: boggy'),
        ({'evaluator': 'loca'}, "did you mean 'local'"),
        ({'generations': 0}, r'is 0, outside \[1, 1000000\]; nearest valid: 1'),
        ({'generations': 2.5}, 'expected a whole number'),
        ({'seed': -1}, 'seed -1'),
        ({'duration': -1}, 'it must be positive'),
        ({'format': 9}, 'format 9'),
    ],
)
def test_a_mistake_in_an_experiment_is_named(change, message):
    with pytest.raises(ConfigurationError, match=message) as caught:
        plan(**change)
    assert '\n' not in str(caught.value)


FILE = """robot: legged_box
genes:
  amplitude: {lower: 0.05, upper: 0.5}
parameters:
  frequency: 2.0
duration: 0.4
fitness:
  distance: 1.0
scene:
  engine: kinematic
  terrain: {name: flat}
gates: {speed: 9.0}
optimizer:
  name: nsga2
  settings:
    objectives: 2
objectives:
  calm: {tilt: -1.0}
evaluator: local
curriculum:
  - generations: 1
    scene: {friction: 0.5}
"""


@pytest.mark.parametrize(
    ('right', 'wrong', 'position', 'message'),
    [
        ('legged_box', 'legd_box', 'line 1, column 1', "unknown robot 'legd_box'"),
        ('amplitude', 'amplitud', 'line 3, column 3', "did you mean 'amplitude'"),
        ('upper: 0.5', 'upper: -0.5', 'line 3, column 3', "parameter 'amplitude' = -0.5"),
        ('frequency', 'amplitude', 'line 3, column 3', 'both a gene and a fixed parameter'),
        ('frequency', 'frequenc', 'line 5, column 3', "did you mean 'frequency'"),
        ('distance', 'distanc', 'line 8, column 3', "unknown fitness term 'distanc'"),
        ('kinematic', 'kinematik', 'line 10, column 3', "unknown engine 'kinematik'"),
        ('engine:', 'fricton: 1.0\n  engine:', 'line 10, column 3', "mean 'scene.friction'"),
        ('flat', 'flatt', 'line 11, column 3', "unknown terrain 'flatt'"),
        ('speed', 'sped', 'line 12, column 9', "unknown gate 'sped'"),
        ('9.0', '-9.0', 'line 12, column 9', 'gates.speed is -9'),
        ('nsga2', 'nsga', 'line 14, column 3', "unknown optimizer 'nsga'"),
        ('objectives: 2', 'objectivs: 2', 'line 16, column 5', "did you mean 'objectives'"),
        ('objectives: 2', 'objectives: 2.5', 'line 16, column 5', 'expected a whole number'),
        ('tilt', 'tild', 'line 18, column 10', "unknown fitness term 'tild'"),
        ('local', 'lokal', 'line 19, column 1', "unknown evaluator 'lokal'"),
        ('friction', 'fricton', 'line 22, column 13', "did you mean 'scene.friction'"),
    ],
)
def test_what_cannot_be_resolved_is_named_with_file_line_and_column(
    tmp_path, right, wrong, position, message
):
    path = tmp_path / 'small.yaml'
    path.write_text(FILE.replace(right, wrong, 1))
    with pytest.raises(ConfigurationError) as caught:
        load_plan(str(path))
    said = str(caught.value)
    assert said.startswith(f'{path}, {position}: ') and message in said and '\n' not in said


def test_what_a_command_line_gives_has_no_position_in_the_file(tmp_path):
    path = tmp_path / 'small.yaml'
    path.write_text(FILE)
    for changes, message in (
        ({'fitness': {'distanc': 1.0}}, r"^unknown fitness term 'distanc'"),
        ({'scene': {'fricton': 1.0}}, r"^unknown key 'scene\.fricton'"),
        ({'gait': {'frequenc': 1.0}}, r"^unknown parameter 'frequenc'"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            load_plan(str(path), changes)


def test_an_optimiser_is_given_its_settings_in_their_types():
    @dataclass(frozen=True, kw_only=True)
    class Settings(Parameters):
        count: int = int_parameter(4, low=1, high=9, doc='Candidates.')
        width: float = float_parameter(1.0, low=0.0, high=9.0, unit='-', doc='Of a step.')

    class Recorder(Optimizer):
        """Keeps its settings as they were given."""

        def __init__(self, *, dimension, seed, **settings):
            self.settings = settings

        def ask(self):
            return []

        def tell(self, evaluations):
            """Forget them."""

    Recorder.Settings = Settings
    with register_temporarily('optimizers', recorder=Recorder):
        choice = {'name': 'recorder', 'settings': {'count': 8.0, 'width': 2}}
        settings = plan(optimizer=choice, population=0).make_optimizer().settings
    assert {name: type(value) for name, value in settings.items()} == {
        'count': int,
        'width': float,
    }


@pytest.mark.parametrize('when', ['__init__', 'ask', 'tell'])
@pytest.mark.parametrize(
    ('module', 'draw'),
    [('random', random.random), ('numpy.random', np.random.randn)],
)
def test_an_optimiser_that_draws_from_a_global_generator_is_refused(tmp_path, when, module, draw):
    class Gambler(Optimizer):
        """Search that draws once, in one of its methods."""

        Settings = Parameters

        def __init__(self, *, dimension, seed):
            if when == '__init__':
                draw()

        def ask(self):
            if when == 'ask':
                draw()
            return []

        def tell(self, evaluations):
            if when == 'tell':
                draw()

    with (
        register_temporarily('optimizers', gambler=Gambler),
        pytest.raises(ConfigurationError, match=f"^optimizer 'gambler' draws .* of {module}, so"),
    ):
        RunStore.create(tmp_path / 'run', plan(optimizer={'name': 'gambler'}, population=0))
    assert not (tmp_path / 'run').exists()


def test_unknown_experiments_and_files(tmp_path):
    with pytest.raises(ConfigurationError, match="did you mean 'guroo_quick'"):
        load_experiment('guro_quick')
    with pytest.raises(ConfigurationError, match='No such file'):
        load_experiment(str(tmp_path / 'none.yaml'))
    (tmp_path / 'bad.yaml').write_text('a: [')
    with pytest.raises(ConfigurationError, match=r'bad\.yaml, line 1, column 5: expected '):
        load_experiment(str(tmp_path / 'bad.yaml'))
    (tmp_path / 'twice.yaml').write_text('genes:\n  size: {lower: 1}\n  size: {lower: 2}\n')
    with pytest.raises(
        ConfigurationError, match=r"line 3, column 3: the key 'size' is written twice$"
    ):
        load_experiment(str(tmp_path / 'twice.yaml'))
    (tmp_path / 'list.yaml').write_text('- 1')
    with pytest.raises(ConfigurationError, match='expected named values'):
        load_experiment(str(tmp_path / 'list.yaml'))


def test_experiments_of_another_package_are_found_by_name(tmp_path):
    (tmp_path / 'mine.yaml').write_text(yaml.safe_dump({**EXPERIMENT, 'robot': './legs'}))
    (tmp_path / 'legs').mkdir()
    with register_temporarily('experiment_folders', mine=lambda: tmp_path):
        assert {'guroo_quick', 'mine'} <= set(experiment_names())
        assert load_experiment('mine').robot == str(tmp_path / 'legs')
        (tmp_path / 'guroo_quick.yaml').write_text('')
        with pytest.raises(ConfigurationError, match="two packages have an exp.* 'guroo_quick'"):
            load_experiment('mine')
    assert 'mine' not in experiment_names()


def test_run_folders_are_numbered(tmp_path):
    first = new_run_folder('x', 1, tmp_path)
    first.mkdir()
    assert new_run_folder('x', 1, tmp_path).name == 'x-1-002'


# Validity gates


def test_what_a_gate_catches_never_wins_and_is_counted(tmp_path):
    free, _ = run(tmp_path / 'free', generations=6)
    fastest = free.best.rows[0].metrics['speed_max_mps']
    limit = 0.7 * fastest
    progress, store = run(tmp_path / 'gated', generations=6, gates={'speed': limit})
    rows = list(csv.DictReader(log_of(tmp_path / 'gated').decode().splitlines()))
    caught = [row for row in rows if row['status'] == 'invalid:speed']
    assert caught and progress.invalid_counts == {'invalid:speed': len(caught)}
    assert evolution_summary(store, progress)['invalid_counts'] == {'invalid:speed': len(caught)}
    assert all(float(row['metric.speed_max_mps']) > limit for row in caught)
    assert all(row['fitness'] == '' for row in caught)
    assert progress.best.rows[0].metrics['speed_max_mps'] <= limit
    champion = read_champion(store.champion_file)
    assert champion.spec.gates['speed'] == limit
    assert run_trial(champion.spec).trial_hash == champion.trial_hashes[0]


def test_the_limits_of_the_robot_are_written_out_and_read_back():
    resolved = plan(gates={'speed': None, 'airborne': 3.0})
    assert resolved.experiment.gates['airborne'] == 3.0
    assert resolved.experiment.gates['speed'] is None
    assert 'speed' not in resolved.trial.gates
    again = resolve_experiment(rebuild_experiment(to_plain_data(resolved.experiment), 'small', {}))
    assert again.config_hash == resolved.config_hash
    assert again.trial.gates == resolved.trial.gates


def test_an_unknown_gate_of_an_experiment_is_named():
    with pytest.raises(ConfigurationError, match="unknown gate 'sped': did you mean 'speed'"):
        plan(gates={'sped': 1.0})


# Noise


class Noisy(InProcessEvaluator):
    """Adds noise to the fitness that depends on the trial's seed alone."""

    def __init__(self, size):
        super().__init__()
        self.size, self.seeds = size, []

    def evaluate(self, specs, progress=None, lost=None):
        self.seeds.append([spec.seed for spec in specs])
        results = super().evaluate(specs, progress)
        return [
            replace(
                result,
                fitness=result.fitness + self.size * np.random.default_rng(spec.seed).normal(),
            )
            for spec, result in zip(specs, results, strict=True)
        ]


REEVALUATED = {'optimizer': {'settings': {'elites': 2, 'reevaluate': True}}, 'generations': 8}


def test_common_seeds_are_shared_within_a_generation_only(tmp_path):
    noisy = Noisy(0.0)
    run(tmp_path / 'run', noisy, repeats=2, common_seeds=True, generations=3)
    for seeds in noisy.seeds:
        assert len(set(seeds)) == 2
    assert len({seed for seeds in noisy.seeds for seed in seeds}) == 6
    noisy = Noisy(0.0)
    run(tmp_path / 'own', noisy, repeats=2, generations=3)
    assert all(len(set(seeds)) == len(seeds) for seeds in noisy.seeds)


def test_elites_that_are_evaluated_again_have_the_mean_of_all_their_trials(tmp_path):
    progress, store = run(tmp_path / 'run', Noisy(0.3), **REEVALUATED)
    rows = list(csv.DictReader(log_of(tmp_path / 'run').decode().splitlines()))
    by_genome = {}
    for row in rows:
        genome = tuple(value for key, value in row.items() if key.startswith('gait.'))
        by_genome.setdefault(genome, []).append(row)
    again = {
        genome: found
        for genome, found in by_genome.items()
        if len({row['generation'] for row in found}) > 1
    }
    assert len(again) >= 2
    members = {}
    for row in rows:
        genome = tuple(value for key, value in row.items() if key.startswith('gait.'))
        members.setdefault(int(row['generation']), {})[int(row['individual'])] = genome
    elites = REEVALUATED['optimizer']['settings']['elites']
    for generation in range(1, len(members)):
        assert len(members[generation]) == len(members[0])
        asked_again = {members[generation][i] for i in range(elites)}
        assert asked_again <= set(members[generation - 1].values())
    means = {
        genome: np.mean([float(row['fitness']) for row in found])
        for genome, found in again.items()
    }
    champion = read_champion(store.champion_file)
    assert champion.fitness == pytest.approx(max(means.values()))
    # A single lucky trial was better than what is better on the whole.
    assert max(float(row['fitness']) for row in rows) > champion.fitness
    best = max(means, key=means.get)
    assert len(champion.seeds) == len(again[best]) == champion.run['trials'] > 1
    scores = [float(row['fitness']) for row in again[best]]
    assert champion.run['fitness_deviation'] == pytest.approx(np.std(scores))
    assert [str(seed) for seed in champion.seeds] == [row['seed'] for row in again[best]]


def test_without_noise_nothing_is_lost_by_evaluating_again(tmp_path):
    progress, store = run(tmp_path / 'run', **REEVALUATED)
    champion = read_champion(store.champion_file)
    assert champion.run['fitness_deviation'] == pytest.approx(0.0, abs=1e-12)
    result = run_trial(champion.spec)
    assert champion.fitness == pytest.approx(result.fitness, rel=1e-12)
    assert champion.fitness >= progress.first_generation_best - 1e-12


@pytest.mark.parametrize('stop_at', [3, 9, 20])
def test_a_noisy_run_resumes_to_the_log_and_champion_of_the_whole_one(tmp_path, stop_at):
    settings = {**REEVALUATED, 'common_seeds': True}
    run(tmp_path / 'whole', **settings)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / 'cut', InProcessEvaluator(stop_at), **settings)
    resumed(tmp_path / 'cut')
    assert log_of(tmp_path / 'cut') == log_of(tmp_path / 'whole')
    champions = [(tmp_path / name / 'champion.yaml').read_bytes() for name in ('cut', 'whole')]
    assert champions[0] == champions[1]
