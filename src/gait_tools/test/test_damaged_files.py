# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""A damaged file is read as it was written, or refused by its name in one line."""

from __future__ import annotations

import hashlib
import json
import random
import resource
import shutil
import struct

import numpy as np
import pytest
import yaml
import zstandard

from gait_core.errors import ConfigurationError
from gait_core.files.access import MEBIBYTE
from gait_core.parameters.plain_data import to_plain_data
from gait_core.testing.doubles import (
    InProcessEvaluator,
    KinematicEngine,
    WaveController,
    register_temporarily,
    spec_for_test,
)
from gait_core.testing.workspace import workspace
from gait_core.trial.champion import read_champion
from gait_core.trial.loop import run_loop
from gait_evolver.experiment import rebuild_experiment
from gait_evolver.loop import Evolution
from gait_evolver.plan import resolve_experiment
from gait_evolver.run.store import RunStore, read_generations
from gait_tools.bags import chunks
from gait_tools.bags.read import read_bag
from gait_tools.bags.write import SEALED_ENTRIES, compute_seal, write_bag

COUNT = 60
EXPERIMENT = {
    'robot': 'legged_box',
    'genes': {'amplitude': {'lower': 0.05, 'upper': 0.5}},
    'duration': 0.2,
    'fitness': {'distance': 1.0},
    'population': 3,
    'generations': 2,
}


def mutations(content, seed, count=COUNT):
    """Yield damaged copies: bytes changed, left out, put in, repeated, or cut off."""
    source = random.Random(seed)
    for _ in range(count):
        at, length = source.randrange(len(content)), source.choice((1, 1, 2, 8, 100))
        noise = source.randbytes(length)
        damaged = source.choice(
            (
                content[:at] + bytes([content[at] ^ 1 << source.randrange(8)]) + content[at + 1 :],
                content[:at] + noise + content[at + length :],
                content[:at] + content[at + length :],
                content[:at] + noise + content[at:],
                content[: at + length] + content[at:],
                content[:at] + b'\xff' * length + content[at + length :],
                content[:at],
            )
        )
        if damaged != content:
            yield damaged


def read_or_refused(read, path, content, *, whole=None):
    """Return whether a damaged file is refused by its name; if not, its content is complete."""
    path.write_bytes(content)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        found = read()
    except ConfigurationError as error:
        assert '\n' not in str(error) and str(path.parent) in str(error)
        is_refused = True
    else:
        assert whole is None or whole(found)
        is_refused = False
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + 200 * 1024
    return is_refused


# Bags


@pytest.fixture(scope='module')
def bag(tmp_path_factory):
    folder = tmp_path_factory.mktemp('bags') / 'walk'
    with register_temporarily('controllers', wave=WaveController):
        loop = run_loop(spec_for_test(duration=0.1), KinematicEngine())
        write_bag(folder, loop.rollout(), loop.result(), {'generation': 3})
    return folder


@pytest.fixture
def copy(bag, tmp_path):
    return shutil.copytree(bag, tmp_path / 'walk')


def bits(trial):
    """Return all that a bag gives, as plain data."""
    return [
        to_plain_data([trial.spec, trial.result, dict(trial.about)]),
        [
            to_plain_data([one.observation, one.command, one.seed, one.dt, one.names])
            for one in trial.periods
        ],
        np.array([one.applied.position for one in trial.periods]).tolist(),
    ]


@pytest.mark.parametrize('name', ['walk.mcap', 'metadata.yaml'])
def test_a_damaged_bag_is_read_whole_or_named(bag, copy, name):
    expected = bits(read_bag(bag))
    outcomes = [
        read_or_refused(
            lambda: read_bag(copy), copy / name, content, whole=lambda one: bits(one) == expected
        )
        for content in mutations((bag / name).read_bytes(), name)
    ]
    assert any(outcomes)


def sealed(folder, content):
    """Give a bag other messages and the hash of these."""
    file = folder / 'metadata.yaml'
    document = yaml.safe_load(file.read_text())
    about = document['rosbag2_bagfile_information']['custom_data']
    about['gait.sha256'] = compute_seal(
        {key: about[f'gait.{key}'] for key in SEALED_ENTRIES}, content
    )
    file.write_text(yaml.safe_dump(document))


def test_a_bag_made_to_do_harm_is_read_or_named(bag, copy):
    outcomes = []
    for content in mutations((bag / 'walk.mcap').read_bytes(), 'sealed', COUNT // 2):
        sealed(copy, content)
        outcomes.append(read_or_refused(lambda: read_bag(copy), copy / 'walk.mcap', content))
    assert any(outcomes)


def record(kind, body):
    return struct.pack('<BQ', kind, len(body)) + body


def chunk(packed, unpacked, packing=b'zstd'):
    start = struct.pack('<QQQII', 0, 0, unpacked, 0, len(packing))
    return record(6, start + packing + struct.pack('<Q', len(packed)) + packed)


def index(place, packed, unpacked):
    body = struct.pack('<QQQQIQI', 0, 0, place, 0, 0, 0, 4) + b'zstd'
    return record(8, body + struct.pack('<QQ', packed, unpacked))


PACKED = zstandard.compress(bytes(1000))
HUGE = zstandard.compress(bytes(64 * MEBIBYTE))
MAGIC = b'\x89MCAP0\r\n'


@pytest.mark.parametrize(
    ('records', 'message'),
    [
        (17 * chunk(HUGE, 64 * MEBIBYTE), 'larger than the limit of 1024 MiB'),
        (chunk(PACKED, 2**40, b''), 'larger than the limit of 1024 MiB'),
        (chunk(HUGE, 10), 'another size'),
        (chunk(b'no frame' * 9, 10), 'another size'),
        (chunk(PACKED, 1000, b'lz4'), 'its chunks are not compressed by zstd'),
        (chunk(PACKED, 1000) + 2 * index(8, len(PACKED), 1000), 'a chunk that does not exist'),
        (chunk(PACKED, 1000) + index(9, len(PACKED), 1000), 'a chunk that does not exist'),
        (
            chunk(PACKED, 1000) + record(2, struct.pack('<QQI', 12, 0, 0)),
            'wrong position of',
        ),
        (record(6, b'')[:-1], 'cut off'),
        (record(6, b'short'), 'cut off'),
    ],
)
def test_the_size_of_messages_is_known_before_they_are_unpacked(records, message):
    with pytest.raises(ValueError, match=message):
        chunks.check_chunks(MAGIC + records + MAGIC)


@pytest.mark.parametrize('size', [0, 1, 255, 256, 70_000])
def test_the_size_of_a_frame_is_what_zstd_says(size):
    packed = zstandard.compress(bytes(size))
    content = MAGIC + chunk(packed, size) + MAGIC
    if len(packed) >= 18:
        chunks.check_chunks(content)
    with pytest.raises(ValueError, match='another size'):
        chunks.check_chunks(MAGIC + chunk(packed, size + 1) + MAGIC)


# Runs


@pytest.fixture(scope='module')
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp('runs') / 'run'
    with workspace(tmp_path_factory.mktemp('workspace')):
        store = RunStore.create(
            folder, resolve_experiment(rebuild_experiment(EXPERIMENT, 'small', {}))
        )
        Evolution(store, InProcessEvaluator()).run()
        store.close()
        yield folder


@pytest.fixture
def run_copy(run, tmp_path):
    return shutil.copytree(run, tmp_path / 'run')


def reopened(folder):
    store, rows = RunStore.open_run(folder)
    try:
        Evolution(store, InProcessEvaluator(), rows)
    finally:
        store.close()
    return rows


@pytest.mark.parametrize(
    'name', ['evaluations.csv', 'checkpoint.json', 'run.yaml', 'experiment.yaml']
)
def test_a_damaged_run_is_read_whole_or_named(run, run_copy, name):
    expected, outcomes = read_generations(run), []
    for content in mutations((run / name).read_bytes(), name):
        # A checkpoint without a byte is what a power cut leaves: what is whole for certain counts.
        kept = expected if content else expected[:1]
        outcomes.append(
            read_or_refused(
                lambda: reopened(run_copy), run_copy / name, content, whole=kept.__eq__
            )
        )
        shutil.copyfile(run / 'evaluations.csv', run_copy / 'evaluations.csv')
    assert any(outcomes)


def test_a_damaged_log_without_a_checkpoint_is_read_or_named(run, run_copy):
    (run_copy / 'checkpoint.json').unlink()
    log = run_copy / 'evaluations.csv'
    outcomes = [
        read_or_refused(lambda: reopened(run_copy), log, content)
        for content in mutations((run / log.name).read_bytes(), 'no checkpoint')
    ]
    assert any(outcomes)


def counted(folder, log, generations=2):
    """Give a run another log, and the checkpoint that goes with it."""
    (folder / 'evaluations.csv').write_bytes(log)
    state = {
        'format': 1,
        'generations': generations,
        'log_bytes': len(log),
        'log_sha256': hashlib.sha256(log).hexdigest(),
    }
    (folder / 'checkpoint.json').write_text(json.dumps(state))


def test_a_changed_log_with_its_own_checksum_is_read_or_named(run, run_copy):
    log, outcomes = run_copy / 'evaluations.csv', []
    for content in mutations((run / log.name).read_bytes(), 'counted'):
        counted(run_copy, content)
        outcomes.append(read_or_refused(lambda: reopened(run_copy), log, content))
    assert any(outcomes)


@pytest.mark.parametrize(
    ('old', 'new', 'message'),
    [
        (b'\n0,1,', b'\n0,x,', 'line 3 was changed'),
        (b'\n0,1,', b'\n\n0,1,2,', 'its number of cells differs'),
        (b'\n1,0,', b'\n7,0,', 'generations'),
        (b'\n0,1,', b'\n0,\xff,', 'line .* was changed'),
        (b'status', b'state', 'other columns'),
    ],
)
def test_what_is_changed_in_a_log_is_said(run, run_copy, old, new, message):
    counted(run_copy, (run / 'evaluations.csv').read_bytes().replace(old, new, 1))
    with pytest.raises(ConfigurationError, match=message):
        RunStore.open_run(run_copy)


@pytest.mark.parametrize('text', [b'inf', b'-inf', b'nan'])
def test_a_number_in_a_log_is_finite(run, run_copy, text):
    header, first, *others = (run / 'evaluations.csv').read_bytes().splitlines()
    cells = first.split(b',')
    cells[header.split(b',').index(b'metric.distance_m')] = text
    counted(run_copy, b'\n'.join([header, b','.join(cells), *others, b'']))
    with pytest.raises(ConfigurationError, match='expected a finite number'):
        RunStore.open_run(run_copy)


@pytest.mark.parametrize('generations', [0, 1, 3, 10**9])
def test_a_checkpoint_counts_the_generations_of_the_log(run, run_copy, generations):
    counted(run_copy, (run / 'evaluations.csv').read_bytes(), generations)
    with pytest.raises(ConfigurationError, match=rf'states {generations} generations.*has 2'):
        RunStore.open_run(run_copy)


def test_a_blank_line_in_a_log_without_a_checkpoint_is_named(run, run_copy):
    (run_copy / 'checkpoint.json').unlink()
    with (run_copy / 'evaluations.csv').open('ab') as log:
        log.write(b'\n')
    with pytest.raises(ConfigurationError, match=r'evaluations\.csv, line \d was changed'):
        RunStore.open_run(run_copy)


@pytest.mark.parametrize('platform', [['linux'], 3, 'linux', {1: 'a', 'b': 'c'}])
def test_a_platform_that_is_none_is_named(run, run_copy, platform):
    file = run_copy / 'run.yaml'
    file.write_text(yaml.safe_dump({**yaml.safe_load(file.read_text()), 'platform': platform}))
    with pytest.raises(ConfigurationError, match=r'run\.yaml was changed: platform'):
        RunStore.open_run(run_copy)


def test_a_damaged_champion_is_read_or_named(run, run_copy):
    file = run_copy / 'champion.yaml'
    outcomes = [
        read_or_refused(lambda: read_champion(file), file, content)
        for content in mutations((run / 'champion.yaml').read_bytes(), 'champion')
    ]
    assert any(outcomes)
