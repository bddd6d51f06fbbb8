# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of the controller ``matsuoka`` and the network that they define."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, make_dataclass
from typing import Any

import numpy as np
from scipy.constants import lbf

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError
from gait_core.parameters.declaration import (
    Parameters,
    bool_parameter,
    float_parameter,
    int_parameter,
    str_parameter,
)
from gait_cpg.oscillators import (
    MatsuokaNeurons,
    alternating_weights,
    cross_weight_count,
    neural_oscillators,
    reference_weights,
)

MAX_OSCILLATORS = 8
"""Largest number of oscillators: eight, for undulation, with 112 weights."""

ALTERNATING_GAITS = ('trot', 'pace', 'bound', 'tripod')
"""Gaits whose lags are multiples of half a cycle."""

FEEDBACKS = ('none', 'stretch', 'contact')


_WEIGHTS = [
    (
        f'w{k + 1}',
        float,
        float_parameter(
            round(float(weight), 9),
            low=0.0,
            high=10.0,
            unit='-',
            doc='Inhibition between oscillators, ordered by receiving neuron (extensor and flexor '
            'of signal 1, of signal 2, ...), then by sending signal; n signals use the first '
            '2 n (n - 1). With two signals, w1 and w2 act on the extensor and the flexor of '
            'signal 1, w3 and w4 on those of signal 2. A search begins in [1, 3.4).',
        ),
    )
    for k, weight in enumerate(reference_weights(MAX_OSCILLATORS))
]

# Written out, these would be a hundred equal lines.
MatsuokaWeights: Any = make_dataclass(
    'MatsuokaWeights',
    _WEIGHTS,
    bases=(Parameters,),
    namespace={'__doc__': 'Weights between oscillators.', '__module__': __name__},
    frozen=True,
    kw_only=True,
)


@dataclass(frozen=True, kw_only=True)
class MatsuokaParams(MatsuokaWeights):  # type: ignore[misc]
    """Parameters of the Matsuoka oscillators, preceded by the weights between them."""

    tau_a: float = float_parameter(
        0.25,
        low=0.02,
        high=5.0,
        unit='s',
        doc='Time constant of the rise; a longer one lowers the frequency. A search begins in '
        '[0.2, 0.5).',
    )
    tau_ratio: float = float_parameter(
        2.0,
        low=0.2,
        high=20.0,
        unit='-',
        doc='Time constant of the adaptation divided by that of the rise.',
    )
    pair_weight: float = float_parameter(
        1.5, low=0.0, high=10.0, unit='-', doc='Inhibition between the two neurons of a pair.'
    )
    adaptation: float = float_parameter(
        2.5, low=0.0, high=20.0, unit='-', doc='Inhibition of a neuron by its own adaptation.'
    )
    tonic: float = float_parameter(
        0.5,
        low=0.0,
        high=10.0,
        unit='-',
        doc='Constant input of all neurons; it scales the signals.',
    )
    gait: str = str_parameter(
        'none',
        choices=('none', *ALTERNATING_GAITS),
        doc='Gait of robots without `signals` in robot.yaml: which legs alternate. It replaces '
        'the weights.',
    )
    inhibition: float = float_parameter(
        0.6,
        low=0.0,
        high=10.0,
        unit='-',
        doc='If gait is set: total inhibition of a neuron by the legs half a cycle apart.',
    )
    gain: float = float_parameter(
        2.0 * lbf,
        low=-100.0,
        high=100.0,
        unit='N',
        doc='Tension, or torque in N m, per unit of signal; the default is 2 lb.',
    )
    joint_gain: float = float_parameter(
        1.0,
        low=-20.0,
        high=20.0,
        unit='rad',
        doc='Offset of a joint from its stance per unit of the adaptation state, a smoothed and '
        'delayed copy of the signal.',
    )
    lift_gain: float = float_parameter(
        0.5,
        low=-20.0,
        high=20.0,
        unit='rad',
        doc='Offset of a joint that lifts a foot, per unit of signal above its adaptation state; '
        'it acts in the swing.',
    )
    blanking: float = float_parameter(
        1.25,
        low=0.0,
        high=60.0,
        unit='s',
        doc='Time at the start in which efforts are zero and offsets of joints grow.',
    )
    step: float = float_parameter(
        0.0005,
        low=1e-5,
        high=0.01,
        unit='s',
        doc='Explicit Euler step; rounded, so that a whole number fits between two targets.',
    )
    separate: bool = bool_parameter(
        False,
        doc='One oscillator for each joint or force element in place of one for each signal.',
    )
    sub_samples: int = int_parameter(
        0,
        low=0,
        high=1000,
        doc='Targets per control period; must divide its number of physics steps. 0: one for each '
        'Euler step for efforts, 5 for joint positions.',
    )
    feedback: str = str_parameter(
        'none',
        choices=FEEDBACKS,
        doc='Feedback signal: elongation of force elements (share) and deflection of joints '
        '(rad), or load of the soles (over an equal share of the weight, minus 1).',
    )
    feedback_gain: float = float_parameter(
        0.0,
        low=-10.0,
        high=10.0,
        unit='-',
        doc='Gain of the feedback into extensors; flexors receive the opposite.',
    )

    def without_effect(self, legs: Sequence[str]) -> Mapping[str, str]:
        """Return by name the parameters that others leave without effect, each with the reason."""
        reasons = dict(super().without_effect(legs))
        if self.gait == 'none':
            reasons['inhibition'] = "gait is 'none'"
        if self.feedback == 'none':
            reasons['feedback_gain'] = "feedback is 'none'"
        return reasons

    def weights(self, count: int) -> FloatArray:
        """Return the weights between ``count`` oscillators, (2 count (count - 1),)."""
        return np.array([getattr(self, f'w{k + 1}') for k in range(cross_weight_count(count))])

    def network(self, count: int, lags: FloatArray | None = None) -> MatsuokaNeurons:
        """
        Return the network of ``count`` oscillators; ConfigurationError for too many.

        With ``lags`` [cycles], (count,), of a gait, oscillators half a cycle apart inhibit each
        other; the weights ``w1``, ``w2``, ... are not used.
        """
        if count > MAX_OSCILLATORS:
            raise ConfigurationError(
                f"controller 'matsuoka' drives at most {MAX_OSCILLATORS} signals, here are {count}"
            )
        weights = self.weights(count)
        if lags is not None:
            weights = alternating_weights(lags, self.inhibition)
        return neural_oscillators(
            weights,
            count,
            tau_a=self.tau_a,
            tau_ratio=self.tau_ratio,
            pair_weight=self.pair_weight,
            adaptation=self.adaptation,
            tonic=self.tonic,
            readout='lagged',
        )

    @property
    def is_closed_loop(self) -> bool:
        """True if the oscillators have sensory feedback."""
        return self.feedback != 'none' and self.feedback_gain != 0.0
