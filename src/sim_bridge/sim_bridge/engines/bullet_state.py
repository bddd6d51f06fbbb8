"""Observations read from a Bullet world."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError, SimulationDiverged
from gait_core.robot.model import RobotModel
from gait_core.scene import Scene
from sim_bridge.engines.bounds import FAR
from sim_bridge.engines.bullet_client import pb
from sim_bridge.engines.bullet_motors import Motors
from sim_bridge.engines.bullet_read_kernel import BODY, feel, matrices, place
from sim_bridge.engines.bullet_tape import BLOCK, Answers
from sim_bridge.engines.bullet_world import World
from sim_bridge.engines.fused import Place, origin_of
from sim_bridge.engines.rigid import inverse, matrix_of, product, quaternion_of
from sim_bridge.engines.rigid_states import NO_CONTACTS, RigidReader, StateLog, Touching

Row = tuple[float, ...]
_NO_JOINTS: tuple[Row, Row, Row, Row] = ((), (), (), ())
_NO_ELEMENTS = np.zeros((2, 0))


def body_state(body: int, index: int, client: int) -> Row:
    """Return position, quaternion, velocity and rate of what Bullet moves: an inertial frame."""
    if index < 0:
        place, turn = pb.getBasePositionAndOrientation(body, client)
        linear, angular = pb.getBaseVelocity(body, client)
    else:
        # Without forward kinematics Bullet's links are one step behind its joints.
        state = pb.getLinkState(body, index, 1, 1, client)
        place, turn, linear, angular = state[0], state[1], state[6], state[7]
    return (*place, *turn, *linear, *angular)


class Mount:
    """A frame fixed to a link, seen from the inertial frame that Bullet gives for that link."""

    def __init__(self, world: World, place: Place) -> None:
        self.carrier = world.link[place.link]
        com, inertial_turn = world.inertial(self.carrier)
        back = inverse(inertial_turn)
        self._lever = matrix_of(back) @ (place.position - com)
        turn = product(back, quaternion_of(place.rotation))
        self._turn = turn[:0] if np.array_equal(turn, (0.0, 0.0, 0.0, 1.0)) else turn

    def place(self, bodies: FloatArray, at: int, result: FloatArray, to: int) -> None:
        """Write the frame in each row, from a column on, from its carrier in a row of bodies."""
        place(bodies, at, matrices(bodies, at) @ self._lever, self._turn, result, to)


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
        self._gravity = np.array(scene.gravity)
        self._root_mount = Mount(world, origin_of(robot.links[0].name))
        imu_link = robot.imu_link or robot.links[0].name
        if imu_link not in world.model.places:
            raise ConfigurationError(f"robot '{robot.name}': imu_link '{imu_link}' is no link")
        self._imu_mount = Mount(world, world.model.places[imu_link])
        self._imu_is_root = imu_link == robot.links[0].name
        self._imu_before: FloatArray = np.zeros(4)
        carriers = [world.link[world.model.carrier(sole)] for sole in robot.soles]
        self._sole_of = {index: i for i, index in reversed(list(enumerate(carriers)))}

    def _fill(self, tick: int, motors: Motors, row: FloatArray) -> None:
        ends = self._ask(motors).reshape(1, -1)
        carrier = None
        if self._imu_mount.carrier >= 0:
            other = body_state(self._body, self._imu_mount.carrier, self._client)
            carrier = np.array(other).reshape(1, -1)
        self._complete(ends, row.reshape(1, -1), carrier)
        if motors.meter is not None and self._sums_work:
            row[self._parts[5]] = motors.meter.work().ravel()
        motors.torques.write(row[self._parts[4]])
        if len(motors.balls):
            motors.balls.read(row[self._parts[0]], row[self._parts[1]])

    def _ask(self, motors: Motors) -> FloatArray:
        """Return what Bullet says of joints and root, (3 n + 13,), as in ``Answers.ends``."""
        joints = motors.states()
        positions, velocities, _, efforts = zip(*joints, strict=True) if joints else _NO_JOINTS
        body = body_state(self._body, -1, self._client)
        # All of it in one array: each conversion costs more than what it converts.
        return np.array([*positions, *velocities, *body, *efforts])

    def _complete(
        self, ends: FloatArray, rows: FloatArray, carriers: FloatArray | None = None
    ) -> None:
        """
        Write rows, but for their work, from what Bullet says of states that follow each other.

        Parameters
        ----------
        ends : (T, 3 n + 13) array
            As of ``Answers``.
        rows : (T, size) array
        carriers : (T, 13) array
            What carries the IMU, as the root in ``ends``; default: the root.

        """
        n = len(self._robot.joint_names)
        rows[:, : 2 * n] = ends[:, : 2 * n]
        rows[:, self._parts[4]] = ends[:, 2 * n + BODY :]
        self._root_mount.place(ends, 2 * n, rows, 2 * n)
        frames, at = rows, 2 * n
        if not self._imu_is_root:
            frames, at = np.empty((len(rows), BODY)), 0
            bodies, begin = (ends, 2 * n) if carriers is None else (carriers, 0)
            self._imu_mount.place(bodies, begin, frames, at)
        feel(frames, at, self._gravity, self._period, self._imu_before, rows, self._parts[6].start)

    def _elements(self, motors: Motors) -> tuple[tuple[str, ...], FloatArray]:
        elements = motors.elements
        if not len(elements):
            return (), _NO_ELEMENTS
        elements.read()
        return elements.tensions.names, np.array([elements.lengths, elements.tensions.applied])

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
            self._complete(answers.ends, rows)
            fault = self._first_fault(log.first + begin, rows)
        if motors.meter is not None:
            rows[:, self._parts[5]] = motors.meter.add(answers.steps).reshape(count, -1)
        if fault is not None:
            count = fault[0]
        touching, log.counts[begin : begin + count] = self._found(answers.touching[:count])
        log.add(begin + count, touching)
        if fault is not None:
            raise fault[1]

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
