r"""
Stabiliser: soles push against an unplanned lean, the next foot steps into it, turns undo a slip.

A body that leans by an angle and at a rate has its capture point, where the linear pendulum would
come to rest, off the planned one by ``h (angle + rate / w)``; until the foot lands after a time
``t`` that grows by ``exp(w t)``. Soles are turned against the lean, which with stiff ankles moves
the zero-moment point toward the side to which the body falls (ankle strategy); a share of the
error at landing is added to the step (Englsberger 2015, Eq. 25: the divergent component of motion
decides where the next foot has to be).

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
"""Turn of a sole; beyond it a step is what helps."""
_LOAD_TIME = 0.1
"""In which a foot is made to balance, or is relieved of it [s]."""
_IDENTITY = np.eye(3)


class Stabiliser:
    """
    Turns soles against the lean of the body and says how far the capture point is off.

    Attributes
    ----------
    lean, rate : (2,) arrays [rad, rad/s]
        Roll and pitch of the body, and their rates.
    soles : (2, 3, 3) array
        Turns of the soles, in the frame of the base.

    """

    def __init__(self) -> None:
        self.tilt: FloatArray = np.zeros(2)
        self.rate: FloatArray = np.zeros(2)
        self.soles: FloatArray = np.zeros((2, 3, 3))
        self._loads: FloatArray = np.zeros(2)
        self._turn: FloatArray = np.zeros(2)
        self.reset()

    def reset(self) -> None:
        """Stand upright on both feet."""
        self.tilt[:] = self.rate[:] = self._turn[:] = 0.0
        self.soles[:] = _IDENTITY
        self._loads[:] = 1.0

    def update_tilt(self, observation: Observation, params: ZmpWalkParams) -> None:
        """Take the lean of the body, where it changes anything with these parameters."""
        if not params.uses_imu:
            self.tilt[:] = self.rate[:] = self._turn[:] = 0.0
            return
        # Kajita et al. (2010): soles turn against angle and rate of the body, within a limit.
        roll, pitch, roll_rate, pitch_rate = tilt_from_imu(observation)
        self.tilt[:] = (roll, pitch)
        self.rate[:] = (roll_rate, pitch_rate)
        for i in range(2):
            turn = params.balance_gain * self.tilt[i] + params.balance_damping * self.rate[i]
            self._turn[i] = min(max(turn, -MAX_SOLE_ANGLE), MAX_SOLE_ANGLE)

    def capture_error(self, height: float, rate: float) -> tuple[float, float]:
        """
        Return by how much the capture point is off, forward and left of the base [m].

        Parameters
        ----------
        height : float [m]
            Of the pendulum.
        rate : float [1/s]
            Its own.

        """
        # Pratt et al. (2006): the capture point is off by h (angle + rate / w).
        roll, pitch = (self.tilt + self.rate / rate).tolist()
        return height * math.sin(pitch), -height * math.sin(roll)

    def turn_soles(self, dt: float, swing: int) -> FloatArray:
        """Return the turns of both soles so long after the last call; -1 where none swings."""
        max_change = dt / _LOAD_TIME
        for foot in range(2):
            load_error = (0.0 if foot == swing else 1.0) - self._loads[foot]
            self._loads[foot] += min(max(load_error, -max_change), max_change)
            _write_tilt_rotation(self._loads[foot] * self._turn, self.soles[foot])
        return self.soles


def _write_tilt_rotation(turn: FloatArray, out: FloatArray) -> None:
    """Write the rotation by a roll and a pitch, small ones, (3, 3)."""
    cr, sr = math.cos(turn[0]), math.sin(turn[0])
    cp, sp = math.cos(turn[1]), math.sin(turn[1])
    out[0] = (cp, sp * sr, sp * cr)
    out[1] = (0.0, cr, -sr)
    out[2] = (-sp, cp * sr, cp * cr)


class SlipCorrection:
    """
    The turn of the body that was not planned, as measured, less what a walk turned against it.

    The plan is what a heading is held against, not the command: steps follow that late.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget all."""
        self._last_yaw: float | None = None
        self._last_planned = self._slipped = self._corrected = 0.0

    def correct_yaw_rate(
        self, dt: float, planned: float, gain: float, observation: Observation
    ) -> float:
        """
        Return the turning rate that undoes what is left [rad/s]; 0 without an attitude.

        Parameters
        ----------
        dt : float [s]
            For which it will be turned so.
        planned : float [rad]
            Yaw of the body in the plan, by now.
        gain : float [1/s]
        seen : Observation

        """
        attitude = observation.attitude
        if attitude is None:
            return 0.0
        yaw = attitude.yaw
        if self._last_yaw is not None:
            turned = math.remainder(yaw - self._last_yaw, 2.0 * math.pi)
            self._slipped += turned - (planned - self._last_planned)
        self._last_yaw, self._last_planned = yaw, planned
        rate = -gain * (self._slipped + self._corrected)
        self._corrected += rate * dt
        return rate
