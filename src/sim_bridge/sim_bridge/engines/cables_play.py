"""Tapes of targets played through the kernel: whole trials in one compiled call."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from gait_core import pulse
from gait_core.arrays import FloatArray, IntArray
from sim_bridge.engines.bounds import FAR
from sim_bridge.engines.cables_ground import Ground
from sim_bridge.engines.cables_kernel import (
    BODY,
    CONTACT,
    Lanes,
    Layout,
    Pushes,
    Work,
    advance,
    place_points,
    pull_elements,
    workspace,
)


class Tapes(NamedTuple):
    """
    Targets of elements in T control periods of K sub-samples for L lanes.

    Each of ``rest`` [m], ``rate`` [m/s] and ``feed`` [N] is (L, T, K, e), or with a one in place
    of L, T or K where it does not change.
    """

    rest: FloatArray
    rate: FloatArray
    feed: FloatArray


class Record(NamedTuple):
    """
    What a play brings about, at the end of every period.

    ``bodies`` (T, b, 13 L), ``elements`` (T, e, 2 L) lengths and last tensions, ``contacts``
    (T, c, 7 L) of the last step, ``reached`` (L,) periods within range.
    """

    bodies: FloatArray
    elements: FloatArray
    contacts: FloatArray
    reached: IntArray


def record(layout: Layout, ticks: int, lanes: int) -> Record:
    """Return room for what a play of so many control periods brings about."""
    bodies, elements, nodes = len(layout.mass), len(layout.laws), len(layout.nodes)
    return Record(
        bodies=np.zeros((ticks, bodies, BODY * lanes)),
        elements=np.zeros((ticks, elements, 2 * lanes)),
        contacts=np.zeros((ticks, nodes, CONTACT * lanes)),
        reached=np.full(lanes, ticks, dtype=np.int64),
    )


@numba.njit(cache=True, error_model='numpy', nogil=True)
def _aim(values: FloatArray, t: int, s: int, part: int, work: Work, lanes: Lanes) -> None:
    n, targets = len(lanes), work.targets
    t, s = min(t, values.shape[1] - 1), min(s, values.shape[2] - 1)
    for e in range(len(targets)):
        for k in range(n):
            targets[e, part * n + k] = values[min(k, values.shape[0] - 1), t, s, e]


@numba.njit(cache=True, error_model='numpy', nogil=True)
def aim(tapes: Tapes, t: int, s: int, work: Work, lanes: Lanes) -> None:
    """Put a sub-sample of a control period into force."""
    _aim(tapes.rest, t, s, 0, work, lanes)
    _aim(tapes.rate, t, s, 1, work, lanes)
    _aim(tapes.feed, t, s, 2, work, lanes)


@numba.njit(cache=True, error_model='numpy', nogil=True)
def look(
    layout: Layout, t: int, state: FloatArray, work: Work, kept: Record, lanes: Lanes
) -> bool:
    """Keep the state at the end of a period; return whether some lane is within its range."""
    n, elements, lengths = len(lanes), work.elements, kept.elements
    kept.bodies[t] = state
    kept.contacts[t] = work.contacts
    for e in range(len(elements)):
        for k in range(n):
            lengths[t, e, n + k] = elements[e, 4 * n + k]
    # Tensions are those of the last step, lengths those of its end.
    place_points(layout, state, work, lanes)
    pull_elements(layout, work, 0.0, lanes)
    for e in range(len(elements)):
        for k in range(n):
            lengths[t, e, k] = elements[e, 3 * n + k]
    going = False
    for k in range(n):
        far = False
        for b in range(len(state)):
            for i in range(13):
                far |= not abs(state[b, i * n + k]) < FAR
        if far:
            kept.reached[k] = min(kept.reached[k], t)
        going |= not far
    return going


@numba.njit(cache=True, error_model='numpy', nogil=True)
def play(
    layout: Layout, ground: Ground, pushes: Pushes, tapes: Tapes, state: FloatArray,
    bristles: FloatArray, work: Work, kept: Record, dt: float, first: int, samples: int,
    steps: int, lanes: Lanes, beats: IntArray,
) -> None:  # fmt: skip
    """
    Advance as many control periods as the record has room for, or until every lane diverges.

    Parameters
    ----------
    layout, ground, pushes
    tapes : Tapes
    state : (b, 13 L) array
    bristles : (c, 2 L) array [m]
    work : Work
    kept : Record
        Written.
    dt : float [s]
    first : int
        Number of the first step, for the pushes.
    samples, steps : int
        Sub-samples of a period, and steps of a sub-sample.
    lanes : tuple
        Of any L numbers.
    beats : (1,) array
        Count of control periods of this process, as of ``gait_core.pulse``.

    """
    for t in range(len(kept.bodies)):
        for s in range(samples):
            aim(tapes, t, s, work, lanes)
            begin = first + (t * samples + s) * steps
            advance(layout, ground, pushes, state, bristles, work, dt, begin, steps, lanes)
        beats[0] += 1
        if not look(layout, t, state, work, kept, lanes):
            return


def played(
    layout: Layout, ground: Ground, pushes: Pushes, tapes: Tapes, state: FloatArray,
    bristles: FloatArray, dt: float, first: int, ticks: int, samples: int, steps: int,
) -> Record:  # fmt: skip
    """
    Return what ``play`` brings about from a state (b, 13 L), which it takes along.

    Parameters are those of ``play``; ``ticks`` is the number of control periods.
    """
    lanes = state.shape[1] // BODY
    kept = record(layout, ticks, lanes)
    play(
        layout, ground, pushes, tapes, state, bristles, workspace(layout, lanes), kept, dt, first,
        samples, steps, (0,) * lanes, pulse.counter(),
    )  # fmt: skip
    return kept
