# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Terrain in PyBullet, as ground and as target of rays."""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError
from gait_core.terrains import Terrain
from sim_bridge.engines.bullet.client import connect, disconnect, pb


def add_ground(terrain: Terrain, heights: Sequence[float], client: int) -> int:
    """
    Add a terrain to a client and return its body.

    ``heights`` [m] are those of its height field, row by row; empty for a plane.
    """
    field = terrain.heightfield
    if field is None:
        visual, centre = -1, (0.0, 0.0, 0.0)
        shape = pb.createCollisionShape(
            pb.GEOM_PLANE, planeNormal=[0.0, 0.0, 1.0], physicsClientId=client
        )
    else:
        rows, columns = field.heights.shape
        shape = pb.createCollisionShape(
            pb.GEOM_HEIGHTFIELD,
            meshScale=[field.cell, field.cell, 1.0],
            heightfieldData=heights,
            numHeightfieldRows=columns,
            numHeightfieldColumns=rows,
            physicsClientId=client,
        )
        # Bullet puts the centre of the bounding box at the origin of the shape.
        centre = (*field.centre, field.mid_height)
        # Without a visual shape Bullet would triangulate the whole field for pictures.
        visual = pb.createVisualShape(pb.GEOM_SPHERE, radius=1e-3, physicsClientId=client)
    if shape < 0:
        raise ConfigurationError('Bullet could not build the terrain; it may be too large')
    ground: int = pb.createMultiBody(
        baseMass=0.0,
        baseCollisionShapeIndex=shape,
        baseVisualShapeIndex=visual,
        basePosition=centre,
        physicsClientId=client,
    )
    return ground


class GroundRayCaster:
    """Ray caster at a terrain, in a client of its own so that it cannot disturb the physics."""

    def __init__(self, terrain: Terrain) -> None:
        self.terrain = terrain
        self._client = connect(pb.DIRECT)
        field = terrain.heightfield
        add_ground(terrain, [] if field is None else field.heights.ravel().tolist(), self._client)

    def cast(self, origin: FloatArray, directions: FloatArray, max_distance: float) -> FloatArray:
        """Return the distances of rays, (n,) [m], as ``RangingEngine.cast`` defines them."""
        ends = origin + max_distance * directions
        start = origin.tolist()
        batch = pb.MAX_RAY_INTERSECTION_BATCH_SIZE
        distances: FloatArray = np.empty(len(ends))
        for first in range(0, len(ends), batch):
            part = ends[first : first + batch].tolist()
            hits = pb.rayTestBatch([start] * len(part), part, physicsClientId=self._client)
            distances[first : first + len(part)] = [
                max_distance * hit[2] if hit[0] >= 0 else math.inf for hit in hits
            ]
        return distances

    def close(self) -> None:
        """End the client."""
        disconnect(self._client)
