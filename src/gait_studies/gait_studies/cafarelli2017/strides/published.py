# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Printed results and strides of the thesis, from ``published.yaml``."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import yaml

from gait_core.arrays import FloatArray, read_only_array
from gait_core.errors import unknown_name_error
from gait_studies.cafarelli2017.strides.encoding import genes_from_legs

TableRow = dict[str, float]


@cache
def _document() -> dict[str, Any]:
    text = (
        files('gait_studies.cafarelli2017.strides')
        .joinpath('published.yaml')
        .read_text(encoding='utf-8')
    )
    document: dict[str, Any] = yaml.safe_load(text)
    return document


def _entry(name: str, holding: str) -> dict[str, Any]:
    known = {
        key: value
        for key, value in _document().items()
        if isinstance(value, dict) and holding in value
    }
    if name not in known:
        raise unknown_name_error('published table', name, known)
    entry: dict[str, Any] = known[name]
    return entry


def published_table(name: str) -> list[TableRow]:
    """Return the rows of a table of the text, e.g. ``table_6_2``, by column."""
    entry = _entry(name, 'rows')
    return [dict(zip(entry['columns'], row, strict=True)) for row in entry['rows']]


def published_runs(name: str) -> dict[float, FloatArray]:
    """Return the ten runs (10,) per setting of a table of the appendix, e.g. ``table_a_1``."""
    entry = _entry(name, 'runs')
    return {
        float(key): read_only_array(row, (10,), name=name) for key, row in entry['runs'].items()
    }


def published_checkpoints() -> dict[int, float]:
    """Return the best fitness of the final run with seed 5, by generation."""
    return {int(key): float(value) for key, value in _document()['checkpoints'].items()}


def published_matings() -> int:
    """Return the number of matings of the final run with seed 5."""
    return int(_document()['matings'])


def published_best_stride(*, rounded: bool = False) -> FloatArray:
    """Return the best stride (48,) [deg, cm] in full, or rounded as Table 6.10 prints it."""
    rows = published_table('table_6_10' if rounded else 'best_stride')
    legs = np.array([[row[key] for key in ('hip', 'knee', 'upper', 'lower')] for row in rows])
    return genes_from_legs(legs.reshape(3, 4, 4).tolist())


def viewer_stride() -> FloatArray:
    """Return the first stride (48,) [deg, cm] of the program's side view."""
    return np.array(_document()['viewer_stride'], dtype=np.float64).reshape(48)
