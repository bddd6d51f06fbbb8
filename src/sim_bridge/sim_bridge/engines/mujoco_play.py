"""
Plays a tape of position and velocity servos in one native call: MuJoCo's steps and all readings.

MuJoCo's own function is called at its address, as its Python interface does, but for one thing: a
fault that MuJoCo takes for one of the program (no memory for its solver) ends the process with a
line in its log, where the interface raises an exception.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numba
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from sim_bridge.engines.mujoco_client import mj
from sim_bridge.engines.mujoco_read_kernel import read_contacts, read_imu, read_robot

_ir = cgutils.ir
DONE, WARNED, FAR_OFF, CROWDED = range(4)
"""
Why a tape stopped: at its end; MuJoCo warned; the state may be no physics; or the contacts of the
last state, which is read but for these, found no room.
"""


def step_address() -> int:
    """Return where MuJoCo's function for one physics step lies in this process."""
    (library, *_) = sorted(Path(mj.__file__).parent.glob('libmujoco*'))
    # Loaded already: this is that very library.
    found = ctypes.cast(ctypes.CDLL(str(library)).mj_step, ctypes.c_void_p).value
    return int(found or 0)


@intrinsic
def _call(typing: Any, address: Any, model: Any, data: Any) -> Any:
    """Call a function of two pointers that returns nothing."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = _ir.FunctionType(_ir.VoidType(), [cgutils.voidptr_t, cgutils.voidptr_t])
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        pointers = [builder.inttoptr(one, cgutils.voidptr_t) for one in arguments[1:]]
        builder.call(function, pointers)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


@numba.njit(cache=True, nogil=True)
def play(  # type: ignore[no-untyped-def]
    calls, steps, ahead, aims, robot, imu, contacts, far, begin, rows, counts, soles, points
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

    """
    n, at = len(robot[2]), 0
    for t in range(begin, len(rows)):
        for k in range(ahead.shape[1]):
            aims[:] = ahead[t, k]
            for _ in range(steps):
                _call(calls[0], calls[1], calls[2])
        row = rows[t]
        if not read_robot(*robot, row):
            return t, WARNED
        read_imu(row[2 * n : 2 * n + 7], row[2 * n + 7 : 2 * n + 13], *imu, row[len(row) - 10 :])
        counts[t] = read_contacts(*contacts, soles[at:], points[at:])
        if counts[t] > len(soles) - at:
            return t + 1, CROWDED
        at += counts[t]
        total = 0.0
        for i in range(2 * n + 13):
            total += row[i] * row[i]
        if not total < far:
            return t + 1, FAR_OFF
    return len(rows), DONE
