# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
CMA-ES over the parameters of a periodic gait that is encoded in the weights of a network.

References
----------
Hansen and Ostermeier (2001), Evolutionary Computation 9:159-195.

"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from gait_core.arrays import FloatArray
from gait_core.contracts import ArrayShapes, Candidate, Evaluation, Optimizer
from gait_core.errors import ConfigurationError
from gait_core.parameters.declaration import (
    Parameters,
    float_parameter,
    floats_parameter,
    int_parameter,
    make_parameters,
    str_parameter,
)
from gait_core.trial.spec import TrialSpec
from gait_cpg.perceptron.layout import Weights, require_layout
from gait_evolver.optimizers.cma_es import CmaEsOptimizer
from gait_studies.bishop2008.patterns import ForwardPattern, OmnidirectionalPattern
from gait_studies.bishop2008.relays import check_layout

PATTERNS: Mapping[str, type[ForwardPattern] | type[OmnidirectionalPattern]] = {
    'forward': ForwardPattern,
    'omnidirectional': OmnidirectionalPattern,
}


@dataclass(frozen=True, kw_only=True)
class PatternCmaSettings(Parameters):
    """Settings of CMA-ES over patterns of weights."""

    population: int = int_parameter(16, low=4, high=100000, doc='Candidates per generation.')
    sigma: float = float_parameter(
        0.2,
        low=1e-6,
        high=1.0,
        unit='-',
        log=True,
        doc='Initial standard deviation, as a share of the range of each number.',
    )
    pattern: str = str_parameter(
        'forward',
        choices=tuple(PATTERNS),
        doc='forward: a gait along x, steered by the direction. omnidirectional: one in any '
        'direction.',
    )
    control_period: float = float_parameter(
        0.012, low=1e-3, high=0.1, unit='s', doc='Control period of the trials.'
    )
    start: tuple[float, ...] = floats_parameter(
        (),
        low=0.0,
        high=1.0,
        unit='-',
        doc='Initial mean in the unit cube, one number per gene. Empty: its centre.',
    )


class PatternCmaOptimizer(Optimizer):
    """
    CMA-ES over the parameters of a gait pattern, from which the network's weights are computed.

    No candidate is evaluated twice. The last channel of the layer must be 1 (``spare: one``).
    """

    Settings: ClassVar[type[Parameters]] = PatternCmaSettings
    searches_arrays: ClassVar[bool] = True

    def __init__(self, *, dimension: int, seed: int, shapes: ArrayShapes, **settings: Any) -> None:
        chosen = make_parameters(PatternCmaSettings, settings)
        layout = require_layout('pattern_cma', dimension, shapes)
        self._pattern = PATTERNS[chosen.pattern]
        check_layout(layout, chosen.control_period, self._pattern.perceptrons)
        self._layout, self._dt = layout, chosen.control_period
        self._search = CmaEsOptimizer(
            dimension=len(self._pattern.space),
            seed=seed,
            population=chosen.population,
            sigma=chosen.sigma,
            start=chosen.start,
        )

    def check_trial(self, trial: TrialSpec) -> None:
        """Raise ConfigurationError if a trial runs the layer with other settings than assumed."""
        for name, expected in (('spare', 'one'), ('scaled', True)):
            actual = trial.parameters.get(name)
            if actual != expected:
                raise ConfigurationError(
                    f'a pattern needs parameters.{name} {expected}, not {actual}; nearest valid: '
                    f'{expected}'
                )
        period = trial.scene.control_period
        if period != self._dt:
            raise ConfigurationError(
                f'scene.control_period is {period:g} s, optimizer.settings.control_period '
                f'{self._dt:g} s; nearest valid: both {period:g}'
            )

    @property
    def keeps_fitness(self) -> bool:
        """False: a fitness counts only in its own generation."""
        return False

    def ask(self) -> list[Candidate]:
        """Return the networks of one generation."""
        return [
            Candidate(
                id=candidate.id, arrays=self._layout.split_weights(self._network(candidate.values))
            )
            for candidate in self._search.ask()
        ]

    @property
    def mean_network(self) -> Weights:
        """Network at the mean of the search distribution, (perceptrons, width)."""
        return self._network(self._search.mean)

    def _network(self, point: FloatArray) -> Weights:
        weights = self._pattern.from_unit(point).weights(self._layout, self._dt)
        weights.flags.writeable = False
        return weights

    def tell(self, evaluations: Sequence[Evaluation]) -> None:
        """Adapt the search to the ranks of the evaluations."""
        self._search.tell(evaluations)

    def stop(self) -> str:
        """Return the reason why the search has ended, or an empty string."""
        return self._search.stop()
