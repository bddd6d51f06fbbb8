"""Plain-data form of specs, its inverse, and its hash: equal on every machine."""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
from functools import cache
import hashlib
import json
import math
import types
import typing
from typing import Any

import numpy as np

from gait_core.errors import ConfigurationError, excerpt, unknown

_LATER = 'later'


def later(default: Any = dataclasses.MISSING, factory: Any = dataclasses.MISSING) -> Any:
    """
    Declare a field that came after others were recorded and hashed.

    At its default it is left out of plain data, so that what does not use it keeps its hash.
    """
    return dataclasses.field(default=default, default_factory=factory, metadata={_LATER: True})


def plain(value: Any) -> Any:
    """Return dataclasses, mappings, arrays and tuples as dicts, lists and plain numbers."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: plain(getattr(value, field.name))
            for field in dataclasses.fields(value)
            if not (field.metadata and _unused(field, getattr(value, field.name)))
        }
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return value.item()
    return value


def _unused(field: Any, value: Any) -> bool:
    """Return whether a later field has its default."""
    if _LATER not in field.metadata:
        return False
    made = field.default_factory is not dataclasses.MISSING
    return bool(value == (field.default_factory() if made else field.default))


def sha256_of(value: Any) -> str:
    """Return the SHA-256 of the value's canonical JSON; floats keep every bit."""
    encoded = json.dumps(plain(value), sort_keys=True, separators=(',', ':'), allow_nan=False)
    return hashlib.sha256(encoded.encode()).hexdigest()


def rebuild(cls: Any, value: Any, name: str = '') -> Any:
    """
    Return an instance of a dataclass from its plain form; the inverse of ``plain``.

    Parameters
    ----------
    cls : type
        A dataclass, or any type that one of its fields is annotated with.
    value
        Dicts, lists, numbers and strings, as read from YAML or JSON. Absent fields keep their
        defaults.
    name : str
        What messages call the value, e.g. ``scene``.

    Raises
    ------
    ConfigurationError
        For an unknown field (with the nearest valid one) or a value of the wrong type.

    """
    if dataclasses.is_dataclass(cls):
        return _rebuild_dataclass(cls, value, name)
    origin, arguments = typing.get_origin(cls), typing.get_args(cls)
    if origin in (typing.Union, types.UnionType):
        if value is None and type(None) in arguments:
            return None
        return rebuild(next(kind for kind in arguments if kind is not type(None)), value, name)
    if origin is tuple:
        return _rebuild_tuple(arguments, value, name)
    if origin is not None:
        return _rebuild_mapping(arguments[1], value, name)
    if cls in _SCALARS:
        return _rebuild_scalar(cls, value, name)
    return value


_SCALARS = {float: 'a number', int: 'a whole number', bool: 'true or false', str: 'text'}


def _rebuild_dataclass(cls: Any, value: Any, name: str) -> Any:
    if not isinstance(value, Mapping):
        raise ConfigurationError(
            f'{name or cls.__name__} is {excerpt(repr(value))}, expected named values'
        )
    hints = _hints(cls)
    prefix = f'{name}.' if name else ''
    for key in value:
        if key not in hints:
            raise unknown('name', f'{prefix}{key}', (f'{prefix}{hint}' for hint in hints))
    required = [
        field.name
        for field in dataclasses.fields(cls)
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    ]
    for key in required:
        if key not in value:
            raise ConfigurationError(f'{prefix}{key} is missing')
    return cls(**{key: rebuild(hints[key], item, f'{prefix}{key}') for key, item in value.items()})


@cache
def _hints(cls: Any) -> dict[str, Any]:
    names = [field.name for field in dataclasses.fields(cls)]
    hints = typing.get_type_hints(cls)
    return {name: hints[name] for name in names}


def _rebuild_tuple(kinds: tuple[Any, ...], value: Any, name: str) -> tuple[Any, ...]:
    if isinstance(value, str) or not isinstance(value, (list, tuple)):
        raise ConfigurationError(f'{name} is {excerpt(repr(value))}, expected a list')
    if kinds[-1] is Ellipsis:
        kinds = (kinds[0],) * len(value)
    if len(value) != len(kinds):
        raise ConfigurationError(f'{name} has {len(value)} values, expected {len(kinds)}')
    return tuple(
        rebuild(kind, item, f'{name}[{i}]')
        for i, (kind, item) in enumerate(zip(kinds, value, strict=True))
    )


def _rebuild_mapping(kind: Any, value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ConfigurationError(f'{name} is {excerpt(repr(value))}, expected named values')
    return {str(key): rebuild(kind, item, f'{name}.{key}') for key, item in value.items()}


def _float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _rebuild_scalar(cls: Any, value: Any, name: str) -> Any:
    if cls is float and isinstance(value, int) and not isinstance(value, bool):
        value = _float(value)
    if cls is float and isinstance(value, float) and not math.isfinite(value):
        raise ConfigurationError(f'{name} is {value}, expected a finite number')
    if cls is int and isinstance(value, float) and value.is_integer():
        return int(value)
    if not isinstance(value, cls) or (isinstance(value, bool) and cls is not bool):
        raise ConfigurationError(f'{name} is {excerpt(repr(value))}, expected {_SCALARS[cls]}')
    return value
