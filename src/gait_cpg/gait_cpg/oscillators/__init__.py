# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Networks of coupled oscillators with one interface, ``OscillatorNetwork``.

A model is a dataclass of the parameters of one network or of a batch. It computes its rates, is
integrated by explicit Euler steps in compiled code or by SciPy, and predicts whether and how it
oscillates, as far as that is known: ``oscillates``, ``expected_frequency``,
``expected_amplitude``.
"""

from gait_cpg.oscillators.coupling import Coupling, coupling_to_lags, locked_phases, zero_coupling
from gait_cpg.oscillators.diagnosis import ALIVE_THRESHOLD, Diagnosis, diagnose
from gait_cpg.oscillators.matsuoka import (
    Equilibrium,
    MatsuokaNeurons,
    alternating_weights,
    cross_weight_count,
    neural_oscillators,
    reference_weights,
    weight_matrix,
)
from gait_cpg.oscillators.network import OscillatorNetwork, OscillatorRun
from gait_cpg.oscillators.phase import PhaseOscillators, amplitudes_after

__all__ = [
    'ALIVE_THRESHOLD',
    'Coupling',
    'Diagnosis',
    'Equilibrium',
    'MatsuokaNeurons',
    'OscillatorNetwork',
    'PhaseOscillators',
    'OscillatorRun',
    'alternating_weights',
    'amplitudes_after',
    'coupling_to_lags',
    'diagnose',
    'locked_phases',
    'neural_oscillators',
    'weight_matrix',
    'reference_weights',
    'zero_coupling',
    'cross_weight_count',
]
