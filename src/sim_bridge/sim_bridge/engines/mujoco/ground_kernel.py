# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Compiled contact laws of McKenna (1990) in MuJoCo: ground springs and sticking soles.

Both are applied between ``mj_step1`` and ``mj_step2``: contacts are found and their constraint
rows made, but not solved.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from numba import njit
import numpy as np

from gait_core.arrays import FloatArray
from sim_bridge.engines.shared.force_laws import exponential_spring_force

# Smallest share of the force of a spring on the way back: a row without stiffness has no solution.
_MIN_SHARE = 1e-6

SOLE = np.dtype(
    [
        ('body', 'i8'),
        ('first_geom', 'i8'),  # first geometry of the body
        ('end_geom', 'i8'),  # geometry after its last
        (
            'torque_index',
            'i8',
        ),  # torque whose effort target >= 0 lets it stick; -1: always
        ('point', 'f8', (3,)),  # sole point on the body [m]
        ('is_touching', 'b1'),
        ('is_stuck', 'b1'),
        ('stretch', 'f8'),  # distance from the anchor in the last step [m]
        ('anchor', 'f8', (3,)),  # position at which it stuck [m]
        ('pull', 'f8', (3,)),  # force on it [N]
    ]
)
"""Fields of a sole that can stick to the ground."""


class Spring(NamedTuple):
    """
    An exponential spring, of the ground or of a sticking sole.

    Attributes
    ----------
    strength, rise : float [N, 1/m]
        alpha and beta of McKenna (1990), Eq. 8.
    max_depth : float [m]
        Depth beyond which the force of the ground is constant; distance at which a sole lets go.
    return_share : float [-]
        Share of the force on the way back.
    reversal_speed : float [m/s]
        The share of the ground blends in from this speed inward to the same speed outward.

    """

    strength: float
    rise: float
    max_depth: float
    return_share: float
    reversal_speed: float


class ConstraintRows(NamedTuple):
    """
    Constraint rows of a step; the force of a row is ``(reference - acceleration) / softness``.

    Attributes
    ----------
    velocity, reference : (nefc,) arrays [m/s, m/s^2]
    softness, hardness : (nefc,) arrays [1/kg, kg]
        MuJoCo's R and D = 1 / R.
    friction, mu : (c, 5) and (c,) arrays [-]
        Coefficients of each contact, and the one of the solver's regularised cone.

    """

    velocity: FloatArray
    reference: FloatArray
    softness: FloatArray
    hardness: FloatArray
    friction: FloatArray
    mu: FloatArray


class BodyViews(NamedTuple):
    """
    Views of MuJoCo's n bodies.

    Attributes
    ----------
    origin : (n, 3) array [m]
    rotation : (n, 9) array
        Rotations by rows.
    centre : (n, 3) array [m]
        Centres of mass.
    wrench : (n, 6) array [N, N m]
        Force and moment that are applied there in a step.

    """

    origin: FloatArray
    rotation: FloatArray
    centre: FloatArray
    wrench: FloatArray


@njit(cache=True)
def write_ground_springs(spring, step, contacts, rows, ground):  # type: ignore[no-untyped-def]
    """
    Replace the normal law of each ground contact by the spring; friction stays MuJoCo's.

    The force of a row is ``(reference - acceleration) / R``. Set ``reference / R`` to the force of
    the spring at the start of the step, and ``1 / R = slope h^2 / 4`` with the slope dF/dx of the
    spring and the step h. The step is then semi-implicit Euler with the mass ``slope h^2 / 4``
    added, which neither adds nor removes energy at any stiffness. Where the motion reverses, the
    force falls with the speed; that part is a damping and is taken implicitly.

    Parameters
    ----------
    spring : Spring
    step : float [s]
    contacts : Contacts
    rows : ConstraintRows
        All but ``velocity`` are written.
    ground : int
        The ground's geometry.

    """
    for i in range(len(contacts.dist)):
        normal = contacts.row[i]
        if contacts.geom[i, 0] != ground or not 0 <= normal < len(rows.reference):
            continue
        # McKenna (1990), section 4.4: N = alpha (e^(beta delta) - 1), as in Eq. 8, with delta
        # capped; a share of N while the contact opens.
        depth = min(max(-contacts.dist[i], 0.0), spring.max_depth)
        grown = math.exp(spring.rise * depth)
        push = spring.strength * (grown - 1.0)
        lost = min(1.0 - spring.return_share, 1.0 - _MIN_SHARE)
        # The share blends linearly from 1 to its value between speeds -v_s and +v_s of the row
        # (positive: the contact opens), for a switch at speed 0 would chatter at rest.
        out = 0.5 + 0.5 * rows.velocity[normal] / spring.reversal_speed
        share = 1.0 - lost * min(max(out, 0.0), 1.0)
        turning = 0.5 * lost * push / spring.reversal_speed if 0.0 < out < 1.0 else 0.0
        # -dF/dv = turning while the share blends; dF/ddelta = slope. Hence 1 / R, as above.
        slope = share * spring.strength * spring.rise * grown
        hard = 0.25 * slope * step * step + turning * step
        rows.reference[normal] = share * push / hard
        rows.hardness[normal], rows.softness[normal] = hard, 1.0 / hard
        # The rows of friction keep their hardness; MuJoCo's cone holds its ratio to the normal's:
        # mu = friction sqrt(R_tangent / R_normal).
        if normal + 1 < len(rows.softness):
            tangent = rows.softness[normal + 1]
            rows.mu[i] = rows.friction[i, 0] * math.sqrt(tangent * hard)


@njit(cache=True)
def pull_stuck_soles(soles, spring, torques, contacts, ground, bodies):  # type: ignore[no-untyped-def]
    """
    Pull each stuck sole towards its anchor; stick soles that touch, release those that must.

    A sole can stick while the effort target of its torque is not negative; a sole without a torque
    always can.

    Parameters
    ----------
    soles : (s,) SOLE array
    spring : Spring
    torques : (t,) TORQUE array
    contacts : Contacts
    ground : int
        The ground's geometry.
    bodies : BodyViews
        The pulls are added to ``wrench``.

    """
    # 1. Soles with a contact of one of their geometries with the ground.
    soles.is_touching[:] = False
    for i in range(len(contacts.dist)):
        if contacts.row[i] >= 0 and contacts.geom[i, 0] == ground:
            for s in range(len(soles)):
                if soles[s].first_geom <= contacts.geom[i, 1] < soles[s].end_geom:
                    soles[s].is_touching = True
    # 2. Position of each sole point, its pull, and the wrench of the pull at the body's centre of
    # mass: force F, moment (p - c) x F.
    for s in range(len(soles)):
        sole = soles[s]
        origin, rotation, lever = bodies.origin[sole.body], bodies.rotation[sole.body], sole.point
        x = origin[0] + rotation[0] * lever[0] + rotation[1] * lever[1] + rotation[2] * lever[2]
        y = origin[1] + rotation[3] * lever[0] + rotation[4] * lever[1] + rotation[5] * lever[2]
        z = origin[2] + rotation[6] * lever[0] + rotation[7] * lever[1] + rotation[8] * lever[2]
        holds = sole.torque_index < 0 or torques[sole.torque_index].target[2] >= 0.0
        _pull_sole(sole, x, y, z, spring, holds)
        pull, wrench, centre = sole.pull, bodies.wrench[sole.body], bodies.centre[sole.body]
        x, y, z = x - centre[0], y - centre[1], z - centre[2]
        for i in range(3):
            wrench[i] += pull[i]
        wrench[3] += y * pull[2] - z * pull[1]
        wrench[4] += z * pull[0] - x * pull[2]
        wrench[5] += x * pull[1] - y * pull[0]


@njit(cache=True)
def _pull_sole(sole, x, y, z, spring, holds):  # type: ignore[no-untyped-def]
    """Write the pull on a sole at a position x, y, z [m]; update whether it is stuck."""
    anchor, pull = sole.anchor, sole.pull
    away_x, away_y, away_z = anchor[0] - x, anchor[1] - y, anchor[2] - z
    pull[0], pull[1], pull[2] = 0.0, 0.0, 0.0
    stretch = math.sqrt(away_x * away_x + away_y * away_y + away_z * away_z)
    if not holds or stretch > spring.max_depth:
        sole.is_stuck = False
    if not sole.is_stuck:
        if holds and sole.is_touching:
            anchor[0], anchor[1], anchor[2] = x, y, z
            sole.is_stuck, sole.stretch = True, 0.0
        return
    # McKenna (1990), Eq. 8: the spring of a sticky foot towards its anchor, with a share of the
    # force while the stretch falls.
    share = spring.return_share if stretch < sole.stretch else 1.0
    sole.stretch = stretch
    if stretch > 0.0:
        force = share * exponential_spring_force(stretch, spring.strength, spring.rise)
        pull[0] = away_x * (force / stretch)
        pull[1] = away_y * (force / stretch)
        pull[2] = away_z * (force / stretch)
