# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reflexes of feet: what each does to the targets of a walk, and that they leave it alone."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gait_core.kinematics.leg_ik import LegKinematics
from gait_core.motion.observation import Contacts, Imu, Observation
from gait_core.motion.targets import JointTargets
from gait_core.testing.doubles import legged_box
from gait_cpg.reflexes.feet import FOOT_REFLEXES, FootReflexes, FootReflexParams

ROBOT = legged_box(4, 3, roll=True)
LEGS = [leg.name for leg in ROBOT.legs]
NAMES = tuple(name for leg in ROBOT.legs for name in leg.joints)
COLUMNS = [ROBOT.joint_index[name] for name in NAMES]
DT, SIZE = 0.02, len(NAMES) // 4
ALL = np.ones(4, dtype=bool)
FIRST_SWINGS = np.array([False, True, True, True])
KINEMATICS = [LegKinematics(ROBOT, name) for name in LEGS]
# Bent a little: the legs of the nominal stance reach no further down.
STANCE = np.concatenate(
    [
        leg.solve(leg.forward(of_leg)[0] + [0.0, 0.0, 0.04]).positions
        for leg, of_leg in zip(KINEMATICS, ROBOT.stance[COLUMNS].reshape(4, -1), strict=True)
    ]
)


def feet(joints):
    pairs = zip(KINEMATICS, joints.reshape(4, -1), strict=True)
    return np.array([leg.forward(of_leg)[0] for leg, of_leg in pairs])


def layers(**params) -> FootReflexes:
    made = FootReflexes(ROBOT, LEGS)
    made.set_params(FootReflexParams(**params))
    return made


def step(made, joints, stance, actual=None, standing=(0, 1, 2, 3), imu=None):
    """Return the targets after the reflexes, from targets, measured joints and stance feet."""
    seen = np.zeros(len(ROBOT.joint_names))
    seen[COLUMNS] = joints if actual is None else actual
    contacts = Contacts(
        soles=ROBOT.soles,
        sole=np.array(standing, dtype=np.int64),
        points=np.zeros((len(standing), 3)),
        forces=np.zeros((len(standing), 3)),
        depths=np.zeros(len(standing)),
    )
    targets = JointTargets(
        names=NAMES, position=np.tile(joints, (2, 1)), velocity=np.zeros((2, len(NAMES)))
    )
    look = Observation(tick=0, time=0.0, joint_positions=seen, contacts=contacts, imu=imu)
    return made.apply(DT, targets, stance, look)


def ahead(way: float) -> np.ndarray:
    """Return the joints of the stance with the first foot moved forward [m]."""
    joints = STANCE.copy()
    goal = KINEMATICS[0].forward(STANCE[:SIZE])[0] + [way, 0.0, 0.0]
    joints[:SIZE] = KINEMATICS[0].solve(goal, start=STANCE[:SIZE]).positions
    return joints


def test_a_walk_that_nothing_disturbs_passes_unchanged():
    made = layers(**dict.fromkeys(FOOT_REFLEXES, True))
    for tick in range(20):
        joints = ahead(0.002 * tick)
        told = step(made, joints, FIRST_SWINGS, standing=(1, 2, 3))
        np.testing.assert_array_equal(told.position, np.tile(joints, (2, 1)))
    assert made.counts == dict.fromkeys(FOOT_REFLEXES, 0)


def test_a_foot_that_is_held_up_is_lifted_and_drawn_back_until_its_swing_is_over():
    made = layers(
        elevator_reflex=True, retraction=True, held_lag=0.1, elevator_lift=0.1, reflex_time=0.1
    )
    heights, behind = [], []
    for tick in range(30):
        joints = ahead(0.01 * min(tick, 8))
        # It stays where it was: something stands in its way.
        told = step(made, joints, FIRST_SWINGS if tick < 20 else ALL, actual=STANCE)
        moved = feet(told.position[-1])[0] - feet(joints)[0]
        heights.append(moved[2])
        behind.append(-moved[0])
    assert made.counts['elevator_reflex'] == 1
    assert made.counts['retraction'] >= 1
    length = made._leg_lengths[0]
    assert max(heights) == pytest.approx(0.1 * length, rel=0.05)
    # Only as far as it takes to be held up no longer.
    assert 0.02 * length < max(behind) <= 0.1 * length + 1e-6
    # Not at once: within its time, at a bounded pace; and nothing is left of it in the end.
    assert np.abs(np.diff(heights)).max() <= 1.02 * 0.1 * length * DT / 0.1
    assert heights[-1] == 0.0
    assert not made.offsets.any()


def test_the_same_lag_of_a_foot_that_stands_lifts_nothing():
    made = layers(elevator_reflex=True, retraction=True, held_lag=0.1, reflex_time=0.1)
    for tick in range(20):
        joints = ahead(0.01 * min(tick, 8))
        told = step(made, joints, ALL, actual=STANCE)
        np.testing.assert_array_equal(told.position, np.tile(joints, (2, 1)))
    assert made.counts == dict.fromkeys(FOOT_REFLEXES, 0)


def test_a_foot_without_ground_reaches_down_until_it_finds_some_and_stays_there():
    made = layers(foothold_search=True)
    ground, depths = feet(STANCE)[0, 2] - 0.02, []
    for _ in range(40):
        bears = bool(depths) and feet(STANCE)[0, 2] + depths[-1] <= ground
        told = step(made, STANCE, ALL, standing=(0, 1, 2, 3) if bears else (1, 2, 3))
        depths.append(feet(told.position[-1])[0, 2] - feet(STANCE)[0, 2])
    assert depths[:3] == [0.0, 0.0, 0.0]
    # It feels the ground a control period late.
    pace = 0.2 * made._leg_lengths[0] * DT / 0.12
    assert -0.02 - 2.0 * pace < depths[-1] <= -0.02
    assert depths[-1] == depths[-10]
    # The other legs, which stand, are told what they were.
    np.testing.assert_array_equal(told.position[-1, SIZE:], STANCE[SIZE:])
    assert made.counts['foothold_search'] == 1


@pytest.mark.parametrize(('roll', 'pitch'), [(0.0, -0.25), (0.3, 0.0)])
def test_a_body_that_leans_is_levelled_by_its_standing_feet(roll, pitch):
    made = layers(posture_reflex=True, lean_up=0.1, lean_side=0.1, lean_lead=0.0, lean_most=1.0)
    leaning = Imu(
        orientation=Rotation.from_euler('ZYX', [1.0, pitch, roll]).as_quat(),
        angular_velocity=np.zeros(3),
        linear_acceleration=np.zeros(3),
    )
    stance = np.array([False, True, True, True])
    for _ in range(20):
        told = step(made, STANCE, stance, imu=leaning)
    moved = feet(told.position[-1]) - feet(STANCE)
    # What is beyond 0.1 rad has moved standing feet so far; they are told to be where they were.
    x, y = feet(ROBOT.stance[COLUMNS])[:, :2].T
    beyond = np.array([max(roll - 0.1, 0.0), min(pitch + 0.1, 0.0)])
    sunk = x * beyond[1] - y * beyond[0]
    assert moved[1:, 2] == pytest.approx(-sunk[1:], abs=2e-3)
    assert moved[1:, :2] == pytest.approx(np.zeros((3, 2)), abs=4e-3)
    # The foot in the air goes where the body falls to.
    aside = made._leg_lengths[0] * np.array([beyond[1], -beyond[0]])
    assert moved[0, :2] == pytest.approx(aside, abs=5e-3)
    assert made.counts['posture_reflex'] == 1
    assert 'imu' in made.needs
    for _ in range(20):
        step(made, STANCE, stance)
        made.tilt.reset()
    assert not made.offsets.any()


def test_layers_are_switched_while_it_walks():
    made = layers()
    assert not made.is_active
    made.set_params(replace(FootReflexParams(), foothold_search=True))
    for _ in range(10):
        told = step(made, STANCE, ALL, standing=(1, 2, 3))
    assert feet(told.position[-1])[0, 2] < feet(STANCE)[0, 2] - 0.01
    made.set_params(FootReflexParams())
    assert made.is_active, 'what it did is drawn back first'
    for _ in range(20):
        told = step(made, STANCE, ALL, standing=(1, 2, 3))
    np.testing.assert_array_equal(told.position[-1], STANCE)
    assert not made.is_active


def test_thresholds_lie_beyond_what_was_felt():
    made = layers()
    made.record_ranges()
    for tick in range(20):
        step(made, ahead(0.005 * tick), FIRST_SWINGS, actual=ahead(0.005 * tick - 0.02))
        step(made, ahead(0.005 * tick), ALL, actual=ahead(0.005 * tick), standing=(1, 2, 3))
    felt = made.thresholds(0.0)
    assert felt['groundless_time'] == pytest.approx(DT)
    assert felt['held_lag'] == pytest.approx(0.015 / made._leg_lengths[0], rel=0.35)
    assert made.thresholds(0.5)['held_lag'] == pytest.approx(1.5 * felt['held_lag'])
