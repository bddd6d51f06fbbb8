# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Step size of the staged walk from a commanded velocity."""

from __future__ import annotations

from dataclasses import replace
import functools

from gait_core.motion.velocity_limits import UNLIMITED, VelocityLimits, VelocityRange
from gait_stage_walk.staged.parameters import StagedWalkParams

SPEED_PER_DEGREE = 0.0034
"""Measured speed of GuRoo per degree of step size at ``MEASURED_TIME_SCALE`` [m/s/deg]."""
MEASURED_TIME_SCALE = 0.9
MIN_STEP_DEG, MAX_STEP_DEG = 5.0, 25.0
"""Range of step sizes that a command selects [deg]; the robot keeps its balance in all of it."""
STANDING_SPEED = 1e-3
"""Forward speed [m/s] and yaw rate [rad/s] below which a command means to stand."""


def walking_speed(step_size_deg: float, time_scale: float) -> float:
    """Return the forward speed [m/s] of a walk with a step size [deg] and time scale [s]."""
    return SPEED_PER_DEGREE * step_size_deg * MEASURED_TIME_SCALE / time_scale


def velocity_limits(params: StagedWalkParams) -> VelocityLimits:
    """Return the limits within which the walk follows a commanded velocity."""
    if not params.follow_velocity:
        return 'it keeps its own pace, gait.follow_velocity is off'
    max_speed = walking_speed(MAX_STEP_DEG, params.time_scale)
    return (
        VelocityRange(
            0.0, max_speed, f'it walks forward only, by steps of at most {MAX_STEP_DEG:g} degrees'
        ),
        VelocityRange.symmetric(0.0, 'it does not step aside'),
        UNLIMITED,
    )


def apply_velocity(
    params: StagedWalkParams, velocity: tuple[float, float, float]
) -> StagedWalkParams:
    """
    Return parameters with the step size for a commanded velocity.

    The step size is limited to ``MIN_STEP_DEG`` and ``MAX_STEP_DEG``; a turn on the spot uses the
    smallest. The robot cannot walk backward or sideways: it stands on such a command alone.
    Without ``follow_velocity`` the parameters are returned unchanged.

    Parameters
    ----------
    params : StagedWalkParams
    velocity : (vx, vy, wz) [m/s, m/s, rad/s]

    """
    return _follow_velocity(params, velocity) if params.follow_velocity else params


@functools.lru_cache(maxsize=8)
def _follow_velocity(
    params: StagedWalkParams, velocity: tuple[float, float, float]
) -> StagedWalkParams:
    """Return the parameters for a velocity that is followed; cached."""
    forward, _, turning = velocity
    if forward < STANDING_SPEED and abs(turning) < STANDING_SPEED:
        return replace(params, stop=True)
    size = forward / walking_speed(1.0, params.time_scale)
    return replace(params, step_size_deg=min(max(size, MIN_STEP_DEG), MAX_STEP_DEG))
