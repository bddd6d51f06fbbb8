# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Inputs of the command line: every argument of every command, and settings of `--set`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
import dataclasses
from functools import partial
from importlib import import_module
from random import Random
from typing import Any

from fuzzing.inputs import ANY, PIPE, REFUSED, Change, Input, Site, single
from fuzzing.schema_changes import NON_NEGATIVE
from gait_core import registry
from gait_core.parameters.declaration import declared_parameters
from gait_core.trial.scene import InitialState, Scene, SensorModel
from gait_tools.cli import COMMANDS, CommandParser

_VALID: Mapping[str, Sequence[str]] = {
    'walk': ('guroo', '--seconds', '0.04', '--json'),
    'evolve': (
        *('guroo_quick', '--generations', '1', '--workers', '1', '--run-dir', 'run', '--json'),
        *('--set', 'population=3', '--set', 'duration=0.2'),
    ),
    'study': ('nowhere', '--quick'),
    'replay': ('c.yaml', '--json'),
    'report': ('c.yaml', '--out', 'r.html', '--json'),
    'calibrate': ('guroo', '--preset', 'levelled', '--seconds', '0.1'),
    'check': ('guroo', '--json'),
    'adopt': ('nowhere.urdf', '--out', 'new'),
    'list': ('robots',),
    'bench': ('--only', 'nowhere'),
}
"""Arguments to which others are added. A valid study, adoption or benchmark would take long."""
_UNUSED = ('--ros', '--viewer', '--help', '--checks', '--card')
_NUMBERS = (
    ('many', '', '1,5', '0x10'),
    ('nan', 'inf', '-inf', '1e400', '9' * 400),
    ('1e300', '99999999999999999999999999'),
    ('-1',),
)
"""Groups of numbers that no option takes."""
_FRACTIONS = ('1.5', '1e-3', '99999999999999999999')
_NAMES = (('nowhere',), ('x' * 5000, '..', '/', '/dev/zero', 'pipe', 'a\nb', '\u202e', '%s', '-'))
_WRITTEN = ('/proc/nope/x', 'pipe', '/dev/full', '.', '/', 'x' * 5000, 'c.yaml/x')
_CANDIDATES = ('9/9', 'a/b', '-1/0', '0', '0/0/0', '9' * 400 + '/0', '/')
_VALUES: Mapping[str, Sequence[str]] = {
    'VX[,VY[,WZ]]': ('nan', 'inf,0,0', '1e300', '1,2,3,4', 'a', ',', '0.1,,0', '9' * 400),
    'NAME[:k=v,...]': (
        *('nowhere', 'rough:range=nan', 'rough:rang=1', 'rough:range=-1', 'rough:seed=-1'),
        *(
            'rough:range',
            'steps:height=1e300',
            'steps:cell=1e-9',
            'rough:seed=1.5',
            ':',
            'flat:a=1',
        ),
    ),
    'NAME=PATH': ('x=/proc/nope', 'x', '=x', 'x=', 'x=pipe', 'x=/dev/zero', 'x=c.yaml'),
    'G/I': _CANDIDATES,
    'ID': _CANDIDATES,
    'NAME=VALUE': (
        'x=1',
        'scene',
        '=1',
        'scene.=1',
        'scene.friction',
        '.=.',
        'gait..x=1',
        '[=1',
        f'{"a." * 3000}a=1',
        f'scene.friction={"[" * 3000}',
    ),
}
"""Values that are refused, by the word for a value in the help."""
_MakeInput = Callable[..., Input]
_SET_VALUES = ('nan', 'inf', '1e300', '9' * 400, 'word', '[1]', '{a: 1}', 'true', '')


def argument_sites(champion: bytes) -> dict[str, dict[str, Site]]:
    """Return the changes of arguments and settings; ``champion`` is the file of one."""
    make = partial(_input, {'c.yaml': champion, 'pipe': PIPE})
    arguments: dict[str, Site] = {
        'unknown command': single(make(('wlak', 'a1'))),
        'none': single(make(('',))),
    }
    for command in COMMANDS:
        parser = CommandParser()
        import_module(f'gait_tools.commands.{command}').add_arguments(parser)
        for action in parser._actions:
            flag = next(iter(action.option_strings), '')
            if flag not in _UNUSED:
                for number, change in enumerate(_argument_changes(make, command, action, flag)):
                    arguments[f'{command} {flag or action.dest} {number}'] = [change]
    settings: dict[str, Site] = {
        f'{command} {name}': [partial(_setting, make, command, name, values)]
        for command, name, values in _settings()
    }
    return {'arguments': arguments, 'settings': settings}


def _input(
    files: Mapping[str, bytes | str], words: Sequence[str], expected: str = REFUSED
) -> Input:
    shown = ' '.join(word[:60] for word in words)
    return Input(kind='arguments', change=shown, commands=(words,), files=files, expected=expected)


def _argument_changes(
    make: _MakeInput, command: str, action: argparse.Action, flag: str
) -> Iterator[Change]:
    """Yield the changes of an argument: its values, its name, and its absence."""
    valid = [command, *_VALID.get(command, ('nowhere',))]
    meaning = str(action.metavar or '')
    if flag:
        others = [[flag[:-1]], [f'{flag}s'], [f'{flag}=']] + [[flag]] * (action.nargs != 0)
        yield lambda random: make([*valid, *random.choice(others)])
    if action.nargs == 0:
        yield lambda random: make([*valid, f'{flag}=1'])
        return
    groups: Sequence[Sequence[str]] = _NAMES
    if action.type in (int, float):
        groups = [*_NUMBERS, _FRACTIONS] if action.type is int else _NUMBERS
    elif meaning in _VALUES:
        groups = [[value] for value in _VALUES[meaning]]
    is_written = meaning.startswith(('FILE', 'DIR'))
    for values in [_WRITTEN] if is_written else groups:
        yield partial(_value, make, valid, flag, values, ANY if is_written else REFUSED)


def _value(
    make: _MakeInput,
    valid: Sequence[str],
    flag: str,
    values: Sequence[str],
    expected: str,
    random: Random,
) -> Input:
    """Return an input with a random value of a flag or, without a flag, of the first argument."""
    value = random.choice(values)
    command, first, *rest = valid
    return make(
        [command, first, *rest, flag, value] if flag else [command, value, *rest], expected
    )


def _settings() -> Iterator[tuple[str, str, Sequence[str]]]:
    """Yield command, name and values of every setting of scene, gait and experiment."""
    parts: Mapping[str, Any] = {'': Scene, 'initial.': InitialState, 'sensors.': SensorModel}
    for prefix, kind in parts.items():
        for entry in dataclasses.fields(kind):
            if entry.type in ('float', 'int'):
                yield 'walk', f'scene.{prefix}{entry.name}', _SET_VALUES
    yield 'walk', 'settle_time', _SET_VALUES
    for name in ('population', 'repeats', 'seed', 'duration', 'scene.draw'):
        yield 'evolve', name, _SET_VALUES
    for info in declared_parameters(registry.controller('staged_walk').Params):
        if info.low is not None and info.high is not None:
            bounds = (f'{info.low - 1:g}', f'{2 * abs(info.high) + 1:g}', 'nan', 'word')
            yield 'walk', f'gait.{info.name}', bounds


def _setting(
    make: _MakeInput, command: str, name: str, values: Sequence[str], random: Random
) -> Input:
    """Return an input with one setting, sometimes under a misspelt name."""
    negative = ['-1'] if name.rpartition('.')[2] in NON_NEGATIVE else []
    pairs = [f'{name}={value}' for value in (*values, *negative)]
    return make(
        [
            command,
            *_VALID.get(command, ('nowhere',)),
            '--set',
            random.choice([*pairs, f'{name}x=1']),
        ]
    )
