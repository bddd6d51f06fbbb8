# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

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
"""Function that runs trials and returns their results in order."""
PUSH_DURATION = 0.2
"""Duration of a push [s]."""
MAX_IMPULSE = 20.0
"""Largest impulse that the search tries [N s]."""


@dataclass(frozen=True, kw_only=True)
class PushCase:
    """Start [s] and direction of a push in ``odom`` [deg]: 0 is forward, 90 is left."""

    start: float
    direction_deg: float


def with_push(
    spec: TrialSpec, case: PushCase, impulse: float, link: str, duration: float
) -> TrialSpec:
    """Return a trial with a further push: a constant force of the given impulse [N s]."""
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
    Return the largest impulse of each case after which the trial ends as ``ok``, (c,) [N s].

    Bisection between 0 and ``MAX_IMPULSE``. It assumes that a robot that survives a push also
    survives every weaker one. All cases of a round run at once. A result of ``MAX_IMPULSE`` is
    the limit of the search, not of the robot.

    Parameters
    ----------
    run_trials : callable
        E.g. ``LocalEvaluator().evaluate``.
    spec : TrialSpec
        Its duration is replaced: each trial ends ``after`` seconds after its push.
    cases : sequence of PushCase
    link : str
        Link that is pushed, at its centre of mass.
    rounds : int
        The resolution is ``MAX_IMPULSE / 2**rounds``.
    after : float [s]

    """
    # Lower and upper bound of each case. The first round tries MAX_IMPULSE itself, so that a robot
    # that survives it needs no further trials.
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
