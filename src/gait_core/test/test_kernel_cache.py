"""Processes that save kernels at once each find their own again."""

from importlib.metadata import entry_points
import multiprocessing

from numba.core.caching import IndexDataCacheFile
import pytest

from gait_core.kernel_cache import serialise_saves

KERNELS = 40


def cache(folder):
    return IndexDataCacheFile(str(folder), 'kernel', 'stamp')


def save_many(folder, barrier, process):
    serialise_saves()
    barrier.wait()
    for number in range(KERNELS):
        cache(folder).save((process, number), f'{process} {number}')


def test_numba_calls_it_before_it_compiles():
    (found,) = entry_points(group='numba_extensions', name='init')
    assert found.load() is serialise_saves


def test_what_processes_save_at_once_is_found_by_each(tmp_path):
    spawn = multiprocessing.get_context('spawn')
    barrier = spawn.Barrier(3)
    processes = [
        spawn.Process(target=save_many, args=(tmp_path, barrier, number)) for number in range(3)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60.0)
        assert process.exitcode == 0
    for process in range(3):
        for number in range(KERNELS):
            assert cache(tmp_path).load((process, number)) == f'{process} {number}'


def test_it_is_done_once_and_says_what_it_could_not_write(tmp_path):
    serialise_saves()
    before = IndexDataCacheFile.save
    serialise_saves()
    assert IndexDataCacheFile.save is before
    with pytest.raises(OSError, match='nowhere'):
        cache(tmp_path / 'nowhere').save('key', 'data')
