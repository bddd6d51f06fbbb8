"""Layouts of RViz for robots of any size."""

from __future__ import annotations

from pathlib import Path
import re

from gait_core.files.access import read_text, temporary_folder

LAYOUT_SIZE = 0.5
"""Length scale [m] of the robots that layouts are written for."""
_MAX_SIZE_RATIO = 2.0
_LENGTH_KEYS = (
    'Cell Size',
    'Marker Scale',
    'Radius',
    'Axes Length',
    'Axes Radius',
    'Position Tolerance',
    'Distance',
    'Near Clip Distance',
)
_TOPIC = re.compile(r'^ *Value: (/\S+)$', re.MULTILINE)
_LINE = re.compile(rf'^( *(?:{"|".join(_LENGTH_KEYS)}): )([0-9.]+)$', re.MULTILINE)


def scale_layout(text: str, factor: float) -> str:
    """Return a layout whose lengths are larger by a factor: view, grid, and what is drawn."""
    return _LINE.sub(lambda found: f'{found[1]}{float(found[2]) * factor:.6g}', text)


def layout_topics(file: Path) -> list[str]:
    """Return the topics that a layout shows, sorted."""
    return sorted(set(_TOPIC.findall(read_text(file))))


def fit_layout(file: Path, size: float) -> Path:
    """
    Return a layout for a robot of a length scale [m]: the file, or a scaled copy of it.

    Robots of about the size that layouts are written for see the file itself, so that what RViz
    saves is found again.
    """
    factor = size / LAYOUT_SIZE
    if 1.0 / _MAX_SIZE_RATIO <= factor <= _MAX_SIZE_RATIO:
        return file
    copy = temporary_folder('gait_rviz_') / file.name
    copy.write_text(scale_layout(read_text(file), factor), encoding='utf-8')
    return copy
