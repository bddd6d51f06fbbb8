# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reflexes of insect legs: when each acts, for how long it delays, what leaning does to them."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gait_core.motion.observation import Contacts, Imu, Observation
from gait_core.robot.load import load_robot
from gait_cpg.insect.controller import InsectGaitParams
from gait_cpg.insect.reflexes import PUBLISHED_REFLEXES, STANCE, STEP, InsectReflexes

ROACH = load_robot('roach')
DT = 1.0 / 2400.0
FL, FR, ML, MR, BL, BR = range(6)
ROW, RIGHT = np.array([0, 0, 1, 1, 2, 2]), np.array([False, True] * 3)
SIDE = np.where(RIGHT, -1.0, 1.0)
STANDING = np.full(6, STANCE)


def layers(**params) -> InsectReflexes:
    made = InsectReflexes(ROACH, ROW, RIGHT, 3)
    made.set_params(InsectGaitParams(**params))
    return made


def feel(made, roll=0.0, pitch=0.0, coxa=(0.0,) * 6, load=(0.0,) * 6, on_ground=range(6)) -> None:
    """Let reflexes read a body that leans, and legs in the sense of left ones."""
    positions, efforts = np.zeros(len(ROACH.joint_names)), np.zeros(len(ROACH.joint_names))
    for leg, angle, torque, side in zip(ROACH.legs, coxa, load, SIDE, strict=True):
        positions[ROACH.joint_index[leg.joints[0]]] = side * angle
        efforts[ROACH.joint_index[leg.joints[1]]] = -side * torque
    count = len(on_ground)
    contacts = Contacts(
        soles=ROACH.soles,
        sole=np.array(on_ground, dtype=np.int64),
        points=np.zeros((count, 3)),
        forces=np.zeros((count, 3)),
        depths=np.zeros(count),
    )
    made.update(
        DT,
        Observation(
            tick=0,
            time=0.0,
            joint_positions=positions,
            joint_efforts=efforts,
            contacts=contacts,
            imu=Imu(
                orientation=Rotation.from_euler('ZYX', [0.7, pitch, roll]).as_quat(),
                angular_velocity=np.zeros(3),
                linear_acceleration=np.zeros(3),
            ),
        ),
    )


def advance(made, periods: int, states=STANDING, early=False) -> np.ndarray:
    """Return the offsets after some control periods."""
    stepping = states == STEP
    for _ in range(periods):
        made.advance(DT, states, np.zeros((6, 3)), stepping & early)
    return made.offsets


def test_a_leg_too_far_back_steps_only_over_neighbours_that_bear():
    far = [0.0, 0.0, 0.9, 0.0, 0.0, 0.0]
    bounded, published = layers(step_reflex=True), layers(**PUBLISHED_REFLEXES)
    for ground, states, steps in (
        (range(6), STANDING, True),
        ([FR, ML, MR, BL, BR], STANDING, False),
        (range(6), np.where(np.arange(6) == BL, STEP, STANCE), False),
        # The leg across and one's own neighbours count, no others.
        ([FL, ML, MR, BL], STANDING, True),
    ):
        for made, wants in ((bounded, steps), (published, True)):
            feel(made, coxa=far, on_ground=list(ground))
            found = made.step_requests(states, np.zeros(6))
            assert found.tolist() == [leg == ML and wants for leg in range(6)]


def test_a_loaded_leg_waits_for_a_bounded_time_unless_as_published():
    heavy = [1e-3] * 6
    bounded, published = layers(load_reflex=True, longest_wait=0.01), layers(**PUBLISHED_REFLEXES)
    for made in (bounded, published):
        feel(made, load=heavy)
    waits = [bounded.inhibits(DT, BL, STANDING) for _ in range(25)]
    assert sum(waits) * DT == pytest.approx(0.01)
    assert not waits[24]
    assert all(published.inhibits(DT, BL, STANDING) for _ in range(2400))
    assert (bounded.counts['load_reflex'], published.counts['load_reflex']) == (1, 1)
    feel(published)
    assert not published.inhibits(DT, BL, STANDING)


def test_a_leg_waits_while_a_neighbour_steps():
    made = layers(neighbour_inhibition=True)
    stepping = np.where(np.arange(6) == FR, STEP, STANCE)
    assert made.inhibits(DT, FL, stepping)
    assert made.inhibits(DT, MR, stepping)
    assert not made.inhibits(DT, ML, stepping)


def test_what_hangs_over_the_ground_searches_it_but_not_while_the_body_leans():
    for pitch, searches in ((0.0, True), (-0.6, False)):
        made = layers(foothold_search=True)
        feel(made, pitch=pitch, on_ground=[FR, ML, MR, BL, BR])
        offsets = advance(made, 240)
        assert (offsets[FL, 1] < -0.1) == searches
        assert not offsets[1:].any()


def test_a_held_leg_is_drawn_back_and_lifted_until_it_is_lowered():
    made = layers(elevator_reflex=True, retraction=True)
    stepping = np.where(np.arange(6) == ML, STEP, STANCE)
    feel(made, coxa=[0.0, 0.0, 0.3, 0.0, 0.0, 0.0])
    held = advance(made, 30, stepping, early=True).copy()
    assert held[ML, :2] == pytest.approx([0.15, 0.4])
    lowered = advance(made, 40, stepping, early=False)
    assert lowered[ML, :2] == pytest.approx([0.0, 0.4])
    assert not advance(made, 40).any()


def test_leans_set_back_legs_farther_back_and_that_fades():
    made = layers(posture_reflex=True, set_back_time=0.5, set_back_most=0.3)
    feel(made, pitch=-0.1)
    assert not made.posture.back_shifts().any()
    for _ in range(200):
        feel(made, pitch=-0.5)
    assert made.posture.back_shifts().tolist() == [0.0] * 4 + [0.3] * 2
    assert made.counts['posture_reflex'] == 1
    assert advance(made, 2)[:, 0] == pytest.approx([0.0] * 4 + [0.3] * 2)
    for _ in range(1200):
        feel(made)
    assert made.posture.shift == pytest.approx(0.3 * np.exp(-1.0), rel=1e-3)


@pytest.mark.parametrize(
    ('roll', 'pitch', 'lifted'), [(0.0, -0.6, (FL, FR, ML, MR)), (0.6, 0.0, (FL, ML, BL))]
)
def test_standing_legs_of_the_high_side_give_way(roll, pitch, lifted):
    made = layers(posture_reflex=True)
    feel(made, roll=roll, pitch=pitch)
    offsets = advance(made, 240)
    assert np.flatnonzero(offsets[:, 1] > 0.0).tolist() == list(lifted)
    assert not np.delete(offsets[:, 1], lifted).any()


def test_without_its_switch_the_posture_is_left_alone():
    made = layers()
    feel(made, roll=0.9, pitch=-0.9)
    assert not advance(made, 10).any()
    assert not made.posture.back_shifts().any()
