# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Benchmarks of the oscillators for `gait bench`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gait_core.benchmark import Measurement, shortest_wall_time
from gait_cpg.oscillators import (
    MatsuokaNeurons,
    PhaseOscillators,
    coupling_to_lags,
    cross_weight_count,
    locked_phases,
    neural_oscillators,
    reference_weights,
)

BUDGET_US = 20.0
BATCH = 1000
BATCH_BUDGET_US = 1.0
TAPE_BUDGET_MS = 1.5
_STEPS = 2000
_EULER_STEP = 0.0005
_TAPE_STEPS = 30000


def benchmark() -> list[Measurement]:
    """Measure single and batched steps of phase and Matsuoka oscillators."""
    rows = [
        Measurement(
            id=f'cpg_step_{count}',
            what=f'a step of {count} coupled phase oscillators',
            unit='us',
            measured=_phase_step_time(count) * 1e6,
            budget=BUDGET_US,
        )
        for count in (4, 24)
    ]
    return [
        *rows,
        Measurement(
            id='matsuoka_step',
            what='an Euler step of 4 neural oscillators from Python',
            unit='us',
            measured=_matsuoka_step_time() * 1e6,
            budget=BUDGET_US,
        ),
        Measurement(
            id='matsuoka_batch_step',
            what=f'an Euler step of one of {BATCH} such networks in a batch',
            unit='us',
            measured=_matsuoka_batch_time() * 1e6,
            budget=BATCH_BUDGET_US,
        ),
        Measurement(
            id='matsuoka_tape',
            what=f'{_TAPE_STEPS} Euler steps of such a network in one call',
            unit='ms',
            measured=_matsuoka_tape_time() * 1e3,
            budget=TAPE_BUDGET_MS,
        ),
    ]


def _time_of(steps: Callable[[], None], count: int) -> float:
    # The first call compiles the kernels, or loads them from the cache.
    steps()
    return shortest_wall_time(steps) / count


def _phase_step_time(count: int) -> float:
    """Return the time of a step of coupled phase oscillators from Python [s]."""
    lags = np.linspace(0.0, 1.0, count, endpoint=False)
    network = PhaseOscillators(
        frequency=np.full(count, 2.0),
        target_amplitude=np.ones(count),
        amplitude_gain=np.full(count, 12.0),
        coupling=coupling_to_lags(lags, 6.0),
    )

    def steps() -> None:
        """Advance phases from rest."""
        state = network.rest_state(locked_phases(lags))
        for _ in range(_STEPS):
            state = network.advance(state, 0.02)

    return _time_of(steps, _STEPS)


def _matsuoka_step_time() -> float:
    """Return the time of an Euler step of a Matsuoka network from Python [s]."""
    network = neural_oscillators(reference_weights(4), 4, tau_a=0.25)

    def steps() -> None:
        """Integrate one network."""
        state = network.initial_state()
        for _ in range(_STEPS):
            state = network.euler(state, _EULER_STEP).state

    return _time_of(steps, _STEPS)


def _matsuoka_batch_time() -> float:
    """Return the time of an Euler step per network in a batch [s]."""
    weights = np.linspace(1.0, 3.4, BATCH * cross_weight_count(4)).reshape(BATCH, -1)
    network = neural_oscillators(weights, 4, tau_a=np.full(BATCH, 0.25))
    count = 20

    def steps() -> None:
        """Integrate all networks at once."""
        state = network.initial_state()
        for _ in range(count):
            state = network.euler(state, _EULER_STEP).state

    return _time_of(steps, count * BATCH)


def _matsuoka_tape_time() -> float:
    """Return the time of many Euler steps in one call [s]."""
    network = neural_oscillators(reference_weights(4), 4, tau_a=0.25)
    return _time_of(lambda: _run_tape(network), 1)


def _run_tape(network: MatsuokaNeurons) -> None:
    network.euler(network.initial_state(), _EULER_STEP, _TAPE_STEPS)
