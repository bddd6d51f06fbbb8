"""The ground of a scene as the answer of a service."""

from __future__ import annotations

import numpy as np

from gait_core.terrains import load_terrain
from gait_core.trial.scene import Scene
from gait_interfaces.srv import QueryTerrain
from gait_ros.messages.conversions import flat


def describe_terrain(
    scene: Scene | None, request: QueryTerrain.Request, response: QueryTerrain.Response
) -> QueryTerrain.Response:
    """Fill in heights and normals at the asked points, or why there are none."""
    if scene is None:
        response.message = 'there is no scene yet'
    elif len(request.x) != len(request.y):
        response.message = f'y has {len(request.y)} values, expected {len(request.x)}, one per x'
    elif not (np.isfinite(request.x).all() and np.isfinite(request.y).all()):
        response.message = 'x or y is not finite'
    else:
        terrain = load_terrain(scene.terrain)
        x, y = np.array(request.x), np.array(request.y)
        response.heights = flat(terrain.height(x, y))
        response.normals = flat(terrain.normal(x, y))
        response.terrain = scene.terrain.name
        response.terrain_hash = terrain.hash
        response.success = True
    return response
