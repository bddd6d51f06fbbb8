# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Robot in a client of its own for pictures, posed but never stepped."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.kinematics.forward_kinematics import link_poses
from gait_core.robot.model import Link, RobotModel, Shape
from gait_core.robot.shapes import link_points
from sim_bridge.engines.bullet.client import pb
from sim_bridge.engines.bullet.description import (
    check_visual_meshes,
    description_files,
    written_description,
)
from sim_bridge.engines.bullet.world import World

Colour = tuple[float, float, float, float]

BASE_COLOUR: Colour = (0.55, 0.58, 0.62, 1.0)
LEG_COLOURS: tuple[Colour, ...] = ((0.16, 0.45, 0.72, 1.0), (0.85, 0.42, 0.16, 1.0))


class PosedRobot:
    """
    A robot for pictures; a robot of free bodies is loaded as one Bullet body for each root.

    Attributes
    ----------
    client : int
        PyBullet's id.

    """

    def __init__(self, robot: RobotModel, mode: int) -> None:
        self._world = World(mode, visuals=True)
        self.client = self._world.client
        shown = _add_colours(robot)
        self._free: list[int] = []
        if len(robot.roots) == 1:
            self._world.load_for_display(shown)
        else:
            self._free = [self._load_body(shown, root) for root in robot.roots]

    def _load_body(self, robot: RobotModel, root: str) -> int:
        with written_description(description_files(robot, root=root, visuals=True)) as file:
            check_visual_meshes(robot, file)
            body: int = pb.loadURDF(file, useFixedBase=True, physicsClientId=self.client)
        return body

    def set_state(self, body_poses: FloatArray, positions: FloatArray) -> None:
        """Set the poses of the roots, (r, 7), and the positions of the joints, (n,)."""
        if not self._free:
            self._world.set_state(body_poses[0], positions)
        for body, pose in zip(self._free, body_poses.tolist(), strict=False):
            pb.resetBasePositionAndOrientation(
                body, pose[:3], pose[3:], physicsClientId=self.client
            )

    def close(self) -> None:
        """End the client."""
        self._world.close()


def _add_colours(robot: RobotModel) -> RobotModel:
    """Return the robot with colours; without visual shapes its collision shapes are drawn."""
    colour = {link.name: BASE_COLOUR for link in robot.links}
    for number, leg in enumerate(robot.legs):
        for joint in leg.joints:
            colour[robot.joint[joint].child] = LEG_COLOURS[number % len(LEG_COLOURS)]
        colour[leg.sole] = LEG_COLOURS[number % len(LEG_COLOURS)]

    has_no_visuals = not any(link.visuals for link in robot.links)

    def shapes(link: Link) -> tuple[Shape, ...]:
        """Return the shapes of a link that are drawn, each with its colour."""
        return tuple(
            shape if shape.rgba is not None else replace(shape, rgba=colour[link.name])
            for shape in (link.collisions if has_no_visuals else link.visuals)
        )

    return replace(robot, links=tuple(replace(link, visuals=shapes(link)) for link in robot.links))


def robot_extent(robot: RobotModel) -> tuple[float, float]:
    """Return diagonal and height of the robot's bounding box in its nominal stance [m]."""
    clouds = []
    has_no_collisions = not any(link.collisions for link in robot.links)
    for link, pose in zip(robot.links, link_poses(robot, robot.joint_stance), strict=True):
        points, radii = link_points(
            replace(link, collisions=link.visuals) if has_no_collisions else link
        )
        placed = points @ pose[:3, :3].T + pose[:3, 3]
        clouds += [placed - radii[:, None], placed + radii[:, None]]
    sides = np.ptp(np.concatenate(clouds), axis=0) if sum(map(len, clouds)) else np.ones(3)
    return max(float(np.linalg.norm(sides)), 1e-3), float(sides[2])
