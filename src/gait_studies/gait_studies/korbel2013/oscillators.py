# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study korbel2013: measurements of single oscillators and of networks of four."""

from __future__ import annotations

import numpy as np

from gait_core.arrays import FloatArray
from gait_cpg.oscillators.diagnosis import diagnose
from gait_cpg.oscillators.matsuoka import cross_weight_count, neural_oscillators, reference_weights

EULER_STEP = 0.0005
"""Explicit Euler step of the thesis [s]."""

TRIAL_SAMPLES = 30000
"""Steps of a trial of 15 s."""

BLANKED_SAMPLES = 2500
"""Number of first samples that are not sent to the robot."""

REFERENCE_SIGNALS = {
    2000: (0.09587769, 0.11561952, -0.10681086, -0.01932287),
    4000: (-0.08152248, 0.09401814, -0.01287179, 0.0),
    10000: (-0.20903445, 0.13641536, 0.03507216, 0.0),
    20000: (-0.24705011, 0.17703307, 0.0, 0.0),
    29999: (-0.13744696, 0.21533824, -0.06776550, 0.0),
}
"""Signals by sample, of ``reference_weights(4)`` and a time constant of 0.25 s."""

_GENOME_COUNT = 200
_SEED = 2013


def oscillator_measurements() -> dict[str, float]:
    """
    Return measurements of single oscillators and networks of four by name.

    Frequencies are in Hz, peaks without unit, shares of 1. A name begins with its parameter set:
    ``sine`` has a weight of 1.5 and time constants of 0.3 and 0.6 s; ``heavy`` differs by a weight
    of 2, ``quick`` and ``slow`` by a second time constant of 1.5 and 3 times the first, ``target``
    by a first time constant of 0.2274 s.
    """
    measurements: dict[str, float] = {}
    for name, weight, tau, ratio in (
        ('sine', 1.5, 0.3, 2.0),
        ('heavy', 2.0, 0.3, 2.0),
        ('quick', 1.5, 0.3, 1.5),
        ('slow', 1.5, 0.3, 3.0),
        ('target', 1.5, 0.2274, 2.0),
    ):
        signal = _oscillator_signal(weight, tau, ratio)
        late = signal[10000:]
        frequency = float(diagnose(late[:, None], EULER_STEP).frequency[0])
        measurements[f'{name}_frequency'] = frequency
        measurements[f'{name}_peak'] = float(np.abs(late).max())
        measurements[f'{name}_last_peak'] = float(np.abs(signal[-4000:]).max())
        measurements[f'{name}_third_harmonic'] = _third_harmonic(late, frequency)
    signals = _network_signals(reference_weights(4), 0.25)
    errors = [
        np.abs(signals[sample] - expected).max() for sample, expected in REFERENCE_SIGNALS.items()
    ]
    measurements['reference_error'] = float(max(errors))
    for tau in (0.25, 0.3, 0.5):
        equal = _network_signals(np.full(cross_weight_count(4), 2.2), tau)
        measurements[f'equal_peak_{tau:g}'] = float(np.abs(equal[10000:]).max())
    return {**measurements, **_population_measurements()}


def _population_measurements() -> dict[str, float]:
    """Return shares of random networks that oscillate, and sizes of their signals."""
    rng = np.random.default_rng(_SEED)
    weights = np.asarray(
        1.0 + 0.0012 * rng.integers(2000, size=(_GENOME_COUNT, cross_weight_count(4)))
    )
    tau = np.asarray(0.2 + 0.00015 * rng.integers(2000, size=_GENOME_COUNT))
    signals = _network_signals(weights, tau)
    diagnosis = diagnose(signals[:, 24000:], EULER_STEP)
    return {
        'alive_share': float((diagnosis.verdicts == 'alive').mean()),
        'dead_share': float((diagnosis.verdicts == 'dead').mean()),
        'largest_signal': float(np.abs(signals[:, BLANKED_SAMPLES:]).max()),
        'peak_to_peak': float(np.median(diagnosis.peak_to_peak)),
    }


def _oscillator_signal(weight: float, tau: float, ratio: float) -> FloatArray:
    network = neural_oscillators([], 1, tau_a=tau, tau_ratio=ratio, pair_weight=weight)
    return network.euler(network.initial_state(), EULER_STEP, TRIAL_SAMPLES).signals[:, 0]


def _network_signals(weights: FloatArray, tau: float | FloatArray) -> FloatArray:
    network = neural_oscillators(weights, 4, tau_a=tau)
    return network.euler(network.initial_state(), EULER_STEP, TRIAL_SAMPLES).signals


def _third_harmonic(signal: FloatArray, frequency: float) -> float:
    """Return the amplitude of the third harmonic as a share of the first, by least squares."""
    if not frequency:
        return 0.0
    angle = 2.0 * np.pi * frequency * EULER_STEP * np.arange(len(signal))
    waves = [wave(k * angle) for k in range(1, 8) for wave in (np.cos, np.sin)]
    parts, *_ = np.linalg.lstsq(
        np.stack([np.ones_like(angle), *waves], axis=1), signal, rcond=None
    )
    sizes = np.hypot(parts[1::2], parts[2::2])
    return float(sizes[2] / sizes[0])
