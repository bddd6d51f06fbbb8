"""
Springs of the ground and soles that stick, within a physics step of MuJoCo, compiled.

Between the two halves of a step the contacts are found and their constraint rows made, but not
solved.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from numba import njit
import numpy as np

from gait_core.arrays import FloatArray
from sim_bridge.engines.shared.force_laws import exponential_spring_force

# What is left of a spring that gives nothing back: a row of no stiffness has no solution.
_MIN_SHARE = 1e-6

SOLE = np.dtype(
    [
        ('body', 'i8'),
        ('first_geom', 'i8'),  # of its geometries
        ('end_geom', 'i8'),  # the geometry after its last
        (
            'torque_index',
            'i8',
        ),  # index of the torque whose feed tells it to hold; -1: it always does
        ('point', 'f8', (3,)),  # on the body [m]
        ('is_touching', 'b1'),
        ('is_stuck', 'b1'),
        ('stretch', 'f8'),  # distance from where it stuck [m]
        ('anchor', 'f8', (3,)),  # where it stuck [m]
        ('pull', 'f8', (3,)),  # force on it [N]
    ]
)
"""A sole that sticks to the ground."""


class Spring(NamedTuple):
    """
    An exponential spring, of the ground or of a sole that sticks.

    Attributes
    ----------
    strength, rise : float [N, 1/m]
        As of ``force_laws.exponential_force``.
    max_stretch : float [m]
        Beyond it the ground pushes no harder, and a sole comes loose.
    return_share : float [-]
        Share of the force that is left on the way back.
    turn_speed : float [m/s]
        From this speed inwards to the same outwards the share of the ground comes in.

    """

    strength: float
    rise: float
    max_stretch: float
    return_share: float
    turn_speed: float


class ConstraintRows(NamedTuple):
    """
    Constraint rows of a step, each of which asks for ``(reference - acceleration) / softness``.

    Attributes
    ----------
    velocity, reference : (nefc,) arrays [m/s, m/s^2]
    softness, hardness : (nefc,) arrays [1/kg, kg]
        R and D = 1 / R.
    friction, mu : (c, 5) and (c,) arrays [-]
        Of each contact, and of the solver's cone.

    """

    velocity: FloatArray
    reference: FloatArray
    softness: FloatArray
    hardness: FloatArray
    friction: FloatArray
    mu: FloatArray


class BodyViews(NamedTuple):
    """
    The n bodies of a state.

    Attributes
    ----------
    origin : (n, 3) array [m]
    turn : (n, 9) array
        Rotations by rows.
    centre : (n, 3) array [m]
        Centres of mass.
    wrench : (n, 6) array [N, N m]
        Force and moment there that are applied in a step.

    """

    origin: FloatArray
    turn: FloatArray
    centre: FloatArray
    wrench: FloatArray


@njit(cache=True)
def write_ground_springs(spring, step, contacts, rows, ground):  # type: ignore[no-untyped-def]
    """
    Let the ground push each contact with its spring; friction stays MuJoCo's, Coulomb's law.

    A row asks for ``force = (reference - acceleration) / R``. With ``reference / R`` the force of
    the spring as it is and ``1 / R = slope * step^2 / 4``, slope the spring's, a step is that of
    semi-implicit Euler with a little mass added: it neither takes energy nor gives any, at
    whatever stiffness. What the force loses with the speed, where it turns round, is implicit.

    Parameters
    ----------
    spring : Spring
    step : float [s]
    contacts : Contacts
    rows : Rows
        All but the velocity are written.
    ground : int
        The ground's geometry.

    """
    for i in range(len(contacts.dist)):
        normal = contacts.row[i]
        if contacts.geom[i, 0] != ground or not 0 <= normal < len(rows.reference):
            continue
        # McKenna (1990), section 4.4: N = alpha (e^(beta delta) - 1), as in Eq. 8, with a cap on
        # delta; a share of it while the contact moves out.
        depth = min(max(-contacts.dist[i], 0.0), spring.max_stretch)
        grown = math.exp(spring.rise * depth)
        push = spring.strength * (grown - 1.0)
        lost = min(1.0 - spring.return_share, 1.0 - _MIN_SHARE)
        # From all of the force to the share, where it turns round: a switch would chatter at rest.
        out = 0.5 + 0.5 * rows.velocity[normal] / spring.turn_speed
        share = 1.0 - lost * min(max(out, 0.0), 1.0)
        turning = 0.5 * lost * push / spring.turn_speed if 0.0 < out < 1.0 else 0.0
        slope = share * spring.strength * spring.rise * grown
        hard = 0.25 * slope * step * step + turning * step
        rows.reference[normal] = share * push / hard
        rows.hardness[normal], rows.softness[normal] = hard, 1.0 / hard
        # Rows of friction keep their own hardness, of which MuJoCo's cone has the ratio.
        if normal + 1 < len(rows.softness):
            tangent = rows.softness[normal + 1]
            rows.mu[i] = rows.friction[i, 0] * math.sqrt(tangent * hard)


@njit(cache=True)
def pull_stuck_soles(soles, spring, torques, contacts, ground, bodies):  # type: ignore[no-untyped-def]
    """
    Pull each sole that sticks to where it stuck; let soles stick that touch, or come loose.

    A sole holds while the feed of its torque is not negative; one without a torque always does.

    Parameters
    ----------
    soles : (s,) SOLE array
    spring : Spring
    torques : (t,) TORQUE array
    contacts : Contacts
    ground : int
        The ground's geometry.
    bodies : Bodies
        The pulls are added to ``wrench``.

    """
    soles.is_touching[:] = False
    for i in range(len(contacts.dist)):
        if contacts.row[i] >= 0 and contacts.geom[i, 0] == ground:
            for s in range(len(soles)):
                if soles[s].first_geom <= contacts.geom[i, 1] < soles[s].end_geom:
                    soles[s].is_touching = True
    for s in range(len(soles)):
        sole = soles[s]
        origin, turn, lever = bodies.origin[sole.body], bodies.turn[sole.body], sole.point
        x = origin[0] + turn[0] * lever[0] + turn[1] * lever[1] + turn[2] * lever[2]
        y = origin[1] + turn[3] * lever[0] + turn[4] * lever[1] + turn[5] * lever[2]
        z = origin[2] + turn[6] * lever[0] + turn[7] * lever[1] + turn[8] * lever[2]
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
    """Write the pull on a sole at a place x, y, z [m]; see whether it sticks from now."""
    anchor, pull = sole.anchor, sole.pull
    away_x, away_y, away_z = anchor[0] - x, anchor[1] - y, anchor[2] - z
    pull[0], pull[1], pull[2] = 0.0, 0.0, 0.0
    stretch = math.sqrt(away_x * away_x + away_y * away_y + away_z * away_z)
    if not holds or stretch > spring.max_stretch:
        sole.is_stuck = False
    if not sole.is_stuck:
        if holds and sole.is_touching:
            anchor[0], anchor[1], anchor[2] = x, y, z
            sole.is_stuck, sole.stretch = True, 0.0
        return
    # McKenna (1990), Eq. 8: the spring of a sticky foot, a share of it on the way back.
    share = spring.return_share if stretch < sole.stretch else 1.0
    sole.stretch = stretch
    if stretch > 0.0:
        force = share * exponential_spring_force(stretch, spring.strength, spring.rise)
        pull[0] = away_x * (force / stretch)
        pull[1] = away_y * (force / stretch)
        pull[2] = away_z * (force / stretch)
