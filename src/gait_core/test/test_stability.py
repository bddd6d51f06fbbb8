# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from gait_core.measures.stability import (
    DEFINED,
    SEVERAL_HEIGHTS,
    UNDEFINED,
    ZmpSeries,
    centre_of_pressure,
    centres_of_pressure,
    support_margin,
    support_margins,
    support_polygon,
    zmp_from_accelerations,
)
from gait_core.motion.observation import Contacts

G = 9.81
GRAVITY = np.array([0.0, 0.0, -G])
SQUARE = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]])

coordinate = st.floats(-10.0, 10.0).map(lambda x: round(x, 3))
point = st.tuples(coordinate, coordinate)
cloud = st.lists(point, min_size=1, max_size=14).map(np.array)


# Support polygon and margin


def test_the_hull_drops_inner_points_and_those_on_its_edges():
    points = np.vstack([SQUARE, [[1.0, 1.0], [1.0, 0.0], [2.0, 2.0]]])
    np.testing.assert_array_equal(support_polygon(points), SQUARE)


@pytest.mark.parametrize(
    ('points', 'hull'),
    [
        (np.zeros((0, 3)), np.zeros((0, 2))),
        ([[1.0, 2.0, 9.0]], [[1.0, 2.0]]),
        ([[1.0, 2.0], [1.0, 2.0]], [[1.0, 2.0]]),
        ([[0.0, 0.0], [3.0, 3.0], [1.0, 1.0]], [[0.0, 0.0], [3.0, 3.0]]),
    ],
)
def test_hulls_without_area_have_fewer_than_three_corners(points, hull):
    np.testing.assert_array_equal(support_polygon(np.asarray(points)), hull)


@settings(deadline=None)
@given(points=cloud)
def test_hulls_turn_left_and_hold_every_point(points):
    hull = support_polygon(points)
    if len(hull) > 2:
        edges = np.roll(hull, -1, axis=0) - hull
        following = np.roll(edges, -1, axis=0)
        assert np.all(edges[:, 0] * following[:, 1] - edges[:, 1] * following[:, 0] > 0.0)
    for inner in points:
        assert support_margin(inner, hull) >= -1e-9


@pytest.mark.parametrize(
    ('at', 'expected'),
    [
        ([1.0, 1.0], 1.0),
        ([1.5, 1.0], 0.5),
        ([2.0, 1.0], 0.0),
        ([2.5, 1.0], -0.5),
        ([5.0, 6.0], -5.0),
        ([0.0, 0.0], 0.0),
    ],
)
def test_the_margin_of_a_square(at, expected):
    assert support_margin(np.array(at), SQUARE) == pytest.approx(expected, abs=1e-12)


def test_a_point_among_the_hull_s_own_points_keeps_its_depth():
    assert support_margin(
        np.array([1.0, 1.0]), np.vstack([SQUARE, [[1.0, 1.0]]])
    ) == pytest.approx(1.0)


def test_margins_of_lines_and_points_are_distances():
    line = np.array([[0.0, 0.0], [2.0, 0.0]])
    assert support_margin(np.array([1.0, 0.0]), line) == 0.0
    assert support_margin(np.array([1.0, 0.5]), line) == pytest.approx(-0.5)
    assert support_margin(np.array([5.0, 4.0]), line) == pytest.approx(-5.0)
    assert support_margin(np.array([3.0, 4.0]), np.zeros((1, 2))) == pytest.approx(-5.0)
    assert support_margin(np.zeros(2), np.zeros((3, 2))) == 0.0
    with pytest.raises(ValueError, match='no points'):
        support_margin(np.zeros(2), np.zeros((0, 2)))


def edge_by_edge(at, hull):
    """Signed distance from the definition: nearest edge, inside by the sides of all edges."""
    edges = np.roll(hull, -1, axis=0) - hull
    along = np.clip(np.sum((at - hull) * edges, axis=1) / np.sum(edges**2, axis=1), 0.0, 1.0)
    distance = np.linalg.norm(hull + along[:, None] * edges - at, axis=1).min()
    arm = at - hull
    inside = np.all(edges[:, 0] * arm[:, 1] - edges[:, 1] * arm[:, 0] >= 0.0)
    return distance if inside else -distance


@settings(deadline=None)
@given(points=cloud, at=point)
def test_the_margin_is_the_signed_distance_to_the_nearest_edge(points, at):
    hull = support_polygon(points)
    if len(hull) > 2:
        assert support_margin(np.array(at), points) == pytest.approx(
            edge_by_edge(np.array(at), hull), abs=1e-9
        )


@settings(deadline=None)
@given(points=cloud, at=point, angle=st.floats(0.0, 6.3), shift=point)
def test_the_margin_ignores_a_common_motion(points, at, angle, shift):
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, s], [-s, c]])
    moved = support_margin(np.array(at) @ turn + shift, points @ turn + shift)
    assert moved == pytest.approx(support_margin(np.array(at), points), abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(clouds=st.lists(st.lists(point, max_size=12), min_size=1, max_size=6))
def test_margins_over_time_equal_those_one_by_one(clouds):
    instant = np.repeat(np.arange(len(clouds)), [len(c) for c in clouds])
    points = np.array([[x, y, 0.0] for c in clouds for x, y in c]).reshape(-1, 3)
    forces = np.tile([0.0, 0.0, 1.0], (len(points), 1)) * (1.0 + np.arange(len(points)))[:, None]
    series = centres_of_pressure(instant, points, forces, len(clouds), min_force=0.5)
    values, defined = support_margins(series, instant, points)
    for i, crowd in enumerate(clouds):
        assert defined[i] == bool(crowd)
        if crowd:
            alone = support_margin(series.points[i], np.array(crowd))
            assert values[i] == pytest.approx(alone, abs=1e-9)
            # A centre of pressure of pushing forces lies in the hull.
            assert values[i] >= -1e-9


def test_without_contacts_a_point_has_no_margin():
    at = np.array([[1.0, 0.5, 0.0]] * 3)
    series = ZmpSeries(points=at, defined=np.array([True, True, False]), level=np.ones(3, bool))
    points = np.column_stack([np.tile(SQUARE, (2, 1)), np.zeros(8)])
    margin, defined = support_margins(series, np.repeat([0, 2], 4), points)
    np.testing.assert_array_equal(defined, [True, False, False])
    np.testing.assert_allclose(margin, [0.5, 0.0, 0.0])


def test_contacts_without_load_support_nothing():
    # A sole of 0.22 m x 0.12 m whose fourth corner carries nothing: the support is a triangle with
    # the hypotenuse 0.06 x + 0.11 y = 0.
    points = np.array(
        [[0.11, 0.06, 0.0], [-0.11, 0.06, 0.0], [0.11, -0.06, 0.0], [-0.11, -0.06, 0.0]]
    )
    forces = np.zeros((4, 3))
    forces[:3, 2] = 100.0
    contacts = Contacts(soles=('foot',), sole=np.zeros(4, int), points=points, forces=forces)
    centre, _ = centre_of_pressure(points, forces, min_force=1.0)
    hull = points[contacts.loaded]
    # A third of the height of the triangle over its hypotenuse: 0.0351 m.
    third = 0.22 * 0.12 / np.hypot(0.22, 0.12) / 3.0
    assert support_margin(centre, hull) == pytest.approx(third)
    away = np.array([-0.08, -0.05])
    beyond = (0.06 * 0.08 + 0.11 * 0.05) / np.hypot(0.06, 0.11)
    assert support_margin(away, hull) == pytest.approx(-beyond)
    assert beyond == pytest.approx(0.0822, abs=5e-5)


# Centre of pressure


def test_the_centre_of_pressure_is_the_weighted_mean_on_level_ground():
    points = np.array([[0.0, 0.0, 0.5], [1.0, 2.0, 0.5]])
    forces = np.array([[3.0, 1.0, 10.0], [-2.0, 0.5, 30.0]])
    found, status = centre_of_pressure(points, forces, min_force=1.0)
    np.testing.assert_allclose(found, [0.75, 1.5, 0.5])
    assert status == DEFINED


def test_horizontal_forces_shift_it_to_the_mean_height():
    points = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 0.5]])
    forces = np.array([[0.0, 0.0, 10.0], [3.0, -1.0, 10.0]])
    found, _ = centre_of_pressure(points, forces, min_force=1.0)
    # The second force's line meets z = 0.25 at its point plus a quarter of its direction.
    np.testing.assert_allclose(found, [(1.0 - 0.25 * 0.3) / 2, (2.0 + 0.25 * 0.1) / 2, 0.25])


def test_no_horizontal_moment_remains_there():
    rng = np.random.default_rng(0)
    points, forces = rng.normal(size=(6, 3)), rng.normal(size=(6, 3)) + [0.0, 0.0, 5.0]
    found, status = centre_of_pressure(points, forces, min_force=1.0)
    moment = np.cross(points - found, forces).sum(axis=0)
    np.testing.assert_allclose(moment[:2], 0.0, atol=1e-12)
    assert status == SEVERAL_HEIGHTS


def test_without_load_it_is_undefined():
    points = np.zeros((1, 3))
    assert centre_of_pressure(points, np.array([[0.0, 0.0, 0.9]]), min_force=1.0) == (
        None, UNDEFINED,
    )  # fmt: skip
    assert centre_of_pressure(np.zeros((0, 3)), np.zeros((0, 3)), min_force=1.0)[1] == UNDEFINED
    assert centre_of_pressure(points, np.array([[0.0, 0.0, -50.0]]), min_force=1.0)[0] is None


def test_heights_within_the_tolerance_count_as_one_and_unloaded_points_not_at_all():
    points = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.004], [2.0, 0.0, 0.3]])
    forces = np.array([[0.0, 0.0, 5.0], [0.0, 0.0, 5.0], [0.0, 0.0, 0.0]])
    assert centre_of_pressure(points, forces, min_force=1.0)[1] == DEFINED
    forces[2, 2] = 5.0
    assert centre_of_pressure(points, forces, min_force=1.0)[1] == SEVERAL_HEIGHTS


# From accelerations

DT = 0.01
TIME = np.arange(50) * DT


def inertial(masses, com, **options):
    return zmp_from_accelerations(
        np.asarray(masses), com, DT, gravity=GRAVITY, min_force=1.0, **options
    )


def test_at_rest_it_is_below_the_centre_of_mass():
    com = np.tile([[0.1, -0.2, 0.8], [0.4, 0.1, 0.3]], (50, 1, 1))
    series = inertial([2.0, 1.0], com)
    np.testing.assert_array_equal(series.defined, [False] + [True] * 48 + [False])
    np.testing.assert_allclose(series.points[1:-1, :2], np.tile([0.2, -0.1], (48, 1)), atol=1e-12)


@pytest.mark.parametrize('plane', [0.0, 0.2])
def test_a_block_under_constant_acceleration_leans_on_its_rear(plane):
    acceleration, height = 1.5, 0.6
    com = np.zeros((50, 1, 3))
    com[:, 0, 0] = 0.5 * acceleration * TIME**2
    com[:, 0, 2] = height
    series = inertial([3.0], com, plane_height=plane)
    # Cart and table: x - (h - plane) a / g; central differences of a parabola are exact.
    expected = com[1:-1, 0, 0] - (height - plane) * acceleration / G
    np.testing.assert_allclose(series.points[1:-1, 0], expected, atol=1e-9)
    np.testing.assert_allclose(series.points[1:-1, 2], plane)


def test_a_linear_inverted_pendulum_keeps_its_foot():
    height, foot = 0.8, 0.1
    rate = np.sqrt(G / height)
    com = np.zeros((50, 1, 3))
    com[:, 0, 0] = foot + 0.02 * np.cosh(rate * TIME)
    com[:, 0, 2] = height
    series = inertial([40.0], com)
    # The fourth derivative costs dt^2 rate^2 / 12 of the excursion.
    np.testing.assert_allclose(series.points[1:-1, 0], foot, atol=1e-4)


def test_vertical_acceleration_weighs_the_links():
    com = np.zeros((50, 2, 3))
    com[:, 0] = [0.0, 0.0, 0.5]
    com[:, 1, 0] = 1.0
    com[:, 1, 2] = 0.5 + 0.5 * G * TIME**2
    series = inertial([1.0, 1.0], com)
    # The second link is thrown up with g: it weighs twice.
    np.testing.assert_allclose(series.points[1:-1, 0], 2.0 / 3.0, atol=1e-9)


def test_in_free_fall_it_is_undefined():
    com = np.zeros((50, 1, 3))
    com[:, 0, 2] = 9.0 - 0.5 * G * TIME**2
    assert not inertial([5.0], com).defined.any()


def test_records_too_short_for_an_acceleration_are_undefined():
    assert not inertial([1.0], np.zeros((2, 1, 3))).defined.any()


@settings(deadline=None)
@given(
    com=st.lists(st.tuples(coordinate, coordinate, st.floats(0.1, 2.0)), min_size=1, max_size=4),
    push=st.tuples(st.floats(-5.0, 5.0), st.floats(-5.0, 5.0), st.floats(-5.0, 5.0)),
    plane=st.floats(-0.5, 0.5),
)
def test_both_formulas_agree_where_the_contacts_supply_the_motion(com, push, plane):
    com = np.array(com)
    masses = 1.0 + np.arange(len(com))
    acceleration = np.array(push)
    # A rigid body in translation. Contact forces through its centre supply the motion.
    path = com[None] + 0.5 * acceleration * (np.arange(3) * DT)[:, None, None] ** 2
    asked = zmp_from_accelerations(
        masses, path, DT, gravity=GRAVITY, min_force=1.0, plane_height=plane
    )
    centre = (masses[:, None] * path[1]).sum(axis=0) / masses.sum()
    force = masses.sum() * (acceleration - GRAVITY)
    # Half of it acts above the plane, half below.
    heights = plane + np.array([[0.2], [-0.2]])
    feet = centre - force * ((centre[2] - heights) / force[2])
    halves = np.stack([0.5 * force] * 2)
    supplied, _ = centre_of_pressure(feet, halves, min_force=1.0)
    np.testing.assert_allclose(asked.points[1], supplied, atol=1e-6)


def test_an_undefined_point_is_zero():
    points = np.array([[1.0, 2.0, 0.5], [3.0, 4.0, 0.5]])
    forces = np.array([[0.0, 0.0, 10.0], [0.0, 0.0, 0.5]])
    series = centres_of_pressure(np.array([0, 1]), points, forces, 3, min_force=1.0)
    np.testing.assert_array_equal(series.points, [[1.0, 2.0, 0.5], [0.0] * 3, [0.0] * 3])
