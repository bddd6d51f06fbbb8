# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Trials that show whether an adopted robot stands in its stance and follows a commanded walk."""

from __future__ import annotations

from collections.abc import Mapping
import math
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from gait_core.robot.load import read_robot
from gait_core.trial.loop import run_loop
from gait_core.trial.robot_gait import RobotGait, resolve_gait
from gait_core.trial.setup import constant_script, make_scene
from gait_core.trial.spec import OK, TrialSpec

STAND_DURATION, WALK_DURATION = 2.0, 12.0
"""Durations of the trials [s]."""
COMMANDED_SPEED = 0.3
"""Commanded speed [m/s], limited by the gait's own maximum."""
_SETTLING_TIME = 2.0
"""Time of the start of a walk that is not measured [s]."""
_MAX_SPEED_ERROR, _MAX_TURN = 0.2, 0.09
"""Largest error of the speed, as a share of the command, and largest turn [rad] of a walk."""
_MAX_TILT = 0.1
"""Largest tilt of a standing robot [rad]."""
_MAX_MOVEMENT = 0.15
"""Largest movement of the base of a standing robot, in length scales."""
_LIMIT_DURATION = 6.0
"""Duration [s] of a walk at a speed limit."""
_LIMIT_SHARE, _LEAST_LIMIT = 0.8, 0.05
"""Factor of a speed limit at which the robot fell, and speed [m/s] below which it becomes 0."""
MAX_CALM_YAW_RATE = 0.1
"""Largest root mean square of the yaw rate of a calm walk [rad/s]. Measured: below 0.07 with soft
touch-downs; 0.4 to 0.8 if feet hit the ground and the robot hops, with a random heading."""


def try_standing(robot: str, engine: str = '') -> dict[str, Any]:
    """
    Simulate a robot that holds its stance on flat ground, and return measures.

    Parameters
    ----------
    robot : str
        Name or folder.
    engine : str
        Empty: the robot's default.

    Returns
    -------
    dict
        ``engine``, ``seconds``, ``stands``, ``moved_m``, ``tilt_deg`` at the end and ``reason``.

    """
    spec = TrialSpec(
        scene=make_scene(robot, {'engine': engine} if engine else {}),
        controller='hold',
        duration=STAND_DURATION,
    )
    loop = run_loop(spec)
    result, rollout = loop.result(), loop.rollout()
    start, end = rollout.body_poses[0, 0], rollout.body_poses[-1, 0]
    shift = float(np.linalg.norm(end[:3] - start[:3]))
    upright = 1.0 - 2.0 * float(end[3] ** 2 + end[4] ** 2)
    tilt = math.acos(min(1.0, max(-1.0, upright)))
    most = _MAX_MOVEMENT * rollout.robot.length_scale
    stands = result.status == OK and tilt <= _MAX_TILT and shift <= most
    reason = result.reason or (
        '' if stands else f'it tilts by {tilt:.2f} rad and moved by {shift:.3f} m'
    )
    return {
        'engine': spec.scene.engine,
        'seconds': STAND_DURATION,
        'stands': stands,
        'moved_m': shift,
        'tilt_deg': math.degrees(tilt),
        'reason': reason,
    }


def try_walking(folder: str, gait: Mapping[str, Any]) -> dict[str, Any]:
    """
    Simulate a robot that walks forward on flat ground, and return measures.

    Parameters
    ----------
    folder : str
        A robot folder.
    gait : mapping
        Parameters that replace those of its own gait.

    Returns
    -------
    dict
        ``engine``, ``seconds``, ``walks``, ``told_mps``, ``speed_mps``, ``turn_deg`` and
        ``rocking_radps`` (the root of the mean square of the rate of yaw) of the steady part, and
        ``reason``.

    """
    own = resolve_gait(read_robot(Path(folder)), parameters=gait)
    commanded = min(COMMANDED_SPEED, float(own.parameters.get('max_forward', COMMANDED_SPEED)))
    spec = _walk_spec(folder, own, (commanded, 0.0, 0.0), WALK_DURATION)
    loop = run_loop(spec)
    result, rollout = loop.result(), loop.rollout()
    poses = rollout.body_poses[min(round(_SETTLING_TIME / rollout.dt), rollout.ticks - 1) :, 0]
    yaw = np.unwrap(Rotation.from_quat(poses[:, 3:]).as_euler('ZYX')[:, 0])
    turn = float(yaw[-1] - yaw[0])
    seconds = (len(poses) - 1) * rollout.dt
    speed = float(np.linalg.norm(poses[-1, :2] - poses[0, :2])) / seconds
    walks = (
        result.status == OK
        and abs(speed - commanded) <= _MAX_SPEED_ERROR * commanded
        and abs(turn) <= _MAX_TURN
    )
    reason = result.reason or (
        '' if walks else f'it goes {speed:.2f} m/s and turns by {math.degrees(turn):.0f} degrees'
    )
    return {
        'engine': spec.scene.engine,
        'seconds': WALK_DURATION,
        'walks': walks,
        'told_mps': commanded,
        'speed_mps': speed,
        'turn_deg': math.degrees(turn),
        'rocking_radps': float(np.sqrt(np.mean(np.square(np.diff(yaw))))) / rollout.dt,
        'reason': reason,
    }


def lower_limits(folder: str, gait: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return a gait that walks, with speed limits at which the robot does not fall.

    Each limit is lowered until a walk at it on flat ground ends upright. ``COMMANDED_SPEED`` needs
    no further proof.

    Parameters
    ----------
    folder : str
        A robot folder.
    gait : mapping
        Parameters that replace those of its own gait.

    """
    robot = read_robot(Path(folder))
    lowered = dict(gait)
    for name, direction, proven in (
        ('max_forward', (1.0, 0.0, 0.0), COMMANDED_SPEED),
        ('max_sideways', (0.0, 1.0, 0.0), 0.0),
    ):
        while lowered.get(name, 0.0) > proven:
            x, y, yaw = (lowered[name] * share for share in direction)
            own = resolve_gait(robot, parameters=lowered)
            spec = _walk_spec(folder, own, (x, y, yaw), _LIMIT_DURATION)
            if run_loop(spec).result().status == OK:
                break
            limit = round(_LIMIT_SHARE * lowered[name], 2)
            lowered[name] = max(limit if limit >= _LEAST_LIMIT else 0.0, proven)
    return lowered


def _walk_spec(
    folder: str, gait: RobotGait, velocity: tuple[float, float, float], duration: float
) -> TrialSpec:
    """Return the trial of a walk at a constant velocity on flat ground."""
    return TrialSpec(
        scene=make_scene(folder, {}),
        controller=gait.controller,
        parameters=gait.parameters,
        script=constant_script(velocity),
        duration=duration,
    )
