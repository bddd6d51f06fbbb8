"""Compiled laws of the ground at a contact node, shared by the engines of free bodies."""

from __future__ import annotations

import math
from typing import NamedTuple

import numba

from gait_core.arrays import FloatArray

HOLD, RESET, INTEGRATE, BREAKAWAY = range(4)
"""What becomes of a bristle's displacement when its node leaves the ground."""
READING_A, READING_C, COULOMB = range(3)
"""Laws of friction."""
FRICTION_LAWS = {'engine': READING_A, 'reset_integrator': READING_A, 'coulomb': COULOMB}


class Ground(NamedTuple):
    """
    Constants of the laws, in SI units, and the surface.

    ``law`` is a code of friction, ``lift_off`` of what holds in the air; ``stiffness`` [N/m] and
    ``damping`` [N s/m^2] of the normal force; ``limit`` [m], ``bristle`` [N/m], ``rate_bristle``
    [N s/m^2], ``drag`` [N s/m] and ``boost`` of the reset-integrator friction; ``forward`` the
    share of friction that is left against motion along +x; ``friction`` and ``slow`` [m/s] of
    regularised Coulomb friction. The heights of a plane are empty.
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
    Return the force [N] along the normal at a depth [m] that grows at a rate [m/s].

    ``max(0, k d + lambda d d')`` below ground and nothing above it: printed with both terms
    negative, which would pull; clamped because it would pull at fast departures.

    References
    ----------
    Korbel (2013), section 2.1.1, Eq. 1.

    """
    # Eq. 1, with n = 1: k_N d + lambda d d'.
    force = stiffness * depth + damping * depth * rate
    return max(force, 0.0) if depth > 0.0 else 0.0


@numba.njit(cache=True, error_model='numpy')
def bristle_friction(
    ground: Ground, share: float, touching: bool, displacement: float, velocity: float, dt: float
) -> tuple[float, float]:
    """
    Return the force [N] on a node along one axis and its bristle's next displacement [m].

    The displacement x follows the velocity v up to the stiction range ``p_o`` and stops there;
    ``F = -(sigma_o (1 + a(x)) x + sigma_1 dx/dt)`` with a(x) only inside the range. Read
    literally, Eq. 5 multiplies sigma_o by v and pumps energy in; in reading A sigma_o is a
    constant, in reading C it is multiplied by the speed.

    Parameters
    ----------
    ground : Ground
    share : float
        Share of the friction against motion along the axis that is left; 1: all of it.
    touching : bool
        In the air there is no force, and ``lift_off`` says what becomes of x.
    x, v : float [m, m/s]
    dt : float [s]

    References
    ----------
    Korbel (2013), section 2.1.2, Eqs. 3 to 5, Table 2.

    """
    # Eq. 3: dx/dt = v, but 0 where x has reached p_o and v would take it further.
    limit = ground.stiction_range
    stopped = (velocity > 0.0 and displacement >= limit) or (
        velocity < 0.0 and displacement <= -limit
    )
    rate = 0.0 if stopped else velocity
    # Eqs. 4 and 5: sigma_o (1 + a(x)) x, a(x) = a_c inside the range, plus sigma_1 dx/dt.
    stiff = (
        ground.bristle_stiffness
        if ground.friction_law == READING_A
        else ground.bristle_stiffness_rate * abs(velocity)
    )
    lean = (
        stiff * (1.0 + ground.stiction_boost) if abs(displacement) < limit else stiff
    ) * displacement
    drag = ground.bristle_damping * rate
    # By the sign of each part, not of v: a spring that is softer one way gives nothing away.
    lean = share * lean if displacement > 0.0 else lean
    drag = share * drag if rate > 0.0 else drag
    moved = displacement + rate * dt
    # An explicit step may overshoot p_o. The text of section 2.1.2 resets x at breakaway instead.
    kept = min(max(moved, -limit), limit)
    if ground.lift_off == BREAKAWAY:
        kept = 0.0 if abs(moved) >= limit else moved
    aloft = kept if ground.lift_off == INTEGRATE else displacement
    aloft = 0.0 if ground.lift_off == RESET else aloft
    return (-(lean + drag) if touching else 0.0), (kept if touching else aloft)


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
    Return normal force, both tangential forces [N] and both next displacements [m] of a node.

    Parameters
    ----------
    ground : Ground
    depth, rate : float [m, m/s]
        Below the surface, along its normal.
    speeds : two floats [m/s]
        Along both tangents.
    bristle : two floats [m]
        Displacements along them.
    dt : float [s]

    """
    v, w = speeds
    push = normal_force(ground.stiffness, ground.damping, depth, rate)
    touching = depth > 0.0
    if ground.friction_law == COULOMB:
        # mu F_N v / |v|, smooth around rest.
        size = (
            -ground.friction
            * push
            / math.sqrt(v * v + w * w + ground.coulomb_speed * ground.coulomb_speed)
        )
        return push, size * v, size * w, bristle[0], bristle[1]
    along, next_v = bristle_friction(ground, ground.forward_share, touching, bristle[0], v, dt)
    across, next_w = bristle_friction(ground, 1.0, touching, bristle[1], w, dt)
    return push, along, across, next_v, next_w


@numba.njit(cache=True, error_model='numpy')
def surface_at(ground: Ground, x: float, y: float) -> tuple[float, float, float]:
    """
    Return the height [m] of the surface under a point, and its slopes along x and y.

    The same triangles as ``gait_core.terrains.surfaces.HeightField``.
    """
    heights = ground.heights
    ny, nx = heights.shape
    i = min(max((x - ground.x) / ground.cell, 0.0), nx - 1.0)
    j = min(max((y - ground.y) / ground.cell, 0.0), ny - 1.0)
    column, row = min(int(i), nx - 2), min(int(j), ny - 2)
    u, v = i - column, j - row
    if u + v <= 1.0:
        base = heights[row, column]
        along, across = heights[row, column + 1] - base, heights[row + 1, column] - base
        height = base + u * along + v * across
    else:
        base = heights[row + 1, column + 1]
        along, across = base - heights[row + 1, column], base - heights[row, column + 1]
        height = base - (1.0 - u) * along - (1.0 - v) * across
    return height, along / ground.cell, across / ground.cell
