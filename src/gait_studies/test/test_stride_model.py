# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The published model of the extending hexapod against its thesis and closed forms."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_studies.cafarelli2017.strides.encoding import (
    LIMITS_AS_CODED,
    are_feasible,
    genes_from_legs,
    genes_from_unit,
    is_feasible,
    make_feasible,
    unit_from_genes,
)
from gait_studies.cafarelli2017.strides.hexapod import HexapodParameters
from gait_studies.cafarelli2017.strides.leg import foot_position, foot_strokes
from gait_studies.cafarelli2017.strides.pose import Pose, is_stable
from gait_studies.cafarelli2017.strides.power import force_sum, screw_power
from gait_studies.cafarelli2017.strides.published import (
    published_best_stride,
    published_table,
    viewer_stride,
)
from gait_studies.cafarelli2017.strides.rules import AS_CODED, AS_PRINTED, PRINTED, StrideRules
from gait_studies.cafarelli2017.strides.scoring import (
    PUBLISHED_HEXAPOD,
    body_poses,
    leg_power,
    score_strides,
)

SYMMETRIC = genes_from_legs(
    [[(45, 45, 9, 9), (75, 30, 9, 9), (105, 30, 9, 9), (80, 70, 7, 7)]] * 3
)
CHAPTER_4 = StrideRules(intervals=10, order=PRINTED)


def random_strides(count, seed=0):
    return genes_from_unit(np.random.default_rng(seed).random((count, 48)))


def one_leg(first, last, rules):
    """Return the power of chapter 4's leg: hip 45 to 135, knee 45 to 0 degrees, standing."""
    return leg_power(
        np.array([45.0, 45.0, first, first]),
        np.array([135.0, 0.0, last, last]),
        stance=True,
        rules=rules,
    )


def test_foot_position():
    # Equation 3.16 at 45 and 45 degrees, 6 cm.
    position = foot_position(np.array([math.pi / 4, math.pi / 4, 0.06, 0.06]))
    np.testing.assert_allclose(position, [0.0424, -0.1024], atol=1e-4)


def test_screw():
    # Equations 4.3 to 4.8; chapter 4 has the body's 10 kg and segments of 2 kg.
    alpha, theta = PUBLISHED_HEXAPOD.thread_angle, PUBLISHED_HEXAPOD.friction_angle
    assert math.tan(alpha + theta) == pytest.approx(0.7639, abs=1e-4)
    assert PUBLISHED_HEXAPOD.screw_torque(50.87) == pytest.approx(0.194, abs=5e-4)
    assert PUBLISHED_HEXAPOD.screw_torque(64.74) == pytest.approx(0.247, abs=5e-4)
    assert 0.06 / PUBLISHED_HEXAPOD.lead * 60.0 == pytest.approx(600.0)
    assert PUBLISHED_HEXAPOD.screw_efficiency == pytest.approx(0.25, abs=1e-3)
    assert PUBLISHED_HEXAPOD.is_self_locking
    assert not HexapodParameters(lead=0.03).is_self_locking


def test_screw_power_of_chapter_4():
    # Equation 4.8, with segments of 2 kg: 50.87 and 64.74 N along the two screws.
    heavy = HexapodParameters(body_mass=10.0, segment_mass=2.0)
    power = screw_power(0.75 * math.pi, 0.0, 0.06, 0.06, True, heavy.as_named_tuple())
    assert power == pytest.approx(27.704, abs=0.1)


# Table 4.1 matches 10 intervals; its last row is 1 kg segments, whatever it says (trap T9).
@pytest.mark.parametrize(('row', 'power'), [(0, 15.31), (1, 27.39), (2, 34.73)])
def test_table_4_1(row, power):
    printed = published_table('table_4_1_to_4_3')[row]
    ours = one_leg(printed['first_length'], printed['last_length'], CHAPTER_4)
    assert ours == pytest.approx(power, rel=1e-3)
    assert ours == pytest.approx(printed['power'], rel=5e-3)


def test_tables_4_2_and_4_3():
    efficiency = []
    for printed in published_table('table_4_1_to_4_3'):
        first, last = printed['first_length'] / 100.0, printed['last_length'] / 100.0
        ends = np.array(
            [[math.pi / 4, math.pi / 4, first, first], [0.75 * math.pi, 0.0, last, last]]
        )
        distance = foot_position(ends)[0, 0] - foot_position(ends)[1, 0]
        assert distance == pytest.approx(printed['distance'], abs=5e-3)
        power = one_leg(printed['first_length'], printed['last_length'], CHAPTER_4)
        efficiency.append(distance / power)
        assert efficiency[-1] == pytest.approx(printed['efficiency'], rel=0.03)
    assert efficiency[1] > efficiency[0] > efficiency[2]


@pytest.mark.parametrize(('length', 'power'), [(6.0, 15.70), (12.0, 27.78)])
def test_the_integral_converges(length, power):
    assert one_leg(length, length, StrideRules(intervals=4000)) == pytest.approx(power, rel=1e-3)


def test_straight_down_needs_no_force():
    body, rules = PUBLISHED_HEXAPOD.as_named_tuple(), AS_CODED.as_named_tuple()
    straight, bent = np.array([math.pi / 2]), np.array([0.0])
    assert abs(force_sum(straight, bent, (0.09, 0.09), True, body, rules)) < 1e-12


def test_compiled_force_equals_the_printed_matrices():
    """Equations 3.20 to 3.36 with arccosines, as they stand with the sign repaired."""
    rng = np.random.default_rng(2)
    body, rules = PUBLISHED_HEXAPOD.as_named_tuple(), AS_CODED.as_named_tuple()
    for _ in range(200):
        q0, q1 = rng.uniform(0.5, 2.5), rng.uniform(0.01, 2.5)
        l0, l1 = rng.uniform(0.06, 0.12, 2)
        a = math.sqrt(l0**2 + l1**2 - 2 * l0 * l1 * math.cos(math.pi - q1))
        b = math.sqrt((0.75 * l0) ** 2 + l1**2 - 1.5 * l0 * l1 * math.cos(math.pi - q1))
        theta = math.acos((l1**2 - a**2 - l0**2) / (-2 * a * l0))
        beta = math.acos((l1**2 - b**2 - (0.75 * l0) ** 2) / (-1.5 * b * l0))
        weights = np.array([a * 16 * 9.81 / 3, b * 9.81, 0.75 * l1 * 9.81])
        angles = np.array([theta + q0, beta + q0, q0 + q1])
        fx, fz = weights @ np.cos(angles), weights @ np.sin(angles)
        tau = weights @ np.sin(math.pi / 2 - angles)
        jac = np.array(
            [
                [-l1 * math.sin(q0 + q1) - l0 * math.sin(q0), -l1 * math.sin(q0 + q1)],
                [l1 * math.cos(q0 + q1) + l0 * math.cos(q0), l1 * math.cos(q0 + q1)],
                [1.0, 1.0],
            ]
        )
        wanted = abs((jac.T @ np.abs([fx, fz, tau])).sum())
        at = np.array([q0]), np.array([q1])
        ours = force_sum(*at, (l0, l1), True, body, rules)
        assert ours == pytest.approx(wanted, rel=1e-6, abs=1e-9)
        signed = force_sum(
            *at, (l0, l1), True, body, StrideRules(components=PRINTED).as_named_tuple()
        )
        assert signed == pytest.approx((jac.T @ [fx, fz, tau]).sum(), rel=1e-6, abs=1e-9)


def test_symmetric_stride():
    result = score_strides(SYMMETRIC[None])
    assert result.distance[0] == pytest.approx(0.150573, rel=1e-5)
    np.testing.assert_allclose(
        result.power[0], np.repeat([[0.42227], [1.25176], [2.50435], [2.11707]], 3, 1), rtol=1e-5
    )
    assert result.energy[0] == pytest.approx(18.88637, rel=1e-5)
    assert result.efficiency[0] == pytest.approx(0.0166095, rel=1e-5)
    assert result.swings_free[0]
    assert result.stable[0]
    pose = body_poses(SYMMETRIC)[1]
    assert pose.pitch == pytest.approx(0.0, abs=1e-12)
    assert pose.roll == pytest.approx(math.pi / 2)
    assert pose.side == pytest.approx((0.17387,) * 3, abs=1e-5)


def test_viewer_stride():
    stride = viewer_stride()
    assert is_feasible(stride)
    result = score_strides(stride[None])
    assert result.distance[0] == pytest.approx(0.048700, rel=1e-4)
    assert result.energy[0] == pytest.approx(60.778, rel=1e-4)
    assert result.efficiency[0] == pytest.approx(0.0016693, rel=1e-4)
    assert not result.swings_free[0]
    assert result.stable[0]


def test_best_stride():
    result = score_strides(published_best_stride()[None])
    assert result.distance[0] == pytest.approx(0.255270, rel=1e-5)
    assert result.energy[0] == pytest.approx(0.475354, rel=1e-5)
    assert result.efficiency[0] == pytest.approx(1.11877, abs=1e-4)
    assert result.fitness[0] == pytest.approx(1.100211, abs=1e-5)
    assert not result.swings_free[0]
    assert result.stable[0]
    poses = body_poses(published_best_stride())
    pitches = [math.degrees(pose.pitch) for pose in poses]
    assert pitches == pytest.approx([4.91, -5.76, -3.59], abs=5e-3)
    stances = [pose.feet_x[2] - pose.feet_x[0] for pose in poses]
    assert stances == pytest.approx([0.605, 0.794, 0.603], abs=5e-4)
    counted = score_strides(published_best_stride()[None], StrideRules(samples=PRINTED))
    assert counted.efficiency[0] == pytest.approx(1.11877, rel=0.02)


def test_rounding_the_best_stride_ruins_it():
    # Equal rounded angles turn an area into a line: the flaw of trap T1.
    result = score_strides(published_best_stride(rounded=True)[None])
    assert result.energy[0] == pytest.approx(16.48, abs=0.01)
    assert result.efficiency[0] == pytest.approx(0.0322, abs=5e-5)


def test_lengths_of_table_6_10_hardly_change():
    lengths = published_best_stride(rounded=True).reshape(4, 3, 4)[:, :, 2:]
    assert np.ptp(lengths, axis=0).max() == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize(
    ('knee', 'energy'), [(0.0, 5.30), (0.001, 9.3e-5), (1.0, 0.095), (30.0, 4.18)]
)
def test_published_energy_is_not_continuous(knee, energy):
    ours = leg_power(
        np.array([45.0, 30.0, 9.0, 9.0]), np.array([105.0, 30.0 + knee, 9.0, 9.0]), stance=True
    )
    assert ours == pytest.approx(energy, rel=0.01)


def test_each_edge_of_the_triangle_counts():
    """Equations 5.42 to 5.44 with a triangle that has one vertical edge."""
    rules = AS_CODED.as_named_tuple()

    def inside(x, y):
        return is_stable(
            Pose(0.0, math.pi / 2, (0.1,) * 3, (0.0, 0.27, 0.54), (0.0, 0.39, 0.0), x, y), rules
        )

    assert inside(0.27, 0.18)
    slope = 0.39 / 0.27
    normal = 0.0025 * math.sqrt(1.0 + slope**2)
    for sign in (-1.0, 1.0):
        x = 0.27 + sign * 0.1
        edge = slope * (0.27 - 0.1) - normal
        assert inside(x, edge - 1e-6)
        assert not inside(x, edge + 1e-6)
    assert inside(0.27, 0.0025 + 1e-9)
    assert not inside(0.27, 0.0025 - 1e-9)


def test_equal_legs_stand_level():
    # Equation 5.31: the centre lies at (0.27, 0.18) in the thesis's frame.
    for pose in body_poses(SYMMETRIC):
        assert pose.pitch == pytest.approx(0.0, abs=1e-12)
        assert pose.roll == math.pi / 2
        assert (pose.centre_x, pose.centre_y) == pytest.approx((0.27, 0.18))


NAMED = ('samples', 'one_joint', 'components', 'corner_angles', 'order', 'distance')
NAMED += ('pose_angles', 'front_height', 'dead_band', 'side_clearance', 'rear_edge')


@pytest.mark.parametrize('name', NAMED)
def test_each_difference_shows_alone(name):
    """Some stride scores differently under the printed variant of one rule alone."""
    strides = np.concatenate(
        [random_strides(300), [published_best_stride(rounded=True), SYMMETRIC]]
    )
    changed = StrideRules(**{name: getattr(AS_PRINTED, name)})
    assert changed != AS_CODED
    ours, other = score_strides(strides), score_strides(strides, changed)
    values = [[s.distance, s.energy, s.swings_free, s.stable, s.fitness] for s in (ours, other)]
    assert any(not np.array_equal(a, b, equal_nan=True) for a, b in zip(*values, strict=True))


def test_the_unit_cube_keeps_genes_to_rounding():
    rng = np.random.default_rng(7)
    genes = LIMITS_AS_CODED.lower + rng.random((500, 48)) * 10.0
    np.testing.assert_allclose(genes_from_unit(unit_from_genes(genes)), genes, rtol=4e-16)
    assert unit_from_genes(LIMITS_AS_CODED.lower).tolist() == [0.0] * 48
    assert unit_from_genes(LIMITS_AS_CODED.upper).tolist() == [1.0] * 48


def test_feasibility_names_every_rule():
    assert is_feasible(SYMMETRIC)
    for posture, leg, gene, value in [
        (0, 1, 1, 136.0),  # The knee carries.
        (0, 0, 0, 76.0),  # The hip swings forward while standing.
        (1, 2, 0, 106.0),
        (3, 0, 0, 106.0),  # Posture 4 lies outside the stroke.
        (3, 1, 0, 44.0),
    ]:
        stride = SYMMETRIC.copy()
        stride[12 * posture + 4 * leg + gene] = value
        assert not is_feasible(stride)
    bent = SYMMETRIC.copy()
    bent[37] = 145.0  # Posture 4 has no knee test.
    assert is_feasible(bent)


def test_repair_gives_feasible_strides_and_keeps_those():
    strides = random_strides(1000)
    mended = make_feasible(strides)
    assert are_feasible(mended).all()
    np.testing.assert_array_equal(make_feasible(mended), mended)
    assert np.all((mended >= LIMITS_AS_CODED.lower) & (mended <= LIMITS_AS_CODED.upper))


def test_distance_is_the_shortest_stroke():
    joints = np.zeros((4, 3, 4))
    joints[..., 2:] = 0.1
    joints[2, :, 0] = [math.pi / 3, math.pi / 2, 2 * math.pi / 3]
    assert foot_strokes(joints).tolist() == pytest.approx([0.1, 0.2, 0.3])


def test_wrong_shape_is_named():
    with pytest.raises(ConfigurationError, match='expected'):
        score_strides(np.zeros((3, 47)))


def test_two_thousand_fresh_strides_per_second():
    strides = random_strides(400)
    score_strides(strides[:2])
    best = math.inf
    for _ in range(5):
        start = time.process_time()
        score_strides(strides)
        best = min(best, time.process_time() - start)
    assert 400 / best >= 2000
