"""
What a physics step of MuJoCo needs of the engine, as native code that MuJoCo calls.

MuJoCo has one control callback per process. It runs between the two halves of a step, when
positions, velocities and the references of all constraints are known, and takes no Python. A
second one, for sensors, runs at its end, when all forces are known, and sums the work of the
motors. What they need lies in the ``userdata`` of the state itself, so that any number of states
can step at a time; a state without such a table is left alone.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any
import zlib

from numba import carray, cfunc, njit, types
from numba.np.numpy_support import from_dtype
import numpy as np

from gait_core import slider_crank
from gait_core.addresses import ANY, numbers_at
from sim_bridge.engines import balls as ball_joints
from sim_bridge.engines import laws, mujoco_ground_kernel
from sim_bridge.engines.balls import ball_states, ball_torques
from sim_bridge.engines.laws import (
    COLUMNS,
    element_tensions,
    joint_torques,
    screw_grip,
    servo_power,
)
from sim_bridge.engines.mujoco_client import mj
from sim_bridge.engines.mujoco_ground_kernel import (
    CONTACT,
    SOLE_ROWS,
    release_soles,
    spring_ground,
    stick_soles,
)
from sim_bridge.engines.mujoco_layout import layout

MODEL = layout('mjModel', ('nuserdata',))
DATA = layout(
    'mjData',
    (
        *('ncon', 'ne', 'nf', 'nl', 'nefc', 'qpos', 'qvel', 'ctrl', 'userdata', 'contact'),
        *('qfrc_applied', 'xfrc_applied', 'xpos', 'xmat', 'xipos', 'ten_length', 'ten_velocity'),
        *('efc_vel', 'efc_aref', 'efc_R', 'efc_D', 'efc_force', 'efc_frictionloss', 'qacc'),
        'warning',
    ),
    # Last cause and number of each.
    {'warning': f'{2 * int(mj.mjtWarning.mjNWARNING)}i4'},
)
"""What native code reads of MuJoCo's structures."""
MAGIC = 7.4369081e237
"""First number of a table; no state of others has it there."""
(
    STEPS,
    ELAPSED,
    STEP,
    SLIP,
    HARDNESS,
    SERVOS,
    JOINTS,
    TORQUES,
    ELEMENTS,
    PUSHES,
    BALLS,
    SENSED,
    SETTLING,
    SOLES,
    GROUND,
    GROUND_SPRING,
) = range(1, 17)
STICK_SPRING = GROUND_SPRING + 5
"""The numbers that follow it: counts of steps, laws, counts of columns; steps whose forces were
seen, and whether their work does not count yet; count of soles that stick, the ground's geometry,
springs of the ground and of soles, of strength 0 where there are none."""
HEADER = STICK_SPRING + 5
(PLACE, DOF, AIM, RATE, GAIN, LIMIT, STRENGTH, HOLD, RAISING, LOWERING, FORCE_BEFORE, STUCK,
 STUCK_AT, SIGNED, POSITIVE) = range(15)  # fmt: skip
"""Rows of servos: where a joint's state lies, its targets and law, what became of it, its work."""
SERVO_ROWS = 15
(ADDRESS, FREEDOM, TORQUE_LAW, CARRIED, POSITION, VELOCITY, OVERSPEED, TORQUE,
 TORQUE_SIGNED, TORQUE_POSITIVE, TORQUE_TARGET) = range(11)  # fmt: skip
"""Rows of torques: where a joint's state lies, its law and how much of its damping is MuJoCo's
own, its state, what came of it, targets."""
TORQUE_ROWS = TORQUE_TARGET + 3
ELEMENT_LAW, TENSION, ELEMENT_TARGET = range(3)
"""Rows of force elements."""
ELEMENT_ROWS = ELEMENT_TARGET + 3
BODY, ACTIVE, LEVER, FORCE = 0, 1, 2, 5
"""Rows of pushes; lever and force have three."""
PUSH_ROWS = 8
BALL_ADDRESS, BALL_FREEDOM, BALL_SIGN, BALL_TORQUE, BALL_DAMPING, BALL_TURN = 0, 1, 2, 3, 6, 9
"""Columns of ball joints: where they lie, sign, torques of the three angles, damping, turn."""
BALL_COLUMNS = BALL_TURN + 9
ALL_FORCES = int(mj.mjtStage.mjSTAGE_ACC)
"""Stage of MuJoCo's sensors after which a step only integrates."""


@njit
def _drive_servos(  # type: ignore[no-untyped-def]
    servos, count, hardness, qpos, qvel, references, bounds
):
    """
    Let the row of each servo ask for ``feed-forward + gain * error``, within its limit.

    That of a screw which is stuck asks for where it is.
    """
    for k in range(count):
        limit = servos[LIMIT, k]
        position = qpos[int(servos[PLACE, k])]
        wanted = (servos[AIM, k] - position) * servos[GAIN, k] + servos[RATE, k]
        if wanted > limit:
            wanted = limit
        if wanted < -limit:
            wanted = -limit
        if servos[STRENGTH, k] < np.inf:
            before = servos[STUCK, k] > 0.0
            stuck, bounds[k] = screw_grip(
                servos[FORCE_BEFORE, k], qvel[int(servos[DOF, k])], wanted, servos[STRENGTH, k],
                servos[HOLD, k], before,
            )  # fmt: skip
            if stuck and not before:
                servos[STUCK_AT, k] = position
            servos[STUCK, k] = 1.0 if stuck else 0.0
            if stuck:
                wanted = (servos[STUCK_AT, k] - position) * servos[GAIN, k]
        references[k] = (wanted - qvel[int(servos[DOF, k])]) * hardness


@njit
def _find_joints(rows, qpos, qvel):  # type: ignore[no-untyped-def]
    for k in range(rows.shape[1]):
        rows[POSITION, k] = qpos[int(rows[ADDRESS, k])]
        rows[VELOCITY, k] = qvel[int(rows[FREEDOM, k])]


@njit
def _apply_torques(rows, constants, elapsed, forces):  # type: ignore[no-untyped-def]
    torques, counts = rows[TORQUE], rows[OVERSPEED].view(np.int64)
    joint_torques(
        rows[TORQUE_LAW], constants, rows[TORQUE_TARGET:], elapsed, rows[POSITION], rows[VELOCITY],
        torques, counts,
    )  # fmt: skip
    for k in range(len(torques)):
        forces[int(rows[FREEDOM, k])] = torques[k] + rows[CARRIED, k] * rows[VELOCITY, k]


@njit
def _apply_with_balls(rows, constants, balls, elapsed, qpos, qvel, forces):  # type: ignore[no-untyped-def]
    quaternions, turns = np.empty((len(balls), 4)), balls[:, BALL_TURN:]
    angles, pulls = np.empty((len(balls), 3)), np.empty((len(balls), 3))
    turned = np.empty((len(balls), 3))
    _read_balls(balls, qpos, qvel, quaternions, turns, angles, rows)
    _apply_torques(rows, constants, elapsed, forces)
    for b in range(len(balls)):
        for i in range(3):
            k = int(balls[b, BALL_TORQUE + i])
            pulls[b, i] = rows[TORQUE, k] - balls[b, BALL_DAMPING + i] * rows[VELOCITY, k]
    ball_torques(quaternions, turns, balls[:, BALL_SIGN], angles, pulls, turned)
    for b in range(len(balls)):
        dof = int(balls[b, BALL_FREEDOM])
        forces[dof : dof + 3] = turned[b]


@njit
def _read_balls(balls, qpos, qvel, quaternions, turns, angles, rows):  # type: ignore[no-untyped-def]
    """Write attitudes and angles of ball joints, and the state of the joints along the angles."""
    spins, rates = np.empty((len(balls), 3)), np.empty((len(balls), 3))
    for b in range(len(balls)):
        at, dof = int(balls[b, BALL_ADDRESS]), int(balls[b, BALL_FREEDOM])
        quaternions[b, :3], quaternions[b, 3] = qpos[at + 1 : at + 4], qpos[at]
        spins[b] = qvel[dof : dof + 3]
    ball_states(quaternions, spins, turns, balls[:, BALL_SIGN], angles, rates)
    for b in range(len(balls)):
        for i in range(3):
            k = int(balls[b, BALL_TORQUE + i])
            rows[POSITION, k], rows[VELOCITY, k] = angles[b, i], rates[b, i]


@njit
def _pull(rows, constants, elapsed, lengths, rates, controls):  # type: ignore[no-untyped-def]
    """Give each tendon the tension of its force element; MuJoCo's forces lengthen."""
    tensions = rows[TENSION]
    element_tensions(
        rows[ELEMENT_LAW], constants, rows[ELEMENT_TARGET:], elapsed, lengths, rates, tensions
    )
    for k in range(len(tensions)):
        controls[k] = -tensions[k]


@njit
def _correct_sliding(first, end, slip, speeds, references):  # type: ignore[no-untyped-def]
    """Lower the normal references of contacts that slide; a contact has three rows."""
    for row in range(first, end, 3):
        references[row] -= slip * math.hypot(speeds[row + 1], speeds[row + 2])


@njit
def _push(pushes, xmat, wrenches):  # type: ignore[no-untyped-def]
    """Apply each push that acts as a wrench at the centre of mass of its body."""
    for p in range(pushes.shape[1]):
        at = 6 * int(pushes[BODY, p])
        wrenches[at : at + 6] = 0.0
    for p in range(pushes.shape[1]):
        if pushes[ACTIVE, p] == 0.0:
            continue
        at = int(pushes[BODY, p])
        turn, wrench = xmat[9 * at : 9 * at + 9], wrenches[6 * at : 6 * at + 6]
        lever, force = pushes[LEVER : LEVER + 3, p], pushes[FORCE : FORCE + 3, p]
        x, y, z = [
            turn[i] * lever[0] + turn[i + 1] * lever[1] + turn[i + 2] * lever[2] for i in (0, 3, 6)
        ]
        wrench[:3] += force
        wrench[3] += y * force[2] - z * force[1]
        wrench[4] += z * force[0] - x * force[2]
        wrench[5] += x * force[1] - y * force[0]


@njit
def _block(numbers, start, rows, columns):  # type: ignore[no-untyped-def]
    return numbers[start : start + rows * columns].reshape((rows, columns))


@njit
def _crowded(state, table):  # type: ignore[no-untyped-def]
    """Return whether MuJoCo had no room for constraints, and left all out; it warns of that."""
    return state.nefc < state.ne + int(table[SERVOS])


@njit
def _control(state, table):  # type: ignore[no-untyped-def]
    qpos, qvel = numbers_at(state.qpos, ANY), numbers_at(state.qvel, ANY)
    references = numbers_at(state.efc_aref, state.nefc)
    elapsed = table[ELAPSED] * table[STEP]
    table[STEPS] += 1.0
    table[ELAPSED] += 1.0
    if _crowded(state, table):
        return
    at, width = HEADER, int(table[JOINTS])
    servos = _block(table, at, SERVO_ROWS, width)
    bounds = numbers_at(state.efc_frictionloss, state.nefc)
    _drive_servos(
        servos, int(table[SERVOS]), table[HARDNESS], qpos, qvel, references[state.ne :],
        bounds[state.ne :],
    )  # fmt: skip
    at, width = at + SERVO_ROWS * width, int(table[TORQUES])
    orders = _block(table, at, TORQUE_ROWS, width)[TORQUE_TARGET + 2]
    if width:
        rows = _block(table, at, TORQUE_ROWS, width)
        constants = _block(table, at + TORQUE_ROWS * width, width, COLUMNS)
        count = int(table[BALLS])
        end = len(table) - SOLE_ROWS * int(table[SOLES])
        balls = _block(table, end - BALL_COLUMNS * count, count, BALL_COLUMNS)
        forces = numbers_at(state.qfrc_applied, ANY)
        _find_joints(rows, qpos, qvel)
        if count:
            _apply_with_balls(rows, constants, balls, elapsed, qpos, qvel, forces)
        else:
            _apply_torques(rows, constants, elapsed, forces)
    at, width = at + (TORQUE_ROWS + COLUMNS) * width, int(table[ELEMENTS])
    if width:
        rows = _block(table, at, ELEMENT_ROWS, width)
        constants = _block(table, at + ELEMENT_ROWS * width, width, COLUMNS)
        lengths, rates = numbers_at(state.ten_length, width), numbers_at(state.ten_velocity, width)
        _pull(rows, constants, elapsed, lengths, rates, numbers_at(state.ctrl, width))
    at, width = at + (ELEMENT_ROWS + COLUMNS) * width, int(table[PUSHES])
    soles = _block(
        table, at + PUSH_ROWS * width + BALL_COLUMNS * int(table[BALLS]), SOLE_ROWS,
        int(table[SOLES]),
    )  # fmt: skip
    ground, spring = int(table[GROUND]), table[GROUND_SPRING:STICK_SPRING]
    release_soles(soles, numbers_at(state.xfrc_applied, ANY))
    if width:
        pushes = _block(table, at, PUSH_ROWS, width)
        _push(pushes, numbers_at(state.xmat, ANY), numbers_at(state.xfrc_applied, ANY))
    if soles.shape[1]:
        stick_soles(state, soles, orders, table[STICK_SPRING:HEADER], ground)
    if table[GROUND_SPRING] > 0.0:
        spring_ground(state, spring, ground, table[STEP])
    if table[SLIP] > 0.0:
        first = state.ne + state.nf + state.nl
        speeds = numbers_at(state.efc_vel, state.nefc)
        _correct_sliding(first, state.nefc, table[SLIP], speeds, references)


@njit
def _sum_work(state, table):  # type: ignore[no-untyped-def]
    """
    Add the work of a step whose forces are known.

    A force acts at the mean of the velocities before and after: that is what it adds to the
    kinetic energy.
    """
    forces = numbers_at(state.efc_force, state.nefc)
    qvel, qacc = numbers_at(state.qvel, ANY), numbers_at(state.qacc, ANY)
    step = table[STEP]
    table[SENSED] += 1.0
    if _crowded(state, table):
        return
    at, width = HEADER, int(table[JOINTS])
    servos = _block(table, at, SERVO_ROWS, width)
    for k in range(int(table[SERVOS])):
        dof = int(servos[DOF, k])
        force = forces[state.ne + k]
        velocity = qvel[dof] + 0.5 * step * qacc[dof]
        work = step * servo_power(force, velocity, servos[RAISING, k], servos[LOWERING, k])
        servos[FORCE_BEFORE, k] = force
        if table[SETTLING]:
            continue
        servos[SIGNED, k] += work
        servos[POSITIVE, k] += max(work, 0.0)
    at, width = at + SERVO_ROWS * width, int(table[TORQUES])
    if width and not table[SETTLING]:
        rows = _block(table, at, TORQUE_ROWS, width)
        # Along the angles of ball joints there is no acceleration at hand.
        half = 0.0 if table[BALLS] else 0.5 * step
        for k in range(width):
            velocity = rows[VELOCITY, k] + half * qacc[int(rows[FREEDOM, k])]
            work = step * rows[TORQUE, k] * velocity
            rows[TORQUE_SIGNED, k] += work
            rows[TORQUE_POSITIVE, k] += max(work, 0.0)


@njit(cache=True)
def read_work(data, servos, torques, signed, positive):  # type: ignore[no-untyped-def]
    """
    Write the work [J] of joints since the start, signed and positive, (n,) each.

    Parameters
    ----------
    data : record
    servos, torques : (s,) and (t,) int arrays
        The joints with a row and those with a torque; some with a torque have a row of friction.

    """
    signed[:], positive[:] = 0.0, 0.0
    table = numbers_at(data.userdata, ANY)
    width = int(table[JOINTS])
    rows = _block(table, HEADER, SERVO_ROWS, width)
    for k in range(len(servos)):
        signed[servos[k]], positive[servos[k]] = rows[SIGNED, k], rows[POSITIVE, k]
    rows = _block(table, HEADER + SERVO_ROWS * width, TORQUE_ROWS, len(torques))
    for k in range(len(torques)):
        signed[torques[k]] = rows[TORQUE_SIGNED, k]
        positive[torques[k]] = rows[TORQUE_POSITIVE, k]


def _compiled(stamp: int) -> tuple[Any, Any]:
    """Return the callbacks; Numba's cache would not notice other laws but for the stamp."""

    @cfunc(
        types.void(types.CPointer(from_dtype(MODEL)), types.CPointer(from_dtype(DATA))),
        cache=True,
    )
    def control(model, data):  # type: ignore[no-untyped-def]
        """Set the forces of a physics step."""
        size = carray(model, 1)[0].nuserdata
        if size < HEADER or stamp == 0:
            return
        state = carray(data, 1)[0]
        table = numbers_at(state.userdata, size)
        if table[0] == MAGIC:
            _control(state, table)

    @cfunc(
        types.void(
            types.CPointer(from_dtype(MODEL)), types.CPointer(from_dtype(DATA)), types.intc
        ),
        cache=True,
    )
    def sense(model, data, stage):  # type: ignore[no-untyped-def]
        """Add up the work of a physics step."""
        size = carray(model, 1)[0].nuserdata
        if size < HEADER or stage != ALL_FORCES or stamp == 0:
            return
        state = carray(data, 1)[0]
        table = numbers_at(state.userdata, size)
        if table[0] == MAGIC:
            _sum_work(state, table)

    return control, sense


def _stamp() -> int:
    """Return what stands for the code of the laws that the callback has compiled in."""
    parts = (laws, ball_joints, slider_crank, mujoco_ground_kernel)
    sources = [Path(str(module.__file__)).read_bytes() for module in parts]
    return zlib.crc32(b''.join([*sources, repr(CONTACT).encode()])) or 1


_CONTROL, _SENSE = _compiled(_stamp())
CALLBACK: Any = _CONTROL.ctypes
"""Writes references, torques and forces of a step whose first half is done, as MuJoCo calls it."""
SENSOR_CALLBACK: Any = _SENSE.ctypes
"""Sums the work of a step whose forces are known, as MuJoCo calls it."""
