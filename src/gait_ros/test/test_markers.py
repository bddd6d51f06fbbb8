# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Markers for RViz: positions, sizes, colours, and removal of undefined ones."""

import numpy as np
import pytest

pytest.importorskip('rclpy')

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point
from std_msgs.msg import Header
from visualization_msgs.msg import Marker

from gait_core.height_field import HeightField
from gait_core.motion.observation import Contacts, Observation
from gait_core.robot.load import load_robot
from gait_core.testing.doubles import legged_box
from gait_core.trial.spec import Command
from gait_interfaces.msg import Stability
from gait_ros.messages.markers import gait_markers, stability_markers, terrain_marker

SQUARE = [Point(x=x, y=y) for x, y in ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))]


def standing(margin):
    """Return a state on a unit square whose margin is at most a half."""
    return Stability(
        header=Header(frame_id='odom'),
        status=Stability.DEFINED,
        zmp=[Point(x=margin, y=0.5)],
        com=Point(x=0.4, y=0.5, z=0.3),
        support_polygon=SQUARE,
        margin=[margin],
    )


def state(**fields):
    return Observation(tick=0, time=0.0, **fields)


def shown(message, true=None, fixed=False):
    array = stability_markers(message, true or state(), 10.0, fixed)
    assert {marker.header.frame_id for marker in array.markers} == {'odom'}
    assert len({marker.ns for marker in array.markers}) == len(array.markers)
    return {marker.ns: marker for marker in array.markers}


@pytest.mark.parametrize(('margin', 'green'), [(0.5, 1.0), (0.25, 0.5), (0.0, 0.0), (-0.3, 0.0)])
def test_the_polygon_turns_from_green_to_red_as_the_margin_goes(margin, green):
    polygon = shown(standing(margin))['support_polygon']
    assert (polygon.color.g, polygon.color.r) == (green, 1.0 - green)
    assert polygon.points == [*SQUARE, SQUARE[0]]


def test_a_line_of_contacts_has_no_margin_to_be_green_of():
    message = standing(0.0)
    message.support_polygon = SQUARE[:2]
    assert shown(message)['support_polygon'].color.r == 1.0


def test_the_centre_of_mass_is_projected_onto_the_plane_of_the_contacts():
    markers = shown(standing(0.2))
    (com,) = markers['com'].points
    top, foot = markers['com_projection'].points
    assert top == com == Point(x=0.4, y=0.5, z=0.3) and foot == Point(x=0.4, y=0.5)
    assert markers['zmp'].points == [Point(x=0.2, y=0.5)]


def test_a_force_of_the_weight_is_as_long_as_the_robot_is_large():
    contacts = Contacts(
        soles=('a',),
        sole=np.zeros(1, dtype=np.int64),
        points=np.array([[0.1, 0.2, 0.0]]),
        forces=np.array([[0.0, 6.0, 8.0]]),
        depths=np.zeros(1),
    )
    foot, tip = shown(standing(0.2), state(contacts=contacts))['contact_forces'].points
    assert foot == Point(x=0.1, y=0.2)
    assert (tip.x, tip.y, tip.z) == pytest.approx((0.1, 0.8, 0.8))


def test_speed_and_margin_are_told():
    twists = np.array([[0.3, -0.4, 9.0, 0.0, 0.0, 0.0]])
    poses = np.array([[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]])
    true = state(body_names=('base',), body_poses=poses, body_twists=twists)
    assert shown(standing(0.125), true)['readings'].text == 'speed 0.50 m/s\nmargin 0.125 m'


def test_in_the_air_what_is_undefined_is_taken_away():
    markers = shown(Stability(header=Header(frame_id='odom')), fixed=True)
    there = {name for name, marker in markers.items() if marker.action == Marker.ADD}
    assert there == {'com', 'readings', 'fixed_base'}
    assert markers['readings'].text == 'margin undefined'
    assert markers['fixed_base'].text == 'fixed base'
    assert shown(standing(0.2))['fixed_base'].action == Marker.DELETE


def gait(velocity, stop='', landings=None):
    array = gait_markers(legged_box(), Command(velocity=velocity), 'wave', stop, landings or {})
    assert {marker.header.frame_id for marker in array.markers} == {'base'}
    return {marker.ns: marker for marker in array.markers}


def test_the_velocity_asked_for_is_an_arrow_from_the_base():
    markers = gait((0.3, -0.1, 0.2), 'fallen: the base tilts by 1.20 rad')
    assert markers['command'].points == [Point(), Point(x=0.3, y=-0.1)]
    assert markers['gait'].text.splitlines() == [
        'wave',
        'command 0.30, -0.10 m/s, 0.20 rad/s',
        'fallen: the base tilts by 1.20 rad',
    ]


def test_feet_in_swing_are_shown_where_they_will_land_on_ground_that_stays():
    landings = {'b': np.array([0.1, 0.2, -0.3]), 'a': np.array([0.4, 0.5, -0.3])}
    targets = gait((0.1, 0.0, 0.0), landings=landings)['swing_targets']
    assert targets.points == [Point(x=0.4, y=0.5, z=-0.3), Point(x=0.1, y=0.2, z=-0.3)]
    assert targets.action == Marker.ADD and not targets.frame_locked
    assert gait((0.1, 0.0, 0.0))['swing_targets'].action == Marker.DELETE


@pytest.mark.parametrize('name', ['roach', 'guroo'])
def test_markers_are_as_small_as_the_robot(name):
    robot = load_robot(name)
    array = stability_markers(standing(0.2), state(), 10.0, True, robot.length_scale)
    markers = [*array.markers, *gait_markers(robot, Command(), 'g', '').markers]
    for marker in markers:
        assert 0.0 < marker.scale.z <= 0.1 * robot.length_scale, marker.ns
    heights = [m.pose.position.z for m in markers if m.text]
    assert max(heights) <= 0.3 + 1.4 * robot.length_scale


def test_no_arrow_is_drawn_for_a_robot_asked_to_stand():
    markers = gait((0.0, 0.0, 0.0))
    assert markers['command'].action == Marker.DELETE
    assert len(markers['gait'].text.splitlines()) == 2


def field(cell, count=61):
    rng = np.random.default_rng(0)
    return HeightField(heights=rng.random((count, count + 10)), cell=cell, origin=(-1.0, -2.0))


@pytest.mark.parametrize('over', [(0.3, 0.1), (-9.0, 0.0), (99.0, 99.0)])
def test_the_ground_is_of_the_triangles_that_the_robot_stands_on(over):
    terrain = field(0.1)
    points = terrain_marker(Time(), terrain, np.array(over), 0.3).points
    triangles = np.array([(p.x, p.y, p.z) for p in points]).reshape(-1, 3, 3)
    assert len(triangles) <= 2 * 40**2
    middles = triangles.mean(axis=1)
    np.testing.assert_allclose(terrain.height(*middles[:, :2].T), middles[:, 2], atol=1e-12)
    # Counter-clockwise as seen from above: RViz lights the side that a triangle faces.
    sides = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    assert (sides[:, 2] > 0.0).all()
    if over == (0.3, 0.1):
        reach = np.abs(triangles[..., :2] - over).max(axis=(0, 1))
        assert (reach >= 4.0 * 0.3).all()


def test_of_fine_ground_every_few_vertices_are_shown_and_of_a_plane_none():
    terrain = field(0.01, 201)
    points = terrain_marker(Time(), terrain, np.zeros(2), 0.5).points
    assert 0 < len(points) <= 2 * 40**2 * 3
    heights = terrain.height([p.x for p in points], [p.y for p in points])
    np.testing.assert_allclose([p.z for p in points], heights, atol=1e-9)
    assert (
        len(terrain_marker(Time(), field(0.01, 3), np.array((-0.95, -2.0)), 9.0).points) == 6 * 6
    )
    assert terrain_marker(Time(), None, np.zeros(2)).action == Marker.DELETE
