# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study pike2003: GuRoo's walk with feedback over 20 m, a square, uneven ground and pushes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gait_core.motion.waypoints import WaypointParams, walk_waypoints
from gait_core.robot.load import load_robot
from gait_core.trial.robot_gait import resolve_gait
from gait_core.trial.setup import constant_script, make_scene
from gait_core.trial.spec import TrialResult, TrialSpec
from gait_tools.pushes import PushCase, max_survived_impulses
from gait_tools.study.definition import StudyRow, row_at_least, row_at_most, row_near
from gait_tools.study.session import StudySession

COMMANDED_SPEED = 0.068
"""Commanded forward velocity [m/s]."""

SCENES: Mapping[str, Mapping[str, Any]] = {
    'mujoco_2ms': {'engine': 'mujoco', 'physics_step': 0.002},
    'bullet_2ms': {
        'engine': 'bullet',
        'physics_step': 0.002,
        'engine_options': {'solver_iterations': 100},
    },
    'bullet_1ms': {
        'engine': 'bullet',
        'physics_step': 0.001,
        'engine_options': {'solver_iterations': 100},
    },
}
"""Scenes in which a walk is accepted, the fastest first."""

NOMINAL_FRICTION, MAX_INITIAL_ATTITUDE = 0.9, np.radians(1.0)
"""Nominal friction, drawn within 20 %, and largest initial roll and pitch [rad]."""

SQUARE_CORNERS = (2.0, 0.0, 2.0, 2.0, 0.0, 2.0, 0.0, 0.0)
"""Corners of the square, alternately x and y [m]."""

PUSH_CASES = tuple(
    PushCase(start=start, direction_deg=direction)
    for start in (10.0, 10.8)
    for direction in (0.0, 90.0, 180.0, 270.0)
)
"""Pushes forward, left, back and right, in single and in double support."""


def straight_walk(
    scene: Mapping[str, Any], duration: float, preset: str = 'balanced', seed: int = 0
) -> TrialSpec:
    """Return a straight walk at ``COMMANDED_SPEED``."""
    return TrialSpec(
        scene=make_scene('guroo', scene),
        controller='staged_walk',
        parameters=resolve_gait(load_robot('guroo'), 'staged_walk', preset).parameters,
        script=constant_script((COMMANDED_SPEED, 0.0, 0.0)),
        duration=duration,
        seed=seed,
    )


def random_straight_walk(scene: Mapping[str, Any], seed: int, duration: float) -> TrialSpec:
    """Return a straight walk with random friction and initial attitude."""
    rng = np.random.default_rng(seed)
    friction = NOMINAL_FRICTION * rng.uniform(0.8, 1.2)
    roll, pitch = rng.uniform(-MAX_INITIAL_ATTITUDE, MAX_INITIAL_ATTITUDE, 2)
    varied = {'friction': float(friction), 'initial': {'roll': float(roll), 'pitch': float(pitch)}}
    return straight_walk({**scene, **varied}, duration, seed=seed)


def measure_straight(session: StudySession) -> Sequence[StudyRow]:
    """Measure walks of 20 m with eight seeds in three scenes; quick: 2 m, two seeds, one scene."""
    count, metres = (2, 2.0) if session.quick else (8, 20.0)
    seconds = 1.02 * metres / COMMANDED_SPEED + 8.0
    names = list(SCENES)[: 1 if session.quick else None]
    rows = []
    for name in names:
        specs = [
            random_straight_walk(SCENES[name], session.derive_seed(seed), seconds)
            for seed in range(count)
        ]
        rows += _straight_rows(name, metres, session.run(specs))
    return rows


def _straight_rows(name: str, metres: float, results: Sequence[TrialResult]) -> list[StudyRow]:
    """Return the rows of falls, distance, speed and drift in a scene."""
    ahead = np.array([result.metrics['displacement_x_m'] for result in results])
    aside = np.array([abs(result.metrics['displacement_y_m']) for result in results])
    time = np.array([result.metrics['duration_s'] for result in results])
    falls = float(sum(result.fell_at is not None for result in results))
    note = f'least of {len(results)} seeds'
    return [
        row_near(
            f'straight_{name}_falls', f'falls in {name}', falls, 0.0, 0.0, 'walks', note=note
        ),
        row_at_least(
            f'straight_{name}_distance',
            f'distance walked in {name}',
            ahead.min(),
            metres,
            'm',
            note=note,
        ),
        row_at_least(
            f'straight_{name}_speed', f'speed in {name}', (ahead / time).min(), 0.06, 'm/s'
        ),
        row_at_most(
            f'straight_{name}_drift',
            f'lateral drift over distance in {name}',
            float((aside / np.abs(ahead)).max()),
            0.05,
            note='largest',
        ),
    ]


def measure_square(session: StudySession) -> Sequence[StudyRow]:
    """Measure a square walk with sides of 2 m, given by waypoints."""
    rows = []
    for name in ('mujoco_2ms',) if session.quick else ('mujoco_2ms', 'bullet_2ms'):
        record, reached = walk_waypoints(
            straight_walk(SCENES[name], 260.0), WaypointParams(waypoints=SQUARE_CORNERS)
        )
        way = record.body_poses[:, 0, :2]
        closing = float(np.linalg.norm(way[-1] - way[0]))
        has_finished = reached == len(SQUARE_CORNERS) // 2
        rows.append(
            row_at_most(
                f'square_{name}',
                f'distance between start and end of the square in {name}',
                closing if has_finished else None,
                0.3,
                'm',
                note=f'{reached} of 4 corners in {record.time[-1]:.0f} s',
            )
        )
    return rows


def measure_uneven(session: StudySession) -> Sequence[StudyRow]:
    """Measure walks of a minute on a slope of 3 degrees, up and down, and over steps of 5 mm."""
    grounds: Mapping[str, Mapping[str, Any]] = {
        'a rise of 3 degrees': {'name': 'slope', 'parameters': {'angle_deg': 3.0}},
        'a descent of 3 degrees': {'name': 'slope', 'parameters': {'angle_deg': -3.0}},
        'steps of 5 mm': {'name': 'steps', 'parameters': {'height': 0.005}},
    }
    seconds = 20.0 if session.quick else 60.0
    names = list(SCENES)[: 1 if session.quick else 2]
    cases = [(scene, ground) for scene in names for ground in grounds]
    results = session.run(
        [
            straight_walk({**SCENES[scene], 'terrain': grounds[ground]}, seconds)
            for scene, ground in cases
        ]
    )
    return [
        row_near(
            f'{ground.removeprefix("a ").replace(" ", "_")}_{scene}',
            f'falls on {ground} in {seconds:g} s of {scene}',
            float(result.fell_at is not None),
            0.0,
            0.0,
            note=f'walked {result.metrics["displacement_x_m"]:.2f} m'
            + ('' if result.fell_at is None else f', fell after {result.fell_at:.1f} s'),
        )
        for (scene, ground), result in zip(cases, results, strict=True)
    ]


def measure_pushes(session: StudySession) -> Sequence[StudyRow]:
    """Measure the largest survived push at the torso, with and without feedback."""
    rows = []
    for name in list(SCENES)[: 1 if session.quick else 2]:
        impulses = {
            preset: max_survived_impulses(
                session.run,
                straight_walk(SCENES[name], 20.0, preset),
                PUSH_CASES,
                link='torso',
                rounds=4 if session.quick else 5,
            )
            for preset in ('levelled', 'balanced')
        }
        rows.append(
            row_at_least(
                f'push_{name}',
                f'least of 8 largest impulses survived in {name}, 4 directions and 2 phases',
                float(impulses['balanced'].min()),
                float(impulses['levelled'].min()),
                'N s',
                note='; '.join(
                    f'{preset}: ' + ', '.join(f'{impulse:.1f}' for impulse in values)
                    for preset, values in impulses.items()
                ),
            )
        )
    return rows
