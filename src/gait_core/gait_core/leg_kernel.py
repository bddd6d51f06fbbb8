"""
Compiled kernel of leg kinematics: forward kinematics of one chain and its inversion.

The inversion minimises ``|p - p*|^2 / 2 + w^2 |R - R*|^2 / 4`` over the joint positions within
their limits, by projected Newton steps with the exact Hessian. Point and orientation enter alike:
the columns of R are vectors that the joints turn, and for both the derivatives are cross products,
``dv/dq_i = a_i x v`` and ``d2v/dq_i dq_j = a_i x (a_j x v)`` with i the joint nearer to the root.
The exact Hessian keeps the convergence quadratic also where the target is out of reach, where
Gauss-Newton steps creep.

Arrays of a chain of E moving elements driven by m joints; ``gain`` and ``bias`` give element
positions, so that coupled joints (mimic) fit in:

- ``turn`` (E + 1, 3, 3), ``offset`` (E + 1, 3): frame of each element in the one before at
  position zero; the last is the sole link's frame, or rather the sole point's;
- ``axis`` (E, 3), ``sliding`` (E,): joint axis in the element's frame, and whether it slides.
"""

from __future__ import annotations

import math

from numba import njit
import numpy as np

from gait_core.arrays import BoolArray, FloatArray

MAX_STEPS = 120
_AT_BOUND = 1e-12
_LONGEST_STEP = 1.0
"""Per joint [rad or m]."""
_EXACT = 1e-24
"""Cost [m^2] as good as zero: a picometre."""
_FLAT = 1e-20
"""Squared slope, over curvature times cost, at which no step can help any more."""


@njit(cache=True)
def _turn_about(axis: FloatArray, angle: float, out: FloatArray) -> None:
    """Write the rotation matrix about a unit axis (Rodrigues)."""
    s, c = math.sin(angle), 1.0 - math.cos(angle)
    x, y, z = axis[0], axis[1], axis[2]
    out[0, 0], out[0, 1], out[0, 2] = (
        1.0 - c * (y * y + z * z),
        c * x * y - s * z,
        c * x * z + s * y,
    )
    out[1, 0], out[1, 1], out[1, 2] = (
        c * x * y + s * z,
        1.0 - c * (x * x + z * z),
        c * y * z - s * x,
    )
    out[2, 0], out[2, 1], out[2, 2] = (
        c * x * z - s * y,
        c * y * z + s * x,
        1.0 - c * (x * x + y * y),
    )


@njit(cache=True)
def _times(a: FloatArray, b: FloatArray, out: FloatArray) -> None:
    for i in range(3):
        for j in range(3):
            out[i, j] = a[i, 0] * b[0, j] + a[i, 1] * b[1, j] + a[i, 2] * b[2, j]


@njit(cache=True)
def _advance(position: FloatArray, turn: FloatArray, offset: FloatArray, length: float) -> None:
    for i in range(3):
        position[i] += length * (
            turn[i, 0] * offset[0] + turn[i, 1] * offset[1] + turn[i, 2] * offset[2]
        )


@njit(cache=True)
def chain_forward(
    travel: FloatArray,
    turn: FloatArray,
    offset: FloatArray,
    axis: FloatArray,
    sliding: BoolArray,
    axes: FloatArray,
    origins: FloatArray,
    rotation: FloatArray,
    point: FloatArray,
) -> None:
    """
    Write the sole's pose, and each element's axis and origin, in the base frame.

    Parameters
    ----------
    travel : (E,) array [rad or m]
        Element positions.
    turn, offset, axis, sliding
        The chain.
    axes, origins : (E, 3) arrays
        Written.
    rotation, point : (3, 3), (3,) arrays
        Written: orientation of the sole link and place of the sole point.

    """
    count = len(travel)
    moved, spun = np.empty((3, 3)), np.empty((3, 3))
    point[:] = 0.0
    rotation[:] = 0.0
    for i in range(3):
        rotation[i, i] = 1.0
    for e in range(count + 1):
        _advance(point, rotation, offset[e], 1.0)
        _times(rotation, turn[e], moved)
        rotation[:] = moved
        if e == count:
            break
        for i in range(3):
            axes[e, i] = (
                rotation[i, 0] * axis[e, 0]
                + rotation[i, 1] * axis[e, 1]
                + rotation[i, 2] * axis[e, 2]
            )
            origins[e, i] = point[i]
        if sliding[e]:
            _advance(point, rotation, axis[e], travel[e])
        else:
            _turn_about(axis[e], travel[e], spun)
            _times(rotation, spun, moved)
            rotation[:] = moved


@njit(cache=True)
def _cross(a: FloatArray, b: FloatArray, out: FloatArray) -> None:
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@njit(cache=True)
def _cost(
    point: FloatArray,
    rotation: FloatArray,
    target: FloatArray,
    attitude: FloatArray,
    weight: float,
) -> float:
    total = 0.0
    for i in range(3):
        total += 0.5 * (point[i] - target[i]) ** 2
        for k in range(3):
            total += 0.25 * (weight * (rotation[i, k] - attitude[i, k])) ** 2
    return total


@njit(cache=True)
def _add_vector(
    arm_from: FloatArray,
    vector: FloatArray,
    error: FloatArray,
    factor: float,
    axes: FloatArray,
    sliding: BoolArray,
    gradient: FloatArray,
    hessian: FloatArray,
    rates: FloatArray,
) -> None:
    """
    Add one vector's share of gradient and Hessian.

    ``arm_from`` (E, 3) is what each turning axis passes through, as seen by the vector; for the
    columns of a rotation, which slides do not move, it is zero and ``factor`` is negative.
    """
    count = len(axes)
    bend = np.empty(3)
    free = factor < 0.0
    factor = abs(factor)
    for e in range(count):
        if sliding[e]:
            for i in range(3):
                rates[e, i] = 0.0 if free else axes[e, i]
        else:
            for i in range(3):
                bend[i] = vector[i] - arm_from[e, i]
            _cross(axes[e], bend, rates[e])
    for a in range(count):
        for i in range(3):
            gradient[a] += factor * rates[a, i] * error[i]
        for b in range(a, count):
            share = 0.0
            for i in range(3):
                share += rates[a, i] * rates[b, i]
            if not sliding[a]:
                _cross(axes[a], rates[b], bend)
                for i in range(3):
                    share += bend[i] * error[i]
            hessian[a, b] += factor * share


@njit(cache=True)
def _derivatives(
    target: FloatArray,
    attitude: FloatArray,
    weight: float,
    sliding: BoolArray,
    axes: FloatArray,
    origins: FloatArray,
    rotation: FloatArray,
    point: FloatArray,
    gradient: FloatArray,
    hessian: FloatArray,
) -> None:
    """Write the cost's gradient (E,) and Hessian (E, E) by element positions."""
    gradient[:] = 0.0
    hessian[:] = 0.0
    rates = np.empty((len(axes), 3))
    _add_vector(origins, point, point - target, 1.0, axes, sliding, gradient, hessian, rates)
    if weight > 0.0:
        nothing = np.zeros((len(axes), 3))
        for k in range(3):
            column = rotation[:, k].copy()
            _add_vector(
                nothing,
                column,
                column - attitude[:, k],
                -0.5 * weight * weight,
                axes,
                sliding,
                gradient,
                hessian,
                rates,
            )
    for a in range(len(axes)):
        for b in range(a):
            hessian[a, b] = hessian[b, a]


@njit(cache=True)
def _solve(matrix: FloatArray, right: FloatArray, count: int, out: FloatArray) -> bool:
    """Solve the leading (count, count) system by Cholesky; false if it is not positive."""
    low = np.empty((count, count))
    for i in range(count):
        for j in range(i + 1):
            total = matrix[i, j]
            for k in range(j):
                total -= low[i, k] * low[j, k]
            if i == j:
                if not total > 0.0:
                    return False
                low[i, i] = math.sqrt(total)
            else:
                low[i, j] = total / low[j, j]
    for i in range(count):
        total = right[i]
        for k in range(i):
            total -= low[i, k] * out[k]
        out[i] = total / low[i, i]
    for i in range(count - 1, -1, -1):
        total = out[i]
        for k in range(i + 1, count):
            total -= low[k, i] * out[k]
        out[i] = total / low[i, i]
    return True


@njit(cache=True)
def _newton_step(
    hessian: FloatArray,
    gradient: FloatArray,
    free: BoolArray,
    damping: float,
    step: FloatArray,
) -> bool:
    """Write the damped Newton step of the free joints; false if the matrix is not positive."""
    m = len(gradient)
    packed, right, solution = np.empty((m, m)), np.empty(m), np.empty(m)
    count = 0
    for i in range(m):
        if free[i]:
            column = 0
            for j in range(m):
                if free[j]:
                    packed[count, column] = hessian[i, j]
                    column += 1
            packed[count, count] += damping
            right[count] = -gradient[i]
            count += 1
    if not _solve(packed, right, count, solution):
        return False
    count = 0
    for i in range(m):
        step[i] = 0.0
        if free[i]:
            step[i] = min(max(solution[count], -_LONGEST_STEP), _LONGEST_STEP)
            count += 1
    return True


@njit(cache=True)
def _drive(gain: FloatArray, bias: FloatArray, positions: FloatArray, travel: FloatArray) -> None:
    """Write element positions; written out, as BLAS costs more than so small a product."""
    for e in range(len(bias)):
        travel[e] = bias[e]
        for i in range(len(positions)):
            travel[e] += gain[e, i] * positions[i]


@njit(cache=True)
def _pull_back(
    gain: FloatArray,
    by_element: FloatArray,
    elements: FloatArray,
    gradient: FloatArray,
    hessian: FloatArray,
) -> None:
    """Turn derivatives by element positions into derivatives by joint positions."""
    count, m = gain.shape
    for i in range(m):
        gradient[i] = 0.0
        for e in range(count):
            gradient[i] += gain[e, i] * by_element[e]
        for j in range(m):
            hessian[i, j] = 0.0
            for e in range(count):
                if gain[e, i] != 0.0:
                    for f in range(count):
                        hessian[i, j] += gain[e, i] * elements[e, f] * gain[f, j]


@njit(cache=True)
def _free_joints(
    here: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    gradient: FloatArray,
    hessian: FloatArray,
    free: BoolArray,
) -> tuple[float, float]:
    """Mark the joints that no limit holds; return their largest slope and curvature."""
    slope, curvature = 0.0, 1e-30
    for i in range(len(here)):
        held = (here[i] <= lower[i] + _AT_BOUND and gradient[i] > 0.0) or (
            here[i] >= upper[i] - _AT_BOUND and gradient[i] < 0.0
        )
        free[i] = not held
        if not held:
            slope = max(slope, abs(gradient[i]))
            curvature = max(curvature, abs(hessian[i, i]))
    return slope, curvature


@njit(cache=True)
def chain_inverse(
    start: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    gain: FloatArray,
    bias: FloatArray,
    turn: FloatArray,
    offset: FloatArray,
    axis: FloatArray,
    sliding: BoolArray,
    target: FloatArray,
    attitude: FloatArray,
    weight: float,
    here: FloatArray,
) -> float:
    """
    Search from one start for joint positions that put the sole where it is wanted.

    Parameters
    ----------
    start : (m,) array [rad or m]
        Clipped to the limits.
    lower, upper : (m,) arrays
    gain, bias : (E, m), (E,) arrays
    turn, offset, axis, sliding
        The chain.
    target : (3,) array [m]
        Of the sole point, in the base frame.
    attitude : (3, 3) array
        Of the sole link; ignored if ``weight`` is zero.
    weight : float [m]
        Length that an error of one radian counts as.
    here : (m,) array [rad or m]
        Written: the best positions found, within the limits.

    Returns
    -------
    float [m^2]
        Their cost.

    """
    m, count = len(start), len(bias)
    axes, origins = np.empty((count, 3)), np.empty((count, 3))
    rotation, point = np.empty((3, 3)), np.empty(3)
    travel, by_element, elements = np.empty(count), np.empty(count), np.empty((count, count))
    step, there, free = np.empty(m), np.empty(m), np.empty(m, dtype=np.bool_)
    gradient, hessian = np.empty(m), np.empty((m, m))
    damping, nudged, fresh, cost = 0.0, False, True, math.inf
    for i in range(m):
        here[i] = min(max(start[i], lower[i]), upper[i])
    for _ in range(MAX_STEPS):
        if fresh:
            _drive(gain, bias, here, travel)
            chain_forward(travel, turn, offset, axis, sliding, axes, origins, rotation, point)
            cost = _cost(point, rotation, target, attitude, weight)
            if cost <= _EXACT:
                break
            _derivatives(
                target, attitude, weight, sliding, axes, origins, rotation, point,
                by_element, elements,
            )  # fmt: skip
            _pull_back(gain, by_element, elements, gradient, hessian)
            fresh = False
        slope, curvature = _free_joints(here, lower, upper, gradient, hessian, free)
        positive = _newton_step(hessian, gradient, free, damping * curvature, step)
        if slope * slope <= _FLAT * curvature * cost:
            if positive or nudged:
                break
            # A saddle: a straight leg that has to shorten is pulled along itself only.
            nudged, fresh = True, True
            _bend(here, lower, upper)
            continue
        if positive:
            for i in range(m):
                there[i] = min(max(here[i] + step[i], lower[i]), upper[i])
            _drive(gain, bias, there, travel)
            chain_forward(travel, turn, offset, axis, sliding, axes, origins, rotation, point)
            if _cost(point, rotation, target, attitude, weight) < cost:
                here[:] = there
                fresh = True
                damping = 0.1 * damping if damping > 1e-9 else 0.0
                continue
            if damping > 1e8:
                break
        damping = max(10.0 * damping, 1e-4)
    return cost


@njit(cache=True)
def chain_inverse_best(
    starts: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    gain: FloatArray,
    bias: FloatArray,
    turn: FloatArray,
    offset: FloatArray,
    axis: FloatArray,
    sliding: BoolArray,
    target: FloatArray,
    attitude: FloatArray,
    weight: float,
    enough: float,
    best: FloatArray,
) -> float:
    """
    Search from the starts (s, m) in turn until a cost is low enough; the best one wins.

    ``best`` (m,) is written. A later start must be clearly better: a jump to another posture has
    to be worth it. Other arguments and the returned cost [m^2] as of ``chain_inverse``.
    """
    here = np.empty(len(best))
    lowest = math.inf
    for start in starts:
        cost = chain_inverse(
            start, lower, upper, gain, bias, turn, offset, axis, sliding, target, attitude,
            weight, here,
        )  # fmt: skip
        if cost < 0.9 * lowest:
            lowest = cost
            best[:] = here
        if lowest <= enough:
            break
    return lowest


@njit(cache=True)
def chain_follow(
    starts: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    gain: FloatArray,
    bias: FloatArray,
    turn: FloatArray,
    offset: FloatArray,
    axis: FloatArray,
    sliding: BoolArray,
    path: FloatArray,
    enough: float,
    positions: FloatArray,
) -> None:
    """
    Write joint positions (k, m) that put the sole point on a path (k, 3) [m], point by point.

    Each search begins where the last two solutions point to, or at the last one where a point was
    out of reach; ``starts[0]`` is overwritten. Other arguments as of ``chain_inverse_best``.
    """
    attitude = np.eye(3)
    reached = False
    for k in range(len(path)):
        cost = chain_inverse_best(
            starts, lower, upper, gain, bias, turn, offset, axis, sliding, path[k], attitude,
            0.0, enough, positions[k],
        )  # fmt: skip
        starts[0] = positions[k]
        if reached and cost <= enough:
            starts[0] += positions[k] - positions[k - 1]
        reached = cost <= enough


@njit(cache=True)
def _bend(positions: FloatArray, lower: FloatArray, upper: FloatArray) -> None:
    """Move each joint by a tenth toward the middle of its range, or up where it has none."""
    for i in range(len(positions)):
        middle = 0.5 * (lower[i] + upper[i])
        back = math.isfinite(middle) and positions[i] > middle
        positions[i] = min(max(positions[i] + (-0.1 if back else 0.1), lower[i]), upper[i])
