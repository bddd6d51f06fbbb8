# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Typed reading of plain data, with file, line and column of every mistake.

The schema of a value is a type annotation: of a dataclass whose fields are read by name, of a
list, of a mapping by name, or of a number, text or flag. ``Annotated[float, NumberRange(...)]``
is a number with bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
import dataclasses
from dataclasses import dataclass
from functools import cache
import math
from pathlib import Path
import re
import types
import typing
from typing import Any

from gait_core.errors import (
    ConfigurationError,
    excerpt,
    name_hint,
    unknown_name_error,
)
from gait_core.parameters.declaration import Parameters, parameter_info
from gait_core.parameters.yaml_file import (
    EDITED_FILE_LIMITS,
    Document,
    FileLimits,
    KeyPath,
    read_document,
)

_SCALARS = {float: 'a number', int: 'a whole number', bool: 'true or false', str: 'text'}
# YAML 1.1 reads a number with an exponent but no point, 1e-3, as text.
_EXPONENT = re.compile(r'[-+]?\d+(\.\d*)?[eE][-+]?\d+')


@dataclass(frozen=True)
class NumberRange:
    """Inclusive bounds of a number; for a whole number they are whole."""

    low: float
    high: float
    unit: str = ''

    def check(self, value: float, location: Location) -> None:
        """Raise ConfigurationError, with the nearest valid number, for a number out of bounds."""
        if not self.low <= value <= self.high:
            nearest_valid = min(max(value, self.low), self.high)
            shown, low, high, valid = map(
                _format_number, (value, self.low, self.high, nearest_valid)
            )
            unit = f' {self.unit}' if self.unit else ''
            raise ConfigurationError(
                f'{location} is {shown}{unit}, outside [{low}, {high}]; nearest valid: {valid}'
            )


Coordinate = typing.Annotated[float, NumberRange(-1e6, 1e6)]
"""Position, angle or direction in a file [m, rad or 1]; beyond the range it is a mistake."""


@dataclass(frozen=True)
class Source:
    """
    File from which data was read.

    Attributes
    ----------
    name : str
        For messages; usually the path.
    document : Document or None
        ``None``: positions are not known.
    within : tuple of str or int
        Keys in the document that lead to the data.
    replaced : mapping
        Values from elsewhere that replaced those of the file; nested.

    """

    name: str = ''
    document: Document | None = None
    within: KeyPath = ()
    replaced: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def locate(self, keys: KeyPath) -> str:
        """Return ``FILE, line 3, column 5`` of a value; empty for a replaced one."""
        if self._is_replaced(keys):
            return ''
        keys = (*self.within, *keys)
        position = self.document.position(keys) if self.document and keys else ''
        return f'{self.name}, {position}' if position else self.name

    def written_text(self, keys: KeyPath) -> str:
        """Return a number, truth value or text as it is written in the file, without quotes."""
        return self.document.written_text((*self.within, *keys)) if self.document else ''

    def _is_replaced(self, keys: KeyPath) -> bool:
        """Return whether a value, or a part of it, replaced that of the file."""
        replaced: Any = self.replaced
        for key in keys:
            if not isinstance(replaced, Mapping):
                return True
            if key not in replaced:
                return False
            replaced = replaced[key]
        return bool(replaced) if isinstance(replaced, Mapping) else True


class Location:
    """
    Location of a value in data from a user: file, line, column and dotted name.

    Parameters
    ----------
    key : str or int
        Key in the parent's mapping or index in its list; of the whole data a name for messages.
    source : Source
    parent : Location or None
    is_top : bool
        Whether names begin with the key, although there is a parent.

    Examples
    --------
    >>> str(Location('scene') / 'pushes' / 0 / 'force')
    'scene.pushes[0].force'
    >>> str(Location() / 'limits' / '.*_hip' / 'upper')
    "limits['.*_hip'].upper"

    """

    def __init__(
        self,
        key: str | int = '',
        source: Source | None = None,
        parent: Location | None = None,
        is_top: bool = False,
    ) -> None:
        self._key, self._source, self._parent = key, source or _NO_SOURCE, parent
        self._is_top = is_top or parent is None

    def __truediv__(self, key: str | int) -> Location:
        """Return the location of a value in this mapping or list."""
        return Location(key, self._source, self)

    def as_top(self) -> Location:
        """Return this location with names that begin with its key: ``scene``, not ``a.scene``."""
        return Location(self._key, self._source, self._parent, is_top=True)

    @property
    def name(self) -> str:
        """Dotted name."""
        if self._parent is None or self._is_top:
            return str(self._key)
        owner, key = self._parent.name, self._key
        if isinstance(key, int):
            return f'{owner}[{key}]'
        if not re.fullmatch(r'[\w-]+', key):
            return f'{owner}[{excerpt(repr(key))}]'
        return f'{owner}.{key}' if owner else key

    @property
    def position(self) -> str:
        """File, line and column, as far as they are known; empty for other data."""
        return self._source.locate(self._keys)

    @property
    def written_text(self) -> str:
        """Number, truth value or text as it is written in the file, without quotes."""
        return self._source.written_text(self._keys)

    @property
    def owner(self) -> str:
        """Location of this key and name of the mapping that it is in, for a message."""
        return _join_message(self.position, self._parent.name if self._parent else '')

    @property
    def _keys(self) -> KeyPath:
        return () if self._parent is None else (*self._parent._keys, self._key)

    def __str__(self) -> str:
        """Return location and name, for a message."""
        return _join_message(self.position, self.name)

    @contextmanager
    def locate_errors(self) -> Iterator[None]:
        """Begin the message of a ConfigurationError with this position, if it is known."""
        try:
            yield
        except ConfigurationError as error:
            if not self.position:
                raise
            raise ConfigurationError(_join_message(self.position, str(error))) from error

    def error(self, problem: object) -> ConfigurationError:
        """Return an error that begins with the location; the data as a whole has no name."""
        where = self.position if self._parent is None else str(self)
        return ConfigurationError(_join_message(where, str(problem)))

    def type_error(self, value: object, expected: str) -> ConfigurationError:
        """Return the error of a value of another type."""
        subject = str(self) or 'it'
        return ConfigurationError(f'{subject} is {excerpt(repr(value))}, expected {expected}')

    def missing_error(self) -> ConfigurationError:
        """Return the error of an absent value."""
        return ConfigurationError(f'{self} is missing')

    def unknown_key_error(self, valid: Iterable[str]) -> ConfigurationError:
        """Return the error of an unknown key, with the nearest valid one."""
        prefix = f'{self._parent.name}.' if self._parent and self._parent.name else ''
        hint = name_hint(str(self._key), valid, prefix)
        return ConfigurationError(
            _join_message(self.position, f"unknown key '{excerpt(self.name)}': {hint}")
        )


_NO_SOURCE = Source()


def _format_number(value: float) -> str:
    return excerpt(value) if isinstance(value, int) else f'{value:g}'


def _join_message(*parts: str) -> str:
    return ': '.join(filter(None, parts))


def read_file(
    kind: Any, path: Path, limits: FileLimits = EDITED_FILE_LIMITS
) -> tuple[Any, Location]:
    """
    Read a YAML file as a type.

    Returns
    -------
    value
        As ``read_value`` returns it.
    Location
        Of the value, for messages of further checks.

    Raises
    ------
    ConfigurationError
        As ``read_document`` and ``read_value``.

    """
    document = read_document(path, limits)
    location = Location(source=Source(str(path), document))
    return read_value(kind, document.content, location), location


def read_value(kind: Any, value: Any, location: Location | str = '') -> Any:
    """
    Return a value as a type, e.g. an instance of a dataclass.

    Parameters
    ----------
    kind : type
        A dataclass, or any type that one of its fields is annotated with. ``Any`` accepts every
        value; a union is of one type and ``None``.
    value
        Plain data as of YAML or JSON. Absent fields keep their defaults.
    location : Location or str
        Position of the value, or its name, e.g. ``scene``.

    Raises
    ------
    ConfigurationError
        For an unknown key (with the nearest valid one), one that is missing, or a value of a
        wrong type or out of bounds. Where the location has a file the message begins with file,
        line and column, also if the dataclass itself refuses its values.

    """
    if isinstance(location, str):
        location = Location(location)
    if dataclasses.is_dataclass(kind):
        return _read_record(kind, value, location)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        value = read_value(arguments[0], value, location)
        arguments[1].check(value, location)
        return value
    if origin in (typing.Union, types.UnionType):
        if value is None and type(None) in arguments:
            return None
        return read_value(
            next(kind for kind in arguments if kind is not type(None)), value, location
        )
    if origin is tuple:
        return _read_list(arguments, value, location)
    if origin is not None:
        return _read_mapping(arguments[1], value, location)
    return _read_scalar(kind, value, location) if kind in _SCALARS else value


def read_choice(
    entry: Mapping[str, Any], key: str, valid: Iterable[str], location: Location, default: str = ''
) -> str:
    """Return the text of a key, one of the valid ones; without a default it is required."""
    at = location / key
    if key not in entry and not default:
        raise at.missing_error()
    chosen: str = read_value(str, entry.get(key, default), at)
    if chosen not in valid:
        with at.locate_errors():
            raise unknown_name_error(at.name, chosen, valid)
    return chosen


def check_parameters(
    declared: type[Parameters], values: Mapping[str, Any], location: Location
) -> None:
    """Raise ConfigurationError for an undeclared name, or a value of a wrong type or range."""
    for name, value in values.items():
        # The parameters of legs may be nested: lag: {fl: 0.5}.
        items = value.items() if isinstance(value, Mapping) else ()
        nested = [(f'{name}.{leg}', item, location / name / leg) for leg, item in items]
        for full_name, item, item_location in nested or [(name, value, location / name)]:
            with item_location.locate_errors():
                parameter_info(declared, full_name).coerce(item)


def check_keys(entry: Mapping[str, Any], valid: Iterable[str], location: Location) -> None:
    """Raise ConfigurationError for a key that is not valid, naming the nearest one."""
    for key in entry:
        if key not in valid:
            raise (location / str(key)).unknown_key_error(valid)


def _read_record(kind: Any, value: Any, location: Location) -> Any:
    """Return an instance of a dataclass from named values; absent fields keep their defaults."""
    if not isinstance(value, Mapping):
        raise location.type_error(value, 'named values')
    hints = _field_types(kind)
    check_keys(value, hints, location)
    for field in dataclasses.fields(kind):
        has_default = field.default is not dataclasses.MISSING
        if not has_default and field.default_factory is dataclasses.MISSING:
            if field.name not in value:
                raise (location / field.name).missing_error()
    values = {key: read_value(hints[key], item, location / key) for key, item in value.items()}
    try:
        return kind(**values)
    except ConfigurationError as error:
        if not location.position:
            raise
        raise location.error(error) from error


@cache
def _field_types(kind: Any) -> dict[str, Any]:
    """Return the types of a dataclass's fields by name."""
    names = [field.name for field in dataclasses.fields(kind)]
    hints = typing.get_type_hints(kind, include_extras=True)
    return {name: hints[name] for name in names}


def _read_list(kinds: tuple[Any, ...], value: Any, location: Location) -> tuple[Any, ...]:
    """Return the items of a list by the types of ``tuple[...]``, of fixed or of any length."""
    if isinstance(value, str) or not isinstance(value, (list, tuple)):
        raise location.type_error(value, 'a list')
    if kinds[-1] is Ellipsis:
        kinds = (kinds[0],) * len(value)
    if len(value) != len(kinds):
        raise ConfigurationError(f'{location} has {len(value)} values, expected {len(kinds)}')
    return tuple(
        read_value(kind, _as_name(kind, item), location / i)
        for i, (kind, item) in enumerate(zip(kinds, value, strict=True))
    )


def _as_name(kind: Any, item: Any) -> Any:
    """Return an item of a list; in a list of names a whole number becomes a name."""
    return str(item) if kind is str and type(item) is int else item


def _read_mapping(kind: Any, value: Any, location: Location) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise location.type_error(value, 'named values')
    return {str(key): read_value(kind, item, location / str(key)) for key, item in value.items()}


def _read_scalar(kind: Any, value: Any, location: Location) -> Any:
    """Return a number, text or flag; a whole number is a float, too, a flag is not a number."""
    if kind is float:
        value = _as_float(value)
        if isinstance(value, float) and not math.isfinite(value):
            raise ConfigurationError(f'{location} is {value}, expected a finite number')
    if kind is int and isinstance(value, float) and value.is_integer():
        return int(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise location.type_error(value, _SCALARS[kind])
    return value


def _as_float(value: Any) -> Any:
    """Return a whole number, or a text that is a number, as a float; others as they are."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if is_number or (isinstance(value, str) and _EXPONENT.fullmatch(value)):
        try:
            return float(value)
        except OverflowError:
            return math.inf
    return value
