# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Ground springs and sticking soles in a single step, by hand from McKenna's equations."""

from math import exp, expm1, sqrt

import numpy as np
import pytest

from sim_bridge.engines.mujoco.ground_kernel import (
    SOLE,
    BodyViews,
    ConstraintRows,
    Spring,
    pull_stuck_soles,
    write_ground_springs,
)
from sim_bridge.engines.mujoco.read_kernel import ContactViews

GROUND, STEP = 7, 0.01
SPRING = Spring(strength=10.0, rise=100.0, max_depth=0.01, return_share=0.5, reversal_speed=0.1)
TORQUE = np.dtype([('target', 'f8', (3,))])


def contacts(geoms, rows, distances):
    count = len(rows)
    return ContactViews(
        geom=np.array(geoms, dtype=np.int32).reshape(count, 2),
        row=np.array(rows, dtype=np.int32),
        dim=np.full(count, 3, dtype=np.int32),
        dist=np.array(distances, dtype=float),
        pos=np.zeros((count, 3)),
        frame=np.zeros((count, 9)),
    )


def constraint_rows(velocities, count):
    """Return rows of a softness of 4, and contacts of a friction of 0.6."""
    n = len(velocities)
    return ConstraintRows(
        velocity=np.array(velocities, dtype=float),
        reference=np.full(n, -1.0),
        softness=np.full(n, 4.0),
        hardness=np.full(n, 0.25),
        friction=np.tile([0.6, 0.5, 0.4, 0.3, 0.2], (count, 1)),
        mu=np.full(count, -1.0),
    )


def pressed(distance, velocity, spring=SPRING, size=3):
    """Return the rows and mu of one contact after a step."""
    rows = constraint_rows([velocity] + [9.0] * (size - 1), 1)
    write_ground_springs(spring, STEP, contacts([GROUND, 1], [0], [distance]), rows, GROUND)
    assert rows.softness[0] == pytest.approx(1.0 / rows.hardness[0])
    return rows


@pytest.mark.parametrize(
    ('distance', 'velocity', 'depth', 'share', 'turning'),
    [
        # Inward and outward, faster than the speed of the reversal, and at its ends.
        (-0.002, -0.2, 0.002, 1.0, 0.0),
        (-0.002, -0.1, 0.002, 1.0, 0.0),
        (-0.002, 0.1, 0.002, 0.5, 0.0),
        (-0.002, 0.2, 0.002, 0.5, 0.0),
        # In between the share falls linearly, which is a damping of half its loss over v_s.
        (-0.002, -0.05, 0.002, 0.875, 2.5),
        (-0.002, 0.0, 0.002, 0.75, 2.5),
        (-0.002, 0.05, 0.002, 0.625, 2.5),
        # From a depth on the force is constant, and above the ground there is none.
        (-0.05, -0.2, 0.01, 1.0, 0.0),
        (0.003, -0.2, 0.0, 1.0, 0.0),
    ],
)
def test_a_row_has_the_force_of_its_spring_and_the_mass_of_its_slope(
    distance, velocity, depth, share, turning
):
    rows = pressed(distance, velocity)
    push = 10.0 * expm1(100.0 * depth)
    slope = share * 10.0 * 100.0 * exp(100.0 * depth)
    hard = 0.25 * slope * STEP**2 + turning * push * STEP
    assert rows.hardness[0] == pytest.approx(hard)
    assert rows.reference[0] * rows.hardness[0] == pytest.approx(share * push)
    # The ratio that MuJoCo's cone needs, and rows of friction that stay as they were.
    assert rows.mu[0] == pytest.approx(0.6 * sqrt(4.0 * hard))
    assert rows.softness[1:].tolist() == [4.0, 4.0] and rows.hardness[1:].tolist() == [0.25] * 2
    assert rows.reference[1:].tolist() == [-1.0, -1.0]


def test_a_spring_that_returns_nothing_keeps_a_millionth_of_its_slope():
    rows = pressed(-0.002, 1.0, SPRING._replace(return_share=0.0))
    slope = 1e-6 * 10.0 * 100.0 * exp(0.2)
    assert rows.hardness[0] == pytest.approx(0.25 * slope * STEP**2)


def test_a_contact_without_rows_of_friction_has_no_cone():
    assert pressed(-0.002, 0.0, size=1).mu[0] == -1.0


def test_only_contacts_of_the_ground_with_rows_are_springs():
    found = contacts(
        [[1, GROUND], [GROUND, 1], [GROUND, 2], [GROUND, 3]], [0, -1, 6, 3], [-0.002] * 4
    )
    rows = constraint_rows([-0.2] * 6, 4)
    write_ground_springs(SPRING, STEP, found, rows, GROUND)
    assert rows.reference.tolist() == [-1.0] * 3 + [rows.reference[3]] + [-1.0] * 2
    assert rows.reference[3] > 0.0
    assert (rows.mu == -1.0).tolist() == [True, True, True, False]


class Soles:
    """A sole on body 1, 0.2 m below its origin, on which geometries 3 and 4 are."""

    def __init__(self, torque_index=-1):
        self.soles = np.zeros(1, dtype=SOLE)
        self.soles['body'], self.soles['torque_index'] = 1, torque_index
        self.soles['first_geom'], self.soles['end_geom'] = 3, 5
        self.soles['point'] = [0.1, 0.0, -0.2]
        self.torques = np.zeros(2, dtype=TORQUE)

    def step(self, x, y=0.0, z=0.2, rotation=None, geoms=(GROUND, 4), row=0):
        """Return force and moment on the body, and whether the sole is stuck."""
        bodies = BodyViews(
            origin=np.array([[9.0, 9.0, 9.0], [x, y, z]]),
            rotation=np.tile((np.eye(3) if rotation is None else rotation).ravel(), (2, 1)),
            centre=np.array([[9.0, 9.0, 9.0], [x, y, z + 0.1]]),
            wrench=np.zeros((2, 6)),
        )
        seen = contacts([geoms], [row], [-0.001])
        pull_stuck_soles(self.soles, SPRING, self.torques, seen, GROUND, bodies)
        assert not bodies.wrench[0].any()
        return bodies.wrench[1], bool(self.soles['is_stuck'][0])


def force(stretch, share=1.0):
    return share * 10.0 * expm1(100.0 * stretch)


def test_a_sole_sticks_where_it_touches_and_is_pulled_back_there():
    sole = Soles()
    wrench, stuck = sole.step(0.0)
    assert stuck and not wrench.any()
    np.testing.assert_allclose(sole.soles['anchor'][0], [0.1, 0.0, 0.0], atol=1e-15)
    # A stretch of 5 mm along (-3, -4, 0), 0.1 m ahead of the centre of mass and 0.3 m below it.
    wrench, _ = sole.step(0.003, 0.004)
    pull = force(0.005) * np.array([-0.6, -0.8, 0.0])
    np.testing.assert_allclose(wrench[:3], pull)
    np.testing.assert_allclose(wrench[3:], np.cross([0.1, 0.0, -0.3], pull))
    # Upwards.
    wrench, _ = sole.step(0.0, z=0.208)
    np.testing.assert_allclose(wrench[:3], [0.0, 0.0, -force(0.008)], atol=1e-12)
    np.testing.assert_allclose(wrench[3:], [0.0, 0.1 * force(0.008), 0.0], atol=1e-12)


def test_a_share_of_the_pull_is_left_while_the_stretch_falls():
    sole = Soles()
    sole.step(0.0)
    for x, share in ((0.004, 1.0), (0.004, 1.0), (0.003, 0.5), (0.0035, 1.0), (0.001, 0.5)):
        wrench, _ = sole.step(x)
        assert wrench[0] == pytest.approx(-force(x, share))


def test_a_sole_lets_go_beyond_its_reach_and_sticks_anew_where_it_touches():
    sole = Soles()
    sole.step(0.0)
    wrench, stuck = sole.step(0.0099)
    assert stuck and wrench[0] == pytest.approx(-force(0.0099))
    wrench, stuck = sole.step(0.0101)
    assert stuck and not wrench.any()
    assert sole.soles['anchor'][0, 0] == pytest.approx(0.1101)
    assert sole.step(0.0121)[0][0] == pytest.approx(-force(0.002))
    # In the air it lets go and stays loose.
    wrench, stuck = sole.step(0.05, row=-1)
    assert not stuck and not wrench.any()
    assert not sole.step(0.05, row=-1)[1]


@pytest.mark.parametrize(
    ('geoms', 'row', 'sticks'),
    [
        ((GROUND, 3), 2, True), ((GROUND, 4), 0, True), ((GROUND, 2), 0, False),
        ((GROUND, 5), 0, False), ((6, 4), 0, False), ((GROUND, 4), -1, False),
    ],
)  # fmt: skip
def test_what_touches_is_one_of_its_own_geometries_on_the_ground(geoms, row, sticks):
    assert Soles().step(0.0, geoms=geoms, row=row)[1] == sticks


@pytest.mark.parametrize(('target', 'sticks'), [(0.0, True), (2.0, True), (-1e-9, False)])
def test_a_sole_sticks_while_its_torque_is_not_negative(target, sticks):
    sole = Soles(torque_index=1)
    sole.torques['target'][0] = sole.torques['target'][1, :2] = -5.0
    sole.step(0.0)
    sole.torques['target'][1, 2] = target
    wrench, stuck = sole.step(0.004)
    assert stuck == sticks
    assert wrench[0] == pytest.approx(-force(0.004) if sticks else 0.0)


def test_the_sole_turns_with_its_body():
    sole = Soles()
    # x to y, y to z, z to x.
    rotation = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    sole.step(1.0, 2.0, 3.0, rotation)
    np.testing.assert_allclose(sole.soles['anchor'][0], [0.8, 2.1, 3.0])
    sole.soles['point'] = [0.1, 0.005, -0.2]
    wrench, _ = sole.step(1.0, 2.0, 3.0, rotation)
    np.testing.assert_allclose(wrench[:3], [0.0, 0.0, -force(0.005)], atol=1e-12)
