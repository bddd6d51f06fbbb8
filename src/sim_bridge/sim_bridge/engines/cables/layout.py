# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Arrays of the compiled kernel, made from a robot of free bodies and its scene."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gait_core import registry
from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError
from gait_core.kinematics.forward_kinematics import pose_matrices
from gait_core.robot.model import RobotModel
from gait_core.terrains import Terrain
from gait_core.trial.scene import Scene
from sim_bridge.engines.cables.ground import FRICTION_LAWS, Ground
from sim_bridge.engines.cables.kernel import BodyLayout, Pushes
from sim_bridge.engines.cables.options import NodeOptions
from sim_bridge.engines.shared.actuator_targets import ActuatorTargets, ElementTensions
from sim_bridge.engines.shared.scene_checks import PushWindow

_BodyPoint = tuple[int, tuple[float, float, float]]


def check_free_bodies(engine: str, robot: RobotModel, scene: Scene) -> None:
    """Raise ConfigurationError unless robot and scene are of free bodies on contact nodes."""
    if robot.joints:
        others = [name for name in registry.names('engines') if name != 'cables']
        raise ConfigurationError(
            f"robot '{robot.name}' has joints; engine '{engine}' simulates free bodies with force "
            f'elements; engines with joints: {", ".join(others)}'
        )
    if not robot.contact_nodes and any(link.collisions for link in robot.links):
        raise ConfigurationError(
            f"robot '{robot.name}' has no contact nodes; in engine '{engine}' only these touch "
            'the ground, not collision shapes'
        )
    if scene.fixed_base:
        raise ConfigurationError(f"engine '{engine}' has no fixed base; its bodies are free")
    if scene.restitution:
        raise ConfigurationError(
            f"scene.restitution is {scene.restitution:g}, but in engine '{engine}' engine option "
            'ground_damping takes its place; nearest valid: 0'
        )


def make_ground(scene: Scene, options: NodeOptions, terrain: Terrain) -> Ground:
    """Return the ground of a scene whose contact law has been checked."""
    field = terrain.heightfield
    return Ground(
        friction_law=FRICTION_LAWS[scene.contact_law] or options.reading,
        lift_off=options.lift_off,
        stiffness=options.ground_stiffness,
        damping=options.ground_damping,
        stiction_range=options.stiction_range,
        bristle_stiffness=options.stiction_stiffness,
        bristle_stiffness_rate=options.stiction_rate,
        bristle_damping=options.stiction_damping,
        stiction_boost=options.stiction_boost,
        forward_share=options.forward_share,
        friction=scene.friction,
        coulomb_speed=options.coulomb_speed,
        # A copy: for a read-only array Numba would compile every kernel a second time.
        heights=np.zeros((0, 0)) if field is None else field.heights.copy(),
        cell=1.0 if field is None else field.cell,
        x=0.0 if field is None else field.origin[0],
        y=0.0 if field is None else field.origin[1],
    )


def make_layout(
    robot: RobotModel, gravity: Sequence[float], actuator_targets: ActuatorTargets
) -> BodyLayout:
    """
    Return the arrays of a robot's bodies, points, elements and contact nodes.

    Points that elements and nodes share are stored once, sorted by body: the kernel then moves
    all points of a body together.
    """
    elements, nodes = robot.force_elements, robot.contact_nodes
    row = robot.link_index
    ends: list[tuple[_BodyPoint, _BodyPoint]] = [
        ((row[element.link_a], element.point_a), (row[element.link_b], element.point_b))
        for element in elements
    ]
    feet: list[_BodyPoint] = [(row[node.link], node.point) for node in nodes]
    points = sorted({*feet, *(end for both in ends for end in both)})
    index = {point: i for i, point in enumerate(points)}
    coms = np.array([link.com for link in robot.links])
    bodies = np.array([body for body, _ in points], dtype=np.int64)
    mass = np.array([link.mass for link in robot.links])
    inertia = np.array([link.inertia for link in robot.links])
    tensions = ElementTensions(actuator_targets, robot)
    return BodyLayout(
        mass=mass,
        inertia=inertia,
        inverse_inertia=np.linalg.inv(inertia),
        weight=mass[:, None] * np.array(gravity),
        first_point=np.searchsorted(bodies, np.arange(len(mass) + 1)),
        coms=coms,
        levers=np.array([at for _, at in points]).reshape(-1, 3) - coms[bodies],
        end_points=np.array([[index[a], index[b]] for a, b in ends], dtype=np.int64).reshape(
            -1, 2
        ),
        laws=tensions.laws,
        constants=tensions.constants,
        node_points=np.array([index[foot] for foot in feet], dtype=np.int64),
        radii=np.array([node.radius for node in nodes]),
    )


def make_pushes(windows: Sequence[PushWindow], robot: RobotModel) -> Pushes:
    """Return the pushes of a scene, each at the centre of mass of its body."""
    return Pushes(
        body=np.array([robot.link_index[push.frame.link] for push in windows], dtype=np.int64),
        force=np.array([push.force for push in windows]).reshape(-1, 3),
        window=np.array([(push.first, push.end) for push in windows], dtype=np.int64).reshape(
            -1, 2
        ),
    )


def initial_body_states(robot: RobotModel, poses: FloatArray) -> FloatArray:
    """Return states (b, 13) of bodies at rest whose links' frames have poses (b, 7)."""
    state = np.zeros((len(robot.links), 13))
    rotations = pose_matrices(poses)[:, :3, :3]
    coms = np.array([link.com for link in robot.links])
    state[:, :3] = poses[:, :3] + (rotations @ coms[:, :, None])[..., 0]
    state[:, 3:7] = poses[:, 3:]
    return state
