"""Videos and windows: recorded states drawn by whatever renderer is registered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import sys

import numpy as np

from gait_core import registry
from gait_core.contracts import Renderer
from gait_core.errors import ConfigurationError
from gait_core.rollout import Rollout
from gait_evolver.pictures import write_gif

FRAMES_PER_SECOND = 12.5
"""Of a video; GIF counts in hundredths of a second, so the period must be a whole number."""

_MOST_FRAMES = 150
_SIZE = (400, 300)


def check_screen() -> None:
    """Raise ConfigurationError if no window can be opened here: some engines end the process."""
    shown = os.environ.get('DISPLAY') or os.environ.get('WAYLAND_DISPLAY')
    if sys.platform.startswith('linux') and not shown:
        raise ConfigurationError(
            'a viewer needs a display, and DISPLAY is not set; --video FILE works without one'
        )
    _renderer_name()


def check_video(path: Path) -> None:
    """Raise ConfigurationError if a video cannot be written there, before the trial is run."""
    if path.suffix.lower() != '.gif':
        raise ConfigurationError(
            f"video '{path}': only GIF is written; nearest valid: '{path.with_suffix('.gif')}'"
        )
    if not path.parent.is_dir():
        raise ConfigurationError(f"video '{path}': the folder '{path.parent}' does not exist")
    _renderer_name()


def write_video(path: Path, rollout: Rollout) -> None:
    """Write a GIF of a rollout, in real time unless it is long: then faster, by a whole factor."""
    duration = rollout.ticks * rollout.dt
    factor = max(1, int(np.ceil(duration * FRAMES_PER_SECOND / _MOST_FRAMES)))
    times = np.arange(0.0, duration, factor / FRAMES_PER_SECOND)
    with _renderer() as renderer:
        write_gif(path, renderer.frames(rollout, times.tolist(), *_SIZE), FRAMES_PER_SECOND)


def show(rollout: Rollout) -> None:
    """Play a rollout in a window."""
    with _renderer() as renderer:
        renderer.play(rollout)


def _renderer_name() -> str:
    available = registry.names('renderers')
    if not available:
        raise ConfigurationError('no renderer is registered: is sim_bridge installed?')
    return available[0]


@contextmanager
def _renderer() -> Iterator[Renderer]:
    renderer: Renderer = registry.load('renderers', _renderer_name())()
    try:
        yield renderer
    finally:
        renderer.close()
