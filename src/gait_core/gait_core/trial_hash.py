"""The hash of a trial: every tick's state and targets, then the status."""

from __future__ import annotations

import hashlib
import struct
from typing import Any

import numpy as np

from gait_core.observation import Observation
from gait_core.targets import AppliedTargets

_LITTLE = np.dtype('<f8')
"""Hashes are of little-endian numbers, whatever the machine's order."""


class TrialHash:
    """SHA-256 of numbers in the order in which a trial brings them about."""

    def __init__(self) -> None:
        # Any: before Python 3.12 type checkers cannot know that arrays are buffers.
        self._digest: Any = hashlib.sha256()

    def state(self, tick: int, state: Observation) -> None:
        """Add a tick, and positions and velocities of joints and bodies where they are known."""
        update = self._digest.update
        update(struct.pack('<d', tick))
        for array in (
            state.joint_positions,
            state.joint_velocities,
            state.body_poses,
            state.body_twists,
        ):
            if array is not None:
                update(np.ascontiguousarray(array, _LITTLE))

    def targets(self, applied: AppliedTargets) -> None:
        """Add what is applied, all sub-samples."""
        update = self._digest.update
        for array in (applied.position, applied.velocity, applied.effort):
            update(np.ascontiguousarray(array, _LITTLE))

    def status(self, status: str) -> None:
        """Add the status, which comes last."""
        self._digest.update(status.encode())

    def hexdigest(self) -> str:
        """Return the hash so far."""
        found: str = self._digest.hexdigest()
        return found
