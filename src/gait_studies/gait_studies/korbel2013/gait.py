# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study korbel2013: forces, tensions and shape of the spine in the best evolved gait."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.constants import inch, lbf
from scipy.signal import correlate, correlation_lags

from gait_core.arrays import FloatArray
from gait_core.measures.contact_nodes import contact_node_positions
from gait_core.trial.loop import run_trial
from gait_studies.korbel2013.pictures import (
    draw_normal_forces,
    draw_relative_positions,
    draw_tensions,
)
from gait_studies.korbel2013.trials import (
    SCORED_FROM,
    DetailedTrial,
    best_evolution,
    read_evolutions,
    record_details,
    trial_of_row,
)
from gait_studies.korbel2013.video import write_spine_gif, write_spine_strip
from gait_tools.study.definition import (
    StudyRow,
    row_above,
    row_at_least,
    row_at_most,
    row_info,
    row_near,
)
from gait_tools.study.session import FinishedEvolution, StudySession

ROBOT_WEIGHT = 0.2236
"""Weight of the robot [lb]."""

_BODY_POSITIONS = (2.94, 5.89, 8.83, 11.75)
"""Initial positions of the tetrahedra ahead of the first [in]."""

_DRAWN_UNTIL, _STRIP_DURATION = 15.0, 2.0
"""End of the pictures, and duration of the strip of frames before it [s]."""

_MIN_CLEARANCE = 0.1
"""Least allowed height of the corners that have no contact model [in]."""


def measure_champion(session: StudySession) -> Sequence[StudyRow]:
    """Measure checks 5, 29 and 30 and the replays of the best gait of all evolutions."""
    evolution = best_evolution(read_evolutions(session))
    trial = record_details(evolution.champion.spec)
    _draw_pictures(session, trial)
    return [
        *_lifting_rows(trial),
        *_cable_rows(trial),
        *_shape_rows(trial),
        *_replay_rows(session, evolution),
    ]


def _scored_ticks(trial: DetailedTrial) -> slice:
    return slice(round(SCORED_FROM / trial.rollout.dt), None)


def _lifting_rows(trial: DetailedTrial) -> list[StudyRow]:
    """Return the rows of check 29 and of the lift of the tetrahedra."""
    forces = trial.normal_forces()[_scored_ticks(trial)] / lbf
    aloft = (forces == 0.0).mean(axis=0)
    each = ', '.join(f'{share:.0%}' for share in aloft)
    lift = (contact_node_positions(trial.rollout)[:, :-1, 2] / inch)[_scored_ticks(trial)]
    heights = lift.reshape(len(lift), -1, 2).min(axis=2).max(axis=0)
    return [
        row_at_least(
            'check_29_lifted',
            'least share of 3 to 15 s in which a tetrahedron carries no load',
            float(aloft.min()),
            0.05,
            note=f'T1 to T5: {each}',
        ),
        row_near(
            'check_29_load',
            'mean sum of all normal forces (expected: the weight)',
            float(forces.sum(axis=1).mean()),
            ROBOT_WEIGHT,
            0.03 * ROBOT_WEIGHT,
            'lb',
        ),
        row_info(
            'lift_height',
            'least height to which both lower corners of a tetrahedron rise',
            float(heights.min()),
            'in',
            note='T1 to T5: ' + ', '.join(f'{height:.2f}' for height in heights),
        ),
    ]


def _cable_rows(trial: DetailedTrial) -> list[StudyRow]:
    """Return the rows on tensions, their left-right symmetry and their delay."""
    robot = trial.rollout.robot
    pairs = [cables for _, cables in robot.signals]
    columns = np.array([[trial.cable_column(name) for name in pair] for pair in pairs])
    tensions = trial.tensions[1:] / lbf
    left_right = np.abs(tensions[:, columns[:, 0]] - tensions[:, columns[:, 1]])
    lags = [
        _delay(signal, trial.tensions[1:, column], trial.rollout.dt)
        for signal, column in zip(trial.signals.T, columns[:, 0], strict=True)
    ]
    each = ', '.join(f'{1000.0 * lag:.0f}' for lag in lags)
    return [
        row_above(
            'check_5_gait',
            'least tension of a cable in the gait',
            float(tensions.min()),
            0.0,
            'lb',
        ),
        row_at_most(
            'check_30_pairs',
            'largest difference of tension between the cables of a pair',
            float(left_right.max()),
            1e-3,
            'lb',
        ),
        row_above(
            'tension_lag',
            'least delay of a tension after its signal, of four',
            float(min(lags)) * 1000.0,
            0.0,
            'ms',
            note=f'by gap: {each} ms',
        ),
    ]


def _delay(signal: FloatArray, tension: FloatArray, dt: float) -> float:
    """Return the delay of tension after signal at the maximum of their correlation [s]."""
    begin = round(SCORED_FROM / dt)
    first, second = (values[begin:] - values[begin:].mean() for values in (signal, tension))
    lags = correlation_lags(len(second), len(first))
    near_zero = np.abs(lags) * dt < 0.5
    alike = correlate(second, first)
    return float(lags[near_zero][np.argmax(alike[near_zero])] * dt)


def _shape_rows(trial: DetailedTrial) -> list[StudyRow]:
    """Return the rows on twist, spacing and clearance of the spine."""
    poses = trial.rollout.body_poses[:, :, :3] / inch
    away = (poses[:, 1:, 0] - poses[:, :1, 0])[_scored_ticks(trial)]
    nodes = contact_node_positions(trial.rollout) / inch
    tips = trial.corner_positions('inner_a')[:, :-1, 2] / inch
    tops = trial.corner_positions('outer_c')[..., 2] / inch
    means = away.mean(axis=0)
    return [
        row_at_most(
            'check_30_twist',
            'largest difference of x between the rear nodes',
            float(np.abs(nodes[:, 0, 0] - nodes[:, 1, 0]).max()),
            0.01,
            'in',
        ),
        row_info(
            'relative_distances',
            'largest mean displacement of T2 to T5 from their start',
            float(np.abs(means - _BODY_POSITIONS).max()),
            'in',
            note='mean positions ' + ', '.join(f'{mean:.2f}' for mean in means),
        ),
        row_at_least(
            'unfelt_corners',
            'height of the lowest corner of those that feel no ground',
            float(min(tips.min(), tops.min())),
            _MIN_CLEARANCE,
            'in',
            note=f'upper corners {tops.min():.2f}, tips of T1 to T4 {tips.min():.2f}',
        ),
    ]


def _replay_rows(session: StudySession, evolution: FinishedEvolution) -> list[StudyRow]:
    """Return the row of three replays of the champion, each after a trial of another gait."""
    other = trial_of_row(evolution, evolution.generations[0][0])
    results = []
    for _ in range(3):
        run_trial(other)
        results.append(run_trial(evolution.champion.spec))
    equal = sum(
        result.trial_hash == evolution.champion.trial_hashes[0]
        and result.fitness == evolution.champion.fitness
        for result in results
    )
    return [
        row_near(
            'replays',
            'of three replays with another trial in between, those equal to the last bit',
            float(equal),
            3.0,
            0.0,
            note=f'{evolution.folder.name}, fitness {evolution.champion.fitness:.4f} inches',
        )
    ]


def _draw_pictures(session: StudySession, trial: DetailedTrial) -> None:
    """Draw tensions, normal forces and positions, and write the animation."""
    rollout = trial.rollout
    robot, part = rollout.robot, _scored_ticks(trial)
    time = rollout.time[part]
    columns = [trial.cable_column(cables[0]) for _, cables in robot.signals]
    signals = np.concatenate([trial.signals[:1], trial.signals])[part] / lbf
    draw_tensions(
        session.picture('tensions'),
        time,
        signals,
        trial.tensions[part][:, columns] / lbf,
        [f'gap {number + 1}' for number in range(len(columns))],
    )
    corners = contact_node_positions(rollout)[part, :-1, 2] / inch
    draw_normal_forces(
        session.picture('normal_forces'),
        time,
        trial.normal_forces()[part] / lbf,
        corners.reshape(len(time), -1, 2).min(axis=2),
        [root.upper() for root in robot.roots],
    )
    poses = rollout.body_poses[:, :, 0] / inch
    draw_relative_positions(
        session.picture('relative'),
        rollout.time,
        poses[:, 1:] - poses[:, :1],
        [root.upper() for root in robot.roots[1:]],
    )
    write_spine_gif(session.picture('gait').with_suffix('.gif'), trial, SCORED_FROM, _DRAWN_UNTIL)
    write_spine_strip(
        session.picture('step'), trial, _DRAWN_UNTIL - _STRIP_DURATION, _DRAWN_UNTIL, 6
    )
