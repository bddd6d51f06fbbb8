"""Largest impulse of a push that a trial survives, by bisection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
import math

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.trial.scene import Push
from gait_core.trial.spec import OK, TrialResult, TrialSpec

TrialRunner = Callable[[Sequence[TrialSpec]], Sequence[TrialResult]]
"""Runs trials and returns their results in order."""
PUSH_DURATION = 0.2
"""Of a push whose impulse is searched [s]."""
MAX_IMPULSE = 20.0
"""Largest impulse that is tried [N s]."""


@dataclass(frozen=True, kw_only=True)
class PushCase:
    """Start [s] and direction [deg] of a push, from ahead to the left, in ``odom``."""

    start: float
    direction_deg: float


def with_push(
    spec: TrialSpec, case: PushCase, impulse: float, link: str, duration: float
) -> TrialSpec:
    """Return a trial with one push more: a steady force whose impulse [N s] is given."""
    angle = math.radians(case.direction_deg)
    force = impulse / duration
    push = Push(
        start=case.start,
        duration=duration,
        force=(force * math.cos(angle), force * math.sin(angle), 0.0),
        link=link,
    )
    return replace(spec, scene=replace(spec.scene, pushes=(*spec.scene.pushes, push)))


def max_survived_impulses(
    run_trials: TrialRunner,
    spec: TrialSpec,
    cases: Sequence[PushCase],
    *,
    link: str,
    rounds: int = 5,
    after: float = 6.0,
) -> FloatArray:
    """
    Return the largest impulse of each case with which the trial still ends ``ok``, (c,) [N s].

    A bisection: it takes for granted that who survives a push survives a weaker one. All cases
    of a round run together. A result of ``MOST`` is the end of the search, not the robot's.

    Parameters
    ----------
    run_trials : callable
        E.g. ``LocalEvaluator().evaluate``.
    spec : TrialSpec
        Its duration does not count: each trial ends ``after`` its push.
    cases : sequence of PushCase
    link : str
        That is pushed, at its centre of mass.
    rounds : int
        The resolution is ``MOST / 2**rounds``.
    after : float [s]

    """
    survived, felled = np.zeros(len(cases)), np.full(len(cases), 2.0 * MAX_IMPULSE)
    for _ in range(rounds + 1):
        rows = [row for row, impulse in enumerate(survived) if impulse < MAX_IMPULSE]
        impulses = 0.5 * (survived + felled)[rows]
        specs = [
            replace(
                with_push(spec, cases[row], float(impulse), link, PUSH_DURATION),
                duration=cases[row].start + PUSH_DURATION + after,
            )
            for row, impulse in zip(rows, impulses, strict=True)
        ]
        for row, impulse, result in zip(rows, impulses, run_trials(specs), strict=True):
            (survived if result.status == OK else felled)[row] = impulse
    return survived
