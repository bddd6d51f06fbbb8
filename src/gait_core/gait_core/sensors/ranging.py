# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Range sensors of a robot: their rays and their readings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
import math
from typing import Protocol, runtime_checkable

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError, unknown_name_error
from gait_core.kinematics.forward_kinematics import link_poses
from gait_core.kinematics.frames import rotation_from_rpy
from gait_core.motion.observation import Observation
from gait_core.robot.model import RobotModel
from gait_core.robot.range_sensor import DepthCamera, Lidar, RangeSensor
from gait_core.trial.seeding import check_seed

_TOLERANCE = 1e-9


@runtime_checkable
class RangingEngine(Protocol):
    """Engine that can also cast rays for range sensors."""

    def cast(self, origin: FloatArray, directions: FloatArray, max_distance: float) -> FloatArray:
        """
        Return the lengths of rays through the scene without its robot; the state is unchanged.

        Parameters
        ----------
        origin : (3,) array [m]
            Start of all rays, in ``odom``.
        directions : (n, 3) array
            Unit vectors in ``odom``.
        max_distance : float [m]

        Returns
        -------
        (n,) array [m]
            Infinity for a ray that hits nothing within ``max_distance``.

        """


@dataclass(frozen=True, kw_only=True)
class SensorRays:
    """
    Rays of a sensor in its frame, x forward and z up.

    Attributes
    ----------
    directions : (rows, columns, 3) array
        Unit vectors; those of a camera row by row, from the upper left pixel.
    share : (rows, columns) array
        Reading over the length of the ray: 1 for a lidar, the forward component for a camera,
        which reads depth.

    """

    directions: FloatArray
    share: FloatArray


def sensor_rays(sensor: RangeSensor) -> SensorRays:
    """Return the rays of a sensor."""
    if isinstance(sensor, Lidar):
        return _lidar_rays(sensor)
    if isinstance(sensor, DepthCamera):
        return _camera_rays(sensor)
    raise TypeError(f"sensor of kind '{sensor.kind}', expected a lidar or a depth camera")


def column_azimuths(sensor: Lidar) -> FloatArray:
    """Return the azimuths of a lidar's columns, (columns,) [rad]."""
    first, last = sensor.azimuth
    if sensor.is_full_turn:
        last -= 2.0 * math.pi / sensor.columns
    return np.linspace(first, last, sensor.columns, dtype=np.float64)


def _lidar_rays(sensor: Lidar) -> SensorRays:
    azimuth, elevation = np.meshgrid(
        column_azimuths(sensor), np.linspace(*sensor.elevation, sensor.rows)
    )
    level = np.cos(elevation)
    directions = np.stack(
        [level * np.cos(azimuth), level * np.sin(azimuth), np.sin(elevation)], axis=-1
    )
    return SensorRays(directions=directions, share=np.ones(azimuth.shape))


def _camera_rays(sensor: DepthCamera) -> SensorRays:
    """Return the ray of every pixel of a depth camera, and the cosine of its angle to the axis."""
    # Pinhole camera: a pixel's ray is (1, -u, -v), u and v from the optical axis to the pixel's
    # centre, over the focal length.
    u, v = np.meshgrid(
        (np.arange(sensor.columns) - 0.5 * (sensor.columns - 1)) / sensor.focal_length,
        (np.arange(sensor.rows) - 0.5 * (sensor.rows - 1)) / sensor.focal_length,
    )
    forward = 1.0 / np.sqrt(1.0 + u * u + v * v)
    return SensorRays(
        directions=np.stack([forward, -u * forward, -v * forward], axis=-1), share=forward
    )


def select_sensors(robot: RobotModel, names: str) -> tuple[RangeSensor, ...]:
    """
    Return the sensors of a robot named in a text, separated by commas; ``all`` for all of them.

    Raises
    ------
    ConfigurationError
        If the robot has no sensor of a name, with the nearest one.

    """
    requested = [name.strip() for name in names.split(',') if name.strip()]
    known = {sensor.name: sensor for sensor in robot.sensors}
    if requested and not known:
        raise ConfigurationError(
            f"robot '{robot.name}' has no range sensors; its robot.yaml declares none"
        )
    if requested == ['all']:
        return robot.sensors
    for name in requested:
        if name not in known:
            raise unknown_name_error('sensor', name, (*known, 'all'))
    return tuple(sensor for sensor in robot.sensors if sensor.name in requested)


class RangeReader:
    """
    Readings of one sensor at its own rate, tick by tick; one instance per run.

    The noise of a reading depends on the seed and its number alone, not on earlier readings.

    Parameters
    ----------
    robot : RobotModel
    sensor : RangeSensor
        One of the robot's.
    dt : float [s]
        Control period.
    seed : int

    Raises
    ------
    ConfigurationError
        If the sensor has more than one reading per control period.

    """

    def __init__(self, robot: RobotModel, sensor: RangeSensor, dt: float, seed: int) -> None:
        if sensor.rate * dt > 1.0 + _TOLERANCE:
            raise ConfigurationError(
                f"sensor '{sensor.name}' has a rate of {sensor.rate:g} Hz, more than one reading "
                f'in a control period of {dt:g} s; nearest valid: {1.0 / dt:g}'
            )
        self.sensor = sensor
        self._robot, self._dt = robot, dt
        self._row = robot.link_index[sensor.link]
        self._key = (check_seed(seed), robot.sensors.index(sensor))
        self._rays = sensor_rays(sensor)

    def is_due(self, tick: int) -> bool:
        """Return whether a reading is due at a tick, the first at or after its time."""
        return tick == 0 or self._number(tick) > self._number(tick - 1)

    def _number(self, tick: int) -> int:
        """Return the number of the latest reading at a tick."""
        return math.floor(tick * self._dt * self.sensor.rate + _TOLERANCE)

    @cached_property
    def _max_distance(self) -> float:
        """Length [m] of rays; noise cannot bring the reading of a longer ray back into range."""
        # Six standard deviations; a camera reads depth, so that oblique rays are longer.
        noisy = self.sensor.range[1] + 6.0 * self.sensor.noise
        return noisy / float(self._rays.share.min())

    def pose(self, state: Observation) -> tuple[FloatArray, FloatArray]:
        """Return position (3,) [m] and attitude (3, 3) of the sensor's frame in ``odom``."""
        assert state.joint_positions is not None, 'an engine sees its joints'
        link = link_poses(self._robot, state.joint_positions, state.body_poses)[self._row]
        rotation = link[:3, :3]
        return (
            rotation @ np.array(self.sensor.xyz) + link[:3, 3],
            rotation @ rotation_from_rpy(self.sensor.rpy),
        )

    def read(self, state: Observation, engine: RangingEngine) -> FloatArray:
        """
        Return the readings at an instant, (rows, columns) [m].

        By REP-117 a reading below the range is minus infinity, one above it infinity.

        Parameters
        ----------
        state : Observation
            With joint positions and body poses.
        engine : RangingEngine
            At the same instant.

        """
        position, rotation = self.pose(state)
        rays = self._rays.directions.reshape(-1, 3) @ rotation.T
        lengths = engine.cast(position, rays, self._max_distance)
        reading = lengths.reshape(self._rays.share.shape) * self._rays.share
        if self.sensor.noise > 0.0:
            rng = np.random.default_rng([*self._key, self._number(state.tick)])
            reading = reading + self.sensor.noise * rng.normal(size=reading.shape)
        low, high = self.sensor.range
        return np.where(reading < low, -np.inf, np.where(reading > high, np.inf, reading))
