"""
Constraint rows of servos and sliding contacts within a physics step of MuJoCo, compiled.

MuJoCo makes a step in two halves. ``mj_step1`` finds positions, velocities and the rows of all
constraints: equations, dry friction, limits, contacts. Each row asks for an acceleration, its
reference. The kernels here write references; ``mj_step2`` solves for the forces that come
nearest, within the bounds of each row, and moves the robot on; then the work of the step is
summed. Quantities of prismatic joints are in m and N in place of rad and N m.
"""

from __future__ import annotations

import math

from numba import njit
import numpy as np

from sim_bridge.engines.shared.force_laws import servo_power, update_screw_lock

SERVO = np.dtype(
    [
        ('joint', 'i8'),  # index among the robot's joints
        ('row', 'i8'),  # of its constraint among MuJoCo's
        ('qpos_index', 'i8'),  # of its position in qpos
        ('dof_index', 'i8'),  # of its velocity in qvel
        ('rate_factor', 'f8'),  # 1, or 0 where the commanded rate does not count
        ('position_target', 'f8'),  # commanded position [rad]
        ('velocity_target', 'f8'),  # commanded velocity [rad/s]
        ('hardness', 'f8'),  # of its constraint [1/s]
        ('gain', 'f8'),  # of the position error [1/s]
        ('velocity_limit', 'f8'),  # of the velocity [rad/s]
        ('strength', 'f8'),  # of a lead screw's motor [N]; infinite of other servos
        ('holding_force', 'f8'),  # what a lead screw bears when it is stuck [N]
        ('drive_ratio', 'f8'),  # losses, as of force_laws.servo_power
        ('backdrive_ratio', 'f8'),
        ('velocity', 'f8'),  # of the joint at the start of the step [rad/s]
        ('force', 'f8'),  # of the last step [N m]
        ('is_locked', 'b1'),  # whether a lead screw is
        ('lock_position', 'f8'),  # the position where it is [m]
        ('work', 'f8'),  # work of the motor since the start [J]
        ('positive_work', 'f8'),  # work of the motor where it is not negative [J]
    ]
)
"""An actuator that asks for a velocity."""


@njit(cache=True)
def set_servo_targets(servos, positions, velocities):  # type: ignore[no-untyped-def]
    """Put targets into force: positions [rad] and velocities [rad/s] of all joints, (m,) each."""
    for k in range(len(servos)):
        servo = servos[k]
        servo.position_target = positions[servo.joint]
        servo.velocity_target = velocities[servo.joint] * servo.rate_factor


@njit(cache=True)
def write_references(servos, state, references, speeds, first, slip):  # type: ignore[no-untyped-def]
    """
    Write what servos and contacts that slide ask for in a step, in one call.

    Parameters
    ----------
    servos, references
        As of ``drive_servos``.
    state : two arrays
        MuJoCo's ``qpos`` and ``qvel``.
    speeds, first, slip
        As of ``correct_sliding``; where slip is 0 contacts stay as they are.

    """
    qpos, qvel = state
    write_servo_references(servos, qpos, qvel, references)
    if slip > 0.0:
        correct_sliding_contacts(first, slip, speeds, references)


@njit(cache=True)
def _commanded_velocity(servo, position):  # type: ignore[no-untyped-def]
    """Return the velocity that a servo asks for at a position [rad/s]."""
    wanted = (servo.position_target - position) * servo.gain + servo.velocity_target
    return max(min(wanted, servo.velocity_limit), -servo.velocity_limit)


@njit(cache=True)
def _has_rows(servos, rows):  # type: ignore[no-untyped-def]
    """Return whether servos have rows; MuJoCo leaves out all that it has no memory for."""
    return len(servos) == 0 or servos[len(servos) - 1].row < len(rows)


@njit(cache=True)
def update_screw_locks(servos, qpos, qvel, bounds):  # type: ignore[no-untyped-def]
    """
    Let lead screws stick or come loose before a step, and bound what their constraints bear.

    Parameters
    ----------
    servos : (s,) SERVO array
        Those of infinite strength are no screws.
    qpos, qvel : arrays
        Of MuJoCo's state.
    bounds : (nefc,) array [N]
        ``efc_frictionloss``; written.

    """
    if not _has_rows(servos, bounds):
        return
    for k in range(len(servos)):
        screw = servos[k]
        if screw.strength == np.inf:
            continue
        position, before = qpos[screw.qpos_index], screw.is_locked
        screw.is_locked, bounds[screw.row] = update_screw_lock(
            screw.force,
            qvel[screw.dof_index],
            _commanded_velocity(screw, position),
            screw.strength,
            screw.holding_force,
            before,
        )
        if screw.is_locked and not before:
            screw.lock_position = position


@njit(cache=True)
def write_servo_references(servos, qpos, qvel, references):  # type: ignore[no-untyped-def]
    """
    Let the constraint of each servo ask for a velocity, ``rate + gain * error`` within its limit.

    The constraint is MuJoCo's dry friction of the joint, whose greatest force is the effort limit
    of the servo. It asks for the acceleration ``-hardness * velocity``, which ends the motion.
    With ``hardness * (wanted - velocity)`` it ends the difference from the wanted velocity. A lead
    screw that is stuck wants to be where it stuck.

    Parameters
    ----------
    servos : (s,) SERVO array
    qpos, qvel : arrays
        Of MuJoCo's state.
    references : (nefc,) array [rad/s^2]
        ``efc_aref``; written.

    """
    if not _has_rows(servos, references):
        return
    for k in range(len(servos)):
        servo = servos[k]
        position, velocity = qpos[servo.qpos_index], qvel[servo.dof_index]
        if servo.is_locked:
            wanted = (servo.lock_position - position) * servo.gain
        else:
            wanted = _commanded_velocity(servo, position)
        references[servo.row] = (wanted - velocity) * servo.hardness
        servo.velocity = velocity


@njit(cache=True)
def correct_sliding_contacts(first, slip, speeds, references):  # type: ignore[no-untyped-def]
    """
    Restore Coulomb's law in contacts that slide.

    MuJoCo makes friction convex: of a contact that slides at speed ``v`` it asks not that it stay
    closed but that it open at ``friction * v``, and a sliding box hops. Lowering the reference
    along the normal by just that speed restores the law (the change of variables of de Saxce and
    Feng, 1998, Mathematical and Computer Modelling 28:225-245). The speed is that at the start of
    the step, so a contact that begins to stick sinks in for one step by ``friction * v * step``.

    Parameters
    ----------
    first : int
        First row of a contact; each has three, along the normal and two tangents.
    slip : float [1/s]
        Damping of contacts times their friction.
    speeds, references : (nefc,) arrays [m/s, m/s^2]
        ``efc_vel`` and ``efc_aref``; the second is written.

    """
    for row in range(first, len(references), 3):
        references[row] -= slip * math.hypot(speeds[row + 1], speeds[row + 2])


@njit(cache=True)
def add_servo_work(servos, step, forces, accelerations):  # type: ignore[no-untyped-def]
    """
    Add the work of a step to that of servos.

    A force acts at the mean of the velocities before and after the step, ``v + a * step / 2``:
    that is what it adds to the kinetic energy.

    Parameters
    ----------
    servos : (s,) SERVO array
    step : float [s]
    forces : (nefc,) array [N m]
        ``efc_force``.
    accelerations : array [rad/s^2]
        ``qacc``.

    """
    if not _has_rows(servos, forces):
        return
    for k in range(len(servos)):
        servo = servos[k]
        force = forces[servo.row]
        velocity = servo.velocity + 0.5 * step * accelerations[servo.dof_index]
        work = step * servo_power(force, velocity, servo.drive_ratio, servo.backdrive_ratio)
        servo.force = force
        servo.work += work
        servo.positive_work += max(work, 0.0)
