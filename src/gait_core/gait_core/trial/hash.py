"""The hash of a trial: every tick's state and targets, then the status."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.motion.state_tape import StateTape
from gait_core.motion.targets import AppliedTape

_LITTLE_ENDIAN = np.dtype('<f8')
"""Hashes are of little-endian numbers, whatever the machine's order."""
_CHUNK_NUMBERS = 32_768
"""Numbers that are put side by side at a time: they stay in the processor's cache."""


class TrialHash:
    """SHA-256 of numbers in the order in which a trial brings them about."""

    def __init__(self) -> None:
        # Any: before Python 3.12 type checkers cannot know that arrays are buffers.
        self._digest: Any = hashlib.sha256()

    def add_periods(self, states: StateTape, applied: AppliedTape) -> None:
        """
        Add control periods: of each its tick, its state at the beginning and what is applied.

        A state is positions and velocities of joints and bodies where they are known; of targets
        all sub-samples count.
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
        """Add the rows of arrays that stand side by side."""
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
