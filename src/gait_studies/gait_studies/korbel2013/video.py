# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study korbel2013: animation of the crawling spine, with cables coloured by tension."""

from __future__ import annotations

from collections.abc import Iterator
import io
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw
from scipy.constants import inch, lbf

from gait_core.arrays import FloatArray
from gait_core.files.access import write_atomically
from gait_core.measures.contact_nodes import contact_node_positions
from gait_studies.korbel2013.trials import DetailedTrial
from gait_tools.pictures.trial import write_gif

FRAMES_PER_SECOND = 12.5
_PICTURE_SIZE = (560, 240)
_PIXELS_PER_INCH = 17.0
"""Scale of the pictures."""

_AZIMUTH, _ELEVATION = np.radians(-28.0), np.radians(14.0)
_SLACK, _TAUT = np.array([70, 120, 220]), np.array([225, 60, 40])
_TENSION_RANGE = (0.2, 1.6)
"""Tensions of a slack and of a taut cable, by colour [lb]."""

_CORNERS = ('outer_a', 'outer_b', 'outer_c', 'inner_a')
_RODS = ((0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3))


def write_spine_gif(path: Path, trial: DetailedTrial, start: float, end: float) -> None:
    """Write a GIF of a part of a trial [s], in real time; loaded corners have dots."""
    write_gif(
        path, _frames(trial, _frame_ticks(trial, start, end, FRAMES_PER_SECOND)), FRAMES_PER_SECOND
    )


def write_spine_strip(
    path: Path, trial: DetailedTrial, start: float, end: float, count: int
) -> None:
    """Write ``count`` frames of a trial at equal intervals, one below the other."""
    ticks = np.linspace(start, end, count) / trial.rollout.dt
    pictures = list(_frames(trial, np.round(ticks).astype(np.int64)))
    content = io.BytesIO()
    Image.fromarray(np.concatenate(pictures, axis=0)).save(content, format='PNG')
    write_atomically(path, content.getvalue())


def _frame_ticks(
    trial: DetailedTrial, start: float, end: float, rate: float
) -> npt.NDArray[np.int64]:
    times = np.arange(start, end, 1.0 / rate)
    return np.minimum(np.round(times / trial.rollout.dt), trial.rollout.ticks).astype(np.int64)


def _frames(trial: DetailedTrial, ticks: npt.NDArray[np.int64]) -> Iterator[npt.NDArray[np.uint8]]:
    """Yield the picture of each tick, (height, width, 3)."""
    corners = np.stack([trial.corner_positions(name) for name in _CORNERS], axis=2)[ticks] / inch
    nodes = contact_node_positions(trial.rollout)[ticks] / inch
    loads = trial.rollout.sole_forces()[ticks, :, 2]
    tensions = trial.tensions[ticks] / lbf
    # The camera does not move; the robot moves over the marks of the ground.
    middle = 0.5 * (corners[..., 0].max() + corners[..., 0].min())
    for frame, tick in enumerate(ticks):
        picture = Image.new('RGB', _PICTURE_SIZE, 'white')
        draw = ImageDraw.Draw(picture)
        _draw_ground(draw, middle)
        _draw_cables(draw, trial, corners[frame], tensions[frame], middle)
        for body in corners[frame]:
            for a, b in _RODS:
                draw.line(
                    [*_pixel(body[a], middle), *_pixel(body[b], middle)], fill='#333333', width=2
                )
        for point, load in zip(nodes[frame], loads[frame], strict=True):
            if load > 0.0:
                x, y = _pixel(point, middle)
                draw.ellipse([x - 4, y - 4, x + 4, y + 4], fill='#1a8f3c')
        draw.text((6, 4), f'{tick * trial.rollout.dt:5.2f} s', fill='black')
        yield np.asarray(picture)


def _pixel(point: FloatArray, middle: float) -> tuple[float, float]:
    """Return the pixel of a point [in] in the orthographic projection."""
    x, y, z = point[0] - middle, point[1], point[2]
    across = x * np.cos(_AZIMUTH) - y * np.sin(_AZIMUTH)
    away = x * np.sin(_AZIMUTH) + y * np.cos(_AZIMUTH)
    up = z * np.cos(_ELEVATION) + away * np.sin(_ELEVATION)
    return 0.5 * _PICTURE_SIZE[0] + _PIXELS_PER_INCH * float(across), _PICTURE_SIZE[
        1
    ] - 62.0 - _PIXELS_PER_INCH * float(up)


def _draw_ground(draw: ImageDraw.ImageDraw, middle: float) -> None:
    """Draw a line across the ground every two inches."""
    for mark in range(2 * round(0.5 * middle) - 24, 2 * round(0.5 * middle) + 25, 2):
        ends = (np.array([mark, side, 0.0]) for side in (-4.0, 4.0))
        colour = '#999999' if mark % 10 == 0 else '#dddddd'
        draw.line([number for end in ends for number in _pixel(end, middle)], fill=colour)


def _draw_cables(
    draw: ImageDraw.ImageDraw,
    trial: DetailedTrial,
    corners: FloatArray,
    tensions: FloatArray,
    middle: float,
) -> None:
    """Draw the cables between neighbouring bodies; ``corners`` is (b, 4, 3) [in]."""
    low, high = _TENSION_RANGE
    letters = 'abc'
    for element, tension in zip(trial.rollout.robot.force_elements, tensions, strict=True):
        gap, kind, letter = element.name.split('_')
        rear = int(gap.removeprefix('gap')) - 1
        end = letters.index(letter)
        share = float(np.clip((tension - low) / (high - low), 0.0, 1.0))
        colour = tuple(int(value) for value in (1.0 - share) * _SLACK + share * _TAUT)
        points = corners[rear, end if kind == 'outer' else 3], corners[rear + 1, end]
        draw.line([*_pixel(points[0], middle), *_pixel(points[1], middle)], fill=colour, width=1)
