import hashlib

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.weights import load_weights


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
    with pytest.raises(ConfigurationError, match=r'no plain \.npz'):
        load_weights(str(path))


@pytest.mark.parametrize('content', [b'', b'not a zip file', b'PK\x03\x04 cut off'])
def test_what_is_no_archive_is_refused(tmp_path, content):
    path = tmp_path / 'broken.npz'
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=r'no plain \.npz'):
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


def test_a_single_array_is_no_archive(tmp_path):
    path = tmp_path / 'array.npy'
    np.save(path, np.eye(2))
    with pytest.raises(ConfigurationError, match=r'no plain \.npz'):
        load_weights(str(path))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigurationError, match='absent.npz: No such file'):
        load_weights(str(tmp_path / 'absent.npz'))
