# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Pieces of work: order, processes, resuming, files that were cut short."""

from __future__ import annotations

import importlib
import json
import math
import multiprocessing
import time

import pytest

from gait_core.errors import ConfigurationError, RunStopped
from gait_tools.study.tasks import run_tasks


def test_what_is_done_is_not_done_again(tmp_path):
    file = tmp_path / 'deep' / 'done.jsonl'
    assert run_tasks(math.sqrt, {'a': 9.0, 'b': 16.0}, file, 1) == {'a': 3.0, 'b': 4.0}
    # Other numbers under the keys would give other results, were they worked off again.
    pieces = {'b': 1.0, 'c': 25.0, 'a': 1.0}
    assert run_tasks(math.sqrt, pieces, file, 1) == {'b': 4.0, 'c': 5.0, 'a': 3.0}


def test_a_line_cut_short_is_worked_out_again(tmp_path):
    file = tmp_path / 'done.jsonl'
    run_tasks(math.sqrt, {'a': 9.0, 'b': 16.0}, file, 1)
    file.write_text(file.read_text()[:-5])
    assert run_tasks(math.sqrt, {'a': 1.0, 'b': 25.0}, file, 1) == {'a': 3.0, 'b': 5.0}
    assert len(file.read_text().splitlines()) == 2


def test_a_file_that_is_spoilt_is_named(tmp_path):
    file = tmp_path / 'done.jsonl'
    file.write_text('what\n{"key": "a", "value": 1}\n')
    with pytest.raises(ConfigurationError, match=r'done\.jsonl, line 1'):
        run_tasks(math.sqrt, {'a': 9.0}, file, 1)


def test_processes_give_the_same_as_one(tmp_path):
    pieces = {str(number): float(number) for number in range(5)}
    found = run_tasks(math.sqrt, pieces, tmp_path / 'two.jsonl', 2)
    assert found == run_tasks(math.sqrt, pieces, tmp_path / 'one.jsonl', 1)
    assert list(found) == list(pieces)


def test_an_error_in_a_process_is_raised(tmp_path):
    with pytest.raises(RuntimeError, match='ValueError: math domain'):
        run_tasks(math.sqrt, {'a': -1.0, 'b': 4.0}, tmp_path / 'two.jsonl', 2)


FATAL = '''
"""Pieces of work that end their process."""
import os
from pathlib import Path
import signal


def killed_once(mark):
    """Kill this process the first time."""
    if not Path(mark).exists():
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return mark


def killed(deadly):
    """Kill this process if told."""
    if deadly:
        os.kill(os.getpid(), signal.SIGKILL)
    return deadly
'''


@pytest.fixture
def fatal(tmp_path, monkeypatch):
    (tmp_path / 'gait_fatal_for_tests.py').write_text(FATAL)
    monkeypatch.syspath_prepend(tmp_path)
    return importlib.import_module('gait_fatal_for_tests')


def test_a_piece_whose_process_is_killed_is_worked_off_again(tmp_path, fatal, capsys):
    pieces = {'a': str(tmp_path / 'one'), 'b': str(tmp_path / 'two')}
    assert run_tasks(fatal.killed_once, pieces, tmp_path / 'done.jsonl', 2) == pieces
    lines = sorted(line.rpartition(' was ')[2] for line in capsys.readouterr().err.splitlines())
    assert lines == ['killed by SIGKILL in task a', 'killed by SIGKILL in task b']


def test_a_piece_that_ends_its_processes_is_named_and_the_others_are_kept(tmp_path, fatal):
    file = tmp_path / 'done.jsonl'
    pieces = {'a': False, 'b': True}
    with pytest.raises(
        RunStopped, match='3 workers died in task b, the last one: worker .* SIGKILL'
    ):
        run_tasks(fatal.killed, pieces, file, 1)
    assert json.loads(file.read_text()) == {'key': 'a', 'value': False}


def test_an_interrupt_ends_the_processes_and_keeps_what_is_done(tmp_path, monkeypatch):
    file = tmp_path / 'two.jsonl'

    def interrupted(value):
        raise KeyboardInterrupt

    monkeypatch.setattr('gait_tools.study.tasks.json.dumps', interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_tasks(time.sleep, {str(number): 0.05 for number in range(400)}, file, 2)
    # 400 pieces take 10 s: processes that go on with the queue would still be there.
    assert multiprocessing.active_children() == []
    assert file.read_text() == ''
