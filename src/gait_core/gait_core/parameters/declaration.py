# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Parameters declared once: default, range, unit and text in a frozen dataclass.

ROS descriptors, tables of pages, command line and search bounds are derived from these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import dataclasses
from dataclasses import dataclass
from functools import cache
import math
from typing import Any, TypeVar

import numpy as np

from gait_core.errors import ConfigurationError, unknown_name_error
from gait_core.parameters.plain_data import ADDED

_META = 'gait_parameter'

UNSET_LEG = -1.0
"""Value that ROS shows for the parameter of a leg without one; it is outside all their bounds."""


@dataclass(frozen=True, kw_only=True)
class ParameterInfo:
    """
    Declaration of one parameter.

    ``kind`` is one of ``float``, ``int``, ``bool``, ``str``, ``floats``, ``legs``; ``low`` and
    ``high`` are inclusive bounds in ``unit`` (``None`` for ``bool`` and ``str``). A field of kind
    ``legs`` has a parameter ``<leg_quantity>.<leg>`` for each leg; ``leg_quantity`` is empty for
    parameters that are not of one leg. A parameter that ``follows`` others returns to its default
    if one of these is changed by a later layer. One that ``is_added_later`` came with a later
    version and is left out of plain data at its default.
    """

    name: str
    kind: str
    default: Any
    unit: str
    doc: str
    low: float | None = None
    high: float | None = None
    log: bool = False
    choices: tuple[str, ...] = ()
    read_only: bool = False
    follows: tuple[str, ...] = ()
    leg_quantity: str = ''
    is_added_later: bool = False

    @property
    def public_name(self) -> str:
        """Name for texts; for the parameter of any leg it ends with ``<leg>``."""
        return f'{self.leg_quantity}.<leg>' if self.kind == 'legs' else self.name

    def of_leg(self, leg: str) -> ParameterInfo:
        """Return the declaration of the parameter of a leg."""
        return dataclasses.replace(
            self, name=f'{self.leg_quantity}.{leg}', kind='float', default=UNSET_LEG
        )

    def coerce(self, value: Any) -> Any:
        """
        Return the value as this parameter's type, or raise ConfigurationError naming it.

        A whole number becomes a float where one is expected; a bool is refused as a number.
        """
        if self.kind == 'floats':
            return self._floats(value)
        if self.kind == 'legs':
            values = dict(value)
            return tuple((leg, self.of_leg(leg).coerce(values[leg])) for leg in sorted(values))
        if self.kind == 'bool':
            return self._bool(value)
        if self.kind == 'str':
            return self._choice(value)
        return self._number(value)

    def _number(self, value: Any) -> float | int:
        """Return a finite number within the bounds; a bool is not a number."""
        if isinstance(value, (bool, np.bool_)) or not isinstance(
            value, (int, float, np.integer, np.floating)
        ):
            raise ConfigurationError(
                f"parameter '{self.name}' is {value!r}, expected a number [{self.unit}]"
            )
        if not _is_finite(value):
            raise ConfigurationError(
                f"parameter '{self.name}' is {value}, expected a finite number"
            )
        # A float cannot tell whole numbers beyond 2^53 apart: seeds are larger.
        if self.kind == 'int' and value != int(value):
            raise ConfigurationError(
                f"parameter '{self.name}' is {value}, expected a whole number"
            )
        number = int(value) if self.kind == 'int' else float(value)
        low, high = self.low, self.high
        if (low is not None and number < low) or (high is not None and number > high):
            bound = low if low is not None and number < low else high
            unit = '' if self.unit == '-' else f' {self.unit}'
            raise ConfigurationError(
                f"parameter '{self.name}' = {value:g}{unit} is outside [{low:g}, {high:g}]; "
                f'nearest valid: {bound:g}'
            )
        return number

    def _floats(self, value: Any) -> tuple[float, ...]:
        if isinstance(value, str) or not isinstance(value, (Sequence, np.ndarray)):
            raise ConfigurationError(
                f"parameter '{self.name}' is {value!r}, expected a list of numbers [{self.unit}]"
            )
        return tuple(float(self._number(item)) for item in value)

    def _bool(self, value: Any) -> bool:
        if isinstance(value, (bool, np.bool_)):
            return bool(value)
        raise ConfigurationError(f"parameter '{self.name}' is {value!r}, expected true or false")

    def _choice(self, value: Any) -> str:
        if not isinstance(value, str):
            raise ConfigurationError(f"parameter '{self.name}' is {value!r}, expected text")
        if self.choices and value not in self.choices:
            error = unknown_name_error('value', value, self.choices)
            raise ConfigurationError(f"parameter '{self.name}': {error}")
        return value


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # A whole number beyond every float.
        return False


def _field(kind: str, default: Any, added_later: bool = False, **meta: Any) -> Any:
    declared = {_META: {'kind': kind, **meta}}
    return dataclasses.field(default=default, metadata=declared | (ADDED if added_later else {}))


def float_parameter(
    default: float,
    *,
    low: float,
    high: float,
    unit: str,
    doc: str,
    log: bool = False,
    read_only: bool = False,
) -> Any:
    """Declare a float field with inclusive bounds; ``log`` suggests a logarithmic search."""
    return _field(
        'float',
        float(default),
        low=float(low),
        high=float(high),
        unit=unit,
        doc=doc,
        log=log,
        read_only=read_only,
    )


def fraction_parameter(default: float, *, doc: str) -> Any:
    """Declare a float field from 0 to 1 without a unit."""
    return float_parameter(default, low=0.0, high=1.0, unit='-', doc=doc)


def int_parameter(
    default: int,
    *,
    low: int,
    high: int,
    doc: str,
    read_only: bool = False,
    added_later: bool = False,
) -> Any:
    """Declare an int field with inclusive bounds; ``added_later`` is as of ``added_field``."""
    meta = {'low': low, 'high': high, 'unit': '-', 'doc': doc, 'read_only': read_only}
    return _field('int', int(default), added_later, **meta)


def bool_parameter(default: bool, *, doc: str, read_only: bool = False) -> Any:
    """Declare a bool field."""
    return _field('bool', bool(default), unit='-', doc=doc, read_only=read_only)


def str_parameter(
    default: str, *, doc: str, choices: Sequence[str] = (), read_only: bool = False
) -> Any:
    """Declare a str field, optionally one of a finite set."""
    return _field('str', default, unit='-', doc=doc, choices=tuple(choices), read_only=read_only)


def hash_parameter(file: str, *, doc: str) -> Any:
    """Declare a str field for the hash of the file that another parameter names; empty: none."""
    return _field('str', '', added_later=True, unit='-', doc=doc, follows=(file,))


def leg_parameter(
    quantity: str,
    *,
    low: float,
    high: float,
    unit: str,
    doc: str,
    follows: Sequence[str],
) -> Any:
    """
    Declare a field of parameters ``<quantity>.<leg>``: pairs of the name of a leg and its number.

    Legs without a number are absent; ROS shows ``UNSET_LEG`` for them.
    """
    meta = {'low': low, 'high': high, 'unit': unit, 'doc': doc}
    return _field('legs', (), True, leg_quantity=quantity, follows=tuple(follows), **meta)


def floats_parameter(
    default: Sequence[float],
    *,
    low: float,
    high: float,
    unit: str,
    doc: str,
    read_only: bool = False,
) -> Any:
    """Declare a field that holds a tuple of floats, each within the inclusive bounds."""
    return _field(
        'floats',
        tuple(float(x) for x in default),
        low=float(low),
        high=float(high),
        unit=unit,
        doc=doc,
        read_only=read_only,
    )


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """
    Base of every parameter dataclass: values are coerced and checked on construction.

    Subclasses are ``@dataclass(frozen=True, kw_only=True)`` whose fields are declared with
    ``float_parameter``, ``fraction_parameter``, ``int_parameter`` and the other functions above.
    """

    def __post_init__(self) -> None:
        """Coerce and check every field."""
        for info in declared_parameters(type(self)):
            object.__setattr__(self, info.name, info.coerce(getattr(self, info.name)))

    def with_file_hashes(self) -> Parameters:
        """Return the parameters with the hash of each file that they name."""
        return self

    def without_effect(self, legs: Sequence[str]) -> Mapping[str, str]:
        """Return by name the parameters that others leave without effect, each with the reason."""
        del legs
        return {}


ParametersT = TypeVar('ParametersT', bound=Parameters)


@cache
def _declared_parameters(cls: Any) -> tuple[ParameterInfo, ...]:
    """Return the parameters that a dataclass declares, in the order of its fields."""
    return tuple(
        ParameterInfo(
            name=field.name,
            default=field.default,
            is_added_later=field.metadata.keys() >= ADDED.keys(),
            **field.metadata[_META],
        )
        for field in dataclasses.fields(cls)
        if _META in field.metadata
    )


def declared_parameters(cls: type[Parameters]) -> tuple[ParameterInfo, ...]:
    """Return the parameters that a dataclass declares, in order of declaration."""
    key: Any = cls
    return _declared_parameters(key)


def leg_parameters(cls: type[Parameters]) -> dict[str, ParameterInfo]:
    """Return the declared fields of numbers by leg, by their quantity."""
    return {info.leg_quantity: info for info in declared_parameters(cls) if info.kind == 'legs'}


def leg_parameter_names(cls: type[Parameters], legs: Sequence[str]) -> tuple[str, ...]:
    """Return the names of all parameters of legs, e.g. ``lag.fl``."""
    return tuple(f'{quantity}.{leg}' for quantity in leg_parameters(cls) for leg in legs)


def parameter_info(cls: type[Parameters], name: str) -> ParameterInfo:
    """Return one declared parameter; ConfigurationError names the nearest one."""
    known = {info.name: info for info in declared_parameters(cls) if info.kind != 'legs'}
    if name in known:
        return known[name]
    quantity, _, leg = name.partition('.')
    by_leg = leg_parameters(cls)
    if quantity in by_leg and leg:
        return by_leg[quantity].of_leg(leg)
    of_legs = [f'{item}.<leg>' for item in by_leg]
    # For a quantity without a leg suggest names with a leg; for other names suggest any.
    raise unknown_name_error('parameter', name, of_legs if name in by_leg else [*known, *of_legs])


def make_parameters(cls: type[ParametersT], values: Mapping[str, Any]) -> ParametersT:
    """
    Return the parameters with some values replaced.

    Raises
    ------
    ConfigurationError
        For an unknown name (with the nearest valid one), a wrong type or a value out of range.

    """
    fields: dict[str, Any] = {}
    by_leg = leg_parameters(cls)
    for name, value in flatten_legs(values).items():
        if parameter_info(cls, name).name in cls.__dataclass_fields__:
            fields[name] = value
        else:
            quantity, _, leg = name.partition('.')
            fields.setdefault(by_leg[quantity].name, {})[leg] = value
    return cls(**fields)


def flatten_legs(values: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return parameters with dotted names for those of legs.

    Examples
    --------
    >>> flatten_legs({'frequency': 2.0, 'lag': {'fl': 0.5}})
    {'frequency': 2.0, 'lag.fl': 0.5}

    """
    flat: dict[str, Any] = {}
    for name, value in values.items():
        nested = value.items() if isinstance(value, Mapping) else ()
        flat.update({f'{name}.{key}': item for key, item in nested} or {name: value})
    return flat


def parameter_values(params: Parameters) -> dict[str, Any]:
    """Return the values by name; those of legs, and later additions, only if they are set."""
    values: dict[str, Any] = {}
    for info in declared_parameters(type(params)):
        value = getattr(params, info.name)
        if info.kind == 'legs':
            values.update({f'{info.leg_quantity}.{leg}': number for leg, number in value})
        elif not (info.is_added_later and value == info.default):
            values[info.name] = value
    return values


def merge_parameters(
    cls: type[Parameters], base: Mapping[str, Any], changes: Mapping[str, Any]
) -> dict[str, Any]:
    """
    Return the parameters of ``base`` with those of ``changes`` in place of equal names.

    A parameter of ``base`` that follows one in ``changes`` is left out, so that a new
    ``duty_factor`` is that of all legs.
    """
    flat = flatten_legs(changes)
    followers = [info for info in declared_parameters(cls) if set(info.follows) & set(flat)]
    outdated = tuple(
        f'{info.leg_quantity}.' if info.kind == 'legs' else info.name for info in followers
    )
    kept = {
        name: value
        for name, value in flatten_legs(base).items()
        if not any(name == one or (one[-1] == '.' and name.startswith(one)) for one in outdated)
    }
    return {**kept, **flat}
