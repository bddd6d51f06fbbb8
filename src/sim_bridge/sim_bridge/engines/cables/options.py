# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Options of contact nodes and of the engine ``cables``."""

from __future__ import annotations

from dataclasses import dataclass

from scipy.constants import inch, lbf

from gait_core.parameters.declaration import (
    Parameters,
    float_parameter,
    fraction_parameter,
    int_parameter,
)


@dataclass(frozen=True, kw_only=True)
class NodeOptions(Parameters):
    """
    Laws of contact nodes; the defaults are those of Korbel (2013), Tables 1 and 2, in SI units.

    A contact node is a point of a link that touches the ground without a collision shape. A robot
    with contact nodes touches the ground with nothing else.

    The friction of the thesis does not depend on the normal force, so ``scene.friction`` counts
    in the law ``coulomb`` alone.
    """

    lift_off: int = int_parameter(
        0,
        low=0,
        high=3,
        doc='Bristle displacement of a contact node (a point of `contact_nodes` in robot.yaml) in '
        'the air. 0: holds. 1: is reset. 2: follows the velocity. 3: holds; on the ground it is '
        'reset where it reaches stiction_range.',
    )
    reading: int = int_parameter(
        0,
        low=0,
        high=1,
        doc='Bristle stiffness sigma_o of contact nodes, by a reading of Eq. 5 of Korbel (2013). '
        '0 (reading A): stiction_stiffness. 1 (reading C): stiction_rate times the speed.',
    )
    ground_stiffness: float = float_parameter(
        25.0 * lbf / inch,
        low=0.0,
        high=1e9,
        unit='N/m',
        doc='Stiffness of the normal force on contact nodes (25 lb/in).',
    )
    ground_damping: float = float_parameter(
        27.0 * lbf / inch**2,
        low=0.0,
        high=1e12,
        unit='N s/m^2',
        doc='Factor of depth times its rate in the normal force on contact nodes (27 lb s/in^2).',
    )
    stiction_range: float = float_parameter(
        0.004 * inch,
        low=1e-9,
        high=1.0,
        unit='m',
        doc='Largest bristle displacement of contact nodes (0.004 in).',
    )
    stiction_stiffness: float = float_parameter(
        0.3 * lbf / inch,
        low=0.0,
        high=1e9,
        unit='N/m',
        doc='Bristle stiffness with reading 0 (0.3 lb/in).',
    )
    stiction_rate: float = float_parameter(
        0.3 * lbf / inch**2,
        low=0.0,
        high=1e12,
        unit='N s/m^2',
        doc='Bristle stiffness per speed with reading 1 (0.3 lb s/in^2).',
    )
    stiction_damping: float = float_parameter(
        0.4 * lbf / inch,
        low=0.0,
        high=1e9,
        unit='N s/m',
        doc='Bristle damping sigma_1 while stuck (0.4 lb s/in).',
    )
    stiction_boost: float = float_parameter(
        0.7,
        low=0.0,
        high=100.0,
        unit='-',
        doc='Relative increase a_c of the bristle stiffness while stuck.',
    )
    forward_share: float = fraction_parameter(
        1.0,
        doc='Share of the friction of contact nodes that acts against motion along +x; 1: equal '
        'in both directions.',
    )
    coulomb_speed: float = float_parameter(
        0.01,
        low=1e-6,
        high=10.0,
        unit='m/s',
        doc="Speed of contact nodes below which the contact law 'coulomb' is viscous.",
    )


@dataclass(frozen=True, kw_only=True)
class CablesOptions(NodeOptions):
    """Options of the contact nodes of the ``cables`` engine."""
