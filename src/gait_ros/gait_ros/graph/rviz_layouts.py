# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""RViz layouts, scaled to the size of a robot."""

from __future__ import annotations

from pathlib import Path
import re

from gait_core.files.access import read_text, temporary_folder

LAYOUT_SIZE = 0.5
"""Length scale [m] of the robots for which the layouts are made."""
# Largest ratio of length scales at which a layout is used unscaled.
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
    """Scale the lengths of a layout by a factor: view distance, grid and markers."""
    return _LINE.sub(lambda found: f'{found[1]}{float(found[2]) * factor:.6g}', text)


def layout_topics(file: Path) -> list[str]:
    """Return the topics of a layout, sorted."""
    return sorted(set(_TOPIC.findall(read_text(file))))


def fit_layout(file: Path, size: float) -> Path:
    """
    Return the layout for a robot with the length scale ``size`` [m].

    If the robot has about the size for which the layout is made, this is the file itself, so that
    changes saved in RViz are kept. Otherwise it is a scaled temporary copy.
    """
    factor = size / LAYOUT_SIZE
    if 1.0 / _MAX_SIZE_RATIO <= factor <= _MAX_SIZE_RATIO:
        return file
    copy = temporary_folder('gait_rviz_') / file.name
    copy.write_text(scale_layout(read_text(file), factor), encoding='utf-8')
    return copy
