# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The slope estimated from the feet, and feet that follow it; without physics."""

from dataclasses import replace
import math

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gait_core.kinematics.leg_ik import LegKinematics
from gait_core.motion.observation import Imu, Observation
from gait_core.parameters.declaration import make_parameters
from gait_core.testing.doubles import legged_box
from gait_core.trial.spec import Command
from gait_cpg.phase_cpg.controller import PhaseCpgController
from gait_cpg.phase_cpg.ground_slope import (
    MAX_GRADIENT,
    GroundSlope,
    follow_ground,
    limit_gradient,
    vertical_travel,
)
from gait_cpg.phase_cpg.parameters import PhaseCpgParams

DT = 0.02
BOX = legged_box(4, 3, roll=True)
ROBOT = replace(
    BOX, nominal_stance={n: (0.0, -0.5, 1.0)[i % 3] for i, n in enumerate(BOX.joint_names)}
)
LEGS = [leg.name for leg in ROBOT.legs]
KINEMATICS = [LegKinematics(ROBOT, name) for name in LEGS]
STANCE = np.array(
    [leg.forward([ROBOT.nominal_stance[n] for n in leg.joint_names])[0] for leg in KINEMATICS]
)
FORWARD = Command(velocity=(0.3, 0.0, 0.0))
# Legs of the box come in the order front left, front right, rear left, rear right.
DIAGONALS = [np.array([True, False, False, True]), np.array([False, True, True, False])]


def seen(gradient, roll=0.0, pitch=0.0, yaw=0.0):
    """Return the observation of a robot with an attitude whose feet stand on an inclined plane."""
    turn = Rotation.from_euler('xyz', [roll, pitch, yaw])
    joints = np.empty(len(ROBOT.joint_names))
    for leg, foot in zip(KINEMATICS, STANCE, strict=True):
        # Down along the leg's own place in the base until the plane is met.
        below = turn.apply(foot * [1.0, 1.0, 0.0])
        down = turn.apply([0.0, 0.0, -1.0])
        height = STANCE[:, 2].mean() + below[:2] @ gradient
        far = (below[2] - height) / (down[:2] @ gradient - down[2])
        wanted = foot * [1.0, 1.0, 0.0] + [0.0, 0.0, -far]
        solution = leg.solve(wanted)
        assert solution.is_reachable
        joints[[ROBOT.joint_index[name] for name in leg.joint_names]] = solution.positions
    imu = Imu(
        orientation=turn.as_quat(),
        angular_velocity=np.zeros(3),
        linear_acceleration=np.array([0.0, 0.0, 9.81]),
    )
    return Observation(tick=0, time=0.0, joint_positions=joints, imu=imu)


def felt(observation, ticks=2500, steps=DIAGONALS):
    slope = GroundSlope(ROBOT, LEGS)
    for tick in range(ticks):
        slope.update(DT, steps[tick // 10 % len(steps)], observation)
    return slope


@pytest.mark.parametrize('steps', [DIAGONALS, [np.ones(4, dtype=bool)]], ids=['trot', 'stand'])
@pytest.mark.parametrize('attitude', [(0.0, 0.0, 0.0), (0.03, -0.06, 0.0), (0.0, 0.05, 2.0)])
def test_the_gradient_is_that_of_the_plane_whatever_the_attitude(attitude, steps):
    gradient = np.array([0.12, -0.05])
    slope = felt(seen(gradient, *attitude), steps=steps)
    np.testing.assert_allclose(slope.gradient, gradient, atol=2e-3)
    c, s = math.cos(attitude[2]), math.sin(attitude[2])
    np.testing.assert_allclose(slope.gradient_in_base, [[c, s], [-s, c]] @ gradient, atol=5e-3)


def test_level_ground_is_level_under_a_body_that_leans():
    assert np.abs(felt(seen(np.zeros(2), 0.05, -0.1)).gradient).max() < 1e-6


def test_what_feet_cannot_say_is_not_learnt():
    slope = felt(seen(np.array([0.1, 0.0])), steps=[np.array([True, False, False, False])])
    assert not slope.gradient.any()
    slope = felt(Observation(tick=0, time=0.0, joint_positions=ROBOT.joint_stance))
    assert not slope.gradient.any()
    # Two feet: nothing across the line between them.
    slope = felt(seen(np.array([0.1, 0.0])), steps=DIAGONALS[:1])
    line = (STANCE[0] - STANCE[3])[:2]
    assert slope.gradient @ line == pytest.approx(0.1 * line[0], abs=1e-4)
    assert slope.gradient @ [-line[1], line[0]] == pytest.approx(0.0, abs=1e-9)


def test_no_ground_is_steeper_than_the_bound():
    slope = GroundSlope(ROBOT, LEGS)
    slope.gradient = np.array([2.0, 0.0])
    slope.update(DT, np.ones(4, dtype=bool), seen(np.zeros(2)))
    assert np.hypot(*slope.gradient) <= MAX_GRADIENT + 1e-12


@given(
    rise=st.tuples(*[st.floats(-0.3, 0.3)] * 2),
    before=st.tuples(*[st.floats(-0.3, 0.3)] * 2),
)
def test_feet_follow_the_ground_and_keep_their_lift(rise, before):
    rise, before = np.array(rise), np.array(before)
    lift = np.array([0.0, 0.05, 0.02, 0.0])
    flat = np.repeat(STANCE[:, None], 3, axis=1)
    flat[..., 2] += lift[:, None]
    placed = follow_ground(flat, before, rise)
    np.testing.assert_allclose(placed[..., :2], flat[..., :2])
    over = placed[:, -1, 2] - flat[:, -1, :2] @ rise
    np.testing.assert_allclose(over - STANCE[:, 2], lift, atol=1e-12)
    first = (2.0 * before + rise) / 3.0
    np.testing.assert_allclose(placed[:, 0, 2], flat[:, 0, 2] + flat[:, 0, :2] @ first, atol=1e-12)


def test_no_leg_is_asked_for_more_than_it_reaches():
    room = np.array([[0.04] * 4, [0.02] * 4])
    half = np.abs(STANCE[:, 0]).max()
    gentle, steep = np.array([0.01 / half, 0.0]), np.array([0.1 / half, 0.0])
    np.testing.assert_array_equal(limit_gradient(gentle, STANCE, room), gentle)
    # The leg behind would be lowered by 0.1 m, and may be by 0.02 m.
    np.testing.assert_allclose(limit_gradient(steep, STANCE, room), 0.2 * steep)
    np.testing.assert_array_equal(limit_gradient(0.0 * steep, STANCE, room), 0.0)
    own = vertical_travel(ROBOT)
    assert own.shape == (2, 4) and (own > 0.0).all() and own is vertical_travel(ROBOT)


def walker(**values):
    return PhaseCpgController(ROBOT, make_parameters(PhaseCpgParams, values))


def test_a_walk_on_level_ground_is_the_same_walk_and_a_slope_turns_its_feet():
    plain, level = walker(), walker(level=1.0)
    flat, hill = seen(np.zeros(2)), seen(np.array([0.07, 0.0]), pitch=-math.atan(0.07))
    for _ in range(50):
        a, b = (one.step(DT, FORWARD, flat) for one in (plain, level))
    np.testing.assert_allclose(a.position, b.position, atol=1e-6)
    for _ in range(500):
        targets = level.step(DT, FORWARD, hill)
    joints = np.split(np.asarray(targets.position)[-1], len(LEGS))
    feet = np.array([leg.forward(q)[0] for leg, q in zip(KINEMATICS, joints, strict=True)])
    down = np.array([level.state()[f'stance.{name}'] for name in LEGS]) > 0.5
    way = np.diff(feet[down], axis=0)[0]
    # The feet that stand lie on the plane, as seen from a body that is level.
    assert way[2] == pytest.approx(0.07 * way[0], abs=1e-3)
    # So do the places where those in the air are going to land.
    for x, _, z in level.planned_footholds().values():
        assert z == pytest.approx(STANCE[:, 2].mean() + 0.07 * x, abs=1e-3)
    assert len(level.planned_footholds()) == 4 - down.sum()
    level.set_params(make_parameters(PhaseCpgParams, {}))
    fastest = 0.0
    for _ in range(150):
        fastest = max(fastest, np.abs(level.step(DT, FORWARD, hill).velocity).max())
    steady = max(np.abs(plain.step(DT, FORWARD, flat).velocity).max() for _ in range(50))
    assert fastest < 1.5 * steady


def test_levelling_needs_what_it_looks_at():
    assert walker().needs == frozenset()
    assert walker(level=0.5).needs == {'joint_positions', 'imu'}
