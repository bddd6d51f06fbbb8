"""
Lean of a body, measured by the IMU alone.

A lean is looked ahead at its rate: a body that falls is met before it has fallen. What lies within
the range of an undisturbed walk is none; reflexes answer to the excess over it, so that they begin
at nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.motion.observation import Imu
from gait_core.parameters.declaration import Parameters, bool_parameter, float_parameter


def tilt_dead_band(default: float, direction: str) -> float:
    """Declare the dead band of the predicted tilt in one direction."""
    doc = (
        f'Predicted tilt {direction} within which the posture reflex is off; undisturbed walks '
        'reach it.'
    )
    found: float = float_parameter(default, low=0.0, high=math.pi, unit='rad', doc=doc)
    return found


@dataclass(frozen=True, kw_only=True)
class TiltParams(Parameters):
    """Parameters of the levelling of a leaning body."""

    posture_reflex: bool = bool_parameter(
        False,
        doc='Legs level the body by the excess of its tilt over that of an undisturbed walk, by '
        'the IMU.',
    )
    lean_lead: float = float_parameter(
        0.05, low=0.0, high=1.0, unit='s', doc='Time by which the tilt is predicted from its rate.'
    )
    lean_up: float = tilt_dead_band(0.15, 'backward')
    lean_down: float = tilt_dead_band(0.15, 'forward')
    lean_side: float = tilt_dead_band(0.15, 'to either side')


class Tilt:
    """
    The lean of a body and its excess.

    Attributes
    ----------
    predicted, excess : (2,) arrays [rad]
        About the body's x axis, positive with its right side down, and about y, positive with its
        front down; looked ahead, and what of it is beyond the range of an undisturbed walk.

    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget what was felt."""
        self.predicted: FloatArray = np.zeros(2)
        self.excess: FloatArray = np.zeros(2)
        self._recorded_min: FloatArray = np.full(2, math.inf)
        self._recorded_max: FloatArray = np.full(2, -math.inf)

    def update(self, imu: Imu | None, params: TiltParams) -> None:
        """Read an IMU; nothing is felt without one."""
        if imu is None:
            return
        x, y, z, w = imu.orientation.tolist()
        # The vertical in the body's axes.
        ahead, left, up = (
            2.0 * (x * z - w * y),
            2.0 * (y * z + w * x),
            1.0 - 2.0 * (x * x + y * y),
        )
        roll, pitch = math.atan2(left, up), math.atan2(-ahead, math.hypot(left, up))
        roll_rate, pitch_rate, _ = imu.angular_velocity.tolist()
        roll, pitch = roll + params.lean_lead * roll_rate, pitch + params.lean_lead * pitch_rate
        self.predicted = np.array([roll, pitch])
        self.excess = np.array(
            [
                roll - min(max(roll, -params.lean_side), params.lean_side),
                pitch - min(max(pitch, -params.lean_up), params.lean_down),
            ]
        )

    def widen_recorded_range(self) -> None:
        """Keep the range of what is felt now."""
        np.minimum(self._recorded_min, self.predicted, out=self._recorded_min)
        np.maximum(self._recorded_max, self.predicted, out=self._recorded_max)

    def thresholds(self, margin: float) -> dict[str, float]:
        """Return what is no lean: the range that was kept, and a share of it beyond, by name."""
        if not np.isfinite(self._recorded_max).all():
            return {}
        slack = margin * (self._recorded_max - self._recorded_min)
        lowest, highest = self._recorded_min - slack, self._recorded_max + slack
        return {
            'lean_up': max(0.0, float(-lowest[1])),
            'lean_down': max(0.0, float(highest[1])),
            'lean_side': max(0.0, float(-lowest[0]), float(highest[0])),
        }
