# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Pictures of a trial: ZMP over the support polygon, gait diagram, GIF."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from gait_core.errors import ConfigurationError
from gait_core.files.access import write_atomically
from gait_core.measures.metrics import contact_zmp, trial_gait_diagram
from gait_core.measures.stability import support_polygon
from gait_core.trial.rollout import Rollout

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_GIF_SIZE = 2_000_000
"""Largest size of a GIF [bytes]; colours, then width and height are reduced until it fits."""

# Fewer colours would lose the marks of the zero-moment point and of the area of support.
_PALETTES = (64, 32)


def write_gif(
    path: Path, frames: Iterable[npt.NDArray[np.uint8]], frames_per_second: float
) -> None:
    """
    Write an endless GIF with one palette for all frames, below ``MAX_GIF_SIZE``.

    Parameters
    ----------
    path : Path
    frames : iterable of (h, w, 3) uint8 arrays
    frames_per_second : float [Hz]

    Raises
    ------
    ConfigurationError
        If there are no frames or the file cannot be written.

    """
    pictures = [Image.fromarray(frame) for frame in frames]
    if not pictures:
        raise ConfigurationError(f"video '{path}': the trial has no frames")
    period = round(1000.0 / frames_per_second)
    with _picture_errors(path):
        while True:
            for colours in _PALETTES:
                content = _encode_gif(pictures, colours, period)
                if len(content) <= MAX_GIF_SIZE:
                    write_atomically(path, content)
                    return
            pictures = [
                picture.resize((picture.width * 3 // 4, picture.height * 3 // 4))
                for picture in pictures
            ]


def _encode_gif(pictures: list[Any], colours: int, period: int) -> bytes:
    """Return the bytes of an endless GIF; ``period`` is the time between two pictures [ms]."""
    # One palette for all frames, from samples of the whole video, avoids flicker of still parts.
    sample = pictures[:: max(1, len(pictures) // 4)]
    sheet = Image.new('RGB', (sample[0].width, sample[0].height * len(sample)))
    for row, picture in enumerate(sample):
        sheet.paste(picture, (0, row * picture.height))
    palette = sheet.quantize(colours, method=Image.Quantize.MEDIANCUT)
    reduced = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    content = io.BytesIO()
    reduced[0].save(
        content,
        format='GIF',
        save_all=True,
        append_images=reduced[1:],
        duration=period,
        loop=0,
        optimize=False,
        disposal=1,
    )
    return content.getvalue()


def draw_zmp(path: Path, rollout: Rollout) -> None:
    """
    Draw the ZMP of the contact forces from above with the support polygons, and over time.

    Left: its path on the ground, with a support polygon every half second. Right: its x and y
    over time; a gap means that it is undefined.
    """
    series = contact_zmp(rollout)
    path_xy = np.where(series.defined[:, None], series.points[:, :2], np.nan)
    with saved_figure(path, (11.0, 4.5)) as figure:
        above, along = figure.subplots(1, 2, width_ratios=(1.3, 1.0))
        _draw_polygons(above, rollout)
        above.plot(*path_xy.T, color='tab:red', linewidth=0.8, label='ZMP')
        base = rollout.body_poses[:, 0, :2]
        above.plot(*base.T, color='tab:blue', linewidth=1.0, label='base')
        above.set(xlabel='x [m]', ylabel='y [m]', title='ZMP over the support polygon')
        above.set_aspect('equal', adjustable='datalim')
        above.legend(loc='upper left', fontsize='small')
        for component, label in enumerate(('x', 'y')):
            along.plot(rollout.time, path_xy[:, component], linewidth=0.8, label=label)
        along.set(xlabel='time [s]', ylabel='ZMP [m]')
        along.legend(fontsize='small')


def _draw_polygons(axes: Any, rollout: Rollout) -> None:
    every = max(1, round(0.5 / rollout.dt))
    for tick in range(0, rollout.ticks + 1, every):
        corners = support_polygon(rollout.loaded_points(tick))
        if len(corners) >= 3:
            axes.fill(*corners.T, facecolor='0.85', edgecolor='0.55', linewidth=0.6)


def draw_gait_diagram(path: Path, rollout: Rollout) -> None:
    """Draw the stances of each leg as bars over time, the first leg at the top."""
    if not rollout.robot.legs:
        raise ConfigurationError(f"robot '{rollout.robot.name}' has no legs to draw")
    if rollout.states.contacts is None:
        raise ConfigurationError('the states of the trial have no contacts to draw')
    diagram = trial_gait_diagram(rollout)
    names = list(diagram.stances)
    with saved_figure(path, (8.0, 0.5 * len(names) + 1.2)) as figure:
        axes = figure.subplots()
        for row, name in enumerate(names):
            spans = [(start, end - start) for start, end in diagram.stances[name]]
            axes.broken_barh(spans, (row - 0.35, 0.7), facecolor='0.2')
        axes.set_yticks(range(len(names)), names)
        axes.invert_yaxis()
        axes.set(xlabel='time [s]', xlim=(0.0, rollout.ticks * rollout.dt), title='stance')


@contextmanager
def saved_figure(path: Path, size: tuple[float, float]) -> Iterator[Figure]:
    """Yield a figure of a size [inch] and save it when the block ends."""
    # A figure with its own canvas needs no display and shares no state with the user's pyplot.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout='constrained')
    FigureCanvasAgg(figure)
    yield figure
    with _picture_errors(path):
        content = io.BytesIO()
        figure.savefig(content, dpi=110, format=path.suffix[1:] or 'png')
        write_atomically(path, content.getvalue())


@contextmanager
def _picture_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ConfigurationError(f"picture '{path}': {error.strerror or error}") from error
