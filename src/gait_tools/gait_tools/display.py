# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Videos and windows of trials, drawn by the registered renderer and viewer."""

from __future__ import annotations

import os
from pathlib import Path
import sys
import time

import numpy as np

from gait_core import registry
from gait_core.errors import ConfigurationError
from gait_core.motion.observation import Observation
from gait_core.terrains import load_terrain
from gait_core.trial.rollout import Rollout
from gait_tools.pictures.trial import write_gif

FRAMES_PER_SECOND = 12.5
"""Rate of a video as shown [Hz]: 80 ms per frame, a multiple of the 10 ms of GIF."""

_MAX_FRAMES = 150
_SIZE = (400, 300)


def check_screen() -> None:
    """Raise ConfigurationError if no window can be opened; called before the trial."""
    shown = os.environ.get('DISPLAY') or os.environ.get('WAYLAND_DISPLAY')
    if sys.platform.startswith('linux') and not shown:
        raise ConfigurationError(
            'a viewer needs a display, and DISPLAY is not set; --video FILE works without one'
        )
    registry.viewer(_first_registered('viewers'))


def check_video(path: Path) -> None:
    """Raise ConfigurationError if a video cannot be written; called before the trial."""
    if path.suffix.lower() != '.gif':
        nearest = (path if path.name else path / 'video').with_suffix('.gif')
        raise ConfigurationError(
            f"video '{path}': only GIF is written; nearest valid: '{nearest}'"
        )
    if not path.parent.is_dir():
        raise ConfigurationError(f"video '{path}': the folder '{path.parent}' does not exist")
    registry.renderer(_first_registered('renderers'))


def write_video(path: Path, rollout: Rollout) -> None:
    """
    Write a GIF of a rollout in real time; a long one is faster by an integer factor.

    A robot enlarged by ``scene.length_scale`` L is shown slower by sqrt(L), its dynamic time
    scale: in real time an insect would make a step per frame.
    """
    render = registry.renderer(_first_registered('renderers'))
    slower = max(1.0, rollout.spec.scene.length_scale**0.5)
    duration = slower * rollout.ticks * rollout.dt
    factor = max(1, int(np.ceil(duration * FRAMES_PER_SECOND / _MAX_FRAMES)))
    rate = slower * FRAMES_PER_SECOND / factor
    write_gif(path, render(rollout, rate, _SIZE), FRAMES_PER_SECOND)


def play_rollout(rollout: Rollout) -> None:
    """Play a rollout in a window in real time, to its end or until the window is closed."""
    terrain = load_terrain(rollout.spec.scene.terrain)
    viewer = registry.viewer(_first_registered('viewers'))(rollout.robot, terrain)
    try:
        began = time.monotonic()
        for tick in range(rollout.ticks + 1):
            if not viewer.is_open:
                return
            viewer.show(_observation_at(rollout, tick))
            time.sleep(max(0.0, began + tick * rollout.dt - time.monotonic()))
    finally:
        viewer.close()


def _observation_at(rollout: Rollout, tick: int) -> Observation:
    return Observation(
        tick=tick,
        time=tick * rollout.dt,
        joint_names=rollout.robot.joint_names,
        joint_positions=rollout.joint_positions[tick],
        body_names=rollout.robot.roots,
        body_poses=rollout.body_poses[tick],
    )


def _first_registered(kind: str) -> str:
    available = registry.names(kind)
    if not available:
        raise ConfigurationError(f'no {kind} are registered: is sim_bridge installed?')
    return available[0]
