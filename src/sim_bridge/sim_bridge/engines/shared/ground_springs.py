# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Options of the contact laws of McKenna (1990): ground springs and sticking soles."""

from __future__ import annotations

from dataclasses import dataclass

from gait_core.errors import ConfigurationError
from gait_core.parameters.declaration import Parameters, float_parameter, fraction_parameter
from gait_core.trial.scene import Scene

SPRINGS, STICKY, STICKY_SPRINGS = 'springs', 'sticky', 'sticky_springs'
GROUND_SPRING_LAWS = (SPRINGS, STICKY, STICKY_SPRINGS)
"""Ground springs; soles that stick to the ground of the engine; both together."""


@dataclass(frozen=True, kw_only=True)
class GroundSpringOptions(Parameters):
    """
    Springs of the ground and of sticking soles.

    The thesis gives the values of the first four options; the others are our choice.

    Both push or pull with ``strength * mass * (exp(rise * x) - 1)``, with the mass of the whole
    robot and x the depth below ground or the distance of a sole from where it stuck. While x
    shrinks, the force is multiplied by a share, which sets the energy of a rebound.

    References
    ----------
    McKenna (1990), section 4.4 and appendix C.

    """

    ground_strength: float = float_parameter(
        17.5, low=1e-6, high=1e6, unit='N/kg', doc="Law 'springs': strength of the ground."
    )
    ground_rise: float = float_parameter(
        3000.0,
        low=1e-3,
        high=1e9,
        unit='1/m',
        doc="Law 'springs': exponential rise of the ground.",
    )
    ground_depth: float = float_parameter(
        0.01,
        low=1e-6,
        high=1e3,
        unit='m',
        doc="Law 'springs': depth from which the force is constant.",
    )
    ground_return: float = fraction_parameter(
        0.5,
        doc="Law 'springs': fraction of the force that remains while the ground springs back; "
        'also of the height of a rebound. 0: no rebound.',
    )
    ground_slow: float = float_parameter(
        1e-3,
        low=1e-9,
        high=1e3,
        unit='m/s',
        doc="Law 'springs': the force changes linearly from full at this speed inward to the "
        'fraction ground_return at this speed outward.',
    )
    stick_strength: float = float_parameter(
        1.75,
        low=1e-6,
        high=1e6,
        unit='N/kg',
        doc="Law 'sticky': strength of the spring of a sole.",
    )
    stick_rise: float = float_parameter(
        3000.0,
        low=1e-3,
        high=1e9,
        unit='1/m',
        doc="Law 'sticky': exponential rise of the spring of a sole.",
    )
    stick_reach: float = float_parameter(
        2e-4,
        low=1e-9,
        high=1e3,
        unit='m',
        doc="Law 'sticky': distance from which a sole comes loose; it sticks again where it "
        'touches.',
    )
    stick_return: float = fraction_parameter(
        0.0, doc="Law 'sticky': fraction of the force that remains while the distance falls."
    )


def check_restitution(scene: Scene) -> None:
    """Raise ConfigurationError for a restitution on ground springs, which rebound by their law."""
    if scene.contact_law in (SPRINGS, STICKY_SPRINGS) and scene.restitution:
        raise ConfigurationError(
            f'scene.restitution is {scene.restitution:g}, but in contact law '
            f"'{scene.contact_law}' engine option ground_return takes its place; nearest valid: 0"
        )
