"""
The ground of springs and sticking soles in MuJoCo, compiled into the control callback.

Between the two halves of a step the contacts are found and their constraint rows made, but not
solved. A ground of springs rewrites the row along a contact's normal; MuJoCo then solves friction
with it, by Coulomb's law without a chatter at rest. Sticking soles are pulled by forces.
"""

from __future__ import annotations

import math

from numba import carray, njit
import numpy as np

from gait_core.addresses import ANY, numbers_at, pointer
from sim_bridge.engines.laws import exponential_force
from sim_bridge.engines.mujoco_layout import layout

CONTACT = layout(
    'mjContact',
    ('dist', 'pos', 'frame', 'friction', 'mu', 'geom', 'efc_address'),
    {'dist': 'f8', 'pos': '3f8', 'frame': '9f8', 'friction': '5f8', 'mu': 'f8', 'geom': '2i4'},
)
"""What native code reads of a contact of MuJoCo's."""
_LIKE = np.zeros(0, dtype=CONTACT)
(BODY, FIRST, END, POINT, HOLD, TOUCHES, STUCK, STRETCH, ANCHOR,
 PULL) = (0, 1, 2, 3, 6, 7, 8, 9, 10, 13)  # fmt: skip
"""Rows of soles: body, its geometries and a place on it; where its order to hold lies among the
torques; whether it touches and sticks, how far away that is, where, and the force on it. Places
and forces have three."""
SOLE_ROWS = 16
STRENGTH, RISE, REACH, RETURN, SLOW = range(5)
"""Columns of a spring: N, 1/m, m, the share that counts on the way back, m/s."""
# What is left of a spring that gives nothing back: a row of no stiffness has no solution.
_LEAST = 1e-6


@njit
def spring_ground(state, spring, ground, step):  # type: ignore[no-untyped-def]
    """
    Let the ground push each contact with its spring; friction stays MuJoCo's.

    A row asks for ``force = (aref - a) / R``. With ``aref / R`` the force of the spring as it is
    and ``1 / R = slope * step^2 / 4``, slope the spring's, a step is that of semi-implicit Euler
    with a little mass added: it neither takes energy nor gives any, at whatever stiffness. What
    the force loses with the speed, where it turns round, is implicit.
    """
    contacts = carray(pointer(state.contact), state.ncon, _LIKE.dtype)
    speeds, references = numbers_at(state.efc_vel, ANY), numbers_at(state.efc_aref, ANY)
    softness, hardness = numbers_at(state.efc_R, ANY), numbers_at(state.efc_D, ANY)
    for i in range(state.ncon):
        one = contacts[i]
        row = one.efc_address
        if not 0 <= row < state.nefc or one.geom[0] != ground:
            continue
        depth = min(max(-one.dist, 0.0), spring[REACH])
        grown = math.exp(spring[RISE] * depth)
        push = spring[STRENGTH] * (grown - 1.0)
        lost = min(1.0 - spring[RETURN], 1.0 - _LEAST)
        # From all of the force to the share, where it turns round: a switch would chatter at rest.
        out = 0.5 + 0.5 * speeds[row] / spring[SLOW]
        share = 1.0 - lost * min(max(out, 0.0), 1.0)
        turning = 0.5 * lost * push / spring[SLOW] if 0.0 < out < 1.0 else 0.0
        slope = share * spring[STRENGTH] * spring[RISE] * grown
        hard = 0.25 * slope * step * step + turning * step
        references[row] = share * push / hard
        hardness[row], softness[row] = hard, 1.0 / hard
        # Rows of friction keep their own hardness, of which MuJoCo's cone has the ratio.
        if row + 1 < state.nefc:
            contacts[i].mu = one.friction[0] * math.sqrt(softness[row + 1] * hard)


@njit
def release_soles(soles, wrenches):  # type: ignore[no-untyped-def]
    """Take away what pulled in the last step."""
    for s in range(soles.shape[1]):
        at = 6 * int(soles[BODY, s])
        wrenches[at : at + 6] = 0.0


@njit
def stick_soles(state, soles, orders, spring, ground):  # type: ignore[no-untyped-def]
    """
    Pull each sole that sticks to where it stuck; let soles stick that touch, or come loose.

    A sole holds while its order among ``orders`` is not negative; one without always does.
    """
    contacts = carray(pointer(state.contact), state.ncon, _LIKE.dtype)
    places, turns = numbers_at(state.xpos, ANY), numbers_at(state.xmat, ANY)
    centres, wrenches = numbers_at(state.xipos, ANY), numbers_at(state.xfrc_applied, ANY)
    soles[TOUCHES] = 0.0
    for i in range(state.ncon):
        one = contacts[i]
        if one.efc_address >= 0 and one.geom[0] == ground:
            for s in range(soles.shape[1]):
                if soles[FIRST, s] <= one.geom[1] < soles[END, s]:
                    soles[TOUCHES, s] = 1.0
    place = np.empty(3)
    for s in range(soles.shape[1]):
        body = int(soles[BODY, s])
        turn, lever = turns[9 * body : 9 * body + 9], soles[POINT : POINT + 3, s]
        for i in range(3):
            place[i] = places[3 * body + i]
            for k in range(3):
                place[i] += turn[3 * i + k] * lever[k]
        at = int(soles[HOLD, s])
        _pull_sole(soles[:, s], place, spring, at < 0 or orders[at] >= 0.0)
        pull, wrench = soles[PULL:, s], wrenches[6 * body : 6 * body + 6]
        x, y, z = place - centres[3 * body : 3 * body + 3]
        wrench[:3] += pull
        wrench[3] += y * pull[2] - z * pull[1]
        wrench[4] += z * pull[0] - x * pull[2]
        wrench[5] += x * pull[1] - y * pull[0]


@njit
def _pull_sole(sole, place, spring, holds):  # type: ignore[no-untyped-def]
    """Write the pull on one sole, (16,), at a place."""
    pull, away = sole[PULL:], sole[ANCHOR : ANCHOR + 3] - place
    pull[:] = 0.0
    stretch = math.sqrt(away[0] * away[0] + away[1] * away[1] + away[2] * away[2])
    if not holds or stretch > spring[REACH]:
        sole[STUCK] = 0.0
    if sole[STUCK] == 0.0:
        if holds and sole[TOUCHES] > 0.0:
            sole[ANCHOR : ANCHOR + 3] = place
            sole[STUCK], sole[STRETCH] = 1.0, 0.0
        return
    share = spring[RETURN] if stretch < sole[STRETCH] else 1.0
    sole[STRETCH] = stretch
    if stretch > 0.0:
        force = share * exponential_force(stretch, spring[STRENGTH], spring[RISE])
        pull[:] = away * (force / stretch)
