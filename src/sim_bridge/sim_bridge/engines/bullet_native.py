"""
Bullet by its own C functions, as PyBullet calls them: for what acts before every physics step.

PyBullet has no way to its clients for compiled code. Its library's table of symbols says where it
keeps them; where that is missing, or what is found there does not answer as PyBullet does, there
is no native way and PyBullet's own calls are made. Both do the same to the last bit.
"""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
import struct
from typing import TYPE_CHECKING

import numpy as np

from gait_core.arrays import FloatArray
from sim_bridge.engines.bullet_client import pb
from sim_bridge.engines.bullet_native_kernel import (
    IGNORED,
    LINK,
    NOT_YET,
    SUMMED,
    Calls,
    Torqued,
    Work,
    advance,
    ask,
    body_of,
    link_of,
)

if TYPE_CHECKING:
    from sim_bridge.engines.bullet_motors import Motors

_CLIENTS = b'sPhysicsClients1'
_FUNCTIONS = {
    'ask': 'b3RequestActualStateCommandInit',
    'with_velocities': 'b3RequestActualStateCommandComputeLinkVelocity',
    'with_places': 'b3RequestActualStateCommandComputeForwardKinematics',
    'submit': 'b3SubmitClientCommandAndWaitStatus',
    'state': 'b3GetStatusActualState',
    'link': 'b3GetLinkState',
    'control': 'b3JointControlCommandInit2',
    'torque': 'b3JointControlSetDesiredForceTorqueMultiDof',
    'push': 'b3ApplyExternalForceCommandInit',
    'pushed': 'b3ApplyExternalForce',
    'step': 'b3InitStepSimulationCommand',
}
_SYMBOL = np.dtype(
    [('name', '<u4'), ('info', 'u1'), ('other', 'u1'), ('section', '<u2'), ('value', '<u8'),
     ('size', '<u8')]
)  # fmt: skip
_TABLE = 2
_NO_WORK = Work(np.zeros(0), np.zeros((2, 0)), np.zeros((2, 0)))


def symbol(library: bytes, name: bytes) -> int | None:
    """
    Return where a symbol lies in a 64-bit ELF library, also one that it does not export.

    Parameters
    ----------
    library : bytes
        The file.
    name : bytes

    Returns
    -------
    int or None
        From the library's base; None if it has no such symbol or is of another format.

    """
    # Of the 64-bit kind with the least significant byte first.
    if library[:6] != b'\x7fELF\x02\x01':
        return None
    (first,) = struct.unpack_from('<Q', library, 0x28)
    width, count = struct.unpack_from('<HH', library, 0x3A)
    sections = [struct.unpack_from('<IIQQQQI', library, first + width * i) for i in range(count)]
    for _, kind, _, _, at, size, linked in sections:
        if kind != _TABLE:
            continue
        _, _, _, _, names_at, names_size, _ = sections[linked]
        found = library.find(b'\0' + name + b'\0', names_at, names_at + names_size)
        table = np.frombuffer(library, _SYMBOL, size // _SYMBOL.itemsize, at)
        values = table['value'][table['name'] == found + 1 - names_at]
        if found >= 0 and len(values) == 1:
            return int(values[0])
    return None


@cache
def _library() -> tuple[Calls, int] | None:
    """Return Bullet's functions, and where PyBullet has its clients."""
    file = Path(pb.__file__)
    try:
        # Loaded already: this is that very library.
        loaded, clients = ctypes.CDLL(str(file)), symbol(file.read_bytes(), _CLIENTS)
        if clients is None:
            return None
        calls = {key: _address(loaded, name) for key, name in _FUNCTIONS.items()}
        start = symbol(file.read_bytes(), _FUNCTIONS['step'].encode())
    except (OSError, AttributeError):
        return None
    return None if start is None else (Calls(**calls), calls['step'] - start + clients)


def _address(library: ctypes.CDLL, name: str) -> int:
    return int(ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0)


def native(client: int, body: int, links: list[int]) -> tuple[Calls, int] | None:
    """
    Return Bullet's functions and the handle of a client; None where there is no native way.

    Parameters
    ----------
    client, body : int
        PyBullet's.
    links : list of int
        Whose places and motions must be told as PyBullet tells them.

    """
    library = _library()
    if library is None:
        return None
    calls, clients = library
    handle = int(ctypes.c_void_p.from_address(clients + 8 * client).value or 0)
    if not handle or not _agrees(calls, handle, client, body, links):
        return None
    return calls, handle


def _agrees(calls: Calls, handle: int, client: int, body: int, links: list[int]) -> bool:
    """Whether Bullet tells the same natively: a guard against another layout of its answers."""
    places, motions = (
        pb.getBasePositionAndOrientation(body, client),
        pb.getBaseVelocity(body, client),
    )
    told = [(*places[0], *places[1], *motions[0], *motions[1])]
    for link in links:
        one = pb.getLinkState(body, link, 1, 1, client)
        told.append((*one[0], *one[1], *one[6], *one[7]))
    found: FloatArray = np.zeros((1 + len(links), 13))
    pointers, room = np.zeros(2, dtype=np.int64), np.zeros(LINK)
    status = ask(calls, handle, body, 1, pointers)
    body_of(pointers, found[0])
    for row, link in zip(found[1:], links, strict=True):
        link_of(calls, handle, status, link, room, row)
    return np.array_equal(found, told)


class NativeSteps:
    """
    Physics steps of a robot whose joints all have torques.

    Parameters
    ----------
    motors : Motors
        Without servos.
    client, body : int
        PyBullet's.
    found : tuple
        What ``native`` found.

    Attributes
    ----------
    told : bool
        Whether ``end`` and the force elements tell the present state: after the first step.

    """

    def __init__(self, motors: Motors, client: int, body: int, found: tuple[Calls, int]) -> None:
        self._motors, self._body, self._found = motors, body, (tuple(found[0]), found[1])
        torques, pushed = motors.torques, motors.pushed
        infos = [pb.getJointInfo(body, motors.links[i], client)[3:5] for i in pushed]
        hinges = [(column, *info) for column, info in zip(pushed, infos, strict=True)]
        self._joints = Torqued(
            hinges=np.array(hinges, dtype=np.int64).reshape(-1, 3), columns=torques.columns,
            laws=torques.laws, constants=torques.constants, targets=torques.targets,
            applied=torques.applied, fast=torques.fast, state=np.zeros((3, len(motors.links))),
        )  # fmt: skip
        self._robot = (
            tuple(self._joints),
            tuple(motors.balls.native),
            tuple(motors.elements.native),
        )
        self._root: FloatArray = np.zeros(13)
        self._work = tuple(motors.meter.native if motors.meter else _NO_WORK)
        self.told = False

    def advance(self, steps: int) -> None:
        """Advance some physics steps."""
        motors, torques, meter = self._motors, self._motors.torques, self._motors.meter
        counts = IGNORED
        if meter is not None:
            counts = SUMMED if meter.counts else NOT_YET
        advance(
            *self._found, self._body, steps, motors.demands.physics_step, torques.steps,
            *self._robot, counts, self._work, self._root,
        )  # fmt: skip
        self.told = True
        torques.steps += steps
        motors.elements.tensions.steps += steps

    def end(self) -> FloatArray:
        """Return the state after the last step, (3 n + 13,): as a row of ``Answers.ends``."""
        at, rate, effort = self._joints.state
        return np.concatenate((at, rate, self._root, effort))
