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
    Says of observations whether the robot fell.

    It has fallen when the z axis of its root link leans from the vertical by more than
    ``robot.fall.max_tilt``, or when the root link's origin is closer to the ground under it than
    ``robot.fall.min_height_ratio`` of its height in the nominal stance. A robot without fall
    criterion, with a fixed base or with unknown pose never counts as fallen.

    Parameters
    ----------
    robot : RobotModel
    scene : Scene
        For its terrain and ``fixed_base``.

    """

    def __init__(self, robot: RobotModel, scene: Scene) -> None:
        self._fall = None if scene.fixed_base else robot.fall
        if self._fall is not None:
            self._upright = math.cos(min(self._fall.max_tilt, math.pi))
            self._least = self._fall.min_height_ratio * nominal_height(robot)
            self._terrain = load_terrain(scene.terrain)
            field = self._terrain.heightfield
            self._clear = self._least + (field.max_height if field else 0.0)

    @property
    def can_fall(self) -> bool:
        """True if the robot can fall in this scene."""
        return self._fall is not None

    def fall_reason(self, observation: Observation) -> str:
        """Return why the robot counts as fallen in its true state, or an empty string."""
        if self._fall is None or observation.body_poses is None:
            return ''
        return self._reason(self._fall, observation.body_poses[0])

    def _reason(self, fall: FallCriterion, pose: FloatArray) -> str:
        x, y, z, qx, qy, _, _ = pose.tolist()
        # Third diagonal element of the rotation matrix: the cosine of the tilt.
        upright = 1.0 - 2.0 * (qx * qx + qy * qy)
        if upright < self._upright:
            tilt = math.acos(max(-1.0, upright))
            return f'the base tilts by {tilt:.2f} rad, more than {fall.max_tilt:.2f}'
        if z >= self._clear:
            # Above any ground there is: most ticks need no look at the surface.
            return ''
        height = z - float(self._terrain.height(x, y))
        if height < self._least:
            return f'the base is {height:.3f} m above the ground, less than {self._least:.3f} m'
        return ''
