# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Genetic algorithm of Bishop (2008): the rank of a parent is the square of a uniform number.

References
----------
Bishop (2008), *A Method for Generating Robot Control Systems*, MSc thesis, Youngstown State
University: chapter 3 and appendix B.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math
from typing import Any, ClassVar

import numpy as np

from gait_core.contracts import ArrayShapes, Candidate, Evaluation, Optimizer
from gait_core.errors import ConfigurationError
from gait_core.parameters.declaration import (
    Parameters,
    bool_parameter,
    float_parameter,
    fraction_parameter,
    int_parameter,
    make_parameters,
)
from gait_core.trial.seeding import check_seed
from gait_cpg.perceptron.layout import Weights, require_layout
from gait_evolver.optimizers.ranking import AskTellLedger, sort_key
from gait_studies.bishop2008.breeding import Breeder, Mutations


@dataclass(frozen=True, kw_only=True)
class RankSquaredSettings(Parameters):
    """Settings of the published genetic algorithm; the defaults are those of its program."""

    population: int = int_parameter(40, low=4, high=10000, doc='Candidates in the population.')
    replaced: int = int_parameter(
        20,
        low=1,
        high=9999,
        doc='Candidates of the last ranks that offspring replace in each generation.',
    )
    carry: float = float_parameter(
        0.25,
        low=0.0,
        high=0.99,
        unit='-',
        doc="Share of a candidate's score that adds to its next score; the text of the thesis "
        'says 0.5.',
    )
    mutation_probability: float = fraction_parameter(
        0.05, doc='Probability that a perceptron of an offspring is mutated.'
    )
    delay_probability: float = fraction_parameter(
        0.75,
        doc='Probability that a mutated perceptron is delayed: its input weights move to other '
        'frames of the memory. The text of the thesis says 0.25.',
    )
    relocation_probability: float = fraction_parameter(
        0.95, doc='Probability that a segment of perceptrons of an offspring moves.'
    )
    input_jitter: float = float_parameter(
        0.1,
        low=0.0,
        high=100.0,
        unit='-',
        doc='Largest random change of an input weight, relative to 1/sqrt(n): the root mean '
        'square of the n input weights of a perceptron, whose norm is 1.',
    )
    output_jitter: float = float_parameter(
        1e-4, low=0.0, high=1.0, unit='m/s', doc='Largest random change of an output weight.'
    )
    as_text: bool = bool_parameter(
        False,
        doc='Mutate as in the text of the thesis, not as in its program: weights that are drawn '
        'anew in a row can reach the last one, and where the outputs of a perceptron are mirrored '
        'in x, its inputs are delayed, not negated.',
    )


@dataclass
class _Member:
    id: int
    weights: Weights
    parents: tuple[int, ...]
    score: float = 0.0
    key: tuple[int, float, float] = (2, 0.0, 0.0)


class RankSquaredOptimizer(Optimizer):
    """
    Genetic algorithm over the weights of networks; every candidate is tried in each generation.

    The rank of a parent is ``floor(N u^2)`` with u uniform. A survivor keeps its weights and its
    id. Its score is its new fitness plus a share of its last score; without a valid fitness it is
    that share alone. Offspring with score zero replace the last ranks.
    """

    Settings: ClassVar[type[Parameters]] = RankSquaredSettings
    searches_arrays: ClassVar[bool] = True

    def __init__(self, *, dimension: int, seed: int, shapes: ArrayShapes, **settings: Any) -> None:
        chosen = make_parameters(RankSquaredSettings, settings)
        layout = self._layout = require_layout('rank_squared', dimension, shapes)
        if chosen.replaced >= chosen.population:
            raise ConfigurationError(
                f'rank_squared replaces {chosen.replaced} of {chosen.population} members; nearest '
                f'valid: {chosen.population - 1}'
            )
        self._settings = chosen
        self._rng = np.random.default_rng(check_seed(seed))
        self._breeder = Breeder(
            layout,
            Mutations(
                mutation_probability=chosen.mutation_probability,
                delay_probability=chosen.delay_probability,
                relocation_probability=chosen.relocation_probability,
                input_jitter=chosen.input_jitter / math.sqrt(layout.inputs),
                output_jitter=chosen.output_jitter,
                as_text=chosen.as_text,
            ),
        )
        self._next_id = 0
        self._ledger = AskTellLedger()
        self._members = [
            self._new_member(layout.random_weights(self._rng)) for _ in range(chosen.population)
        ]

    @property
    def scores(self) -> tuple[float, ...]:
        """Scores of the candidates in order, carried shares included."""
        return tuple(member.score for member in self._members)

    def ask(self) -> list[Candidate]:
        """Return the whole population: survivors, then the offspring of the last generation."""
        self._ledger.check_ask()
        self._ledger.open(member.id for member in self._members)
        return [
            Candidate(
                id=member.id,
                parents=member.parents,
                arrays=self._layout.split_weights(member.weights),
            )
            for member in self._members
        ]

    def tell(self, evaluations: Sequence[Evaluation]) -> None:
        """Score and rank the candidates, and replace the last ranks by offspring."""
        in_order = self._ledger.match_evaluations(evaluations)
        chosen = self._settings
        for member, evaluation in zip(self._members, in_order, strict=True):
            member.key = sort_key(evaluation)
            fresh = evaluation.fitness if member.key[0] == 0 else 0.0
            # Section 3.2, rule 5: a share of the last score adds to the new one.
            member.score = fresh + chosen.carry * member.score
        # Invalid candidates rank behind all valid ones, whatever score they carry.
        ranked = sorted(
            self._members, key=lambda member: (member.key[0], -member.score, member.id)
        )
        children = []
        for _ in range(chosen.replaced):
            first, second = (ranked[self._rank()] for _ in range(2))
            weights = self._breeder.breed(first.weights, second.weights, self._rng)
            children.append(self._new_member(weights, (first.id, second.id)))
        self._members = [*ranked[: chosen.population - chosen.replaced], *children]

    def _rank(self) -> int:
        return parent_rank(float(self._rng.random()), self._settings.population)

    def _new_member(self, weights: Weights, parents: tuple[int, ...] = ()) -> _Member:
        weights.flags.writeable = False
        self._next_id += 1
        return _Member(
            id=self._next_id - 1, weights=weights, parents=tuple(dict.fromkeys(parents))
        )


def parent_rank(uniform: float, population: int) -> int:
    """
    Return the rank of a parent, 0 for the best, from a uniform number in [0, 1).

    A rank below r has the probability ``sqrt(r / population)``.
    """
    # Section 3.3: floor(N U^2).
    return int(population * uniform * uniform)
