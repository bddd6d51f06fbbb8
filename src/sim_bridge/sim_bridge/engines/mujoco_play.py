"""
Plays control periods in one native call: MuJoCo's steps and all readings.

MuJoCo's own functions are called at their addresses, as its Python interface does, but for one
thing: a fault that MuJoCo takes for one of the program would end the process, where the interface
raises an exception. Only its solver can have one, for want of memory: a model that may want more
than it gets is stepped through the interface.
"""

from __future__ import annotations

import ctypes
import math
from pathlib import Path

import numba

from gait_core.addresses import ANY, call_with_four, call_with_two, numbers_at
from sim_bridge.engines.balls import ball_states
from sim_bridge.engines.mujoco_client import mj
from sim_bridge.engines.mujoco_kernel import ELAPSED
from sim_bridge.engines.mujoco_read_kernel import read_contacts, read_imu, read_robot

DONE, WARNED, FAR_OFF, CROWDED, REFUSED = range(5)
"""
Why a tape stopped: at its end; MuJoCo warned; the state may be no physics; the contacts of the
last state, which is read but for these, found no room; or a controller's target is not finite.
"""


def address_of(function: str) -> int:
    """Return where a function of MuJoCo's lies in this process."""
    (library, *_) = sorted(Path(mj.__file__).parent.glob('libmujoco*'))
    # Loaded already: this is that very library.
    found = ctypes.cast(getattr(ctypes.CDLL(str(library)), function), ctypes.c_void_p).value
    return int(found or 0)


@numba.njit
def _see(t, at, robot, imu, contacts, far, rows, counts, soles, points):  # type: ignore[no-untyped-def]
    """Read IMU and contacts of a state whose row has the robot's; return why to stop, or 0."""
    n, row = len(robot[2]), rows[t]
    read_imu(row[2 * n : 2 * n + 7], row[2 * n + 7 : 2 * n + 13], *imu, row[len(row) - 10 :])
    counts[t] = read_contacts(*contacts, soles[at:], points[at:])
    if counts[t] > len(soles) - at:
        return CROWDED
    total = 0.0
    for i in range(2 * n + 13):
        total += row[i] * row[i]
    return DONE if total < far else FAR_OFF


@numba.njit(cache=True, nogil=True)
def play(  # type: ignore[no-untyped-def]
    calls, steps, ahead, aims, robot, imu, contacts, far, begin, rows, counts, soles, points, beats
):
    """
    Advance control periods and read the state after each; return after how many, and why.

    Parameters
    ----------
    calls : three ints
        Addresses of MuJoCo's step, of a model and of a state.
    steps : int
        Of physics in a sub-sample.
    ahead : (T, K, 2, s) array
        Aims and rates of the servos.
    aims : (2, s) view
        Where those in force lie.
    robot, imu, contacts : tuples
        First arguments of ``read_robot``; lever, mount, gravity, period and last velocity of
        ``read_imu``; first arguments of ``read_contacts``.
    far : float
        Greatest sum of squares of a state that needs no closer look.
    begin : int
        Periods that were advanced before.
    rows : (T, size) array
    counts : (T,) int array
        Of contacts.
    soles, points : (c,) int and (c, 7) arrays
        Contacts of the periods from ``begin`` on.
    beats : (1,) int array
        Count of control periods of this process, as of ``gait_core.pulse``.

    """
    at = 0
    for t in range(begin, len(rows)):
        for k in range(ahead.shape[1]):
            aims[:] = ahead[t, k]
            for _ in range(steps):
                call_with_two(calls[0], calls[1], calls[2])
        beats[0] += 1
        if not read_robot(*robot, rows[t]):
            return t, WARNED
        why = _see(t, at, robot, imu, contacts, far, rows, counts, soles, points)
        if why != DONE:
            return t + 1, why
        at += counts[t]
    return len(rows), DONE


@numba.njit
def _ask(t, asked, drives):  # type: ignore[no-untyped-def]
    """Put into force what a controller answers to its readings; return whether it can be."""
    step, readings, answer, velocities, columns, position, velocity, effort = asked
    servos, moves, aims, torqued, torques, _, first, tensions, _, table, bounds, clamped = drives
    call_with_four(
        step[0], readings.ctypes.data, velocities[t].ctypes.data, step[1], answer.ctypes.data
    )
    for i in range(len(columns)):
        if not math.isfinite(answer[i]):
            return False
        if columns[i] >= 0:
            position[t, 0, columns[i]] = answer[i]
    for j in range(position.shape[2]):
        if not bounds[0, j] <= position[t, 0, j] <= bounds[1, j]:
            clamped[j] += 1
    for k in range(len(servos)):
        j = servos[k]
        aims[0, k] = min(max(position[t, 0, j], bounds[0, j]), bounds[1, j])
        aims[1, k] = velocity[t, 0, j] * moves[k]
    for k in range(len(torqued)):
        j = torqued[k]
        torques[0, k] = min(max(position[t, 0, j], bounds[0, j]), bounds[1, j])
        torques[1, k], torques[2, k] = velocity[t, 0, j], effort[t, 0, j]
    for k in range(tensions.shape[1]):
        j = first + k
        tensions[0, k] = min(max(position[t, 0, j], bounds[0, j]), bounds[1, j])
        tensions[1, k], tensions[2, k] = velocity[t, 0, j], effort[t, 0, j]
    table[ELAPSED] = 0.0
    return True


@numba.njit
def _read_more(state, balls, torqued, applied, tensions, row, lengths):  # type: ignore[no-untyped-def]
    """Read the efforts of torques, the angles of ball joints and the force elements of a state."""
    columns, places, dofs, turns, signs, angles, rates, quaternions, spins, n = balls
    data = state[0]
    for k in range(len(torqued)):
        row[2 * n + 13 + torqued[k]] = applied[k]
    if len(columns):
        qpos, qvel = numbers_at(data.qpos, ANY), numbers_at(data.qvel, ANY)
        for b in range(len(columns)):
            for i in range(4):
                quaternions[b, i] = qpos[places[b, i]]
            for i in range(3):
                spins[b, i] = qvel[dofs[b, i]]
        ball_states(quaternions, spins, turns, signs, angles, rates)
        for b in range(len(columns)):
            for i in range(3):
                row[columns[b, i]], row[n + columns[b, i]] = angles[b, i], rates[b, i]
    if lengths.shape[1]:
        lengths[0] = numbers_at(data.ten_length, lengths.shape[1])
        lengths[1] = tensions


@numba.njit
def _tell(segments, row, elements, readings):  # type: ignore[no-untyped-def]
    """Write what a controller reads of a state."""
    at = 0
    for s in range(len(segments)):
        source, first, count = segments[s]
        for i in range(first, first + count):
            readings[at] = elements[i] if source else row[i]
            at += 1


@numba.njit(cache=True, nogil=True)
def converse(  # type: ignore[no-untyped-def]
    calls, steps, asked, drives, segments, robot, balls, imu, contacts, far, begin, rows, elements,
    counts, soles, points, beats,
):  # fmt: skip
    """
    Advance control periods with a controller's compiled step; return after how many, and why.

    Parameters are those of ``play``, and the following.

    Parameters
    ----------
    calls : six ints
        Addresses of MuJoCo's step, of a model and of a state, then of its functions for the places
        of bodies, centres of mass and tendons.
    asked : tuple
        Addresses of the compiled step and of its memory; readings of the present state; room for
        an answer; velocities, columns and applied position, velocity and effort of ``ClosedLoop``.
    drives : tuple
        Of servos the joints, whether they move and where their targets act; of torques the same
        but for the second; the column of the first force element and where their targets act; the
        table of the state; limits of targets, (2, m), and how often each was beyond, (m,).
    segments : (f, 3) int array
        Of each field of the readings: 0 if it is of a row, 1 if of the elements; first, count.
    balls : tuple
        Of ball joints columns, places, freedoms, turns, signs; room for angles, rates, attitudes
        and spins; and the count of all joints.
    elements : (T, 2, e) array
        Lengths and tensions of force elements.

    """
    at, model, data = 0, calls[1], calls[2]
    torqued, applied, tensions = drives[3], drives[5], drives[8]
    for t in range(begin, len(rows)):
        if t > 0:
            _tell(segments, rows[t - 1], elements[t - 1].ravel(), asked[1])
        if not _ask(t, asked, drives):
            return t, REFUSED
        for _ in range(steps):
            call_with_two(calls[0], model, data)
        beats[0] += 1
        if not read_robot(*robot, rows[t]):
            return t, WARNED
        if elements.shape[2]:
            # MuJoCo's lengths are those of the start of the last step.
            for update in calls[3:]:
                call_with_two(update, model, data)
        _read_more(robot[0], balls, torqued, applied, tensions, rows[t], elements[t])
        why = _see(t, at, robot, imu, contacts, far, rows, counts, soles, points)
        if why != DONE:
            return t + 1, why
        at += counts[t]
    return len(rows), DONE
