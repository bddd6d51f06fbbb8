"""
Plays control periods in one native call: MuJoCo's steps and all readings.

MuJoCo's own functions are called at their addresses, as its Python interface does, but for one
thing: a fault that MuJoCo takes for one of the program would end the process, where the interface
raises an exception. Only its solver can have one, for want of memory: a model that may want more
than it gets is stepped through the interface.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

import numba

from gait_core.addresses import call_with_two
from sim_bridge.engines.mujoco_client import mj
from sim_bridge.engines.mujoco_read_kernel import read_contacts, read_imu, read_robot

DONE, WARNED, FAR_OFF, CROWDED = range(4)
"""
Why a tape stopped: at its end; MuJoCo warned; the state may be no physics; or the contacts of the
last state, which is read but for these, found no room.
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
