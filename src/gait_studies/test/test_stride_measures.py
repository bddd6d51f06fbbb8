# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Measures of strides that hold: closed forms, conservation and continuity."""

from __future__ import annotations

import math
import time

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.measures.stability import support_margin
from gait_studies.cafarelli2017.strides.encoding import (
    genes_from_legs,
    genes_from_unit,
    joints_from_genes,
    make_feasible,
)
from gait_studies.cafarelli2017.strides.hexapod import HexapodParameters
from gait_studies.cafarelli2017.strides.leg import foot_position
from gait_studies.cafarelli2017.strides.measures import MeasureSettings, measure_strides
from gait_studies.cafarelli2017.strides.published import published_best_stride
from gait_studies.cafarelli2017.strides.scoring import PUBLISHED_HEXAPOD, score_strides

SYMMETRIC = genes_from_legs(
    [[(45, 45, 9, 9), (75, 30, 9, 9), (105, 30, 9, 9), (80, 70, 7, 7)]] * 3
)
EQUAL = MeasureSettings(loads='equal')
PUBLISHED_FORCES = MeasureSettings(
    loads='equal', axial_force='printed', screw='symmetric', lift=False, steps=2000
)
WEIGHT = 9.81


def strides(count, seed=0):
    return make_feasible(genes_from_unit(np.random.default_rng(seed).random((count, 48))))


def reference_energy(genes, steps=4000):
    """Return the energy of section 4.9 by the midpoint rule, leg by leg, in plain NumPy."""
    joints, total = joints_from_genes(genes), 0.0
    share = (np.arange(steps) + 0.5) / steps
    for phase in range(4):
        load, carried = (22.0 / 3.0 * WEIGHT, 16.0 / 3.0 * WEIGHT) if phase < 2 else (0.0, 0.0)
        for leg in range(3):
            start, end = joints[phase, leg], joints[(phase + 1) % 4, leg]
            q0, q1, l0, l1 = (start + share[:, None] * (end - start)).T
            c0, c01 = np.cos(q0), np.cos(q0 + q1)
            knee = load * l1 * c01 - WEIGHT * l1 * c01 / 4
            hip = load * (l0 * c0 + l1 * c01) - WEIGHT * (1.25 * l0 * c0 + l1 * c01 / 4)
            upper = (carried if phase < 2 else 2 * WEIGHT) * np.sin(q0)
            lower = (carried + WEIGHT) * np.sin(q0 + q1)
            d = end - start
            screws = np.abs(upper * d[2]) + np.abs(lower * d[3])
            work = np.abs(hip * d[0]) + np.abs(knee * d[1])
            total += np.mean(work + screws / PUBLISHED_HEXAPOD.screw_efficiency)
    return total


def test_path_energy_equals_its_formula():
    genes = strides(6)
    ours = measure_strides(genes, PUBLISHED_FORCES).energy
    np.testing.assert_allclose(ours, [reference_energy(one) for one in genes], rtol=1e-5)


def test_default_steps_are_enough():
    genes = strides(300)
    coarse, fine = (
        measure_strides(genes).energy,
        measure_strides(genes, MeasureSettings(steps=1000)).energy,
    )
    assert np.max(np.abs(coarse / fine - 1.0)) < 0.02
    assert np.median(np.abs(coarse / fine - 1.0)) < 0.003


def test_signed_work_is_the_potential_it_builds():
    """Work of all joints = rise of the legs' own weight, less that of the loads below the feet."""
    genes = strides(20)
    joints = joints_from_genes(genes)
    heights = foot_position(joints)[..., 1]
    upper, lower = joints[..., 2], joints[..., 3]
    own = -WEIGHT * (
        1.25 * upper * np.sin(joints[..., 0]) + lower / 4 * np.sin(joints[..., :2].sum(axis=-1))
    )
    wanted = np.zeros(len(genes))
    for phase in range(4):
        after = (phase + 1) % 4
        wanted += (own[:, after] - own[:, phase]).sum(axis=1)
        if phase < 2:
            wanted -= 22 / 3 * WEIGHT * (heights[:, after] - heights[:, phase]).sum(axis=1)
    ours = measure_strides(genes, MeasureSettings(loads='equal', steps=2000))
    np.testing.assert_allclose(ours.rotary_signed + ours.screw_signed, wanted, atol=2e-5)


def test_uphill_work_is_weight_times_rise():
    # Level stride with equal legs and stance at constant height: only the rise does net work.
    height, reach = 0.15, 0.1
    legs = []
    for x in (reach / 2, 0.0, -reach / 2, 0.0):
        hip, knee = two_segments(x, height if len(legs) < 3 else height - 0.03, 0.09)
        legs.append((math.degrees(hip), math.degrees(knee), 9.0, 9.0))
    genes = genes_from_legs([legs] * 3)
    flat = measure_strides(genes[None], MeasureSettings(loads='equal', steps=2000))
    hill = measure_strides(genes[None], MeasureSettings(loads='equal', steps=2000, slope_up=0.1))
    rise = 22.0 * WEIGHT * reach * math.sin(0.1)
    # The legs' own masses swing forward as far as they went back in stance, relative to the body.
    gained = hill.rotary_signed[0] - flat.rotary_signed[0] * math.cos(0.1)
    assert gained == pytest.approx(rise, rel=1e-6)


@given(seed=st.integers(0, 200), slope=st.floats(-0.3, 0.3))
@settings(max_examples=40, deadline=None)
def test_no_stride_climbs_for_less_than_its_weight_rises(seed, slope):
    ours = measure_strides(strides(50, seed), MeasureSettings(slope_up=slope))
    climb = 22.0 * WEIGHT * ours.distance * math.sin(slope)
    assert np.all(ours.energy >= climb - 1e-9)


def test_lift_is_the_weight_times_what_the_body_sinks():
    # Level body, equal legs: the feet end a stroke closer to the hips than they began it.
    heights = foot_position(joints_from_genes(SYMMETRIC))[:, 0, 1]
    sunk = 22.0 * WEIGHT * (heights[2] - heights[0])
    ours = measure_strides(SYMMETRIC[None], MeasureSettings(loads='equal', steps=1000))
    assert sunk > 0.1
    # The legs' own centre of mass returns to where it was relative to the body.
    assert ours.lift[0] == pytest.approx(sunk, rel=1e-4)


def two_segments(x, height, length):
    """Return hip and knee angle of a leg with equal segments and the foot at x, -height."""
    distance = math.hypot(x, height)
    bend = math.acos(distance / 2.0 / length)
    return math.atan2(height, x) - bend, 2.0 * bend


def test_loads_of_a_level_robot_hold_its_weight():
    """In mid-stance a symmetric robot's load is a third each up to the offset of the triangle."""
    ours = measure_strides(SYMMETRIC[None], MeasureSettings(steps=200))
    equal = measure_strides(SYMMETRIC[None], MeasureSettings(steps=200, loads='equal'))
    # Hips 1 and 3 lie 0.18 m from the centre line, hip 2 0.21 m: loads 0.269, 0.462, 0.269.
    assert ours.rotary_absolute[0] == pytest.approx(equal.rotary_absolute[0], rel=2e-3)
    assert ours.rotary_heat[0] > equal.rotary_heat[0]


def test_margin_equals_the_hull():
    genes = SYMMETRIC.reshape(4, 3, 4).copy()
    genes[:] = genes[1]  # One posture throughout: no motion.
    ours = measure_strides(genes.reshape(1, 48))
    position = foot_position(joints_from_genes(genes.reshape(48)))[0, :, 0]
    hips = np.array([[0.27, 0.18], [0.0, -0.21], [-0.27, 0.18]])
    feet = hips + np.stack([position, np.zeros(3)], axis=1)
    upper, lower = joints_from_genes(genes.reshape(48))[0, 0, 2:]
    q0, q1 = joints_from_genes(genes.reshape(48))[0, 0, :2]
    offset = 6.0 * (1.25 * upper * math.cos(q0) + lower / 4 * math.cos(q0 + q1)) / 22.0
    assert ours.margin[0] == pytest.approx(
        support_margin(np.array([offset, 0.0]), feet), abs=1e-12
    )
    assert ours.energy[0] == 0.0
    assert ours.slip[0] == 0.0
    assert ours.tilt[0] == pytest.approx(0.0, abs=1e-7)
    assert ours.clearance[0] == pytest.approx(0.0, abs=1e-12)


def test_slope_moves_the_centre_of_mass():
    """On a slope the projected centre moves down by height times tangent, towards an edge."""
    level = measure_strides(SYMMETRIC[None])
    for key in ('slope_up', 'slope_across'):
        for sign in (-1.0, 1.0):
            steep = measure_strides(SYMMETRIC[None], MeasureSettings(**{key: sign * 0.5}))
            assert steep.margin[0] < level.margin[0]


@given(
    change=st.floats(1e-9, 1e-3),
    gene=st.integers(0, 47),
    seed=st.integers(0, 50),
)
@settings(max_examples=60, deadline=None)
def test_every_measure_is_continuous(change, gene, seed):
    """A small change of one gene changes no measure much, unlike the published energy."""
    genes = strides(1, seed)
    other = genes.copy()
    other[0, gene] += change
    before, after = measure_strides(genes), measure_strides(other)
    # 1e-3 degrees or centimetres move a foot by less than 1e-5 m; 60 N and 0.24 m bound the rest.
    assert abs(before.energy[0] - after.energy[0]) <= 60.0 * change + 1e-9
    assert abs(before.margin[0] - after.margin[0]) <= 5.0 * change + 1e-9
    assert abs(before.slip[0] - after.slip[0]) <= change + 1e-9
    assert abs(before.clearance[0] - after.clearance[0]) <= change + 1e-9


@pytest.mark.parametrize('knee', [1e-6, 1e-3, 1.0])
def test_the_flaw_of_the_published_energy_is_absent(knee):
    """Hip 45 to 105 degrees while the knee moves a little: near the energy of no knee motion."""

    def stride(by):
        leg = [(45, 30, 9, 9), (105, 30 + by, 9, 9), (105, 30 + by, 9, 9), (45, 30, 9, 9)]
        return genes_from_legs([leg] * 3)[None]

    still, moved = (
        measure_strides(stride(0.0), EQUAL).energy,
        measure_strides(stride(knee), EQUAL).energy,
    )
    assert moved[0] == pytest.approx(still[0], rel=0.06 * knee + 1e-6)
    if knee <= 1e-3:
        assert score_strides(stride(knee)).energy[0] < 1e-3 * score_strides(stride(0.0)).energy[0]


def test_the_best_published_stride_by_measures_that_hold():
    ours = measure_strides(published_best_stride()[None])
    assert score_strides(published_best_stride()[None]).energy[0] < 0.5
    assert ours.energy[0] > 20.0
    # Feet 1 and 3 stand 0.605, 0.794, 0.603 m apart in postures 1 to 3.
    assert ours.slip[0] == pytest.approx(0.19, abs=5e-3)
    assert ours.clearance[0] < -0.04


def test_screws():
    """Raising costs 1/efficiency; lowering less; nothing where the screw cannot lock itself."""
    legs = [(90, 0, 6, 9), (90, 0, 12, 9), (90, 0, 6, 9), (90, 0, 6, 9)]
    genes = genes_from_legs([legs] * 3)[None]
    ours = measure_strides(genes, EQUAL)
    force = (16.0 / 3.0 + 0.75) * WEIGHT
    up = 3 * force * 0.06
    assert ours.screw_signed[0] == pytest.approx(0.0, abs=1e-9)
    alpha, theta = PUBLISHED_HEXAPOD.thread_angle, PUBLISHED_HEXAPOD.friction_angle
    down = up * math.tan(theta - alpha) / math.tan(alpha)
    assert ours.screw_input[0] == pytest.approx(
        up / PUBLISHED_HEXAPOD.screw_efficiency + down, rel=1e-6
    )
    both = measure_strides(genes, MeasureSettings(loads='equal', screw='symmetric'))
    assert both.screw_input[0] == pytest.approx(
        2 * up / PUBLISHED_HEXAPOD.screw_efficiency, rel=1e-6
    )
    steep = HexapodParameters(lead=0.03)
    driven_back = measure_strides(genes, EQUAL, steep)
    assert driven_back.screw_input[0] == pytest.approx(up / steep.screw_efficiency, rel=1e-6)
    # It cannot lock itself: holding heats its motor.
    assert driven_back.screw_heat[0] > 0.0


def test_guides_resist_both_ways():
    """A level lower segment carries nothing along itself: only its guide resists."""
    legs = [(150, 30, 9, 6), (150, 30, 9, 12), (150, 30, 9, 6), (150, 30, 9, 6)]
    genes = genes_from_legs([legs] * 3)[None]
    assert measure_strides(genes, EQUAL).screw_input[0] == pytest.approx(0.0, abs=1e-12)
    rubbing = measure_strides(genes, EQUAL, HexapodParameters(guide_friction=0.3))
    across = (22.0 / 3.0 - 0.25) * WEIGHT
    work = 3 * 0.3 * across * 0.12 / PUBLISHED_HEXAPOD.screw_efficiency
    assert rubbing.screw_input[0] == pytest.approx(work, rel=1e-9)
    assert rubbing.screw_signed[0] == pytest.approx(0.0, abs=1e-12)


def test_knees_are_measured_from_the_ground():
    genes = np.tile(SYMMETRIC.reshape(4, 12)[1], 4)[None]
    q0, q1, _, lower = joints_from_genes(genes[0])[0, 0]
    assert measure_strides(genes).knees[0] == pytest.approx(lower * math.sin(q0 + q1), rel=1e-9)


def test_kinds_of_work_and_heat():
    genes = strides(50)
    ours = measure_strides(genes)
    np.testing.assert_allclose(
        ours.rotary_absolute, 2.0 * ours.rotary_positive - ours.rotary_signed, atol=1e-9
    )
    positive = measure_strides(genes, MeasureSettings(work='positive'))
    np.testing.assert_allclose(
        positive.energy, ours.rotary_positive + ours.screw_input + ours.lift
    )
    hot = measure_strides(genes, MeasureSettings(heat=True))
    np.testing.assert_allclose(hot.energy, ours.energy + ours.rotary_heat + ours.screw_heat)
    slow = measure_strides(genes, MeasureSettings(phase_duration=2.0))
    np.testing.assert_allclose(slow.rotary_heat, 2.0 * ours.rotary_heat)
    np.testing.assert_allclose(slow.energy, ours.energy)
    assert slow.time_per_distance[0] == pytest.approx(2.0 * ours.time_per_distance[0])


def test_heat_of_a_held_posture():
    genes = np.tile(SYMMETRIC.reshape(4, 12)[1], 4)[None]
    ours = measure_strides(genes, EQUAL)
    q0, q1, l0, l1 = joints_from_genes(genes[0])[0, 0]
    x0, x1 = l0 * math.cos(q0), l1 * math.cos(q0 + q1)
    load = 22.0 / 3.0 * WEIGHT
    heat = 0.0
    for carried in (load, 0.0):
        hip = carried * (x0 + x1) - WEIGHT * (1.25 * x0 + x1 / 4)
        knee = carried * x1 - WEIGHT * x1 / 4
        heat += 3 * 2.0 * (hip**2 + knee**2) / 1.8**2
    assert ours.rotary_heat[0] == pytest.approx(heat, rel=1e-9)
    assert ours.screw_heat[0] == 0.0


def test_cost_of_transport_is_undefined_without_progress():
    genes = np.array([SYMMETRIC, np.tile(SYMMETRIC[:12], 4)])
    ours = measure_strides(genes)
    first, second = ours.cost_of_transport()
    assert first == pytest.approx(ours.energy[0] / (22.0 * WEIGHT * ours.distance[0]))
    assert second is None
    assert math.isinf(ours.time_per_distance[1])


@pytest.mark.parametrize('wrong', [{'slope_up': 0.1, 'loads': 'equal'}, {'slope_across': 0.1}, {}])
def test_printed_forces_only_where_they_hold(wrong):
    with pytest.raises(ConfigurationError, match="nearest valid: 'path'"):
        measure_strides(SYMMETRIC[None], MeasureSettings(axial_force='printed', **wrong))


def test_twenty_thousand_strides_per_second():
    genes = strides(4000)
    measure_strides(genes[:2])
    best = math.inf
    for _ in range(5):
        start = time.process_time()
        measure_strides(genes)
        best = min(best, time.process_time() - start)
    assert 4000 / best >= 20000


@pytest.mark.parametrize('value', [np.nan, np.inf])
def test_a_gene_that_is_no_number_is_refused(value):
    genes = published_best_stride()[None].copy()
    genes[0, 2] = value
    with pytest.raises(ConfigurationError, match='gene 2 of stride 0 is (nan|inf), expected'):
        measure_strides(genes)
