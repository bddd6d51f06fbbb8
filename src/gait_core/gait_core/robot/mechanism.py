# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parts of a robot as data: links, joints, legs, actuators and force elements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import unknown_name_error
from gait_core.parameters.schema import Coordinate, NumberRange
from gait_core.robot.range_sensor import RangeSensor
from gait_core.trial.scene import EMPTY_MAPPING

MOVING_KINDS = ('revolute', 'continuous', 'prismatic')
Triple = tuple[Coordinate, Coordinate, Coordinate]
Share = Annotated[float, NumberRange(0.0, 1.0)]
MAX_CONSTANT = 1e9
"""Largest constant of an actuator, a joint or a force element [SI]: engines diverge beyond it."""
SPHERICAL_KIND = 'spherical'
"""Kind of the joint with which an engine replaces the three joints of a ball joint."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """
    Collision or visual shape in the frame of its link.

    ``kind`` is ``box`` (size: x, y, z), ``sphere`` (radius), ``cylinder`` or ``capsule`` (radius,
    length along z), or ``mesh`` (scale x, y, z; ``file`` is an absolute path). Lengths in m,
    ``rpy`` in rad about fixed axes, ``rgba`` in [0, 1].
    """

    kind: str
    size: tuple[Coordinate, ...]
    xyz: Triple = (0.0, 0.0, 0.0)
    rpy: Triple = (0.0, 0.0, 0.0)
    file: str = ''
    rgba: tuple[Share, Share, Share, Share] | None = None


@dataclass(frozen=True, kw_only=True)
class Link:
    """
    Rigid body.

    ``mass`` [kg]; ``com`` (3,) [m] in the link frame; ``inertia`` (3, 3) [kg m^2] about the centre
    of mass, along the axes of the link frame.
    """

    name: str
    mass: float
    com: FloatArray
    inertia: FloatArray
    collisions: tuple[Shape, ...] = ()
    visuals: tuple[Shape, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Mimic:
    """Coupling of a joint to another: it is at ``multiplier * position + offset``."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Joint:
    """
    Joint between two links.

    ``kind`` is ``revolute``, ``continuous``, ``prismatic`` or ``fixed``. ``xyz`` [m] and ``rpy``
    [rad] are the pose of the child frame in the parent's at position zero; ``axis`` is a unit
    vector in the child frame. ``lower``, ``upper`` [rad or m], ``velocity`` [rad/s or m/s] and
    ``effort`` [N m or N] are limits, infinite if the description has none.
    """

    name: str
    kind: str
    parent: str
    child: str
    xyz: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rpy: tuple[float, float, float] = (0.0, 0.0, 0.0)
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    lower: float = -np.inf
    upper: float = np.inf
    velocity: float = np.inf
    effort: float = np.inf
    damping: float = 0.0
    friction: float = 0.0
    mimic: Mimic | None = None


@dataclass(frozen=True, kw_only=True)
class Leg:
    """Leg: its joints from the body outwards, and its sole, the link that touches the ground."""

    name: str
    joints: tuple[str, ...]
    sole: str
    sole_point: Triple = (0.0, 0.0, 0.0)
    """Point of the sole link that inverse kinematics moves to a target, in the link frame [m]."""


def limit_fault(joint: Joint) -> str:
    """Return one line about an impossible limit of a joint; '' if all are possible."""
    if joint.lower > joint.upper:
        return (
            f'has the lower limit {joint.lower:g} above the upper {joint.upper:g}: are they '
            'exchanged?'
        )
    for name in ('velocity', 'effort'):
        if not getattr(joint, name) > 0.0:
            return (
                f'has {name} {getattr(joint, name):g}, expected more than 0; leave it out for no '
                'limit'
            )
    for name in ('damping', 'friction'):
        if not 0.0 <= getattr(joint, name) <= MAX_CONSTANT:
            return f'has {name} {getattr(joint, name):g}, expected 0 to {MAX_CONSTANT:g}'
    return ''


@dataclass(frozen=True, kw_only=True)
class Actuator:
    """
    Actuator law of a joint: its effort from targets and state, at every physics step.

    ``kind`` and constants (SI units):

    - ``position``: velocity servo toward ``feed-forward + gain * error``; ``gain`` [1/s].
    - ``velocity``: velocity servo.
    - ``pd``: torque ``stiffness * error + damping * (feed-forward - rate)`` [N m/rad, N m s/rad].
    - ``effort``: the commanded torque.
    - ``exponential``: a muscle-like spring and damper, ``-sgn(x) * strength * (exp(rise * |x|)
      - 1) - damping * rate`` with the deflection x from the rest angle [N m, 1/rad, N m s/rad;
      damping 0 unless given]. The target position is the rest angle at the start of a
      sub-sample, the target velocity the rate at which it moves (McKenna 1990, Eq. 8).
    - ``lead_screw``: position servo of a prismatic joint whose motor turns a screw with ``lead``
      and ``diameter`` [m] against the ``friction`` [-] of its thread; ``gain`` [1/s]; optionally
      the motor's highest speed ``rpm`` [1/min] and ``torque`` [N m]. Its work is that of the
      motor, friction included. If the friction exceeds the slope of the thread, the screw locks:
      it holds any load without effort, and needs work to yield to one. Otherwise it holds what
      the motor can. The effort limit holds for the force on the load (Cafarelli 2017, Eq. 3.10).
    - ``slider_crank``: linear servo that turns a hinge by a ``crank`` on the child and a ``rod``
      from it to a carriage on the parent [m]. Its force is ``stiffness * (c(target) - c) -
      damping * dc/dt`` along the position c of the carriage, see
      ``gait_core.kinematics.slider_crank`` [N/m, N s/m; damping 0 unless given] (Bishop 2008,
      sec. 4.5 and 4.8).

    All saturate at the effort limit of the joint and keep its velocity limit. A commanded effort
    has an effect on ``effort`` joints alone.
    """

    kind: str = 'position'
    constants: Mapping[str, float] = field(default_factory=lambda: EMPTY_MAPPING)


@dataclass(frozen=True, kw_only=True)
class ForceElement:
    """
    A massless spring, linear servo or cable between points of two links.

    It has targets like a joint, under its name: the position is its rest or set length L0 [m] at
    the start of a sub-sample, the velocity the rate of L0 [m/s], the effort an added tension [N].
    L0 starts at its value in the nominal stance, by default the length in that stance. A positive
    tension pulls the ends together. The tension follows from the length L by the law of the
    ``kind``, with constants in SI units and damping 0 unless given:

    - ``spring``: ``stiffness * (L - L0) + damping * dL/dt + effort``.
    - ``cable``: the same, but it never pushes (Korbel 2013, Eq. 6).
    - ``linear_servo``: the law of the spring, limited to ``effort`` [N] if given. Damping acts on
      dL/dt itself, so that a moving set length is followed with a lag of ``damping / stiffness``
      seconds (Bishop 2008, sec. 4.8).
    - ``exponential``: ``sgn(x) * strength * (exp(rise * |x|) - 1) + damping * dL/dt + effort``
      with x = L - L0.
    """

    name: str
    kind: str
    link_a: str
    point_a: Triple = (0.0, 0.0, 0.0)
    link_b: str
    point_b: Triple = (0.0, 0.0, 0.0)
    constants: Mapping[str, float] = field(default_factory=lambda: EMPTY_MAPPING)


@dataclass(frozen=True, kw_only=True)
class ContactNode:
    """
    Point of a link that touches the ground, by its own contact law and without collision shapes.

    ``point`` (3,) [m] in the frame of the link; contact begins at a height of ``radius`` [m].
    """

    name: str
    link: str
    point: Triple = (0.0, 0.0, 0.0)
    radius: float = 0.0


@dataclass(frozen=True, kw_only=True)
class FallCriterion:
    """Limits of tilt and height of the base; a trial beyond them ends as ``fell``."""

    max_tilt: Annotated[float, NumberRange(0.0, 10.0, 'rad')] = 1.0
    """Angle between the base's z axis and the vertical [rad]."""
    min_height_ratio: Annotated[float, NumberRange(0.0, 1.0)] = 0.5
    """Height over the ground, as a share of the height in the nominal stance."""
    pose: Mapping[str, Coordinate] = field(default_factory=lambda: EMPTY_MAPPING)
    """Fall pose [rad or m]; joints that are not named hold."""


@dataclass(frozen=True, kw_only=True)
class Mechanism:
    """
    Fields of a robot and quantities that need no kinematics; see ``RobotModel``.

    Kinematics imports this class, and the model imports kinematics.
    """

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    joint_names: tuple[str, ...]
    actuators: Mapping[str, Actuator]
    legs: tuple[Leg, ...] = ()
    force_elements: tuple[ForceElement, ...] = ()
    signals: tuple[tuple[str, tuple[str, ...]], ...] = ()
    contact_nodes: tuple[ContactNode, ...] = ()
    assembly: Mapping[str, tuple[Triple, Triple]] = field(default_factory=lambda: EMPTY_MAPPING)
    ball_joints: Mapping[str, tuple[str, str, str]] = field(default_factory=lambda: EMPTY_MAPPING)
    mirror_pairs: Mapping[str, tuple[str, float]] = field(default_factory=lambda: EMPTY_MAPPING)
    nominal_stance: Mapping[str, float] = field(default_factory=lambda: EMPTY_MAPPING)
    fall: FallCriterion | None = field(default_factory=FallCriterion)
    length_scale: float = 1.0
    imu_link: str = ''
    sensors: tuple[RangeSensor, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=lambda: EMPTY_MAPPING)
    source: str = ''

    @cached_property
    def link_index(self) -> Mapping[str, int]:
        """Position of each link in ``links``."""
        return {link.name: i for i, link in enumerate(self.links)}

    @cached_property
    def target_names(self) -> tuple[str, ...]:
        """Order of applied targets: actuated joints, then force elements."""
        return self.joint_names + tuple(element.name for element in self.force_elements)

    @cached_property
    def joint_index(self) -> Mapping[str, int]:
        """Position of each actuated joint in ``joint_names``."""
        return {name: i for i, name in enumerate(self.joint_names)}

    @cached_property
    def joint(self) -> Mapping[str, Joint]:
        """Joints by name."""
        return {joint.name: joint for joint in self.joints}

    @cached_property
    def roots(self) -> tuple[str, ...]:
        """Links without a parent, in order: the ``body_names`` of an observation."""
        children = {joint.child for joint in self.joints}
        return tuple(link.name for link in self.links if link.name not in children)

    @cached_property
    def soles(self) -> tuple[str, ...]:
        """Names in contacts: sole links in the order of the legs, or contact nodes."""
        if self.contact_nodes:
            return tuple(node.name for node in self.contact_nodes)
        return tuple(leg.sole for leg in self.legs)

    @property
    def mass(self) -> float:
        """Total mass [kg]."""
        return float(sum(link.mass for link in self.links))

    @cached_property
    def lower(self) -> FloatArray:
        """Lower position limits, (n,) [rad or m]."""
        return self._limits('lower')

    @cached_property
    def upper(self) -> FloatArray:
        """Upper position limits, (n,) [rad or m]."""
        return self._limits('upper')

    @cached_property
    def velocity_limit(self) -> FloatArray:
        """Velocity limits, (n,) [rad/s or m/s]."""
        return self._limits('velocity')

    @cached_property
    def effort_limit(self) -> FloatArray:
        """Effort limits, (n,) [N m or N]."""
        return self._limits('effort')

    @cached_property
    def joint_stance(self) -> FloatArray:
        """Nominal positions by ``joint_names``, (n,) [rad or m]; zero for joints not named."""
        stance = np.array([self.nominal_stance.get(name, 0.0) for name in self.joint_names])
        stance.flags.writeable = False
        return stance

    def leg(self, name: str) -> Leg:
        """Return a leg by name; ConfigurationError with the nearest name if there is none."""
        for leg in self.legs:
            if leg.name == name:
                return leg
        raise unknown_name_error('leg', name, (leg.name for leg in self.legs))

    def _limits(self, field_name: str) -> FloatArray:
        limits = np.array(
            [getattr(self.joint[name], field_name) for name in self.joint_names], dtype=np.float64
        )
        limits.flags.writeable = False
        return limits
