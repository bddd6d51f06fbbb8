# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Dimensions, masses and screws of the hexapod with extending legs."""

from __future__ import annotations

from dataclasses import dataclass, fields
import math
from typing import NamedTuple

from gait_core.parameters.declaration import Parameters, float_parameter

WATTS_PER_RPM = 0.1047
"""Power of 1 N m at 1 rpm [W], 2 pi / 60 as rounded in Eqs. 3.11 and 3.38."""


class BodyConstants(NamedTuple):
    """Fields of ``HexapodParameters`` as a named tuple, for compiled code."""

    body_length: float
    body_width: float
    tripod_width: float
    body_mass: float
    segment_mass: float
    gravity: float
    lead: float
    screw_diameter: float
    screw_friction: float
    screw_speed: float
    guide_friction: float


@dataclass(frozen=True, kw_only=True)
class HexapodParameters(Parameters):
    """
    Dimensions of the robot; the defaults are those of chapters 5 and 6.

    References
    ----------
    Cafarelli (2017), section 6.1, equations 3.8 to 3.12 and the listing of appendix B.

    """

    body_length: float = float_parameter(
        0.54, low=0.1, high=2.0, unit='m', doc='Distance from the front hips to the rear hips.'
    )
    body_width: float = float_parameter(
        0.42, low=0.1, high=2.0, unit='m', doc='Distance between the two middle hips.'
    )
    tripod_width: float = float_parameter(
        0.39,
        low=0.05,
        high=2.0,
        unit='m',
        doc='Distance from the line of the two hips on one side to the middle hip of the other.',
    )
    body_mass: float = float_parameter(
        10.0, low=0.0, high=100.0, unit='kg', doc='Mass of the body without legs.'
    )
    segment_mass: float = float_parameter(
        1.0,
        low=0.0,
        high=10.0,
        unit='kg',
        doc='Mass of each of the twelve leg segments, with motors.',
    )
    gravity: float = float_parameter(
        9.81, low=0.0, high=30.0, unit='m/s^2', doc='Magnitude of gravity.'
    )
    lead: float = float_parameter(
        0.006, low=0.0005, high=0.1, unit='m', doc='Lead of the screws: travel per turn.'
    )
    screw_diameter: float = float_parameter(
        0.01, low=0.001, high=0.1, unit='m', doc='Diameter of the screws.'
    )
    screw_friction: float = float_parameter(
        0.5,
        low=0.0,
        high=2.0,
        unit='-',
        doc='Coefficient of friction at the thread; plastic on plastic.',
    )
    screw_speed: float = float_parameter(
        0.06,
        low=0.001,
        high=1.0,
        unit='m/s',
        doc='Speed of a moving rod: its whole stroke in 1 s.',
    )
    guide_friction: float = float_parameter(
        0.0,
        low=0.0,
        high=2.0,
        unit='-',
        doc='Coefficient of friction of a rod in its shell under a load across it, in `measure`. '
        'The thesis has none, so a level segment extends at no cost.',
    )

    @property
    def mass(self) -> float:
        """Mass of the robot [kg]."""
        return self.body_mass + 12.0 * self.segment_mass

    @property
    def thread_angle(self) -> float:
        """Thread angle alpha [rad], Eq. 3.8."""
        return math.atan2(self.lead, self.screw_diameter * math.pi)

    @property
    def friction_angle(self) -> float:
        """Friction angle theta_f [rad], Eq. 3.9."""
        return math.atan(self.screw_friction)

    @property
    def is_self_locking(self) -> bool:
        """True if a load on a rod cannot turn its screw: holding a length needs no torque."""
        return self.friction_angle >= self.thread_angle

    @property
    def screw_efficiency(self) -> float:
        """Efficiency of a screw that pushes its rod against the load [-]."""
        return math.tan(self.thread_angle) / math.tan(self.thread_angle + self.friction_angle)

    def screw_torque(self, force: float) -> float:
        """Return the torque [N m] that moves a rod against a force [N], tau of Eq. 3.10."""
        angle = self.thread_angle + self.friction_angle
        return force * self.screw_diameter / 2.0 * math.tan(angle)

    def as_named_tuple(self) -> BodyConstants:
        """Return the parameters for compiled code."""
        return BodyConstants(*(getattr(self, field.name) for field in fields(self)))
