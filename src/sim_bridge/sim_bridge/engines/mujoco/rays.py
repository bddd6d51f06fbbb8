"""Rays at a terrain in MuJoCo."""

from __future__ import annotations

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.terrains import Terrain
from sim_bridge.engines.mujoco.client import mj
from sim_bridge.engines.mujoco.model import add_ground

_NO_BODY = -1


class GroundRays:
    """Casts rays at a terrain, in a model of its own: nothing here can disturb the physics."""

    def __init__(self, terrain: Terrain) -> None:
        self.terrain = terrain
        spec = mj.MjSpec()
        add_ground(spec, terrain)
        self._model = spec.compile()
        self._data = mj.MjData(self._model)
        mj.mj_kinematics(self._model, self._data)

    def cast(self, origin: FloatArray, directions: FloatArray, reach: float) -> FloatArray:
        """Return how far rays go, (n,) [m], as RangingEngine has it."""
        count = len(directions)
        distances: FloatArray = np.empty(count)
        mj.mj_multiRay(
            self._model,
            self._data,
            np.ascontiguousarray(origin),
            np.ascontiguousarray(directions).ravel(),
            None,
            True,
            _NO_BODY,
            np.empty(count, dtype=np.int32),
            distances,
            None,
            count,
            reach,
        )
        # MuJoCo says -1 where nothing is met; its cutoff goes by geometries, not by points.
        met = (distances >= 0.0) & (distances <= reach)
        return np.where(met, distances, np.inf)

    def close(self) -> None:
        """Do nothing: model and data go with this."""
