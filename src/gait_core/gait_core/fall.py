"""When a trial ends because the robot fell."""

from __future__ import annotations

import math

from gait_core.observation import Observation
from gait_core.placement import nominal_height
from gait_core.robot.model import RobotModel
from gait_core.scene import Scene
from gait_core.terrains import Terrain, load_terrain


def has_fallen(
    robot: RobotModel, scene: Scene, observation: Observation, terrain: Terrain | None = None
) -> str:
    """
    Return why the robot counts as fallen at an observation, or an empty string.

    It has fallen when the z axis of its root link leans from the vertical by more than
    ``robot.fall.max_tilt``, or when the root link's origin is closer to the ground under it than
    ``robot.fall.min_height_ratio`` of its height in the nominal stance. A robot without fall
    criterion, with a fixed base or with unknown pose never counts as fallen.

    Parameters
    ----------
    robot : RobotModel
    scene : Scene
        For its terrain and ``fixed_base``.
    observation : Observation
        Called each control tick with the true state.
    terrain : Terrain, optional
        That of the scene, where it is at hand.

    """
    if robot.fall is None or scene.fixed_base or observation.body_poses is None:
        return ''
    x, y, z, qx, qy, _, _ = observation.body_poses[0].tolist()
    # Third diagonal element of the rotation matrix: the cosine of the tilt.
    upright = 1.0 - 2.0 * (qx * qx + qy * qy)
    if upright < math.cos(min(robot.fall.max_tilt, math.pi)):
        tilt = math.acos(max(-1.0, upright))
        return f'the base tilts by {tilt:.2f} rad, more than {robot.fall.max_tilt:.2f}'
    least = robot.fall.min_height_ratio * nominal_height(robot)
    terrain = load_terrain(scene.terrain) if terrain is None else terrain
    highest = terrain.heightfield.highest if terrain.heightfield else 0.0
    if z - highest >= least:
        # Above any ground there is: most ticks need no look at the surface.
        return ''
    height = z - float(terrain.height(x, y))
    if height < least:
        return f'the base is {height:.3f} m above the ground, less than {least:.3f} m'
    return ''
