"""Flat ground."""

from __future__ import annotations

from dataclasses import dataclass

from gait_core.parameters import Parameters
from gait_core.terrains.base import Plane, Terrain


@dataclass(frozen=True, kw_only=True)
class Flat(Parameters):
    """The plane z = 0; it takes no parameters and its seed changes nothing."""

    def build(self, seed: int) -> Terrain:
        """Return the plane."""
        return Plane()
