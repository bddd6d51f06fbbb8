# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

import hashlib
import tracemalloc
import zipfile

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.files.archives import load_weights


@pytest.fixture
def file(tmp_path):
    path = tmp_path / 'weights.npz'
    np.savez(path, layer=np.eye(2), bias=np.arange(3))
    return path


def test_arrays_come_back_by_name(file):
    weights = load_weights(str(file), hashlib.sha256(file.read_bytes()).hexdigest())
    np.testing.assert_array_equal(weights['layer'], np.eye(2))
    np.testing.assert_array_equal(weights['bias'], [0, 1, 2])


def test_another_content_is_refused_by_its_hash(file):
    with pytest.raises(ConfigurationError, match='SHA-256.*expected 000000000000'):
        load_weights(str(file), '0' * 64)


def test_objects_are_never_unpickled(tmp_path):
    path = tmp_path / 'objects.npz'
    np.savez(path, layer=np.array([{'a': 1}], dtype=object))
    with pytest.raises(ConfigurationError, match=r'not a plain \.npz'):
        load_weights(str(path))


@pytest.mark.parametrize('content', [b'', b'not a zip file', b'PK\x03\x04 cut off'])
def test_what_is_no_archive_is_refused(tmp_path, content):
    path = tmp_path / 'broken.npz'
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=r'not a plain \.npz'):
        load_weights(str(path))


def test_an_archive_without_arrays_is_refused(tmp_path):
    np.savez(tmp_path / 'none.npz')
    with pytest.raises(ConfigurationError, match=r'none\.npz .*holds no array'):
        load_weights(str(tmp_path / 'none.npz'))


@pytest.mark.parametrize('save', [np.savez, np.savez_compressed])
def test_an_archive_with_any_byte_of_it_changed_is_read_or_refused(tmp_path, save):
    path = tmp_path / 'damaged.npz'
    save(path, layer=np.random.default_rng(1).normal(size=20).astype(np.float32))
    sound = path.read_bytes()
    for at in range(len(sound)):
        path.write_bytes(sound[:at] + bytes([sound[at] ^ 0xFF]) + sound[at + 1 :])
        try:
            load_weights(str(path))
        except ConfigurationError as error:
            assert 'damaged.npz' in str(error) and '\n' not in str(error)


def damaged_archive(path, entries, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, 'w', method) as archive:
        for name, content in entries:
            archive.writestr(name, content)


def header(shape, dtype='<f8'):
    text = repr({'descr': dtype, 'fortran_order': False, 'shape': shape}).encode()
    return b'\x93NUMPY\x01\x00' + len(text).to_bytes(2, 'little') + text


@pytest.mark.parametrize(
    ('entries', 'method', 'reason'),
    [
        (
            [('a.npy', bytes(300 * 2**20))],
            zipfile.ZIP_DEFLATED,
            'larger than the limit of 256 MiB',
        ),
        (
            [(f'{i}.npy', bytes(30 * 2**20)) for i in range(9)],
            zipfile.ZIP_DEFLATED,
            'larger than the limit of 256 MiB',
        ),
        ([('a.npy', bytes(2**20))], zipfile.ZIP_BZIP2, 'compression'),
        ([('a.npy', bytes(2**20))], zipfile.ZIP_LZMA, 'compression'),
        ([('a.npy', header((10**12,)))], zipfile.ZIP_DEFLATED, 'length differs from its header'),
        ([('a.npy', header((10**12,), '|V0'))], zipfile.ZIP_DEFLATED, 'objects'),
        ([('a.npy', header((-1,)))], zipfile.ZIP_DEFLATED, 'length differs from its header'),
        (
            [('a.npy', header((2,)) + bytes(17))],
            zipfile.ZIP_DEFLATED,
            'length differs from its header',
        ),
        ([(f'{i}.npy', b'') for i in range(1001)], zipfile.ZIP_STORED, 'more than 1000 arrays'),
    ],
    ids=['one', 'many', 'bz2', 'lzma', 'shape', 'nothing', 'negative', 'long', 'entries'],
)
def test_no_more_is_unpacked_than_fits(tmp_path, entries, method, reason):
    path = tmp_path / 'bomb.npz'
    damaged_archive(path, entries, method)
    tracemalloc.start()
    try:
        with pytest.raises(ConfigurationError, match=rf'bomb\.npz .*{reason}'):
            load_weights(str(path))
        assert tracemalloc.get_traced_memory()[1] < 20 * 2**20
    finally:
        tracemalloc.stop()


def test_a_single_array_is_no_archive(tmp_path):
    path = tmp_path / 'array.npy'
    np.save(path, np.eye(2))
    with pytest.raises(ConfigurationError, match=r'not a plain \.npz'):
        load_weights(str(path))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigurationError, match='absent.npz: No such file'):
        load_weights(str(tmp_path / 'absent.npz'))
