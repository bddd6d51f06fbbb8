# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Search spaces: bounds and scales of parameters, and the unit cube of an optimiser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import math

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError, unknown_name_error
from gait_core.parameters.declaration import (
    Parameters,
    declared_parameters,
    leg_parameters,
    parameter_info,
)


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
    by_leg = leg_parameters(cls)
    for name in names:
        if name.partition('.')[0] in by_leg:
            infos[name] = parameter_info(cls, name)
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
