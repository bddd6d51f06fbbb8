# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Gait diagram: stances of legs, duty factors, phase lags and stride frequencies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import math

import numpy as np

from gait_core.arrays import BoolArray, IntArray
from gait_core.measures.energy import check_period


def touchdowns(stance: BoolArray) -> BoolArray:
    """Return whether a sole touches down at each tick, (T, s); never at the first tick."""
    begins = np.zeros_like(stance)
    begins[1:] = stance[1:] & ~stance[:-1]
    return begins


@dataclass(frozen=True, kw_only=True)
class GaitDiagram:
    """
    Gait diagram of a record, by names of legs.

    Attributes
    ----------
    stances : mapping of str to tuple of (float, float) [s]
        Start and end of each stance; stances cut by the ends of the record end there.
    touch_downs : mapping of str to tuple of float [s]
        Starts of stances, without one that the record begins with.
    grazes : mapping of str to int
        Contacts that were too weak for a stance.
    stance_fraction : mapping of str to float
        Share of the record in stance; 0 for a leg that never touches down. Absent without ticks.
    duty_factor : mapping of str to float
        Share of stance between the first and the last touch-down. Absent below two touch-downs.
    stride_frequency : mapping of str to float [Hz]
        Frequency of touch-downs. Absent below two touch-downs.
    phase_lag : mapping of str to float [rad]
        Phase of a leg's touch-downs in the stride of the first leg, circular mean in [0, 2 pi).
        Absent if no touch-down is within a stride of the first leg, or if they cancel out.

    """

    stances: Mapping[str, tuple[tuple[float, float], ...]]
    touch_downs: Mapping[str, tuple[float, ...]]
    grazes: Mapping[str, int]
    stance_fraction: Mapping[str, float]
    duty_factor: Mapping[str, float]
    stride_frequency: Mapping[str, float]
    phase_lag: Mapping[str, float]


def gait_diagram(
    legs: tuple[str, ...], stance: BoolArray, grazes: IntArray, dt: float
) -> GaitDiagram:
    """
    Return the gait diagram of a record of stances.

    Parameters
    ----------
    legs : tuple of str
        Names of the s legs.
    stance : (T, s) bool array
    grazes : (s,) int array
        Contacts of each leg that were too weak for a stance.
    dt : float [s]

    """
    if stance.shape[1:] != (len(legs),):
        raise ValueError(f'stance has shape {stance.shape}, expected (T, {len(legs)})')
    check_period(dt)
    touch_downs = {
        leg: np.flatnonzero(column).astype(np.int64)
        for leg, column in zip(legs, touchdowns(stance).T, strict=True)
    }
    strides = {leg: ticks for leg, ticks in touch_downs.items() if len(ticks) > 1}
    lags = {leg: _phase_lag(touch_downs[legs[0]], ticks) for leg, ticks in touch_downs.items()}
    return GaitDiagram(
        stances={
            leg: _stance_intervals(column, dt) for leg, column in zip(legs, stance.T, strict=True)
        },
        touch_downs={leg: tuple((ticks * dt).tolist()) for leg, ticks in touch_downs.items()},
        grazes=dict(zip(legs, grazes.tolist(), strict=True)),
        stance_fraction={
            leg: float(column.mean())
            for leg, column in zip(legs, stance.T, strict=True)
            if len(column)
        },
        duty_factor={
            leg: float(stance[ticks[0] : ticks[-1], legs.index(leg)].mean())
            for leg, ticks in strides.items()
        },
        stride_frequency={
            leg: float((len(ticks) - 1) / ((ticks[-1] - ticks[0]) * dt))
            for leg, ticks in strides.items()
        },
        phase_lag={leg: lag for leg, lag in lags.items() if lag is not None},
    )


def _stance_intervals(column: BoolArray, dt: float) -> tuple[tuple[float, float], ...]:
    padded = np.concatenate([[False], column, [False]])
    edges = np.flatnonzero(np.diff(padded)).reshape(-1, 2)
    return tuple((float(start * dt), float(end * dt)) for start, end in edges)


def _phase_lag(reference: IntArray, ticks: IntArray) -> float | None:
    """
    Return the circular mean phase [rad] of touch-downs within the strides of a reference.

    ``None`` if there are none, or if they cancel out.
    """
    if len(reference) < 2:
        return None
    # The stride of the reference that each touch-down falls into.
    stride = np.searchsorted(reference, ticks, side='right') - 1
    inside = (stride >= 0) & (stride < len(reference) - 1)
    begin, end = reference[stride[inside]], reference[stride[inside] + 1]
    # Circular mean: the angle of the sum of unit phasors; undefined if they cancel out.
    phasor_sum = np.exp(2j * np.pi * (ticks[inside] - begin) / (end - begin)).sum()
    if abs(phasor_sum) < 1e-9 * max(1, int(inside.sum())):
        return None
    return float(np.angle(phasor_sum)) % (2.0 * math.pi)
