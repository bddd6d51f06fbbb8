# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

r"""
Compiled inverse kinematics of leg chains, for poses and for paths.

The cost is ``|p - p*|^2 / 2 + w^2 |R - R*|^2 / 4`` with the sole point p, the rotation R of the
sole link, and the weight w of the orientation. It is minimised over the joint positions within
their limits by projected Newton steps with the exact Hessian.

The point and the three columns of R are vectors v that the joints turn. Their derivatives are
``dv/dq_i = a_i x v`` and ``d2v/dq_i dq_j = a_i x (a_j x v)``, with the axis a_i of joint i, and
i nearer to the root than j. With the exact Hessian convergence is quadratic also for a target out
of reach, where Gauss-Newton steps become very short.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from numba import njit
import numpy as np

from gait_core.arrays import FloatArray
from gait_core.kinematics.leg_chain import (
    Chain,
    WorkArrays,
    compute_pose,
    inline_njit,
    make_work_arrays,
)

MAX_NEWTON_STEPS = 120
_LIMIT_TOLERANCE = 1e-12
"""Distance [rad or m] from a limit at which a joint counts as at it."""
_MAX_JOINT_STEP = 1.0
"""Longest step of each joint [rad or m]."""
_ZERO_COST = 1e-24
"""Cost [m^2] at which a search ends: an error of about a picometre."""
_PATH_POINT_COST = 1e-18
"""Cost [m^2] at which a point of a path counts as met: an error of about a nanometre."""
_FLAT_SLOPE = 1e-20
"""Squared gradient over curvature times cost, below which no step lowers the cost further."""
_MAX_APPROACH_STEP, _APPROACH_STEPS = 0.2, 5
"""Longest step [rad or m] and number of plain Newton steps to a nearby point."""
_MIN_VOLUME_RATIO = 1e-3
"""Volume spanned by the rates of three joints over the product of their lengths, below which a
posture counts as singular."""


class Goal(NamedTuple):
    """
    Target pose of the sole in the base frame.

    Attributes
    ----------
    point : (3,) array [m]
    attitude : (3, 3) array
        Target rotation R* of the sole link; ignored if ``weight`` is zero.
    weight : float [m]
        w: an orientation error of one radian counts like a position error of this length.

    """

    point: FloatArray
    attitude: FloatArray
    weight: float


@njit(cache=True)
def _cost(work: WorkArrays, goal: Goal) -> float:
    """Return the cost of the present pose [m^2], as the module defines it."""
    total = 0.0
    for i in range(3):
        total += 0.5 * (work.point[i] - goal.point[i]) ** 2
        if goal.weight > 0.0:
            for k in range(3):
                total += 0.25 * (goal.weight * (work.rotation[i, k] - goal.attitude[i, k])) ** 2
    return total


@njit(cache=True)
def _add_derivatives(vector, error, factor, is_point, sliding, work):  # type: ignore[no-untyped-def]
    """
    Add the contribution of one vector to gradient and Hessian by element positions.

    Elements are the moving joints of the leg's path, mimics included, as of ``Chain``.
    Vector, its error and the factor of its squared error are those of the cost. ``is_point`` is 1
    for the sole point, which revolute joints turn about their origin and prismatic joints shift;
    0 for a column of the rotation, which has no origin. Vector and error are three floats each.
    """
    x, y, z = vector
    error_x, error_y, error_z = error
    count = len(sliding)
    axes, rates, origins = work.axes, work.rates, work.origins
    for e in range(count):
        a, b, c = axes[e, 0], axes[e, 1], axes[e, 2]
        if sliding[e]:
            # dv/dq = a: a slide shifts the point along its axis and leaves directions alone.
            rates[e, 0], rates[e, 1], rates[e, 2] = is_point * a, is_point * b, is_point * c
        else:
            # dv/dq = a x v, with v from the joint's origin.
            u, v, w = (
                x - is_point * origins[e, 0],
                y - is_point * origins[e, 1],
                z - is_point * origins[e, 2],
            )
            rates[e, 0], rates[e, 1], rates[e, 2] = b * w - c * v, c * u - a * w, a * v - b * u
    for i in range(count):
        # Gradient: error . dv/dq_i. Hessian: dv/dq_i . dv/dq_j + error . d2v/dq_i dq_j.
        a, b, c = rates[i, 0], rates[i, 1], rates[i, 2]
        work.element_gradient[i] += factor * (a * error_x + b * error_y + c * error_z)
        if not sliding[i]:
            # error . (a_i x dv/dq_j) = dv/dq_j . (error x a_i): added to the rate before the
            # loop, both terms of the Hessian are one product.
            a += error_y * axes[i, 2] - error_z * axes[i, 1]
            b += error_z * axes[i, 0] - error_x * axes[i, 2]
            c += error_x * axes[i, 1] - error_y * axes[i, 0]
        for j in range(i, count):
            work.element_hessian[i, j] += factor * (
                a * rates[j, 0] + b * rates[j, 1] + c * rates[j, 2]
            )


@njit(cache=True)
def _differentiate(chain: Chain, goal: Goal, work: WorkArrays) -> None:
    """Write the gradient (m,) and Hessian (m, m) of the cost by joint positions."""
    count, m = chain.gain.shape
    work.element_gradient[:] = 0.0
    work.element_hessian[:] = 0.0
    p, r, target, attitude = work.point, work.rotation, goal.point, goal.attitude
    error = (p[0] - target[0], p[1] - target[1], p[2] - target[2])
    _add_derivatives((p[0], p[1], p[2]), error, 1.0, 1.0, chain.sliding, work)
    if goal.weight > 0.0:
        factor = 0.5 * goal.weight * goal.weight
        for k in range(3):
            column = (r[0, k], r[1, k], r[2, k])
            error = (
                r[0, k] - attitude[0, k],
                r[1, k] - attitude[1, k],
                r[2, k] - attitude[2, k],
            )
            _add_derivatives(column, error, factor, 0.0, chain.sliding, work)
    # Chain rule from elements to joints: g = G^T g_E and H = G^T H_E G, with the gains G. Above,
    # only the upper triangle of the symmetric H_E was written.
    for e in range(count):
        for f in range(e):
            work.element_hessian[e, f] = work.element_hessian[f, e]
    for i in range(m):
        slope = 0.0
        for j in range(m):
            work.hessian[i, j] = 0.0
        for e in range(count):
            share = chain.gain[e, i]
            if share != 0.0:
                slope += share * work.element_gradient[e]
                for j in range(m):
                    for f in range(count):
                        work.hessian[i, j] += share * work.element_hessian[e, f] * chain.gain[f, j]
        work.gradient[i] = slope


@njit(cache=True)
def _newton_step(damping: float, work: WorkArrays) -> bool:
    """
    Write the damped Newton step of the free joints.

    False, with no step, if the damped Hessian is not positive definite.
    """
    # Cholesky factor L of H + damping I. Joints at a limit have rows of the identity and a zero
    # right-hand side, so that their step is zero.
    low, step, free = work.cholesky, work.step, work.is_free
    m = len(step)
    for i in range(m):
        for j in range(i + 1):
            total = work.hessian[i, j] if free[i] and free[j] else 0.0
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
    # L y = -g, then L^T step = y.
    for i in range(m):
        total = -work.gradient[i] if free[i] else 0.0
        for k in range(i):
            total -= low[i, k] * step[k]
        step[i] = total / low[i, i]
    for i in range(m - 1, -1, -1):
        total = step[i]
        for k in range(i + 1, m):
            total -= low[k, i] * step[k]
        step[i] = total / low[i, i]
    for i in range(m):
        step[i] = min(max(step[i], -_MAX_JOINT_STEP), _MAX_JOINT_STEP)
    return True


@njit(cache=True)
def _mark_free_joints(
    positions: FloatArray, chain: Chain, work: WorkArrays
) -> tuple[float, float]:
    """Mark the joints that no limit holds; return their largest gradient and curvature."""
    lower, upper = chain.lower, chain.upper
    slope, curvature = 0.0, 1e-30
    for i in range(len(positions)):
        gradient = work.gradient[i]
        # A joint at a limit is held if descent would push it beyond.
        is_held = (positions[i] <= lower[i] + _LIMIT_TOLERANCE and gradient > 0.0) or (
            positions[i] >= upper[i] - _LIMIT_TOLERANCE and gradient < 0.0
        )
        work.is_free[i] = not is_held
        if not is_held:
            slope = max(slope, abs(gradient))
            curvature = max(curvature, abs(work.hessian[i, i]))
    return slope, curvature


@inline_njit
def copy_values(source: FloatArray, target: FloatArray) -> None:
    """Copy values in a loop; a slice assignment takes seconds longer to compile."""
    for i in range(len(target)):
        target[i] = source[i]


@njit(cache=True)
def _search(start, chain, goal, positions, work):  # type: ignore[no-untyped-def]
    """Write the best joint positions found from a start; return their cost [m^2]."""
    m = len(start)
    lower, upper = chain.lower, chain.upper
    damping, is_bent, is_new = 0.0, False, True
    for i in range(m):
        positions[i] = min(max(start[i], lower[i]), upper[i])
    compute_pose(chain, positions, work)
    cost = _cost(work, goal)
    for _ in range(MAX_NEWTON_STEPS):
        if cost <= _ZERO_COST:
            break
        # Derivatives are needed only at a new position, not after a step that was rejected.
        if is_new:
            _differentiate(chain, goal, work)
            is_new = False
        slope, curvature = _mark_free_joints(positions, chain, work)
        has_step = _newton_step(damping * curvature, work)
        if slope * slope <= _FLAT_SLOPE * curvature * cost:
            if has_step or is_bent:
                break
            # The cost is flat, but not at a minimum: a saddle. A straight leg whose target is too
            # near has a gradient along the leg only. After a small bend the leg can shorten.
            is_bent, is_new = True, True
            _leave_saddle(positions, chain)
            compute_pose(chain, positions, work)
            cost = _cost(work, goal)
            continue
        if has_step:
            for i in range(m):
                work.candidate[i] = min(max(positions[i] + work.step[i], lower[i]), upper[i])
            compute_pose(chain, work.candidate, work)
            candidate_cost = _cost(work, goal)
            if candidate_cost < cost:
                # Levenberg-Marquardt: a step that lowers the cost lowers the damping.
                copy_values(work.candidate, positions)
                is_new, cost = True, candidate_cost
                damping = 0.1 * damping if damping > 1e-9 else 0.0
                continue
            if damping > 1e8:
                break
        # Step rejected, or Hessian not positive definite: more damping, shorter steps.
        damping = max(10.0 * damping, 1e-4)
    return cost


@njit(cache=True)
def search_from_starts(starts, chain, goal, max_cost, best, work):  # type: ignore[no-untyped-def]
    """Write the best result of several starts; ``solve_chain`` with the caller's work arrays."""
    cost = _search(starts[0], chain, goal, best, work)
    if cost <= max_cost:
        return cost
    positions = np.empty(len(best))
    for s in range(1, len(starts)):
        found_cost = _search(starts[s], chain, goal, positions, work)
        # Another posture must be clearly better: legs shall not jump for rounding errors.
        if found_cost < 0.9 * cost:
            cost = found_cost
            copy_values(positions, best)
        if cost <= max_cost:
            break
    return cost


@njit(cache=True)
def solve_chain(starts, chain, goal, max_cost, best):  # type: ignore[no-untyped-def]
    """
    Write the joint positions of lowest cost found from several starts, tried in turn.

    The result of a later start replaces an earlier one only if its cost is lower by a tenth, so
    that the posture does not jump for a negligible gain.

    Parameters
    ----------
    starts : (s, m) array [rad or m]
        Clipped to the limits.
    chain : Chain
    goal : Goal
    max_cost : float [m^2]
        Cost at or below which no further start is tried.
    best : (m,) array [rad or m]
        Written; within the limits.

    Returns
    -------
    float [m^2]
        Cost of ``best``.

    """
    work = make_work_arrays(len(chain.bias), len(best))
    return search_from_starts(starts, chain, goal, max_cost, best, work)


@inline_njit
def approach_nearby_point(chain, target, positions, work):  # type: ignore[no-untyped-def]
    """
    Move three joints to a nearby point by plain Newton steps; return whether they reached it.

    ``positions`` (3,) is read and written. False if a joint meets a limit, a step is long, or the
    posture is singular; the caller then searches.
    """
    axes, origins, point, rates = work.axes, work.origins, work.point, work.rates
    for _ in range(_APPROACH_STEPS):
        compute_pose(chain, positions, work)
        x, y, z = target[0] - point[0], target[1] - point[1], target[2] - point[2]
        if 0.5 * (x * x + y * y + z * z) <= _PATH_POINT_COST:
            return True
        for e in range(len(chain.bias)):
            a, b, c = axes[e, 0], axes[e, 1], axes[e, 2]
            if not chain.sliding[e]:
                u, v, w = (
                    point[0] - origins[e, 0],
                    point[1] - origins[e, 1],
                    point[2] - origins[e, 2],
                )
                a, b, c = b * w - c * v, c * u - a * w, a * v - b * u
            rates[e, 0], rates[e, 1], rates[e, 2] = a, b, c
        for j in range(3):
            for i in range(3):
                work.hessian[j, i] = 0.0
                for e in range(len(chain.bias)):
                    work.hessian[j, i] += chain.gain[e, j] * rates[e, i]
        # Columns of the (3, 3) Jacobian J, kept in the rows of ``hessian``; J step = error is
        # solved by Cramer's rule.
        p, q, r = work.hessian[0], work.hessian[1], work.hessian[2]
        volume = _triple_product(p[0], p[1], p[2], q, r)
        if abs(volume) <= _MIN_VOLUME_RATIO * math.sqrt(
            _squared_length(p) * _squared_length(q) * _squared_length(r)
        ):
            return False
        work.step[0] = _triple_product(x, y, z, q, r) / volume
        work.step[1] = _triple_product(x, y, z, r, p) / volume
        work.step[2] = _triple_product(x, y, z, p, q) / volume
        for j in range(3):
            positions[j] += work.step[j]
            is_within = chain.lower[j] < positions[j] < chain.upper[j]
            if abs(work.step[j]) > _MAX_APPROACH_STEP or not is_within:
                return False
    return False


@inline_njit
def _triple_product(x, y, z, b, c):  # type: ignore[no-untyped-def]
    """Return (x, y, z) . (b x c)."""
    return (
        x * (b[1] * c[2] - b[2] * c[1])
        + y * (b[2] * c[0] - b[0] * c[2])
        + z * (b[0] * c[1] - b[1] * c[0])
    )


@inline_njit
def _squared_length(a):  # type: ignore[no-untyped-def]
    return a[0] * a[0] + a[1] * a[1] + a[2] * a[2]


@njit(cache=True)
def _leave_saddle(positions: FloatArray, chain: Chain) -> None:
    """Move each joint by 0.1 rad or m towards the middle of its range; up if endless."""
    lower, upper = chain.lower, chain.upper
    for i in range(len(positions)):
        middle = 0.5 * (lower[i] + upper[i])
        goes_down = math.isfinite(middle) and positions[i] > middle
        positions[i] = min(max(positions[i] + (-0.1 if goes_down else 0.1), lower[i]), upper[i])
