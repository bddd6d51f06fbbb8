# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Ranking of evaluations and the ask/tell protocol of optimisers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
import math

import numpy as np

from gait_core.arrays import FloatArray, read_only_array
from gait_core.contracts import Candidate, Evaluation
from gait_core.errors import ProtocolError
from gait_core.trial.spec import FELL, OK

SortKey = tuple[int, float, float]

EXCLUDED_RANK = 2
"""First part of the sort key of candidates without a comparable fitness."""


def sort_key(evaluation: Evaluation) -> SortKey:
    """
    Return a key that sorts evaluations best first, by the rules of Deb (2000).

    Feasible candidates come first, by decreasing fitness; then those that violate a constraint,
    by the increasing sum of violations; then, with equal keys, those whose status gives no
    fitness or whose fitness is not finite.

    References
    ----------
    Deb (2000), Computer Methods in Applied Mechanics and Engineering 186:311-338.

    """
    if evaluation.status not in (OK, FELL) or not math.isfinite(evaluation.fitness):
        return EXCLUDED_RANK, 0.0, 0.0
    violation = sum(max(0.0, value) for value in evaluation.constraints.values())
    if not math.isfinite(violation):
        return EXCLUDED_RANK, 0.0, 0.0
    return (1 if violation > 0.0 else 0), violation, -evaluation.fitness


def tied_ranks(evaluations: Sequence[Evaluation]) -> FloatArray:
    """Return the rank of each evaluation, (k,), 0 is best; equal keys have their mean rank."""
    keys = [sort_key(evaluation) for evaluation in evaluations]
    first = {key: position for position, key in reversed(list(enumerate(sorted(keys))))}
    counts = Counter(keys)
    return np.array([first[key] + 0.5 * (counts[key] - 1) for key in keys])


class AskTellLedger:
    """Ids of the candidates of a run, and checks of the order of ask and tell."""

    def __init__(self) -> None:
        self._next_id = 0
        self._open: tuple[int, ...] | None = None

    def check_ask(self) -> None:
        """Raise ProtocolError if the candidates of the last ask have not been told."""
        if self._open is not None:
            raise ProtocolError(
                f'ask was called twice: {len(self._open)} candidates of the last ask have no '
                'evaluation; call tell first'
            )

    def issue_candidates(
        self, genomes: Sequence[FloatArray], parents: Sequence[tuple[int, ...]]
    ) -> list[Candidate]:
        """Return candidates with new ids for genomes, and expect their evaluations."""
        candidates = [
            Candidate(
                id=self._next_id + i, values=read_only_array(genome, name='genome'), parents=origin
            )
            for i, (genome, origin) in enumerate(zip(genomes, parents, strict=True))
        ]
        self._next_id += len(candidates)
        self.open(candidate.id for candidate in candidates)
        return candidates

    def open(self, ids: Iterable[int]) -> None:
        """Expect the evaluations of candidates with these ids."""
        self._open = tuple(ids)

    def match_evaluations(self, evaluations: Sequence[Evaluation]) -> list[Evaluation]:
        """Return the evaluations in the order of the ask; ProtocolError unless all ids match."""
        if self._open is None:
            raise ProtocolError('tell was called before ask; call ask first')
        told = {evaluation.id: evaluation for evaluation in evaluations}
        if len(told) != len(evaluations) or set(told) != set(self._open):
            raise ProtocolError(
                f'evaluations have ids {sorted(e.id for e in evaluations)}, expected those of the '
                f'last ask: {list(self._open)}'
            )
        ordered = [told[i] for i in self._open]
        self._open = None
        return ordered
