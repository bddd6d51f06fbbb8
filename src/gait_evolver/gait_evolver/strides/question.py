"""
Do extending legs save energy? Searches with frozen, constant and free lengths, measured soundly.

Fitness is minus the cost of transport, friction of the screws included. What a robot could not
walk breaks a requirement: an unstable, slipping, dragging or too short stride never beats one that
keeps them all. Searches are multimodal: compare means over seeds at equal effort.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import math
from typing import Any

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.contracts import Evaluation
from gait_core.errors import ConfigurationError, unknown
from gait_core.registry import load
from gait_core.trial_spec import OK
from gait_evolver.strides.encoding import (
    GENES,
    LIMITS_AS_CODED,
    genes_from_legs,
    genes_of,
    repaired,
    unit_of,
)
from gait_evolver.strides.hexapod import HexapodParameters
from gait_evolver.strides.measures import MeasureSettings, StrideMeasures, measure
from gait_evolver.strides.scoring import HEXAPOD

ANGLES = 24
FROZEN = {'frozen_6': 6.0, 'frozen_9': 9.0, 'frozen_12': 12.0}
CONSTANT, FREE = 'constant', 'free'
DIMENSIONS: Mapping[str, int] = {
    **dict.fromkeys(FROZEN, ANGLES),
    CONSTANT: ANGLES + 6,
    FREE: GENES,
}
"""Genes per kind of leg: frozen at a length [cm], constant per leg and segment, free."""


@dataclass(frozen=True, kw_only=True)
class Requirements:
    """
    What a stride must keep to walk, [m].

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


REQUIREMENTS = Requirements()


def strides_of(unit: FloatArray, kind: str) -> FloatArray:
    """
    Return feasible strides (k, 48) [deg, cm] of points of the unit cube of a kind of leg.

    Raises
    ------
    ConfigurationError
        For an unknown kind or the wrong number of genes.

    """
    if kind not in DIMENSIONS:
        raise unknown('kind of leg', kind, DIMENSIONS)
    if unit.ndim != 2 or unit.shape[1] != DIMENSIONS[kind]:
        raise ConfigurationError(
            f"genomes of '{kind}' have shape {unit.shape}, expected (k, {DIMENSIONS[kind]})"
        )
    if kind == FREE:
        return repaired(genes_of(unit))
    low, high = LIMITS_AS_CODED.low, LIMITS_AS_CODED.high
    table = np.empty((len(unit), 4, 3, 4))
    table[..., :2] = unit[:, :ANGLES].reshape(-1, 4, 3, 2)
    if kind == CONSTANT:
        table[..., 2:] = unit[:, ANGLES:].reshape(-1, 1, 3, 2)
    else:
        table[..., 2:] = (FROZEN[kind] - low[2]) / (high[2] - low[2])
    return repaired(genes_of(table.reshape(-1, GENES)))


def violations(
    measures: StrideMeasures, requirements: Requirements = REQUIREMENTS
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
class Answer:
    """
    The best stride of one search.

    Attributes
    ----------
    genes : (48,) array [deg, cm]
    cost_of_transport : float or None
        ``None`` if no stride met all requirements.
    evaluations : int
    measures : StrideMeasures
        Of that stride, arrays of one.
    """

    genes: FloatArray
    cost_of_transport: float | None
    evaluations: int
    measures: StrideMeasures


@dataclass(frozen=True, kw_only=True)
class Question:
    """
    What is searched, and under which conditions.

    Attributes
    ----------
    kind : str
        Of leg, a key of ``DIMENSIONS``.
    optimizer : str
        Registered name.
    evaluations : int
        At most, by whole generations.
    conditions : MeasureSettings
    hexapod : HexapodParameters
        Its screw lead is a design variable.
    requirements : Requirements
    """

    kind: str
    optimizer: str = 'cma_es'
    evaluations: int = 20000
    conditions: MeasureSettings = MeasureSettings()
    hexapod: HexapodParameters = HEXAPOD
    requirements: Requirements = REQUIREMENTS

    def search(
        self,
        seed: int,
        settings: Mapping[str, Any] | None = None,
        start: FloatArray | None = None,
    ) -> Answer:
        """
        Return the best stride of one search.

        Parameters
        ----------
        seed : int
        settings : mapping, optional
            Of the optimiser.
        start : (48,) array [deg, cm], optional
            A stride to count from the outset, e.g. the best one of a kind that is part of this:
            without it a free search may end above a frozen one for want of effort alone.
            ``cma_es`` begins there by its own setting, see ``start_of``.

        """
        chosen = dict(settings or {})
        optimizer = load('optimizers', self.optimizer)(
            dimension=DIMENSIONS[self.kind], seed=seed, **chosen
        )
        best, leader = (np.inf, np.inf), np.zeros(GENES)
        if start is not None:
            best, leader = (
                self._order(measure(start[None], self.conditions, self.hexapod))[0],
                start,
            )
        used = 0
        while not optimizer.stop():
            candidates = optimizer.ask()
            if used + len(candidates) > self.evaluations:
                break
            used += len(candidates)
            genomes = np.array([candidate.genome for candidate in candidates])
            genes = strides_of(genomes, self.kind)
            measures = measure(genes, self.conditions, self.hexapod)
            order = self._order(measures)
            first = min(range(len(order)), key=order.__getitem__)
            if order[first] < best:
                best, leader = order[first], genes[first]
            optimizer.tell(self._evaluations([c.id for c in candidates], measures, order))
        return Answer(
            genes=leader,
            cost_of_transport=best[1] if best[0] == 0.0 else None,
            evaluations=used,
            measures=measure(leader[None], self.conditions, self.hexapod),
        )

    def _order(self, measures: StrideMeasures) -> list[tuple[float, float]]:
        """Return the summed violation and the cost of each stride: what a search minimises."""
        missed = violations(measures, self.requirements)
        total = np.sum([np.maximum(0.0, value) for value in missed.values()], axis=0)
        with np.errstate(divide='ignore', invalid='ignore'):
            cost = measures.energy / (measures.mass * measures.gravity * measures.distance)
        # Below the least distance the cost says nothing, and may be negative.
        cost = np.where(total == 0.0, cost, 0.0)
        return [
            (float(violation), float(value)) if np.isfinite(violation) else (np.inf, np.inf)
            for violation, value in zip(total, cost, strict=True)
        ]

    def _evaluations(
        self, ids: list[int], measures: StrideMeasures, order: list[tuple[float, float]]
    ) -> list[Evaluation]:
        return [
            Evaluation(
                id=one,
                status=OK,
                objectives=np.array([-cost]),
                constraints={'requirements': violation},
            )
            for one, (violation, cost) in zip(ids, order, strict=True)
        ]


def level_stride(length: float, stroke: float = 0.06, lift: float = 0.03) -> FloatArray:
    """
    Return a stride (48,) [deg, cm] of equal legs whose feet stand at one height in every posture.

    Parameters
    ----------
    length : float [cm]
        Of every segment. Hips stand 1.6 of it above the feet.
    stroke, lift : float [m]
        Of each foot: backward in stance, up in mid-swing.

    """
    legs, segment = [], length / 100.0
    down = 1.6 * segment
    for forward in (0.5 * stroke, 0.0, -0.5 * stroke):
        bend = math.acos(math.hypot(forward, down) / (2.0 * segment))
        hip = math.atan2(down, forward) - bend
        legs.append((math.degrees(hip), math.degrees(2.0 * bend), length, length))
    # A lifted foot folds back below a hip as far forward as at its start.
    hip = math.radians(legs[0][0])
    below = (down - lift) / segment - math.sin(hip)
    legs.append((legs[0][0], math.degrees(math.pi - math.asin(below) - hip), length, length))
    return genes_from_legs([legs] * 3)


def start_of(genes: FloatArray, kind: str) -> tuple[float, ...]:
    """
    Return the setting ``start`` with which ``cma_es`` begins at a stride (48,) [deg, cm].

    Of a kind with fewer genes, lengths are those of posture 1, or frozen.
    """
    table = np.clip(unit_of(genes), 0.0, 1.0).reshape(4, 3, 4)
    if kind == FREE:
        unit = table.reshape(GENES)
    elif kind == CONSTANT:
        unit = np.concatenate([table[..., :2].reshape(ANGLES), table[0, :, 2:].reshape(6)])
    else:
        unit = table[..., :2].reshape(ANGLES)
    return tuple(float(x) for x in unit)
