"""Pieces of work: order, processes, resuming, files that were cut short."""

from __future__ import annotations

import math
import multiprocessing
import time

import pytest

from gait_core.errors import ConfigurationError
from gait_tools.study.tasks import work_off

CALLS = []


def counted(number):
    """Return a square, and note the call."""
    CALLS.append(number)
    return number * number


@pytest.fixture(autouse=True)
def no_calls():
    CALLS.clear()


def test_what_is_done_is_not_done_again(tmp_path):
    file = tmp_path / 'deep' / 'done.jsonl'
    assert work_off(counted, {'a': 3, 'b': 4}, file, 1) == {'a': 9, 'b': 16}
    assert work_off(counted, {'b': 4, 'c': 5, 'a': 3}, file, 1) == {'b': 16, 'c': 25, 'a': 9}
    assert CALLS == [3, 4, 5]


def test_a_line_cut_short_is_worked_out_again(tmp_path):
    file = tmp_path / 'done.jsonl'
    work_off(counted, {'a': 3, 'b': 4}, file, 1)
    whole = file.read_text()
    file.write_text(whole[:-5])
    assert work_off(counted, {'a': 3, 'b': 4}, file, 1) == {'a': 9, 'b': 16}
    assert CALLS == [3, 4, 4]
    assert file.read_text() == whole


def test_a_file_that_is_spoilt_is_named(tmp_path):
    file = tmp_path / 'done.jsonl'
    file.write_text('what\n{"key": "a", "value": 1}\n')
    with pytest.raises(ConfigurationError, match=r'done\.jsonl, line 1'):
        work_off(counted, {'a': 3}, file, 1)


def test_processes_give_the_same_as_one(tmp_path):
    pieces = {str(number): float(number) for number in range(5)}
    found = work_off(math.sqrt, pieces, tmp_path / 'two.jsonl', 2)
    assert found == work_off(math.sqrt, pieces, tmp_path / 'one.jsonl', 1)
    assert list(found) == list(pieces)


def test_an_error_in_a_process_is_raised(tmp_path):
    with pytest.raises(ValueError, match='math domain'):
        work_off(math.sqrt, {'a': -1.0, 'b': 4.0}, tmp_path / 'two.jsonl', 2)


def test_an_interrupt_ends_the_processes_and_keeps_what_is_done(tmp_path, monkeypatch):
    file = tmp_path / 'two.jsonl'

    def interrupted(value):
        raise KeyboardInterrupt

    monkeypatch.setattr('gait_tools.study.tasks.json.dumps', interrupted)
    with pytest.raises(KeyboardInterrupt):
        work_off(time.sleep, {str(number): 0.05 for number in range(400)}, file, 2)
    # 400 pieces take 10 s: processes that go on with the queue would still be there.
    assert multiprocessing.active_children() == []
    assert file.read_text() == ''
