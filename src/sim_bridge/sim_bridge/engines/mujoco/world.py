# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Model and state of a scene in MuJoCo, with the indices of its joints."""

from __future__ import annotations

from typing import Any

import numpy as np

from gait_core.arrays import FloatArray, IntArray
from sim_bridge.engines.mujoco.client import mj
from sim_bridge.engines.mujoco.model import GROUND_NAME, body_name, build_model
from sim_bridge.engines.shared.ball_joints import ball_quaternion
from sim_bridge.engines.shared.merged_joints import merge_joints
from sim_bridge.engines.shared.scene_checks import check_root_link
from sim_bridge.engines.shared.scene_engine import SceneStart


class World:
    """
    Model and state of a scene; the model is kept while the next scenes need the same one.

    Attributes
    ----------
    model, data : MjModel, MjData
    robot : RobotModel
        The robot as described.
    merged : MergedRobot
        The robot as built, with merged joints.
    ground : int
        MuJoCo's index of the ground's geometry.
    options : MujocoOptions
    qpos_index, dof_index : (n,) int arrays
        Index of each joint of ``joint_names`` in ``qpos`` and in ``qvel``. The three joints of a
        ball joint share an index in ``qpos``, that of its quaternion w, x, y, z.

    """

    def __init__(self) -> None:
        self._made_of: tuple[Any, ...] | None = None

    def rebuild(self, start: SceneStart) -> None:
        """Set the scene to its start, with the root at its pose and every joint at rest."""
        scene, options = start.scene, start.options
        pose, positions = start.pose, start.joint_positions
        made_of = (
            start.robot,
            start.terrain,
            options,
            scene.friction,
            scene.restitution,
            scene.gravity,
            scene.physics_step,
            scene.fixed_base,
            (pose.tobytes(), positions.tobytes()) if options.self_collision else None,
        )
        if self._made_of is None or not _is_same_model(self._made_of, made_of):
            self._made_of = None
            self._build(start)
            if options.self_collision:
                self._separate_overlapping(start)
            self._made_of = made_of
        self.set_state(pose, positions)

    def _build(self, start: SceneStart, apart: tuple[tuple[str, str], ...] = ()) -> None:
        """Build the model of a scene, and find the indices of its joints."""
        scene, options = start.scene, start.options
        self.robot, self.merged = start.robot, merge_joints(start.robot)
        check_root_link('mujoco', scene, self.merged.robot)
        self.options = options
        self.model = build_model(self.merged, scene, options, start.terrain, apart)
        self.data = mj.MjData(self.model)
        self._fixed = scene.fixed_base
        self.ground = self.model.geom(GROUND_NAME).id
        self._find_joints()
        self._mimics = [
            (self.model.joint(joint.name).qposadr[0], joint.mimic)
            for joint in self.merged.robot.joints
            if joint.mimic is not None
        ]

    def _find_joints(self) -> None:
        """Find where MuJoCo keeps the position and the velocity of every joint."""
        inside = {column: ball for ball in self.merged.balls for column in ball.columns}
        count = len(self.robot.joint_names)
        self.qpos_index: IntArray = np.zeros(count, dtype=np.int64)
        self.dof_index: IntArray = np.zeros(count, dtype=np.int64)
        for i, name in enumerate(self.robot.joint_names):
            ball = inside.get(i)
            joint = self.model.joint(name if ball is None else ball.name)
            self.qpos_index[i], self.dof_index[i] = joint.qposadr[0], joint.dofadr[0]
            if ball is not None:
                self.dof_index[i] += int(np.flatnonzero(ball.columns == i)[0])

    def set_state(self, pose: FloatArray, positions: FloatArray) -> None:
        """Clear the state; set the pose of the root link and the joint positions, all at rest."""
        model, data = self.model, self.data
        mj.mj_resetData(model, data)
        x, y, z, w = pose[3:].tolist()
        if self._fixed:
            model.body_pos[1], model.body_quat[1] = pose[:3], (w, x, y, z)
        else:
            data.qpos[:3], data.qpos[3:7] = pose[:3], (w, x, y, z)
        data.qpos[self.qpos_index] = positions
        for ball in self.merged.balls:
            first = self.qpos_index[ball.columns[0]]
            x, y, z, w = ball_quaternion(ball, positions[ball.columns]).tolist()
            data.qpos[first : first + 4] = w, x, y, z
        value = dict(zip(self.robot.joint_names, positions.tolist(), strict=True))
        for place, mimic in self._mimics:
            # A leader that is passive starts at zero.
            leader = value.get(mimic.joint, 0.0)
            data.qpos[place] = mimic.multiplier * leader + mimic.offset

    def _separate_overlapping(self, start: SceneStart) -> None:
        """Exclude pairs of links that overlap at the start from collisions, in a new model."""
        self.set_state(start.pose, start.joint_positions)
        mj.mj_forward(self.model, self.data)
        links = self.merged.robot.links
        pairs = {
            tuple(sorted(self.model.geom_bodyid[list(contact.geom)].tolist()))
            for contact in self.data.contact
            if contact.dist < 0.0 and self.ground not in contact.geom
        }
        apart = tuple((links[a - 1].name, links[b - 1].name) for a, b in sorted(pairs))
        if apart:
            self._build(start, apart)

    def body_index(self, link: str) -> int:
        """Return MuJoCo's index of the body of a link of the merged robot."""
        index: int = self.model.body(body_name(link)).id
        return index


def _is_same_model(present: tuple[Any, ...], requested: tuple[Any, ...]) -> bool:
    """Return whether two models have equal inputs, and the same robot and terrain objects."""
    return (
        present[0] is requested[0] and present[1] is requested[1] and present[2:] == requested[2:]
    )
