"""A robot in MuJoCo: the model, its state and where everything lies in them."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from gait_core.arrays import FloatArray, IntArray
from gait_core.robot.model import RobotModel
from gait_core.scene import Scene
from gait_core.terrains import Terrain
from sim_bridge.engines.balls import ball_quaternion
from sim_bridge.engines.bounds import check_base
from sim_bridge.engines.demands import SERVOS
from sim_bridge.engines.fused import fused
from sim_bridge.engines.ground_springs import STICKY, STICKY_SPRINGS
from sim_bridge.engines.mujoco_client import mj
from sim_bridge.engines.mujoco_control import Counts, claim_callbacks, table_size
from sim_bridge.engines.mujoco_model import GROUND, build_model
from sim_bridge.engines.mujoco_options import MujocoOptions


class World:
    """
    Model and state of one scene, kept as long as the scenes that follow need no other model.

    Attributes
    ----------
    model, data : MjModel, MjData
    full : RobotModel
        The robot as described.
    fused : Fused
        The robot as built.
    apart : tuple of (str, str)
        Pairs of links that overlap at the start and therefore do not collide.
    ground : int
        MuJoCo's index of the ground's geometry.
    counts : Counts
        What the table of the state has room for.
    places, dofs : (n,) int arrays
        Of each joint of ``joint_names`` in the positions and velocities of the state. The three
        of a ball joint share a place, that of its quaternion w, x, y, z.

    """

    def __init__(self) -> None:
        self._made_of: tuple[Any, ...] | None = None

    def close(self) -> None:
        """Do nothing: model and data go with the world."""

    def rebuild(
        self,
        robot: RobotModel,
        scene: Scene,
        options: MujocoOptions,
        terrain: Terrain,
        pose: FloatArray,
        positions: FloatArray,
    ) -> None:
        """Bring the scene to its start: the root at ``pose``, every joint at rest."""
        claim_callbacks()
        made_of = (
            robot,
            terrain,
            options,
            scene.friction,
            scene.restitution,
            scene.contact_law,
            scene.gravity,
            scene.physics_step,
            scene.fixed_base,
            len(scene.pushes),
            (pose.tobytes(), positions.tobytes()) if options.self_collision else None,
        )
        if self._made_of is None or not _same(self._made_of, made_of):
            self._made_of = None
            self._build(robot, scene, options, terrain)
            if options.self_collision:
                self._separate_overlapping(scene, options, terrain, pose, positions)
            self._made_of = made_of
        self.place(pose, positions)

    def _build(
        self,
        robot: RobotModel,
        scene: Scene,
        options: MujocoOptions,
        terrain: Terrain,
        apart: tuple[tuple[str, str], ...] = (),
    ) -> None:
        self.full, self.fused = robot, fused(robot)
        check_base('mujoco', scene, self.fused.robot)
        self.apart = apart
        torques = [name for name in robot.joint_names if robot.actuators[name].kind not in SERVOS]
        self.counts: Counts = (
            len(robot.joint_names), len(torques), len(robot.force_elements), len(scene.pushes),
            len(self.fused.balls), self._sticking(scene),
        )  # fmt: skip
        self.model = build_model(
            self.fused, scene, options, terrain, apart, table_size(self.counts)
        )
        self.data = mj.MjData(self.model)
        self._fixed = scene.fixed_base
        self.ground = self.model.geom(GROUND).id
        self._find_joints()
        self._mimics = [
            (self.model.joint(joint.name).qposadr[0], joint.mimic)
            for joint in self.fused.robot.joints
            if joint.mimic is not None
        ]

    def _sticking(self, scene: Scene) -> int:
        return len(self.full.legs) if scene.contact_law in (STICKY, STICKY_SPRINGS) else 0

    def _find_joints(self) -> None:
        inside = {column: ball for ball in self.fused.balls for column in ball.columns}
        count = len(self.full.joint_names)
        self.places: IntArray = np.zeros(count, dtype=np.int64)
        self.dofs: IntArray = np.zeros(count, dtype=np.int64)
        for i, name in enumerate(self.full.joint_names):
            ball = inside.get(i)
            joint = self.model.joint(name if ball is None else ball.name)
            self.places[i], self.dofs[i] = joint.qposadr[0], joint.dofadr[0]
            if ball is not None:
                self.dofs[i] += int(np.flatnonzero(ball.columns == i)[0])

    def place(self, pose: FloatArray, positions: FloatArray) -> None:
        """Forget the state; put the root link at a pose and the joints at positions, at rest."""
        model, data = self.model, self.data
        mj.mj_resetData(model, data)
        x, y, z, w = pose[3:].tolist()
        if self._fixed:
            model.body_pos[1], model.body_quat[1] = pose[:3], (w, x, y, z)
        else:
            data.qpos[:3], data.qpos[3:7] = pose[:3], (w, x, y, z)
        data.qpos[self.places] = positions
        for ball in self.fused.balls:
            first = self.places[ball.columns[0]]
            x, y, z, w = ball_quaternion(ball, positions[ball.columns]).tolist()
            data.qpos[first : first + 4] = w, x, y, z
        value = dict(zip(self.full.joint_names, positions.tolist(), strict=True))
        for place, mimic in self._mimics:
            data.qpos[place] = mimic.multiplier * value[mimic.joint] + mimic.offset

    def _separate_overlapping(
        self,
        scene: Scene,
        options: MujocoOptions,
        terrain: Terrain,
        pose: FloatArray,
        positions: FloatArray,
    ) -> None:
        self.place(pose, positions)
        mj.mj_forward(self.model, self.data)
        links = self.fused.robot.links
        pairs = {
            tuple(sorted(self.model.geom_bodyid[list(contact.geom)].tolist()))
            for contact in self.data.contact
            if contact.dist < 0.0 and self.ground not in contact.geom
        }
        apart = tuple((links[a - 1].name, links[b - 1].name) for a, b in sorted(pairs))
        if apart:
            self._build(self.full, scene, options, terrain, apart)

    def twin(self) -> World:
        """Return a world of the same model with a state of its own, at no particular start."""
        twin = copy.copy(self)
        twin.data = mj.MjData(self.model)
        return twin

    def follow(self, other: World) -> None:
        """Take the state of a world of the same model, the table of the callback included."""
        mj.mj_copyData(self.data, self.model, other.data)

    def body(self, link: str) -> int:
        """Return MuJoCo's index of a link of the fused robot."""
        index: int = self.model.body(link).id
        return index


def _same(known: tuple[Any, ...], wanted: tuple[Any, ...]) -> bool:
    """Tell whether two models are made of the same; robots and terrains have identity alone."""
    return known[0] is wanted[0] and known[1] is wanted[1] and known[2:] == wanted[2:]
