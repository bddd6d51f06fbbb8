# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study bishop2008: checks of the body, the ground, standing and the genetic algorithm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
import math
from typing import Any

import numpy as np

from gait_core.contracts import Evaluation
from gait_core.robot.load import load_robot
from gait_core.terrains import load_terrain
from gait_core.trial.setup import make_scene
from gait_core.trial.spec import TrialSpec
from gait_cpg.perceptron.layout import INPUT_WEIGHTS, OUTPUT_WEIGHTS, PerceptronLayout
from gait_evolver.plan import load_plan
from gait_studies.bishop2008.rank_squared import RankSquaredOptimizer, parent_rank
from gait_tools.study.definition import StudyRow, row_at_least, row_at_most, row_between, row_near
from gait_tools.study.session import StudySession

RUN_A, RUN_B = 'bishop2008_a', 'bishop2008_b'
ENGINES = ('mujoco', 'bullet')
_BODY_COUNT = 200
_RANK_DRAWS = 100_000
_SETTLING_TIME = 1.0
"""Time after which a standing robot may not drift [s]."""


def layout_of(experiment: str) -> PerceptronLayout:
    """Return the layout of the networks that an experiment searches."""
    layout = load_plan(experiment).array_shapes
    assert isinstance(layout, PerceptronLayout)
    return layout


def measure_robot(session: StudySession) -> Sequence[StudyRow]:
    """Measure checks 1, 2, 7 to 10: sizes of the networks, masses, lengths and freedoms."""
    middle = load_robot('spider')
    lengths = middle.stance[len(middle.joint_names) :]
    masses = [load_robot('spider', draw).mass for draw in range(1, _BODY_COUNT + 1)]
    sizes = [
        160 * layout.perceptrons * layout.weights_per_perceptron
        for layout in map(layout_of, (RUN_A, RUN_B))
    ]
    hips = sum(len(names) for names in middle.ball_joints.values())
    return [
        row_near('check_1_a', 'N_in of run A', float(layout_of(RUN_A).inputs), 12785.0, 0.0),
        row_near('check_1_b', 'N_in of run B', float(layout_of(RUN_B).inputs), 7685.0, 0.0),
        row_near(
            'check_2_a',
            'size of the weights of 40 networks of run A',
            sizes[0],
            61_444_800.0,
            0.0,
            'B',
        ),
        row_near(
            'check_2_b',
            'size of the weights of 40 networks of run B',
            sizes[1],
            184_824_000.0,
            0.0,
            'B',
        ),
        row_between(
            'check_7',
            f'median mass of {_BODY_COUNT} drawn bodies',
            float(np.median(masses)),
            11.95,
            13.18,
            'kg',
            note=f'{min(masses):.2f} to {max(masses):.2f}',
            published=12.57,
        ),
        row_near('check_8', 'mass of the middle body', middle.mass, 12.57, 0.02, 'kg'),
        row_near(
            'check_9_v',
            'length of the V servos of the middle body',
            float(lengths[:8].mean()),
            0.2936,
            5e-4,
            'm',
        ),
        row_near(
            'check_9_r',
            'length of the R servos of the middle body',
            float(lengths[8:].mean()),
            0.2158,
            5e-4,
            'm',
        ),
        row_near(
            'check_10',
            'degrees of freedom of the legs of the middle body',
            float(hips + len(middle.joint_names) - len(middle.ball_joints) * 3),
            16.0,
            0.0,
        ),
    ]


def measure_ground(session: StudySession) -> Sequence[StudyRow]:
    """Measure checks 19 and 20: random heights of the ground and duration of a trial."""
    plan = load_plan(RUN_A)
    field = load_terrain(plan.trial.scene.terrain).heightfield
    assert field is not None
    steps = np.abs(np.diff(field.heights, axis=1))
    return [
        row_near(
            'check_19_heights', 'heights of the ground', float(field.heights.size), 65536.0, 0.0
        ),
        row_between(
            'check_19_band',
            'highest less lowest point of the ground',
            float(np.ptp(field.heights)),
            0.128,
            0.13,
            'm',
            published=0.13,
        ),
        row_near('check_19_size', 'extent of the ground', float(field.size[0]), 50.0, 1e-9, 'm'),
        row_near(
            'roughness', 'mean step between neighbours', float(steps.mean()), 0.0433, 5e-4, 'm'
        ),
        row_near('check_20', 'control periods of a trial', float(plan.trial.ticks), 2000.0, 0.0),
    ]


def measure_standing(session: StudySession) -> Sequence[StudyRow]:
    """Measure check 18 in each engine: ten seconds on level ground with set points at zero."""
    rows: list[StudyRow] = []
    for engine in ENGINES:
        scene = make_scene('spider', {'engine': engine})
        rollout = session.record(TrialSpec(scene=scene, controller='hold', duration=10.0))
        settled = rollout.body_poses[round(_SETTLING_TIME / rollout.dt) :, 0]
        drift = np.linalg.norm(settled[:, :2] - settled[0, :2], axis=1).max()
        rows += [
            row_near(
                f'check_18_{engine}',
                f'height of the platform after 10 s in {engine}',
                float(settled[-1, 2]),
                0.23,
                0.03,
                'm',
            ),
            row_at_most(
                f'check_18_{engine}_drift', 'drift of that platform', float(drift), 0.02, 'm'
            ),
            row_near(
                f'check_18_{engine}_contacts',
                'contacts of links other than legs',
                float(np.sum(rollout.contacts.sole < 0)),
                0.0,
                0.0,
            ),
        ]
    return rows


def measure_search(session: StudySession) -> Sequence[StudyRow]:
    """Measure checks 22, 24, 25, 28 and 30 of the genetic algorithm."""
    rng = np.random.default_rng(session.seed)
    ranks = Counter(parent_rank(value, 40) for value in rng.random(_RANK_DRAWS).tolist())
    top = sum(count for rank, count in ranks.items() if rank < 10)
    return [
        row_near(
            'check_24_best',
            'share of parents that are the best candidate',
            ranks[0] / _RANK_DRAWS,
            0.158,
            0.005,
        ),
        row_near(
            'check_24_top', 'share of parents among the best ten', top / _RANK_DRAWS, 0.5, 0.01
        ),
        row_near(
            'check_22_source',
            'score after a fitness of 4, then of 1; a quarter is carried over (published program)',
            _score_after_two({}),
            2.0,
            1e-9,
        ),
        row_near(
            'check_22_text',
            'score after a fitness of 4, then of 1; half is carried over (published text)',
            _score_after_two({'carry': 0.5}),
            3.0,
            1e-9,
        ),
        *_breeding_rows(session.seed),
    ]


_SMALL_LAYOUT = PerceptronLayout(perceptrons=30, memory=2, channels=35, outputs=16)


def _small_search(seed: int, **settings: Any) -> RankSquaredOptimizer:
    return RankSquaredOptimizer(dimension=0, seed=seed, shapes=_SMALL_LAYOUT, **settings)


def _run_generation(search: RankSquaredOptimizer, scores: Sequence[float]) -> list[Any]:
    candidates = search.ask()
    search.tell(
        [
            Evaluation(id=candidate.id, status='ok', objectives=np.array([score]))
            for candidate, score in zip(candidates, scores, strict=True)
        ]
    )
    return candidates


def _score_after_two(settings: dict[str, float]) -> float:
    search = _small_search(0, **settings)
    for score in (4.0, 1.0):
        _run_generation(search, [score] + [-9.0] * 39)
    return search.scores[0]


def _breeding_rows(seed: int) -> list[StudyRow]:
    """Return the rows of checks 25, 28 and 30 on a generation without mutations."""
    search = _small_search(
        seed,
        mutation_probability=0.0,
        input_jitter=0.0,
        output_jitter=0.0,
        relocation_probability=0.0,
    )
    members = {
        candidate.id: _SMALL_LAYOUT.join_weights(candidate.arrays)
        for candidate in _run_generation(search, range(40))
    }
    children = search.ask()[20:]
    inputs = [candidate.arrays[INPUT_WEIGHTS] for candidate in children]
    norms = np.linalg.norm(np.concatenate(inputs), axis=1)
    first = [
        np.mean(
            np.all(
                candidate.arrays[OUTPUT_WEIGHTS] == members[candidate.parents[0]][:, -16:], axis=1
            )
        )
        for candidate in children
        if len(candidate.parents) == 2
    ]
    kept = [candidate for candidate in search._members[:20] if candidate.id in members]
    equal = sum(np.array_equal(candidate.weights, members[candidate.id]) for candidate in kept)
    return [
        row_near(
            'check_25',
            'share of perceptrons of the first parent',
            float(np.mean(first)),
            0.5,
            4.0 * math.sqrt(0.25 / (30 * len(first))),
        ),
        row_at_most(
            'check_28',
            'largest deviation of the norm of an input vector from 1',
            float(np.abs(norms - 1.0).max()),
            1e-5,
        ),
        row_near(
            'check_30_size', 'members after a generation', float(20 + len(children)), 40.0, 0.0
        ),
        row_at_least('check_30_kept', 'survivors whose weights are untouched', float(equal), 20.0),
    ]


def replace_scene(spec: TrialSpec, **scene: Any) -> TrialSpec:
    """Return a trial with some fields of its scene replaced."""
    return replace(spec, scene=replace(spec.scene, **scene))
