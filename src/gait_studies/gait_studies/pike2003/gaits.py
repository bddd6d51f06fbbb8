# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study pike2003: parameter values of the compared gaits, and their acceptance trial."""

from __future__ import annotations

from collections.abc import Mapping
import math

from scipy.stats import spearmanr

from gait_core.arrays import FloatArray
from gait_core.robot.load import load_robot
from gait_core.trial.robot_gait import resolve_gait
from gait_core.trial.setup import make_scene
from gait_core.trial.spec import TrialSpec
from gait_evolver.scoring import status_and_fitness
from gait_studies.pike2003.log import VARIABLES
from gait_tools.study.session import FinishedEvolution

PUBLISHED_VALUES = dict(zip(VARIABLES, (22.272373, 39.250172, 16.447701, 23.228657), strict=True))
"""Best values of the published run [deg] (Figure 6.23)."""

PUBLISHED_INTEGERS = (9928, 63078, 28170, 57796)
"""Integer genes of the published best values."""

MIDDLE_VALUES = dict(zip(VARIABLES, (27.5, 30.0, 17.5, 17.5), strict=True))
"""Middle of the ranges [deg]; a baseline, as the hand-tuned values are not published."""

LONG_DURATION = 30.0
"""Duration of trials whose distances are compared [s]."""

_ACCEPTANCE_SCENE = {
    'engine': 'bullet',
    'physics_step': 0.002,
    'engine_options': {'solver_iterations': 100},
}


def acceptance_trial(
    values: Mapping[str, float], preset: str, duration: float, fitness: Mapping[str, float]
) -> TrialSpec:
    """Return the acceptance trial of a gait: 23 joints, 2 ms step, 100 solver iterations."""
    return TrialSpec(
        scene=make_scene('guroo', _ACCEPTANCE_SCENE),
        controller='staged_walk',
        parameters=resolve_gait(load_robot('guroo'), 'staged_walk', preset, values).parameters,
        duration=duration,
        fitness_terms=fitness,
    )


def rank_correlation(a: FloatArray, b: FloatArray) -> float:
    """Return Spearman's rank correlation; NaN for fewer than three values or equal values."""
    return float(spearmanr(a, b).statistic) if len(a) > 2 else math.nan


def best_distinct_values(evolution: FinishedEvolution, number: int) -> list[Mapping[str, float]]:
    """Return the parameters of the best candidates that differ in an effective gene."""
    rows = sorted(
        (row for row in evolution.rows if status_and_fitness([row])[1] is not None),
        key=lambda row: (-float(row.fitness or 0.0), row.id),
    )
    chosen: dict[tuple[float, ...], Mapping[str, float]] = {}
    for row in rows:
        live = tuple(value for name, value in row.values.items() if name != 'hip_move_deg')
        chosen.setdefault(live, row.values)
        if len(chosen) == number:
            break
    return list(chosen.values())
