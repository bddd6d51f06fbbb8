"""Lidars and depth cameras of a robot, and their entries in ``robot.yaml``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
import math
import re
from typing import Any, ClassVar

from gait_core.errors import ConfigurationError, unknown
from gait_core.parameters.schema import Location, read_choice, read_value

MAX_RAYS = 100_000
"""Of one reading; beyond it a mistyped number would run for ever."""
OPTICAL_FRAME_RPY = (-0.5 * math.pi, 0.0, -0.5 * math.pi)
"""Attitude [rad] of a camera's optical frame, z forward and x right (REP-103), in its frame."""


@dataclass(frozen=True, kw_only=True)
class RangeSensor:
    """
    A sensor that sends rays from one point; its frame has x forward, y left and z up.

    Attributes
    ----------
    name : str
        Of its topics and frames.
    link : str
        That carries it.
    xyz, rpy : (3,) tuples [m, rad]
        Place and attitude of its frame in the link's.
    rate : float [Hz]
        Of readings.
    range : (float, float) [m]
        Readings below the first and above the second are none.
    noise : float [m]
        Standard deviation of a reading.
    columns, rows : int
        Rays from one side to the other, and how many such rows.

    """

    kind: ClassVar[str]
    name: str
    link: str
    xyz: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rpy: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rate: float = 10.0
    range: tuple[float, float] = (0.1, 10.0)
    noise: float = 0.0
    columns: int
    rows: int

    def __post_init__(self) -> None:
        """Refuse a name that is none in ROS, and numbers that describe no sensor."""
        if not re.fullmatch('[A-Za-z][A-Za-z0-9_]*', self.name):
            self._refuse(f"is no name in ROS; nearest valid: '{_nearest_ros_name(self.name)}'")
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

    def _refuse(self, reason: str) -> None:
        raise ConfigurationError(f"sensor '{self.name}' {reason}")

    @property
    def frame(self) -> str:
        """Name of its frame: the link's own where it is not moved from that."""
        return f'{self.name}_link' if any((*self.xyz, *self.rpy)) else self.link

    @property
    def reading_frame(self) -> str:
        """Name of the frame that its readings are in."""
        return self.frame

    @property
    def frames(self) -> Mapping[str, tuple[str, tuple[float, ...], tuple[float, ...]]]:
        """Frames that it brings along: by name the parent, place [m] and attitude [rad]."""
        return {} if self.frame == self.link else {self.frame: (self.link, self.xyz, self.rpy)}


@dataclass(frozen=True, kw_only=True)
class Lidar(RangeSensor):
    """
    A lidar; one row is a plane scan.

    ``azimuth`` and ``elevation`` (first, last) [rad] of columns and rows, both included; of a
    whole turn the last azimuth, which is the first again, is left out.
    """

    kind = 'lidar'
    columns: int = 360
    rows: int = 1
    azimuth: tuple[float, float] = (-math.pi, math.pi)
    elevation: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        """Check the angles, too."""
        super().__post_init__()
        if not 0.0 < self.azimuth[1] - self.azimuth[0] < 2.0 * math.pi + 1e-3:
            self._refuse(
                f'has azimuths from {self.azimuth[0]:g} to {self.azimuth[1]:g} rad; the second '
                'must be greater, by a whole turn at most'
            )
        if max(map(abs, self.elevation)) > 0.5 * math.pi:
            self._refuse(f'has an elevation beyond the vertical; nearest valid: {math.pi / 2:.4f}')

    @property
    def turns(self) -> bool:
        """True if its columns go all the way round."""
        return math.isclose(self.azimuth[1] - self.azimuth[0], 2.0 * math.pi, abs_tol=1e-3)


@dataclass(frozen=True, kw_only=True)
class DepthCamera(RangeSensor):
    """
    A pinhole camera of square pixels that reads depth, the distance ahead and not along the ray.

    ``field_of_view`` [rad] from side to side.
    """

    kind = 'depth_camera'
    columns: int = 64
    rows: int = 48
    field_of_view: float = 1.2

    def __post_init__(self) -> None:
        """Check the field of view, too."""
        super().__post_init__()
        if not 0.0 < self.field_of_view < 0.95 * math.pi:
            self._refuse(
                f'has a field of view of {self.field_of_view:g} rad; it must be positive and '
                f'at most {0.95 * math.pi:.2f}'
            )

    @property
    def focal_length(self) -> float:
        """Focal length in pixels: half of the columns over the tangent of half the view."""
        return 0.5 * self.columns / math.tan(0.5 * self.field_of_view)

    @property
    def reading_frame(self) -> str:
        """Name of its optical frame."""
        return f'{self.name}_optical_frame'

    @property
    def frames(self) -> Mapping[str, tuple[str, tuple[float, ...], tuple[float, ...]]]:
        """Frames that it brings along, the optical one among them."""
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
    Return the sensors of the key ``sensors`` of a robot.yaml.

    Parameters
    ----------
    entries : sequence of mappings
    links : collection of str
        Names of the robot's links.
    location : Location
        Of the robot.yaml.

    Raises
    ------
    ConfigurationError
        For unknown keys, kinds and links, a name or frame that is there twice, or numbers that
        do not fit.

    """
    sensors: list[RangeSensor] = []
    owners = {name: f"link '{name}'" for name in links}
    for i, entry in enumerate(entries):
        at = location / 'sensors' / i
        kind = read_choice(entry, 'kind', _SENSOR_KINDS, at)
        values = {key: value for key, value in entry.items() if key != 'kind'}
        sensor: RangeSensor = read_value(_SENSOR_KINDS[kind], values, at)
        if sensor.link not in links:
            raise at.error(unknown('link', sensor.link, links))
        if any(sensor.name == other.name for other in sensors):
            raise at.error(f"there is a sensor '{sensor.name}' already")
        for frame in sensor.frames:
            if frame in owners:
                raise at.error(
                    f"the frame '{frame}' of sensor '{sensor.name}' is that of {owners[frame]} "
                    'already; give the sensor another name, or no xyz and rpy where it is on that '
                    'link'
                )
            owners[frame] = f"sensor '{sensor.name}'"
        sensors.append(sensor)
    return tuple(sensors)


_SENSOR_KINDS: Mapping[str, type[RangeSensor]] = {Lidar.kind: Lidar, DepthCamera.kind: DepthCamera}
