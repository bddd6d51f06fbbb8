r"""
Compiled kernel of leg kinematics: the inversion of chains, for points and for paths.

It minimises ``|p - p*|^2 / 2 + w^2 |R - R*|^2 / 4`` over the joint positions within
their limits, by projected Newton steps with the exact Hessian. Point and orientation enter alike:
the columns of R are vectors that the joints turn, and for both the derivatives are cross products,
``dv/dq_i = a_i x v`` and ``d2v/dq_i dq_j = a_i x (a_j x v)`` with i the joint nearer to the root.
The exact Hessian keeps the convergence quadratic also where the target is out of reach, where
Gauss-Newton steps creep.

The arrays of a chain are those of ``leg_chain``.
"""

from __future__ import annotations

import math

from numba import njit
import numpy as np

from gait_core.arrays import FloatArray
from gait_core.leg_chain import Chain, Room, make_room, place, small

MAX_STEPS = 120
_AT_BOUND = 1e-12
_LONGEST_STEP = 1.0
"""Per joint [rad or m]."""
_EXACT = 1e-24
"""Cost [m^2] as good as zero: a picometre."""
_CLOSE = 1e-18
"""Cost [m^2] at which a point of a path is met: a nanometre."""
_FLAT = 1e-20
"""Squared slope, over curvature times cost, at which no step can help any more."""
_NEAR, _NEAR_STEPS = 0.2, 5
"""Longest step [rad or m] and number of steps to a point nearby."""
_SINGULAR = 1e-3
"""Volume spanned by three joints' rates, over that of a box, below which they are singular."""


@njit(cache=True)
def _cost(room: Room, target: FloatArray, attitude: FloatArray, weight: float) -> float:
    total = 0.0
    for i in range(3):
        total += 0.5 * (room.point[i] - target[i]) ** 2
        if weight > 0.0:
            for k in range(3):
                total += 0.25 * (weight * (room.rotation[i, k] - attitude[i, k])) ** 2
    return total


@njit(cache=True)
def _add_vector(  # type: ignore[no-untyped-def]
    x, y, z, error_x, error_y, error_z, factor, bound, sliding, room
):
    """
    Add one vector's share of gradient and Hessian by element positions.

    A point is bound (1) to the places of the axes: they turn its arm, slides move it. A column of
    the rotation is not (0).
    """
    count = len(sliding)
    axes, rates, at = room.axes, room.rates, room.origins
    for e in range(count):
        a, b, c = axes[e, 0], axes[e, 1], axes[e, 2]
        if sliding[e]:
            rates[e, 0], rates[e, 1], rates[e, 2] = bound * a, bound * b, bound * c
        else:
            u, v, w = x - bound * at[e, 0], y - bound * at[e, 1], z - bound * at[e, 2]
            rates[e, 0], rates[e, 1], rates[e, 2] = b * w - c * v, c * u - a * w, a * v - b * u
    for i in range(count):
        a, b, c = rates[i, 0], rates[i, 1], rates[i, 2]
        room.by_element[i] += factor * (a * error_x + b * error_y + c * error_z)
        if not sliding[i]:
            # error . (axis x rate) = rate . (error x axis)
            a += error_y * axes[i, 2] - error_z * axes[i, 1]
            b += error_z * axes[i, 0] - error_x * axes[i, 2]
            c += error_x * axes[i, 1] - error_y * axes[i, 0]
        for j in range(i, count):
            room.elements[i, j] += factor * (a * rates[j, 0] + b * rates[j, 1] + c * rates[j, 2])


@njit(cache=True)
def _differentiate(
    chain: Chain, target: FloatArray, attitude: FloatArray, weight: float, room: Room
) -> None:
    """Write the cost's gradient (m,) and Hessian (m, m) by joint positions."""
    count, m = chain.gain.shape
    room.by_element[:] = 0.0
    room.elements[:] = 0.0
    p, r = room.point, room.rotation
    _add_vector(
        p[0], p[1], p[2], p[0] - target[0], p[1] - target[1], p[2] - target[2], 1.0, 1.0,
        chain.sliding, room,
    )  # fmt: skip
    if weight > 0.0:
        for k in range(3):
            _add_vector(
                r[0, k], r[1, k], r[2, k],
                r[0, k] - attitude[0, k], r[1, k] - attitude[1, k], r[2, k] - attitude[2, k],
                0.5 * weight * weight, 0.0, chain.sliding, room,
            )  # fmt: skip
    for e in range(count):
        for f in range(e):
            room.elements[e, f] = room.elements[f, e]
    for i in range(m):
        slope = 0.0
        for j in range(m):
            room.hessian[i, j] = 0.0
        for e in range(count):
            share = chain.gain[e, i]
            if share != 0.0:
                slope += share * room.by_element[e]
                for j in range(m):
                    for f in range(count):
                        room.hessian[i, j] += share * room.elements[e, f] * chain.gain[f, j]
        room.gradient[i] = slope


@njit(cache=True)
def _newton_step(damping: float, room: Room) -> bool:
    """Write the damped Newton step of the free joints; false if the Hessian is not positive."""
    # By Cholesky of the Hessian in which the joints that are not free have the identity.
    low, step, free = room.packed, room.step, room.free
    m = len(step)
    for i in range(m):
        for j in range(i + 1):
            total = room.hessian[i, j] if free[i] and free[j] else 0.0
            if i == j:
                total = total + damping if free[i] else 1.0
            for k in range(j):
                total -= low[i, k] * low[j, k]
            if i != j:
                low[i, j] = total / low[j, j]
            elif total > 0.0:
                low[i, i] = math.sqrt(total)
            else:
                return False
    for i in range(m):
        total = -room.gradient[i] if free[i] else 0.0
        for k in range(i):
            total -= low[i, k] * step[k]
        step[i] = total / low[i, i]
    for i in range(m - 1, -1, -1):
        total = step[i]
        for k in range(i + 1, m):
            total -= low[k, i] * step[k]
        step[i] = total / low[i, i]
    for i in range(m):
        step[i] = min(max(step[i], -_LONGEST_STEP), _LONGEST_STEP)
    return True


@njit(cache=True)
def _free_joints(
    here: FloatArray, lower: FloatArray, upper: FloatArray, room: Room
) -> tuple[float, float]:
    """Mark the joints that no limit holds; return their largest slope and curvature."""
    slope, curvature = 0.0, 1e-30
    for i in range(len(here)):
        steep = room.gradient[i]
        held = (here[i] <= lower[i] + _AT_BOUND and steep > 0.0) or (
            here[i] >= upper[i] - _AT_BOUND and steep < 0.0
        )
        room.free[i] = not held
        if not held:
            slope = max(slope, abs(steep))
            curvature = max(curvature, abs(room.hessian[i, i]))
    return slope, curvature


@small
def _copy(source: FloatArray, target: FloatArray) -> None:
    """Copy element by element: what a slice assignment checks takes seconds to compile."""
    for i in range(len(target)):
        target[i] = source[i]


@njit(cache=True)
def _search(  # type: ignore[no-untyped-def]
    start, lower, upper, chain, target, attitude, weight, here, room
):
    """Write to ``here`` the best joint positions found from a start; return their cost [m^2]."""
    m = len(start)
    damping, nudged, fresh = 0.0, False, True
    for i in range(m):
        here[i] = min(max(start[i], lower[i]), upper[i])
    place(chain, here, room)
    cost = _cost(room, target, attitude, weight)
    for _ in range(MAX_STEPS):
        if cost <= _EXACT:
            break
        if fresh:
            _differentiate(chain, target, attitude, weight, room)
            fresh = False
        slope, curvature = _free_joints(here, lower, upper, room)
        positive = _newton_step(damping * curvature, room)
        if slope * slope <= _FLAT * curvature * cost:
            if positive or nudged:
                break
            # A saddle: a straight leg that has to shorten is pulled along itself only.
            nudged, fresh = True, True
            _bend(here, lower, upper)
            place(chain, here, room)
            cost = _cost(room, target, attitude, weight)
            continue
        if positive:
            for i in range(m):
                room.there[i] = min(max(here[i] + room.step[i], lower[i]), upper[i])
            place(chain, room.there, room)
            reached = _cost(room, target, attitude, weight)
            if reached < cost:
                _copy(room.there, here)
                fresh, cost = True, reached
                damping = 0.1 * damping if damping > 1e-9 else 0.0
                continue
            if damping > 1e8:
                break
        damping = max(10.0 * damping, 1e-4)
    return cost


@njit(cache=True)
def _search_all(  # type: ignore[no-untyped-def]
    starts, lower, upper, chain, target, attitude, weight, enough, best, room
):
    cost = _search(starts[0], lower, upper, chain, target, attitude, weight, best, room)
    if cost <= enough:
        return cost
    here = np.empty(len(best))
    for s in range(1, len(starts)):
        found = _search(starts[s], lower, upper, chain, target, attitude, weight, here, room)
        if found < 0.9 * cost:
            cost = found
            _copy(here, best)
        if cost <= enough:
            break
    return cost


@njit(cache=True)
def chain_inverse(  # type: ignore[no-untyped-def]
    starts, lower, upper, gain, bias, turn, offset, axis, sliding, target, attitude, weight,
    enough, best,
):  # fmt: skip
    """
    Search from several starts in turn until a cost is low enough; the best one wins.

    A later start must be clearly better: a jump to another posture has to be worth it.

    Parameters
    ----------
    starts : (s, m) array [rad or m]
        Clipped to the limits.
    lower, upper : (m,) arrays
    gain, bias, turn, offset, axis, sliding
        The chain.
    target : (3,) array [m]
        Of the sole point, in the base frame.
    attitude : (3, 3) array
        Of the sole link; ignored if ``weight`` is zero.
    weight : float [m]
        Length that an error of one radian counts as.
    enough : float [m^2]
        Cost at which no further start is tried.
    best : (m,) array [rad or m]
        Written: the best positions found, within the limits.

    Returns
    -------
    float [m^2]
        Their cost.

    """
    chain = Chain(gain, bias, turn, offset, axis, sliding)
    return _search_all(
        starts, lower, upper, chain, target, attitude, weight, enough, best,
        make_room(len(bias), len(best)),
    )  # fmt: skip


@small
def _approach(lower, upper, chain, target, here, room):  # type: ignore[no-untyped-def]
    """
    Move three joints to a point nearby, by plain Newton steps; false where a search is needed.

    ``here`` (3,) is read and written. No limit may be met, no step be long, no posture singular.
    """
    axes, at, point, rates = room.axes, room.origins, room.point, room.rates
    for _ in range(_NEAR_STEPS):
        place(chain, here, room)
        x, y, z = target[0] - point[0], target[1] - point[1], target[2] - point[2]
        if 0.5 * (x * x + y * y + z * z) <= _CLOSE:
            return True
        for e in range(len(chain.bias)):
            a, b, c = axes[e, 0], axes[e, 1], axes[e, 2]
            if not chain.sliding[e]:
                u, v, w = point[0] - at[e, 0], point[1] - at[e, 1], point[2] - at[e, 2]
                a, b, c = b * w - c * v, c * u - a * w, a * v - b * u
            rates[e, 0], rates[e, 1], rates[e, 2] = a, b, c
        for j in range(3):
            for i in range(3):
                room.hessian[j, i] = 0.0
                for e in range(len(chain.bias)):
                    room.hessian[j, i] += chain.gain[e, j] * rates[e, i]
        p, q, r = room.hessian[0], room.hessian[1], room.hessian[2]
        volume = _triple(p[0], p[1], p[2], q, r)
        if abs(volume) <= _SINGULAR * math.sqrt(_square(p) * _square(q) * _square(r)):
            return False
        room.step[0] = _triple(x, y, z, q, r) / volume
        room.step[1] = _triple(x, y, z, r, p) / volume
        room.step[2] = _triple(x, y, z, p, q) / volume
        for j in range(3):
            here[j] += room.step[j]
            if abs(room.step[j]) > _NEAR or not lower[j] < here[j] < upper[j]:
                return False
    return False


@small
def _triple(x, y, z, b, c):  # type: ignore[no-untyped-def]
    """Return (x, y, z) . (b x c)."""
    return (
        x * (b[1] * c[2] - b[2] * c[1])
        + y * (b[2] * c[0] - b[0] * c[2])
        + z * (b[0] * c[1] - b[1] * c[0])
    )


@small
def _square(a):  # type: ignore[no-untyped-def]
    return a[0] * a[0] + a[1] * a[1] + a[2] * a[2]


@njit(cache=True)
def chains_follow(  # type: ignore[no-untyped-def]
    starts, lower, upper, gain, bias, turn, offset, axis, sliding, paths, enough, positions
):
    """
    Write joint positions that put the soles of L alike chains on paths, point by point.

    Each search begins where the last two solutions point to, or at the last one where a point was
    out of reach, and ends within a nanometre of a point in reach.

    Parameters
    ----------
    starts : (L, s, m) array [rad or m]
        ``starts[:, 0]`` is overwritten.
    lower, upper, gain, bias, turn, offset, axis, sliding
        Of each chain.
    paths : (L, k, 3) array [m]
        Finite.
    enough : (L,) array [m^2]
        Cost at which no further start is tried.
    positions : (k, L, m) array [rad or m]
        Written.

    """
    attitude = np.eye(3)
    room = make_room(bias.shape[1], lower.shape[1])
    for i in range(len(paths)):
        chain = Chain(gain[i], bias[i], turn[i], offset[i], axis[i], sliding[i])
        follow = False
        for k in range(paths.shape[1]):
            found = positions[k, i]
            _copy(starts[i, 0], found)
            reached = len(found) == 3 and _approach(
                lower[i], upper[i], chain, paths[i, k], found, room
            )
            if not reached:
                cost = _search_all(
                    starts[i], lower[i], upper[i], chain, paths[i, k], attitude, 0.0,
                    enough[i], found, room,
                )  # fmt: skip
                reached = cost <= enough[i]
            for j in range(lower.shape[1]):
                lead = found[j] - positions[k - 1, i, j] if follow and reached else 0.0
                starts[i, 0, j] = found[j] + lead
            follow = reached
        _copy(positions[-1, i], starts[i, 0])


@njit(cache=True)
def chains_follow_all(  # type: ignore[no-untyped-def]
    starts, lower, upper, gain, bias, turn, offset, axis, sliding, paths, enough, positions
):
    """Call ``chains_follow`` for each of T pieces of paths, (T, L, k, 3), in order."""
    for t in range(len(paths)):
        chains_follow(
            starts, lower, upper, gain, bias, turn, offset, axis, sliding, paths[t], enough,
            positions[t],
        )  # fmt: skip


@njit(cache=True)
def _bend(positions: FloatArray, lower: FloatArray, upper: FloatArray) -> None:
    """Move each joint by a tenth toward the middle of its range, or up where it has none."""
    for i in range(len(positions)):
        middle = 0.5 * (lower[i] + upper[i])
        back = math.isfinite(middle) and positions[i] > middle
        positions[i] = min(max(positions[i] + (-0.1 if back else 0.1), lower[i]), upper[i])
