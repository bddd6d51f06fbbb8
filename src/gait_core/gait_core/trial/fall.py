# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Detection of a fall that ends a trial."""

from __future__ import annotations

import math

from gait_core.arrays import FloatArray
from gait_core.kinematics.start_pose import nominal_height
from gait_core.motion.observation import Observation
from gait_core.robot.model import FallCriterion, RobotModel
from gait_core.terrains import load_terrain
from gait_core.trial.scene import Scene


class FallCheck:
    """
    Fall criterion of a robot in a scene, applied to observations.

    The robot has fallen when its root link tilts by more than ``robot.fall.max_tilt``, or when
    the height of the root link's origin over the terrain is below ``robot.fall.min_height_ratio``
    times its height in the nominal stance, or when it leaves the area of an uneven terrain. A
    robot without a criterion, with a fixed base or with unknown pose never counts as fallen.

    Parameters
    ----------
    robot : RobotModel
    scene : Scene
        For its terrain and ``fixed_base``.

    """

    def __init__(self, robot: RobotModel, scene: Scene) -> None:
        self._fall = None if scene.fixed_base else robot.fall
        if self._fall is not None:
            self._min_cosine = math.cos(min(self._fall.max_tilt, math.pi))
            self._min_height = self._fall.min_height_ratio * nominal_height(robot)
            self._terrain = load_terrain(scene.terrain)
            # Above this height the base is clear of every point of the terrain.
            field = self._field = self._terrain.heightfield
            self._name = scene.terrain.name
            self._safe_height = self._min_height + (field.max_height if field else 0.0)

    @property
    def can_fall(self) -> bool:
        """True if the robot can fall in this scene."""
        return self._fall is not None

    def fall_reason(self, observation: Observation) -> str:
        """Return the reason why the robot counts as fallen; empty if it does not."""
        if self._fall is None or observation.body_poses is None:
            return ''
        return self._describe(self._fall, observation.body_poses[0])

    def _describe(self, fall: FallCriterion, pose: FloatArray) -> str:
        """Return the limit that a pose of the root link exceeds, in one line; empty if none."""
        x, y, z, qx, qy, _, _ = pose.tolist()
        # Third diagonal element of the rotation matrix: the cosine of the tilt.
        cosine = 1.0 - 2.0 * (qx * qx + qy * qy)
        if cosine < self._min_cosine:
            tilt = math.acos(max(-1.0, cosine))
            return f'the base tilts by {tilt:.2f} rad, more than {fall.max_tilt:.2f}'
        if self._field is not None and not self._field.contains(x, y):
            width, length = self._field.size
            return (
                f"it left the ground of terrain '{self._name}' at x = {x:.2f} m, y = {y:.2f} m; "
                f'the ground is {width:g} m by {length:g} m'
            )
        if z >= self._safe_height:
            # High enough over the highest vertex: the surface need not be evaluated.
            return ''
        height = z - float(self._terrain.height(x, y))
        if height < self._min_height:
            return (
                f'the base is {height:.3f} m above the ground, less than {self._min_height:.3f} m'
            )
        return ''
