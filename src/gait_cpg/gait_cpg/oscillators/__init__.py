"""
Coupled oscillators behind one interface, ``OscillatorNetwork``.

Each model is a dataclass of its parameters, of one network or of a batch. It gives its rates,
advances by explicit Euler steps in compiled code or by SciPy's integrators, and knows its closed
forms: ``oscillates``, ``expected_frequency``, ``expected_amplitude`` where there are such.
"""

from gait_cpg.oscillators.coupling import Coupling, coupling_to_lags, locked_phases, uncoupled
from gait_cpg.oscillators.diagnosis import ALIVE_ABOVE, Diagnosis, diagnose
from gait_cpg.oscillators.matsuoka import (
    Equilibrium,
    MatsuokaNeurons,
    alternating_weights,
    neural_oscillators,
    pair_weights,
    reference_weights,
    weights_between,
)
from gait_cpg.oscillators.network import OscillatorNetwork, Run
from gait_cpg.oscillators.phase import PhaseOscillators, amplitudes_after

__all__ = [
    'ALIVE_ABOVE',
    'Coupling',
    'Diagnosis',
    'Equilibrium',
    'MatsuokaNeurons',
    'OscillatorNetwork',
    'PhaseOscillators',
    'Run',
    'alternating_weights',
    'amplitudes_after',
    'coupling_to_lags',
    'diagnose',
    'locked_phases',
    'neural_oscillators',
    'pair_weights',
    'reference_weights',
    'uncoupled',
    'weights_between',
]
