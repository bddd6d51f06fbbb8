"""
The laws of torques and force elements, compiled: one definition for every engine.

Each kernel takes one row of constants per joint or element, in the columns ``STIFFNESS`` and so
on, with a code of its law. Targets are rows of aim (position, or set length), rate and feed
(effort). ``elapsed`` [s] is the time since their sub-sample began: an aim that moves is then at
``aim + rate * elapsed``. The kernels have no state and allocate nothing, so that a callback of a
physics library can call them too.
"""

from __future__ import annotations

import math

import numba

from gait_core.arrays import FloatArray, IntArray
from gait_core.kinematics.slider_crank import carriage_position

STIFFNESS, DAMPING, RISE, EFFORT, VELOCITY, CRANK, ROD = range(7)
"""Columns of constants; the strength of an exponential spring stands in ``STIFFNESS``."""
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
# A force of strength * e^300 diverges in one step, but is finite.
_MAX_EXPONENT = 300.0
# Velocity [m/s] of a rod that gives way, and the share of its strength that a motor has reached.
_YIELD_SPEED, _FULL_LOAD_SHARE = 1e-9, 0.99


@numba.njit(cache=True)
def exponential_spring_force(stretch: float, strength: float, rise: float) -> float:
    """
    Return ``sgn(x) * strength * (exp(rise * |x|) - 1)``, finite for any finite stretch x.

    References
    ----------
    McKenna (1990), Eq. 8.

    """
    # alpha (e^(beta |x|) - 1); expm1 keeps small stretches exact.
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

    - ``PD``: ``stiffness * (aim - position) + damping * (rate - velocity)``; the aim stands still.
    - ``FED``: the feed.
    - ``EXPONENTIAL``: the exponential spring toward a rest angle that moves from the aim at the
      rate, minus ``damping * velocity``: the damper sees the joint's own rate.
    - ``SLIDER_CRANK``: the torque of a linear servo that pushes the carriage of a slider-crank
      from its place to that of the aim, which moves at the rate; likewise damped.
    """
    if law == SLIDER_CRANK:
        # Bishop (2008), section 4.8: F = -k_s (p - s) - k_d p' on the carriage; its torque on the
        # knee is F dp/dtheta (appendix C, by virtual work).
        crank, rod = constants[CRANK], constants[ROD]
        place, slope = carriage_position(position, crank, rod)
        wanted, _ = carriage_position(position_target + velocity_target * elapsed, crank, rod)
        push = constants[STIFFNESS] * (wanted - place) - constants[DAMPING] * slope * velocity
        return float(push * slope)
    if law == EXPONENTIAL:
        # McKenna (1990), Eq. 8: x from a rest angle that moves evenly (section 4.5), and a damper.
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
    Write the torques of joints in a state, within their limits.

    A torque saturates at the effort limit; beyond the velocity limit it only brakes.

    Parameters
    ----------
    laws : (m,) int array
    constants : (m, COLUMNS) array
    targets : (3, m) array
        Rows of aim, rate and feed.
    elapsed : float [s]
    positions, velocities : (m,) arrays
    torques : (m,) array
        Written.

    """
    for i in range(len(laws)):
        row, velocity = constants[i], velocities[i]
        torque = joint_torque(
            laws[i], row, targets[0, i], targets[1, i], targets[2, i], elapsed, positions[i],
            velocity,
        )  # fmt: skip
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

    - ``SPRING``: ``stiffness * (length - rest) + damping * rate + feed``. A linear servo is the
      same toward its set length, and likewise damps the actual rate, not that relative to the
      set length's (Bishop 2008, section 4.8).
    - ``CABLE``: the same, but never below zero (Korbel 2013, Eq. 6, with a clamp).
    - ``EXPONENTIAL_SPRING``: the exponential spring in place of the linear one.

    Every law saturates at its ``EFFORT``.
    """
    stretch = length - rest_length
    if law == EXPONENTIAL_SPRING:
        force = exponential_spring_force(stretch, constants[STIFFNESS], constants[RISE])
    else:
        force = constants[STIFFNESS] * stretch
    # Korbel (2013), Eq. 6: k_s (L - x_o) + c L', and the signal of the actuator.
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
    Write the tensions of force elements of some lengths [m] that change at some rates [m/s].

    Parameters
    ----------
    laws : (e,) int array
    constants : (e, COLUMNS) array
    targets : (3, e) array
        Rows of rest or set length [m], its rate [m/s] and a tension that adds [N].
    elapsed : float [s]
    lengths, rates, tensions : (e,) arrays

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
    Return the power [W] that the motor of a servo gives to its joint, or takes from it.

    Parameters
    ----------
    force, velocity : float
        Of the joint along its motion [N m or N, rad/s or m/s].
    raising : float [-]
        Power of the motor by power of the joint where the joint pushes against its load: 1, or
        with a lead screw the reciprocal of its efficiency.
    lowering : float [-]
        Power of the motor by power of the load where the load pushes the joint: -1, or with a
        screw that locks itself what turns it against the friction that the load leaves over.

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
    Return whether a screw is stuck in the coming step, and the greatest force that it then bears.

    Its motor pushes no harder than its strength. A load that is stronger cannot turn it back: as
    soon as the rod gives way it sticks where it is, until the motor is strong enough or wants to
    go with the load.

    Parameters
    ----------
    force : float [N]
        Of the last step, on the rod.
    velocity, wanted : float [m/s]
        Of the rod, and what is asked for.
    strength, hold : float [N]
        What the motor pushes against, and what the screw holds.
    stuck : bool
        In the last step.

    """
    sense = 0.0 if commanded_velocity == 0.0 else math.copysign(1.0, commanded_velocity)
    pushing = sense * force > 0.0
    if is_locked:
        is_locked = sense * force > strength
    else:
        is_locked = pushing and sense * velocity < -_YIELD_SPEED
    if is_locked or (not pushing and abs(force) > _FULL_LOAD_SHARE * strength):
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
    Add the work of some steps to the signed and the positive work of joints, (2, n) [J].

    Parameters
    ----------
    states : (s, 2, n) array [rad/s or m/s, N m or N]
        Velocities at the end of each step, and efforts during it.
    before : (n,) array [rad/s or m/s]
        Velocities at the start of the first; becomes those at the end of the last.
    step : float [s]
    power_ratios : (2, n) array [-]
        ``raising`` and ``lowering`` of ``servo_power``.
    work : (2, n) array [J]
        Written.

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
