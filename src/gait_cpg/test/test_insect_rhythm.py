# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Wilson's rules in the oscillators: when each leg steps, at any cycle time and between them."""

import numpy as np
import pytest

from gait_cpg.insect.rhythm import InsectRhythm, cycle_time

STEP = 0.05
DT = 1.0 / 2400.0
LEGS = ('LF', 'LM', 'LB', 'RF', 'RM', 'RB')
# Step onset in ms after that of LB; McKenna's rules with a step of 50 ms.
ONSETS = {
    1.0: {'LB': 0, 'LM': 50, 'LF': 0, 'RB': 50, 'RM': 0, 'RF': 50},
    1.5: {'LB': 0, 'LM': 50, 'LF': 100, 'RB': 75, 'RM': 125, 'RF': 25},
    2.0: {'LB': 0, 'LM': 50, 'LF': 100, 'RB': 100, 'RM': 150, 'RF': 0},
    3.0: {'LB': 0, 'LM': 50, 'LF': 100, 'RB': 150, 'RM': 200, 'RF': 250},
    5.0: {'LB': 0, 'LM': 50, 'LF': 100, 'RB': 250, 'RM': 300, 'RF': 350},
}


def rhythm() -> InsectRhythm:
    return InsectRhythm(np.array([0, 1, 2, 0, 1, 2]), np.array([0, 0, 0, 1, 1, 1], dtype=bool))


def onsets(scales, seconds: float) -> dict[str, np.ndarray]:
    """Return the times at which each leg is triggered, for a period scale of the time."""
    legs, found = rhythm(), {name: [] for name in LEGS}
    for tick in range(round(seconds / DT)):
        time = tick * DT
        for leg in np.flatnonzero(legs.advance(DT, cycle_time(scales(time), STEP), STEP)):
            found[LEGS[leg]].append(time + DT)
    return {name: np.array(times) for name, times in found.items()}


@pytest.mark.parametrize('scale', ONSETS)
def test_legs_step_once_a_cycle_in_the_published_order(scale):
    cycle = cycle_time(scale, STEP)
    found = onsets(lambda time: scale, 6.0 * cycle)
    for name, times in found.items():
        assert np.diff(times) == pytest.approx(cycle, abs=1.01 * DT)
        lag = np.mod(times[1] - found['LB'][1] + 1e-6, cycle)
        apart = abs(lag - 1e-3 * ONSETS[scale][name])
        assert min(apart, cycle - apart) < 1.01 * DT, name


@pytest.mark.parametrize(('first', 'last'), [(5.0, 1.0), (1.0, 5.0)])
def test_a_ramp_neither_loses_nor_doubles_a_step(first, last):
    seconds, hold = 3.0, 0.5

    def scale(time: float) -> float:
        return first + (last - first) * min(max(time - hold, 0.0) / seconds, 1.0)

    found = onsets(scale, seconds + 2.0 * hold)
    for times in found.values():
        cycles = np.diff(times)
        middle = np.array([cycle_time(scale(t), STEP) for t in 0.5 * (times[1:] + times[:-1])])
        # A lost step would make a cycle twice as long, a doubled one next to nothing.
        assert (cycles / middle).max() < 1.5
        assert (cycles / middle).min() > 0.5
    together = [
        max(0.0, STEP - abs(a - b))
        for back, front in (('LB', 'LM'), ('LM', 'LF'), ('RB', 'RM'), ('RM', 'RF'))
        for a in found[back]
        for b in found[front]
    ]
    if last == 1.0:
        # The delay rule itself overlaps neighbours by 4.6 ms on this ramp.
        assert max(together) < 0.005
