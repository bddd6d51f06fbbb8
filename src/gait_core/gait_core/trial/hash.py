# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Hash of a trial: the state and targets of every tick, then the status."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.motion.state_tape import StateTape
from gait_core.motion.targets import AppliedTape

_LITTLE_ENDIAN = np.dtype('<f8')
"""Byte order of the hashed numbers on every machine."""
_CHUNK_NUMBERS = 32_768
"""Numbers that are hashed at a time: they fit into the processor's cache."""


class TrialHash:
    """SHA-256 of the numbers of a trial, in order of time."""

    def __init__(self) -> None:
        # Any: before Python 3.12 type checkers cannot know that arrays are buffers.
        self._digest: Any = hashlib.sha256()

    def add_periods(self, states: StateTape, applied: AppliedTape) -> None:
        """
        Add control periods: of each its tick, its state at the start and its applied targets.

        A state is the positions and velocities of joints and bodies, as far as they are known.
        Targets count with all sub-samples.
        """
        self._rows(
            [
                *_state_columns(states),
                *map(_flatten_ticks, (applied.position, applied.velocity, applied.effort)),
            ]
        )

    def add_end(self, last: StateTape, status: str) -> None:
        """Add the last tick, its state and the status."""
        self._rows(_state_columns(last))
        self._digest.update(status.encode())

    def hexdigest(self) -> str:
        """Return the hash so far."""
        found: str = self._digest.hexdigest()
        return found

    def _rows(self, columns: list[FloatArray]) -> None:
        """Add arrays, (T, k) each, tick by tick: row t of all of them, then row t + 1."""
        width = sum(array.shape[1] for array in columns)
        count = max(1, _CHUNK_NUMBERS // width)
        room = np.empty((count, width), _LITTLE_ENDIAN)
        for begin in range(0, len(columns[0]), count):
            parts = [array[begin : begin + count] for array in columns]
            rows = room[: len(parts[0])]
            np.concatenate(parts, axis=1, out=rows)
            self._digest.update(rows)


def _state_columns(states: StateTape) -> list[FloatArray]:
    known = (
        states.joint_positions,
        states.joint_velocities,
        states.body_poses,
        states.body_twists,
    )
    ticks = states.ticks[:, None].astype(np.float64)
    return [ticks, *(_flatten_ticks(array) for array in known if array is not None)]


def _flatten_ticks(array: FloatArray) -> FloatArray:
    """Return an array of (T, ...) as (T, numbers of one tick)."""
    return array.reshape(len(array), -1)
