# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Schema of ``robot.yaml``: the properties of a robot that a URDF does not have.

Every key is optional; absent values are inferred (``inference.py``)::

    name: guroo                        # default: the folder's name
    urdf: guroo.urdf.xacro             # file in the folder, or MODULE:path in a Python package;
                                       # default: <folder name>.urdf.xacro or .urdf
    root_rpy: [0, 0, 0]                # rad; attitude of the file's root frame in the base frame
                                       # (x forward, y left, z up), for files with other axes
    joints: [l_hip, r_hip]             # actuated joints: the order of every joint array;
                                       # moving joints not listed stay passive
    limits:                            # joint name or regular expression: fields of the joint
      '.*_hip': {lower: -1, upper: 1, velocity: 5, effort: 40, damping: 0, friction: 0}
    actuators:                         # kind and constants of gait_core.robot.model.Actuator
      default: {kind: position, gain: 20}
      joints: {'.*_hip': {kind: pd, stiffness: 80, damping: 2},
               tail: {kind: exponential, strength: 0.5, rise: 6, damping: 0.1}}
    legs:
      - {name: l, joints: [l_hip], sole: l_foot, sole_point: [0, 0, -0.02]}
    bodies:                            # several free bodies, each of one link, in place of a urdf
      - {name: t1, urdf: tetra.urdf.xacro}            # a file whose only link is the body
      - name: ball                                    # or its properties here, SI units
        xyz: [0.3, 0, 0]               # frame of the body at the start, in the base frame [m]
        rpy: [0, 0, 0]                 # rad
        mass: 0.1
        com: [0, 0, 0]
        inertia: [4e-5, 4e-5, 4e-5]    # about the centre of mass: ixx, iyy, izz
        visuals: [{kind: sphere, size: [0.03], rgba: [1, 0, 0, 1]}]     # and collisions
    contact_nodes:                     # points that touch the ground, in place of collision shapes
      - {name: ball_foot, link: ball, point: [0, 0, -0.03], radius: 0.0}
    signals: {signal_1: [muscle]}      # in order: joints and force elements of each signal
    force_elements:                    # kind and constants of gait_core.robot.model.ForceElement
      - {name: muscle, kind: linear_servo, link_a: torso, point_a: [0, 0.1, 0],
         link_b: l_foot, point_b: [0, 0, 0], constants: {stiffness: 1100, damping: 30}}
    ball_joints:                       # three joints in one point, about axes at right angles;
      l_ankle: [l_ankle_x, l_ankle_y, l_ankle_z]     # their links in between have no mass
    mirror:
      prefixes: [[l_, r_]]             # counterparts differ by these; signs follow from geometry
      pairs: [[torso_yaw, torso_yaw], [l_arm, r_arm, -1]]
    nominal_stance: {'.*_hip': 0.2}    # rad or m; a force element's rest or set length, which
                                       # by default is its length in this stance
    fall:                            # null: a trial never ends by a fall
      max_tilt: 1.0
      min_height_ratio: 0.5
      pose: {'.*_knee': 1.2}         # fall pose of a live robot; other joints hold
    imu_link: torso
    sensors:                         # simulated on request; frames x forward, y left, z up
      - {name: lidar, kind: lidar, link: torso, xyz: [0, 0, 0.1], rpy: [0, 0, 0], rate: 10,
         range: [0.1, 12], noise: 0.01, azimuth: [-3.1416, 3.1416], columns: 360,
         elevation: [-0.2, 0.2], rows: 8}    # rad; of one row: a plane scan
      - {name: camera, kind: depth_camera, link: torso, xyz: [0.1, 0, 0], rate: 10,
         range: [0.2, 5], field_of_view: 1.2, columns: 64, rows: 48}
    length_scale: 0.62                 # m; default: height of the root link in the stance
    defaults:
      controller: staged_walk
      preset: levelled
      gait: {frequency: 2.0}           # the robot's own gait: parameters of that controller
      scene: {physics_step: 0.001}     # fields of gait_core.trial.scene.Scene
      engines: {bullet: {solver_iterations: 100}}
      physics_steps: {bullet: 0.0005}  # s; for engines that need another than the scene's
      terrains: {steps: {height: 0.002, length: 0.01}}     # default parameters
      command: [0.3, 0, 0]             # default velocity: m/s, m/s, rad/s
      duration: 20                     # s
      settle_time: 0.5                 # s

If several patterns match a joint, the last one counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any

from gait_core.parameters.schema import Coordinate, Location, NumberRange, check_keys, read_value
from gait_core.robot.mechanism import MAX_CONSTANT
from gait_core.robot.model import (
    ContactNode,
    FallCriterion,
    ForceElement,
    Leg,
    Triple,
)
from gait_core.trial.scene import EMPTY_MAPPING, Scene

# Whether the sign of a limit is possible depends on the joint: ``mechanism.limit_fault``.
_Limit = Annotated[float, NumberRange(-MAX_CONSTANT, MAX_CONSTANT)]


@dataclass(frozen=True, kw_only=True)
class JointLimits:
    """Limits of joints in place of the URDF's [rad or m, rad/s or m/s, N m or N, SI]."""

    lower: _Limit | None = None
    upper: _Limit | None = None
    velocity: _Limit | None = None
    effort: _Limit | None = None
    damping: float | None = None
    friction: float | None = None


@dataclass(frozen=True, kw_only=True)
class ActuatorTable:
    """
    Actuators: the default, and exceptions by joint name or pattern.

    Each entry has a ``kind`` and the constants of that kind.
    """

    default: Mapping[str, Any] = field(default_factory=lambda: EMPTY_MAPPING)
    joints: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: EMPTY_MAPPING)


@dataclass(frozen=True, kw_only=True)
class MirrorTable:
    """
    Counterparts on the two sides of the body.

    ``prefixes`` are pairs of prefixes of names; ``pairs`` two joints and optionally the sign, 1 or
    -1.
    """

    prefixes: tuple[tuple[str, str], ...] = ()
    pairs: tuple[tuple[Any, ...], ...] = ()


@dataclass(frozen=True, kw_only=True)
class TrialDefaults:
    """Defaults of trials with the robot; see ``RobotModel.defaults``."""

    scene: Mapping[str, Any] = field(default_factory=lambda: EMPTY_MAPPING)
    controller: str = ''
    preset: str = ''
    gait: Mapping[str, Any] = field(default_factory=lambda: EMPTY_MAPPING)
    engines: Mapping[str, Mapping[str, float]] = field(default_factory=lambda: EMPTY_MAPPING)
    physics_steps: Mapping[str, Annotated[float, NumberRange(1e-9, 1.0, 's')]] = field(
        default_factory=lambda: EMPTY_MAPPING
    )
    terrains: Mapping[str, Mapping[str, float]] = field(default_factory=lambda: EMPTY_MAPPING)
    command: Triple = (0.0, 0.0, 0.0)
    duration: Annotated[float, NumberRange(1e-3, 1e7, 's')] = 10.0
    settle_time: Annotated[float, NumberRange(0.0, 1e7, 's')] = 0.0

    def values_by_name(self, location: Location) -> Mapping[str, Any]:
        """Return the values by name; ConfigurationError for wrong scene fields."""
        scene = location / 'scene'
        check_keys(
            self.scene, [entry.name for entry in fields(Scene) if entry.name != 'robot'], scene
        )
        read_value(Scene, {'robot': '', **self.scene}, scene)
        values = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in self.scene.items()
        }
        return {**vars(self), 'scene': values}


@dataclass(frozen=True, kw_only=True)
class RobotFile:
    """
    Content of a ``robot.yaml``.

    An absent ``name``, ``urdf``, ``joints``, ``legs``, ``mirror`` or ``length_scale`` is inferred.
    ``free_bodies.py`` and ``range_sensor.py`` read ``bodies`` and ``sensors``, because their keys
    depend on their kind.
    """

    name: str = ''
    urdf: str = ''
    root_rpy: Triple | None = None
    joints: tuple[str, ...] | None = None
    limits: Mapping[str, JointLimits] = field(default_factory=lambda: EMPTY_MAPPING)
    actuators: ActuatorTable = field(default_factory=ActuatorTable)
    legs: tuple[Leg, ...] | None = None
    bodies: tuple[Mapping[str, Any], ...] | None = None
    contact_nodes: tuple[ContactNode, ...] = ()
    signals: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: EMPTY_MAPPING)
    force_elements: tuple[ForceElement, ...] = ()
    ball_joints: Mapping[str, tuple[str, str, str]] = field(default_factory=lambda: EMPTY_MAPPING)
    mirror: MirrorTable | None = None
    nominal_stance: Mapping[str, Coordinate] = field(default_factory=lambda: EMPTY_MAPPING)
    fall: FallCriterion | None = field(default_factory=FallCriterion)
    imu_link: str = ''
    sensors: tuple[Mapping[str, Any], ...] = ()
    length_scale: Annotated[float, NumberRange(0.0, 1e6, 'm')] | None = None
    defaults: TrialDefaults = field(default_factory=TrialDefaults)
