# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Balance: feedback of the tilt of the base to the ankles of the stance legs."""

from __future__ import annotations

import math

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import BadCommand
from gait_core.motion.observation import Observation
from gait_stage_walk.behaviours.behaviour import Period, no_turn
from gait_stage_walk.staged.pulse import SECOND, pulse_progress
from gait_stage_walk.staged.timetable import opposite_leg
from gait_stage_walk.staged.walk import StagedWalk, WalkMode

LEGS = ('left', 'right')
LOAD_START = 0.8
"""Time from the start of a half-cycle until the front leg takes load [time_scale]."""
UNLOAD_START = 1.05
"""Time from the start of a half-cycle until the other leg is unloaded [time_scale]."""
LOAD_TRANSFER_TIME = 0.4
"""Duration of loading and unloading; in a cycle [time_scale], else [s]."""
MAX_ANKLE_CORRECTION = math.radians(8.0)
"""Largest correction of an ankle [rad]; a larger one would need a step."""


def tilt_from_imu(observation: Observation) -> tuple[float, float, float, float]:
    """
    Return roll, pitch [rad], roll rate and pitch rate [rad/s] of the base from its IMU.

    Raises
    ------
    BadCommand
        Without an IMU: a missing sensor is not zero tilt.

    """
    imu = observation.imu
    if imu is None:
        raise BadCommand('balance_gain above 0 needs an IMU, which is not observed')
    x, y, z, w = imu.orientation.tolist()
    roll = math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    pitch = math.asin(min(max(2.0 * (w * y - z * x), -1.0), 1.0))
    roll_rate, pitch_rate, _ = imu.angular_velocity.tolist()
    return roll, pitch, roll_rate, pitch_rate


class Balance:
    """
    Behaviour that turns the ankles of stance legs against the tilt of the base.

    An ankle turns by ``-share * (balance_gain * angle + balance_damping * rate)``: pitch in the
    joint ``ankle_fwd``, roll in ``ankle_side``. ``share``, by the timetable, is 1 for a loaded leg
    and 0 for a swinging one. With both gains at 0 it needs no IMU and moves nothing.
    """

    joints = tuple(f'{leg}_ankle_{way}' for leg in LEGS for way in ('fwd', 'side'))
    is_finished = False

    def __init__(self, walk: StagedWalk) -> None:
        self._walk = walk
        self._offset = no_turn(len(self.joints))

    def step(self, period: Period) -> FloatArray:
        """Return the turns of ``joints`` in a period, (n,) [rad]."""
        offset = self._ankle_offsets(period)
        if offset is self._offset:
            return no_turn(len(self.joints))
        turns: FloatArray = offset - self._offset
        self._offset = offset
        return turns

    def _ankle_offsets(self, period: Period) -> FloatArray:
        params = self._walk.params
        gain, damping = params.balance_gain, params.balance_damping
        if gain == damping == 0.0:
            return no_turn(len(self.joints))
        roll, pitch, roll_rate, pitch_rate = tilt_from_imu(period.observation)
        corrections = (gain * pitch + damping * pitch_rate, gain * roll + damping * roll_rate)
        shares = load_shares(self._walk, period.end)
        offset = [-shares[leg] * correction for leg in LEGS for correction in corrections]
        return np.clip(offset, -MAX_ANKLE_CORRECTION, MAX_ANKLE_CORRECTION)


def load_shares(walk: StagedWalk, now: int) -> dict[str, float]:
    """Return the load of each leg by the timetable at a time [ns], from 0 (swing) to 1."""
    shares = dict.fromkeys(LEGS, 1.0)
    since = (now - walk.mode_start) / SECOND
    # Start-up: the raised left leg is unloaded at the start of the mode.
    if walk.mode is WalkMode.RAISE:
        shares['left'] = 1.0 - pulse_progress(since / LOAD_TRANSFER_TIME)
    # Cycles: in each half-cycle the front leg is loaded, then the other leg is unloaded. The last
    # half-cycle that has begun decides.
    for half in walk.half_cycles:
        elapsed = half.elapsed(now)
        if elapsed >= 0.0:
            shares[half.front] = pulse_progress((elapsed - LOAD_START) / LOAD_TRANSFER_TIME)
            shares[opposite_leg(half.front)] = 1.0 - pulse_progress(
                (elapsed - UNLOAD_START) / LOAD_TRANSFER_TIME
            )
    # Exit: both legs are loaded at the end of the mode.
    if walk.mode is WalkMode.EXIT:
        loaded = pulse_progress(
            (since - (walk.mode_end - walk.mode_start) / SECOND + LOAD_TRANSFER_TIME)
            / LOAD_TRANSFER_TIME
        )
        shares = {leg: max(share, loaded) for leg, share in shares.items()}
    if walk.mode in (WalkMode.IDLE, WalkMode.LEAN):
        return dict.fromkeys(LEGS, 1.0)
    return shares
