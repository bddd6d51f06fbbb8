# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Measures of bad records: each is a value computed by hand, absent, or refused by name."""

from dataclasses import replace
import math

import numpy as np
import pytest

from gait_core.measures.energy import joint_work, motor_heat
from gait_core.measures.foot_contacts import StanceRule
from gait_core.measures.gait_diagram import gait_diagram
from gait_core.measures.metrics import METRICS, trial_gait_diagram, trial_metrics
from gait_core.measures.stability import (
    ZmpSeries,
    centre_of_pressure,
    moving_mean,
    support_margin,
    support_margins,
    support_polygon,
    zmp_from_accelerations,
)
from gait_core.measures.support import AREA, LINE, NOTHING, POINT, support_kinds
from gait_core.measures.work_meter import WorkMeter
from gait_core.testing.doubles import legged_box, make_rollout, spec_for_test
from gait_core.trial.gates import (
    max_airborne_time,
    max_joint_rate,
    max_penetration,
    unexplained_energy,
)

DT, G, TICKS = 0.02, 9.81, 100
CORNERS = np.array([[0.2, 0.1, 0.0], [0.2, -0.1, 0.0], [-0.2, 0.1, 0.0], [-0.2, -0.1, 0.0]])


def standing(ticks=TICKS, share=1.0):
    """Return a record of a box on four feet that carry a share of its weight."""
    robot, rows = legged_box(), ticks + 1
    poses = np.zeros((rows, 1, 7))
    poses[..., 2], poses[..., 6] = 0.3, 1.0
    force = share * robot.mass * G / 4.0
    return make_rollout(
        robot,
        spec_for_test(),
        ticks,
        body_poses=poses,
        contact_tick=np.repeat(np.arange(rows), 4),
        contact_sole=np.tile(np.arange(4), rows),
        contact_points=np.tile(CORNERS, (rows, 1)),
        contact_forces=np.tile([0.0, 0.0, force], (4 * rows, 1)),
        contact_depths=np.full(4 * rows, 0.002),
    )


def without(rollout, *fields):
    """Return a record whose states do not report some fields."""
    return replace(rollout, states=replace(rollout.states, **dict.fromkeys(fields)))


# All metrics of the box that stands for 2 s: it does not move, and its CoP is in the centre, 0.1 m
# from the nearer edges. Undefined is what needs a distance, a step or a line.
STANDING = {
    'duration_s': TICKS * DT,
    'distance_m': 0.0,
    'displacement_x_m': 0.0,
    'displacement_y_m': 0.0,
    'yaw_rad': 0.0,
    'mean_speed_mps': 0.0,
    'steps': 0.0,
    'grazes': 0.0,
    'cost_of_transport': None,
    'energy_j': 0.0,
    'support_area_fraction': 1.0,
    'support_line_fraction': 0.0,
    'support_point_fraction': 0.0,
    'zmp_undefined_fraction': 0.0,
    'zmp_margin_min_m': 0.1,
    'zmp_margin_mean_m': 0.1,
    'inertial_zmp_margin_mean_m': 0.1,
    'inertial_zmp_margin_p05_m': 0.1,
    'capture_point_offset_m': None,
    'energy_signed_j': 0.0,
    'energy_absolute_j': 0.0,
    'height_mean_m': 0.3,
    'tilt_max_rad': 0.0,
    'speed_max_mps': 0.0,
    'penetration_max_m': 0.002,
    'command_jitter_rad_s2': 0.0,
    'stance_fraction': 1.0,
    'duty_factor': None,
    'stride_frequency_hz': None,
}
MARGINS = dict.fromkeys(name for name in METRICS if 'margin' in name)
OF_CONTACTS = dict.fromkeys(
    name
    for name in METRICS
    if name in ('steps', 'grazes', 'stance_fraction', 'penetration_max_m')
    or name.startswith(('support', 'zmp', 'inertial'))
)
OF_WORK = dict.fromkeys(name for name in METRICS if name.startswith('energy'))
IN_THE_AIR = {
    **MARGINS,
    'stance_fraction': 0.0,
    'support_area_fraction': 0.0,
    'zmp_undefined_fraction': 1.0,
}


@pytest.mark.parametrize(
    ('rollout', 'differences'),
    [
        (standing(), {}),
        (without(standing(), 'contacts', 'contact_counts'), OF_CONTACTS),
        (without(standing(), 'joint_efforts', 'joint_work'), OF_WORK),
        (without(standing(), 'joint_velocities', 'joint_work'), OF_WORK),
        (without(standing(), 'body_twists'), {'speed_max_mps': None}),
        (
            without(standing(), 'joint_positions'),
            {'inertial_zmp_margin_mean_m': None, 'inertial_zmp_margin_p05_m': None},
        ),
        # The feet touch without force, as in a walk that never lands.
        (standing(share=0.0), IN_THE_AIR),
        # A tick: nothing took time, and there is no acceleration.
        (
            standing(ticks=0),
            {
                'duration_s': 0.0,
                'mean_speed_mps': None,
                'command_jitter_rad_s2': None,
                'inertial_zmp_margin_mean_m': None,
                'inertial_zmp_margin_p05_m': None,
            },
        ),
        (
            standing(ticks=1),
            {
                'duration_s': DT,
                'command_jitter_rad_s2': None,
                'inertial_zmp_margin_mean_m': None,
                'inertial_zmp_margin_p05_m': None,
            },
        ),
    ],
    ids=[
        *('standing', 'no contacts', 'no efforts', 'no velocities', 'no twists', 'no positions'),
        *('never lands', 'one tick', 'two ticks'),
    ],
)
def test_every_metric_is_the_value_by_hand_or_absent(rollout, differences):
    found, expected = trial_metrics(rollout), {**STANDING, **differences}
    assert expected.keys() == METRICS.keys()
    for name, value in expected.items():
        if value is None:
            assert name not in found
        else:
            assert found[name] == pytest.approx(value, abs=1e-9), name
    assert all(map(math.isfinite, found.values()))


@pytest.mark.parametrize(
    ('rollout', 'expected'),
    [
        (standing(), (0.0, 0.002, 0.0, 0.0)),
        (without(standing(), 'contacts', 'contact_counts'), (None, None, 0.0, 0.0)),
        (standing(share=0.0), ((TICKS + 1) * DT, 0.002, 0.0, 0.0)),
        (without(standing(), 'joint_efforts', 'joint_work'), (0.0, 0.002, None, 0.0)),
        (without(standing(), 'joint_velocities', 'joint_work'), (0.0, 0.002, None, None)),
        (standing(ticks=1), (0.0, 0.002, None, 0.0)),
    ],
)
def test_gates_measure_a_bad_record_or_nothing(rollout, expected):
    gates = (max_airborne_time, max_penetration, unexplained_energy, max_joint_rate)
    for gate, value in zip(gates, expected, strict=True):
        found = gate(rollout)
        assert found == (value if value is None else pytest.approx(value, abs=1e-9)), gate


def test_a_diagram_without_contacts_has_no_legs():
    found = trial_gait_diagram(without(standing(), 'contacts', 'contact_counts'))
    assert found.stances == found.stance_fraction == found.grazes == {}
    empty = gait_diagram(('a',), np.zeros((0, 1), dtype=bool), np.zeros(1, dtype=np.int64), DT)
    assert empty.stances == {'a': ()} and empty.stance_fraction == {}


def test_the_meter_of_a_robot_without_efforts_has_no_work():
    rollout = without(standing(), 'joint_efforts', 'joint_work')
    meter = WorkMeter(rollout.robot, DT, G)
    for tick in range(3):
        meter.update(rollout.states[tick], next(iter(rollout.applied[0])) if tick else None)
    assert meter.work is meter.power is meter.cost_of_transport is None


@pytest.mark.parametrize(
    ('change', 'words'),
    [
        ({'times': np.array([0.0, 0.02, 0.02, 0.06])}, 'tick 2 of the record is at 0.02 s'),
        ({'times': np.array([0.0, 0.02, 0.01, 0.06])}, 'tick 2 of the record is at 0.01 s'),
        ({'body_poses': None}, 'no body_poses'),
    ],
)
def test_a_record_that_no_metric_can_be_computed_from_is_refused(change, words):
    rollout = standing(ticks=3)
    with pytest.raises(ValueError, match=words):
        trial_metrics(replace(rollout, states=replace(rollout.states, **change)))


def test_a_record_without_states_is_refused():
    rollout = standing(ticks=3)
    with pytest.raises(ValueError, match='no states'):
        trial_metrics(replace(rollout, states=rollout.states[:0]))


@pytest.mark.parametrize('dt', [0.0, -0.02, math.nan, math.inf])
@pytest.mark.parametrize(
    'measure',
    [
        lambda dt: joint_work(np.ones((3, 1)), np.ones((3, 1)), dt),
        lambda dt: motor_heat(np.ones((3, 1)), 1.0, dt),
        lambda dt: gait_diagram(('a',), np.ones((3, 1), dtype=bool), np.zeros(1, np.int64), dt),
        lambda dt: StanceRule(on_force=2.0, off_force=1.0, min_gap=0.1, min_impulse=1.0, dt=dt),
        lambda dt: zmp_from_accelerations(
            np.ones(1), np.zeros((3, 1, 3)), dt, gravity=np.array([0, 0, -G]), min_force=1.0
        ),
    ],
    ids=['joint_work', 'motor_heat', 'gait_diagram', 'stance_rule', 'zmp'],
)
def test_two_ticks_of_equal_time_are_refused(measure, dt):
    with pytest.raises(ValueError, match='dt is .* s, two ticks need different times'):
        measure(dt)


@pytest.mark.parametrize(
    ('points', 'corners', 'kind', 'margin'),
    # The margin is that of the origin: the distance from a point or a line, taken negative.
    [
        ([], [], NOTHING, None),
        ([[3.0, 4.0]], [[3.0, 4.0]], POINT, -5.0),
        ([[3.0, 4.0], [3.0, 4.0]], [[3.0, 4.0]], POINT, -5.0),
        ([[0.0, 0.0]], [[0.0, 0.0]], POINT, 0.0),
        ([[1.0, -2.0], [1.0, 2.0]], [[1.0, -2.0], [1.0, 2.0]], LINE, -1.0),
        ([[-1.0, 0.0], [1.0, 0.0]], [[-1.0, 0.0], [1.0, 0.0]], LINE, 0.0),
        ([[1.0, 1.0], [2.0, 1.0], [5.0, 1.0]], [[1.0, 1.0], [5.0, 1.0]], LINE, -math.sqrt(2.0)),
        ([[-1.0, -1.0], [1.0, -1.0], [0.0, 3.0]], None, AREA, 3.0 / math.sqrt(17.0)),
    ],
    ids=['none', 'one', 'equal', 'below', 'two', 'through', 'collinear', 'area'],
)
def test_polygons_of_few_points(points, corners, kind, margin):
    spatial = np.array([[*point, 0.0] for point in points]).reshape(-1, 3)
    found = support_polygon(points)
    np.testing.assert_array_equal(found, np.reshape(corners or found, (-1, 2)))
    instants = np.zeros(len(points), dtype=np.int64)
    assert support_kinds(instants, spatial, 1, 0.01).tolist() == [kind]
    origin = ZmpSeries(
        points=np.zeros((1, 3)), defined=np.ones(1, dtype=bool), level=np.ones(1, dtype=bool)
    )
    values, defined = support_margins(origin, instants, spatial)
    if margin is None:
        assert not defined[0] and values[0] == 0.0
        with pytest.raises(ValueError, match='polygon has no points'):
            support_margin(np.zeros(2), found)
    else:
        assert values[0] == pytest.approx(margin) and defined[0]
        assert support_margin(np.zeros(2), found) == pytest.approx(margin)


@pytest.mark.parametrize('bad', [math.nan, math.inf])
def test_points_that_are_not_finite_are_refused(bad):
    with pytest.raises(ValueError, match=r'polygon is .*, its coordinates must be finite'):
        support_polygon([[0.0, bad], [1.0, 0.0]])
    with pytest.raises(ValueError, match=r'point is .*, its coordinates must be finite'):
        support_margin(np.array([bad, 0.0]), CORNERS)


def test_nothing_that_presses_has_no_centre():
    point, status = centre_of_pressure(np.zeros((0, 3)), np.zeros((0, 3)), min_force=1.0)
    assert point is None and status == 'undefined'


def test_a_mean_over_no_rows_is_refused():
    with pytest.raises(ValueError, match='samples is 0, it must be at least 1'):
        moving_mean(np.ones((3, 1)), 0)
