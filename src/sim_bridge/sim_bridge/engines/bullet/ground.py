"""A terrain in PyBullet: to stand on, and to be met by rays."""

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

    ``heights`` are those of its height field, row by row [m]; none of a plane.
    """
    field = terrain.heightfield
    if field is None:
        looks, centre = -1, (0.0, 0.0, 0.0)
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
        # Bullet puts the middle of the bounding box at the shape's origin.
        centre = (*field.centre, field.mid_height)
        # Without looks of its own the whole field would be triangulated for pictures.
        looks = pb.createVisualShape(pb.GEOM_SPHERE, radius=1e-3, physicsClientId=client)
    if shape < 0:
        raise ConfigurationError('Bullet could not build the terrain; it may be too large')
    ground: int = pb.createMultiBody(
        baseMass=0.0,
        baseCollisionShapeIndex=shape,
        baseVisualShapeIndex=looks,
        basePosition=centre,
        physicsClientId=client,
    )
    return ground


class GroundRayCaster:
    """Casts rays at a terrain, in a client of its own: nothing here can disturb the physics."""

    def __init__(self, terrain: Terrain) -> None:
        self.terrain = terrain
        self._client = connect(pb.DIRECT)
        field = terrain.heightfield
        add_ground(terrain, [] if field is None else field.heights.ravel().tolist(), self._client)

    def cast(self, origin: FloatArray, directions: FloatArray, max_distance: float) -> FloatArray:
        """Return how far rays go, (n,) [m], as RangingEngine has it."""
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
