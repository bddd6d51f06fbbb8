# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Compiled readings of MuJoCo's state: joints, root, IMU and contacts."""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import njit
import numpy as np

from gait_core.arrays import FloatArray, IntArray

IMU = np.dtype(
    [
        ('lever', 'f8', (3,)),  # position of the sensor on its body [m]
        ('mount', 'f8', (4,)),  # quaternion x, y, z, w of the sensor on its body
        ('gravity', 'f8', (3,)),  # [m/s^2]
        ('period', 'f8'),  # time between two readings [s]
        ('has_reading', 'b1'),  # whether there was a reading before
        ('velocity_before', 'f8', (3,)),  # velocity of the sensor at the last reading [m/s]
    ]
)
"""Fields of an inertial sensor on a moving body."""


class ContactViews(NamedTuple):
    """
    Views of MuJoCo's c contacts.

    Attributes
    ----------
    geom : (c, 2) int array
        The two geometries of each contact.
    row : (c,) int array
        First constraint row of each contact, along its normal; -1 for a contact without rows.
    dim : (c,) int array
        Number of constraint rows.
    dist : (c,) array [m]
        Distance of the surfaces, negative for a penetration.
    pos : (c, 3) array [m]
    frame : (c, 9) array
        Axes by rows, the normal first.

    """

    geom: IntArray
    row: IntArray
    dim: IntArray
    dist: FloatArray
    pos: FloatArray
    frame: FloatArray


def contact_views(data: Any) -> ContactViews:
    """Return views of the contacts of the present step; MuJoCo moves them in the next one."""
    found = data.contact
    return ContactViews(
        found.geom, found.efc_address, found.dim, found.dist, found.pos, found.frame
    )


@njit(cache=True)
def has_warning(numbers, kinds):  # type: ignore[no-untyped-def]
    """Return whether one of the warnings ``kinds``, indices into their counts, has occurred."""
    for kind in kinds:
        if numbers[kind] > 0:
            return True
    return False


@njit(cache=True)
def read_robot(state, joints, servos, torques, is_free, row):  # type: ignore[no-untyped-def]
    """
    Write joints, root, efforts and work into a row of ``StateLayout``.

    Parameters
    ----------
    state : two arrays
        MuJoCo's ``qpos`` and ``qvel``.
    joints : (2, n) int array
        Indices of the joints in ``qpos`` and in ``qvel``.
    servos, torques : SERVO and TORQUE arrays
    is_free : bool
        Whether the root moves freely; if not, its 13 numbers are not written.
    row : array

    """
    (qpos, qvel), n = state, joints.shape[1]
    for i in range(n):
        row[i], row[n + i] = qpos[joints[0, i]], qvel[joints[1, i]]
    root, efforts = 2 * n, 2 * n + 13
    if is_free:
        _read_root(qpos, qvel, row[root:efforts])
    work = efforts + n
    _read_actuators(servos, torques, row[efforts:work], row[work : work + 2 * n])


@njit(cache=True)
def _read_root(qpos, qvel, root):  # type: ignore[no-untyped-def]
    """Write pose and twist, (13,), of a root that moves freely, both in ``odom``."""
    root[:3], root[3:6], root[6] = qpos[:3], qpos[4:7], qpos[3]
    root[7:10] = qvel[:3]
    # MuJoCo has the angular velocity of a free body in the body's axes, the suite in odom.
    _rotate(qvel[3:6], root[3:7], 1.0, root[10:])


@njit(cache=True)
def _read_actuators(servos, torques, efforts, work):  # type: ignore[no-untyped-def]
    """
    Write the efforts of joints in the last step, (n,) [N m or N], and their work, (2 n,) [J].

    A joint with a torque actuator may have a row too, its dry friction. The torque is written
    last, so that efforts are those of the actuator.
    """
    n = len(efforts)
    efforts[:], work[:] = 0.0, 0.0
    for k in range(len(servos)):
        servo = servos[k]
        efforts[servo.joint] = servo.force
        work[servo.joint], work[n + servo.joint] = servo.work, servo.positive_work
    for k in range(len(torques)):
        torque = torques[k]
        efforts[torque.joint] = torque.force
        work[torque.joint], work[n + torque.joint] = torque.work, torque.positive_work


@njit(cache=True)
def read_imu(sensor, body, result):  # type: ignore[no-untyped-def]
    """
    Write the reading of an inertial sensor: attitude, rate, specific force, (10,).

    The specific force is the change of velocity since the last reading over the period, minus
    gravity; at the first reading the velocity counts as unchanged.

    Parameters
    ----------
    sensor : (1,) IMU array
    body : (13,) array
        Pose and twist of the body that carries the sensor.
    result : (10,) array

    """
    imu, quaternion, twist = sensor[0], body[3:7], body[7:]
    x, y, z, w = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    a, b, c, d = imu.mount[0], imu.mount[1], imu.mount[2], imu.mount[3]
    # `arm` first holds the lever in odom, and at the end the angular velocity.
    attitude, arm, specific_force = result[:4], result[4:7], result[7:]
    # Attitude of the sensor: product of the body's quaternion and the mount's.
    attitude[0] = w * a + x * d + y * c - z * b
    attitude[1] = w * b + y * d + z * a - x * c
    attitude[2] = w * c + z * d + x * b - y * a
    attitude[3] = w * d - x * a - y * b - z * c
    _rotate(imu.lever, quaternion, 1.0, arm)
    # Velocity of the sensor: v + omega x lever.
    u, v, w = twist[3], twist[4], twist[5]
    x = twist[0] + (v * arm[2] - w * arm[1])
    y = twist[1] + (w * arm[0] - u * arm[2])
    z = twist[2] + (u * arm[1] - v * arm[0])
    before = imu.velocity_before
    if not imu.has_reading:
        before[0], before[1], before[2] = x, y, z
        imu.has_reading = True
    # Specific force in odom, f = dv/dt - g; then it and omega in the sensor's axes.
    specific_force[0] = (x - before[0]) / imu.period - imu.gravity[0]
    specific_force[1] = (y - before[1]) / imu.period - imu.gravity[1]
    specific_force[2] = (z - before[2]) / imu.period - imu.gravity[2]
    before[0], before[1], before[2] = x, y, z
    _rotate(specific_force, attitude, -1.0, specific_force)
    _rotate(twist[3:], attitude, -1.0, arm)


@njit(cache=True)
def _rotate(vector, quaternion, sign, result):  # type: ignore[no-untyped-def]
    """Write a vector rotated by a quaternion x, y, z, w (sign 1) or back (-1)."""
    # v + 2 q x (q x v + w v), with q the vector part, negated for the inverse rotation.
    a, b, c = vector[0], vector[1], vector[2]
    x, y, z, w = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    x, y, z = sign * x, sign * y, sign * z
    ta, tb, tc = w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a
    result[0] = a + 2.0 * (y * tc - z * tb)
    result[1] = b + 2.0 * (z * ta - x * tc)
    result[2] = c + 2.0 * (x * tb - y * ta)


@njit(cache=True)
def read_contacts(contacts, force, ground, sole_of, soles, found):  # type: ignore[no-untyped-def]
    """
    Write the contacts with the ground; return their number.

    Parameters
    ----------
    contacts : Contacts
    force : (nefc,) array [N]
        Force of each constraint row.
    ground : int
        Geometry of the ground. It is the first of all, hence the first of each pair.
    sole_of : (g,) int array
        Sole of each geometry.
    soles, found : (c,) int and (c, 7) arrays
        Sole; point, force and depth. The first rows are written.

    """
    count = 0
    for i in range(len(contacts.dist)):
        row, gap, frame = contacts.row[i], contacts.dist[i], contacts.frame[i]
        # If MuJoCo has no memory for the rows, it makes none: the index is beyond the array.
        if contacts.geom[i, 0] != ground or not 0 <= row < len(force):
            continue
        soles[count] = sole_of[contacts.geom[i, 1]]
        contact = found[count]
        for axis in range(3):
            # MuJoCo's points lie midway between the two surfaces; the suite's lie on the ground.
            contact[axis] = contacts.pos[i, axis] - 0.5 * gap * frame[axis]
            contact[3 + axis] = 0.0
            for k in range(contacts.dim[i]):
                contact[3 + axis] += force[row + k] * frame[3 * k + axis]
        contact[6] = -gap
        count += 1
    return count
