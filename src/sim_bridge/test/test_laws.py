# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The compiled laws of torques and force elements against their formulas."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from gait_core.kinematics.slider_crank import carriage_position, crank_angle
from sim_bridge.engines.shared import force_laws
from sim_bridge.engines.shared.force_laws import (
    element_tension,
    exponential_spring_force,
    joint_torque,
)

CONSTANTS = np.array([3.0, 0.5, 2.0, 7.0, 10.0])
numbers = st.floats(-5.0, 5.0)


@settings(deadline=None)
@given(stretch=numbers)
def test_the_exponential_spring_is_odd_and_has_its_printed_values(stretch):
    force = exponential_spring_force(stretch, 3.0, 2.0)
    assert force == -exponential_spring_force(-stretch, 3.0, 2.0)
    assert force == pytest.approx(np.sign(stretch) * 3.0 * np.expm1(2.0 * abs(stretch)))


def test_the_exponential_spring_is_linear_near_rest_and_finite_far_from_it():
    # McKenna: strength times rise is the stiffness at rest; exp(6) - 1 = 402 at 1 rad.
    assert exponential_spring_force(1e-9, 3.0, 2.0) == pytest.approx(6e-9, rel=1e-8)
    assert exponential_spring_force(1.0, 1.0, 6.0) == pytest.approx(402.4, abs=0.05)
    assert np.isfinite(exponential_spring_force(-1e300, 3.0, 1e10))


@settings(deadline=None)
@given(aim=numbers, rate=numbers, feed=numbers, position=numbers, velocity=numbers)
def test_pd_and_effort_joints_have_their_formulas_to_the_last_bit(
    aim, rate, feed, position, velocity
):
    state = (aim, rate, feed, 0.25, position, velocity)
    assert joint_torque(force_laws.PD, CONSTANTS, *state) == (
        3.0 * (aim - position) + 0.5 * (rate - velocity)
    )
    assert joint_torque(force_laws.DIRECT_EFFORT, CONSTANTS, *state) == feed


@settings(deadline=None)
@given(aim=numbers, rate=numbers, position=numbers, velocity=numbers, elapsed=st.floats(0.0, 0.1))
def test_the_rest_angle_moves_and_the_damper_sees_the_joint(
    aim, rate, position, velocity, elapsed
):
    state = (aim, rate, 9.0, elapsed, position, velocity)
    moved = exponential_spring_force(position - (aim + rate * elapsed), 3.0, 2.0)
    assert joint_torque(force_laws.EXPONENTIAL, CONSTANTS, *state) == -moved - 0.5 * velocity


@settings(deadline=None)
@given(rest=numbers, feed=numbers, length=numbers, rate=numbers)
def test_elements_pull_where_they_are_long(rest, feed, length, rate):
    state = (rest, feed, length, rate)
    free = CONSTANTS.copy()
    free[force_laws.EFFORT] = np.inf
    spring = element_tension(force_laws.SPRING, free, *state)
    assert spring == 3.0 * (length - rest) + 0.5 * rate + feed
    assert element_tension(force_laws.SPRING, CONSTANTS, *state) == np.clip(spring, -7.0, 7.0)
    assert element_tension(force_laws.CABLE, free, *state) == max(spring, 0.0)
    curved = exponential_spring_force(length - rest, 3.0, 2.0) + 0.5 * rate + feed
    assert element_tension(force_laws.EXPONENTIAL_SPRING, free, *state) == curved


def test_torques_saturate_and_brake_beyond_the_velocity_limit():
    rows = np.tile(CONSTANTS, (3, 1))
    targets = np.array([[0.0] * 3, [0.0] * 3, [50.0, 50.0, -50.0]])
    torques = np.zeros(3)
    force_laws.joint_torques(
        np.full(3, force_laws.DIRECT_EFFORT),
        rows,
        targets,
        0.0,
        np.zeros(3),
        np.array([9.0, 11.0, 11.0]),
        torques,
    )
    assert torques.tolist() == [7.0, 0.0, -7.0]


def test_servos_of_the_spider_push_as_the_thesis_says():
    """0.01 m too long gives -11 N, of the knee -15 N; 0.1 m/s gives -3 N (Bishop 2008, 4.8)."""
    row = np.zeros(force_laws.COLUMN_COUNT)
    row[[force_laws.STIFFNESS, force_laws.DAMPING, force_laws.EFFORT]] = 1100.0, 30.0, np.inf
    assert force_laws.element_tension(
        force_laws.SPRING, row, 0.29, 0.0, 0.30, 0.0
    ) == pytest.approx(11.0)
    assert force_laws.element_tension(
        force_laws.SPRING, row, 0.29, 0.0, 0.29, 0.1
    ) == pytest.approx(3.0)
    row[[force_laws.STIFFNESS, force_laws.CRANK, force_laws.ROD]] = 1500.0, 0.1, 0.184
    angle, aim = (crank_angle(place, 0.1, 0.184) for place in (0.1575, 0.1475))
    _, slope = carriage_position(angle, 0.1, 0.184)
    torque = force_laws.joint_torque(force_laws.SLIDER_CRANK, row, aim, 0.0, 0.0, 0.0, angle, 0.0)
    assert torque / slope == pytest.approx(-15.0)
    torque = force_laws.joint_torque(
        force_laws.SLIDER_CRANK, row, angle, 0.0, 0.0, 0.0, angle, 0.1 / slope
    )
    assert torque / slope == pytest.approx(-3.0)
    # An aim that moves is where its rate has brought it.
    torque = force_laws.joint_torque(
        force_laws.SLIDER_CRANK, row, aim, 2.0, 0.0, 0.5, aim + 1.0, 0.0
    )
    assert torque == pytest.approx(0.0, abs=1e-9)


def test_elements_pull_by_their_own_laws_from_rest_lengths_that_move():
    constants = np.zeros((4, force_laws.COLUMN_COUNT))
    constants[:, force_laws.STIFFNESS] = (10.0, 10.0, 2.0, 10.0)
    constants[:, force_laws.DAMPING] = (3.0, 3.0, 0.0, 0.0)
    constants[:, force_laws.RISE] = (0.0, 0.0, 5.0, 0.0)
    constants[:, force_laws.EFFORT] = (9.0, 9.0, 100.0, 1.5)
    laws = np.array(
        [force_laws.SPRING, force_laws.CABLE, force_laws.EXPONENTIAL_SPRING, force_laws.SPRING]
    )
    # Rest lengths of 1 m that grow by 2 m/s for 0.1 s, and 0.5 N that are added to the first.
    targets = np.array([[1.0] * 4, [2.0] * 4, [0.5, 0.0, 0.0, 0.0]])
    lengths, rates = np.array([1.5, 1.1, 1.4, 1.0]), np.array([0.4, -0.1, 7.0, 0.0])
    tensions = np.empty(4)
    force_laws.element_tensions(laws, constants, targets, 0.1, lengths, rates, tensions)
    np.testing.assert_allclose(tensions, [3.0 + 1.2 + 0.5, 0.0, 2.0 * np.expm1(1.0), -1.5])
