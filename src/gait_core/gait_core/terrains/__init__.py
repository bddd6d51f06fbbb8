# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Terrains by name: one module each, registered under ``gait.terrains`` in ``setup.py``.

A new one is a Parameters dataclass whose ``build(seed)`` returns ``Grid(HeightField(...))``.
"""

from __future__ import annotations

from functools import lru_cache

from gait_core import registry
from gait_core.contracts import Terrain, TerrainParameters
from gait_core.height_field import HeightField
from gait_core.parameters.declaration import make_parameters
from gait_core.terrains.surfaces import Grid, Plane
from gait_core.trial.scene import TerrainSpec

__all__ = ['Grid', 'HeightField', 'Plane', 'Terrain', 'load_terrain']


def load_terrain(spec: TerrainSpec) -> Terrain:
    """
    Return the surface of a spec; equal specs share one object.

    Raises
    ------
    ConfigurationError
        For an unknown terrain or parameter (with the nearest valid one) or a value out of range.

    """
    return _build_surface(make_parameters(registry.terrain(spec.name), spec.parameters), spec.seed)


@lru_cache(maxsize=16)
def _build_surface(parameters: TerrainParameters, seed: int) -> Terrain:
    return parameters.build(seed)
