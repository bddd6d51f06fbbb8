# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Files are read within bounds, in one line where not, and written whole with the umask's mode."""

from __future__ import annotations

import os
from pathlib import Path
import stat
import subprocess
import sys
import threading

import pytest

from gait_core.errors import ConfigurationError
from gait_core.files.access import (
    expand_user,
    new_folder,
    read_bytes,
    read_json,
    read_text,
    write_atomically,
)
from gait_core.files.archives import load_weights
from gait_core.parameters.yaml_file import LIVE_FILE_LIMITS
from gait_core.robot.urdf.xml_source import read_xml
from gait_core.trial.champion import read_gait_parameters

READERS = {
    'bytes': read_bytes,
    'text': read_text,
    'JSON': read_json,
    'parameters': read_gait_parameters,
    'weights': lambda path: load_weights(str(path)),
    'description': read_xml,
}


def refused(read, path):
    """Return the one line by which a file is refused, by name."""
    found = []

    def run():
        try:
            read(path)
        except ConfigurationError as error:
            found.append(str(error))

    # What waits for a pipe's writer is told from what refuses it.
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(20.0)
    assert found and '\n' not in found[0] and path.name in found[0]
    return found[0]


@pytest.fixture(params=['pipe', 'folder', 'device', 'circle', 'huge', 'absent'])
def odd(request, tmp_path):
    path = tmp_path / request.param
    if request.param == 'pipe':
        os.mkfifo(path)
    elif request.param == 'folder':
        path.mkdir()
    elif request.param == 'device':
        path.symlink_to('/dev/zero')
    elif request.param == 'circle':
        path.symlink_to(path)
    elif request.param == 'huge':
        path.touch()
        os.truncate(path, 2**40)
    return path


@pytest.mark.parametrize('read', READERS.values(), ids=READERS)
def test_only_a_regular_file_of_bounded_size_is_read(odd, read):
    assert odd.name in refused(read, odd)


def test_a_description_is_read_within_bounds_with_what_it_includes(odd, tmp_path):
    file = tmp_path / 'robot.xacro'
    file.write_text(
        '<robot xmlns:xacro="http://ros.org/wiki/xacro" name="r">'
        f'<xacro:include filename="{odd}"/></robot>'
    )
    with pytest.raises(ConfigurationError, match=odd.name):
        read_xml(file)


def test_a_pipe_that_takes_the_place_of_a_file_does_not_wait(tmp_path, monkeypatch):
    path, real = tmp_path / 'gait.yaml', os.open
    path.write_text('a: 1')

    def swapped(*arguments, **options):
        path.unlink()
        os.mkfifo(path)
        return real(*arguments, **options)

    monkeypatch.setattr(os, 'open', swapped)
    assert 'pipe' in refused(read_bytes, path)


@pytest.mark.parametrize('name', ['a\0b', 300 * 'a'])
def test_a_name_that_no_file_has_is_refused(tmp_path, name):
    with pytest.raises(ConfigurationError) as caught:
        read_bytes(tmp_path / name)
    assert '\n' not in str(caught.value)


def test_a_file_of_just_the_limit_is_read(tmp_path):
    path = tmp_path / 'file'
    path.write_bytes(b'12345')
    assert read_bytes(path, 5) == b'12345'
    with pytest.raises(ConfigurationError, match='larger than the limit of 4 bytes'):
        read_bytes(path, 4)


@pytest.mark.parametrize(
    ('content', 'message'),
    [
        (
            '#' * (LIVE_FILE_LIMITS.size + 1),
            f'larger than the limit of {LIVE_FILE_LIMITS.size} bytes',
        ),
        (
            '/**: {ros__parameters: {gait: {p: [' + '1,' * LIVE_FILE_LIMITS.values + ']}}}',
            f'more than {LIVE_FILE_LIMITS.values} values',
        ),
    ],
)
def test_a_gait_is_read_within_the_time_that_a_stop_may_wait(tmp_path, content, message):
    path = tmp_path / 'gait.yaml'
    path.write_text(content)
    assert message in refused(read_gait_parameters, path)


def test_what_is_no_text_is_refused_with_its_place(tmp_path):
    path = tmp_path / 'file'
    path.write_bytes(b'ab\xff')
    with pytest.raises(ConfigurationError, match='byte 2.*UTF-8'):
        read_text(path)


@pytest.mark.parametrize('text', ['', '{', 100_000 * '[', '{"a": ' + 5000 * '1' + '}'])
def test_what_is_no_json_is_refused(tmp_path, text):
    path = tmp_path / 'file'
    path.write_text(text)
    assert 'not JSON' in refused(read_json, path)


@pytest.mark.parametrize('text', ['{"a": 1, "a": 1}', '[{"b": {"a": 1, "c": 2, "a": 3}}]'])
def test_no_value_of_a_repeated_json_key_is_lost(tmp_path, text):
    path = tmp_path / 'file'
    path.write_text(text)
    assert refused(read_json, path) == f"{path}: the key 'a' is written twice"


@pytest.mark.parametrize('mask', [0o077, 0o027, 0o002])
def test_the_mode_of_a_new_file_follows_the_umask(tmp_path, mask):
    before = os.umask(mask)
    try:
        write_atomically(tmp_path / 'file', 'content')
        with new_folder(tmp_path / 'folder') as folder:
            folder.mkdir()
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / 'file').stat().st_mode) == 0o666 & ~mask
    assert stat.S_IMODE((tmp_path / 'folder').stat().st_mode) == 0o777 & ~mask


def test_a_text_with_part_of_a_name_that_is_no_utf_8_is_refused(tmp_path):
    with pytest.raises(ConfigurationError, match='page.html cannot be written'):
        write_atomically(tmp_path / 'page.html', 'r\udcff')
    assert not list(tmp_path.iterdir())


def test_a_failed_write_names_the_file_that_was_asked_for(tmp_path):
    with pytest.raises(OSError) as caught:
        write_atomically(tmp_path, 'gait')
    assert caught.value.filename == str(tmp_path)
    if Path('/dev/full').is_char_device():
        with pytest.raises(OSError) as caught:
            write_atomically(Path('/dev/full'), 'gait')
        assert caught.value.filename == '/dev/full' and Path('/dev/full').is_char_device()


def test_a_device_is_written_to_and_stays_one(tmp_path):
    pipe = tmp_path / 'pipe'
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomically(pipe, 'gait')
        assert os.read(reader, 10) == b'gait'
    finally:
        os.close(reader)
    assert pipe.is_fifo() and os.listdir(tmp_path) == ['pipe']


def test_a_pipe_that_nobody_reads_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / 'pipe')
    with pytest.raises(OSError, match='No such device') as caught:
        write_atomically(tmp_path / 'pipe', 'gait')
    assert caught.value.filename == str(tmp_path / 'pipe')


def test_a_file_of_the_longest_name_is_written(tmp_path):
    path = tmp_path / (255 * 'a')
    write_atomically(path, 'content')
    assert path.read_text() == 'content' and len(os.listdir(tmp_path)) == 1


def test_a_folder_comes_whole_or_not_at_all(tmp_path):
    with pytest.raises(OSError, match='full'), new_folder(tmp_path / 'folder') as folder:
        folder.mkdir()
        (folder / 'half').touch()
        raise OSError('full')
    assert not os.listdir(tmp_path)
    (tmp_path / 'folder').mkdir()
    with new_folder(tmp_path / 'folder') as folder:
        assert folder.name == 'folder'
        folder.mkdir()
        (folder / 'whole').touch()
    assert os.listdir(tmp_path / 'folder') == ['whole'] and os.listdir(tmp_path) == ['folder']


@pytest.mark.parametrize('end', ['', 'raise KeyboardInterrupt', 'sys.exit(3)'])
def test_a_temporary_folder_goes_with_its_process(end):
    code = f"""
import sys
from gait_core.files.access import temporary_folder
folder = temporary_folder('gait_test_')
(folder / 'file').touch()
print(folder, flush=True)
{end}
"""
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    folder = Path(done.stdout.strip())
    assert folder.name.startswith('gait_test_') and not folder.exists()


def test_the_home_folder_of_an_unknown_user_does_not_exist():
    assert expand_user('~nobody_of_this_name/x') == Path('~nobody_of_this_name/x')
    assert expand_user('~/x') == Path.home() / 'x'
