# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Contact of a node with the ground by hand: normal force, friction and surface."""

import math

import numpy as np
import pytest

from sim_bridge.engines.cables.ground import (
    BREAKAWAY,
    COULOMB,
    HOLD,
    INTEGRATE,
    READING_A,
    RESET,
    Ground,
    bristle_friction,
    node_force,
    normal_force,
    surface_at,
)

GROUND = Ground(
    friction_law=READING_A,
    lift_off=HOLD,
    stiffness=100.0,
    damping=10.0,
    stiction_range=0.01,
    bristle_stiffness=50.0,
    bristle_stiffness_rate=20.0,
    bristle_damping=4.0,
    stiction_boost=0.5,
    forward_share=0.25,
    friction=0.8,
    coulomb_speed=0.03,
    heights=np.zeros((2, 2)),
    cell=1.0,
    x=0.0,
    y=0.0,
)


@pytest.mark.parametrize(
    ('depth', 'rate', 'force'),
    [(0.02, 0.5, 2.1), (0.02, -5.0, 1.0), (0.02, -20.0, 0.0), (0.0, 1.0, 0.0), (-0.1, 9.0, 0.0)],
)
def test_the_ground_pushes_and_never_pulls(depth, rate, force):
    assert normal_force(100.0, 10.0, depth, rate) == pytest.approx(force)


@pytest.mark.parametrize('side', [1.0, -1.0])
@pytest.mark.parametrize(
    ('displacement', 'velocity', 'force', 'moved'),
    [
        # Stuck: 50 N/m with a boost of a half, and 4 N s/m.
        (0.004, 0.2, -(75.0 * 0.004 + 0.8), 0.006),
        (0.004, -0.2, -(75.0 * 0.004 - 0.8), 0.002),
        # A step over the edge ends on it; there the node slides, without damper and boost.
        (0.009, 0.2, -(75.0 * 0.009 + 0.8), 0.01),
        (0.01, 0.2, -0.5, 0.01),
        (0.01, 0.0, -0.5, 0.01),
        # Back from the edge the damper acts at once.
        (0.01, -0.2, -(0.5 - 0.8), 0.008),
    ],
)
def test_a_bristle_follows_its_node_up_to_its_range(side, displacement, velocity, force, moved):
    found = bristle_friction(GROUND, 1.0, True, side * displacement, side * velocity, 0.01)
    assert found == pytest.approx((side * force, side * moved))


@pytest.mark.parametrize(
    ('rule', 'aloft', 'at_the_edge'),
    [(HOLD, 0.004, 0.01), (RESET, 0.0, 0.01), (INTEGRATE, 0.006, 0.01), (BREAKAWAY, 0.004, 0.0)],
)
def test_a_bristle_in_the_air_follows_its_rule(rule, aloft, at_the_edge):
    ground = GROUND._replace(lift_off=rule)
    assert bristle_friction(ground, 1.0, False, 0.004, 0.2, 0.01) == pytest.approx((0.0, aloft))
    for side in (1.0, -1.0):
        _, moved = bristle_friction(ground, 1.0, True, side * 0.009, side * 0.2, 0.01)
        assert moved == pytest.approx(side * at_the_edge)


def test_only_motion_along_x_is_spared():
    push, along, across, next_x, next_y = node_force(
        GROUND, 0.02, 0.5, (0.2, 0.1), (0.004, 0.002), 0.01
    )
    assert push == pytest.approx(2.1)
    assert along == pytest.approx(-0.25 * (75.0 * 0.004 + 0.8))
    assert across == pytest.approx(-(75.0 * 0.002 + 0.4))
    assert (next_x, next_y) == pytest.approx((0.006, 0.003))
    above = node_force(GROUND, 0.0, 0.5, (0.2, 0.1), (0.004, 0.002), 0.01)
    assert above == (0.0, 0.0, 0.0, 0.004, 0.002)


def test_coulomb_friction_opposes_the_motion_by_its_share_of_the_normal_force():
    ground = GROUND._replace(friction_law=COULOMB)
    found = node_force(ground, 0.02, 0.5, (0.06, -0.02), (0.004, 0.002), 0.01)
    # |v|^2 + v_s^2 = 0.0036 + 0.0004 + 0.0009 = 0.07^2.
    assert found == pytest.approx((2.1, -1.44, 0.48, 0.004, 0.002))
    assert math.hypot(found[1], found[2]) < 0.8 * 2.1


def test_a_tilted_plane_is_met_exactly_and_its_edge_goes_on():
    x, y = np.arange(4) * 0.5 - 1.0, np.arange(3) * 0.5 + 2.0
    heights = 0.3 * x[None, :] - 0.2 * y[:, None] + 1.0
    ground = GROUND._replace(heights=heights, cell=0.5, x=-1.0, y=2.0)
    for at in ((-0.9, 2.1), (0.1, 2.9), (-0.3, 2.4), (0.5, 3.0), (-1.0, 2.0)):
        expected = 0.3 * at[0] - 0.2 * at[1] + 1.0
        assert surface_at(ground, *at) == pytest.approx((expected, 0.3, -0.2))
    for beyond, edge in (((-5.0, 2.2), (-1.0, 2.2)), ((9.0, 2.2), (0.5, 2.2)),
                         ((0.2, 0.0), (0.2, 2.0)), ((0.2, 7.0), (0.2, 3.0))):  # fmt: skip
        assert surface_at(ground, *beyond) == pytest.approx(surface_at(ground, *edge))


@pytest.mark.parametrize(
    ('at', 'expected'),
    [
        # Cell (0, 0) of 0.5 m with its four corners: 1 at the origin, 2, 4 and 8.
        ((0.0, 0.0), (1.0, 2.0, 6.0)),
        ((0.1, 0.1), (1.0 + 0.2 * 1.0 + 0.2 * 3.0, 2.0, 6.0)),
        ((0.25, 0.25), (3.0, 2.0, 6.0)),
        ((0.4, 0.4), (8.0 - 0.2 * 4.0 - 0.2 * 6.0, 8.0, 12.0)),
        ((0.45, 0.2), (8.0 - 0.1 * 4.0 - 0.6 * 6.0, 8.0, 12.0)),
    ],
)
def test_a_cell_is_two_triangles(at, expected):
    heights = np.array([[1.0, 2.0, 0.0], [4.0, 8.0, 0.0], [0.0, 0.0, 0.0]])
    ground = GROUND._replace(heights=heights, cell=0.5)
    assert surface_at(ground, *at) == pytest.approx(expected)
