"""Whether a robot stands in its nominal stance, in physics."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gait_core.trial import run_loop
from gait_core.trial_setup import controller_parameters, make_scene
from gait_core.trial_spec import OK, TrialSpec

SECONDS = 2.0
_TILT = 0.1
"""Lean [rad] beyond which it counts as not standing."""
_SINK = 0.15
"""Share of its height by which the base may move."""


def stand_on(robot: str, engine: str = '') -> dict[str, Any]:
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
        duration=SECONDS,
    )
    loop = run_loop(spec)
    result, rollout = loop.result(), loop.rollout()
    start, end = rollout.body_poses[0, 0], rollout.body_poses[-1, 0]
    moved = float(np.linalg.norm(end[:3] - start[:3]))
    upright = 1.0 - 2.0 * float(end[3] ** 2 + end[4] ** 2)
    tilt = math.acos(min(1.0, max(-1.0, upright)))
    most = _SINK * rollout.robot.length_scale
    stands = result.status == OK and tilt <= _TILT and moved <= most
    reason = result.reason or (
        '' if stands else f'it leans by {tilt:.2f} rad and moved by {moved:.3f} m'
    )
    return {
        'engine': spec.scene.engine,
        'seconds': SECONDS,
        'stands': stands,
        'moved_m': moved,
        'tilt_deg': math.degrees(tilt),
        'reason': reason,
    }
