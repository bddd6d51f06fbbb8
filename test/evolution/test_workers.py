# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Worker processes: equal logs whatever their number, deaths, faults and interrupts."""

from __future__ import annotations

from dataclasses import replace
import json
import os
from pathlib import Path
import signal
import subprocess
import sys
import time

import pytest
import yaml

from gait_core.errors import ConfigurationError, DeadlyTrial
from gait_core.testing.doubles import spec_for_test
from gait_core.testing.workspace import workspace
from gait_core.trial.loop import run_trial
from gait_evolver.evaluators.local import LocalEvaluator

FAULTS = '''
"""Controllers that end their process, raise, or wait."""
import os
from pathlib import Path
import signal
import time
from gait_core.testing.doubles import WaveController


class Deadly(WaveController):
    """Kills its process at the first reset with this amplitude, and ever after above 0.9."""

    def reset(self, seed):
        super().reset(seed)
        mark = Path(os.environ['GAIT_TEST_MARKS']) / 'died'
        if self.params.amplitude > 0.9 or not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)


class Faulty(WaveController):
    """Raises."""

    def reset(self, seed):
        raise KeyError('a fault of the programmer')


class Slow(WaveController):
    """Takes its time."""

    def step(self, dt, command, observation):
        time.sleep(0.02)
        return super().step(dt, command, observation)
'''
ENTRY_POINTS = """\
deadly = gait_faults_for_tests:Deadly
faulty = gait_faults_for_tests:Faulty
slow = gait_faults_for_tests:Slow
"""
EXPERIMENT = {
    'robot': 'legged_box',
    'controller': 'slow',
    'preset': 'wave',
    'genes': {'amplitude': {'lower': 0.05, 'upper': 0.5}, 'frequency': None},
    'duration': 0.2,
    'fitness': {'distance': 1.0},
    'population': 5,
    'generations': 4,
}


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp('workers')
    boggy = 'boggy = gait_core.testing.folders:BoggyKinematicEngine'
    with workspace(root, ENTRY_POINTS, boggy):
        (root / 'packages' / 'gait_faults_for_tests.py').write_text(FAULTS)
        (root / 'small.yaml').write_text(yaml.safe_dump(EXPERIMENT))
        os.environ['GAIT_TEST_MARKS'] = str(root)
        yield root
        del os.environ['GAIT_TEST_MARKS']


@pytest.fixture(scope='module')
def two(folder):
    evaluator = LocalEvaluator(workers=2)
    yield evaluator
    evaluator.close()


def waves(count, **changes):
    return [
        spec_for_test(parameters={'amplitude': 0.1 + 0.05 * i}, seed=i, **changes)
        for i in range(count)
    ]


def test_results_come_in_order_and_equal_those_of_this_process(two):
    specs, seen = waves(6), []
    results = two.evaluate(specs, lambda index, result: seen.append(index))
    expected = [run_trial(spec) for spec in specs]
    assert [r.trial_hash for r in results] == [r.trial_hash for r in expected]
    assert [r.fingerprint for r in results] == [r.fingerprint for r in expected]
    assert sorted(seen) == list(range(6))
    assert len(two.pids) == 2
    assert os.getpid() not in two.pids


def test_workers_run_one_thread(two):
    two.evaluate(waves(2))
    for pid in two.pids:
        environment = Path(f'/proc/{pid}/environ').read_bytes()
        assert b'OMP_NUM_THREADS=1' in environment
        assert b'OPENBLAS_NUM_THREADS=1' in environment


def test_a_trial_whose_worker_died_is_run_again(two, folder):
    (folder / 'died').unlink(missing_ok=True)
    specs = waves(4)
    specs[1] = replace(specs[1], controller='deadly')
    results = two.evaluate(specs)
    assert [result.status for result in results] == ['ok'] * 4
    assert (folder / 'died').exists()


def test_a_trial_that_ends_three_workers_while_others_pass_is_told_and_not_scored(two):
    specs, losses = waves(4), []
    specs[2] = replace(specs[2], controller='deadly', parameters={'amplitude': 1.0})
    with pytest.raises(DeadlyTrial) as caught:
        two.evaluate(specs, lost=lambda index, reason: losses.append((index, reason)))
    assert caught.value.index == 2
    assert [index for index, _ in losses] == [2, 2, 2]
    assert all('was killed by SIGKILL' in reason for _, reason in losses)


def test_an_exception_is_the_status_of_its_trial_with_message_and_place(two, folder):
    specs = waves(3)
    specs[1] = replace(specs[1], controller='faulty')
    results = two.evaluate(specs)
    assert [one.status for one in results] == ['ok', 'invalid:exception', 'ok']
    line = FAULTS.splitlines().index("        raise KeyError('a fault of the programmer')") + 1
    place = f'{folder}/packages/gait_faults_for_tests.py:{line}, in reset'
    assert results[1].reason == f"KeyError: 'a fault of the programmer' ({place})"
    assert results[1].fitness is None


def test_a_mistake_is_the_mistake_it_is_here(two):
    with pytest.raises(ConfigurationError, match="unknown controller 'wav'"):
        two.evaluate([replace(waves(1)[0], controller='wav')])


def command(*words):
    return [sys.executable, '-m', 'gait_tools.cli', *words]


def evolve(folder, run, *more):
    return command('evolve', str(folder / 'small.yaml'), '--run-dir', str(folder / run), *more)


def log_of(folder, run):
    return (folder / run / 'evaluations.csv').read_bytes()


@pytest.fixture(scope='module')
def whole(folder):
    """Return the JSON of an uninterrupted run on one worker."""
    done = subprocess.run(
        evolve(folder, 'whole', '--workers', '1', '--json'),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_two_workers_and_four_write_the_log_of_one(folder, whole):
    for workers in ('2', '4'):
        words = evolve(folder, f'on-{workers}', '--workers', workers)
        subprocess.run(words, check=True, capture_output=True)
        assert log_of(folder, f'on-{workers}') == log_of(folder, 'whole')
    assert whole['evaluations'] == 5 + 3 * 3
    assert whole['generations'] == 4


def test_a_run_on_two_engines_has_one_log_whatever_the_number_of_workers(folder):
    both = ('--set', 'engines=kinematic,boggy', '--generations', '2')
    for workers in ('1', '2'):
        words = evolve(folder, f'both-{workers}', '--workers', workers, *both)
        subprocess.run(words, check=True, capture_output=True)
    assert log_of(folder, 'both-1') == log_of(folder, 'both-2')
    assert log_of(folder, 'both-1').count(b',boggy,') == 5 + 3


def wait_for(condition, seconds=30.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize('number', [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_stopped_in_generation_2_of_4_it_resumes_to_the_same_log(folder, whole, number):
    run = f'stopped-{number.name}'
    process = subprocess.Popen(
        evolve(folder, run, '--workers', '2'),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    checkpoint = folder / run / 'checkpoint.json'
    wait_for(checkpoint.exists)
    time.sleep(0.15)
    workers = children(process.pid)
    for _ in range(2):
        # Ctrl-C reaches the whole group, and impatient users press it twice.
        if number == signal.SIGINT:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
    _, errors = process.communicate(timeout=20)
    assert 1 <= json.loads(checkpoint.read_text())['generations'] < 4
    if number != signal.SIGKILL:
        assert process.returncode == 128 + number
        assert 'Traceback' not in errors
        assert '--resume' in errors
    # The workers end with their evaluator, however that ended.
    wait_for(lambda: not any(Path(f'/proc/{pid}').exists() and alive(pid) for pid in workers))
    done = subprocess.run(
        command('evolve', '--run-dir', str(folder / run), '--resume', '--workers', '2', '--json'),
        capture_output=True,
        text=True,
        check=True,
    )
    assert log_of(folder, run) == log_of(folder, 'whole')
    assert json.loads(done.stdout)['best_fitness'] == whole['best_fitness']


def children(pid):
    listed = Path(f'/proc/{pid}/task/{pid}/children').read_text()
    return [int(child) for child in listed.split()]


def alive(pid):
    try:
        return Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0] != 'Z'
    except OSError:
        return False


def test_the_champion_of_a_run_replays(folder, whole):
    done = subprocess.run(
        command('replay', whole['run_dir'], '--json'), capture_output=True, text=True, check=True
    )
    replayed = json.loads(done.stdout)
    assert replayed['equal'] is True
    assert replayed['fitness'] == replayed['recorded_fitness'] == whole['best_fitness']


def test_ctrl_c_reaches_no_worker_before_its_handlers_are_set():
    # Each process inherits the signals that are blocked at its start; the first worker, too.
    script = (
        'import signal\n'
        'from multiprocessing import popen_spawn_posix\n'
        'from gait_evolver.evaluators.worker_process import WorkerProcess\n'
        'spawn, blocked = popen_spawn_posix.util.spawnv_passfds, []\n'
        'def watch(*arguments):\n'
        '    blocked.append(signal.pthread_sigmask(signal.SIG_BLOCK, ()))\n'
        '    return spawn(*arguments)\n'
        'popen_spawn_posix.util.spawnv_passfds = watch\n'
        'for _ in range(2):\n'
        '    worker = WorkerProcess(len, False)\n'
        '    print({signal.SIGINT, signal.SIGHUP} <= blocked[-1])\n'
        '    worker.kill()\n'
    )
    done = subprocess.run([sys.executable, '-c', script], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ('True\nTrue\n', '')
