"""
Physics steps of Bullet with what acts before each, in one native call.

Before every step the torques of joints and the tensions of force elements follow from the state;
after it the work of motors is summed. Bullet is asked once a step, where PyBullet's own calls
ask eight times over.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic
import numpy as np

from gait_core.addresses import ANY, numbers_at
from gait_core.arrays import FloatArray, IntArray
from sim_bridge.engines.balls import ball_states, ball_torques
from sim_bridge.engines.bullet_stretch import stretch
from sim_bridge.engines.laws import element_tensions, joint_torques, sum_work

LINK = 64
"""Room for what Bullet says of a link, of which the first 33 numbers mean something."""
IGNORED, NOT_YET, SUMMED = range(3)
"""What becomes of work: nobody asks for it; it does not count, as yet; it is summed."""
_VELOCITY = 21
_TORQUES, _IN_WORLD = 1, 2


class Calls(NamedTuple):
    """Addresses of Bullet's functions."""

    ask: int
    with_velocities: int
    with_places: int
    submit: int
    state: int
    link: int
    control: int
    torque: int
    push: int
    pushed: int
    step: int


class Turns(NamedTuple):
    """
    Ball joints of a robot.

    Attributes
    ----------
    places : (b, 5) int array
        Where attitude and spin begin in Bullet's state; columns of the three angles.
    turns, signs, damping, quaternions, spins, angles, rates, torques : arrays
        As of ``bullet_balls.Balls``; the last five are written.

    """

    places: IntArray
    turns: FloatArray
    signs: FloatArray
    damping: FloatArray
    quaternions: FloatArray
    spins: FloatArray
    angles: FloatArray
    rates: FloatArray
    torques: FloatArray


class Torqued(NamedTuple):
    """
    Joints with torque.

    Attributes
    ----------
    hinges : (h, 3) int array
        Columns, and where position and velocity lie in Bullet's state.
    columns, laws : (t,) int arrays
    constants, targets, applied, fast : arrays
        As of ``demands.Torques``; the last two are written.
    state : (3, n) array
        Positions, velocities and efforts of all joints; written.

    """

    hinges: IntArray
    columns: IntArray
    laws: IntArray
    constants: FloatArray
    targets: FloatArray
    applied: FloatArray
    fast: IntArray
    state: FloatArray


class Pulls(NamedTuple):
    """
    Force elements.

    Attributes
    ----------
    bodies : (c,) int array
        Bullet's indices of what carries their ends; -1 is the root.
    carriers, levers, points, lengths, rates, along : arrays
        As of ``stretch``; the last four are written.
    laws, constants, targets, tensions : arrays
        As of ``laws.element_tensions``; the last is written.

    """

    bodies: IntArray
    carriers: IntArray
    levers: FloatArray
    points: FloatArray
    lengths: FloatArray
    rates: FloatArray
    along: FloatArray
    laws: IntArray
    constants: FloatArray
    targets: FloatArray
    tensions: FloatArray


class Work(NamedTuple):
    """Work of the motors: velocities before, losses and sums, as of ``laws.sum_work``."""

    before: FloatArray
    losses: FloatArray
    sums: FloatArray


@intrinsic
def _call(typing: Any, address: Any, arguments: Any) -> Any:
    """Call the function at an address, of integers and pointers; return what it returns."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        """Call the address, in the code of the caller."""
        given = cgutils.unpack_tuple(builder, values[1])
        word = context.get_value_type(types.int64)
        kind = cgutils.ir.FunctionType(word, [word] * len(given))
        function = builder.inttoptr(values[0], kind.as_pointer())
        return builder.call(function, given)

    return types.int64(types.int64, arguments), generate


@njit(cache=True)
def ask(calls, handle, body, links, pointers):  # type: ignore[no-untyped-def]
    """
    Ask for the present state; write where positions and velocities lie, return the answer.

    ``links`` is 1 if those of links are needed, too, or 0.
    """
    command = _call(calls.ask, (handle, body))
    if links:
        _call(calls.with_velocities, (command, 1))
        # Without forward kinematics Bullet's links are one step behind its joints.
        _call(calls.with_places, (command, 1))
    status = _call(calls.submit, (handle, command))
    first = pointers.ctypes.data
    _call(calls.state, (status, 0, 0, 0, 0, first, first + 8, 0))
    return status


@njit(cache=True)
def body_of(pointers, row):  # type: ignore[no-untyped-def]
    """Write the root's position, quaternion, velocity and rate, (13,)."""
    row[:7] = numbers_at(pointers[0], 7)
    row[7:] = numbers_at(pointers[1], 6)


@njit(cache=True)
def link_of(calls, handle, status, link, room, row):  # type: ignore[no-untyped-def]
    """Write those of a link's inertial frame, (13,)."""
    _call(calls.link, (handle, status, link, room.ctypes.data))
    row[:7], row[7:] = room[:7], room[_VELOCITY : _VELOCITY + 6]


@njit
def _look(pointers, joints, balls):  # type: ignore[no-untyped-def]
    """Take positions and velocities of the joints from Bullet's state."""
    at, rate, _ = joints.state
    places, speeds = numbers_at(pointers[0], ANY), numbers_at(pointers[1], ANY)
    for column, q, u in joints.hinges:
        at[column], rate[column] = places[q], speeds[u]
    for b in range(len(balls.places)):
        q, u = balls.places[b, 0], balls.places[b, 1]
        for i in range(4):
            balls.quaternions[b, i] = places[q + i]
        for i in range(3):
            balls.spins[b, i] = speeds[u + i]
    ball_states(
        balls.quaternions, balls.spins, balls.turns, balls.signs, balls.angles, balls.rates
    )
    for b in range(len(balls.places)):
        for i in range(3):
            column = balls.places[b, 2 + i]
            at[column], rate[column] = balls.angles[b, i], balls.rates[b, i]


@njit
def _turn(calls, handle, body, joints, balls, elapsed):  # type: ignore[no-untyped-def]
    """Apply the torques of the joints."""
    at, rate, effort = joints.state
    columns = joints.columns
    joint_torques(
        joints.laws, joints.constants, joints.targets, elapsed, at[columns], rate[columns],
        joints.applied, joints.fast,
    )  # fmt: skip
    effort[columns] = joints.applied
    forces = np.empty((len(balls.places), 3))
    for b in range(len(forces)):
        for i in range(3):
            braked = balls.damping[b, i] * balls.rates[b, i]
            forces[b, i] = effort[balls.places[b, 2 + i]] - braked
    ball_torques(balls.quaternions, balls.turns, balls.signs, balls.angles, forces, balls.torques)
    command = _call(calls.control, (handle, body, _TORQUES))
    for b in range(len(balls.places)):
        _call(calls.torque, (command, balls.places[b, 1], balls.torques[b].ctypes.data, 3))
    for column, _, u in joints.hinges:
        _call(calls.torque, (command, u, effort[column:].ctypes.data, 1))
    _call(calls.submit, (handle, command))


@njit
def _see(  # type: ignore[no-untyped-def]
    calls, handle, body, pointers, joints, balls, elements, end
):
    """Read root, joints and force elements in the present state."""
    count = len(elements.bodies)
    status = ask(calls, handle, body, min(count, 1), pointers)
    body_of(pointers, end)
    _look(pointers, joints, balls)
    if not count:
        return
    bodies, room = np.empty((count, 13)), np.empty(LINK)
    for c in range(len(bodies)):
        if elements.bodies[c] < 0:
            bodies[c] = end
        else:
            link_of(calls, handle, status, elements.bodies[c], room, bodies[c])
    stretch(
        bodies, elements.carriers, elements.levers, elements.points, elements.lengths,
        elements.rates, elements.along,
    )  # fmt: skip


@njit
def _pull(calls, handle, body, elements, elapsed):  # type: ignore[no-untyped-def]
    """Apply the tensions of the force elements at both ends."""
    element_tensions(
        elements.laws, elements.constants, elements.targets, elapsed, elements.lengths,
        elements.rates, elements.tensions,
    )  # fmt: skip
    pull = np.empty(3)
    for e in range(len(elements.tensions)):
        for end in range(2):
            for i in range(3):
                force = elements.tensions[e] * elements.along[e, i]
                pull[i] = -force if end else force
            link = elements.bodies[elements.carriers[e, end]]
            point = elements.points[e, end].ctypes.data
            # Several forces in one command would overlap in it.
            command = _call(calls.push, (handle,))
            _call(calls.pushed, (command, body, link, pull.ctypes.data, point, _IN_WORLD))
            _call(calls.submit, (handle, command))


@njit(cache=True)
def advance(  # type: ignore[no-untyped-def]
    calls, handle, body, steps, dt, done, joints, balls, elements, counts, work, end
):
    """
    Advance some physics steps.

    What has several fields comes as a plain tuple, which is faster to hand over than a named one.

    Parameters
    ----------
    calls : Calls
    handle, body : int
        Of the client, and of the robot in it.
    steps : int
    dt : float [s]
    done : int
        Steps since the sub-sample in force began.
    joints : Torqued
    balls : Turns
    elements : Pulls
    counts : int
        One of the above.
    work : Work
    end : (13,) array
        Position, quaternion, velocity and rate of the root after the last step; written.

    """
    calls, joints, balls = Calls(*calls), Torqued(*joints), Turns(*balls)
    elements, work = Pulls(*elements), Work(*work)
    pointers, seen = np.zeros(2, np.int64), np.empty((1, 2, joints.state.shape[1]))
    _see(calls, handle, body, pointers, joints, balls, elements, end)
    for i in range(done, done + steps):
        _turn(calls, handle, body, joints, balls, i * dt)
        if len(elements.bodies):
            _pull(calls, handle, body, elements, i * dt)
        _call(calls.submit, (handle, _call(calls.step, (handle,))))
        _see(calls, handle, body, pointers, joints, balls, elements, end)
        _count(counts, joints.state, seen, dt, work)


@njit
def _count(counts, state, seen, dt, work):  # type: ignore[no-untyped-def]
    """Sum the work of the last step, by the state after it and the efforts in it."""
    if counts == SUMMED:
        seen[0, 0], seen[0, 1] = state[1], state[2]
        sum_work(seen, work.before, dt, work.losses, work.sums)
    elif counts == NOT_YET:
        work.before[:] = state[1]
