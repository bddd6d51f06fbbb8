# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Compiled laws of torques and force elements, the same for every engine.

Each joint or element has a code of its law and a row of constants, with the columns ``STIFFNESS``
and following. Targets are rows of position (or rest length), velocity (or its rate) and effort.
``elapsed`` [s] is the time since their sub-sample began: a moving target is then at
``position + velocity * elapsed``. The kernels keep no state and allocate nothing, so that every
engine can call them in every physics step.
"""

from __future__ import annotations

import math

import numba

from gait_core.arrays import FloatArray, IntArray
from gait_core.kinematics.slider_crank import carriage_position

STIFFNESS, DAMPING, RISE, EFFORT, VELOCITY, CRANK, ROD = range(7)
"""Columns of constants; ``STIFFNESS`` is the strength of an exponential spring."""
COLUMN_COUNT = 7

PD, DIRECT_EFFORT, EXPONENTIAL, SLIDER_CRANK = range(4)
"""Codes of joint laws."""
JOINT_LAWS = {
    'pd': PD,
    'effort': DIRECT_EFFORT,
    'exponential': EXPONENTIAL,
    'slider_crank': SLIDER_CRANK,
}

SPRING, CABLE, EXPONENTIAL_SPRING = range(3)
"""Codes of element laws."""
ELEMENT_LAWS = {
    'spring': SPRING,
    'cable': CABLE,
    'linear_servo': SPRING,
    'exponential': EXPONENTIAL_SPRING,
}
# Cap of the exponent: a force of strength * e^300 diverges in one step, but is finite.
_MAX_EXPONENT = 300.0
# Speed [m/s] from which a rod yields to its load; share of its strength at which a motor counts as
# fully loaded.
_YIELD_SPEED, _FULL_LOAD_SHARE = 1e-9, 0.99


@numba.njit(cache=True)
def exponential_spring_force(stretch: float, strength: float, rise: float) -> float:
    """
    Return ``sgn(x) * strength * (exp(rise * |x|) - 1)``, finite for any finite stretch x.

    References
    ----------
    McKenna (1990), Eq. 8.

    """
    # McKenna (1990), Eq. 8: alpha (e^(beta |x|) - 1), alpha the strength and beta the rise. expm1
    # keeps small stretches exact.
    size = strength * math.expm1(min(rise * abs(stretch), _MAX_EXPONENT))
    return math.copysign(size, stretch)


@numba.njit(cache=True)
def joint_torque(
    law: int,
    constants: FloatArray,
    position_target: float,
    velocity_target: float,
    effort_target: float,
    elapsed: float,
    position: float,
    velocity: float,
) -> float:
    """
    Return the torque [N m or N] of one joint in a state, without its limits.

    - ``PD``: ``stiffness * (position_target - position) + damping * (velocity_target -
    velocity)``,
      with a constant position target within a sub-sample.
    - ``DIRECT_EFFORT``: the effort target.
    - ``EXPONENTIAL``: the exponential spring towards a rest angle, which moves from the position
      target at the velocity target, minus ``damping * velocity``.
    - ``SLIDER_CRANK``: the torque of a linear servo that pushes the carriage of a slider-crank to
      its position at the target angle, which moves likewise, with a damper on the carriage.
    """
    if law == SLIDER_CRANK:
        # Bishop (2008), section 4.8: F = -k_s (p - s) - k_d p' on the carriage at p, with the set
        # position s and p' = dp/dtheta theta'. By virtual work (appendix C) its torque on the knee
        # is F dp/dtheta.
        crank, rod = constants[CRANK], constants[ROD]
        carriage, slope = carriage_position(position, crank, rod)
        set_position, _ = carriage_position(
            position_target + velocity_target * elapsed, crank, rod
        )
        push = (
            constants[STIFFNESS] * (set_position - carriage)
            - constants[DAMPING] * slope * velocity
        )
        return float(push * slope)
    if law == EXPONENTIAL:
        # McKenna (1990), Eq. 8, with x from a rest angle that moves at a constant rate (section
        # 4.5). The damper acts on the velocity of the joint, not on its difference from that rate.
        stretch = position - (position_target + velocity_target * elapsed)
        force = exponential_spring_force(stretch, constants[STIFFNESS], constants[RISE])
        return float(-force - constants[DAMPING] * velocity)
    if law == PD:
        pull = constants[STIFFNESS] * (position_target - position)
        return float(pull + constants[DAMPING] * (velocity_target - velocity))
    return effort_target


@numba.njit(cache=True)
def joint_torques(
    laws: IntArray,
    constants: FloatArray,
    targets: FloatArray,
    elapsed: float,
    positions: FloatArray,
    velocities: FloatArray,
    torques: FloatArray,
) -> None:
    """
    Write the torques of m joints in a state, within their limits.

    A torque saturates at the effort limit. Beyond the velocity limit only a braking torque acts.

    Parameters
    ----------
    laws : (m,) int array
    constants : (m, COLUMN_COUNT) array
    targets : (3, m) array
        Rows of position, velocity and effort.
    elapsed : float [s]
    positions, velocities : (m,) arrays
    torques : (m,) array
        Written.

    """
    for i in range(len(laws)):
        row, velocity = constants[i], velocities[i]
        torque = joint_torque(
            laws[i],
            row,
            targets[0, i],
            targets[1, i],
            targets[2, i],
            elapsed,
            positions[i],
            velocity,
        )
        torque = min(max(torque, -row[EFFORT]), row[EFFORT])
        if abs(velocity) > row[VELOCITY] and torque * velocity > 0.0:
            torque = 0.0
        torques[i] = torque


@numba.njit(cache=True)
def element_tension(
    law: int,
    constants: FloatArray,
    rest_length: float,
    effort_target: float,
    length: float,
    rate: float,
) -> float:
    """
    Return the tension [N] of one force element; positive pulls its ends together.

    - ``SPRING``: ``stiffness * (length - rest_length) + damping * rate + effort_target``. A linear
      servo is the same with its target as rest length; its damper acts on the rate of the length,
      not on the difference from the target's rate (Bishop 2008, section 4.8).
    - ``CABLE``: the same, clamped at 0 (Korbel 2013, Eq. 6, with a clamp).
    - ``EXPONENTIAL_SPRING``: with the exponential spring in place of the linear spring.

    The tension saturates at the column ``EFFORT``.
    """
    stretch = length - rest_length
    if law == EXPONENTIAL_SPRING:
        force = exponential_spring_force(stretch, constants[STIFFNESS], constants[RISE])
    else:
        force = constants[STIFFNESS] * stretch
    # Korbel (2013), Eq. 6: T = k_s (L - x_o) + c L', plus the signal of the actuator.
    tension = force + constants[DAMPING] * rate + effort_target
    lowest = 0.0 if law == CABLE else -constants[EFFORT]
    return float(min(max(tension, lowest), constants[EFFORT]))


@numba.njit(cache=True)
def element_tensions(
    laws: IntArray,
    constants: FloatArray,
    targets: FloatArray,
    elapsed: float,
    lengths: FloatArray,
    rates: FloatArray,
    tensions: FloatArray,
) -> None:
    """
    Write the tensions of force elements at lengths and their rates.

    Parameters
    ----------
    laws : (e,) int array
    constants : (e, COLUMN_COUNT) array
    targets : (3, e) array
        Rest length [m], its rate [m/s], and a tension that is added [N].
    elapsed : float [s]
    lengths, rates : (e,) arrays [m, m/s]
    tensions : (e,) array [N]
        Written.

    """
    for i in range(len(laws)):
        rest = targets[0, i] + targets[1, i] * elapsed
        tensions[i] = element_tension(
            laws[i], constants[i], rest, targets[2, i], lengths[i], rates[i]
        )


@numba.njit(cache=True)
def servo_power(
    force: float, velocity: float, drive_ratio: float, backdrive_ratio: float
) -> float:
    """
    Return the power [W] of the motor of a servo; negative where the load drives the motor.

    Parameters
    ----------
    force, velocity : float [N m or N, rad/s or m/s]
        Of the joint, along its motion.
    drive_ratio : float [-]
        Power of the motor over that of the joint while the joint moves against its load: 1, or the
        reciprocal of the efficiency of a lead screw.
    backdrive_ratio : float [-]
        Power of the motor over that of the load while the load moves the joint: -1; for a
        self-locking lead screw positive, because the motor has to overcome its friction.

    """
    power = force * velocity
    return drive_ratio * power if power > 0.0 else -backdrive_ratio * power


@numba.njit(cache=True)
def update_screw_lock(
    force: float,
    velocity: float,
    commanded_velocity: float,
    strength: float,
    holding_force: float,
    is_locked: bool,
) -> tuple[bool, float]:
    """
    Return whether a lead screw is locked in the next step, and the bound of its force [N].

    The motor pushes with its strength at most. A stronger load cannot turn the screw back: as soon
    as the rod yields, the screw locks at its position, until the motor is strong enough for the
    load or is commanded to move with it.

    Parameters
    ----------
    force : float [N]
        Of the last step, on the rod.
    velocity, commanded_velocity : float [m/s]
        Of the rod.
    strength, holding_force : float [N]
        Load that the motor raises, and load that the screw holds.
    is_locked : bool
        In the last step.

    """
    # Positive sense * force: the motor is commanded to push against its load.
    sense = 0.0 if commanded_velocity == 0.0 else math.copysign(1.0, commanded_velocity)
    is_pushing = sense * force > 0.0
    # A locked screw stays locked while its load exceeds the motor's strength. A free one locks
    # when its load pushes it back.
    if is_locked:
        is_locked = sense * force > strength
    else:
        is_locked = is_pushing and sense * velocity < -_YIELD_SPEED
    # The bound is the holding force for a locked screw, and for one that moves with its load or
    # rests near the motor's strength. Otherwise it is the motor's strength.
    if is_locked or (not is_pushing and abs(force) > _FULL_LOAD_SHARE * strength):
        return is_locked, holding_force
    return False, strength


@numba.njit(cache=True)
def add_joint_work(
    states: FloatArray,
    velocities_before: FloatArray,
    step: float,
    power_ratios: FloatArray,
    work: FloatArray,
) -> None:
    """
    Add the work of s physics steps to the work of joints.

    Parameters
    ----------
    states : (s, 2, n) array [rad/s or m/s, N m or N]
        Velocities at the end of each step, and efforts during it.
    velocities_before : (n,) array [rad/s or m/s]
        Velocities at the start of the first step; overwritten with those at the end of the last.
    step : float [s]
    power_ratios : (2, n) array [-]
        ``drive_ratio`` and ``backdrive_ratio`` of ``servo_power``.
    work : (2, n) array [J]
        Signed work, and the sum of the steps with positive work; increased.

    """
    for s in range(len(states)):
        for i in range(len(velocities_before)):
            after = states[s, 0, i]
            power = servo_power(
                states[s, 1, i],
                0.5 * (velocities_before[i] + after),
                power_ratios[0, i],
                power_ratios[1, i],
            )
            done = step * power
            work[0, i] += done
            work[1, i] += max(done, 0.0)
            velocities_before[i] = after
