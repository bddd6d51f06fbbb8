# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest

from gait_core.measures.energy import (
    cost_of_transport,
    elastic_energy,
    element_work_by_period,
    joint_work,
    motor_heat,
)
from gait_core.robot.model import ForceElement

DT = 0.01
TIME = np.arange(0, 201) * DT


def test_constant_power_does_power_times_time():
    work = joint_work(np.full((101, 2), [3.0, -1.0]), np.full((101, 2), 2.0), DT)
    np.testing.assert_allclose(work.signed, [6.0, -2.0])
    np.testing.assert_allclose(work.absolute, [6.0, 2.0])
    np.testing.assert_allclose(work.positive, [6.0, 0.0])


def test_a_spring_gives_back_what_it_took():
    # Effort sin, rate cos, 2 pi rad in 2 s: power sin(2 w t) / 2, four half waves of 1 / (2 w).
    rate = np.pi
    effort, velocity = np.sin(rate * TIME)[:, None], np.cos(rate * TIME)[:, None]
    work = joint_work(effort, velocity, DT)
    assert work.signed[0] == pytest.approx(0.0, abs=1e-12)
    # Trapezoids of a sine are short by (w dt)^2 / 12 with w = 2 pi here.
    assert work.absolute[0] == pytest.approx(2.0 / rate, rel=4e-4)
    assert work.positive[0] == pytest.approx(1.0 / rate, rel=4e-4)


@pytest.mark.parametrize(
    ('before', 'after', 'positive', 'absolute'),
    [
        (1.0, -1.0, 0.25, 0.5),
        (-3.0, 1.0, 0.125, 1.25),
        (2.0, 0.0, 1.0, 1.0),
        (-2.0, 0.0, 0.0, 1.0),
    ],
)
def test_power_that_changes_its_sign_in_a_period(before, after, positive, absolute):
    # Areas of the triangles above and below zero.
    work = joint_work(np.array([[before], [after]]), np.ones((2, 1)), 1.0)
    assert work.positive[0] == pytest.approx(positive)
    assert work.absolute[0] == pytest.approx(absolute)
    assert work.signed[0] == pytest.approx(0.5 * (before + after))


def test_the_three_works_are_related():
    rng = np.random.default_rng(0)
    work = joint_work(rng.normal(size=(50, 5)), rng.normal(size=(50, 5)), DT)
    np.testing.assert_allclose(2.0 * work.positive, work.absolute + work.signed)
    assert np.all(work.absolute >= np.abs(work.signed))


def test_kinetic_energy_comes_from_work():
    # 2 kg pushed by 3 N from rest along a slider: half m v^2 at the end.
    velocity = 1.5 * TIME[:, None]
    work = joint_work(np.full_like(velocity, 3.0), velocity, DT)
    assert work.signed[0] == pytest.approx(0.5 * 2.0 * velocity[-1, 0] ** 2)


def test_a_record_of_one_instant_has_no_work():
    assert joint_work(np.ones((1, 3)), np.ones((1, 3)), DT).signed.tolist() == [0.0, 0.0, 0.0]


def test_records_that_differ_in_shape_are_refused():
    with pytest.raises(ValueError, match='differ'):
        joint_work(np.zeros((5, 2)), np.zeros((5, 3)), DT)


def test_holding_still_heats_the_motor():
    # 0.1 N m / A and 2.5 ohm: k_m = 0.1 / sqrt(2.5); 4 A for 2 s are 16 * 2.5 * 2 J.
    heat = motor_heat(np.full((201, 1), 0.4), 0.1 / np.sqrt(2.5), DT)
    assert heat[0] == pytest.approx(80.0)
    per_joint = motor_heat(np.ones((201, 2)), [1.0, 2.0], DT)
    np.testing.assert_allclose(per_joint, [2.0, 0.5])
    with pytest.raises(ValueError, match='positive'):
        motor_heat(np.ones((3, 2)), [1.0, 0.0], DT)


def test_cost_of_transport_is_without_dimension_and_undefined_where_it_stood():
    assert cost_of_transport(981.0, 10.0, 9.81, 5.0) == pytest.approx(2.0)
    assert cost_of_transport(981.0, 10.0, 9.81, 0.05) is None
    assert cost_of_transport(981.0, 10.0, 9.81, 0.05, min_distance=0.01) is not None
    assert cost_of_transport(981.0, 10.0, 0.0, 5.0) is None
    assert cost_of_transport(1.0, 1.0, 9.81, 0.0, min_distance=0.0) is None


@pytest.mark.parametrize('kind', ['spring', 'cable', 'linear_servo', 'exponential'])
def test_an_element_without_constants_stores_nothing(kind):
    tie = ForceElement(name='tie', kind=kind, link_a='a', link_b='b')
    assert elastic_energy([tie], np.array([[0.5]]), np.array([[0.2]])).tolist() == [[0.0]]


def test_a_tension_that_is_fed_works_along_the_length_and_a_winch_against_the_rest():
    lengths = np.array([[2.0, 2.0], [1.5, 2.0], [1.75, 2.0]])
    tensions = np.full((3, 2), 8.0)
    rests = np.array([[1.0, 1.0], [1.0, 0.75]])
    feeds = np.array([[3.0, 0.0], [3.0, 0.0]])
    work = element_work_by_period(lengths, tensions, rests, feeds)
    # 3 N over 0.5 m in and 0.25 m out; 8 N over 0.25 m that are wound in.
    np.testing.assert_allclose(work, [[1.5, 0.0], [-0.75, 2.0]])
    # A rest length that differed before the first period was wound in it.
    before = np.array([1.25, 1.0])
    work = element_work_by_period(lengths, tensions, rests, feeds, before)
    np.testing.assert_allclose(work, [[2.75, 0.0], [-0.75, 2.0]])


def test_a_winch_works_against_the_mean_tension_of_its_period():
    tensions = np.array([[4.0], [8.0], [2.0]])
    rests = np.array([[0.5], [0.25]])
    work = element_work_by_period(np.ones((3, 1)), tensions, rests, np.zeros((2, 1)), np.ones(1))
    np.testing.assert_allclose(work, [[6.0 * 0.5], [5.0 * 0.25]])
