# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The meter of a running robot: sums of work known in closed form."""

from dataclasses import replace

import numpy as np
import pytest

from gait_core.measures.work_meter import WorkMeter
from gait_core.motion.observation import Observation
from gait_core.motion.targets import AppliedTargets
from gait_core.testing.free_bodies import hanging_weight

DT, G = 0.5, 10.0
ROBOT = hanging_weight()


def state(tick, effort, velocity, x=0.0, y=0.0, length=1.0, tension=8.0, **more):
    poses = np.zeros((1, 7))
    poses[0, :2], poses[0, 6] = (x, y), 1.0
    fields = {
        'joint_efforts': np.array([effort]),
        'joint_velocities': np.array([velocity]),
        'element_lengths': np.array([length]),
        'element_forces': np.array([tension]),
        'body_poses': poses,
        **more,
    }
    return Observation(tick=tick, time=tick * DT, joint_names=ROBOT.joint_names, **fields)


def applied(rest, added=0.0):
    """Return the targets of a period whose first of two sub-samples is another."""
    row = np.array([[9.0, 9.0], [0.0, rest]])
    return AppliedTargets(row, np.zeros_like(row), np.array([[7.0, 7.0], [0.0, added]]))


def test_it_has_no_work_before_the_first_period_and_counts_no_tick_twice():
    meter = WorkMeter(ROBOT, DT, G)
    assert meter.work is meter.power is meter.cost_of_transport is None
    meter.update(state(0, 2.0, 3.0), None)
    assert meter.work is meter.power is meter.cost_of_transport is None
    for _ in range(2):
        meter.update(state(1, 2.0, 3.0), applied(1.0))
    # 6 W for half a second.
    np.testing.assert_allclose(meter.work.signed, [3.0, 0.0])
    meter.update(state(2, 2.0, -3.0), None)
    np.testing.assert_allclose(meter.work.signed, [3.0, 0.0])


def test_it_adds_the_work_of_joints_and_of_winches():
    meter = WorkMeter(ROBOT, DT, G)
    meter.update(state(0, 2.0, 3.0), None)
    meter.update(state(1, 2.0, -3.0), applied(1.0))
    # Power from 6 to -6 W in half a second: triangles of 0.75 J. The first rest length is no step.
    np.testing.assert_allclose(meter.work.signed, [0.0, 0.0])
    np.testing.assert_allclose(meter.work.positive, [0.75, 0.0])
    meter.update(state(2, 4.0, -1.0, length=0.75), applied(0.5, added=2.0))
    # Joint: 0.5 s of (-6 - 4) / 2 W. Drive: 2 N over the 0.25 m that the length shrinks, and
    # 8 - 2 N over 0.5 m of rest length.
    np.testing.assert_allclose(meter.work.signed, [-2.5, 3.5])
    np.testing.assert_allclose(meter.work.positive, [0.75, 3.5])
    np.testing.assert_allclose(meter.work.absolute, [4.0, 3.5])
    # The joint at this tick, the drive over the last period.
    np.testing.assert_allclose(meter.power, [-4.0, 7.0])


def test_sums_of_the_engine_come_before_the_linear_rule():
    meter = WorkMeter(ROBOT, DT, G)
    for tick, work in enumerate(([[1.0], [2.0]], [[1.5], [4.0]], [[4.5], [8.0]])):
        meter.update(
            state(tick, 2.0, 3.0, joint_work=np.array(work)), applied(1.0) if tick else None
        )
    np.testing.assert_allclose(meter.work.signed, [3.5, 0.0])
    np.testing.assert_allclose(meter.work.positive, [6.0, 0.0])
    np.testing.assert_allclose(meter.power, [6.0, 0.0])


@pytest.mark.parametrize('missing', ['joint_efforts', 'joint_velocities'])
def test_power_without_readings_of_a_joint_is_the_mean_over_the_period(missing):
    meter = WorkMeter(ROBOT, DT, G)
    for tick, work in enumerate(([[0.0], [0.0]], [[1.5], [2.0]])):
        meter.update(
            state(tick, 2.0, 3.0, joint_work=np.array(work), **{missing: None}),
            applied(1.0) if tick else None,
        )
    np.testing.assert_allclose(meter.power, [3.0, 0.0])


def test_the_cost_of_transport_is_positive_work_over_weight_and_distance():
    meter = WorkMeter(replace(ROBOT, length_scale=2.0), DT, G)
    meter.update(state(0, 2.0, 3.0, x=1.0, y=1.0), None)
    meter.update(state(1, 2.0, -3.0, x=1.1, y=1.1), applied(1.0))
    # A tenth of the length scale is not reached yet.
    assert meter.distance == pytest.approx(0.1 * np.sqrt(2.0))
    assert meter.cost_of_transport is None
    meter.update(state(2, 2.0, -3.0, x=4.0, y=5.0), applied(1.0))
    assert meter.distance == pytest.approx(5.0)
    assert meter.cost_of_transport == pytest.approx(0.75 / (ROBOT.mass * G * 5.0))
