# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Options of the engine ``bullet``."""

from __future__ import annotations

from dataclasses import dataclass

from gait_core.parameters.declaration import float_parameter, fraction_parameter, int_parameter
from sim_bridge.engines.cables.options import NodeOptions


@dataclass(frozen=True, kw_only=True)
class BulletOptions(NodeOptions):
    """
    Options of contact nodes (to `coulomb_speed`); all others are for robots without such nodes.

    The defaults of the solver are tight, because loose ones make a walk look better.
    """

    solver_iterations: int = int_parameter(
        100,
        low=1,
        high=10000,
        doc='Largest number of solver iterations per physics step, for contacts and joints.',
    )
    sum_work: int = int_parameter(
        1,
        low=0,
        high=1,
        doc='1: work is summed over physics steps, for 4 to 7 % more time. 0: over control '
        'periods, from the values at their ends.',
    )
    solver_residual: float = float_parameter(
        1e-7,
        low=0.0,
        high=1.0,
        unit='-',
        doc='Squared residual below which the solver stops early; 0: it runs every iteration.',
    )
    self_collision: int = int_parameter(
        0,
        low=0,
        high=1,
        doc='1: links collide, except neighbours and pairs that overlap at the start.',
    )
    erp: float = fraction_parameter(
        0.2, doc='Share of a joint limit error that one step corrects.'
    )
    contact_erp: float = fraction_parameter(
        0.08, doc='Share of a penetration that one step corrects.'
    )
    friction_erp: float = fraction_parameter(
        0.2, doc='Share of a friction anchor error that one step corrects.'
    )
    cfm: float = float_parameter(
        0.0, low=0.0, high=1.0, unit='-', doc='Constraint force mixing: softness of contacts.'
    )
    contact_slop: float = float_parameter(
        1e-5, low=0.0, high=0.01, unit='m', doc='Penetration that stays uncorrected.'
    )
    restitution_speed: float = float_parameter(
        0.2, low=0.0, high=10.0, unit='m/s', doc='Speed below which an impact does not bounce.'
    )
    warm_start: float = fraction_parameter(
        0.1, doc="Share of the last step's contact impulses that the solver starts from."
    )
