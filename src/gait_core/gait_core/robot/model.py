"""The robot as data, with its nominal stance; its parts are those of ``mechanism``."""

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
        The actuated ones (moving, not mimicking): the order of every joint array.
    actuators : mapping of str to Actuator
        One per actuated joint.
    legs : tuple of Leg
    force_elements : tuple of ForceElement
    signals : tuple of (str, tuple of str)
        Control signals in order, each with the joints and force elements that share it.
    contact_nodes : tuple of ContactNode
        Where a robot has them it touches the ground with nothing else.
    assembly : mapping of str to (xyz [m], rpy [rad])
        Where the root links of a robot of several bodies lie, at first, in the base frame; a root
        that is not named lies at its origin.
    ball_joints : mapping of str to (str, str, str)
        Three joints in one point, about axes at right angles, that an engine fuses into its
        native ball joint: turned by their angles one after the other, from the parent outwards.
        Where the second is at a right angle the other two turn about one axis: the angles are
        then no measure of motion, and torques are bounded (``sim_bridge.engines.shared.balls``).
    mirror_pairs : mapping of str to (str, float)
        For each joint its counterpart and the sign that maps a position across the sagittal
        plane.
    nominal_stance : mapping of str to float [rad or m]
        Standing joint positions.
    fall : FallCriterion or None
    length_scale : float [m]
        Characteristic length, e.g. standing height of the base.
    imu_link : str
        Empty: the root link.
    sensors : tuple of RangeSensor
        Lidars and depth cameras; simulated where they are asked for by name.
    defaults : mapping
        Scene and trial defaults of this robot: ``scene`` fields, ``controller``, ``preset``,
        ``gait`` parameters of that controller, ``engines.<name>`` options, ``physics_steps`` by
        engine [s], ``terrains.<name>`` parameters, ``command`` (velocity), ``duration`` and
        ``settle_time`` [s].
    source : str
        File or folder the model was read from.

    """

    @cached_property
    def stance(self) -> FloatArray:
        """
        Nominal positions by ``target_names`` [rad or m].

        Where the stance names none: zero for a joint, for a force element its length there.
        """
        joints = stance = self.joint_stance
        if self.force_elements:
            lengths = zip(
                self.force_elements, element_lengths_at(self, joints).tolist(), strict=True
            )
            stance = np.append(
                joints, [self.nominal_stance.get(one.name, length) for one, length in lengths]
            )
        stance.flags.writeable = False
        return stance
