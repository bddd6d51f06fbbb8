# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

r"""
Stabiliser of the ZMP walk: soles turn against tilt, footholds and yaw rate are corrected.

Ankle strategy: soles turn against the tilt of the base, which with stiff ankles moves the ZMP
toward the side of the fall. Foothold: a tilt by an angle and at a rate shifts the capture point by
``h (angle + rate / w)``. Until touch-down after a time ``t`` the error grows by ``exp(w t)``; a
share of it is added to the step (Englsberger 2015, Eq. 25: the divergent component of motion
determines the next foothold). Yaw: the yaw rate is corrected for the slip of the soles.

References
----------
Kajita et al. (2010), Biped walking stabilization based on linear inverted pendulum tracking, IROS,
4489-4496: damping of the body's posture by the soles. Englsberger, Ott and Albu-Schaeffer (2015),
IEEE Trans. Robotics 31(2):355-368. Pratt et al. (2006), Humanoids, 200-207: capture point.
"""

from __future__ import annotations

import math

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.motion.observation import Observation
from gait_stage_walk.behaviours.balance import tilt_from_imu
from gait_stage_walk.zmp.parameters import ZmpWalkParams

MAX_SOLE_ANGLE = math.radians(6.0)
"""Largest turn of a sole [rad]; a larger tilt needs a step."""
_LOAD_TIME = 0.1
"""Duration in which the turn of a sole comes into force after touch-down, and back [s]."""
_IDENTITY = np.eye(3)


class Stabiliser:
    """
    Feedback of the tilt of the base to soles and footholds.

    Attributes
    ----------
    tilt, tilt_rate : (2,) arrays [rad, rad/s]
        Roll and pitch of the base, and their rates.
    soles : (2, 3, 3) array
        Rotations of the soles, in the base frame.

    """

    def __init__(self) -> None:
        self.tilt: FloatArray = np.zeros(2)
        self.tilt_rate: FloatArray = np.zeros(2)
        self.soles: FloatArray = np.zeros((2, 3, 3))
        self._loads: FloatArray = np.zeros(2)
        self._turn: FloatArray = np.zeros(2)
        self.reset()

    def reset(self) -> None:
        """Set tilt and turns to zero, with both feet loaded."""
        self.tilt[:] = self.tilt_rate[:] = self._turn[:] = 0.0
        self.soles[:] = _IDENTITY
        self._loads[:] = 1.0

    def update_tilt(self, observation: Observation, params: ZmpWalkParams) -> None:
        """Update the tilt from the IMU; zero if all gains of the tilt are zero."""
        if not params.uses_imu:
            self.tilt[:] = self.tilt_rate[:] = self._turn[:] = 0.0
            return
        # Kajita et al. (2010): soles turn against angle and rate of the base, within a limit.
        roll, pitch, roll_rate, pitch_rate = tilt_from_imu(observation)
        self.tilt[:] = (roll, pitch)
        self.tilt_rate[:] = (roll_rate, pitch_rate)
        for i in range(2):
            turn = params.balance_gain * self.tilt[i] + params.balance_damping * self.tilt_rate[i]
            self._turn[i] = min(max(turn, -MAX_SOLE_ANGLE), MAX_SOLE_ANGLE)

    def capture_error(self, height: float, natural_rate: float) -> tuple[float, float]:
        """
        Return the error of the capture point, forward and left of the base [m].

        Parameters
        ----------
        height : float [m]
            Height of the pendulum.
        natural_rate : float [1/s]
            Natural rate of the pendulum.

        """
        # Pratt et al. (2006): error of the capture point h (angle + rate / w).
        roll, pitch = (self.tilt + self.tilt_rate / natural_rate).tolist()
        return height * math.sin(pitch), -height * math.sin(roll)

    def turn_soles(self, dt: float, swing: int) -> FloatArray:
        """
        Return the rotations of both soles, (2, 3, 3), a time [s] after the last call.

        ``swing`` is the swinging foot, -1 for none. Its sole returns to level, in ``_LOAD_TIME``.
        """
        max_change = dt / _LOAD_TIME
        for foot in range(2):
            load_error = (0.0 if foot == swing else 1.0) - self._loads[foot]
            self._loads[foot] += min(max(load_error, -max_change), max_change)
            _write_tilt_rotation(self._loads[foot] * self._turn, self.soles[foot])
        return self.soles


def _write_tilt_rotation(turn: FloatArray, out: FloatArray) -> None:
    """Write the rotation by roll, then pitch, (3, 3)."""
    cr, sr = math.cos(turn[0]), math.sin(turn[0])
    cp, sp = math.cos(turn[1]), math.sin(turn[1])
    out[0] = (cp, sp * sr, sp * cr)
    out[1] = (0.0, cr, -sr)
    out[2] = (-sp, cp * sr, cp * cr)


class SlipCorrection:
    """
    Correction of the yaw rate for measured yaw that was not planned: slip of the soles.

    The measured yaw is compared with the plan, not with the command, which steps follow late.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget the measured yaw and the slip."""
        self._last_yaw: float | None = None
        self._last_planned = self._slipped = self._corrected = 0.0

    def correct_yaw_rate(
        self, dt: float, planned: float, gain: float, observation: Observation
    ) -> float:
        """
        Return the yaw rate that corrects the rest of the slip [rad/s]; 0 without an attitude.

        Parameters
        ----------
        dt : float [s]
            Control period, in which the rate is in force.
        planned : float [rad]
            Planned yaw of the base.
        gain : float [1/s]
        observation : Observation

        """
        attitude = observation.attitude
        if attitude is None:
            return 0.0
        yaw = attitude.yaw
        # Slip: measured change of yaw minus the planned one.
        if self._last_yaw is not None:
            yaw_change = math.remainder(yaw - self._last_yaw, 2.0 * math.pi)
            self._slipped += yaw_change - (planned - self._last_planned)
        self._last_yaw, self._last_planned = yaw, planned
        rate = -gain * (self._slipped + self._corrected)
        self._corrected += rate * dt
        return rate
