# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Changes of plain data at every key of its schema, with the answer that each must get."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
import dataclasses
from dataclasses import dataclass, field
from functools import partial
import math
from random import Random
import re
import types
import typing
from typing import Any

from fuzzing.inputs import ACCEPTED, ANY, REFUSED
from gait_core.parameters.declaration import Parameters, declared_parameters
from gait_core.parameters.schema import NumberRange

Path = tuple[str | int, ...]
_ABSENT = object()
_WRONG: Mapping[Any, tuple[Any, ...]] = {
    float: ('fast', [1.0], {'a': 1.0}, True, None, '1e', '0x10', '1,5'),
    int: ('many', [1], {'a': 1}, True, 1.5, None, '1_0'),
    bool: ('maybe', 2, [True], {'a': True}, None),
    str: ({'a': 1}, ['a', 'b'], 1.5, None),
    tuple: ('three', 3.0, {'a': 1.0}, True),
    Mapping: ('named', 3.0, [1.0], True),
}
"""Values of another type, by the type of a key."""
_ENDLESS = (math.nan, math.inf, -math.inf, 10**400, -(10**400))
"""Numbers that are never valid."""
_HUGE = (1e300, -1e300, 10**26)
"""Numbers that no quantity of a robot or a trial has."""
_TEXTS = ('', 'x' * 2000, 'a\0b', '../../..', '/dev/zero', '\u202e\n', '%s{0}')
_TYPES = {'float': float, 'int': int, 'bool': bool, 'str': str, 'floats': tuple[float, ...]}
NON_NEGATIVE = frozenset(
    'velocity effort damping friction mass radius stiffness strength rise gain rate noise columns '
    'rows duration clearance restitution length_scale mass_factor physics_step control_period '
    'settle_time delay_ticks generations population repeats start_spread ratio step '
    'wall_time trials stagnation max_tilt min_height_ratio moved joint_position_noise '
    'joint_velocity_noise orientation_noise angular_velocity_noise acceleration_noise draw'.split()
)
"""Names of quantities that are never negative."""


@dataclass(frozen=True, kw_only=True)
class Schema:
    """
    Schema of a file.

    Attributes
    ----------
    kind : type
        Dataclass, or any type that ``gait_core.parameters.schema`` reads.
    opaque : mapping of str to type
        Schema of keys that the dataclass declares as any mapping.
    free_texts, free_names : collection of str
        Keys whose text, or whose keys, may be anything.
    free : frozenset of str
        Keys below which anything is valid.
    fixed : collection of str
        Keys whose number cannot be changed alone.
    unbounded : frozenset of str
        Keys, or their owners, of records and weights: any finite number is valid.

    """

    kind: Any
    opaque: Mapping[str, Any] = field(default_factory=dict)
    free_texts: Collection[str] = ()
    free_names: Collection[str] = ()
    free: frozenset[str] = frozenset()
    fixed: Collection[str] = ()
    unbounded: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class DataChange:
    """Changed data, the change in words, and the expected answer."""

    data: Any
    text: str
    expected: str


ChangeMaker = Callable[[Random], DataChange]


def changes(schema: Schema, base: Any) -> dict[str, list[ChangeMaker]]:
    """Return the changes at every key of a schema, by the key's dotted name."""
    found: dict[str, list[ChangeMaker]] = {}
    for path, kind, value in _keys(schema, schema.kind, base, ()):
        # Numbered keys, such as the weights of a network, count as one.
        name = re.sub(r'(?<=[^.\d])\d+$', '#', '.'.join(map(str, path)))
        found.setdefault(name, []).extend(_changes_at(schema, base, path, kind, value))
    return found


def _keys(schema: Schema, kind: Any, value: Any, path: Path) -> Iterator[tuple[Path, Any, Any]]:
    """Yield path, type and value of every key; values are absent where the base has none."""
    if isinstance(value, Mapping) and path and path[-1] in schema.opaque:
        kind = schema.opaque[str(path[-1])]
    for key, inner in _items(_plain(kind), value):
        has = key in value if isinstance(value, Mapping) else isinstance(key, int)
        item = value[key] if has else _ABSENT
        yield (*path, key), inner, item
        if item is not _ABSENT and item is not None:
            yield from _keys(schema, inner, item, (*path, key))


def _items(kind: Any, value: Any) -> Iterator[tuple[str | int, Any]]:
    """Yield the keys of a value with their types: declared ones, else those that it has."""
    arguments = typing.get_args(kind)
    if isinstance(kind, type) and issubclass(kind, Parameters):
        for info in declared_parameters(kind):
            if info.kind == 'legs':
                continue
            inner: Any = _TYPES[info.kind]
            if info.kind in ('float', 'int') and info.low is not None and info.high is not None:
                inner = typing.Annotated[inner, NumberRange(info.low, info.high)]
            yield info.name, inner
    elif dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind, include_extras=True)
        yield from ((entry.name, hints[entry.name]) for entry in dataclasses.fields(kind))
    elif isinstance(value, Mapping):
        # A champion's lists of records are mappings of item_0, item_1, ...
        item = arguments[0 if typing.get_origin(kind) is tuple else 1] if arguments else Any
        yield from ((key, _type_of(value[key]) if item is Any else item) for key in value)
    elif isinstance(value, list) and value:
        yield 0, arguments[0] if arguments and arguments[0] is not Any else _type_of(value[0])


def _type_of(value: Any) -> Any:
    """Return the type of a value without a schema."""
    if isinstance(value, dict):
        return Mapping[str, Any]
    return tuple[Any, ...] if isinstance(value, list) else type(value)


def _plain(kind: Any) -> Any:
    """Return a type without None and without bounds."""
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        kind = next(item for item in typing.get_args(kind) if item is not type(None))
    return typing.get_args(kind)[0] if typing.get_origin(kind) is typing.Annotated else kind


def _bounds(kind: Any) -> NumberRange | None:
    for item in (kind, *typing.get_args(kind)):
        if typing.get_origin(item) is typing.Annotated:
            return typing.get_args(item)[1]  # type: ignore[no-any-return]
    return None


def _changes_at(
    schema: Schema, base: Any, path: Path, kind: Any, value: Any
) -> Iterator[ChangeMaker]:
    """Yield the changes at a key."""
    # An item of a list has the name of the list.
    name, plain = next(key for key in reversed(path) if isinstance(key, str)), _plain(kind)
    type_ = Mapping if dataclasses.is_dataclass(plain) else typing.get_origin(plain) or plain
    type_ = type_ if type_ in _WRONG or type_ is Any else Mapping
    is_free = not schema.free.isdisjoint(path[:-1])

    def give(values: Collection[Any], expected: str) -> ChangeMaker:
        """Return the change to one of some values."""
        return partial(_give, base, path, values, ANY if is_free else expected)

    is_optional = type(None) in typing.get_args(kind)
    wrong = [item for item in _WRONG.get(type_, ()) if not (item is None and is_optional)]
    if wrong:
        yield give(wrong, REFUSED)
    if type_ in (float, int):
        yield give(_ENDLESS, REFUSED)
        yield give(_HUGE, REFUSED if schema.unbounded.isdisjoint(path[-2:]) else ANY)
        yield from (give(*item) for item in _numbers(schema, name, kind, value))
    if type_ is str and value is not _ABSENT:
        is_known = value and name not in schema.free_texts
        yield give([f'{value}x', f'x{value}', 'nowhere'], REFUSED if is_known else ANY)
        yield give(_TEXTS, ANY)
    if type_ is tuple and isinstance(value, list):
        has_length = Ellipsis not in typing.get_args(plain)
        yield give([value + value, value[:-1]], REFUSED if has_length else ANY)
    if isinstance(path[-1], str) and value is not _ABSENT:
        is_new = is_free or (len(path) > 1 and path[-2] in schema.free_names)
        for key in (f'{name}{name[-1] if name[-1].isalpha() else "x"}', name[1:] or 'xx'):
            renamed = partial(_with_key, base, path, key, ANY if is_new else REFUSED)
            yield renamed
        yield partial(_with_key, base, path, '', ANY)


def _numbers(schema: Schema, name: str, kind: Any, value: Any) -> Iterator[tuple[list[Any], str]]:
    """Yield numbers out of and within the bounds of a key, with the expected answer."""
    bounds = _bounds(kind)
    if bounds is not None:
        yield [bounds.low - 1, *([2 * abs(bounds.high) + 1] * math.isfinite(bounds.high))], REFUSED
    elif name in NON_NEGATIVE:
        yield [-1, -1e-3], REFUSED
    if value is not _ABSENT and value is not None and name not in schema.fixed:
        is_whole = _plain(kind) is int
        near = value + 1 if is_whole else value * 0.999 or 1e-4
        if bounds is not None and not bounds.low <= near <= bounds.high:
            near = value - 1 if is_whole else value * 1.001
        yield [near], ACCEPTED


def _give(
    base: Any, path: Path, values: Collection[Any], expected: str, random: Random
) -> DataChange:
    """Return data with one of some values at a path."""
    new = random.choice(list(values))
    text = f'{".".join(map(str, path))}: {str(new)[:60]}'
    return DataChange(data=replaced(base, path, new), text=text, expected=expected)


def _with_key(base: Any, path: Path, name: str, expected: str, random: Random) -> DataChange:
    """Return data with another name of the key at a path, or without it."""
    owner = base
    for key in path[:-1]:
        owner = owner[key]
    changed = {name if k == path[-1] else k: v for k, v in owner.items()}
    changed.pop('', None)
    text = f'{".".join(map(str, path))} written {name or "nowhere"}'
    return DataChange(data=replaced(base, path[:-1], changed), text=text, expected=expected)


def replaced(data: Any, path: Path, value: Any) -> Any:
    """Return plain data with the value at a path."""
    if not path:
        return value
    if isinstance(data, list):
        return [
            replaced(item, path[1:], value) if i == path[0] else item
            for i, item in enumerate(data)
        ]
    return {**data, path[0]: replaced(data.get(path[0], {}), path[1:], value)}
