"""Holding a heading: by how much a robot should turn to point where it should by now."""

from __future__ import annotations

from collections import deque
import math

from gait_core.files.snapshot import AttributeSnapshot

LEAD = 4.0
"""Strides by which the error is looked ahead: strides set now turn the body a few later."""


class HeadingHold(AttributeSnapshot):
    """The heading that commanded turning rates add up to, from where the robot first points."""

    STATE = ('_wanted', '_yaw', '_sum', '_stride')

    def __init__(self) -> None:
        self._wanted: float | None = None
        self._yaw = self._sum = 0.0
        self._stride: deque[float] = deque()

    def error(self, dt: float, rate: float, yaw: float, stride: float) -> float:
        """
        Return the error of the heading [rad], positive where it should turn left.

        Heading and turning rate are means over the last stride, in which every step turns the body
        to and fro, and the error is that of ``LEAD`` strides later.

        Parameters
        ----------
        dt : float [s]
        rate : float [rad/s]
            Commanded.
        yaw : float [rad]
            Measured.
        stride : float [s]
            Cycle time.

        """
        if self._wanted is None:
            self._wanted = self._yaw = yaw
        self._wanted += rate * dt
        self._yaw += math.remainder(yaw - self._yaw, 2.0 * math.pi)
        seen = self._stride
        seen.append(self._yaw)
        self._sum += self._yaw
        while len(seen) > round(stride / dt) + 1:
            self._sum -= seen.popleft()
        turning = (self._yaw - seen[0]) / stride
        return self._wanted - self._sum / len(seen) + LEAD * stride * (rate - turning)
