"""Study pike2003: the gaits that it compares, and how one is accepted."""

from __future__ import annotations

from collections.abc import Mapping
import math

from scipy.stats import spearmanr

from gait_core.arrays import FloatArray
from gait_core.trial_setup import controller_parameters, make_scene
from gait_core.trial_spec import TrialSpec
from gait_evolver.studies.pike2003_log import VARIABLES

PUBLISHED = dict(zip(VARIABLES, (22.272373, 39.250172, 16.447701, 23.228657), strict=True))
"""Best values of the published run [deg] (Figure 6.23)."""

INTEGERS = (9928, 63078, 28170, 57796)
"""The genes that they decode from."""

MIDPOINT = dict(zip(VARIABLES, (27.5, 30.0, 17.5, 17.5), strict=True))
"""The middle of the ranges: a baseline where the hand-tuned values are not published."""

LONG = 30.0
"""Time over which distances are compared [s]."""

_FINE = {'engine': 'bullet', 'physics_step': 0.002, 'engine_options': {'solver_iterations': 100}}


def accepted(
    values: Mapping[str, float], preset: str, seconds: float, fitness: Mapping[str, float]
) -> TrialSpec:
    """Return the trial in which a gait is accepted: 23 joints, 2 ms, 100 iterations."""
    return TrialSpec(
        scene=make_scene('guroo', _FINE),
        controller='staged_walk',
        parameters=controller_parameters('staged_walk', preset, values),
        duration=seconds,
        fitness_terms=fitness,
    )


def rank_correlation(a: FloatArray, b: FloatArray) -> float:
    """Return the rank correlation of Spearman; NaN of fewer than three values or of equals."""
    return float(spearmanr(a, b).statistic) if len(a) > 2 else math.nan
