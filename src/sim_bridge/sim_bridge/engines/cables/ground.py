# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Compiled normal force, friction and surface at a contact node."""

from __future__ import annotations

import math
from typing import NamedTuple

import numba

from gait_core.arrays import FloatArray

HOLD, RESET, INTEGRATE, BREAKAWAY = range(4)
"""
Rules for the displacement of a bristle whose node is in the air, by ``NodeOptions.lift_off``.

The displacement is held, reset, or integrated from the velocity. ``BREAKAWAY`` holds it in the
air, and on the ground resets it when it reaches the stiction range.
"""
READING_A, READING_C, COULOMB = range(3)
"""Codes of friction laws: readings A and C of Korbel's Eq. 5, and regularised Coulomb friction."""
FRICTION_LAWS = {'engine': READING_A, 'reset_integrator': READING_A, 'coulomb': COULOMB}
"""Codes by contact law of a scene; ``engine`` is the default law of the engine."""


class Ground(NamedTuple):
    """
    Constants of the ground in SI units, with the symbols of Korbel (2013), and its surface.

    Attributes
    ----------
    friction_law, lift_off : int
        Code of the friction law, and of the rule for a bristle in the air.
    stiffness, damping : float [N/m, N s/m^2]
        k_N and lambda of the normal force (Eq. 1).
    stiction_range : float [m]
        p_o, the largest displacement of a bristle (Eq. 3).
    bristle_stiffness, bristle_stiffness_rate : float [N/m, N s/m^2]
        sigma_o in reading A; sigma_o over the speed in reading C (Eq. 5).
    bristle_damping : float [N s/m]
        sigma_1 (Eq. 5).
    stiction_boost : float [-]
        a_c (Eq. 4).
    forward_share : float [-]
        Factor of the friction against motion along +x; 1: full friction.
    friction, coulomb_speed : float [-, m/s]
        Coefficient of regularised Coulomb friction, and the speed below which it is viscous.
    heights : (ny, nx) array [m]
        Empty for a plane.
    cell, x, y : float [m]
        Size of a cell, and position of the first vertex.

    """

    friction_law: int
    lift_off: int
    stiffness: float
    damping: float
    stiction_range: float
    bristle_stiffness: float
    bristle_stiffness_rate: float
    bristle_damping: float
    stiction_boost: float
    forward_share: float
    friction: float
    coulomb_speed: float
    heights: FloatArray
    cell: float
    x: float
    y: float


@numba.njit(cache=True, error_model='numpy')
def normal_force(stiffness: float, damping: float, depth: float, rate: float) -> float:
    """
    Return the normal force [N] at a depth [m] that grows at a rate [m/s].

    ``max(0, k_N d + lambda d d')`` below the surface, 0 above it. Eq. 1 is printed with both
    terms negative, which would pull the node down. The force is clamped at 0, because the damping
    would pull on a node that leaves fast.

    References
    ----------
    Korbel (2013), section 2.1.1, Eq. 1.

    """
    # Korbel (2013), Eq. 1, with exponent 1 of the depth: F_N = k_N d + lambda d d'.
    force = stiffness * depth + damping * depth * rate
    return max(force, 0.0) if depth > 0.0 else 0.0


@numba.njit(cache=True, error_model='numpy')
def bristle_friction(
    ground: Ground, share: float, touching: bool, displacement: float, velocity: float, dt: float
) -> tuple[float, float]:
    """
    Return the friction [N] on a node along one tangent, and the next displacement of its bristle.

    The reset-integrator friction: the displacement x [m] follows the velocity v [m/s] up to the
    stiction range p_o and stops there; ``F = -(sigma_o (1 + a(x)) x + sigma_1 dx/dt)``, with
    ``a(x) = a_c`` inside the range and 0 at its edge. Read literally, Eq. 5 multiplies sigma_o by
    v and adds energy. In reading A sigma_o is a constant, in reading C it is multiplied by |v|.

    Parameters
    ----------
    ground : Ground
    share : float
        Factor of the friction against positive motion; 1: full friction.
    touching : bool
        Whether the node is on the ground. In the air the force is 0 and x follows ``lift_off``.
    displacement, velocity : float [m, m/s]
        x and v.
    dt : float [s]

    References
    ----------
    Korbel (2013), section 2.1.2, Eqs. 3 to 5, Table 2.

    """
    # Korbel (2013), Eq. 3: dx/dt = v, but 0 where |x| has reached p_o and v would take it further.
    limit = ground.stiction_range
    is_at_limit = (velocity > 0.0 and displacement >= limit) or (
        velocity < 0.0 and displacement <= -limit
    )
    rate = 0.0 if is_at_limit else velocity
    # Eq. 4: a(x) = a_c inside the range (stuck), 0 at its edge (sliding).
    # Eq. 5: F = -(sigma_o (1 + a(x)) x + sigma_1 dx/dt); parts of a spring and a damper.
    stiffness = (
        ground.bristle_stiffness
        if ground.friction_law == READING_A
        else ground.bristle_stiffness_rate * abs(velocity)
    )
    spring_part = (
        stiffness * (1.0 + ground.stiction_boost) if abs(displacement) < limit else stiffness
    ) * displacement
    damping_part = ground.bristle_damping * rate
    # The sign of each part, not of v, decides on the share: a spring whose stiffness depended on v
    # could return more energy than it took.
    spring_part = share * spring_part if displacement > 0.0 else spring_part
    damping_part = share * damping_part if rate > 0.0 else damping_part
    unlimited = displacement + rate * dt
    # Explicit Euler for x. A step may overshoot p_o, hence the clamp; by the text of section 2.1.2
    # (``BREAKAWAY``) x is reset at breakaway instead.
    limited = min(max(unlimited, -limit), limit)
    if ground.lift_off == BREAKAWAY:
        limited = 0.0 if abs(unlimited) >= limit else unlimited
    in_air = limited if ground.lift_off == INTEGRATE else displacement
    in_air = 0.0 if ground.lift_off == RESET else in_air
    force = -(spring_part + damping_part) if touching else 0.0
    return force, (limited if touching else in_air)


@numba.njit(cache=True, error_model='numpy')
def node_force(
    ground: Ground,
    depth: float,
    rate: float,
    speeds: tuple[float, float],
    bristle: tuple[float, float],
    dt: float,
) -> tuple[float, float, float, float, float]:
    """
    Return the contact of a node: normal force, two tangential forces [N], next bristles [m].

    Parameters
    ----------
    ground : Ground
    depth, rate : float [m, m/s]
        Depth below the surface along its normal, and its rate.
    speeds : two floats [m/s]
        Velocity along the two tangents.
    bristle : two floats [m]
        Displacement along the two tangents.
    dt : float [s]

    """
    v, w = speeds
    push = normal_force(ground.stiffness, ground.damping, depth, rate)
    is_touching = depth > 0.0
    if ground.friction_law == COULOMB:
        # Coulomb: F = -mu F_N v / |v|, regularised to -mu F_N v / sqrt(|v|^2 + v_s^2).
        size = (
            -ground.friction
            * push
            / math.sqrt(v * v + w * w + ground.coulomb_speed * ground.coulomb_speed)
        )
        return push, size * v, size * w, bristle[0], bristle[1]
    along, next_v = bristle_friction(ground, ground.forward_share, is_touching, bristle[0], v, dt)
    across, next_w = bristle_friction(ground, 1.0, is_touching, bristle[1], w, dt)
    return push, along, across, next_v, next_w


@numba.njit(cache=True, error_model='numpy')
def surface_at(ground: Ground, x: float, y: float) -> tuple[float, float, float]:
    """
    Return the height [m] of the surface under a point, and its slopes along x and y.

    Cells are split into the same triangles as ``gait_core.height_field.HeightField`` splits them.
    Beyond the field the heights of its edge continue.
    """
    heights = ground.heights
    ny, nx = heights.shape
    i = min(max((x - ground.x) / ground.cell, 0.0), nx - 1.0)
    j = min(max((y - ground.y) / ground.cell, 0.0), ny - 1.0)
    column, row = min(int(i), nx - 2), min(int(j), ny - 2)
    u, v = i - column, j - row
    # The diagonal u + v = 1 divides the cell; height is linear on either side of it.
    if u + v <= 1.0:
        base = heights[row, column]
        along, across = heights[row, column + 1] - base, heights[row + 1, column] - base
        height = base + u * along + v * across
    else:
        base = heights[row + 1, column + 1]
        along, across = base - heights[row + 1, column], base - heights[row, column + 1]
        height = base - (1.0 - u) * along - (1.0 - v) * across
    return height, along / ground.cell, across / ground.cell
