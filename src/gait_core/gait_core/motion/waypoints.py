# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Walking along waypoints, by a velocity towards the next one."""

from __future__ import annotations

from dataclasses import dataclass
import math

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError
from gait_core.measures.metrics import heading_angles
from gait_core.motion.velocity_limits import ZERO_VELOCITY, Velocity
from gait_core.parameters.declaration import Parameters, float_parameter, floats_parameter
from gait_core.trial.loop import TrialLoop, start_trial, step_controller
from gait_core.trial.parts import cached_engine
from gait_core.trial.rollout import Rollout
from gait_core.trial.spec import Command, TrialSpec


@dataclass(frozen=True, kw_only=True)
class WaypointParams(Parameters):
    """Path and speed of a walk between waypoints; the defaults suit GuRoo."""

    waypoints: tuple[float, ...] = floats_parameter(
        (),
        low=-1e4,
        high=1e4,
        unit='m',
        doc='Waypoints in odom, in their order: x1, y1, x2, y2, ...',
        read_only=True,
    )
    speed: float = float_parameter(
        0.068,
        low=0.0,
        high=10.0,
        unit='m/s',
        doc='Forward speed towards a waypoint straight ahead.',
    )
    yaw_rate: float = float_parameter(
        0.1, low=0.01, high=10.0, unit='rad/s', doc='Largest yaw rate, in both directions.'
    )
    heading_gain: float = float_parameter(
        0.2, low=0.01, high=20.0, unit='1/s', doc='Yaw rate per heading error.'
    )
    turn_first_deg: float = float_parameter(
        45.0,
        low=1.0,
        high=180.0,
        unit='deg',
        doc='Heading error above which the robot turns on the spot; below it, the larger the '
        'error, the slower it walks.',
    )
    tolerance: float = float_parameter(
        0.1, low=0.001, high=100.0, unit='m', doc='Distance at which a waypoint counts as reached.'
    )

    def __post_init__(self) -> None:
        """Check that there is at least one waypoint and that each has two coordinates."""
        super().__post_init__()
        count = len(self.waypoints)
        if count % 2 or not count:
            nearest = f'{count - 1} or {count + 1}' if count > 1 else '2'
            raise ConfigurationError(
                f"parameter 'waypoints' has {count} values, expected pairs x1, y1, x2, y2, ...; "
                f'nearest valid: {nearest}'
            )


class WaypointFollower:
    """
    Velocity commands that lead a robot through waypoints in their order.

    They depend on the pose of the base alone, not on time.

    Parameters
    ----------
    params : WaypointParams
        May be replaced at any time by others with the same waypoints.

    Attributes
    ----------
    reached : int
        Number of waypoints reached so far.

    """

    def __init__(self, params: WaypointParams) -> None:
        self.params = params
        self.reached = 0

    @property
    def is_done(self) -> bool:
        """True if every waypoint was reached."""
        return 2 * self.reached >= len(self.params.waypoints)

    def velocity(self, pose: FloatArray) -> Velocity:
        """
        Return the velocity to command, in the base frame; zero once all waypoints are reached.

        Parameters
        ----------
        pose : (7,) array [m, -]
            Position and quaternion (x, y, z, w) of the base in odom.

        Returns
        -------
        (3,) tuple [m/s, m/s, rad/s]
            Forward, left (always zero) and yaw rate.

        """
        params = self.params
        while not self.is_done:
            dx, dy = self._vector_to_next(pose)
            if math.hypot(dx, dy) > params.tolerance:
                break
            self.reached += 1
        else:
            return ZERO_VELOCITY
        error = math.remainder(math.atan2(dy, dx) - float(heading_angles(pose[None])[0]), math.tau)
        # Proportional to the heading error; the speed falls to zero at ``turn_first_deg``.
        yaw_rate = min(max(params.heading_gain * error, -params.yaw_rate), params.yaw_rate)
        share = max(0.0, 1.0 - abs(math.degrees(error)) / params.turn_first_deg)
        return params.speed * share, 0.0, yaw_rate

    def _vector_to_next(self, pose: FloatArray) -> tuple[float, float]:
        """Return the vector from the base to the next waypoint in odom, (x, y) [m]."""
        x, y = self.params.waypoints[2 * self.reached : 2 * self.reached + 2]
        return x - float(pose[0]), y - float(pose[1])


def walk_waypoints(
    spec: TrialSpec, params: WaypointParams, rest_time: float = 5.0
) -> tuple[Rollout, int]:
    """
    Run a trial along waypoints; return its rollout and the number of waypoints reached.

    Parameters
    ----------
    spec : TrialSpec
        Its command script is ignored; its duration is the time limit.
    params : WaypointParams
    rest_time : float [s]
        Time simulated after the last waypoint is reached, in which the robot comes to rest.

    """
    follower = WaypointFollower(params)
    loop = TrialLoop(spec, cached_engine(spec.scene.engine))
    controller = start_trial(loop)
    rest_ticks = round(rest_time / loop.dt)
    while loop.is_running and rest_ticks > 0:
        if loop.observation.body_poses is None:
            raise ConfigurationError('waypoints need the pose of the base, which is not observed')
        loop.command = Command(velocity=follower.velocity(loop.observation.body_poses[0]))
        if follower.is_done:
            rest_ticks -= 1
        step_controller(loop, controller)
    return loop.rollout(), follower.reached
