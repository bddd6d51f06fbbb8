"""
Do extending legs save energy? Searches with frozen, constant and free lengths, measured soundly.

Fitness is minus the cost of transport, friction of the screws included. What a robot could not
walk breaks a requirement: an unstable, slipping, dragging or too short stride never beats one that
keeps them all. Searches are multimodal: compare means over seeds at equal effort.
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
"""What can be maximised: minus cost of transport, lean and energy, and what its name says."""


@dataclass(frozen=True, kw_only=True)
class Requirements:
    """
    Requirements of a stride that walks, [m].

    Attributes
    ----------
    distance, margin, clearance, knees : float
        At least: stroke, stability margin, height of a foot in mid-swing and of knees throughout.
    slip, handover : float
        At most: change of distance of two standing feet, distance from the ground at a change.
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
    """Return by how much strides miss each requirement, (k,) [m]; met where <= 0."""
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
    The best stride of one search.

    Attributes
    ----------
    genes : (48,) array [deg, cm]
    lead : float [m]
        Of its screws.
    objectives : (m,) array or None
        ``None`` if no stride met all requirements; the best is that of the first objective.
    front : (k, m) array
        Objectives of strides that none of the last ones beats, where the search keeps such.
    evaluations : int
    measures : StrideMeasures
        Of that stride, arrays of one.

    """

    genes: FloatArray
    lead: float
    objectives: FloatArray | None
    front: FloatArray
    evaluations: int
    measures: StrideMeasures

    @property
    def cost_of_transport(self) -> float | None:
        """Of the best stride, ``None`` if none met all requirements."""
        return None if self.objectives is None else float(_transport_cost(self.measures)[0])


@dataclass(frozen=True, kw_only=True)
class StrideProblem:
    """
    Question of a search: legs, conditions and requirements.

    Attributes
    ----------
    legs : Legs
    optimizer : str
        Registered name.
    evaluations : int
        At most, by whole generations.
    objectives : tuple of str
        Keys of ``OBJECTIVES``; only ``nsga2`` looks beyond the first.
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
        Return the best stride of one search.

        Parameters
        ----------
        seed : int
        settings : mapping, optional
            Of the optimiser. Its ``start``, e.g. ``legs.start(stride)``, counts from the outset:
            without it a free search may end above a frozen one for want of effort alone.

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
        """Return summed violations (k,) and objectives (k, m), which are 0 where one is."""
        missed = requirement_violations(measures, self.requirements)
        total = np.sum([np.maximum(0.0, value) for value in missed.values()], axis=0)
        total = np.where(np.isfinite(total), total, np.inf)
        values = np.column_stack([OBJECTIVES[name](measures) for name in self.objectives])
        # Below the least distance the cost says nothing, and may be negative.
        return total, np.where(total[:, None] == 0.0, values, 0.0)

    def _solution(self, best: _BestGenome, front: FloatArray, used: int) -> StrideSolution:
        genome = best.genome[None]
        measures, leads = self._measure_genomes(genome), self.legs.decode_leads(genome)
        met = best.missed == 0.0
        return StrideSolution(
            genes=self.legs.decode_strides(genome)[0],
            lead=self.hexapod.lead if leads is None else float(leads[0]),
            objectives=self._score_measures(measures)[1][0] if met else None,
            front=front,
            evaluations=used,
            measures=measures,
        )


@dataclass
class _BestGenome:
    """The genome that misses the requirements least, of such the one with the best objective."""

    missed: float
    objective: float
    genome: FloatArray

    def take(self, genomes: FloatArray, missed: FloatArray, objectives: FloatArray) -> None:
        """Keep the best of a population if it is better."""
        first = np.lexsort((-objectives[:, 0], missed))[0]
        found = float(missed[first]), float(-objectives[first, 0])
        if found < (self.missed, -self.objective):
            self.missed, self.objective = found[0], -found[1]
            self.genome = genomes[first]
