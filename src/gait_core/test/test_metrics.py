# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

from dataclasses import replace
import math
import time

import numpy as np
import pytest

from gait_core.kinematics.forward_kinematics import kinematic_tree, link_coms
from gait_core.measures.metrics import (
    METRICS,
    heading_angles,
    inertial_zmp,
    is_circular,
    leg_metric_names,
    trial_gait_diagram,
    trial_metrics,
)
from gait_core.terrains import load_terrain
from gait_core.testing.doubles import legged_box, make_rollout, spec_for_test
from gait_core.trial.gates import max_airborne_time
from gait_core.trial.scene import TerrainSpec
from gait_core.trial.spec import FELL, OK

DT = 0.02
G = 9.81


def quaternion(yaw=0.0, pitch=0.0):
    """Yaw after pitch, x, y, z, w."""
    c, s, p, q = np.cos(yaw / 2), np.sin(yaw / 2), np.cos(pitch / 2), np.sin(pitch / 2)
    return np.stack(np.broadcast_arrays(-s * q, c * q, s * p, c * p), axis=-1)


def record(ticks=100, robot=None, x=0.0, y=0.0, z=0.3, yaw=0.0, pitch=0.0, status=OK, **fields):
    """Return a record whose base moves as given and that touches nothing."""
    robot = robot or legged_box()
    rows = ticks + 1
    poses = np.zeros((rows, len(robot.roots), 7))
    for column, value in enumerate((x, y, z)):
        poses[:, :, column] = np.broadcast_to(value, rows)[:, None]
    poses[:, :, 3:] = np.broadcast_to(quaternion(yaw, pitch), (rows, 4))[:, None]
    return make_rollout(robot, spec_for_test(), ticks, status, **{'body_poses': poses, **fields})


def standing(rows, corners, force, robot):
    """Return contacts in which every sole has one point and all share a force."""
    points = np.asarray(corners, dtype=float)
    count = len(points)
    return {
        'contact_tick': np.repeat(np.arange(rows), count),
        'contact_sole': np.tile(np.arange(count), rows),
        'contact_points': np.tile(points, (rows, 1)),
        'contact_forces': np.tile([0.0, 0.0, force / count], (rows * count, 1)),
        'contact_depths': np.full(rows * count, 0.002),
    }


def test_a_turned_start_measures_along_its_own_forward_direction():
    steps = np.linspace(0.0, 1.0, 101)
    found = trial_metrics(record(x=1.0 - 3.0 * steps, y=2.0 + 4.0 * steps, yaw=np.pi / 2))
    assert found['distance_m'] == pytest.approx(5.0)
    assert found['displacement_x_m'] == pytest.approx(4.0)
    assert found['displacement_y_m'] == pytest.approx(3.0)
    assert found['duration_s'] == pytest.approx(2.0)
    assert found['mean_speed_mps'] == pytest.approx(2.5)
    assert found['yaw_rad'] == pytest.approx(0.0)


def test_turns_are_counted_beyond_one():
    found = trial_metrics(record(yaw=np.linspace(0.3, 0.3 - 4.0 * np.pi, 101)))
    assert found['yaw_rad'] == pytest.approx(-4.0 * np.pi)


def test_pitching_is_no_heading():
    poses = np.zeros((3, 7))
    poses[:, 3:] = quaternion(0.4, np.array([-1.2, 0.0, 1.2]))
    np.testing.assert_allclose(heading_angles(poses), 0.4)


def test_tilt_and_height_are_over_the_terrain():
    assert trial_metrics(record(yaw=1.0, pitch=0.25))['tilt_max_rad'] == pytest.approx(0.25)
    spec = spec_for_test(scene={'terrain': TerrainSpec(name='rough', seed=1)})
    x = np.linspace(-3.0, 3.0, 101)
    ground = load_terrain(spec.scene.terrain).height(x, np.zeros(101))
    found = trial_metrics(replace(record(x=x, z=ground + 0.4), spec=spec))
    assert found['height_mean_m'] == pytest.approx(0.4)


def test_energy_and_cost_of_transport():
    robot = legged_box()
    effort, velocity = np.zeros((101, 8)), np.zeros((101, 8))
    effort[:, 0], velocity[:, 0] = 2.0, 3.0
    effort[:, 1], velocity[:, 1] = 1.0, -1.0
    x = np.linspace(0.0, 0.5, 101)
    found = trial_metrics(record(x=x, joint_efforts=effort, joint_velocities=velocity))
    assert found['energy_j'] == pytest.approx(12.0)
    assert found['energy_signed_j'] == pytest.approx(10.0)
    assert found['energy_absolute_j'] == pytest.approx(14.0)
    assert found['cost_of_transport'] == pytest.approx(12.0 / (robot.mass * G * 0.5))


def test_what_is_undefined_is_absent():
    found = trial_metrics(record())
    absent = {
        'cost_of_transport', 'zmp_margin_min_m', 'zmp_margin_mean_m', 'duty_factor',
        'inertial_zmp_margin_mean_m', 'inertial_zmp_margin_p05_m', 'stride_frequency_hz',
        'capture_point_offset_m',
    }  # fmt: skip
    assert set(METRICS) - set(found) == absent
    assert found['zmp_undefined_fraction'] == 1.0
    assert found['steps'] == 0.0


def test_a_trial_that_ended_at_once_has_metrics_all_the_same():
    found = trial_metrics(record(ticks=0, status=FELL))
    assert found['duration_s'] == 0.0 and 'mean_speed_mps' not in found
    assert all(math.isfinite(value) for value in found.values())


def test_numbers_that_are_not_finite_are_left_out():
    efforts = np.zeros((101, 8))
    efforts[3, 3] = np.nan
    found = trial_metrics(record(joint_efforts=efforts, joint_velocities=np.ones((101, 8))))
    assert 'energy_j' not in found and 'cost_of_transport' not in found
    assert all(math.isfinite(value) for value in found.values())


def test_metrics_come_in_their_order():
    found = list(trial_metrics(record()))
    legs = [leg.name for leg in legged_box().legs]
    assert found == [name for name in (*METRICS, *leg_metric_names(legs)) if name in found]


def test_each_leg_has_its_stance_duty_factor_and_phase_lag():
    robot = legged_box()
    cycle, ticks = 50, 200
    # Touch-down [share of a cycle] and duty factor of each leg; the last one never lands.
    gait = {'leg0': (0.0, 0.5), 'leg1': (0.5, 0.6), 'leg2': (0.2, 0.8), 'leg3': (0.0, 0.0)}
    tick = np.arange(ticks + 1)
    contacts = [
        (when, sole)
        for sole, (start, duty) in enumerate(gait.values())
        for when in tick
        if (when - round(start * cycle)) % cycle < round(duty * cycle)
    ]
    when, sole = np.array(sorted(contacts)).T
    found = trial_metrics(
        record(
            ticks,
            robot,
            contact_tick=when,
            contact_sole=sole,
            contact_points=np.zeros((len(when), 3)),
            contact_forces=np.tile([0.0, 0.0, robot.mass * G / 2.0], (len(when), 1)),
            contact_depths=np.zeros(len(when)),
        )
    )
    for leg, (start, duty) in gait.items():
        stance = float(np.mean([(t - round(start * cycle)) % cycle < duty * cycle for t in tick]))
        assert found[f'stance_fraction.{leg}'] == pytest.approx(stance)
        if leg == 'leg3':
            assert f'duty_factor.{leg}' not in found and f'phase_lag.{leg}' not in found
        else:
            assert found[f'duty_factor.{leg}'] == pytest.approx(duty)
            assert found[f'phase_lag.{leg}'] == pytest.approx(2.0 * np.pi * start)
    assert is_circular('phase_lag.leg1') and not is_circular('duty_factor.leg1')


def test_a_standing_robot_has_the_margin_of_its_feet():
    robot = legged_box()
    corners = [[0.2, 0.1, 0.0], [0.2, -0.1, 0.0], [-0.2, 0.1, 0.0], [-0.2, -0.1, 0.0]]
    found = trial_metrics(record(**standing(101, corners, robot.mass * G, robot)))
    for name in ('zmp_margin_min_m', 'zmp_margin_mean_m'):
        assert found[name] == pytest.approx(0.1)
    # Legs hang straight down at zero: the centre of mass is over the centre of the base.
    assert found['inertial_zmp_margin_mean_m'] == pytest.approx(0.1)
    assert found['zmp_undefined_fraction'] == 0.0
    assert found['penetration_max_m'] == pytest.approx(0.002)
    assert found['steps'] == 0.0


FRONT, REAR = [0.2, 0.1, 0.0], [-0.2, -0.1, 0.0]


@pytest.mark.parametrize(
    ('points', 'kind'),
    [
        ([FRONT, REAR, [0.2, -0.1, 0.0]], 'area'),
        ([FRONT, REAR], 'line'),
        ([FRONT, REAR, [0.0, 0.0, 0.0]], 'line'),
        ([FRONT, [0.2, 0.1001, 0.0]], 'point'),
        ([FRONT], 'point'),
    ],
)
def test_support_is_told_by_what_the_contacts_span(points, kind):
    robot = legged_box()
    found = trial_metrics(record(**standing(101, points, robot.mass * G, robot)))
    shares = {name: found[f'support_{name}_fraction'] for name in ('area', 'line', 'point')}
    assert shares == {'area': 0.0, 'line': 0.0, 'point': 0.0, kind: 1.0}
    assert ('zmp_margin_mean_m' in found) == (kind == 'area')
    assert ('capture_point_offset_m' in found) == (kind == 'line')


@pytest.mark.parametrize('speed', [0.0, 0.5])
def test_the_capture_point_of_a_moving_mass_is_ahead_of_it(speed):
    robot = legged_box()
    clock = np.arange(101) * DT
    contacts = standing(101, [[0.0, 0.3, 0.0], [0.0, -0.3, 0.0]], robot.mass * G, robot)
    found = trial_metrics(record(x=speed * clock, z=0.3, **contacts))
    com = link_coms(robot, np.zeros((1, 8)), np.array([[[0, 0, 0.3, 0, 0, 0, 1.0]]]))[0]
    height = float(kinematic_tree(robot).mass @ com[:, 2] / robot.mass)
    # The line is x = 0; the mass is at x = v t, its capture point sqrt(h / g) v ahead.
    ahead = np.abs(speed * clock + speed * np.sqrt(height / G)).mean()
    assert found['capture_point_offset_m'] == pytest.approx(ahead, abs=1e-9)


def test_an_accelerated_robot_leans_back_by_its_height():
    acceleration, robot = 0.8, legged_box()
    clock = np.arange(101) * DT
    series = inertial_zmp(record(x=0.5 * acceleration * clock**2, z=0.3))
    com = (4.0 * 0.3 + sum(
        0.25 * (0.3 - 0.05 - 0.15 * (k + 0.5)) for k in (0, 1) for _ in range(4)
    )) / robot.mass  # fmt: skip
    expected = 0.5 * acceleration * clock**2 - com * acceleration / G
    np.testing.assert_allclose(series.points[1:-1, 0], expected[1:-1], atol=1e-6)


def walking(robot, period=50, rows=501):
    """Return the contacts of a walk: leg k is in the air for a quarter at its turn."""
    tick = np.arange(rows)
    down = (tick[:, None] - period // 4 * np.arange(4)) % period >= period // 4
    where = np.argwhere(down)
    corners = np.array([[0.2, 0.1, 0.0], [0.2, -0.1, 0.0], [-0.2, 0.1, 0.0], [-0.2, -0.1, 0.0]])
    forces = np.zeros((len(where), 3))
    forces[:, 2] = robot.mass * G / down.sum(axis=1)[where[:, 0]]
    return {
        'contact_tick': where[:, 0],
        'contact_sole': where[:, 1],
        'contact_points': corners[where[:, 1]],
        'contact_forces': forces,
        'contact_depths': np.zeros(len(where)),
    }


def test_steps_are_counted_over_all_legs():
    robot = legged_box()
    rollout = record(ticks=500, robot=robot, **walking(robot))
    found = trial_metrics(rollout)
    # Leg k lifts at 12 k and lands 12 ticks later (leg 0 at once), in each of ten strides.
    assert found['steps'] == 40.0
    assert found['stride_frequency_hz'] == pytest.approx(1.0)
    assert found['duty_factor'] == pytest.approx(38.0 / 50.0)
    diagram = trial_gait_diagram(rollout)
    assert list(diagram.stances) == ['leg0', 'leg1', 'leg2', 'leg3']
    assert diagram.phase_lag['leg1'] == pytest.approx(2.0 * np.pi * 12.0 / 50.0)


@pytest.mark.parametrize(('ticks_up', 'steps'), [(3, 0.0), (8, 1.0)])
def test_a_bounce_is_no_step(ticks_up, steps):
    robot = legged_box()
    corners = [[0.2, 0.1, 0.0], [0.2, -0.1, 0.0], [-0.2, 0.1, 0.0], [-0.2, -0.1, 0.0]]
    fields = standing(101, corners, robot.mass * G, robot)
    up = (fields['contact_sole'] == 2) & (np.abs(fields['contact_tick'] - 50.5) < ticks_up / 2)
    fields['contact_forces'][up] = 0.0
    # Legs of 0.3 m: half of sqrt(0.3 / 9.81) s are 4.4 ticks.
    assert trial_metrics(record(**fields))['steps'] == steps


def test_the_time_without_a_leg_is_that_of_the_gate():
    # A bound: a tick of the hind legs with 38 ms of the weight, a flight, then the front legs.
    robot, rows, period = legged_box(), 400, 25
    # Ticks 5 to 13 and 14 to 24 of each stride are flights of 8 and 11 ticks.
    phases = {0: range(5), 1: range(5), 2: (13,), 3: (13,)}
    where = np.array(
        [(t, leg) for t in range(rows) for leg in range(4) if t % period in phases[leg]]
    )
    forces = np.zeros((len(where), 3))
    forces[:, 2] = robot.mass * G * np.where(where[:, 1] < 2, 0.5, 0.038 / DT)
    rollout = record(
        ticks=rows - 1,
        robot=robot,
        contact_tick=where[:, 0],
        contact_sole=where[:, 1],
        contact_points=np.zeros((len(where), 3)),
        contact_forces=forces,
        contact_depths=np.zeros(len(where)),
    )
    diagram = trial_gait_diagram(rollout)
    stances = sorted(span for spans in diagram.stances.values() for span in spans)
    ends = np.maximum.accumulate([end for _, end in stances])
    longest = max(start - end for (start, _), end in zip(stances[1:], ends[:-1], strict=True))
    assert longest == pytest.approx(11 * DT)
    assert max_airborne_time(rollout) == pytest.approx(11 * DT)
    assert trial_metrics(rollout)['grazes'] == 0.0


@pytest.mark.parametrize(
    ('share', 'lowest', 'steps'),
    [(0.06, 0.01, 1.0), (0.04, 0.01, 0.0), (0.06, 0.03, 0.0)],
)
def test_stance_begins_at_a_twentieth_of_the_weight_and_ends_below_a_fiftieth(
    share, lowest, steps
):
    robot = legged_box()
    fields = standing(101, [FRONT], 0.0, robot)
    weight = robot.mass * G
    fields['contact_forces'][:, 2] = share * weight
    fields['contact_forces'][40:60, 2] = lowest * weight
    assert trial_metrics(record(**fields))['steps'] == steps


def test_a_short_trial_has_a_mean_speed():
    found = trial_metrics(record(ticks=10, x=np.linspace(0.0, 0.1, 11)))
    assert found['duration_s'] == pytest.approx(0.2)
    assert found['mean_speed_mps'] == pytest.approx(0.5)


def test_jitter_is_that_of_the_commands():
    ticks, rate = 200, 2.0 * np.pi * 1.5
    targets = np.zeros((ticks, 8))
    targets[:, :] = 0.3 * np.sin(rate * np.arange(ticks) * DT)[:, None]
    found = trial_metrics(record(ticks=ticks, target_positions=targets))
    # The mean square of a sine's second derivative, and of its difference quotient.
    quotient = (2.0 - 2.0 * np.cos(rate * DT)) / DT**2
    assert found['command_jitter_rad_s2'] == pytest.approx(0.3 * quotient / math.sqrt(2), rel=0.01)
    ramp = np.tile(np.arange(ticks)[:, None] * 0.01, (1, 8))
    assert trial_metrics(record(ticks=ticks, target_positions=ramp))[
        'command_jitter_rad_s2'
    ] == pytest.approx(0.0, abs=1e-9)


def test_without_legs_there_are_no_steps():
    robot = replace(legged_box(), legs=())
    found = trial_metrics(record(robot=robot))
    assert 'steps' not in found and 'duty_factor' not in found


def test_a_trial_of_20_s_with_24_joints_is_measured_at_a_fraction_of_its_physics():
    robot = legged_box(joints=6)
    rollout = record(ticks=1000, robot=robot, **walking(robot, rows=1001))
    trial_metrics(rollout)
    costs = []
    for _ in range(5):
        began = time.process_time()
        trial_metrics(rollout)
        costs.append(time.process_time() - began)
    # 20000 physics steps of a humanoid take seconds; 60 ms are 1 % of the fastest of them.
    assert min(costs) < 0.06


def test_a_robot_on_its_back_tilts_by_more_than_a_right_angle():
    assert trial_metrics(record(pitch=2.5))['tilt_max_rad'] == pytest.approx(2.5)
