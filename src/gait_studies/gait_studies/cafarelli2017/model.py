# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study cafarelli2017: checks of the published model, its leg, strides and search rules."""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np

from gait_core.contracts import Evaluation
from gait_studies.cafarelli2017.pictures import draw_energy_discontinuity, draw_stride
from gait_studies.cafarelli2017.posture_genetic import STRIDE_DOMAIN, PostureGeneticOptimizer
from gait_studies.cafarelli2017.strides.encoding import (
    GENES,
    are_feasible,
    genes_from_legs,
)
from gait_studies.cafarelli2017.strides.hexapod import HexapodParameters
from gait_studies.cafarelli2017.strides.leg import foot_position
from gait_studies.cafarelli2017.strides.pose import Pose, is_stable
from gait_studies.cafarelli2017.strides.power import force_sum, screw_power
from gait_studies.cafarelli2017.strides.published import (
    published_best_stride,
    published_table,
    viewer_stride,
)
from gait_studies.cafarelli2017.strides.published_sweeps import (
    energy_over_knee_motion,
    single_leg_rows,
)
from gait_studies.cafarelli2017.strides.rules import (
    AS_CODED,
    PRINTED,
    StrideRules,
    rules_with_weight,
)
from gait_studies.cafarelli2017.strides.scoring import (
    PUBLISHED_HEXAPOD,
    body_poses,
    leg_power,
    score_strides,
)
from gait_tools.study.definition import StudyRow, row_info, row_near
from gait_tools.study.session import StudySession

SYMMETRIC_STRIDE = genes_from_legs(
    [[(45, 45, 9, 9), (75, 30, 9, 9), (105, 30, 9, 9), (80, 70, 7, 7)]] * 3
)
"""Stride of check 7: three legs with equal postures [deg, cm]."""

_LEG_ANGLES = (np.array([45.0, 45.0]), np.array([135.0, 0.0]))


def measure_single_leg(session: StudySession) -> Sequence[StudyRow]:
    """Measure Tables 4.1 to 4.3 and the intermediate results of chapter 4."""
    rows = _chapter_4_rows()
    for ours, printed in zip(single_leg_rows(), published_table('table_4_1_to_4_3'), strict=True):
        first, last = ours.first_length, ours.last_length
        name, leg = f'{first:g}_{last:g}', f'from {first:g} to {last:g} cm'
        mass = 'segments of 1 kg; the table says 2 kg' if printed['segment_mass'] != 1 else ''
        rows += [
            row_near(
                f'table_4_1_{name}',
                f'power of the leg {leg}',
                ours.power,
                printed['power'],
                0.005 * printed['power'],
                'J',
                note=', '.join(text for text in ('10 intervals', mass) if text),
            ),
            row_near(
                f'table_4_2_{name}_first',
                f'length of the leg less its first x, {leg}',
                first - ours.first_x,
                printed['first_x'],
                0.01,
                'cm',
                note=f'the table prints this as x, which is {ours.first_x:.2f} cm',
            ),
            row_near(
                f'table_4_2_{name}_last',
                f'last x of the leg, {leg}',
                ours.last_x,
                printed['last_x'],
                0.01,
                'cm',
            ),
            row_near(
                f'table_4_2_{name}_distance',
                f'stroke of the leg, {leg}',
                ours.distance,
                printed['distance'],
                0.005,
                'm',
            ),
            row_near(
                f'table_4_3_{name}',
                f'efficiency of the leg, {leg}',
                ours.efficiency,
                printed['efficiency'],
                0.03 * printed['efficiency'],
                'm/J',
            ),
        ]
    short, long, extending = (row.efficiency for row in single_leg_rows())
    rows.append(
        row_near(
            'check_5_order',
            'a long leg beats a short one and both an extending one (1: yes)',
            float(long > short > extending),
            1.0,
            0.0,
        )
    )
    return rows


def _chapter_4_rows() -> list[StudyRow]:
    """Return the rows of checks 1 to 4: foot, torques, speed and power of a single leg."""
    position = foot_position(np.array([math.pi / 4, math.pi / 4, 0.06, 0.06]))
    heavy = HexapodParameters(segment_mass=2.0).as_named_tuple()
    pushed = screw_power(0.75 * math.pi, 0.0, 0.06, 0.06, True, heavy)
    angle = math.tan(PUBLISHED_HEXAPOD.thread_angle + PUBLISHED_HEXAPOD.friction_angle)
    fine = StrideRules(intervals=4000, order=PRINTED)
    converged = [_standing_leg_power(length, fine) for length in (6.0, 12.0)]
    # The foot by Eq. 3.16; Eqs. 4.3 to 4.6, angles and torques of the screws; Eqs. 4.7 and 4.8,
    # their speed and power.
    return [
        row_near(
            'check_1_x',
            'distance of the foot ahead of the hip at 45 and 45 degrees',
            position[0],
            0.0424,
            1e-4,
            'm',
        ),
        row_near(
            'check_1_depth', 'depth of the foot below the hip', -position[1], 0.1024, 1e-4, 'm'
        ),
        row_near('check_2_angle', 'tan(alpha + theta)', angle, 0.7639, 1e-4),
        row_near(
            'check_2_upper',
            'torque of 50.87 N',
            PUBLISHED_HEXAPOD.screw_torque(50.87),
            0.194,
            5e-4,
            'N m',
        ),
        row_near(
            'check_2_lower',
            'torque of 64.74 N',
            PUBLISHED_HEXAPOD.screw_torque(64.74),
            0.247,
            5e-4,
            'N m',
        ),
        row_near(
            'check_3_rpm',
            'speed of 6 cm in 1 s',
            0.06 / PUBLISHED_HEXAPOD.lead * 60.0,
            600.0,
            1e-9,
            'rpm',
        ),
        row_near('check_3_power', 'both screws, segments of 2 kg', pushed, 27.704, 0.1, 'J'),
        row_near('check_4_6', 'rotary power at 6 cm, converged', converged[0], 15.70, 0.016, 'J'),
        row_near(
            'check_4_12', 'rotary power at 12 cm, converged', converged[1], 27.78, 0.028, 'J'
        ),
    ]


def _standing_leg_power(length: float, rules: StrideRules) -> float:
    start, end = (np.array([*angles, length, length]) for angles in _LEG_ANGLES)
    return leg_power(start, end, stance=True, rules=rules)


def measure_model(session: StudySession) -> Sequence[StudyRow]:
    """Measure checks 6 to 9, 11, 12, 14 to 16 and 23 to 26 of the published model."""
    draw_stride(session.picture('viewer_stride'), viewer_stride())
    draw_stride(session.picture('best_stride'), published_best_stride())
    offspring_count = 3000 if session.quick else 10000
    return [
        *_stride_rows(),
        *_best_stride_rows(),
        *_stability_rows(),
        *_search_rule_rows(offspring_count),
    ]


def _stride_rows() -> list[StudyRow]:
    """Return the rows of checks 6 to 8: equal legs and the stride in the program's side view."""
    body, rules = PUBLISHED_HEXAPOD.as_named_tuple(), AS_CODED.as_named_tuple()
    down = force_sum(np.array([math.pi / 2]), np.array([0.0]), (0.09, 0.09), True, body, rules)
    equal, viewer = score_strides(SYMMETRIC_STRIDE[None]), score_strides(viewer_stride()[None])
    powers = equal.power[0, :, 0]
    pose = body_poses(SYMMETRIC_STRIDE)[1]
    rows = [
        row_near('check_6', 'force of a leg straight down', down, 0.0, 1e-12),
        row_near(
            'check_7_distance', 'equal legs: distance', equal.distance[0], 0.150573, 2e-6, 'm'
        ),
        row_near(
            'check_7_efficiency', 'equal legs: efficiency', equal.efficiency[0], 0.0166095, 2e-7
        ),
        row_near(
            'check_7_height', 'equal legs: height at posture 2', pose.side[0], 0.17387, 1e-5, 'm'
        ),
        row_near(
            'check_7_flags',
            'equal legs: objectives met',
            _objectives_met(SYMMETRIC_STRIDE),
            2.0,
            0.0,
        ),
        row_near(
            'check_8_distance',
            "stride in the program's side view: distance",
            viewer.distance[0],
            0.0487,
            5e-6,
            'm',
        ),
        row_near(
            'check_8_power',
            "stride in the program's side view: power",
            viewer.energy[0],
            60.778,
            6e-3,
            'J',
        ),
        row_near(
            'check_8_efficiency',
            "stride in the program's side view: efficiency",
            viewer.efficiency[0],
            0.0016693,
            2e-7,
        ),
        row_near(
            'check_8_flags',
            "stride in the program's side view: objectives met",
            _objectives_met(viewer_stride()),
            1.0,
            0.0,
        ),
    ]
    for phase, (measured, expected) in enumerate(
        zip(powers, (0.42227, 1.25176, 2.50435, 2.11707), strict=True), 1
    ):
        rows.append(
            row_near(
                f'check_7_power_{phase}',
                f'equal legs: power of a leg in phase {phase}',
                measured,
                expected,
                2e-5,
                'J',
            )
        )
    return rows


def _objectives_met(genes: np.ndarray) -> float:
    result = score_strides(genes[None])
    return float(result.swings_free[0]) + float(result.stable[0])


def _best_stride_rows() -> list[StudyRow]:
    """Return the rows of checks 9 and 26 on the best published stride."""
    best = score_strides(published_best_stride()[None])
    rounded = score_strides(published_best_stride(rounded=True)[None])
    counted = score_strides(published_best_stride()[None], StrideRules(samples=PRINTED))
    lengths = published_best_stride(rounded=True).reshape(4, 3, 4)[:, :, 2:]
    change = float(np.ptp(lengths, axis=0).max())
    drags = 'it drags by the published rule itself'
    rows = [
        row_near(
            'check_9_efficiency', 'best stride: efficiency', best.efficiency[0], 1.11877, 1e-4
        ),
        row_near(
            'check_9_counted',
            'best stride: efficiency with 100 samples',
            counted.efficiency[0],
            1.11877,
            0.0224,
        ),
        row_near(
            'check_9_drags',
            'best stride swings free (1: yes)',
            float(best.swings_free[0]),
            0.0,
            0.0,
            note=drags,
        ),
        row_near(
            'check_9_stable', 'best stride is stable (1: yes)', float(best.stable[0]), 1.0, 0.0
        ),
        row_near(
            'check_9_rounded',
            'efficiency of the digits of Table 6.10',
            rounded.efficiency[0],
            0.0322,
            5e-5,
            note='equal angles turn an area into a line',
        ),
        row_near('check_26', 'largest change of a length in Table 6.10', change, 0.5, 1e-9, 'cm'),
    ]
    return rows


def _stability_rows() -> list[StudyRow]:
    """Return the rows of checks 24 and 25 on the stability margin and the pose."""

    def inside(x: float, y: float) -> bool:
        """Return whether a centre of mass [m] is over these feet."""
        feet = ((0.0, 0.27, 0.54), (0.0, 0.39, 0.0))
        pose = Pose(0.0, math.pi / 2, (0.1,) * 3, *feet, x, y)
        return bool(is_stable(pose, AS_CODED.as_named_tuple()))

    slope = 0.39 / 0.27
    edge = slope * 0.17 - 0.0025 * math.hypot(1.0, slope)
    kept = [
        inside(0.17, edge - 1e-6) and not inside(0.17, edge + 1e-6),
        inside(0.37, edge - 1e-6) and not inside(0.37, edge + 1e-6),
        inside(0.27, 0.0025 + 1e-9) and not inside(0.27, 0.0025 - 1e-9),
    ]
    level = body_poses(SYMMETRIC_STRIDE)
    centre = max(math.hypot(pose.centre_x - 0.27, pose.centre_y - 0.18) for pose in level)
    pitch = max(abs(pose.pitch) for pose in level)
    return [
        row_near('check_24', 'edges that count, 2.5 mm inside', float(sum(kept)), 3.0, 0.0),
        row_near('check_25_pitch', 'pitch of equal legs', pitch, 0.0, 1e-12, 'rad'),
        row_near(
            'check_25_centre', 'centre of equal legs from (0.27, 0.18) m', centre, 0.0, 1e-12, 'm'
        ),
    ]


def measure_flaw(session: StudySession) -> Sequence[StudyRow]:
    """Measure check 23, the discontinuity of the published energy, and draw it."""
    draw_energy_discontinuity(session.picture('flaw'))
    expected = {0.0: 5.30, 0.001: 9.3e-5, 1.0: 0.095, 30.0: 4.18}
    return [
        row_near(
            f'check_23_{knee:g}',
            f'power of a hip that swings 60 degrees while its knee moves by {knee:g}',
            energy,
            expected[knee],
            0.01 * expected[knee],
            'J',
            note='the unit as printed; the path energy has no such step',
        )
        for knee, energy in energy_over_knee_motion()
    ]


def _search_rule_rows(offspring_count: int) -> list[StudyRow]:
    """Return the rows of checks 11, 12 and 14 to 16 on the published search."""
    search = PostureGeneticOptimizer(
        dimension=GENES, seed=5, domain=STRIDE_DOMAIN, listing_compat=True
    )
    search.ask()
    first = search.genomes[0, :4]
    expected = np.array([38.742072, 28.384237, 8.811138, 8.213676])
    rules = rules_with_weight(0.33)
    weights = rules.dragging_weight, rules.stability_weight
    return [
        row_near(
            'check_11',
            'first candidate of seed 5: largest error of leg 1',
            float(np.abs(first - expected).max()),
            0.0,
            5e-7,
        ),
        row_near('check_16_w1', 'w1 = (1 - w0)/2 at w0 = 0.33', weights[0], 0.335, 1e-12),
        row_near('check_16_w2', 'w2 = (1 - w0)/2 at w0 = 0.33', weights[1], 0.335, 1e-12),
        *_breeding_rows(offspring_count),
    ]


def _breeding_rows(offspring_count: int) -> list[StudyRow]:
    """Measure checks 12, 14 and 15 on generations of the search."""
    search = PostureGeneticOptimizer(
        dimension=GENES, seed=2, domain=STRIDE_DOMAIN, population=1000
    )
    feasible = 0
    for _ in range(5):
        candidates = search.ask()
        feasible += int(are_feasible(search.genomes).all())
        search.tell(_evaluations(candidates, search.genomes[:, 24]))
    rate = 0.2
    return [
        row_near('check_12', 'generations of feasible strides alone, of 5', feasible, 5.0, 0.0),
        row_near(
            'check_14',
            'share of offspring that take two neighbouring postures of each parent',
            _crossover_share(),
            1.0,
            0.0,
        ),
        row_near(
            'check_15',
            f'changed genes per offspring, divided by 48 times the rate {rate:g}',
            _mutations_per_offspring(rate, offspring_count) / (48.0 * rate),
            1.0,
            0.02,
        ),
    ]


def _evaluations(candidates: Sequence[object], fitness: np.ndarray) -> list[Evaluation]:
    return [
        Evaluation(id=candidate.id, status='ok', objectives=np.array([float(value)]))  # type: ignore[attr-defined]
        for candidate, value in zip(candidates, fitness, strict=True)
    ]


def _breed_generation(rate: float, size: int) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return each offspring of a generation with its two parents, (4, 12) postures each."""
    search = PostureGeneticOptimizer(
        dimension=GENES, seed=2, population=size, mutation_probability=rate, elite_share=0.0
    )
    first = search.ask()
    search.tell(_evaluations(first, np.ones(size)))
    known = {candidate.id: candidate.values.reshape(4, 12) for candidate in first}
    return [
        (child.values.reshape(4, 12), known[child.parents[0]], known[child.parents[-1]])
        for child in search.ask()
    ]


def _crossover_share() -> float:
    right = 0
    family = _breed_generation(0.0, 1000)
    for child, mother, father in family:
        is_own, other = ((child == parent).all(axis=1) for parent in (mother, father))
        pair = [n for n in range(4) if is_own[n] and is_own[(n + 1) % 4]]
        right += bool(np.all(is_own | other)) and bool(pair)
    return right / len(family)


def _mutations_per_offspring(rate: float, size: int) -> float:
    family = _breed_generation(rate, size)
    changed = [np.sum((child != mother) & (child != father)) for child, mother, father in family]
    return float(np.mean(changed))


def measure_published_best(session: StudySession) -> Sequence[StudyRow]:
    """Measure the best published stride by the work along its path."""
    from gait_studies.cafarelli2017.strides.measures import measure_strides

    measures = measure_strides(published_best_stride()[None])
    spent = measures.rotary_absolute[0] + measures.screw_input[0] + measures.lift[0]
    return [
        row_info(
            'sound_energy',
            'energy of the best published stride along its path',
            float(spent),
            'J',
            note=f'published {score_strides(published_best_stride()[None]).energy[0]:.3f} J',
        ),
        row_info('sound_slip', 'slip of the feet of that stride', measures.slip[0], 'm'),
        row_info(
            'sound_clearance',
            'lowest foot of that stride in mid-swing',
            measures.clearance[0],
            'm',
        ),
    ]
