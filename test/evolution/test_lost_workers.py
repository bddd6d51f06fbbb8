# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Local workers that hang, die, are stopped or orphaned: nothing is scored, nobody waits."""

from __future__ import annotations

from dataclasses import replace
import json
import os
from pathlib import Path
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
import yaml

from gait_core.errors import DeadlyTrial, NoWorkers
from gait_core.parameters.schema import read_value
from gait_core.processes import liveness
from gait_core.processes.worker_policy import MAX_LOSSES_PER_TRIAL, HangWatch, LossCounter
from gait_core.testing.doubles import spec_for_test
from gait_core.testing.workspace import workspace
from gait_core.trial.failures import describe_exception
from gait_core.trial.loop import run_trial
from gait_core.trial.spec import TrialSpec
from gait_evolver.evaluators.channel import MessageChannel, receive_message, send_message
from gait_evolver.evaluators.local import LocalEvaluator
from gait_tools import cli

FAULTS = '''
"""Controllers with faults, each at a reset or a step; with a mark, the first time only."""
import os
from pathlib import Path
import sys
import time
from gait_core.testing.doubles import WaveController


def first(name):
    """Return whether this is the first time."""
    mark = Path(os.environ['GAIT_TEST_MARKS']) / name
    seen = mark.exists()
    mark.touch()
    return not seen


class Sleeping(WaveController):
    """Sleeps for ever in the first trial."""

    def step(self, dt, command, observation):
        if first('sleeping'):
            time.sleep(1e6)
        return super().step(dt, command, observation)


class Looping(WaveController):
    """Computes for ever in the first trial, before its first control period."""

    def reset(self, seed):
        super().reset(seed)
        while first('looping'):
            while True:
                pass


class Leaving(WaveController):
    """Ends its process as a programme does that is done."""

    def reset(self, seed):
        sys.exit(0)


class Hungry(WaveController):
    """Finds no memory in the first trial."""

    def reset(self, seed):
        super().reset(seed)
        if first('hungry'):
            raise MemoryError('no room')


class Strange(WaveController):
    """Raises what can neither be sent nor read."""

    def reset(self, seed):
        class Odd(Exception):
            def __str__(self):
                raise ValueError

            def __reduce__(self):
                raise TypeError('not to be sent')

        raise Odd


class Waiting(WaveController):
    """Says that it has begun, and goes on when told."""

    def step(self, dt, command, observation):
        folder = Path(os.environ['GAIT_TEST_MARKS'])
        (folder / f'begun-{os.getpid()}').touch()
        while not (folder / 'go').exists():
            time.sleep(0.01)
        return super().step(dt, command, observation)


class Partial(WaveController):
    """Sends half an answer in the first trial and waits for ever."""

    def step(self, dt, command, observation):
        if first('partial'):
            for number in range(3, 64):
                try:
                    if os.readlink(f'/proc/self/fd/{number}').startswith('socket:'):
                        os.write(number, b'\\x40\\0\\0\\0\\0\\0\\0\\0half')
                except OSError:
                    pass
            os._exit(3)
        return super().step(dt, command, observation)


class Raising(WaveController):
    """Divides by zero."""

    def step(self, dt, command, observation):
        return 1 / 0


class Deadly(WaveController):
    """Ends its process at every trial with the first amplitude that it is given."""

    def reset(self, seed):
        super().reset(seed)
        kept = Path(os.environ['GAIT_TEST_MARKS']) / 'amplitude'
        if not kept.exists():
            kept.write_text(repr(self.params.amplitude))
        if kept.read_text() == repr(self.params.amplitude):
            os._exit(9)
'''
NAMES = (
    'sleeping', 'looping', 'leaving', 'hungry', 'strange', 'waiting', 'partial', 'raising',
    'deadly',
)  # fmt: skip
ENTRY_POINTS = ''.join(f'{name} = gait_lost_for_tests:{name.title()}\n' for name in NAMES)


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp('lost')
    with workspace(root, ENTRY_POINTS):
        (root / 'packages' / 'gait_lost_for_tests.py').write_text(FAULTS)
        os.environ['GAIT_TEST_MARKS'] = str(root)
        yield root
        del os.environ['GAIT_TEST_MARKS']


@pytest.fixture(scope='module')
def two(folder):
    evaluator = LocalEvaluator(workers=2, hang=1.0, patience=0.0)
    yield evaluator
    evaluator.close()


def waves(count, **changes):
    return [spec_for_test(seed=i, **changes) for i in range(count)]


@pytest.mark.parametrize(
    ('fault', 'how'),
    [
        ('sleeping', 'ran no control period for 1 s'),
        ('looping', 'ran no control period for 1 s'),
        ('hungry', 'MemoryError: no room'),
        ('partial', 'ended with exit code 3'),
    ],
)
def test_a_trial_of_a_lost_worker_is_run_again_to_the_result_of_an_undisturbed_one(
    two, fault, how
):
    specs, losses = waves(3), []
    specs[1] = replace(specs[1], controller=fault)
    results = two.evaluate(specs, lost=lambda index, reason: losses.append((index, reason)))
    assert [index for index, _ in losses] == [1]
    assert how in losses[0][1]
    assert [one.trial_hash for one in results] == [run_trial(spec).trial_hash for spec in specs]


@pytest.mark.parametrize(
    ('fault', 'reason'), [('leaving', 'SystemExit: 0'), ('strange', 'its message cannot be read')]
)
def test_whatever_a_controller_raises_is_the_status_of_its_trial(two, fault, reason):
    specs = waves(2)
    specs[0] = replace(specs[0], controller=fault)
    results = two.evaluate(specs)
    assert [one.status for one in results] == ['invalid:exception', 'ok']
    assert reason in results[0].reason and 'gait_lost_for_tests.py:' in results[0].reason


def test_a_worker_that_is_stopped_in_a_trial_or_before_one_is_replaced(two, folder):
    (folder / 'go').touch()
    two.evaluate(waves(2))
    os.kill(two.pids[0], signal.SIGSTOP)
    losses = []
    results = two.evaluate(waves(4), lost=lambda index, reason: losses.append(reason))
    assert [one.status for one in results] == ['ok'] * 4
    assert len(losses) == 1 and 'no control period' in losses[0]


def test_a_message_that_nobody_reads_is_not_waited_for():
    ours, theirs = socket.socketpair()
    channel = MessageChannel(ours)
    large = 'x' * 4_000_000
    channel.send(large)
    assert channel.is_writing
    reader = threading.Thread(target=lambda: found.append(receive_message(theirs)))
    found = []
    reader.start()
    while channel.is_writing:
        channel.flush()
    reader.join()
    assert found == [large]
    # Half a message, then the end: no more comes.
    theirs.sendall(b'\x40\0\0\0\0\0\0\0half')
    assert channel.read_messages() == []
    send_message(theirs, 1)
    theirs.close()
    with pytest.raises(EOFError):
        channel.read_messages()
        channel.read_messages()
    channel.close()


def test_workers_that_cannot_be_kept_alive_end_the_evaluation():
    losses, told = LossCounter(patience=0.0), []
    losses.begin(lambda index, reason: told.append(index))
    with pytest.raises(NoWorkers, match='no worker can be kept alive: 6 were lost'):
        for index in range(10):
            time.sleep(1e-3)
            losses.count_loss(index, 'killed')
    assert told == list(range(2 * MAX_LOSSES_PER_TRIAL))
    assert 0.0 < losses.start_delay <= 5.0


def test_an_innocent_trial_is_not_blamed_where_none_passes():
    losses = LossCounter(patience=1e6)
    losses.begin(lambda index, reason: None)
    for _ in range(10):
        losses.count_loss(0, 'killed')
    losses.count_result()
    losses.begin(lambda index, reason: None)
    for _ in range(10):
        losses.count_loss(0, 'killed', by_trial=False)
    with pytest.raises(DeadlyTrial):
        for _ in range(MAX_LOSSES_PER_TRIAL):
            losses.count_loss(0, 'killed')


def test_time_without_a_processor_is_no_hang():
    child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(100)'])
    try:
        asleep, compiling = HangWatch(child.pid), HangWatch(child.pid)
        end = time.monotonic() + 30.0
        while asleep.update(0, liveness.RUNNING) < 0.5:
            assert time.monotonic() < end
            time.sleep(0.05)
        # One that has moved begins anew.
        assert asleep.update(1, liveness.RUNNING) == 0.0
    finally:
        child.kill()
        child.wait()
    spinning = subprocess.Popen([sys.executable, '-c', 'while True: pass'])
    try:
        busy, compiling = HangWatch(spinning.pid), HangWatch(spinning.pid)
        while busy.update(0, liveness.RUNNING) < 0.5:
            assert compiling.update(0, liveness.COMPILING) < 0.5
            assert time.monotonic() < end
            time.sleep(0.05)
    finally:
        spinning.kill()
        spinning.wait()


def test_the_place_of_an_exception_is_in_code_that_a_user_added():
    def fault():
        yaml.safe_load('a: [')

    try:
        fault()
    except yaml.YAMLError as error:
        assert f'({__file__}:' in describe_exception(error)


EXPERIMENT = {
    'robot': 'legged_box',
    'controller': 'wave',
    'preset': 'wave',
    'genes': {'amplitude': {'lower': 0.05, 'upper': 0.5}, 'frequency': None},
    'duration': 0.2,
    'fitness': {'distance': 1.0},
    'population': 4,
    'generations': 2,
}


def gait(*words):
    return [sys.executable, '-m', 'gait_tools.cli', *words]


def wait_for(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def children(pid):
    found = []
    for task in Path(f'/proc/{pid}/task').iterdir():
        found += [int(one) for one in (task / 'children').read_text().split()]
    return found


def gone(pid):
    try:
        return Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0] == 'Z'
    except OSError:
        return True


def test_orphans_end_with_their_parent_also_stopped_ones(folder):
    for mark in (*folder.glob('begun-*'), *folder.glob('go')):
        mark.unlink()
    file = folder / 'waiting.yaml'
    file.write_text(yaml.safe_dump({**EXPERIMENT, 'controller': 'waiting'}))
    words = gait('evolve', str(file), '--workers', '2', '--run-dir', str(folder / 'orphans'))
    process = subprocess.Popen(words, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    wait_for(lambda: len(list(folder.glob('begun-*'))) == 2)
    workers = [one for one in children(process.pid) if (folder / f'begun-{one}').exists()]
    assert len(workers) == 2
    os.kill(workers[0], signal.SIGSTOP)
    process.kill()
    process.wait()
    wait_for(lambda: all(gone(one) for one in workers), 2.0)


def test_a_closed_terminal_leaves_a_run_and_how_to_go_on(folder):
    for mark in (*folder.glob('begun-*'), *folder.glob('go')):
        mark.unlink()
    file, run = folder / 'waiting.yaml', folder / 'hung up'
    file.write_text(yaml.safe_dump({**EXPERIMENT, 'controller': 'waiting'}))
    words = gait('evolve', str(file), '--workers', '1', '--run-dir', str(run))
    process = subprocess.Popen(
        words,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        # Tests may run under nohup, which the command respects.
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )
    wait_for(lambda: list(folder.glob('begun-*')))
    # Nobody reads any more, and the whole group is told.
    process.stdout.close()
    process.stderr.close()
    os.killpg(process.pid, signal.SIGHUP)
    assert process.wait(30.0) == 128 + signal.SIGHUP
    line = (run / 'events.log').read_text().splitlines()[-1]
    command = f"gait evolve --run-dir '{run}' --resume --workers 1"
    assert line.endswith(f'interrupted; resume with: {command}')


def test_exceptions_in_most_trials_end_the_run_in_a_line_that_names_the_place(folder):
    file, run = folder / 'raising.yaml', folder / 'raising'
    file.write_text(yaml.safe_dump({**EXPERIMENT, 'controller': 'raising'}))
    words = gait('evolve', str(file), '--workers', '1', '--run-dir', str(run), '--json')
    for _ in range(2):
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == 1 and 'Traceback' not in done.stderr
        last = done.stderr.splitlines()[-1]
        assert '3 of the 4 trials of a generation raised an exception, the first: ' in last
        assert 'ZeroDivisionError: division by zero (' in last
        assert 'gait_lost_for_tests.py:' in last and '--resume' in last
        words = gait('evolve', '--workers', '1', '--run-dir', str(run), '--resume', '--json')


def test_a_trial_that_ends_its_workers_stops_the_run_and_can_be_left_out(folder, capsys):
    file, run = folder / 'deadly.yaml', folder / 'deadly run'
    file.write_text(yaml.safe_dump({**EXPERIMENT, 'controller': 'deadly'}))
    words = gait('evolve', str(file), '--workers', '1', '--run-dir', str(run))
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 1 and 'Traceback' not in done.stderr
    lost = [line for line in done.stderr.splitlines() if 'ended with exit code 9 in trial' in line]
    last = done.stderr.splitlines()[-1]
    name = lost[0].partition(' in trial ')[2].partition(',')[0]
    assert len(lost) == MAX_LOSSES_PER_TRIAL and last.endswith(
        f'--resume --workers 1 --skip-trial {name}'
    )
    events = (run / 'events.log').read_text()
    assert (
        events.count(f'in trial {name}, which is run again') == MAX_LOSSES_PER_TRIAL
        and '--resume' in events
    )
    kept = run / f'trial-{name.replace("/", "-")}.yaml'
    assert str(kept) in last
    spec = read_value(TrialSpec, yaml.safe_load(kept.read_text())['spec'])
    assert repr(spec.parameters['amplitude']) == (folder / 'amplitude').read_text()
    resumed = gait('evolve', '--workers', '1', '--run-dir', str(run), '--resume')
    wrong = '/'.join(('0', '9', *name.split('/')[2:]))
    assert cli.main([*resumed[3:], '--skip-trial', wrong]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"no trial '{wrong}'" in line
    done = subprocess.run(
        [*resumed, '--skip-trial', name, '--json'], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)['invalid_counts'] == {'invalid:skipped': 1}
    assert (run / 'evaluations.csv').read_text().count(',invalid:skipped,') == 1


def test_leaving_out_is_for_runs_that_are_resumed(folder, capsys):
    assert cli.main(['evolve', 'guroo_quick', '--skip-trial', '0/0/0/bullet']) == 2
    assert '--resume' in capsys.readouterr().err
