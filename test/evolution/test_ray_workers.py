# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Workers of Ray that hang, die, are stopped or orphaned: equal results, and nothing is left."""

from __future__ import annotations

from dataclasses import replace
import os
from pathlib import Path
import signal
import subprocess
import sys
import threading
import time

import pytest
import yaml

pytest.importorskip('ray', reason="extra 'ray' is not installed: make setup EXTRAS=ray")

from gait_core import registry
from gait_core.errors import ConfigurationError, DeadlyTrial
from gait_core.processes.worker_policy import MAX_LOSSES_PER_TRIAL
from gait_core.robot.find import PATH_VARIABLE
from gait_core.robot.legged_box import legged_box
from gait_core.testing.doubles import spec_for_test
from gait_core.testing.folders import write_robot_folder
from gait_core.testing.workspace import workspace
from gait_core.trial.loop import run_trial
from gait_core.trial.scene import TerrainSpec
from gait_evolver.evaluators.ray import RayEvaluator

FAULTS = '''
"""Controllers with faults."""
import os
from pathlib import Path
import time
from gait_core.testing.doubles import WaveController

MARKS = Path(os.environ['GAIT_TEST_MARKS'])


def first(name):
    """Return whether this is the first time."""
    seen = (MARKS / name).exists()
    (MARKS / name).touch()
    return not seen


class Looping(WaveController):
    """Computes for ever in the first trial, before its first control period."""

    def reset(self, seed):
        super().reset(seed)
        while first('looping'):
            while True:
                pass


class Printing(WaveController):
    """Prints."""

    def reset(self, seed):
        super().reset(seed)
        print('a print of a controller', flush=True)


class Waiting(WaveController):
    """Says that it has begun, and goes on when told."""

    def step(self, dt, command, observation):
        print('a print of a controller', flush=True)
        (MARKS / f'begun-{os.getpid()}').touch()
        while not (MARKS / 'go').exists():
            time.sleep(0.01)
        return super().step(dt, command, observation)


class Deadly(WaveController):
    """Ends its process."""

    def reset(self, seed):
        os._exit(9)
'''
ENTRY_POINTS = ''.join(
    f'{name} = gait_ray_for_tests:{name.title()}\n'
    for name in ('looping', 'printing', 'waiting', 'deadly')
)


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp('ray')
    with workspace(root, ENTRY_POINTS):
        (root / 'packages' / 'gait_ray_for_tests.py').write_text(FAULTS)
        os.environ['GAIT_TEST_MARKS'] = str(root)
        # An own Ray takes none of these.
        os.environ['RAY_ADDRESS'] = '192.0.2.1:1'
        yield root
        del os.environ['GAIT_TEST_MARKS'], os.environ['RAY_ADDRESS']


@pytest.fixture(scope='module')
def two(folder):
    evaluator = RayEvaluator(workers=2, hang=4.0)
    evaluator.log_folder = folder
    yield evaluator
    evaluator.close()


def waves(count, **changes):
    return [spec_for_test(seed=i, **changes) for i in range(count)]


def hashes(results):
    return [result.trial_hash for result in results]


def wait_for(condition, seconds=180.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def processes_with(variable):
    """Return the processes with a variable in their environment, by id."""
    found = {}
    for entry in Path('/proc').iterdir():
        try:
            if entry.name.isdecimal() and variable in (entry / 'environ').read_bytes():
                found[int(entry.name)] = (entry / 'cmdline').read_bytes()
        except OSError:
            continue
    return found


def listening_addresses(pids):
    """Return the hexadecimal addresses on which processes listen."""
    sockets = set()
    for pid in pids:
        for link in Path(f'/proc/{pid}/fd').iterdir():
            try:
                sockets.add(os.readlink(link))
            except OSError:
                continue
    return {
        fields[1].rpartition(':')[0]
        for name in ('tcp', 'tcp6')
        for line in Path(f'/proc/net/{name}').read_text().splitlines()[1:]
        if (fields := line.split())[3] == '0A' and f'socket:[{fields[9]}]' in sockets
    }


def test_results_are_those_of_this_process_in_order_and_prints_go_to_the_log(two, folder, capfd):
    specs, seen = waves(6), []
    specs[2] = replace(specs[2], controller='printing')
    results = two.evaluate(specs, lambda index, result: seen.append(index))
    expected = [run_trial(spec) for spec in specs]
    capfd.readouterr()
    assert [replace(one, wall_time=0.0) for one in results] == [
        replace(one, wall_time=0.0) for one in expected
    ]
    assert sorted(seen) == list(range(6))
    # One may have run all trials before the other had started.
    wait_for(lambda: two.evaluate(specs[:1]) and len(two.worker_names) == 2)
    # Ray loses prints that come before its driver listens.
    wait_for(
        lambda: (
            two.evaluate(specs[2:3])
            and 'a print of a controller' in (folder / 'ray.log').read_text()
        )
    )


def test_three_workers_give_the_results_of_two(two, folder):
    specs, three = waves(9), RayEvaluator(workers=3)
    try:
        results = three.evaluate(specs)
        wait_for(lambda: three.evaluate(specs[:1]) and len(three.worker_names) == 3)
        again = three.evaluate(specs)
    finally:
        three.close()
    expected = [replace(one, wall_time=0.0) for one in two.evaluate(specs)]
    for found in (results, again):
        assert [replace(one, wall_time=0.0) for one in found] == expected


def test_an_own_ray_listens_on_loopback_with_a_token_that_others_cannot_read(two):
    two.evaluate(waves(1))
    mark = f'GAIT_TEST_MARKS={os.environ["GAIT_TEST_MARKS"]}'.encode()
    pids = set(processes_with(mark)) - {os.getpid()}
    assert any(b'raylet' in Path(f'/proc/{pid}/cmdline').read_bytes() for pid in pids)
    # 127.0.0.1, in IPv4 and mapped to IPv6.
    assert listening_addresses(pids) <= {'0100007F', '0000000000000000FFFF00000100007F'}
    environments = [Path(f'/proc/{pid}/environ').read_bytes() for pid in pids]
    (token,) = {
        part.partition(b'=')[2].decode()
        for environment in environments
        for part in environment.split(b'\0')
        if part.startswith(b'RAY_AUTH_TOKEN_PATH=')
    }
    assert os.stat(token).st_mode & 0o777 == 0o600
    assert not any(b'RAY_ADDRESS=192.0.2.1' in environment for environment in environments)


PLUGIN = """
from gait_core.terrains.flat import Flat
from gait_core.testing.doubles import WaveController
from gait_core.testing.folders import SceneKinematicEngine


class Calm(WaveController):
    pass


class Engine(SceneKinematicEngine):
    pass


class Field(Flat):
    pass


def ticks(rollout):
    return float(rollout.ticks)
"""
PLUGIN_ENTRIES = """
[gait.controllers]
calm = gait_plugin_for_tests:Calm
[gait.engines]
away = gait_plugin_for_tests.inner:Engine
[gait.terrains]
field = gait_plugin_for_tests.inner:Field
[gait.fitness_terms]
ticks = gait_plugin_for_tests.inner:ticks
"""


def test_a_plugin_and_a_named_robot_that_workers_lack_travel(two, tmp_path, monkeypatch):
    # Workers have the variables of this moment, and know nothing of what follows.
    two.evaluate(waves(1))
    package = tmp_path / 'site' / 'gait_plugin_for_tests'
    package.mkdir(parents=True)
    (package / '__init__.py').write_text('from gait_plugin_for_tests.inner import Calm')
    (package / 'inner.py').write_text(PLUGIN)
    metadata = tmp_path / 'site' / 'gait_plugin_for_tests-1.dist-info'
    metadata.mkdir()
    (metadata / 'METADATA').write_text('Metadata-Version: 2.1\nName: gait_plugin\nVersion: 1\n')
    (metadata / 'entry_points.txt').write_text(PLUGIN_ENTRIES)
    write_robot_folder(tmp_path / 'robots' / 'far_box', legged_box())
    monkeypatch.syspath_prepend(str(tmp_path / 'site'))
    monkeypatch.setenv(PATH_VARIABLE, f'{tmp_path / "robots"}:{os.environ[PATH_VARIABLE]}')
    registry.clear_entry_cache()
    scene = {'robot': 'far_box', 'engine': 'away', 'terrain': TerrainSpec(name='field')}
    specs = waves(4, controller='calm', scene=scene, fitness_terms={'ticks': 1.0})
    results = two.evaluate(specs)
    expected = [run_trial(spec) for spec in specs]
    assert [replace(one, wall_time=0.0) for one in results] == [
        replace(one, wall_time=0.0) for one in expected
    ]
    child = [sys.executable, '-c', 'import gait_plugin_for_tests']
    assert subprocess.run(child, capture_output=True).returncode == 1
    monkeypatch.undo()
    registry.clear_entry_cache()


def test_a_trial_of_a_hanging_worker_is_begun_elsewhere_and_the_worker_replaced(two):
    specs, losses = waves(3), []
    specs[1] = replace(specs[1], controller='looping')
    results = two.evaluate(specs, lost=lambda index, reason: losses.append(reason))
    assert hashes(results) == hashes(run_trial(spec) for spec in specs)
    end = time.monotonic() + 30.0
    while not losses:
        assert time.monotonic() < end
        two.evaluate(specs[:1], lost=lambda index, reason: losses.append(reason))
    assert len(losses) == 1 and 'ran no control period for 4 s' in losses[0]


def test_killed_and_stopped_workers_change_no_result(two, folder):
    losses, specs = [], waves(5)
    specs[0], specs[1] = (replace(spec, controller='waiting') for spec in specs[:2])

    def count(index, reason):
        losses.append((index, reason))

    def disturb():
        wait_for(lambda: len(list(folder.glob('begun-*'))) == 2)
        pids = [int(mark.name.partition('-')[2]) for mark in folder.glob('begun-*')]
        os.kill(pids[0], signal.SIGKILL)
        os.kill(pids[1], signal.SIGSTOP)
        (folder / 'go').touch()

    thread = threading.Thread(target=disturb)
    thread.start()
    results = two.evaluate(specs, lost=count)
    thread.join()
    assert hashes(results) == hashes(run_trial(spec) for spec in specs)
    assert any('its worker process has died' in reason for _, reason in losses)
    # The trial of the stopped one may have been begun elsewhere before it is given up.
    wait_for(
        lambda: (
            two.evaluate(waves(1), lost=count)
            and any('gave no sign of life for 4 s' in reason for _, reason in losses)
        ),
        30.0,
    )
    assert {0, 1, None} >= {index for index, _ in losses}


def test_a_trial_that_always_ends_its_worker_is_tried_three_times(two):
    specs, losses = waves(8), []
    specs[3] = replace(specs[3], controller='deadly')
    with pytest.raises(DeadlyTrial) as caught:
        two.evaluate(specs, lost=lambda index, reason: losses.append(index))
    assert caught.value.index == 3
    # On a busy machine a worker can be lost before it runs a trial: None.
    assert [index for index in losses if index is not None] == [3] * MAX_LOSSES_PER_TRIAL


def test_a_file_that_is_gone_ends_the_call_by_name(two, tmp_path):
    gone = tmp_path / 'gone.npz'
    specs = [replace(spec, weights=str(gone)) for spec in waves(2)]
    with pytest.raises(ConfigurationError, match=f'{gone}: No such file'):
        two.evaluate(specs)


PROGRAM = """
from dataclasses import replace
from gait_core.testing.doubles import spec_for_test
from gait_evolver.evaluators.ray import RayEvaluator
evaluator = RayEvaluator(workers=1)
evaluator.evaluate([replace(spec_for_test(seed=1), controller='waiting')])
"""


def test_kill_9_of_the_evaluator_leaves_no_process_and_no_folder(folder):
    for mark in (*folder.glob('begun-*'), *folder.glob('go')):
        mark.unlink()
    variables = {**os.environ, 'GAIT_TEST_RUN': 'orphans', 'TMPDIR': str(folder)}
    before = set(Path('/tmp').glob('gait-ray-*'))
    process = subprocess.Popen([sys.executable, '-c', PROGRAM], env=variables)
    wait_for(lambda: list(folder.glob('begun-*')))
    assert len(processes_with(b'GAIT_TEST_RUN=orphans')) > 5
    process.kill()
    process.wait()
    wait_for(lambda: not processes_with(b'GAIT_TEST_RUN=orphans'), 30.0)
    wait_for(lambda: set(Path('/tmp').glob('gait-ray-*')) <= before, 5.0)


EXPERIMENT = {
    'robot': 'legged_box',
    'controller': 'waiting',
    'preset': 'wave',
    'genes': {'amplitude': {'lower': 0.05, 'upper': 0.5}},
    'scene': {'engine': 'kinematic'},
    'duration': 0.2,
    'fitness': {'distance': 1.0},
    'population': 4,
    'generations': 1,
}


def test_ctrl_c_ends_a_run_within_5_s_and_names_what_continues_it(folder):
    for mark in (*folder.glob('begun-*'), *folder.glob('go')):
        mark.unlink()
    file, run = folder / 'waiting.yaml', folder / 'run'
    file.write_text(yaml.safe_dump(EXPERIMENT))
    words = ['evolve', str(file), '--evaluator', 'ray', '--workers', '1', '--run-dir', str(run)]
    process = subprocess.Popen(
        [sys.executable, '-m', 'gait_tools.cli', *words],
        env={**os.environ, 'GAIT_TEST_RUN': 'interrupted'},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(lambda: list(folder.glob('begun-*')))
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=5.0)
    assert process.returncode == 128 + signal.SIGINT
    assert errors.endswith(f'resume with: gait evolve --run-dir {run} --resume --workers 1\n')
    assert 'print of a controller' not in output
    assert not processes_with(b'GAIT_TEST_RUN=interrupted')
