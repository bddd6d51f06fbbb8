# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The fuzzer sees what a bad input does, visits every key, and finds nothing in 200 inputs."""

from dataclasses import dataclass, fields
import importlib
from importlib.util import find_spec
import os
from pathlib import Path
from random import Random
import signal
import subprocess
import sys
import time
from typing import Annotated

import pytest

from gait_core.parameters.schema import NumberRange

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 300  # characters of a refusal


@pytest.fixture(scope='module')
def fuzzing():
    folder = str(ROOT / 'tools')
    sys.path.insert(0, folder)
    for name in ('inputs', 'judge', 'schema_changes'):
        importlib.import_module(f'fuzzing.{name}')
    yield sys.modules['fuzzing']
    sys.path.remove(folder)


def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def refuse(line):
    print(line, file=sys.stderr)
    return 2


ENDS = {
    'a traceback': (lambda: 1 / 0, 'traceback: ZeroDivisionError'),
    'a signal': (lambda: os.kill(os.getpid(), signal.SIGKILL), 'killed by SIGKILL'),
    'a hang': (lambda: spin(60), 'not done in 1 s'),
    'code': (lambda: Path('executed').touch() or refuse('gait: no'), 'code was executed'),
    'silence': (lambda: 0, 'accepted without a word'),
    'no line': (lambda: 2, 'refused without a line'),
    'two lines': (lambda: refuse('warning: a\ngait: b'), 'a refusal of several lines'),
    'a long line': (lambda: refuse('gait: ' + 'a' * LIMIT), 'a refusal of 306 characters'),
    'a refusal': (lambda: refuse('gait: x is 3, outside [0, 1]; nearest valid: 1'), ''),
}


@pytest.mark.parametrize('name', ENDS)
def test_each_bad_end_of_an_input_is_seen(fuzzing, monkeypatch, name):
    act, expected = ENDS[name]
    monkeypatch.setattr(fuzzing.judge, 'run_command', lambda words: act())
    monkeypatch.setattr(fuzzing.judge, 'TIME_LIMIT', 1)
    case = fuzzing.inputs.Input(
        kind='test', change='a change', commands=(('walk',),), expected=fuzzing.inputs.REFUSED
    )
    fault = fuzzing.judge.find_fault(case, fuzzing.judge.run_input(case))
    assert fault.startswith(expected) and bool(fault) == bool(expected)


@dataclass(frozen=True, kw_only=True)
class Part:
    size: Annotated[float, NumberRange(0.0, 2.0)]
    name: str = ''


@dataclass(frozen=True, kw_only=True)
class Whole:
    parts: tuple[Part, ...] = ()
    count: int = 1
    new: bool = False


def test_every_key_of_a_schema_is_changed(fuzzing):
    schema = fuzzing.schema_changes.Schema(kind=Whole)
    made = fuzzing.schema_changes.changes(schema, {'parts': [{'size': 1.0, 'name': 'a'}]})
    assert set(made) == {
        *(field.name for field in fields(Whole)),
        'parts.0',
        'parts.0.size',
        'parts.0.name',
    }
    sizes = [make(Random(1)) for make in made['parts.0.size']]
    values = [(change.expected, change.data['parts'][0].get('size')) for change in sizes]
    assert ('refused', -1.0) in values or ('refused', 5.0) in values
    assert ('accepted', 0.999) in values


@pytest.mark.slow
def test_200_inputs_are_refused_in_a_line_or_accepted_with_an_effect():
    pytest.importorskip('pybullet')
    if find_spec('gait_studies') is None:
        pytest.skip('some samples are champions of studies')
    command = [sys.executable, str(ROOT / 'tools' / 'fuzz.py'), '--inputs', '200']
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
