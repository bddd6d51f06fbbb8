# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""A point that follows the velocities of the waypoints reaches each of them and stops."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gait_core.errors import ConfigurationError
from gait_core.motion.velocity_limits import ZERO_VELOCITY
from gait_core.motion.waypoints import WaypointFollower, WaypointParams

SQUARE = (2.0, 0.0, 2.0, 2.0, 0.0, 2.0, 0.0, 0.0)


def pose(x, y, yaw, roll=0.0):
    return np.array([x, y, 0.6, *Rotation.from_euler('xyz', [roll, 0.0, yaw]).as_quat()])


def follower(waypoints, **parameters):
    return WaypointFollower(WaypointParams(waypoints=waypoints, **parameters))


def way(following, x=0.0, y=0.0, yaw=0.0, dt=0.02, seconds=600.0):
    """Return the way of a point that has exactly the velocity it is given, (T, 3)."""
    places = []
    for _ in range(round(seconds / dt)):
        forward, left, turning = following.velocity(pose(x, y, yaw))
        if following.is_done:
            break
        x += dt * (forward * math.cos(yaw) - left * math.sin(yaw))
        y += dt * (forward * math.sin(yaw) + left * math.cos(yaw))
        yaw += dt * turning
        places.append((x, y, yaw))
    return np.array(places)


@pytest.mark.parametrize('yaw', [0.0, 2.0, -3.0])
def test_a_point_visits_every_waypoint_in_order(yaw):
    following = follower(SQUARE)
    places = way(following, yaw=yaw)[:, :2]
    assert following.is_done and following.reached == 4
    last = 0
    for corner in np.reshape(SQUARE, (4, 2)):
        near = np.linalg.norm(places[last:] - corner, axis=1) < 0.1 + 1e-3
        assert near.any()
        last += int(near.argmax())
    assert following.velocity(pose(9.0, 9.0, 0.0)) == ZERO_VELOCITY


def test_straight_ahead_it_takes_distance_over_speed():
    places = way(follower((2.0, 0.0), speed=0.05, tolerance=0.1), dt=0.01)
    assert len(places) * 0.01 == pytest.approx((2.0 - 0.1) / 0.05, abs=0.02)
    assert (places[:, 1:] == 0.0).all()


def test_a_small_heading_error_decays_with_the_gain():
    far, gain = 1e4, 0.2
    places = way(
        follower((far, 0.0), heading_gain=gain, yaw_rate=1.0), yaw=0.4, dt=0.001, seconds=5.0
    )
    assert places[-1, 2] == pytest.approx(0.4 * math.exp(-gain * 5.0), rel=1e-3)


@pytest.mark.parametrize(
    ('waypoint', 'sign'),
    [((0.0, 2.0), 1), ((0.0, -2.0), -1), ((-2.0, 0.1), 1), ((-2.0, -0.1), -1)],
)
def test_it_turns_on_the_spot_the_shorter_way_round(waypoint, sign):
    forward, left, turning = follower(waypoint, yaw_rate=0.1).velocity(pose(0.0, 0.0, 0.0))
    assert (forward, left, turning) == (0.0, 0.0, sign * 0.1)


def test_across_half_a_turn_it_goes_the_shorter_way_too():
    turning = follower((-2.0, 0.0)).velocity(pose(0.0, 0.0, -3.0))[2]
    assert turning == pytest.approx(0.2 * (3.0 - math.pi))


def test_speed_falls_in_proportion_to_the_heading_error_and_lean_does_not_matter():
    following = follower((2.0, 0.0), speed=0.06, turn_first_deg=40.0)
    for degrees, share in ((0.0, 1.0), (10.0, 0.75), (-20.0, 0.5), (40.0, 0.0), (90.0, 0.0)):
        forward = following.velocity(pose(0.0, 0.0, math.radians(degrees), roll=0.1))[0]
        assert forward == pytest.approx(0.06 * share, abs=1e-12)


def test_waypoints_that_it_stands_on_are_reached_at_once():
    following = follower((0.05, 0.0, 0.0, 0.05, 1.0, 0.0))
    assert following.velocity(pose(0.0, 0.0, 0.0)) == (0.068, 0.0, 0.0)
    assert following.reached == 2


@pytest.mark.parametrize(
    ('waypoints', 'said'),
    [
        ((), 'has 0 values, .* nearest valid: 2'),
        ((1.0, 2.0, 3.0), 'has 3 values, .* nearest valid: 2 or 4'),
        ((1.0, math.nan), "'waypoints' is nan"),
        ((1.0, 1e9), r"'waypoints' = 1e\+09 m is outside"),
    ],
)
def test_waypoints_that_are_no_points_are_refused(waypoints, said):
    with pytest.raises(ConfigurationError, match=said) as caught:
        WaypointParams(waypoints=waypoints)
    assert '\n' not in str(caught.value)
