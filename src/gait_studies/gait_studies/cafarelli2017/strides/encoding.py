# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Encoding of a stride by 48 genes, and feasibility of strides.

A stride has four postures of three legs. A leg has four genes per posture: hip and knee angle
[deg], upper and lower length [cm]; gene ``12 * posture + 4 * leg + k``. Phase p leads from posture
p to the next. A tripod is in stance during the first two phases and in swing during the others
(Cafarelli 2017, Eq. 5.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math

from numba import njit
import numpy as np

from gait_core.arrays import BoolArray, FloatArray, read_only_array
from gait_core.errors import ConfigurationError

GENES = 48
POSTURES, LEGS = 4, 3
HIP, KNEE, UPPER, LOWER = range(4)


@dataclass(frozen=True, kw_only=True)
class GeneLimits:
    """
    Ranges of the four kinds of genes.

    Attributes
    ----------
    low, high : (4,) tuples
        Limits of hip and knee [deg], upper and lower length [cm].

    """

    low: tuple[float, float, float, float]
    high: tuple[float, float, float, float]

    @property
    def lower(self) -> FloatArray:
        """Lower bound of each gene, (48,) [deg, cm]."""
        return read_only_array(np.tile(self.low, POSTURES * LEGS), name='lower')

    @property
    def upper(self) -> FloatArray:
        """Upper bound of each gene, (48,) [deg, cm]."""
        return read_only_array(np.tile(self.high, POSTURES * LEGS), name='upper')


LIMITS_AS_CODED = GeneLimits(low=(30.0, 0.0, 6.0, 6.0), high=(145.0, 145.0, 12.0, 12.0))
"""Limits of class LegConstraints in appendix B; they give the published results."""

LIMITS_AS_PRINTED = GeneLimits(low=(0.0, 0.0, 6.0, 6.0), high=(135.0, 135.0, 12.0, 12.0))
"""Limits of section 6.1."""


def genes_from_unit(unit: FloatArray, limits: GeneLimits = LIMITS_AS_CODED) -> FloatArray:
    """Return the genes [deg, cm] of points of the unit cube, (..., 48)."""
    lower, upper = limits.lower, limits.upper
    return unit * (upper - lower) + lower


def unit_from_genes(genes: FloatArray, limits: GeneLimits = LIMITS_AS_CODED) -> FloatArray:
    """Return the points of the unit cube of genes [deg, cm], (..., 48), to rounding."""
    return (genes - limits.lower) / (limits.upper - limits.lower)


def joints_from_genes(genes: FloatArray) -> FloatArray:
    """
    Return postures in rad and m.

    Parameters
    ----------
    genes : (..., 48) array [deg, cm]

    Returns
    -------
    (..., 4, 3, 4) array
        Posture, leg, (hip, knee [rad], upper, lower [m]).

    """
    joints = np.array(genes, dtype=np.float64).reshape(*np.shape(genes)[:-1], POSTURES, LEGS, 4)
    # In this order of operations: the published run depends on the last bit.
    joints[..., :2] = joints[..., :2] * math.pi / 180.0
    joints[..., 2:] /= 100.0
    return joints


def genes_from_legs(legs: Sequence[Sequence[Sequence[float]]]) -> FloatArray:
    """Return the genes (48,) of postures listed leg by leg, as the thesis prints them."""
    table = np.array(legs, dtype=np.float64)
    if table.shape != (LEGS, POSTURES, 4):
        raise ConfigurationError(
            f'a stride has {LEGS} legs with {POSTURES} postures of 4 numbers, not {table.shape}'
        )
    return np.ascontiguousarray(table.transpose(1, 0, 2)).reshape(GENES)


@njit(cache=True)
def is_feasible(genes: FloatArray) -> bool:
    """
    Return whether a stride, (48,) [deg, cm], stands on its feet and moves its hips in order.

    Postures 1 to 3 (stance) need ``q0 + q1 <= 180``. Hips move back from posture 1 over 2 to 3,
    and posture 4 lies between 3 and 1. Posture 4 has no knee test.

    References
    ----------
    Cafarelli (2017), section 5.2.4; ``isValidStride`` of appendix B.

    """
    # q0 + q1 <= 180: the foot is below the knee.
    for gene in range(0, 36, 4):
        if genes[gene] + genes[gene + 1] > 180.0:
            return False
    for hip in range(0, 12, 4):
        first, second, third, fourth = (
            genes[hip],
            genes[hip + 12],
            genes[hip + 24],
            genes[hip + 36],
        )
        if first > second or second > third or third < fourth or fourth < first:
            return False
    return True


def are_feasible(genes: FloatArray) -> BoolArray:
    """Return which of the strides, (k, 48) [deg, cm], are feasible."""
    return np.array([is_feasible(stride) for stride in genes], dtype=np.bool_)


def make_feasible(genes: FloatArray) -> FloatArray:
    """
    Return feasible strides, (..., 48) [deg, cm]: hips are sorted and knees limited.

    For searches that cannot reject strides. A feasible stride is unchanged.
    """
    mended = np.array(genes, dtype=np.float64)
    table = mended.reshape(*mended.shape[:-1], POSTURES, LEGS, 4)
    table[..., :3, :, HIP] = np.sort(table[..., :3, :, HIP], axis=-2)
    table[..., 3, :, HIP] = np.clip(
        table[..., 3, :, HIP], table[..., 0, :, HIP], table[..., 2, :, HIP]
    )
    bent = table[..., :3, :, KNEE]
    table[..., :3, :, KNEE] = np.where(
        table[..., :3, :, HIP] + bent > 180.0, 180.0 - table[..., :3, :, HIP], bent
    )
    return mended
