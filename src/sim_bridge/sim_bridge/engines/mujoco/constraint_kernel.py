# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Compiled references of MuJoCo's constraint rows: servos and sliding contacts.

A physics step has two halves. ``mj_step1`` computes kinematics and makes the rows of all
constraints, in this order: equality, dry friction, joint limits, contacts. Each row has a
reference acceleration, ``efc_aref``. The kernels of this module write references between the
halves. ``mj_step2`` finds the forces within the bounds of each row whose accelerations come
closest to the references, and integrates. Then the work of the step is added up. Quantities of
prismatic joints are in m and N in place of rad and N m.
"""

from __future__ import annotations

import math

from numba import njit
import numpy as np

from sim_bridge.engines.shared.force_laws import servo_power, update_screw_lock

SERVO = np.dtype(
    [
        ('joint', 'i8'),  # index among the robot's joints
        ('row', 'i8'),  # index of its constraint row
        ('qpos_index', 'i8'),  # index of its position in qpos
        ('dof_index', 'i8'),  # index of its velocity in qvel
        ('rate_factor', 'f8'),  # factor of the velocity target: 1, or 0 for a stiff hold
        ('position_target', 'f8'),  # [rad]
        ('velocity_target', 'f8'),  # [rad/s]
        ('hardness', 'f8'),  # reference over velocity error [1/s]
        ('gain', 'f8'),  # commanded velocity over position error [1/s]
        ('velocity_limit', 'f8'),  # [rad/s]
        ('strength', 'f8'),  # load that a lead screw's motor raises [N]; infinite for others
        ('holding_force', 'f8'),  # load that a locked lead screw holds [N]
        ('drive_ratio', 'f8'),  # as of force_laws.servo_power
        ('backdrive_ratio', 'f8'),
        ('velocity', 'f8'),  # of the joint, at the start of the step [rad/s]
        ('force', 'f8'),  # of the last step [N m]
        ('is_locked', 'b1'),  # whether a lead screw is stuck
        ('lock_position', 'f8'),  # position at which it is stuck [m]
        ('work', 'f8'),  # of the motor, since tick 0 [J]
        ('positive_work', 'f8'),  # sum of the steps with positive work [J]
    ]
)
"""Fields of an actuator that commands a velocity of its joint."""


@njit(cache=True)
def set_servo_targets(servos, positions, velocities):  # type: ignore[no-untyped-def]
    """Set the targets of servos from positions [rad] and velocities [rad/s] by target, (m,)."""
    for k in range(len(servos)):
        servo = servos[k]
        servo.position_target = positions[servo.joint]
        servo.velocity_target = velocities[servo.joint] * servo.rate_factor


@njit(cache=True)
def write_references(servos, state, references, speeds, first, slip):  # type: ignore[no-untyped-def]
    """
    Write the references of servos and sliding contacts of a step, in one call.

    Parameters
    ----------
    servos, references
        As of ``write_servo_references``.
    state : two arrays
        MuJoCo's ``qpos`` and ``qvel``.
    speeds, first, slip
        As of ``correct_sliding_contacts``; a slip of 0 leaves contacts as they are.

    """
    qpos, qvel = state
    write_servo_references(servos, qpos, qvel, references)
    if slip > 0.0:
        correct_sliding_contacts(first, slip, speeds, references)


@njit(cache=True)
def _commanded_velocity(servo, position):  # type: ignore[no-untyped-def]
    """Return the velocity [rad/s] that a servo commands at a position [rad]."""
    commanded = (servo.position_target - position) * servo.gain + servo.velocity_target
    return max(min(commanded, servo.velocity_limit), -servo.velocity_limit)


@njit(cache=True)
def _has_rows(servos, rows):  # type: ignore[no-untyped-def]
    """Return whether servos have rows: MuJoCo makes none if its memory is too small."""
    return len(servos) == 0 or servos[len(servos) - 1].row < len(rows)


@njit(cache=True)
def update_screw_locks(servos, qpos, qvel, bounds):  # type: ignore[no-untyped-def]
    """
    Lock or release lead screws before a step, and write the force bounds of their rows.

    Parameters
    ----------
    servos : (s,) SERVO array
        Servos of infinite strength are no lead screws and are skipped.
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
    Write the reference of each servo: it reaches its commanded velocity within one step.

    A servo is MuJoCo's dry friction row of the joint, with the effort limit as the bound of its
    force. MuJoCo's own reference, ``-hardness * velocity``, stops the joint. Written here is
    ``hardness * (commanded - velocity)``, which ends the difference from the commanded velocity
    ``velocity_target + gain * (position_target - position)``, clamped to the velocity limit. A
    locked lead screw is held at the position at which it locked.

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
            target_velocity = (servo.lock_position - position) * servo.gain
        else:
            target_velocity = _commanded_velocity(servo, position)
        references[servo.row] = (target_velocity - velocity) * servo.hardness
        servo.velocity = velocity


@njit(cache=True)
def correct_sliding_contacts(first, slip, speeds, references):  # type: ignore[no-untyped-def]
    """
    Restore Coulomb's law in sliding contacts.

    MuJoCo's friction is convex: a contact that slides at speed ``v`` has to open at
    ``friction * v``, so that a sliding box hops. Lowering the reference along the normal by the
    same speed restores Coulomb's law (change of variables of de Saxce and Feng, 1998,
    Mathematical and Computer Modelling 28:225-245). The speed is the one at the start of the
    step: a contact that begins to stick sinks by ``friction * v * step`` in one step.

    Parameters
    ----------
    first : int
        First row of all contacts; each contact has three, along the normal and two tangents.
    slip : float [1/s]
        Damping of a contact times its friction coefficient: reference over sliding speed.
    speeds, references : (nefc,) arrays [m/s, m/s^2]
        ``efc_vel`` and ``efc_aref``; the second is written.

    """
    # a_n,ref -= (b mu) |v_t|, with b the damping of the contact and v_t at the start of the step.
    for row in range(first, len(references), 3):
        references[row] -= slip * math.hypot(speeds[row + 1], speeds[row + 2])


@njit(cache=True)
def add_servo_work(servos, step, forces, accelerations):  # type: ignore[no-untyped-def]
    """
    Add the work of a step to that of servos.

    Over a step a constant force does the work F h (v + a h / 2), with the mean of the velocities
    before and after it: exactly what it adds to the kinetic energy.

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
