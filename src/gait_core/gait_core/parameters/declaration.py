# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Parameters declared once: default, range, unit and text in a frozen dataclass.

ROS descriptors, tables of pages, command line and search bounds are derived from these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import dataclasses
from dataclasses import dataclass
from functools import cache
from itertools import groupby
import math
from typing import Any, TypeVar

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError, unknown_name_error
from gait_core.parameters.plain_data import ADDED

_META = 'gait_parameter'
_ROS_TYPES = {
    'float': 'double',
    'int': 'integer',
    'bool': 'bool',
    'str': 'string',
    'floats': 'double array',
}
# Numbers that six digits would misstate.
_SYMBOLIC_BOUNDS: Mapping[float, str] = {2**63 - 1: '2^63 - 1'}


@dataclass(frozen=True, kw_only=True)
class ParameterInfo:
    """
    Declaration of one parameter.

    ``kind`` is one of ``float``, ``int``, ``bool``, ``str``, ``floats``; ``low`` and ``high`` are
    inclusive bounds in ``unit`` (``None`` for ``bool`` and ``str``).
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

    def coerce(self, value: Any) -> Any:
        """
        Return the value as this parameter's type, or raise ConfigurationError naming it.

        A whole number becomes a float where one is expected; a bool is refused as a number.
        """
        if self.kind == 'floats':
            return self._floats(value)
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


def _field(kind: str, default: Any, added: bool = False, **meta: Any) -> Any:
    declared = {_META: {'kind': kind, **meta}}
    return dataclasses.field(default=default, metadata=declared | (ADDED if added else {}))


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
    default: int, *, low: int, high: int, doc: str, read_only: bool = False, added: bool = False
) -> Any:
    """Declare an int field with inclusive bounds; ``added`` is as of ``added_field``."""
    meta = {'low': low, 'high': high, 'unit': '-', 'doc': doc, 'read_only': read_only}
    return _field('int', int(default), added, **meta)


def bool_parameter(default: bool, *, doc: str, read_only: bool = False) -> Any:
    """Declare a bool field."""
    return _field('bool', bool(default), unit='-', doc=doc, read_only=read_only)


def str_parameter(
    default: str, *, doc: str, choices: Sequence[str] = (), read_only: bool = False
) -> Any:
    """Declare a str field, optionally one of a finite set."""
    return _field('str', default, unit='-', doc=doc, choices=tuple(choices), read_only=read_only)


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


ParametersT = TypeVar('ParametersT', bound=Parameters)


@cache
def _declared_parameters(cls: Any) -> tuple[ParameterInfo, ...]:
    return tuple(
        ParameterInfo(name=field.name, default=field.default, **field.metadata[_META])
        for field in dataclasses.fields(cls)
        if _META in field.metadata
    )


def declared_parameters(cls: type[Parameters]) -> tuple[ParameterInfo, ...]:
    """Return the parameters that a dataclass declares, in order of declaration."""
    key: Any = cls
    return _declared_parameters(key)


def parameter_info(cls: type[Parameters], name: str) -> ParameterInfo:
    """Return one declared parameter; ConfigurationError names the nearest one."""
    known = {info.name: info for info in declared_parameters(cls)}
    if name not in known:
        raise unknown_name_error('parameter', name, known)
    return known[name]


def make_parameters(cls: type[ParametersT], values: Mapping[str, Any]) -> ParametersT:
    """
    Return the parameters with some values replaced.

    Raises
    ------
    ConfigurationError
        For an unknown name (with the nearest valid one), a wrong type or a value out of range.

    """
    for name in values:
        parameter_info(cls, name)
    return cls(**values)


def parameter_table(
    cls: type[Parameters], prefix: str = '', with_ros_columns: bool = False
) -> str:
    """
    Return a Markdown table of the parameters that a dataclass declares.

    Numbered parameters that differ in number and default alone share a row.

    Parameters
    ----------
    cls : type of Parameters
    prefix : str
        In front of each name, e.g. ``gait.``.
    with_ros_columns : bool
        Whether to add type and mutability, as of ROS parameters.

    """
    headings = ['Parameter', 'Default', 'Range', 'Unit', 'Meaning']
    if with_ros_columns:
        headings[1:1], headings[5:5] = ['Type'], ['Live']
    lines = [_table_row(headings), '|' + '---|' * len(headings)]
    for _, group in groupby(declared_parameters(cls), key=_row_properties):
        alike = list(group)
        first, last = alike[0], alike[-1]
        names, default = f'`{prefix}{first.name}`', format_value(first.default)
        if len(alike) > 1:
            names += f' to `{prefix}{last.name}`'
            lowest, highest = (pick(info.default for info in alike) for pick in (min, max))
            default = (
                default
                if lowest == highest
                else f'{format_value(lowest)} to {format_value(highest)}'
            )
        cells = [names, default, format_range(first), first.unit, first.doc]
        if with_ros_columns:
            cells[1:1], cells[5:5] = [_ROS_TYPES[first.kind]], ['no' if first.read_only else 'yes']
        lines.append(_table_row(cell.replace('|', r'\|') for cell in cells))
    return '\n'.join(lines) + '\n'


def _table_row(cells: Iterable[str]) -> str:
    return '| ' + ' | '.join(cells) + ' |'


def _row_properties(info: ParameterInfo) -> tuple[Any, ...]:
    """Return the properties that parameters of one row share: all but number and default."""
    stem = info.name.rstrip('0123456789')
    return stem, info.kind, info.low, info.high, info.unit, info.doc, info.choices, info.log


def format_value(value: Any) -> str:
    """Return the value of a parameter as pages and lists write it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ', '.join(format_value(item) for item in value)
    return f'{value:g}' if isinstance(value, float) else str(value)


def format_range(info: ParameterInfo) -> str:
    """Return the choices or bounds of a parameter, or '' if it has none."""
    if info.choices:
        return ', '.join(info.choices)
    if info.low is None or info.high is None:
        return ''
    return f'{info.low:g} to {_SYMBOLIC_BOUNDS.get(info.high, f"{info.high:g}")}'


@dataclass(frozen=True, kw_only=True)
class Gene:
    """One searched parameter: bounds in its unit, scaled linearly or logarithmically."""

    name: str
    lower: float
    upper: float
    unit: str = '-'
    log: bool = False

    def __post_init__(self) -> None:
        """Check that the bounds are finite, ordered, and positive on a log scale."""
        if not (
            math.isfinite(self.lower) and math.isfinite(self.upper) and self.lower < self.upper
        ):
            raise ConfigurationError(
                f"gene '{self.name}' has bounds [{self.lower}, {self.upper}]; "
                'the lower must be below the upper and both finite'
            )
        if self.log and self.lower <= 0.0:
            raise ConfigurationError(
                f"gene '{self.name}' has a log scale and a lower bound {self.lower}; "
                'it must be positive'
            )


@dataclass(frozen=True)
class ParameterSpace:
    """
    The only bridge between named parameters with units and an optimiser's unit cube.

    It has no genes where the arrays of a controller are searched.
    """

    genes: tuple[Gene, ...]

    def __post_init__(self) -> None:
        """Refuse repeated names."""
        names = self.names
        for name in names:
            if names.count(name) > 1:
                raise ConfigurationError(f"gene '{name}' is declared {names.count(name)} times")

    @property
    def names(self) -> tuple[str, ...]:
        """Names in genome order."""
        return tuple(gene.name for gene in self.genes)

    def __len__(self) -> int:
        """Return the number of genes."""
        return len(self.genes)

    def decode(self, unit: FloatArray) -> dict[str, float]:
        """Return the named values of a point of the unit cube, shape (n,), clipped to it."""
        point = self._checked(unit)
        return {
            gene.name: _decode(gene, float(x)) for gene, x in zip(self.genes, point, strict=True)
        }

    def encode(self, values: Mapping[str, float]) -> FloatArray:
        """Return the point of the unit cube, shape (n,), for named values within the bounds."""
        for name in values:
            if name not in self.names:
                raise unknown_name_error('gene', name, self.names)
        missing = [name for name in self.names if name not in values]
        if missing:
            raise ConfigurationError(f"gene '{missing[0]}' has no value")
        return np.array([_encode(gene, float(values[gene.name])) for gene in self.genes])

    def _checked(self, unit: FloatArray) -> FloatArray:
        point = np.asarray(unit, dtype=np.float64)
        if point.shape != (len(self.genes),):
            raise ValueError(f'genome has shape {point.shape}, expected ({len(self.genes)},)')
        if not np.all(np.isfinite(point)):
            raise ValueError('genome holds a value that is not finite')
        return np.clip(point, 0.0, 1.0)


def _decode(gene: Gene, x: float) -> float:
    """Return the value at a position in [0, 1] between the bounds, on the scale of the gene."""
    if gene.log:
        value = gene.lower * math.pow(gene.upper / gene.lower, x)
    else:
        value = gene.lower + (gene.upper - gene.lower) * x
    # Rounding could move a value past its bound.
    return min(max(value, gene.lower), gene.upper)


def _encode(gene: Gene, value: float) -> float:
    """Return the position of a value between the bounds in [0, 1]; ConfigurationError outside."""
    if not gene.lower <= value <= gene.upper:
        raise ConfigurationError(
            f"gene '{gene.name}' = {value:g} {gene.unit} is outside "
            f'[{gene.lower:g}, {gene.upper:g}]; '
            f'nearest valid: {min(max(value, gene.lower), gene.upper):g}'
        )
    if gene.log:
        return math.log(value / gene.lower) / math.log(gene.upper / gene.lower)
    return (value - gene.lower) / (gene.upper - gene.lower)


def parameter_space(cls: type[Parameters], names: Sequence[str] = ()) -> ParameterSpace:
    """Return the search space of a dataclass's float parameters, all of them or those named."""
    infos = {info.name: info for info in declared_parameters(cls) if info.kind == 'float'}
    for name in names:
        if name not in infos:
            raise unknown_name_error('parameter', name, infos)
    return ParameterSpace(
        tuple(
            Gene(
                name=info.name,
                lower=float(info.low or 0.0),
                upper=float(info.high or 0.0),
                unit=info.unit,
                log=info.log,
            )
            for info in (infos[name] for name in (names or infos))
        )
    )
