# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Contact law of a scene in MuJoCo, and rays cast at its ground."""

from __future__ import annotations

from typing import Any

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.robot.model import RobotModel
from gait_core.terrains import Terrain
from gait_core.trial.scene import Scene
from sim_bridge.engines.mujoco.actuators import Actuators
from sim_bridge.engines.mujoco.client import mj
from sim_bridge.engines.mujoco.ground_kernel import (
    SOLE,
    BodyViews,
    ConstraintRows,
    Spring,
    pull_stuck_soles,
    write_ground_springs,
)
from sim_bridge.engines.mujoco.model import add_ground
from sim_bridge.engines.mujoco.options import MujocoOptions
from sim_bridge.engines.mujoco.read_kernel import contact_views
from sim_bridge.engines.mujoco.world import World
from sim_bridge.engines.shared.ground_springs import SPRINGS, STICKY, STICKY_SPRINGS

_EXCLUDE_NO_BODY = -1


class ContactLaw:
    """
    Contact law of a scene, applied between ``mj_step1`` and ``mj_step2``.

    Attributes
    ----------
    soles : (s,) SOLE array
        Soles that can stick; empty for laws without sticking.
    has_springs : bool
        Whether the ground pushes with springs.
    slip_damping : float [1/s]
        Damping of sliding contacts, ``slip`` of ``constraint_kernel.correct_sliding_contacts``.

    """

    def __init__(
        self, world: World, robot: RobotModel, scene: Scene, actuators: Actuators
    ) -> None:
        options, data = world.options, world.data
        self._data, self._ground, self._actuators = data, world.ground, actuators
        self._step = scene.physics_step
        # MuJoCo's damping of a contact, b = 1 / (h d) for step h and impedance d, times the
        # friction.
        self.slip_damping = scene.friction / (scene.physics_step * options.contact_impedance)
        self._spring = _ground_spring(scene, options, robot.mass)
        self.has_springs = self._spring is not None
        self._sole_spring = Spring(
            strength=options.stick_strength * robot.mass,
            rise=options.stick_rise,
            max_depth=options.stick_reach,
            return_share=options.stick_return,
            reversal_speed=0.0,
        )
        sticks = scene.contact_law in (STICKY, STICKY_SPRINGS)
        self.soles = _make_soles(world, robot, actuators) if sticks else np.zeros(0, dtype=SOLE)
        self._bodies = BodyViews(data.xpos, data.xmat, data.xipos, data.xfrc_applied)

    def pull_soles(self) -> None:
        """Stick, release and pull soles, between ``mj_step1`` and ``mj_step2``."""
        torques, contacts = self._actuators.torque_table, contact_views(self._data)
        spring, ground = self._sole_spring, self._ground
        pull_stuck_soles(self.soles, spring, torques, contacts, ground, self._bodies)

    def apply_springs(self, references: FloatArray) -> None:
        """Write the ground's springs to the contact rows; ``references`` are ``efc_aref``."""
        data, contact = self._data, self._data.contact
        rows = ConstraintRows(
            data.efc_vel, references, data.efc_R, data.efc_D, contact.friction, contact.mu
        )
        write_ground_springs(self._spring, self._step, contact_views(data), rows, self._ground)

    def sole_contacts(self) -> tuple[np.ndarray[Any, Any], FloatArray]:
        """Return the pulled soles, (p,), and their anchors, forces and depth 0, (p, 7)."""
        pulled = np.flatnonzero(self.soles['pull'].any(axis=1))
        soles = self.soles[pulled]
        return pulled, np.column_stack([soles['anchor'], soles['pull'], np.zeros(len(pulled))])


def _ground_spring(scene: Scene, options: MujocoOptions, mass: float) -> Spring | None:
    """Return the spring of the ground under a robot of a mass [kg]; None for other laws."""
    if scene.contact_law not in (SPRINGS, STICKY_SPRINGS):
        return None
    return Spring(
        strength=options.ground_strength * mass,
        rise=options.ground_rise,
        max_depth=options.ground_depth,
        return_share=options.ground_return,
        reversal_speed=options.ground_slow,
    )


def _make_soles(world: World, robot: RobotModel, actuators: Actuators) -> np.ndarray[Any, Any]:
    """Return the soles of all legs, none of them stuck."""
    soles = np.zeros(len(robot.legs), dtype=SOLE)
    carriers = {joint.child: joint.name for joint in robot.joints}
    for sole, leg in zip(soles, robot.legs, strict=True):
        frame = world.merged.frames[leg.sole].compose(leg.sole_point, (0.0, 0.0, 0.0))
        body = world.body_index(frame.link)
        first = world.model.body_geomadr[body]
        sole['body'], sole['point'] = body, frame.position
        sole['first_geom'], sole['end_geom'] = first, first + world.model.body_geomnum[body]
        sole['torque_index'] = actuators.hold_torque_index(carriers.get(leg.sole, ''))
    return soles


class GroundRayCaster:
    """Ray caster at a terrain, with a model of its own so that it cannot disturb the physics."""

    def __init__(self, terrain: Terrain) -> None:
        self.terrain = terrain
        spec = mj.MjSpec()
        add_ground(spec, terrain)
        self._model = spec.compile()
        self._data = mj.MjData(self._model)
        mj.mj_kinematics(self._model, self._data)

    def cast(self, origin: FloatArray, directions: FloatArray, max_distance: float) -> FloatArray:
        """Return the distances of rays, (n,) [m], as ``RangingEngine.cast`` defines them."""
        count = len(directions)
        distances: FloatArray = np.empty(count)
        mj.mj_multiRay(
            self._model,
            self._data,
            np.ascontiguousarray(origin),
            np.ascontiguousarray(directions).ravel(),
            None,
            True,
            _EXCLUDE_NO_BODY,
            np.empty(count, dtype=np.int32),
            distances,
            None,
            count,
            max_distance,
        )
        # MuJoCo returns -1 for a ray without a hit. Its cutoff drops whole geometries that are
        # beyond the reach, not single points, so the reach is checked again.
        met = (distances >= 0.0) & (distances <= max_distance)
        return np.where(met, distances, np.inf)

    def close(self) -> None:
        """Do nothing: MuJoCo frees model and data with this object."""
