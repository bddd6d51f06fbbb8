# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Flat ground."""

from __future__ import annotations

from dataclasses import dataclass

from gait_core.contracts import Terrain, TerrainParameters
from gait_core.terrains.surfaces import Plane


@dataclass(frozen=True, kw_only=True)
class Flat(TerrainParameters):
    """The plane z = 0, without parameters; the seed has no effect."""

    def build(self, seed: int) -> Terrain:
        """Return the plane."""
        return Plane()
