# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Posture reflex of an insect: back legs shift backward, legs on the high side give way.

If the back foot of a tripod touches down in front of the centre of mass, the body rears up and
bounces. Pitch in excess of an undisturbed walk is therefore integrated to a backward shift of the
back legs, which decays in the following steps. Stance legs on the high side of a tilted body give
way, which dissipates energy; legs that press on the low side would add energy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gait_core.arrays import BoolArray, FloatArray, IntArray
from gait_core.motion.observation import Imu
from gait_core.parameters.declaration import float_parameter
from gait_cpg.reflexes.tilt import Tilt, TiltParams, tilt_dead_band

_FOOT_AHEAD = (1.0, 0.5, -1.0)
"""Distance of the feet ahead of the centre of mass by row, relative to that of front feet."""


@dataclass(frozen=True, kw_only=True)
class PostureParams(TiltParams):
    """Parameters of the posture reflex."""

    readers: ClassVar[Mapping[str, tuple[str, ...]]] = {
        **TiltParams.readers,
        **dict.fromkeys(
            ('set_back_rate', 'set_back_most', 'set_back_time', 'give_way', 'give_way_most'),
            ('posture_reflex',),
        ),
    }

    lean_lead: float = float_parameter(
        0.01, low=0.0, high=1.0, unit='s', doc='Time by which the tilt is predicted from its rate.'
    )
    lean_up: float = tilt_dead_band(0.26, 'backward')
    lean_down: float = tilt_dead_band(0.2, 'forward')
    lean_side: float = tilt_dead_band(0.29, 'to either side')
    set_back_rate: float = float_parameter(
        100.0,
        low=0.0,
        high=1e4,
        unit='1/s',
        doc='Rate at which back legs shift backward per excess of pitch.',
    )
    set_back_most: float = float_parameter(
        0.6,
        low=0.0,
        high=1.0,
        unit='rad',
        doc='Largest backward shift of back legs by set_back_rate.',
    )
    set_back_time: float = float_parameter(
        0.4,
        low=0.01,
        high=100.0,
        unit='s',
        doc='Time constant with which the backward shift of back legs decays.',
    )
    give_way: float = float_parameter(
        1.0,
        low=0.0,
        high=50.0,
        unit='-',
        doc='Lift of the femur (joint 1) of a stance leg on the high side, per excess of tilt.',
    )
    give_way_most: float = float_parameter(
        0.5, low=0.0, high=1.6, unit='rad', doc='Largest lift by give_way.'
    )


class PostureReflex:
    """
    Posture reflex of a robot.

    Parameters
    ----------
    row : (n,) int array
        Row of each leg, 0 in front.
    side : (n,) array
        1 for left legs, -1 for right ones.

    Attributes
    ----------
    tilt : Tilt
    shift : float [rad]
        Backward shift of the back legs.

    """

    def __init__(self, row: IntArray, side: FloatArray) -> None:
        self._foot_ahead, self._side = np.take(_FOOT_AHEAD, row), side
        self._is_back_leg = row == row.max()
        self.tilt = Tilt()
        self.reset()

    def reset(self) -> None:
        """Set tilt and shift to zero."""
        self.tilt.reset()
        self.shift = 0.0

    def update(self, dt: float, imu: Imu | None, params: PostureParams) -> BoolArray:
        """
        Advance by a control period [s] with an IMU sample; without one the tilt stays.

        Returns
        -------
        (2,) bool array
            Whether the reflex acts on roll and on pitch.

        """
        self.tilt.update(imu, params)
        # The shift is a leaky integral of the excess of pitch, within a limit.
        self.shift *= 1.0 - min(dt / params.set_back_time, 1.0)
        if not params.posture_reflex:
            return np.zeros(2, dtype=bool)
        pitch = abs(float(self.tilt.excess[1]))
        self.shift = min(self.shift + dt * params.set_back_rate * pitch, params.set_back_most)
        return np.asarray(self.tilt.excess != 0.0)

    def back_shifts(self) -> FloatArray:
        """Return the backward shift of each leg, (n,) [rad]."""
        return np.where(self._is_back_leg, self.shift, 0.0)

    def lifts(self, params: PostureParams, standing: BoolArray) -> FloatArray:
        """Return the lift of the femur of each stance leg on the high side, (n,) [rad]."""
        if not params.posture_reflex:
            return np.zeros(len(standing))
        roll, pitch = self.tilt.excess
        height = np.maximum(self._side * roll - self._foot_ahead * pitch, 0.0)
        limit = params.give_way_most
        return np.where(standing, np.minimum(params.give_way * height, limit), 0.0)
