# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Acceptance check of commanded walks: errors of speed and heading of the a1."""

from __future__ import annotations

from dataclasses import replace
import math

import numpy as np
from scipy.spatial.transform import Rotation

from gait_core.benchmark import Measurement
from gait_core.trial.loop import run_loop
from gait_core.trial.setup import (
    constant_script,
    default_trial,
    make_scene,
    usable_engines,
    usable_robots,
)
from gait_core.trial.spec import OK

SPEEDS = (0.1, 0.2, 0.3, 0.4, 0.5)
_DISTANCE, _SETTLING_TIME = 5.0, 2.0
_MIN_DISTANCE = 1.5
"""Smallest distance [m] over which the controlled mean speed has converged."""
_MAX_SPEED_ERROR, _MAX_DRIFT_DEG = 0.1, 5.0


def check_commanded_walks(share: float = 1.0) -> list[Measurement]:
    """Measure errors of speed and heading of a1 on level ground in each engine."""
    rows = []
    metres = max(_DISTANCE * share, _MIN_DISTANCE)
    speeds = SPEEDS if share >= 1.0 else SPEEDS[1::3]
    for engine in usable_engines():
        for robot in usable_robots('a1'):
            walks = [measure_walk(robot, engine, speed, metres) for speed in speeds]
            errors = [
                abs(forward / speed - 1.0)
                for speed, (forward, _) in zip(speeds, walks, strict=True)
            ]
            rows += [
                Measurement(
                    id=f'commanded_speed_{engine}',
                    what=f'in {engine}: largest error of {robot} at {speeds[0]} to '
                    f'{speeds[-1]} m/s over {metres:g} m',
                    unit='-',
                    measured=max(errors),
                    budget=_MAX_SPEED_ERROR,
                ),
                Measurement(
                    id=f'commanded_heading_{engine}',
                    what='largest drift of its heading meanwhile',
                    unit='deg',
                    measured=max(abs(turn) for _, turn in walks),
                    budget=_MAX_DRIFT_DEG,
                ),
            ]
    return rows


def measure_walk(robot: str, engine: str, speed: float, metres: float) -> tuple[float, float]:
    """
    Return mean forward speed [m/s] and turn [deg] of a commanded walk over a distance.

    The robot has its defaults. The first 2 s, in which steps grow to their full length, are left
    out. Both values are infinite after a fall.
    """
    spec = replace(
        default_trial(robot, _SETTLING_TIME + metres / speed),
        scene=make_scene(robot, {'engine': engine}),
        script=constant_script((speed, 0.0, 0.0)),
    )
    loop = run_loop(spec)
    if loop.status != OK:
        return math.inf, math.inf
    poses = loop.rollout().body_poses[round(_SETTLING_TIME / loop.dt) :, 0]
    turns = Rotation.from_quat(poses[:, 3:])
    steps = turns[:-1].inv().apply(np.diff(poses[:, :3], axis=0))
    yaw = np.unwrap(turns.as_euler('ZYX')[:, 0])
    forward = float(steps[:, 0].sum() / (len(steps) * loop.dt))
    return forward, math.degrees(float(yaw[-1] - yaw[0]))
