# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Optimisation of strides with frozen, constant or free leg lengths.

Fitness is minus the cost of transport, friction of the screws included. Requirements exclude
strides that a robot could not walk: a stride that is unstable, slips, drags or is too short never
beats one that meets all of them. The problem is multimodal: compare means over seeds at equal
effort.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gait_core import registry
from gait_core.arrays import FloatArray
from gait_core.contracts import Evaluation
from gait_core.errors import unknown_name_error
from gait_core.trial.spec import OK
from gait_studies.cafarelli2017.strides.hexapod import HexapodParameters
from gait_studies.cafarelli2017.strides.leg_freedom import LegFreedom
from gait_studies.cafarelli2017.strides.measures import (
    MeasureSettings,
    StrideMeasures,
    measure_strides,
)
from gait_studies.cafarelli2017.strides.scoring import PUBLISHED_HEXAPOD


def _transport_cost(measures: StrideMeasures) -> FloatArray:
    weight = measures.mass * measures.gravity
    with np.errstate(divide='ignore', invalid='ignore'):
        return np.asarray(measures.energy / (weight * measures.distance))


OBJECTIVES: Mapping[str, Callable[[StrideMeasures], FloatArray]] = {
    'cost_of_transport': lambda measures: -_transport_cost(measures),
    'level': lambda measures: -measures.lean,
    'distance': lambda measures: measures.distance,
    'energy': lambda measures: -measures.energy,
    'margin': lambda measures: measures.margin,
}
"""Objectives (k,) to be maximised; costs are negated."""


@dataclass(frozen=True, kw_only=True)
class Requirements:
    """
    Requirements on a stride [m].

    Attributes
    ----------
    distance, margin, clearance, knees : float
        Minimum stroke, stability margin, height of a foot in mid-swing and height of a knee.
    slip, handover : float
        Maximum change of distance between two feet in stance, and height at touch-down or
        lift-off.
    """

    distance: float = 0.05
    margin: float = 0.01
    clearance: float = 0.02
    knees: float = 0.03
    slip: float = 0.01
    handover: float = 0.01


DEFAULT_REQUIREMENTS = Requirements()


def requirement_violations(
    measures: StrideMeasures, requirements: Requirements = DEFAULT_REQUIREMENTS
) -> dict[str, FloatArray]:
    """Return by how much strides violate each requirement, (k,) [m]; met if <= 0."""
    return {
        'distance': requirements.distance - measures.distance,
        'margin': requirements.margin - measures.margin,
        'clearance': requirements.clearance - measures.clearance,
        'knees': requirements.knees - measures.knees,
        'slip': measures.slip - requirements.slip,
        'handover': measures.handover - requirements.handover,
    }


@dataclass(frozen=True, kw_only=True)
class StrideSolution:
    """
    Best stride of a search.

    Attributes
    ----------
    genes : (48,) array [deg, cm]
    lead : float [m]
        Lead of its screws.
    objectives : (m,) array or None
        Objectives of the best stride by the first one; ``None`` if no stride met all requirements.
    front : (k, m) array
        Objectives of the Pareto front of the last generation; empty for single-objective methods.
    evaluations : int
    measures : StrideMeasures
        Measures of the best stride, arrays of length 1.

    """

    genes: FloatArray
    lead: float
    objectives: FloatArray | None
    front: FloatArray
    evaluations: int
    measures: StrideMeasures

    @property
    def cost_of_transport(self) -> float | None:
        """Cost of transport of the best stride; ``None`` if no stride met all requirements."""
        return None if self.objectives is None else float(_transport_cost(self.measures)[0])


@dataclass(frozen=True, kw_only=True)
class StrideProblem:
    """
    Optimisation problem of a stride: search space, conditions and requirements.

    Attributes
    ----------
    legs : LegFreedom
    optimizer : str
        Registered name.
    evaluations : int
        Budget; a generation that would exceed it is not evaluated.
    objectives : tuple of str
        Keys of ``OBJECTIVES``; all methods but ``nsga2`` use the first only.
    conditions : MeasureSettings
    hexapod : HexapodParameters
    requirements : Requirements

    """

    legs: LegFreedom
    optimizer: str = 'cma_es'
    evaluations: int = 20000
    objectives: tuple[str, ...] = ('cost_of_transport',)
    conditions: MeasureSettings = MeasureSettings()
    hexapod: HexapodParameters = PUBLISHED_HEXAPOD
    requirements: Requirements = DEFAULT_REQUIREMENTS

    def __post_init__(self) -> None:
        """Check the objectives."""
        for name in self.objectives:
            if name not in OBJECTIVES:
                raise unknown_name_error('objective', name, OBJECTIVES)

    def search(self, seed: int, settings: Mapping[str, Any] | None = None) -> StrideSolution:
        """
        Run a search and return its best stride.

        Parameters
        ----------
        seed : int
        settings : mapping, optional
            Settings of the optimiser. Its ``start``, e.g. ``legs.encode_start(stride)``, is the
            first candidate, so that a search with free lengths is never worse than its start.

        """
        chosen = dict(settings or {})
        if self.optimizer == 'nsga2':
            chosen['objectives'] = len(self.objectives)
        optimizer = registry.optimizer(self.optimizer)(
            dimension=self.legs.dimension, seed=seed, **chosen
        )
        best = _BestGenome(np.inf, -np.inf, np.full(self.legs.dimension, 0.5))
        if chosen.get('start'):
            start = np.array([chosen['start']])
            best.take(start, *self._score_measures(self._measure_genomes(start)))
        used = 0
        while not optimizer.stop():
            candidates = optimizer.ask()
            if used + len(candidates) > self.evaluations:
                break
            used += len(candidates)
            genomes = np.array([candidate.values for candidate in candidates])
            missed, objectives = self._score_measures(self._measure_genomes(genomes))
            best.take(genomes, missed, objectives)
            optimizer.tell(
                [
                    Evaluation(
                        id=candidate.id,
                        status=OK,
                        objectives=objectives[i],
                        constraints={'requirements': float(missed[i])},
                    )
                    for i, candidate in enumerate(candidates)
                ]
            )
        return self._solution(best, optimizer.pareto_front(), used)

    def _measure_genomes(self, genomes: FloatArray) -> StrideMeasures:
        return measure_strides(
            self.legs.decode_strides(genomes),
            self.conditions,
            self.hexapod,
            self.legs.decode_leads(genomes),
        )

    def _score_measures(self, measures: StrideMeasures) -> tuple[FloatArray, FloatArray]:
        """Return summed violations (k,) and objectives (k, m), 0 for strides with violations."""
        missed = requirement_violations(measures, self.requirements)
        total = np.sum([np.maximum(0.0, value) for value in missed.values()], axis=0)
        total = np.where(np.isfinite(total), total, np.inf)
        values = np.column_stack([OBJECTIVES[name](measures) for name in self.objectives])
        # Below the minimum distance the cost has no meaning and can be negative.
        return total, np.where(total[:, None] == 0.0, values, 0.0)

    def _solution(self, best: _BestGenome, front: FloatArray, evaluations: int) -> StrideSolution:
        """Return the solution of a search from its best genome and final front."""
        genome = best.genome[None]
        measures, leads = self._measure_genomes(genome), self.legs.decode_leads(genome)
        is_met = best.missed == 0.0
        return StrideSolution(
            genes=self.legs.decode_strides(genome)[0],
            lead=self.hexapod.lead if leads is None else float(leads[0]),
            objectives=self._score_measures(measures)[1][0] if is_met else None,
            front=front,
            evaluations=evaluations,
            measures=measures,
        )


@dataclass
class _BestGenome:
    """Best genome so far: least total violation, then best first objective."""

    missed: float
    objective: float
    genome: FloatArray

    def take(self, genomes: FloatArray, missed: FloatArray, objectives: FloatArray) -> None:
        """Keep the best of a population if it is better."""
        first = np.lexsort((-objectives[:, 0], missed))[0]
        candidate = float(missed[first]), float(-objectives[first, 0])
        if candidate < (self.missed, -self.objective):
            self.missed, self.objective = candidate[0], -candidate[1]
            self.genome = genomes[first]
