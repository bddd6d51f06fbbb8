# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Options of the engine ``mujoco``."""

from __future__ import annotations

from dataclasses import dataclass

from gait_core.parameters.declaration import float_parameter, int_parameter
from sim_bridge.engines.shared.ground_springs import GroundSpringOptions


@dataclass(frozen=True, kw_only=True)
class MujocoOptions(GroundSpringOptions):
    """Solver and contact options; contacts are stiff and the friction cone is elliptic."""

    iterations: int = int_parameter(
        100,
        low=1,
        high=10000,
        doc='Largest number of iterations of the constraint solver per physics step.',
    )
    line_iterations: int = int_parameter(
        50, low=1, high=10000, doc='Largest number of line search steps per iteration.'
    )
    tolerance: float = float_parameter(
        1e-8,
        low=0.0,
        high=1.0,
        unit='-',
        doc='Improvement of the cost below which the solver stops early.',
    )
    implicit: int = int_parameter(
        1,
        low=0,
        high=1,
        doc='1: joint damping implicit in velocity (implicitfast); 0: semi-implicit Euler.',
    )
    impedance_ratio: float = float_parameter(
        100.0,
        low=0.01,
        high=1e5,
        unit='-',
        doc='Hardness of friction divided by that of the normal force (impratio of MuJoCo); at '
        'low values feet creep.',
    )
    contact_recovery: float = float_parameter(
        0.02,
        low=1e-4,
        high=10.0,
        unit='s',
        doc='Time constant with which a penetration decays; an impact ends within a physics step.',
    )
    contact_impedance: float = float_parameter(
        0.99,
        low=0.5,
        high=0.9999,
        unit='-',
        doc='Hardness of a contact: its impedance in MuJoCo.',
    )
    servo_impedance: float = float_parameter(
        0.99,
        low=0.5,
        high=0.9999,
        unit='-',
        doc='Hardness of a servo that is a velocity constraint: its impedance in MuJoCo.',
    )
    limit_recovery: float = float_parameter(
        0.02,
        low=1e-4,
        high=10.0,
        unit='s',
        doc='Time constant with which the excess of a joint over its limit decays.',
    )
    armature: float = float_parameter(
        0.0,
        low=0.0,
        high=100.0,
        unit='kg m^2',
        doc='Rotor inertia added to every joint; kg for a prismatic one.',
    )
    self_collision: int = int_parameter(
        0,
        low=0,
        high=1,
        doc='1: links collide, except neighbours and pairs that overlap at the start.',
    )
