"""Observations read from a MuJoCo world."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gait_core import pulse
from gait_core.arrays import FloatArray, IntArray
from gait_core.errors import ConfigurationError, SimulationDiverged
from gait_core.robot.model import RobotModel
from gait_core.scene import Scene
from sim_bridge.engines.balls import ball_states
from sim_bridge.engines.bounds import FAR
from sim_bridge.engines.mujoco_client import mj
from sim_bridge.engines.mujoco_ground_kernel import CONTACT
from sim_bridge.engines.mujoco_kernel import DATA
from sim_bridge.engines.mujoco_layout import structure
from sim_bridge.engines.mujoco_model import roomy
from sim_bridge.engines.mujoco_motors import Motors
from sim_bridge.engines.mujoco_play import (
    CROWDED,
    FAR_OFF,
    WARNED,
    address_of,
    play,
)
from sim_bridge.engines.mujoco_read_kernel import read_contacts, read_imu, read_robot
from sim_bridge.engines.mujoco_world import World
from sim_bridge.engines.rigid import quaternion_of
from sim_bridge.engines.rigid_states import NO_CONTACTS, RigidReader, StateLog, Touching

ROOT = 1
"""MuJoCo's index of the root link; 0 is the world."""
# Warnings after which a state is no physics; MuJoCo leaves out forces that it takes for bad.
_FATAL = np.array(
    [
        int(getattr(mj.mjtWarning, f'mjWARN_{name}'))
        for name in ('BADQPOS', 'BADQVEL', 'BADQACC', 'BADCTRL', 'CNSTRFULL', 'CONTACTFULL')
    ]
)
_XYZW = np.array([1, 2, 3, 0])
_LIKE_CONTACTS = np.zeros(0, dtype=CONTACT)
_ROOM = 16
"""Contacts of a tick for which there is room, on average, before a tape is read on by parts."""
_STEP = address_of('mj_step')
_NO_ELEMENTS = np.zeros((2, 0))


def _room_for(ticks: int) -> Touching:
    """Return room for the contacts of some ticks."""
    return np.empty(_ROOM * ticks, dtype=np.int64), np.empty((_ROOM * ticks, 7))


class StateReader(RigidReader[Motors]):
    """
    Reads the state of the robot in a world, once per control period.

    The specific force of the IMU is the change of its velocity over the last control period, as
    an inertial sensor reports that integrates between its samples; the first one after a reset
    counts the robot as at rest before. Contacts are those of the last physics step: their points
    are where they were at its start, on the ground.
    """

    def __init__(self, world: World, robot: RobotModel, scene: Scene, pulls: FloatArray) -> None:
        super().__init__(robot, scene, sums_work=True)
        self._pulls = pulls
        self._world = world
        self._model, self._data = world.model, world.data
        self._roomy = roomy(world.model)
        self._structure = structure(DATA, world.data)
        self._gravity = np.array(scene.gravity)
        self._free = not scene.fixed_base
        self._contact_rows = 3 if scene.friction > 0.0 else 1
        places = world.fused.places
        imu_link = robot.imu_link or robot.links[0].name
        if imu_link not in places:
            raise ConfigurationError(f"robot '{robot.name}': imu_link '{imu_link}' is no link")
        mount = places[imu_link]
        self._imu_body = world.body(mount.link)
        self._imu_lever, self._imu_turn = mount.position, quaternion_of(mount.rotation)
        self._imu_before: FloatArray = np.zeros(4)
        carriers = [world.body(world.fused.carrier(sole)) for sole in robot.soles]
        sole_of = {body: i for i, body in reversed(list(enumerate(carriers)))}
        self._sole_of: IntArray = np.array(
            [sole_of.get(body, -1) for body in world.model.geom_bodyid.tolist()], dtype=np.int64
        )
        self._find_balls(world)
        self._make_room(16)

    def _find_balls(self, world: World) -> None:
        balls = world.fused.balls
        self._ball_columns: IntArray = np.array([ball.columns for ball in balls], dtype=np.int64)
        self._ball_columns = self._ball_columns.reshape(len(balls), 3)
        self._ball_places = world.places[self._ball_columns[:, :1]] + _XYZW
        self._ball_dofs = world.dofs[self._ball_columns]
        self._ball_turns: FloatArray = np.array([ball.turn for ball in balls]).reshape(-1, 9)
        self._ball_signs: FloatArray = np.array([ball.sign for ball in balls])

    def _make_room(self, contacts: int) -> None:
        self._soles: IntArray = np.zeros(contacts, dtype=np.int64)
        self._found: FloatArray = np.zeros((contacts, 7))

    def _fill(self, tick: int, motors: Motors, row: FloatArray) -> None:
        motors.check()
        self._read_robot(tick, motors, row)

    def _read_robot(self, tick: int, motors: Motors, found: FloatArray) -> None:
        world, data = self._world, self._structure
        pose, twist, efforts = [found[at] for at in self._parts[2:5]]
        if not read_robot(
            data, _FATAL, world.places, world.dofs, motors.servos, motors.torques.columns,
            self._free, found,
        ):  # fmt: skip
            raise self._warned(tick)
        motors.torques.write(efforts)
        if world.fused.balls:
            self._read_balls(found)
        if not self._free:
            self._read_body(ROOT, pose, twist)
        if self._imu_body != ROOT:
            pose, twist = np.empty(7), np.empty(6)
            self._read_body(self._imu_body, pose, twist)
        read_imu(
            pose, twist, self._imu_lever, self._imu_turn, self._gravity, self._period,
            self._imu_before, found[-10:],
        )  # fmt: skip

    @property
    def plain(self) -> bool:
        """Whether the compiled readings are all of a state's."""
        special = self._world.fused.balls or self._pulls.size
        return self._roomy and self._free and self._imu_body == ROOT and not special

    def play(self, log: StateLog, motors: Motors, steps: int) -> None:
        """
        Advance the rest of a tape, of so many steps a sub-sample, and read the states into a log.

        It returns early where contacts find no room; what it calls again goes on.

        Raises
        ------
        SimulationDiverged
            As ``read``; the log holds the states before.

        """
        begin = log.done
        soles, points = _room_for(len(log.rows) - begin)
        done, why = play(
            (_STEP, self._model._address, self._data._address),
            *motors.native(steps), *self._natively(motors), FAR * FAR, begin, log.rows, log.counts,
            soles, points, pulse.counter(),
        )  # fmt: skip
        motors.played(begin, done + (why == WARNED), steps)
        self._logged(log, done, why, (soles, points))

    def _natively(self, motors: Motors) -> tuple[tuple[Any, ...], ...]:
        """Return what native code reads a state by: ``robot``, ``imu`` and ``contacts``."""
        world = self._world
        return (
            (
                self._structure, _FATAL, world.places, world.dofs, motors.servos,
                motors.torques.columns, self._free,
            ),
            (self._imu_lever, self._imu_turn, self._gravity, self._period, self._imu_before),
            (self._structure, _LIKE_CONTACTS, world.ground, self._sole_of, self._contact_rows),
        )  # fmt: skip

    def _logged(self, log: StateLog, done: int, why: int, touching: Touching) -> None:
        """Take the states that native code has read into a log, and see why it stopped."""
        whole = done - (why in (FAR_OFF, CROWDED))
        kept = int(log.counts[log.done : whole].sum())
        log.add(whole, (touching[0][:kept], touching[1][:kept]))
        if why == WARNED:
            raise self._warned(log.first + done)
        if whole < done:
            self._check(log.first + whole, log.rows[whole])
            log.add(done, self._touching())

    def _warned(self, tick: int) -> SimulationDiverged:
        warnings = self._data.warning
        kind = int(_FATAL[np.argmax(warnings.number[_FATAL])])
        text = mj.mju_warningText(kind, int(warnings[kind].lastinfo))
        return SimulationDiverged(f'the physics left its range before tick {tick}: {text}')

    def follow(self, other: StateReader) -> None:
        """Remember what the reader of another state of the same model does."""
        self._imu_before[:] = other._imu_before

    def snapshot(self) -> dict[str, Any]:
        """Return what is remembered of the last reading."""
        return {'imu_before': self._imu_before.copy()}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Remember such a reading."""
        self._imu_before[:] = snapshot['imu_before']

    def _read_balls(self, found: FloatArray) -> None:
        """Write angles and rates of ball joints over what stands in their place."""
        data = self._data
        angles, rates = np.empty((2, *self._ball_dofs.shape))
        ball_states(
            data.qpos[self._ball_places], data.qvel[self._ball_dofs], self._ball_turns,
            self._ball_signs, angles, rates,
        )  # fmt: skip
        q, velocities = self._parts[:2]
        found[q][self._ball_columns], found[velocities][self._ball_columns] = angles, rates

    def _elements(self, motors: Motors) -> tuple[tuple[str, ...], FloatArray]:
        tensions = motors.tensions
        if not tensions.names:
            return (), _NO_ELEMENTS
        # MuJoCo's lengths are those of the start of the last step.
        mj.mj_kinematics(self._model, self._data)
        mj.mj_comPos(self._model, self._data)
        mj.mj_tendon(self._model, self._data)
        return tensions.names, np.array([self._data.ten_length, tensions.applied])

    def _read_body(self, body: int, pose: FloatArray, twist: FloatArray) -> None:
        """Write pose and twist of a body's frame in ``odom``, (7,) and (6,)."""
        model, data = self._model, self._data
        # MuJoCo's frames are those of the start of the last step.
        mj.mj_kinematics(model, data)
        mj.mj_comPos(model, data)
        mj.mj_comVel(model, data)
        both = np.empty(6)
        mj.mj_objectVelocity(model, data, mj.mjtObj.mjOBJ_XBODY, body, both, 0)
        pose[:3], pose[3:] = data.xpos[body], data.xquat[body][_XYZW]
        twist[:3], twist[3:] = both[3:], both[:3]

    def _touching(self) -> Touching:
        soles, found = self._touches()
        pulls = self._pulls
        stuck = np.flatnonzero(pulls[3:].any(axis=0))
        if not len(stuck):
            return soles, found
        # What a sole sticks with is a force of the ground as well, where it stuck.
        more = np.zeros((len(stuck), 7))
        more[:, :6] = pulls[:, stuck].T
        return np.concatenate([soles, stuck]), np.concatenate([found, more])

    def _touches(self) -> Touching:
        count = self._read_contacts()
        if count > len(self._soles):
            self._make_room(2 * count)
            self._read_contacts()
        if not count:
            return NO_CONTACTS
        return self._soles[:count].copy(), self._found[:count].copy()

    def _read_contacts(self) -> int:
        count: int = read_contacts(
            self._structure, _LIKE_CONTACTS, self._world.ground, self._sole_of, self._contact_rows,
            self._soles, self._found,
        )  # fmt: skip
        return count
