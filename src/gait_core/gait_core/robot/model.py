# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Robot model: a mechanism and its nominal stance, with the parts of ``mechanism``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.kinematics.element_geometry import element_lengths_at
from gait_core.robot.mechanism import (
    MOVING_KINDS,
    SPHERICAL_KIND,
    Actuator,
    ContactNode,
    FallCriterion,
    ForceElement,
    Joint,
    Leg,
    Link,
    Mechanism,
    Mimic,
    Shape,
    Triple,
    limit_fault,
)

__all__ = [
    'Actuator',
    'ContactNode',
    'FallCriterion',
    'ForceElement',
    'Joint',
    'Leg',
    'Link',
    'MOVING_KINDS',
    'Mimic',
    'RobotModel',
    'SPHERICAL_KIND',
    'Shape',
    'Triple',
    'limit_fault',
]


@dataclass(frozen=True, kw_only=True)
class RobotModel(Mechanism):
    """
    A robot in SI units, base frame x forward, y left, z up.

    Attributes
    ----------
    name : str
    links : tuple of Link
        Roots first, every parent before its children.
    joints : tuple of Joint
        All joints, in the order of the description.
    joint_names : tuple of str
        Actuated joints (moving, no mimic), in the order of every joint array.
    actuators : mapping of str to Actuator
        Actuator of each actuated joint.
    legs : tuple of Leg
    force_elements : tuple of ForceElement
    signals : tuple of (str, tuple of str)
        Control signals in order, each with the joints and force elements that it drives.
    contact_nodes : tuple of ContactNode
        A robot with contact nodes touches the ground with nothing else.
    assembly : mapping of str to (xyz [m], rpy [rad])
        First frames of the root links of a robot of several bodies, in the base frame; default
        the base frame itself.
    ball_joints : mapping of str to (str, str, str)
        Three joints in one point, about axes at right angles, that an engine replaces by one
        ball joint. Their angles are applied one after the other, from the parent outwards. With
        the second angle at 90 degrees the first and the third axis coincide: the angles are then
        undetermined, and torques are bounded (``sim_bridge.engines.shared.ball_joints``).
    mirror_pairs : mapping of str to (str, float)
        Counterpart of each joint across the sagittal plane, and the sign that maps its position
        to the counterpart's.
    nominal_stance : mapping of str to float [rad or m]
        Standing joint positions.
    fall : FallCriterion or None
    length_scale : float [m]
        Characteristic length, such as the height of the base in the nominal stance.
    imu_link : str
        Link that carries the IMU; empty for the root link.
    sensors : tuple of RangeSensor
        Lidars and depth cameras; simulated if requested by name.
    defaults : mapping
        Defaults of scenes and trials: ``scene`` fields, ``controller``, ``preset``,
        ``gait`` parameters of that controller, ``engines.<name>`` options, ``physics_steps`` by
        engine [s], ``terrains.<name>`` parameters, ``command`` (velocity), ``duration`` and
        ``settle_time`` [s].
    source : str
        File or folder that the model was read from.

    """

    @cached_property
    def stance(self) -> FloatArray:
        """
        Nominal positions by ``target_names`` [rad or m].

        Default: zero for a joint; for a force element its length in the stance of the joints.
        """
        joints = stance = self.joint_stance
        if self.force_elements:
            lengths = zip(
                self.force_elements, element_lengths_at(self, joints).tolist(), strict=True
            )
            stance = np.append(
                joints,
                [self.nominal_stance.get(element.name, length) for element, length in lengths],
            )
        stance.flags.writeable = False
        return stance
