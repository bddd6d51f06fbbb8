# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Force elements and exponential actuators of every engine against their closed forms."""

from dataclasses import replace

import numpy as np
import pytest

from gait_core.kinematics.element_geometry import element_lengths_at
from gait_core.kinematics.forward_kinematics import com_positions
from gait_core.testing.free_bodies import (
    applied_targets,
    hanging_weight,
    one_joint_robot,
    step_through,
    tied_boxes,
)
from gait_core.trial.scene import InitialState, Scene

pytestmark = pytest.mark.physics
G, MASS, START = 9.81, 2.0, 0.3
STIFFNESS = 200.0
OMEGA = np.sqrt(STIFFNESS / MASS)
STEP = 0.001
FREE = Scene(robot='x', fixed_base=True, gravity=(0.0, 0.0, 0.0), control_period=STEP)
LOADED = replace(FREE, gravity=(G, 0.0, 0.0))


def moved(scene: Scene, by: float) -> Scene:
    return replace(scene, initial=InitialState(joint_positions={'hinge': by}))


def run(engine, ticks: int, **targets):
    return step_through(engine, [applied_targets(engine.robot, **targets)] * ticks)


def lengths(seen) -> np.ndarray:
    return np.array([one.element_lengths[0] for one in seen])


def falls_through(values: np.ndarray) -> np.ndarray:
    """Return the times [steps] at which values fall through zero."""
    down = np.flatnonzero((values[:-1] > 0.0) & (values[1:] <= 0.0))
    return down + values[down] / (values[down] - values[down + 1])


def test_a_weight_on_a_spring_swings_with_its_period(able_engine_of):
    engine = able_engine_of(hanging_weight('spring', {'stiffness': STIFFNESS}))
    first = engine.reset(moved(FREE, 0.05), 0)
    assert first.element_names == ('tie',)
    assert first.element_lengths[0] == pytest.approx(START + 0.05, abs=1e-12)
    swing = lengths(run(engine, 3500)) - START
    period = np.diff(falls_through(swing)).mean() * STEP
    assert period == pytest.approx(2.0 * np.pi / OMEGA, rel=1e-3)
    assert swing.max() == pytest.approx(0.05, rel=0.01)


def test_a_damper_takes_its_logarithmic_decrement(able_engine_of):
    damping = 2.0
    engine = able_engine_of(hanging_weight('spring', {'stiffness': STIFFNESS, 'damping': damping}))
    engine.reset(replace(moved(FREE, 0.05), physics_step=0.0002), 0)
    swing = lengths(run(engine, 3500)) - START
    inner = np.flatnonzero((swing[1:-1] > swing[:-2]) & (swing[1:-1] >= swing[2:])) + 1
    ratio = damping / (2.0 * np.sqrt(STIFFNESS * MASS))
    expected = 2.0 * np.pi * ratio / np.sqrt(1.0 - ratio**2)
    np.testing.assert_allclose(-np.diff(np.log(swing[inner])), expected, rtol=0.01)


def test_a_cable_lets_fall_then_holds_and_never_pushes(able_engine_of):
    rest = START + 0.2
    engine = able_engine_of(hanging_weight('cable', {'stiffness': 1000.0}, rest=rest))
    engine.reset(LOADED, 0)
    seen = run(engine, 1500)
    length, force = lengths(seen), np.array([one.element_forces[0] for one in seen])
    time = STEP * np.arange(1, len(seen) + 1)
    slack = time < 0.95 * np.sqrt(2.0 * 0.2 / G)
    np.testing.assert_allclose(length[slack] - START, 0.5 * G * time[slack] ** 2, atol=1.2e-3)
    assert not force[slack].any()
    # The force of a step is that of the state at its start.
    np.testing.assert_allclose(
        force[1:], np.maximum(1000.0 * (length[:-1] - rest), 0.0), atol=1e-9
    )
    sag = MASS * G / 1000.0
    assert length.max() - rest == pytest.approx(sag + np.sqrt(sag**2 + 2.0 * sag * 0.2), rel=0.01)
    # It comes back to where it fell from and no higher.
    assert length.min() == pytest.approx(START, abs=2e-3)


def test_a_slack_cable_with_a_damper_does_not_push_either(able_engine_of):
    engine = able_engine_of(
        hanging_weight('cable', {'stiffness': 10.0, 'damping': 500.0}, rest=START + 9.0)
    )
    engine.reset(LOADED, 0)
    seen = run(engine, 200)
    assert min(one.element_forces[0] for one in seen) >= 0.0
    time = STEP * np.arange(1, 201)
    np.testing.assert_array_less(lengths(seen) - START, 0.5 * G * (time + STEP) ** 2)


def test_a_critically_damped_linear_servo_answers_a_step_as_its_closed_form(able_engine_of):
    engine = able_engine_of(
        hanging_weight('linear_servo', {'stiffness': STIFFNESS, 'damping': 2.0 * MASS * OMEGA})
    )
    engine.reset(replace(FREE, physics_step=0.0002), 0)
    seen = lengths(run(engine, 800, position=[0.0, START + 0.05]))
    time = OMEGA * STEP * np.arange(1, 801)
    expected = START + 0.05 * (1.0 - (1.0 + time) * np.exp(-time))
    np.testing.assert_allclose(seen, expected, atol=0.05 * 2e-3)


@pytest.mark.parametrize('kind', ['spring', 'cable', 'linear_servo'])
def test_a_moving_set_length_is_followed_with_the_lag_of_the_damper(able_engine_of, kind):
    damping, rate = 60.0, 0.05
    engine = able_engine_of(hanging_weight(kind, {'stiffness': STIFFNESS, 'damping': damping}))
    engine.reset(replace(LOADED, control_period=0.02), 0)
    for tick in range(300):
        aim = START + rate * 0.02 * tick
        seen = engine.step(
            applied_targets(
                engine.robot, position=[0.0, aim], velocity=[0.0, rate], effort=[0.0, 3.0]
            )
        )
    # Weight, damper and the tension that was added shift it; the motion itself is uniform.
    shift = (MASS * G - 3.0 - damping * rate) / STIFFNESS
    assert seen.element_lengths[0] - (START + rate * seen.time) == pytest.approx(shift, abs=1e-6)
    assert seen.joint_velocities[0] == pytest.approx(rate, abs=1e-8)
    assert seen.element_forces[0] == pytest.approx(MASS * G, rel=1e-8)


def test_a_linear_servo_stays_within_its_effort(able_engine_of):
    engine = able_engine_of(
        hanging_weight('linear_servo', {'stiffness': STIFFNESS, 'effort': 5.0})
    )
    engine.reset(FREE, 0)
    seen = run(engine, 100, position=[0.0, START + 0.5])
    assert {one.element_forces[0] for one in seen} == {-5.0}
    assert seen[-1].joint_velocities[0] == pytest.approx(5.0 / MASS * 0.1, rel=1e-9)


@pytest.mark.parametrize('pull', [1.0, -1.0])
def test_an_exponential_element_gives_by_the_logarithm_of_its_load(able_engine_of, pull):
    strength, rise = 1.5, 30.0
    engine = able_engine_of(
        hanging_weight('exponential', {'strength': strength, 'rise': rise, 'damping': 40.0})
    )
    engine.reset(replace(LOADED, gravity=(pull * G, 0.0, 0.0)), 0)
    end = run(engine, 2000)[-1]
    assert end.element_lengths[0] - START == pytest.approx(
        pull * np.log1p(MASS * G / strength) / rise, rel=1e-3
    )
    assert end.element_forces[0] == pytest.approx(pull * MASS * G, rel=1e-3)


@pytest.mark.parametrize('pull', [1.0, -1.0])
def test_an_exponential_actuator_gives_by_the_logarithm_of_its_load(engine_of, pull):
    strength, rise = 0.7, 12.0
    constants = {'strength': strength, 'rise': rise, 'damping': 20.0}
    slide = one_joint_robot('exponential', constants, joint='prismatic', com=(0.0, 0.0, 0.0))
    engine = engine_of(slide)
    engine.reset(replace(FREE, gravity=(0.0, pull * G, 0.0)), 0)
    end = run(engine, 2000, position=[0.1])[-1]
    given = end.joint_positions[0] - 0.1
    assert given == pytest.approx(pull * np.log1p(G / strength) / rise, rel=1e-3)
    assert end.joint_efforts[0] == pytest.approx(-pull * G, rel=1e-3)


def test_a_rest_angle_moves_with_its_rate_at_every_physics_step(engine_of):
    constants = {'strength': 0.2, 'rise': 8.0, 'damping': 0.4}
    arm = one_joint_robot(
        'exponential', constants, com=(0.0, 0.0, 0.0), inertia=0.02, joint='continuous'
    )
    engine, rate, scene = engine_of(arm), 1.5, replace(FREE, control_period=0.02)
    ends = []
    for steps in (1, 20):
        engine.reset(scene, 0)
        for tick in range(100):
            times = 0.02 * tick + 0.02 / steps * np.arange(steps)
            seen = engine.step(
                applied_targets(
                    arm, position=rate * times[:, None], velocity=np.full((steps, 1), rate)
                )
            )
        ends.append(seen)
    # One linear motion, whether it is told once a period or at every step.
    np.testing.assert_allclose(ends[0].joint_positions, ends[1].joint_positions, atol=1e-12)
    lag = np.log1p(0.4 * rate / 0.2) / 8.0
    assert rate * 2.0 - ends[0].joint_positions[0] == pytest.approx(lag, abs=2e-5)
    assert ends[0].joint_velocities[0] == pytest.approx(rate, abs=1e-6)


def test_an_exponential_actuator_far_from_rest_saturates(engine_of):
    constants = {'strength': 1.0, 'rise': 1000.0}
    arm = one_joint_robot('exponential', constants, com=(0.0, 0.0, 0.0), inertia=0.1, effort=5.0)
    engine = engine_of(arm)
    engine.reset(FREE, 0)
    end = run(engine, 1, position=[100.0])[-1]
    assert end.joint_efforts[0] == 5.0
    assert end.joint_velocities[0] == pytest.approx(0.05, rel=1e-6)


@pytest.mark.parametrize(('at_centres', 'tolerance'), [(True, 1e-6), (False, 5e-4)])
def test_an_element_acts_equally_on_both_its_bodies(able_engine_of, at_centres, tolerance):
    robot = tied_boxes('spring', {'stiffness': 30.0, 'damping': 0.5})
    if at_centres:
        (tie,) = robot.force_elements
        at = {'point_a': (0.0, 0.0, 0.0), 'point_b': (0.0, 0.0, 0.0)}
        robot = replace(robot, force_elements=(replace(tie, **at),))
    engine = able_engine_of(robot)
    scene = Scene(
        robot='x', gravity=(0.0, 0.0, 0.0), control_period=0.01, physics_step=0.0005,
        initial=InitialState(clearance=5.0, joint_positions={'slide_y': 0.2, 'slide_z': -0.1}),
    )  # fmt: skip
    first = engine.reset(scene, 0)
    seen = [first, *run(engine, 30)]
    centres = np.array([com_positions(robot, one.joint_positions, one.body_poses) for one in seen])
    went = np.array([one.body_poses[0, :3] for one in seen]) - first.body_poses[0, :3]
    assert np.abs(went).max() > 0.1
    # Either force alone would carry the whole by 90 mm.
    assert np.abs(centres - centres[0]).max() < tolerance
    for one in seen:
        there = element_lengths_at(robot, one.joint_positions, one.body_poses)
        np.testing.assert_allclose(one.element_lengths, there, rtol=1e-6)


def test_an_element_rests_at_its_length_in_the_stance(able_engine_of):
    robot = replace(
        hanging_weight('spring', {'stiffness': STIFFNESS}), nominal_stance={'hinge': 0.07}
    )
    engine = able_engine_of(robot)
    engine.reset(FREE, 0)
    end = run(engine, 50)[-1]
    assert end.element_lengths[0] == pytest.approx(START + 0.07, abs=1e-12)
    assert end.element_forces[0] == pytest.approx(0.0, abs=1e-9)


def test_a_trial_with_elements_is_the_same_after_any_other(able_engine_of):
    robot = tied_boxes('exponential', {'strength': 2.0, 'rise': 9.0, 'damping': 1.0})
    engine = able_engine_of(robot)
    tape = [
        applied_targets(robot, effort=[0.1, 0.2, 0.3, 1.0], velocity=[0.0, 0.0, 0.0, 0.1])
    ] * 30

    def trial() -> list[bytes]:
        first = engine.reset(Scene(robot='x'), 0, settle_ticks=3)
        return [
            b''.join(
                part.tobytes()
                for part in (one.joint_positions, one.element_lengths, one.element_forces)
            )
            for one in (first, *step_through(engine, tape))
        ]

    once = trial()
    engine.reset(replace(FREE, control_period=0.02), 0)
    run(engine, 7, effort=[1.0, -1.0, 0.5, 9.0])
    assert trial() == once
