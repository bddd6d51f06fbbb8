"""Pace: a commanded velocity becomes a size of step, or standing."""

from __future__ import annotations

from dataclasses import replace
import functools

from gait_core.motion.velocity_limits import UNLIMITED, VelocityLimits, VelocityRange
from gait_stage_walk.staged.parameters import StagedWalkParams

SPEED_PER_DEGREE = 0.0034
"""Speed [m/s] of GuRoo for each degree of step size at a time scale of 0.9 s, as measured."""
TIME_SCALE = 0.9
LEAST_STEP, LARGEST_STEP = 5.0, 25.0
"""Steps [deg] that a command can ask for; the robot balances on all of them."""
STANDING = 1e-3
"""Forward speed [m/s] and yaw rate [rad/s] below which the command asks it to stand."""


def speed_of(step_size_deg: float, time_scale: float) -> float:
    """Return the forward speed [m/s] of a walk with a step size [deg] and time scale [s]."""
    return SPEED_PER_DEGREE * step_size_deg * TIME_SCALE / time_scale


def followed(params: StagedWalkParams) -> VelocityLimits:
    """Return what of a commanded velocity the walk follows."""
    if not params.follow_velocity:
        return 'it keeps its own pace, gait.follow_velocity is off'
    fastest = speed_of(LARGEST_STEP, params.time_scale)
    return (
        VelocityRange(
            0.0, fastest, f'its largest step, {LARGEST_STEP:g} degrees, and none backward'
        ),
        VelocityRange.symmetric(0.0, 'it does not step aside'),
        UNLIMITED,
    )


def paced(params: StagedWalkParams, velocity: tuple[float, float, float]) -> StagedWalkParams:
    """
    Return parameters with the step size that a commanded velocity asks for.

    Speeds beyond the largest step get that one. To turn on the spot, and for slower walks, the
    robot takes its least step. It cannot walk backwards or sideways: such a command alone lets it
    stand. Without ``follow_velocity`` the parameters are returned as they are.

    Parameters
    ----------
    params : StagedWalkParams
    velocity : (vx, vy, wz) [m/s, m/s, rad/s]

    """
    return _following(params, velocity) if params.follow_velocity else params


@functools.lru_cache(maxsize=8)
def _following(params: StagedWalkParams, velocity: tuple[float, float, float]) -> StagedWalkParams:
    """Return parameters as ``paced`` does where the velocity is followed."""
    forward, _, turning = velocity
    if forward < STANDING and abs(turning) < STANDING:
        return replace(params, stop=True)
    size = forward / speed_of(1.0, params.time_scale)
    return replace(params, step_size_deg=min(max(size, LEAST_STEP), LARGEST_STEP))
