# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Tilt of the base, predicted from the IMU, and its excess over an undisturbed walk.

The prediction adds the rate times a lead time, so that reflexes act before the robot has fallen.
Tilt within the range of an undisturbed walk is a dead band: the excess is zero up to its edge and
grows from there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import math
from typing import ClassVar

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.motion.observation import Imu
from gait_core.parameters.declaration import Parameters, bool_parameter, float_parameter

OBSTACLE_REFLEXES = ('elevator_reflex', 'retraction')
"""Reflexes of a leg that meets an obstacle in its swing."""


def tilt_dead_band(default: float, direction: str) -> float:
    """Declare the dead band of the predicted tilt in one direction."""
    doc = (
        f'Predicted tilt {direction} up to which the posture reflex does nothing; set it to '
        'the largest tilt of an undisturbed walk.'
    )
    parameter: float = float_parameter(default, low=0.0, high=math.pi, unit='rad', doc=doc)
    return parameter


@dataclass(frozen=True, kw_only=True)
class TiltParams(Parameters):
    """
    Parameters of the posture reflex that all controllers share.

    Class attributes
    ----------------
    readers : mapping of str to tuple of str
        Reflexes that read each parameter; while they are off it has no effect.

    """

    readers: ClassVar[Mapping[str, tuple[str, ...]]] = dict.fromkeys(
        ('lean_lead', 'lean_up', 'lean_down', 'lean_side'), ('posture_reflex',)
    )

    posture_reflex: bool = bool_parameter(
        False,
        doc='Legs level the base when the IMU shows more tilt than lean_up, lean_down or '
        'lean_side.',
    )
    lean_lead: float = float_parameter(
        0.05, low=0.0, high=1.0, unit='s', doc='Time by which the tilt is predicted from its rate.'
    )
    lean_up: float = tilt_dead_band(0.15, 'backward')
    lean_down: float = tilt_dead_band(0.15, 'forward')
    lean_side: float = tilt_dead_band(0.15, 'to either side')

    def without_effect(self, legs: Sequence[str]) -> Mapping[str, str]:
        """Return the reason for each parameter whose reflexes are off."""
        reasons = dict(super().without_effect(legs))
        for name, reflexes in self.readers.items():
            if not any(getattr(self, reflex) for reflex in reflexes):
                verb = 'is' if len(reflexes) == 1 else 'are'
                reasons[name] = f'{", ".join(reflexes)} {verb} off'
        return reasons


class Tilt:
    """
    Predicted tilt of the base and its excess over the dead band.

    Attributes
    ----------
    predicted, excess : (2,) arrays [rad]
        Roll (positive with the right side down) and pitch (positive with the front down),
        predicted ``lean_lead`` ahead; and their part outside the dead band.

    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Set the tilt to zero and forget the recorded range."""
        self.predicted: FloatArray = np.zeros(2)
        self.excess: FloatArray = np.zeros(2)
        self._recorded_min: FloatArray = np.full(2, math.inf)
        self._recorded_max: FloatArray = np.full(2, -math.inf)

    def update(self, imu: Imu | None, params: TiltParams) -> None:
        """Update tilt and excess from an IMU sample; without one the last values stay."""
        if imu is None:
            return
        x, y, z, w = imu.orientation.tolist()
        # Components of the vertical along the axes of the base, from the rotation matrix.
        ahead, left, up = (
            2.0 * (x * z - w * y),
            2.0 * (y * z + w * x),
            1.0 - 2.0 * (x * x + y * y),
        )
        roll, pitch = math.atan2(left, up), math.atan2(-ahead, math.hypot(left, up))
        roll_rate, pitch_rate, _ = imu.angular_velocity.tolist()
        # Linear prediction; for a nearly upright base the body rates are those of roll and pitch.
        roll, pitch = roll + params.lean_lead * roll_rate, pitch + params.lean_lead * pitch_rate
        self.predicted = np.array([roll, pitch])
        self.excess = np.array(
            [
                roll - min(max(roll, -params.lean_side), params.lean_side),
                pitch - min(max(pitch, -params.lean_up), params.lean_down),
            ]
        )

    def widen_recorded_range(self) -> None:
        """Extend the recorded range to the present tilt."""
        np.minimum(self._recorded_min, self.predicted, out=self._recorded_min)
        np.maximum(self._recorded_max, self.predicted, out=self._recorded_max)

    def thresholds(self, margin: float) -> dict[str, float]:
        """
        Return dead bands by parameter name: the recorded range, widened by a share ``margin``.

        Without a record the mapping is empty.
        """
        if not np.isfinite(self._recorded_max).all():
            return {}
        slack = margin * (self._recorded_max - self._recorded_min)
        lowest, highest = self._recorded_min - slack, self._recorded_max + slack
        return {
            'lean_up': max(0.0, float(-lowest[1])),
            'lean_down': max(0.0, float(highest[1])),
            'lean_side': max(0.0, float(-lowest[0]), float(highest[0])),
        }
