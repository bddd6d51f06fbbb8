# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Zero-moment point, support polygon and margin.

All points are in ``odom``. The zero-moment point of a set of forces is the point of a horizontal
plane about which their horizontal moment vanishes. That of the contact forces, the centre of
pressure, is always in the support polygon. The inertial ZMP is that of the forces ``m (a - g)``
which the accelerations of the links require. It agrees with the centre of pressure while the
ground can supply these forces; while the inertial ZMP is outside the polygon the robot begins to
tip.
"""

from __future__ import annotations

from dataclasses import dataclass
import math

from numba import njit
import numpy as np

from gait_core.arrays import BoolArray, FloatArray, IntArray, all_finite
from gait_core.measures.energy import check_period

DEFINED = 'defined'
SEVERAL_HEIGHTS = 'several_heights'
UNDEFINED = 'undefined'

LEVEL_TOLERANCE = 0.01
"""Difference in height [m] within which loaded contacts count as level."""
_EDGE_TOLERANCE = 1e-12
"""Distance [m] from an edge that counts as zero."""


@dataclass(frozen=True, kw_only=True)
class ZmpSeries:
    """
    Zero-moment points of T instants.

    Attributes
    ----------
    points : (T, 3) array [m]
        On the plane of each instant; zero if undefined.
    defined : (T,) bool array
        Whether the vertical force reaches the threshold.
    level : (T,) bool array
        Whether all loaded contacts are at one height, within ``LEVEL_TOLERANCE``.

    """

    points: FloatArray
    defined: BoolArray
    level: BoolArray

    def status(self, instant: int) -> str:
        """Return ``defined``, ``several_heights`` (defined at their mean) or ``undefined``."""
        if not self.defined[instant]:
            return UNDEFINED
        return DEFINED if self.level[instant] else SEVERAL_HEIGHTS


def centres_of_pressure(
    instant: IntArray,
    points: FloatArray,
    forces: FloatArray,
    instants: int,
    *,
    min_force: float,
) -> ZmpSeries:
    """
    Return the zero-moment points of contact forces.

    Each lies at the mean height of its contacts, weighted by vertical force.

    Parameters
    ----------
    instant : (c,) int array
        Index of the instant of each contact point.
    points, forces : (c, 3) arrays [m, N]
        Forces on the robot.
    instants : int
        Number of instants, T.
    min_force : float [N]
        Vertical force below which the point is undefined; positive.

    """
    vertical = _sum_by_instant(instant, forces[:, 2], instants)
    defined = vertical >= min_force
    divisor = np.where(defined, vertical, 1.0)
    plane = np.where(
        defined, _sum_by_instant(instant, forces[:, 2] * points[:, 2], instants) / divisor, 0.0
    )
    # u_ZMP = sum (f_z u - f_u (z - h)) / sum f_z over the contacts, u = x, y.
    height_above_plane = points[:, 2] - plane[instant]
    zmp = np.zeros((instants, 3))
    for u in (0, 1):
        moment = points[:, u] * forces[:, 2] - height_above_plane * forces[:, u]
        zmp[:, u] = _sum_by_instant(instant, moment, instants) / divisor
    zmp[:, 2] = plane
    zmp[~defined] = 0.0
    # Level: the loaded contacts of an instant differ little in height.
    lowest, highest = np.full(instants, np.inf), np.full(instants, -np.inf)
    loaded = forces[:, 2] > 0.0
    np.minimum.at(lowest, instant[loaded], points[loaded, 2])
    np.maximum.at(highest, instant[loaded], points[loaded, 2])
    return ZmpSeries(points=zmp, defined=defined, level=~(highest - lowest > LEVEL_TOLERANCE))


def centre_of_pressure(
    points: FloatArray, forces: FloatArray, *, min_force: float
) -> tuple[FloatArray | None, str]:
    """Return the zero-moment point of one instant, (3,) or ``None``, and its status."""
    series = centres_of_pressure(
        np.zeros(len(points), dtype=np.int64), points, forces, 1, min_force=min_force
    )
    return (series.points[0] if series.defined[0] else None), series.status(0)


def zmp_from_accelerations(
    masses: FloatArray,
    com: FloatArray,
    dt: float,
    *,
    gravity: FloatArray,
    min_force: float,
    plane_height: float | FloatArray = 0.0,
) -> ZmpSeries:
    r"""
    Return the inertial zero-moment points of moving links.

    .. math::
        u_{ZMP} = \frac{\sum_i f_{z,i} u_i - f_{u,i} (z_i - h)}{\sum_i f_{z,i}},
        \qquad f_i = m_i (\ddot c_i - g)

    Accelerations are second central differences, so the first and last instants are undefined.
    The links are point masses.

    Parameters
    ----------
    masses : (L,) array [kg]
    com : (T, L, 3) array [m]
        Centres of mass of the links.
    dt : float [s]
    gravity : (3,) array [m/s^2]
        E.g. (0, 0, -9.81).
    min_force : float [N]
        Vertical force below which the point is undefined; positive.
    plane_height : float or (T,) array [m]
        h.

    References
    ----------
    Vukobratovic and Borovac (2004), Int. J. Humanoid Robotics 1(1):157-173.

    """
    check_period(dt)
    instants = com.shape[0]
    points, defined = np.zeros((instants, 3)), np.zeros(instants, dtype=bool)
    level = np.ones(instants, dtype=bool)
    if instants < 3:
        return ZmpSeries(points=points, defined=defined, level=level)
    # f_i = m_i (c_i'' - g) with central differences, then the ZMP of these forces at the centres
    # of mass (Vukobratovic and Borovac 2004).
    acceleration = (com[2:] - 2.0 * com[1:-1] + com[:-2]) / dt**2
    force = masses[:, None] * (acceleration - np.asarray(gravity))
    vertical = force[:, :, 2].sum(axis=1)
    defined[1:-1] = vertical >= min_force
    plane = np.broadcast_to(np.asarray(plane_height, dtype=np.float64), (instants,))
    height_above_plane = com[1:-1, :, 2] - plane[1:-1, None]
    moment = (
        com[1:-1, :, :2] * force[:, :, 2:] - height_above_plane[:, :, None] * force[:, :, :2]
    ).sum(axis=1)
    points[1:-1, :2] = moment / np.where(defined[1:-1], vertical, 1.0)[:, None]
    points[:, 2] = plane
    points[~defined] = 0.0
    return ZmpSeries(points=points, defined=defined, level=level)


def support_polygon(points: FloatArray) -> FloatArray:
    """
    Return the convex hull of contact points on the horizontal plane.

    Parameters
    ----------
    points : (c, 2) or (c, 3) array [m]
        Heights are ignored.

    Returns
    -------
    (k, 2) array [m]
        Corners counter-clockwise; points on an edge are no corners. Two if the points are
        collinear, one if they are equal, none without points.

    Raises
    ------
    ValueError
        If a coordinate is not finite.

    """
    flat = np.asarray(points, dtype=np.float64)
    if not flat.size:
        return np.zeros((0, 2))
    flat = flat[:, :2]
    _check_finite('polygon', flat)
    ordered = sorted({(float(x), float(y)) for x, y in flat})
    if len(ordered) < 3:
        return np.array(ordered).reshape(-1, 2)
    lower, upper = _half_hull(ordered), _half_hull(ordered[::-1])
    return np.array(lower[:-1] + upper[:-1])


def _half_hull(ordered: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the counter-clockwise half of a hull over sorted points (Andrew 1979)."""
    chain: list[tuple[float, float]] = []
    for x, y in ordered:
        while len(chain) > 1:
            # Keep a corner only at a left turn: a positive cross product of its edges.
            (ax, ay), (bx, by) = chain[-2:]
            if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0.0:
                break
            chain.pop()
        chain.append((x, y))
    return chain


def support_margin(point: FloatArray, polygon: FloatArray) -> float:
    """
    Return the signed distance [m] of a point from the edge of the hull of some points.

    Positive inside, negative outside; not positive for a hull without area.

    Parameters
    ----------
    point : (2,) or (3,) array [m]
    polygon : (k, 2) or (k, 3) array [m]
        Points of the hull, corners or not; k >= 1.

    Raises
    ------
    ValueError
        Without points, or if a coordinate is not finite.

    """
    if len(polygon) == 0:
        raise ValueError('polygon has no points, its margin is undefined')
    corners = np.array(polygon, dtype=np.float64)
    _check_finite('polygon', corners[:, :2])
    _check_finite('point', np.asarray(point, dtype=np.float64)[:2])
    values: FloatArray = np.empty(1)
    _write_margins(
        np.array(point, dtype=np.float64)[None], corners, np.array([0, len(corners)]), values
    )
    return float(values[0])


def support_margins(
    series: ZmpSeries,
    instant: IntArray,
    points: FloatArray,
) -> tuple[FloatArray, BoolArray]:
    """
    Return the margins [m] of T instants in the hulls of their contact points.

    Parameters
    ----------
    series : ZmpSeries
    instant : (c,) int array
        Index of the instant of each contact point, in ascending order.
    points : (c, 3) array [m]

    Returns
    -------
    margin : (T,) array [m]
        Zero if undefined.
    defined : (T,) bool array
        Whether there is a zero-moment point and at least one contact.

    """
    counts = np.bincount(instant, minlength=len(series.defined))
    defined = series.defined & (counts > 0)
    first = np.concatenate([[0], np.cumsum(counts)])
    values: FloatArray = np.empty(len(counts))
    _write_margins(series.points, np.ascontiguousarray(points), first, values)
    return np.where(defined, values, 0.0), defined


@njit(cache=True)
def _write_margins(
    zmp_points: FloatArray, points: FloatArray, first: IntArray, values: FloatArray
) -> None:
    """
    Write the signed distances of T points from the hulls of their groups of points.

    The distance is the minimum over unit vectors u of the support function max_k(r_k . u), with
    the points r_k of the group relative to the given point. The minimum lies at the normal of an
    edge or, for a point outside, at the direction away from a corner. Other directions give larger
    values only, so the normals of all pairs of points are tried and no hull is needed.
    Group t has the rows ``first[t]`` to ``first[t + 1] - 1``.
    """
    for t in range(len(values)):
        x, y, group = zmp_points[t, 0], zmp_points[t, 1], points[first[t] : first[t + 1]]
        smallest = math.inf
        for a in range(len(group)):
            ax, ay = group[a, 0], group[a, 1]
            smallest = _min_support(x - ax, y - ay, x, y, group, smallest)
            for b in range(a + 1, len(group)):
                along_x, along_y = group[b, 0] - ax, group[b, 1] - ay
                smallest = _min_support(along_y, -along_x, x, y, group, smallest)
                smallest = _min_support(-along_y, along_x, x, y, group, smallest)
        # Infinite: all points equal the given one. Below the tolerance: rounding on an edge.
        values[t] = 0.0 if math.isinf(smallest) or abs(smallest) < _EDGE_TOLERANCE else smallest


@njit(cache=True)
def _min_support(  # type: ignore[no-untyped-def]
    u, v, x, y, group, smallest
):
    """Return the minimum of ``smallest`` and the support about (x, y) in direction (u, v)."""
    length = math.hypot(u, v)
    if length == 0.0:
        return smallest
    # The direction is not normalised: compare with the bound scaled by its length, and stop as
    # soon as the support cannot fall below it.
    bound, support = smallest * length, -math.inf
    for k in range(len(group)):
        support = max(support, u * (group[k, 0] - x) + v * (group[k, 1] - y))
        if support >= bound:
            return smallest
    return support / length


def _check_finite(name: str, values: FloatArray) -> None:
    if not all_finite(values):
        raise ValueError(f'{name} is {values.tolist()}, its coordinates must be finite')


def _sum_by_instant(instant: IntArray, values: FloatArray, instants: int) -> FloatArray:
    return np.bincount(instant, weights=values, minlength=instants).astype(np.float64)


def moving_mean(values: FloatArray, samples: int) -> FloatArray:
    """
    Return the mean of each row and its predecessors, ``samples`` rows in all, (T, k).

    The first rows are means of the rows up to them.

    Examples
    --------
    >>> moving_mean(np.array([[2.0], [4.0], [0.0]]), 2).tolist()
    [[2.0], [3.0], [2.0]]

    """
    if samples < 1:
        raise ValueError(f'samples is {samples}, it must be at least 1')
    total = np.cumsum(values, axis=0)
    total[samples:] -= total[:-samples].copy()
    count = np.minimum(np.arange(1, len(values) + 1), samples)
    return np.asarray(total / count[:, None])
