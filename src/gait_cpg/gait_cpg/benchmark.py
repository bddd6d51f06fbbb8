"""How long a step of the oscillators takes, for `gait bench`."""

from __future__ import annotations

import numpy as np

from gait_core.benchmark import Measurement, least_time
from gait_cpg.phase_oscillators import OscillatorState, advance, coupling_to_lags, locked_phases

BUDGET_US = 20.0
_STEPS = 2000


def benchmark() -> list[Measurement]:
    """Return the time of one step of 4 and of 24 coupled phase oscillators."""
    return [
        Measurement(
            id=f'cpg_step_{count}',
            what=f'a step of {count} coupled phase oscillators',
            unit='us',
            measured=_step_time(count) * 1e6,
            budget=BUDGET_US,
        )
        for count in (4, 24)
    ]


def _step_time(count: int) -> float:
    lags = np.linspace(0.0, 1.0, count, endpoint=False)
    coupling = coupling_to_lags(lags, 6.0)
    frequency, amplitude = np.full(count, 2.0), np.ones(count)
    gain = np.full(count, 12.0)

    def steps() -> None:
        state = OscillatorState.at_rest(locked_phases(lags))
        for _ in range(_STEPS):
            state = advance(
                state,
                0.02,
                frequency=frequency,
                target_amplitude=amplitude,
                amplitude_gain=gain,
                coupling=coupling,
            )

    steps()
    return least_time(steps) / _STEPS
