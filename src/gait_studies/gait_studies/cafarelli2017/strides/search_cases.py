# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Searches of strides by kind of legs, ground, method and assumption.

The result of a case holds everything that tables and pictures show.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
import math
from typing import Any

import numpy as np

from gait_core.errors import unknown_name_error
from gait_studies.cafarelli2017.strides.hexapod import HexapodParameters
from gait_studies.cafarelli2017.strides.leg_freedom import (
    FROZEN_LENGTHS,
    LegFreedom,
    level_stride,
    rail_stride,
)
from gait_studies.cafarelli2017.strides.measures import MeasureSettings
from gait_studies.cafarelli2017.strides.problem import Requirements, StrideProblem

SLOPE_ANGLES = (5, 10, 15)
GROUNDS: Mapping[str, Mapping[str, float]] = {
    'flat': {},
    **{f'up_{angle}': {'slope_up': math.radians(angle)} for angle in SLOPE_ANGLES},
    **{f'across_{angle}': {'slope_across': math.radians(angle)} for angle in SLOPE_ANGLES},
}
"""Slopes [rad] uphill and across the walking direction, by name in degrees."""

GENETIC, CMA, NSGA = 'genetic', 'cma_es', 'nsga2'
METHODS = (GENETIC, CMA, NSGA)

FROM_LEVEL, FROM_RAIL, FROM_BEST = 'level', 'rail', 'best'
"""Start of a search: a level walk, a walk on rails, or a stride found before."""


@dataclass(frozen=True, kw_only=True)
class Assumption:
    """Requirements, measure settings and robot parameters that differ from the standard ones."""

    what: str
    requirements: Mapping[str, float] = field(default_factory=dict)
    conditions: Mapping[str, Any] = field(default_factory=dict)
    hexapod: Mapping[str, float] = field(default_factory=dict)


MIN_SAVING = 5.0
"""Smallest difference of the cost of transport that counts as a saving [%]."""

STANDARD_ASSUMPTION = 'standard'
ASSUMPTIONS: Mapping[str, Assumption] = {
    STANDARD_ASSUMPTION: Assumption(what='stroke of 5 cm, knees 3 cm up, braking costs'),
    'stroke_10': Assumption(what='a stroke of 10 cm', requirements={'distance': 0.10}),
    'stroke_15': Assumption(what='a stroke of 15 cm', requirements={'distance': 0.15}),
    'knees_6': Assumption(what='knees 6 cm up', requirements={'knees': 0.06}),
    'knees_1': Assumption(what='knees 1 cm up', requirements={'knees': 0.01}),
    'knees_0': Assumption(
        what='knees may lie on the ground',
        requirements={'knees': -1e-9},
    ),
    'knees_0_rub': Assumption(
        what='knees may lie on the ground, guides rub with 0.2',
        requirements={'knees': -1e-9},
        hexapod={'guide_friction': 0.2},
    ),
    'braking_free': Assumption(what='braking is free', conditions={'work': 'positive'}),
    'heat': Assumption(what='motors heat', conditions={'heat': True}),
    'screw_0.1': Assumption(what='screws with a friction of 0.1', hexapod={'screw_friction': 0.1}),
    'screw_0.03': Assumption(
        what='screws with a friction of 0.03, holding costs nothing',
        hexapod={'screw_friction': 0.03},
    ),
    'screw_0.01': Assumption(
        what='ball screws: a friction of 0.01, holding costs nothing',
        hexapod={'screw_friction': 0.01},
    ),
}
"""Each differs from the standard one in one point; ``knees_0`` is the published rule."""


@dataclass(frozen=True, kw_only=True)
class SearchCase:
    """
    Search of a stride.

    Attributes
    ----------
    legs : LegFreedom
    ground, method, assumption : str
        Keys of ``GROUNDS``, ``METHODS`` and ``ASSUMPTIONS``.
    begin : str
        ``level``, ``rail``, or ``best`` followed by the origin of the stride.
    start : (48,) tuple of float, optional
        First stride of a search from ``best`` [deg, cm].
    seed : int
    number : int
        Index of the seed.
    evaluations : int
    objectives : tuple of str
    """

    legs: LegFreedom
    ground: str
    method: str = CMA
    assumption: str = STANDARD_ASSUMPTION
    begin: str = FROM_LEVEL
    start: tuple[float, ...] = ()
    seed: int
    number: int
    evaluations: int
    objectives: tuple[str, ...] = ('cost_of_transport',)

    @property
    def key(self) -> str:
        """Text of everything that the result depends on; ``begin`` stands for ``start``."""
        legs = f'{self.legs.kind}{" alike" * self.legs.alike}{" lead" * self.legs.lead}'
        aims = '+'.join(self.objectives)
        return (
            f'{legs}, {self.ground}, {self.method}, {self.assumption}, {self.begin}, {aims}, '
            f'{self.evaluations}, {self.seed}'
        )

    def problem(self) -> StrideProblem:
        """
        Return the optimisation problem.

        Raises
        ------
        ConfigurationError
            If ground or assumption is unknown.

        """
        if self.ground not in GROUNDS:
            raise unknown_name_error('ground', self.ground, GROUNDS)
        if self.assumption not in ASSUMPTIONS:
            raise unknown_name_error('assumption', self.assumption, ASSUMPTIONS)
        changed = ASSUMPTIONS[self.assumption]
        return StrideProblem(
            legs=self.legs,
            optimizer=self.method,
            evaluations=self.evaluations,
            objectives=self.objectives,
            conditions=MeasureSettings(**{**GROUNDS[self.ground], **changed.conditions}),
            hexapod=HexapodParameters(**changed.hexapod),
            requirements=replace(Requirements(), **changed.requirements),
        )

    def settings(self) -> dict[str, Any]:
        """Return the optimiser's settings; a search from a known stride has a small spread."""
        question = self.problem()
        spread = 0.02 if self.begin.startswith(FROM_BEST) else 0.1
        stroke = 1.2 * question.requirements.distance
        if self.begin.startswith(FROM_BEST):
            genes = np.array(self.start)
        elif self.begin == FROM_RAIL:
            genes = rail_stride(min(stroke, 0.06))
        else:
            genes = level_stride(FROZEN_LENGTHS.get(self.legs.kind, 9.0), stroke)
        chosen: dict[str, Any] = {'start': self.legs.encode_start(genes)}
        small = 20 if self.legs.alike else 40
        if self.method == CMA:
            return {**chosen, 'population': small, 'sigma': spread}
        if self.method == GENETIC:
            # Mutations shrink to a twentieth over the whole search.
            decay = 0.05 ** (small / self.evaluations)
            return {**chosen, 'population': small, 'spread': spread, 'mutation_decay': decay}
        return {**chosen, 'population': 2 * small + 20, 'spread': spread}


def solve_case(case: SearchCase) -> dict[str, Any]:
    """Return the solution of a case as a mapping, for JSON."""
    answer = case.problem().search(case.seed, case.settings())
    measures = answer.measures
    shown = ('distance', 'energy', 'margin', 'slip', 'clearance', 'knees', 'lean', 'screw_input')
    return {
        'cost_of_transport': answer.cost_of_transport,
        'genes': answer.genes.tolist(),
        'lead': answer.lead,
        'front': answer.front.tolist(),
        'evaluations': answer.evaluations,
        **{name: float(getattr(measures, name)[0]) for name in shown},
    }


def max_length_change(genes: list[float]) -> float:
    """Return the largest change of a segment's length in a stride (48,) [cm]."""
    return float(np.ptp(np.reshape(genes, (4, 3, 4))[..., 2:], axis=0).max())
