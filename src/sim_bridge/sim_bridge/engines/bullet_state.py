"""Observations read from a Bullet world."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError, SimulationDiverged
from gait_core.robot.model import RobotModel
from gait_core.scene import Scene
from sim_bridge.engines.bounds import FAR
from sim_bridge.engines.bullet_client import pb
from sim_bridge.engines.bullet_motors import Motors
from sim_bridge.engines.bullet_tape import BLOCK, Answers
from sim_bridge.engines.bullet_world import World
from sim_bridge.engines.fused import Place, origin_of
from sim_bridge.engines.rigid import inverse, matrix_of, product, quaternion_of, turned
from sim_bridge.engines.rigid_states import NO_CONTACTS, RigidReader, StateLog, Touching

Row = Sequence[Any] | FloatArray
"""Numbers of one state, or arrays of the same numbers of several."""
_NO_JOINTS: tuple[Row, Row, Row, Row] = ((), (), (), ())
_NO_ELEMENTS = np.zeros((2, 0))
BodyState = tuple[Row, Row, Row, Row]
"""Position, quaternion, linear and angular velocity."""


def body_state(body: int, index: int, client: int) -> BodyState:
    """Return pose and twist of a link's inertial frame, which is what Bullet moves."""
    if index < 0:
        return (
            *pb.getBasePositionAndOrientation(body, client),
            *pb.getBaseVelocity(body, client),
        )
    # Without forward kinematics Bullet's links are one step behind its joints.
    state = pb.getLinkState(body, index, 1, 1, client)
    return state[0], state[1], state[6], state[7]


class Mount:
    """A frame fixed to a link, seen from the inertial frame that Bullet gives for that link."""

    def __init__(self, world: World, place: Place) -> None:
        self.carrier = world.link[place.link]
        com, inertial_turn = world.inertial(self.carrier)
        back = inverse(inertial_turn)
        self._lever = matrix_of(back) @ (place.position - com)
        turn = product(back, quaternion_of(place.rotation))
        self._turn = None if np.array_equal(turn, (0.0, 0.0, 0.0, 1.0)) else tuple(turn.tolist())

    def seen(self, at: Row, turn: Row, linear: Row, angular: Row) -> tuple[Row, Row, Row]:
        """Return position, quaternion and velocity in ``odom`` from those of the carrier."""
        matrix = np.array(pb.getMatrixFromQuaternion(turn)).reshape(3, 3)
        return self._shifted(at, turn, linear, angular, (matrix @ self._lever).tolist())

    def all_seen(self, at: Row, turn: Row, linear: Row, angular: Row) -> tuple[Row, Row, Row]:
        """Return the same of several states at once."""
        return self._shifted(at, turn, linear, angular, (_matrices(turn) @ self._lever).T)

    def _shifted(
        self, at: Row, turn: Row, linear: Row, angular: Row, lever: Iterable[Any]
    ) -> tuple[Row, Row, Row]:
        x, y, z = lever
        wx, wy, wz = angular
        return (
            (at[0] + x, at[1] + y, at[2] + z),
            turn if self._turn is None else turned(*turn, *self._turn),
            (
                linear[0] + wy * z - wz * y,
                linear[1] + wz * x - wx * z,
                linear[2] + wx * y - wy * x,
            ),
        )


def _matrices(turn: Row) -> FloatArray:
    """Return the rotation matrices of T quaternions, (T, 3, 3)."""
    rows = [pb.getMatrixFromQuaternion(one) for one in np.transpose(turn).tolist()]
    return np.array(rows).reshape(-1, 3, 3)


class StateReader(RigidReader[Motors]):
    """
    Reads the state of the robot in a world, once per control period.

    The specific force of the IMU is the change of its velocity over the last control period, as
    an inertial sensor reports that integrates between its samples; the first one after a reset
    counts the robot as at rest before. Contacts are those of the last physics step: their points
    are where they were at its start.
    """

    def __init__(self, world: World, robot: RobotModel, scene: Scene, sums_work: bool) -> None:
        super().__init__(robot, scene, sums_work)
        self._world = world
        self._client, self._body, self._ground = world.client, world.body, world.ground
        self._gravity = scene.gravity
        self._root_mount = Mount(world, origin_of(robot.links[0].name))
        imu_link = robot.imu_link or robot.links[0].name
        if imu_link not in world.model.places:
            raise ConfigurationError(f"robot '{robot.name}': imu_link '{imu_link}' is no link")
        self._imu_mount = Mount(world, world.model.places[imu_link])
        self._imu_is_root = imu_link == robot.links[0].name
        self._imu_velocity: Row | None = None
        carriers = [world.link[world.model.carrier(sole)] for sole in robot.soles]
        self._sole_of = {index: i for i, index in reversed(list(enumerate(carriers)))}

    def _fill(self, tick: int, motors: Motors, row: FloatArray) -> None:
        joints = motors.states()
        positions, velocities, _, efforts = zip(*joints, strict=True) if joints else _NO_JOINTS
        body = body_state(self._body, -1, self._client)
        at, turn, linear = self._root_mount.seen(*body)
        # All of it in one array: each conversion costs more than what it converts.
        row[:] = [
            *positions, *velocities, *at, *turn, *linear, *body[3], *efforts, *self._work(motors),
            *self._imu(body, turn, linear),
        ]  # fmt: skip
        motors.torques.write(row[self._parts[4]])
        if len(motors.balls):
            motors.balls.read(row[self._parts[0]], row[self._parts[1]])

    def _work(self, motors: Motors) -> Row:
        if motors.meter is None or not self._sums_work:
            return ()
        return tuple(motors.meter.work().ravel().tolist())

    def _elements(self, motors: Motors) -> tuple[tuple[str, ...], FloatArray]:
        elements = motors.elements
        if not len(elements):
            return (), _NO_ELEMENTS
        elements.read()
        return elements.tensions.names, np.array([elements.lengths, elements.tensions.applied])

    def _imu(self, body: BodyState, turn: Row, linear: Row) -> Row:
        """Return orientation, rate and specific force from what the root does."""
        if not self._imu_is_root:
            carrier = self._imu_mount.carrier
            if carrier >= 0:
                body = body_state(self._body, carrier, self._client)
            _, turn, linear = self._imu_mount.seen(*body)
        before = linear if self._imu_velocity is None else self._imu_velocity
        self._imu_velocity = linear
        return self._felt(turn, pb.getMatrixFromQuaternion(turn), body[3], linear, before)

    def _imus(self, body: BodyState, turn: Row, linear: Row) -> Row:
        """Return the same of states that follow each other."""
        if not self._imu_is_root:
            _, turn, linear = self._imu_mount.all_seen(*body)
        first = self._imu_velocity or tuple(float(speed[0]) for speed in linear)
        self._imu_velocity = tuple(float(speed[-1]) for speed in linear)
        before = tuple(
            np.append(start, speed[:-1]) for start, speed in zip(first, linear, strict=True)
        )
        return self._felt(turn, tuple(_matrices(turn).reshape(-1, 9).T), body[3], linear, before)

    def _felt(self, turn: Row, matrix: Row, spin: Row, linear: Row, before: Row) -> Row:
        """Return orientation, rate and specific force after a change of velocity in a period."""
        # Rows of the matrix: what a vector of the link is in the world, so columns lead back.
        a, b, c, d, e, f, g, h, i = matrix
        u, v, w = spin
        (x, y, z), (x0, y0, z0), (gx, gy, gz) = linear, before, self._gravity
        period = self._period
        x, y, z = (x - x0) / period - gx, (y - y0) / period - gy, (z - z0) / period - gz
        return (
            *turn,
            a * u + d * v + g * w, b * u + e * v + h * w, c * u + f * v + i * w,
            a * x + d * y + g * z, b * x + e * y + h * z, c * x + f * y + i * z,
        )  # fmt: skip

    def _touching(self) -> Touching:
        points = pb.getContactPoints(self._body, self._ground, physicsClientId=self._client)
        return self._found([points])[0]

    def _found(self, states: Iterable[Iterable[Any]]) -> tuple[Touching, list[int]]:
        """Return the contacts among the points that Bullet lists of states, and how many each."""
        soles: list[int] = []
        numbers: list[float] = []
        counts: list[int] = []
        for points in states:
            before = len(soles)
            for point in points:
                _, _, _, link, _, _, at, (x, y, z), gap, normal, s, (a, b, c), t, (d, e, f) = point
                # Bullet also lists points that are near but do not touch.
                if normal > 0.0 or gap < 0.0:
                    soles.append(self._sole_of.get(link, -1))
                    # On the robot: along the normal and both directions of friction.
                    numbers += (
                        *at,
                        normal * x + s * a + t * d,
                        normal * y + s * b + t * e,
                        normal * z + s * c + t * f,
                        -gap,
                    )
            counts.append(len(soles) - before)
        if not soles:
            return NO_CONTACTS, counts
        return (np.array(soles, dtype=np.int64), np.array(numbers).reshape(-1, 7)), counts

    @property
    def plain(self) -> bool:
        """Whether joints, root and contacts tell all of a state."""
        return self._imu_mount.carrier < 0

    def play(self, log: StateLog, motors: Motors, steps: int) -> None:
        """
        Advance some periods of a tape, of so many steps a sub-sample, and log their states.

        Raises
        ------
        SimulationDiverged
            As ``read``; the log holds the states before.

        """
        begin = log.done
        answers = Answers(motors, self._client, self._body, self._ground)
        answers.play(slice(begin, begin + BLOCK), steps)
        count = len(answers.touching)
        motors.played(begin, begin + count)
        rows = log.rows[begin : begin + count]
        # What is no physics may be too much to square.
        with np.errstate(over='ignore', invalid='ignore'):
            rows[:] = np.stack(self._columns(answers, motors), axis=1)
            fault = self._first_fault(log.first + begin, rows)
        if fault is not None:
            count = fault[0]
        touching, log.counts[begin : begin + count] = self._found(answers.touching[:count])
        log.add(begin + count, touching)
        if fault is not None:
            raise fault[1]

    def _columns(self, answers: Answers, motors: Motors) -> list[FloatArray]:
        """Return the columns of the rows that ``_fill`` writes."""
        n = len(motors.links)
        joints, at, turn, linear, spin, efforts = np.split(
            answers.ends.T, 2 * n + np.array([0, 3, 7, 10, 13])
        )
        seen = self._root_mount.all_seen(at, turn, linear, spin)
        felt = self._imus((at, turn, linear, spin), *seen[1:])
        work: FloatArray = np.zeros((0, len(at[0])))
        if motors.meter is not None:
            work = motors.meter.add(answers.steps).reshape(-1, 2 * n).T
        return [*joints, *seen[0], *seen[1], *seen[2], *spin, *efforts, *work, *felt]

    def _first_fault(self, tick: int, rows: FloatArray) -> tuple[int, SimulationDiverged] | None:
        """Return the first row that is no physics, and why; they follow each other from a tick."""
        states = rows[:, self._state]
        suspects = ~(np.einsum('ij,ij->i', states, states) < FAR * FAR)
        for index in np.flatnonzero(suspects).tolist():
            try:
                self._check(tick + index, rows[index])
            except SimulationDiverged as error:
                return index, error
        return None
