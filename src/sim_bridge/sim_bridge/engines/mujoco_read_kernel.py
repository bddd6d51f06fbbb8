"""
Reads a MuJoCo state as the suite reports it, compiled.

``state`` is MuJoCo's own structure as an array of one record, so that Numba's cache tells apart
what lies elsewhere in another version.
"""

from __future__ import annotations

import numba
from numba import carray

from gait_core.addresses import ANY, numbers_at, pointer
from sim_bridge.engines.mujoco_kernel import read_work


@numba.njit(cache=True)
def _turned(vector, quaternion, sign, result):  # type: ignore[no-untyped-def]
    """Write a vector turned by a quaternion x, y, z, w (sign 1) or back (-1)."""
    a, b, c = vector
    x, y, z, w = quaternion
    x, y, z = sign * x, sign * y, sign * z
    ta, tb, tc = w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a
    result[0] = a + 2.0 * (y * tc - z * tb)
    result[1] = b + 2.0 * (z * ta - x * tc)
    result[2] = c + 2.0 * (x * tb - y * ta)


@numba.njit(cache=True)
def read_robot(  # type: ignore[no-untyped-def]
    state, fatal, places, dofs, servos, torques, free, found
):
    """
    Write positions and velocities of joints, pose and twist of the root, efforts, work of joints.

    Returns whether MuJoCo has not warned.

    Parameters
    ----------
    state : (1,) record array
    fatal : (w,) int array
        The warnings that count.
    places, dofs : (n,) int arrays
        Of joints in the state.
    servos : (s,) int array
        The joints that have a constraint row, in the order of the rows; others get no effort.
    torques : (t,) int array
        The joints with a torque.
    free : bool
        Whether the root moves freely; if not, its 13 numbers are left as they are.
    found : (5 n + 13,) array

    """
    data, n = state[0], len(places)
    qpos, qvel = numbers_at(data.qpos, ANY), numbers_at(data.qvel, ANY)
    efforts = found[2 * n + 13 :]
    for i in range(n):
        found[i], found[n + i], efforts[i] = qpos[places[i]], qvel[dofs[i]], 0.0
    if free:
        pose, twist = found[2 * n : 2 * n + 7], found[2 * n + 7 : 2 * n + 13]
        pose[:3], pose[3:6], pose[6] = qpos[:3], qpos[4:7], qpos[3]
        twist[:3] = qvel[:3]
        # MuJoCo gives the rate of a free body in the body's own axes.
        _turned(qvel[3:6], pose[3:], 1.0, twist[3:])
    # A state that has not stepped yet has no rows.
    if data.nefc >= data.ne + len(servos):
        force = numbers_at(data.efc_force, data.nefc)
        for k in range(len(servos)):
            efforts[servos[k]] = force[data.ne + k]
    end = 3 * n + 13
    read_work(data, servos, torques, found[end : end + n], found[end + n : end + 2 * n])
    for kind in fatal:
        if data.warning[2 * kind + 1] > 0:
            return False
    return True


@numba.njit(cache=True)
def read_imu(pose, twist, lever, mount, gravity, period, before, result):  # type: ignore[no-untyped-def]
    """
    Write the reading of a sensor on a moving body: attitude, rate, specific force, (10,).

    Parameters
    ----------
    pose, twist : (7,) and (6,) arrays
        Of the body.
    lever, mount : (3,) array [m] and (4,) array
        Place and quaternion x, y, z, w of the sensor on it.
    gravity : (3,) array [m/s^2]
    period : float [s]
    before : (4,) array [m/s]
        Velocity of the sensor at the last reading, and 1; or 0 if this is the first. Replaced.
    result : (10,) array

    """
    x, y, z, w = pose[3:]
    a, b, c, d = mount
    attitude, arm = result[:4], result[4:7]
    attitude[0] = w * a + x * d + y * c - z * b
    attitude[1] = w * b + y * d + z * a - x * c
    attitude[2] = w * c + z * d + x * b - y * a
    attitude[3] = w * d - x * a - y * b - z * c
    _turned(lever, pose[3:], 1.0, arm)
    u, v, w = twist[3:]
    x = twist[0] + (v * arm[2] - w * arm[1])
    y = twist[1] + (w * arm[0] - u * arm[2])
    z = twist[2] + (u * arm[1] - v * arm[0])
    felt = result[7:]
    if before[3] == 0.0:
        before[0], before[1], before[2], before[3] = x, y, z, 1.0
    felt[0] = (x - before[0]) / period - gravity[0]
    felt[1] = (y - before[1]) / period - gravity[1]
    felt[2] = (z - before[2]) / period - gravity[2]
    before[0], before[1], before[2] = x, y, z
    _turned(felt, attitude, -1.0, felt)
    _turned(twist[3:], attitude, -1.0, arm)


@numba.njit(cache=True)
def read_contacts(state, like, ground, sole_of, rows, soles, found):  # type: ignore[no-untyped-def]
    """
    Write the contacts with the ground; return how many.

    Parameters
    ----------
    state : (1,) record array
    like : (0,) array of MuJoCo's contacts
    ground : int
        Index of the ground's geometry: of the first two kinds, so always the first of a pair.
    sole_of : (g,) int array
        Sole of each geometry.
    rows : int
        Constraint rows of a contact.
    soles, found : (c,) int and (c, 7) arrays
        Sole, and point, force and depth; written as far as there is room.

    """
    data = state[0]
    contacts = carray(pointer(data.contact), data.ncon, like.dtype)
    force = numbers_at(data.efc_force, data.nefc)
    count = 0
    for i in range(data.ncon):
        one = contacts[i]
        if one.geom[0] != ground or one.efc_address < 0:
            continue
        if count < len(soles):
            soles[count] = sole_of[one.geom[1]]
            row = found[count]
            for axis in range(3):
                # MuJoCo's points are midway between the two surfaces.
                row[axis] = one.pos[axis] - 0.5 * one.dist * one.frame[axis]
                row[3 + axis] = 0.0
                for k in range(rows):
                    row[3 + axis] += force[one.efc_address + k] * one.frame[3 * k + axis]
            row[6] = -one.dist
        count += 1
    return count
