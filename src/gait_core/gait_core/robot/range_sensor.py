# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Lidars and depth cameras of a robot, and their entries in ``robot.yaml``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
import math
import re
from typing import Annotated, Any, ClassVar

from gait_core.errors import ConfigurationError, unknown_name_error
from gait_core.parameters.schema import Coordinate, Location, NumberRange, read_choice, read_value

MAX_RAYS = 100_000
"""Largest number of rays of a reading; a mistyped number would take for ever."""
OPTICAL_FRAME_RPY = (-0.5 * math.pi, 0.0, -0.5 * math.pi)
"""Attitude [rad] of a camera's optical frame, z forward and x right (REP-103), in its frame."""


@dataclass(frozen=True, kw_only=True)
class RangeSensor:
    """
    Sensor that sends rays from one point; its frame has x forward, y left and z up.

    Attributes
    ----------
    name : str
        Name in its topics and frames.
    link : str
        Link that carries it.
    xyz, rpy : (3,) tuples [m, rad]
        Position and attitude of its frame in the frame of the link.
    rate : float [Hz]
        Readings per second.
    range : (float, float) [m]
        Smallest and largest distance that it reads.
    noise : float [m]
        Standard deviation of a reading.
    columns, rows : int
        Number of rays in a row, and number of rows.

    """

    kind: ClassVar[str]
    name: str
    link: str
    xyz: tuple[Coordinate, Coordinate, Coordinate] = (0.0, 0.0, 0.0)
    rpy: tuple[Coordinate, Coordinate, Coordinate] = (0.0, 0.0, 0.0)
    rate: Annotated[float, NumberRange(0.0, 1e4, 'Hz')] = 10.0
    range: tuple[Coordinate, Coordinate] = (0.1, 10.0)
    noise: Coordinate = 0.0
    columns: int
    rows: int

    def __post_init__(self) -> None:
        """Check that ROS allows the name, and the ranges of numbers."""
        if not re.fullmatch('[A-Za-z][A-Za-z0-9_]*', self.name):
            self._refuse(
                'has a name that ROS does not allow; nearest valid: '
                f"'{_nearest_ros_name(self.name)}'"
            )
        if not self.rate > 0.0:
            self._refuse(f'has a rate of {self.rate:g} Hz, it must be positive')
        if not 0.0 <= self.range[0] < self.range[1]:
            self._refuse(
                f'has a range from {self.range[0]:g} to {self.range[1]:g} m; the first must not '
                'be negative and the second be greater'
            )
        if not self.noise >= 0.0:
            self._refuse(f'has a noise of {self.noise:g} m, it must not be negative')
        if not (self.columns >= 1 and self.rows >= 1):
            self._refuse(f'has {self.columns} columns and {self.rows} rows; nearest valid: 1')
        if self.columns * self.rows > MAX_RAYS:
            self._refuse(
                f'sends {self.columns * self.rows} rays; nearest valid: {MAX_RAYS} in all'
            )

    def _refuse(self, fault: str) -> None:
        raise ConfigurationError(f"sensor '{self.name}' {fault}")

    @property
    def frame(self) -> str:
        """Name of its frame; the link's if the two coincide."""
        return f'{self.name}_link' if any((*self.xyz, *self.rpy)) else self.link

    @property
    def reading_frame(self) -> str:
        """Name of the frame of its readings."""
        return self.frame

    @property
    def frames(self) -> Mapping[str, tuple[str, tuple[float, ...], tuple[float, ...]]]:
        """Frames that it adds: parent, position [m] and attitude [rad], by name."""
        return {} if self.frame == self.link else {self.frame: (self.link, self.xyz, self.rpy)}


@dataclass(frozen=True, kw_only=True)
class Lidar(RangeSensor):
    """
    Lidar; one row is a plane scan.

    ``azimuth`` and ``elevation`` are those of the first and the last column and row [rad]. Of a
    full turn the last column is left out, because it equals the first.
    """

    kind = 'lidar'
    columns: int = 360
    rows: int = 1
    azimuth: tuple[float, float] = (-math.pi, math.pi)
    elevation: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        """Check the angles too."""
        super().__post_init__()
        if not 0.0 < self.azimuth[1] - self.azimuth[0] < 2.0 * math.pi + 1e-3:
            self._refuse(
                f'has azimuths from {self.azimuth[0]:g} to {self.azimuth[1]:g} rad; the second '
                'must be greater, by a full turn at most'
            )
        if max(map(abs, self.elevation)) > 0.5 * math.pi:
            self._refuse(f'has an elevation beyond the vertical; nearest valid: {math.pi / 2:.4f}')

    @property
    def is_full_turn(self) -> bool:
        """True if its columns cover a full turn."""
        return math.isclose(self.azimuth[1] - self.azimuth[0], 2.0 * math.pi, abs_tol=1e-3)


@dataclass(frozen=True, kw_only=True)
class DepthCamera(RangeSensor):
    """
    Pinhole camera with square pixels that reads depth: the distance along its x axis.

    ``field_of_view`` is the horizontal angle [rad].
    """

    kind = 'depth_camera'
    columns: int = 64
    rows: int = 48
    field_of_view: float = 1.2

    def __post_init__(self) -> None:
        """Check the field of view too."""
        super().__post_init__()
        if not 1e-3 <= self.field_of_view < 0.95 * math.pi:
            self._refuse(
                f'has a field of view of {self.field_of_view:g} rad; it must be positive and '
                f'at most {0.95 * math.pi:.2f}'
            )

    @property
    def focal_length(self) -> float:
        """Focal length in pixels: half the columns over the tangent of half the field of view."""
        return 0.5 * self.columns / math.tan(0.5 * self.field_of_view)

    @property
    def reading_frame(self) -> str:
        """Name of its optical frame."""
        return f'{self.name}_optical_frame'

    @property
    def frames(self) -> Mapping[str, tuple[str, tuple[float, ...], tuple[float, ...]]]:
        """Frames that it adds, with the optical frame."""
        return {
            **super().frames,
            self.reading_frame: (self.frame, (0.0, 0.0, 0.0), OPTICAL_FRAME_RPY),
        }


def _nearest_ros_name(name: str) -> str:
    cleaned = re.sub('[^A-Za-z0-9_]', '_', name)
    return cleaned if cleaned[:1].isalpha() else f'sensor_{cleaned}'.rstrip('_')


def read_sensors(
    entries: Sequence[Mapping[str, Any]], links: Collection[str], location: Location
) -> tuple[RangeSensor, ...]:
    """
    Return the sensors under the key ``sensors`` of a robot.yaml.

    Parameters
    ----------
    entries : sequence of mappings
    links : collection of str
        Names of the robot's links.
    location : Location
        Location of the robot.yaml, for messages.

    Raises
    ------
    ConfigurationError
        For unknown keys, kinds and links, a repeated name or frame, or numbers out of range.

    """
    sensors: list[RangeSensor] = []
    owners = {name: f"link '{name}'" for name in links}
    for i, entry in enumerate(entries):
        entry_location = location / 'sensors' / i
        kind = read_choice(entry, 'kind', _SENSOR_KINDS, entry_location)
        values = {key: value for key, value in entry.items() if key != 'kind'}
        sensor: RangeSensor = read_value(_SENSOR_KINDS[kind], values, entry_location)
        if sensor.link not in links:
            raise entry_location.error(unknown_name_error('link', sensor.link, links))
        if any(sensor.name == other.name for other in sensors):
            raise entry_location.error(f"there is a sensor '{sensor.name}' already")
        for frame in sensor.frames:
            if frame in owners:
                raise entry_location.error(
                    f"the frame '{frame}' of sensor '{sensor.name}' is already that of "
                    f'{owners[frame]}; give the sensor another name, or no xyz and rpy to use the '
                    'frame of its link'
                )
            owners[frame] = f"sensor '{sensor.name}'"
        sensors.append(sensor)
    return tuple(sensors)


_SENSOR_KINDS: Mapping[str, type[RangeSensor]] = {Lidar.kind: Lidar, DepthCamera.kind: DepthCamera}
