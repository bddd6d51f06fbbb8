"""Proof in physics that a robot stands in its nominal stance and walks by its own gait."""

from __future__ import annotations

from collections.abc import Mapping
import math
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from gait_core.robot.load import read_robot
from gait_core.trial.loop import run_loop
from gait_core.trial.setup import (
    choose_controller,
    constant_script,
    controller_parameters,
    default_gait_parameters,
    make_scene,
)
from gait_core.trial.spec import OK, TrialSpec

STAND_DURATION, WALK_DURATION = 2.0, 12.0
"""Lengths of the trials [s]."""
COMMANDED_SPEED = 0.3
"""At which it is told to walk [m/s], or at the most that its gait allows."""
_SETTLING_TIME = 2.0
"""After so long [s] it walks at full speed."""
_MAX_SPEED_ERROR, _MAX_TURN = 0.2, 0.09
"""Share of the speed, and turn [rad], by which a walk may miss its command."""
_MAX_TILT = 0.1
"""Lean [rad] beyond which it counts as not standing."""
_MAX_MOVEMENT = 0.15
"""Share of its height by which the base may move."""
MAX_CALM_YAW_RATE = 0.1
"""Rate of yaw [rad/s], root of the mean square, up to which a walk counts as calm: below 0.07
where feet come down with the ground, 0.4 to 0.8 where they kick it and the robot hops, whose
heading is left to chance."""


def try_standing(robot: str, engine: str = '') -> dict[str, Any]:
    """
    Let a robot hold its stance on flat ground, and return how it stood.

    Parameters
    ----------
    robot : str
        Name or folder.
    engine : str
        Default: the robot's.

    Returns
    -------
    dict
        ``engine``, ``seconds``, ``stands``, ``moved_m``, ``tilt_deg`` at the end and ``reason``.

    """
    spec = TrialSpec(
        scene=make_scene(robot, {'engine': engine} if engine else {}),
        controller='hold',
        parameters=controller_parameters('hold', 'stand', {}),
        duration=STAND_DURATION,
    )
    loop = run_loop(spec)
    result, rollout = loop.result(), loop.rollout()
    start, end = rollout.body_poses[0, 0], rollout.body_poses[-1, 0]
    moved = float(np.linalg.norm(end[:3] - start[:3]))
    upright = 1.0 - 2.0 * float(end[3] ** 2 + end[4] ** 2)
    tilt = math.acos(min(1.0, max(-1.0, upright)))
    most = _MAX_MOVEMENT * rollout.robot.length_scale
    stands = result.status == OK and tilt <= _MAX_TILT and moved <= most
    reason = result.reason or (
        '' if stands else f'it leans by {tilt:.2f} rad and moved by {moved:.3f} m'
    )
    return {
        'engine': spec.scene.engine,
        'seconds': STAND_DURATION,
        'stands': stands,
        'moved_m': moved,
        'tilt_deg': math.degrees(tilt),
        'reason': reason,
    }


def try_walking(folder: str, gait: Mapping[str, Any]) -> dict[str, Any]:
    """
    Let a robot walk ahead on flat ground, and return how it did.

    Parameters
    ----------
    folder : str
        A robot folder.
    gait : mapping
        Parameters of its controller that are tried in place of its own.

    Returns
    -------
    dict
        ``engine``, ``seconds``, ``walks``, ``told_mps``, ``speed_mps``, ``turn_deg`` and
        ``rocking_radps`` (the root of the mean square of the rate of yaw) of the steady part, and
        ``reason``.

    """
    robot = read_robot(Path(folder))
    controller, preset = choose_controller(robot)
    own = {**default_gait_parameters(robot, controller, preset), **gait}
    told = min(COMMANDED_SPEED, float(own.get('max_forward', COMMANDED_SPEED)))
    spec = TrialSpec(
        scene=make_scene(folder, {}),
        controller=controller,
        parameters=controller_parameters(controller, preset, own),
        script=constant_script((told, 0.0, 0.0)),
        duration=WALK_DURATION,
    )
    loop = run_loop(spec)
    result, rollout = loop.result(), loop.rollout()
    poses = rollout.body_poses[min(round(_SETTLING_TIME / rollout.dt), rollout.ticks - 1) :, 0]
    yaw = np.unwrap(Rotation.from_quat(poses[:, 3:]).as_euler('ZYX')[:, 0])
    turn = float(yaw[-1] - yaw[0])
    seconds = (len(poses) - 1) * rollout.dt
    speed = float(np.linalg.norm(poses[-1, :2] - poses[0, :2])) / seconds
    walks = (
        result.status == OK
        and abs(speed - told) <= _MAX_SPEED_ERROR * told
        and abs(turn) <= _MAX_TURN
    )
    reason = result.reason or (
        '' if walks else f'it goes {speed:.2f} m/s and turns by {math.degrees(turn):.0f} degrees'
    )
    return {
        'engine': spec.scene.engine,
        'seconds': WALK_DURATION,
        'walks': walks,
        'told_mps': told,
        'speed_mps': speed,
        'turn_deg': math.degrees(turn),
        'rocking_radps': float(np.sqrt(np.mean(np.square(np.diff(yaw))))) / rollout.dt,
        'reason': reason,
    }
