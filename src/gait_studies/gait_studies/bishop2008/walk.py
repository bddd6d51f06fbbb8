# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study bishop2008: the best networks on bodies, grounds and an engine unused in their search."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
import hashlib
import io
import math
from pathlib import Path
from typing import Any

import numpy as np

from gait_core.files.access import read_bytes, write_atomically
from gait_core.trial.setup import scene_with_engine
from gait_core.trial.spec import Command, TimedCommand, TrialResult, TrialSpec
from gait_cpg.perceptron.layout import PerceptronLayout, Weights
from gait_evolver.plan import TrialIndex
from gait_evolver.scoring import evaluate_candidate, group_by_candidate
from gait_studies.bishop2008.model import replace_scene
from gait_studies.bishop2008.pattern_cma import PatternCmaOptimizer
from gait_studies.bishop2008.runs import OMNIDIRECTIONAL_RUN, PATTERN_RUN, evolve_run
from gait_tools.study.definition import StudyRow, row_at_least, row_at_most, row_info
from gait_tools.study.session import FinishedEvolution, StudySession

_TEST_KEY, _GROUND_KEY = 2, 3
"""Keys of seeds: bodies of the tests, other grounds."""
_COMMANDED_SPEED = 0.1
_WEIGHT_FILES: Mapping[str, str] = {PATTERN_RUN: 'champion.npz', OMNIDIRECTIONAL_RUN: 'omni.npz'}


def measure_champions(session: StudySession) -> Sequence[StudyRow]:
    """Save the mean networks of both pattern searches; no trial selects among networks."""
    rows = []
    for name, file in _WEIGHT_FILES.items():
        run = evolve_run(session, name)
        save_weights(session.folder / file, run, mean_network(run))
        size = (session.folder / file).stat().st_size
        rows.append(
            row_at_most(f'{name}_size', f'weights of the mean of {name}', size / 1e6, 2.0, 'MB')
        )
    return rows


def mean_network(run: FinishedEvolution) -> Weights:
    """Return the mean network of a pattern search, replayed from its recorded evaluations."""
    search = run.plan.make_optimizer()
    assert isinstance(search, PatternCmaOptimizer)
    for rows in run.generations:
        search.ask()
        search.tell(
            [
                evaluate_candidate(trials, run.plan.experiment)
                for trials in group_by_candidate(rows)
            ]
        )
    return search.mean_network


def save_weights(file: Path, run: FinishedEvolution, weights: Weights) -> None:
    """Write the compressed weights file of a network; a pattern's weights are mostly zero."""
    layout = run.plan.array_shapes
    assert isinstance(layout, PerceptronLayout)
    content = io.BytesIO()
    arrays: Mapping[str, Any] = layout.split_weights(weights)
    np.savez_compressed(content, **arrays)
    write_atomically(file, content.getvalue())


def _turn_trials(
    session: StudySession, run: FinishedEvolution, file: Path, key: int, count: int
) -> list[TrialSpec]:
    """Return trials of a network, each with its own random body and start."""
    digest = hashlib.sha256(read_bytes(file)).hexdigest()
    plan = run.plan
    plan = replace(plan, experiment=replace(plan.experiment, seed=session.derive_seed(key)))
    return [
        replace(
            plan.spec({}, TrialIndex(generation=number)), weights=str(file), weights_sha256=digest
        )
        for number in range(count)
    ]


def measure_matrix(session: StudySession) -> Sequence[StudyRow]:
    """Measure check 35 and the walks on other bodies, grounds and in another engine."""
    run, file = evolve_run(session, PATTERN_RUN), session.folder / _WEIGHT_FILES[PATTERN_RUN]
    turns = _turn_trials(session, run, file, _TEST_KEY, 40)
    same = {'draw': 0}
    kinds: dict[str, Callable[[int, TrialSpec], TrialSpec]] = {
        'drawn_bodies': lambda number, spec: spec,
        'middle_body': lambda number, spec: replace_scene(spec, **same),
        'other_grounds': lambda number, spec: _other_ground(session, number, spec),
        'bullet': lambda number, spec: replace(
            spec, scene=scene_with_engine(spec.scene, 'bullet')
        ),
        'bullet_grounds': lambda number, spec: _other_ground(
            session, number, replace(spec, scene=scene_with_engine(spec.scene, 'bullet'))
        ),
    }
    rows: list[StudyRow] = []
    for name, change in kinds.items():
        results = session.run([change(number, spec) for number, spec in enumerate(turns)])
        rows += _walk_rows(name, results)
    return rows


def _other_ground(session: StudySession, number: int, spec: TrialSpec) -> TrialSpec:
    terrain = replace(spec.scene.terrain, seed=session.derive_seed(_GROUND_KEY, number))
    return replace_scene(spec, terrain=terrain)


def _walk_rows(name: str, results: Sequence[TrialResult]) -> list[StudyRow]:
    """Return the rows of displacement and final attitude of the trials of one kind."""
    displacement = np.array([result.terms.get('bishop2008_x', 0.0) for result in results])
    upright = [1.0 - result.terms.get('bishop2008_inverted', 1.0) for result in results]
    points = np.array([result.fitness or 0.0 for result in results])
    low, middle, high = np.percentile(displacement, (10, 50, 90))
    note = (
        f'{len(results)} trials; 10 to 90 %: {low:.2f} to {high:.2f} m; '
        f'mean score {points.mean():.2f}'
    )
    rows = [
        row_at_least(
            f'{name}_x',
            f'median movement along x, {name.replace("_", " ")}',
            float(middle),
            1.75,
            'm',
            note=note,
            published=1.75,
        ),
        row_at_least(
            f'{name}_upright', 'share of trials that end upright', float(np.mean(upright)), 0.8
        ),
    ]
    # The bounds hold for bodies and grounds that the search has not seen, in its own engine.
    if name not in ('drawn_bodies', 'other_grounds'):
        return [row.without_bound() for row in rows]
    if name == 'drawn_bodies':
        rows.append(
            row_at_least(
                'check_35',
                'deviation of the score over bodies, divided by its mean',
                float(points.std() / max(abs(points.mean()), 1e-9)),
                0.15,
            )
        )
    return rows


def measure_steering(session: StudySession) -> Sequence[StudyRow]:
    """Measure the heading error of the omnidirectional network in eight directions."""
    run, file = (
        evolve_run(session, OMNIDIRECTIONAL_RUN),
        session.folder / _WEIGHT_FILES[OMNIDIRECTIONAL_RUN],
    )
    turns, angles = [], []
    for number, spec in enumerate(_turn_trials(session, run, file, _TEST_KEY, 40)):
        angle = 2.0 * math.pi * (number % 8) / 8.0
        velocity = (_COMMANDED_SPEED * math.cos(angle), _COMMANDED_SPEED * math.sin(angle), 0.0)
        script = (TimedCommand(time=0.0, command=Command(velocity=velocity)),)
        # Body and start position stay random, but not the initial yaw: angles count from x.
        ranges = {name: ends for name, ends in spec.randomise.items() if name != 'initial.yaw'}
        turns.append(replace(spec, script=script, randomise=ranges))
        angles.append(angle)
    results = session.run(turns)
    errors = [_heading_error(result, angle) for result, angle in zip(results, angles, strict=True)]
    distances = [result.terms.get('bishop2008_forward', 0.0) for result in results]
    by_direction = [np.mean(errors[index::8]) for index in range(8)]
    note = 'by direction: ' + ', '.join(f'{value:.0f}' for value in by_direction)
    return [
        row_at_most(
            'steering',
            'mean error of the heading, 8 directions',
            float(np.mean(errors)),
            20.0,
            'deg',
            note=note,
        ),
        row_info(
            'steering_distance',
            'median distance along the commanded direction',
            float(np.median(distances)),
            'm',
        ),
    ]


def _heading_error(result: TrialResult, commanded: float) -> float:
    """Return the angle [deg] between the displacement of a trial and the commanded direction."""
    x, y = (result.terms.get(f'bishop2008_{axis}', 0.0) for axis in 'xy')
    error = math.atan2(y, x) - commanded
    return abs(math.degrees((error + math.pi) % (2.0 * math.pi) - math.pi))
