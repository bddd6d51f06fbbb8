# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Lead screws against the wedge of their thread, and the work of motors by hand."""

import math

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.robot.model import Actuator
from sim_bridge.engines.shared.force_laws import add_joint_work, servo_power, update_screw_lock
from sim_bridge.engines.shared.lead_screws import LeadScrew

# One turn is 60 degrees up on a circumference of 1: tan(alpha) = sqrt(3).
STEEP = {'lead': math.sqrt(3.0), 'diameter': 1.0 / math.pi}
FRICTION_30 = math.tan(math.pi / 12.0)
"""Friction angle of 15 degrees: alpha + phi = 75, alpha - phi = 45 degrees."""


def screw(**constants):
    return LeadScrew.from_actuator('rod', Actuator(kind='lead_screw', constants=constants))


def test_a_steep_screw_has_the_ratios_of_its_angles():
    found = screw(**STEEP, friction=FRICTION_30, rpm=120.0, torque=0.5)
    steep = 2.0 + math.sqrt(3.0)  # tan 75
    assert found.drive_ratio == pytest.approx(steep / math.sqrt(3.0))
    assert found.backdrive_ratio == pytest.approx(-1.0 / math.sqrt(3.0))
    assert found.holding_ratio == pytest.approx(steep)
    # 0.5 N m over half a diameter times tan 75, and two leads per second.
    assert found.strength == pytest.approx(0.5 * 2.0 * math.pi / steep)
    assert found.max_speed == pytest.approx(2.0 * math.sqrt(3.0))


def test_without_friction_a_screw_loses_and_holds_nothing():
    found = screw(**STEEP, friction=0.0, rpm=60.0, torque=1.0)
    assert (found.drive_ratio, found.backdrive_ratio) == pytest.approx((1.0, -1.0))
    assert found.holding_ratio == pytest.approx(1.0)


def test_a_screw_locks_itself_from_equal_angles_on():
    alike = screw(lead=0.5, diameter=1.0 / math.pi, friction=0.5, rpm=60.0, torque=1.0)
    assert alike.holding_ratio == math.inf
    assert alike.backdrive_ratio == pytest.approx(0.0, abs=1e-12)
    rough = screw(lead=0.5, diameter=1.0 / math.pi, friction=0.8, rpm=60.0, torque=1.0)
    assert rough.holding_ratio == math.inf and rough.backdrive_ratio > 0.0


@pytest.mark.parametrize('wrong', [{'lead': 0.0}, {'diameter': 0.0}])
def test_a_screw_without_lead_or_diameter_is_refused(wrong):
    with pytest.raises(ConfigurationError, match="joint 'rod': its screw needs a lead"):
        screw(**{**STEEP, 'friction': 0.1, **wrong})


def test_a_screw_jams_where_no_torque_turns_it():
    # alpha + phi = 90 degrees at a friction of 1 / tan(alpha).
    highest = 1.0 / math.sqrt(3.0)
    with pytest.raises(ConfigurationError, match=r'nearest valid: below 0\.577'):
        screw(**STEEP, friction=highest * (1.0 + 1e-9))
    assert screw(**STEEP, friction=highest * (1.0 - 1e-9)).drive_ratio > 1e6


@pytest.mark.parametrize('side', [1.0, -1.0])
@pytest.mark.parametrize(
    ('force', 'velocity', 'commanded', 'was_locked', 'locked', 'bound'),
    [
        # The motor of 10 N pushes and its rod yields, at rest, within rounding, or moves on.
        (8.0, -0.01, 0.1, False, True, 90.0),
        (8.0, 0.0, 0.1, False, False, 10.0),
        (8.0, -1e-10, 0.1, False, False, 10.0),
        (8.0, 0.01, 0.1, False, False, 10.0),
        # Locked against the motor: until the load is one that the motor raises.
        (12.0, 0.0, 0.1, True, True, 90.0),
        (9.0, 0.0, 0.1, True, False, 10.0),
        # With its load, and at rest: the thread bears more than the motor near its strength.
        (12.0, 0.0, -0.1, True, False, 90.0),
        (12.0, -0.01, -0.1, False, False, 90.0),
        (9.8, 0.0, -0.1, False, False, 10.0),
        (9.95, 0.0, 0.0, False, False, 90.0),
        (9.95, -0.01, 0.0, True, False, 90.0),
        (5.0, -0.01, 0.0, False, False, 10.0),
        # Without a load there is nothing to lock against.
        (0.0, -0.01, 0.1, False, False, 10.0),
    ],
)
def test_a_screw_locks_as_soon_as_its_rod_yields(
    side, force, velocity, commanded, was_locked, locked, bound
):
    found = update_screw_lock(
        side * force, side * velocity, side * commanded, 10.0, 90.0, was_locked
    )
    assert found == (locked, bound)


def test_a_motor_does_more_than_its_joint_and_gets_back_less():
    assert servo_power(3.0, 2.0, 1.5, -0.25) == pytest.approx(9.0)
    assert servo_power(3.0, -2.0, 1.5, -0.25) == pytest.approx(-1.5)
    # A screw that locks itself takes power with its load too.
    assert servo_power(-3.0, 2.0, 1.5, 0.5) == pytest.approx(3.0)
    assert servo_power(3.0, 0.0, 1.5, 0.5) == 0.0


def test_work_is_summed_over_the_mean_velocity_of_each_step():
    states = np.array([[[2.0, -1.0], [3.0, 4.0]], [[4.0, -3.0], [-1.0, 2.0]]])
    before = np.array([0.0, 1.0])
    work = np.array([[10.0, 20.0], [30.0, 40.0]])
    ratios = np.array([[1.0, 2.0], [-1.0, -0.5]])
    add_joint_work(states, before, 0.5, ratios, work)
    # Joint 0: 3 N at 1 m/s, then -1 N at 3 m/s. Joint 1: 4 N at 0 and 2 N at -2 m/s, half back.
    np.testing.assert_allclose(work, [[10.0, 19.0], [31.5, 40.0]])
    np.testing.assert_array_equal(before, [4.0, -3.0])
