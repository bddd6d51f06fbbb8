"""What several motions have in common that move one robot at the same time."""

from __future__ import annotations

from typing import Protocol

from gait_core.arrays import FloatArray


class Behaviour(Protocol):
    """
    A motion that adds joint velocities to those of others and owns no joint.

    The sum over all behaviours, integrated, is what the joints are told. A behaviour therefore
    needs to know neither the others nor where the joints stand.
    """

    def turn_angles(self, begin: int, end: int) -> FloatArray:
        """Return the turn of each of ``JOINTS`` between two times [ns], (n,) [rad]."""
