# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study mckenna1990: motor programs evolved from the hand-tuned ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gait_core.measures.metrics import heading_angles
from gait_core.trial.rollout import Rollout
from gait_core.trial.spec import TrialSpec
from gait_evolver.fitness import smoothness
from gait_studies.mckenna1990.walks import heading_speed, roach_trial
from gait_tools.study.definition import StudyRow, row_at_least, row_info
from gait_tools.study.session import FinishedEvolution, StudySession

_DURATION = 0.8
_QUICK_GENERATIONS = 2
_SHARES = (0.0, 0.2, 0.3, 0.6, 1.0)
"""Interpolation between hand-tuned (0) and evolved (1) programs."""


def measure_motor_programs(session: StudySession) -> Sequence[StudyRow]:
    """Evolve the motor programs; measure walks interpolated from the hand-tuned ones."""
    short = {'generations': _QUICK_GENERATIONS} if session.quick else {}
    evolution = session.evolve('motor', 'roach_motor', {'seed': session.seed, **short})
    first = [row.fitness for row in evolution.generations[0] if row.fitness is not None]
    gain = row_info(
        'motor_fitness',
        'fitness of the evolved programs',
        evolution.champion.fitness,
        note=f'best of the first generation {max(first):.2f}, {len(evolution.rows)} trials',
    )
    if session.quick:
        return [gain]
    walks = {share: session.record(_interpolated_trial(evolution, share)) for share in _SHARES}
    fast = {share: heading_speed(walk) for share, walk in walks.items()}
    rough = {share: -smoothness(walk) for share, walk in walks.items()}
    table = '; '.join(
        f'{share:.0%}: {fast[share]:.2f} cm/s, {rough[share]:.0f} rad/s^2, pitching '
        f'{_pitch_rate(walks[share]):.1f} rad/s'
        for share in _SHARES
    )
    better = [share for share in _SHARES if rough[share] < rough[0.0]]
    return [
        gain,
        row_at_least(
            'motor_speed',
            'speed of the evolved programs',
            fast[1.0],
            fast[0.0],
            'cm/s',
            note=f'from the hand-tuned (0%) to the evolved programs (100%): {table}',
        ),
        row_at_least(
            'motor_both',
            'greatest speed of smoother programs between hand-tuned and evolved ones',
            max((fast[share] for share in better), default=0.0),
            fast[0.0],
            'cm/s',
            note=f'smooth: joint acceleration, root mean square; hand-tuned {fast[0.0]:.2f} cm/s',
        ),
    ]


def _interpolated_trial(evolution: FinishedEvolution, share: float) -> TrialSpec:
    """Return the trial of programs interpolated by ``share`` from hand-tuned to evolved ones."""
    spec = roach_trial(_DURATION)
    hand = spec.parameters
    changes = {
        name: hand[name] + share * (evolution.champion.spec.parameters[name] - hand[name])
        for name in evolution.plan.space.names
    }
    return replace(spec, parameters={**hand, **changes})


def _pitch_rate(rollout: Rollout) -> float:
    """Return the root mean square pitch rate of the base [rad/s]."""
    yaw = heading_angles(rollout.body_poses[:, 0])
    spin = rollout.body_twists[:, 0, 3:5]
    across = np.column_stack([-np.sin(yaw), np.cos(yaw)])
    return float(np.sqrt(np.mean((spin * across).sum(axis=1) ** 2)))
