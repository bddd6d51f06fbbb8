"""
Free rigid bodies with force elements and contact nodes, compiled: semi-implicit Euler.

Every array has one row a body, point, element or node, and in it one component after the other.
Each component is there once a lane: lanes are independent copies of the robot, one for a single
trial, several where a batch lets the processor work on them at once. They never mix and no sum
changes its order with their number, so a lane equals a single trial to the last bit. The number
of lanes comes as the length of a tuple, which the compiler knows.

Components: of a body the centre of mass (3), quaternion x, y, z, w (4), velocity (3) and rate (3)
in the world; of a point the lever from the centre of mass, place and velocity (3 each); of an
element the force on its first end (3), length and tension; of a contact the force on the node
(3), the point (3) and the depth.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from gait_core.arrays import FloatArray, IntArray
from sim_bridge.engines.cables_ground import Ground, node_force, surface
from sim_bridge.engines.laws import CABLE, EXPONENTIAL_SPRING, SPRING, element_tension

Lanes = tuple[int, ...]

BODY, POINT, ELEMENT, CONTACT = 13, 9, 5, 7
"""Components of a row."""
_SHORT = 1e-12

_compiled = numba.njit(cache=True, error_model='numpy', nogil=True)


class Layout(NamedTuple):
    """
    A robot as arrays: b bodies, p points of bodies, e elements, c nodes.

    Attributes
    ----------
    mass : (b,) array [kg]
    inertia, inverse : (b, 3, 3) arrays [kg m^2, 1/(kg m^2)]
        About the centre of mass along the body's axes, and inverted.
    weight : (b, 3) array [N]
    first : (b + 1,) int array
        Points first[i] to first[i + 1] - 1 are of body i.
    levers : (p, 3) array [m]
        From the centre of mass, along the body's axes.
    ends : (e, 2) int array
        Points that an element joins.
    laws : (e,) int array
    constants : (e, COLUMNS) array
        As of ``laws.element_tensions``.
    touch : (p + 1,) int array
        Pulls touch[i] to touch[i + 1] - 1 act on point i.
    pulls, signs : (2 e,) int and float arrays
        The element of each pull, and 1 at its first end, -1 at its second.
    nodes : (c,) int array
        Points of the nodes.
    radii : (c,) array [m]

    """

    mass: FloatArray
    inertia: FloatArray
    inverse: FloatArray
    weight: FloatArray
    first: IntArray
    levers: FloatArray
    ends: IntArray
    laws: IntArray
    constants: FloatArray
    touch: IntArray
    pulls: IntArray
    signs: FloatArray
    nodes: IntArray
    radii: FloatArray


class Work(NamedTuple):
    """
    What a step computes.

    ``turns`` (b, 9 L), ``points`` (p, 9 L), ``elements`` (e, 5 L), ``contacts`` (c, 7 L),
    ``loads`` (p, 3 L) forces on points, ``wrenches`` (b, 6 L) forces and torques about the
    centres of mass, ``targets`` (e, 3 L): rest length, its rate and a tension that adds.
    """

    turns: FloatArray
    points: FloatArray
    elements: FloatArray
    contacts: FloatArray
    loads: FloatArray
    wrenches: FloatArray
    targets: FloatArray


class Pushes(NamedTuple):
    """Pushes at centres of mass: bodies (n,), forces (n, 3) and windows of steps (n, 2)."""

    body: IntArray
    force: FloatArray
    window: IntArray


def workspace(layout: Layout, lanes: int) -> Work:
    """Return room for the steps of some lanes."""
    bodies, points = len(layout.mass), len(layout.levers)
    elements, nodes = len(layout.laws), len(layout.nodes)
    shapes = (
        (bodies, 9), (points, POINT), (elements, ELEMENT), (nodes, CONTACT), (points, 3),
        (bodies, 6), (elements, 3),
    )  # fmt: skip
    return Work(*(np.zeros((rows, parts * lanes)) for rows, parts in shapes))


@_compiled
def place_points(layout: Layout, state: FloatArray, work: Work, lanes: Lanes) -> None:
    """Write the rotation matrix of every body, and place and velocity of every point."""
    n, first = len(lanes), layout.first
    turns, points, levers = work.turns, work.points, layout.levers
    for b in range(len(layout.mass)):
        for k in range(n):
            x, y = state[b, 3 * n + k], state[b, 4 * n + k]
            z, w = state[b, 5 * n + k], state[b, 6 * n + k]
            turns[b, k] = 1.0 - 2.0 * (y * y + z * z)
            turns[b, n + k] = 2.0 * (x * y - w * z)
            turns[b, 2 * n + k] = 2.0 * (x * z + w * y)
            turns[b, 3 * n + k] = 2.0 * (x * y + w * z)
            turns[b, 4 * n + k] = 1.0 - 2.0 * (x * x + z * z)
            turns[b, 5 * n + k] = 2.0 * (y * z - w * x)
            turns[b, 6 * n + k] = 2.0 * (x * z - w * y)
            turns[b, 7 * n + k] = 2.0 * (y * z + w * x)
            turns[b, 8 * n + k] = 1.0 - 2.0 * (x * x + y * y)
        for p in range(first[b], first[b + 1]):
            u, v, w = levers[p, 0], levers[p, 1], levers[p, 2]
            for k in range(n):
                x = turns[b, k] * u + turns[b, n + k] * v + turns[b, 2 * n + k] * w
                y = turns[b, 3 * n + k] * u + turns[b, 4 * n + k] * v + turns[b, 5 * n + k] * w
                z = turns[b, 6 * n + k] * u + turns[b, 7 * n + k] * v + turns[b, 8 * n + k] * w
                wx, wy, wz = state[b, 10 * n + k], state[b, 11 * n + k], state[b, 12 * n + k]
                points[p, k], points[p, n + k], points[p, 2 * n + k] = x, y, z
                points[p, 3 * n + k] = state[b, k] + x
                points[p, 4 * n + k] = state[b, n + k] + y
                points[p, 5 * n + k] = state[b, 2 * n + k] + z
                points[p, 6 * n + k] = state[b, 7 * n + k] + (wy * z - wz * y)
                points[p, 7 * n + k] = state[b, 8 * n + k] + (wz * x - wx * z)
                points[p, 8 * n + k] = state[b, 9 * n + k] + (wx * y - wy * x)


@_compiled
def _pull(
    law: int, row: FloatArray, e: int, i: int, j: int, aims: FloatArray, elapsed: float,
    points: FloatArray, loads: FloatArray, out: FloatArray, lanes: Lanes,
) -> None:  # fmt: skip
    n = len(lanes)
    for k in range(n):
        x = points[j, 3 * n + k] - points[i, 3 * n + k]
        y = points[j, 4 * n + k] - points[i, 4 * n + k]
        z = points[j, 5 * n + k] - points[i, 5 * n + k]
        u = points[j, 6 * n + k] - points[i, 6 * n + k]
        v = points[j, 7 * n + k] - points[i, 7 * n + k]
        w = points[j, 8 * n + k] - points[i, 8 * n + k]
        length = math.sqrt(x * x + y * y + z * z)
        # An element without length has no direction.
        scale = 1.0 / length if length > _SHORT else 0.0
        rate = scale * (x * u + y * v + z * w)
        rest = aims[e, k] + aims[e, n + k] * elapsed
        tension = element_tension(law, row, rest, aims[e, 2 * n + k], length, rate)
        pull = tension * scale
        x, y, z = pull * x, pull * y, pull * z
        out[e, 3 * n + k], out[e, 4 * n + k] = length, tension
        if n == 1:
            # Alone it is quicker to add at once; side by side that would stop the vectors.
            loads[i, 0] += x
            loads[i, 1] += y
            loads[i, 2] += z
            loads[j, 0] -= x
            loads[j, 1] -= y
            loads[j, 2] -= z
        else:
            out[e, k], out[e, n + k], out[e, 2 * n + k] = x, y, z


@_compiled
def pull_elements(layout: Layout, work: Work, elapsed: float, lanes: Lanes) -> None:
    """Write length and tension of every element, and the force on its ends."""
    points, aims, out, loads = work.points, work.targets, work.elements, work.loads
    loads[:] = 0.0
    constants, ends, codes = layout.constants, layout.ends, layout.laws
    for e in range(len(codes)):
        row, i, j = constants[e], ends[e, 0], ends[e, 1]
        # Told apart here, the laws are constants to the loop over lanes.
        if codes[e] == CABLE:
            _pull(CABLE, row, e, i, j, aims, elapsed, points, loads, out, lanes)
        elif codes[e] == SPRING:
            _pull(SPRING, row, e, i, j, aims, elapsed, points, loads, out, lanes)
        else:
            _pull(EXPONENTIAL_SPRING, row, e, i, j, aims, elapsed, points, loads, out, lanes)


@_compiled
def touch_ground(
    layout: Layout, ground: Ground, bristles: FloatArray, work: Work, dt: float, lanes: Lanes
) -> None:
    """Write what the ground does to every node, and step the bristles."""
    n, points, out = len(lanes), work.points, work.contacts
    nodes, radii, uneven = layout.nodes, layout.radii, len(ground.heights) > 0
    for c in range(len(nodes)):
        p, radius = nodes[c], radii[c]
        if uneven:
            _touch_uneven(ground, radius, c, p, points, out, bristles, dt, lanes)
        else:
            for k in range(n):
                depth = radius - points[p, 5 * n + k]
                push, along, across, bristles[c, k], bristles[c, n + k] = node_force(
                    ground, depth, -points[p, 8 * n + k], points[p, 6 * n + k],
                    points[p, 7 * n + k], bristles[c, k], bristles[c, n + k], dt,
                )  # fmt: skip
                out[c, k], out[c, n + k], out[c, 2 * n + k] = along, across, push
                out[c, 3 * n + k], out[c, 4 * n + k] = points[p, 3 * n + k], points[p, 4 * n + k]
                out[c, 5 * n + k] = points[p, 5 * n + k] - radius
                out[c, 6 * n + k] = depth


@_compiled
def _touch_uneven(
    ground: Ground, radius: float, c: int, p: int, points: FloatArray, out: FloatArray,
    bristles: FloatArray, dt: float, lanes: Lanes,
) -> None:  # fmt: skip
    n = len(lanes)
    for k in range(n):
        x, y, z = points[p, 3 * n + k], points[p, 4 * n + k], points[p, 5 * n + k]
        height, a, b = surface(ground, x, y)
        # The normal, and tangents over the x axis and across it.
        nz = 1.0 / math.sqrt(1.0 + a * a + b * b)
        nx, ny = -a * nz, -b * nz
        tx = 1.0 / math.sqrt(1.0 + a * a)
        tz = a * tx
        sx, sy, sz = ny * tz, nz * tx - nx * tz, -ny * tx
        u, v, w = points[p, 6 * n + k], points[p, 7 * n + k], points[p, 8 * n + k]
        depth = (height - z) * nz + radius
        push, along, across, bristles[c, k], bristles[c, n + k] = node_force(
            ground, depth, -(nx * u + ny * v + nz * w), tx * u + tz * w,
            sx * u + sy * v + sz * w, bristles[c, k], bristles[c, n + k], dt,
        )  # fmt: skip
        out[c, k] = push * nx + along * tx + across * sx
        out[c, n + k] = push * ny + across * sy
        out[c, 2 * n + k] = push * nz + along * tz + across * sz
        out[c, 3 * n + k], out[c, 4 * n + k] = x - radius * nx, y - radius * ny
        out[c, 5 * n + k], out[c, 6 * n + k] = z - radius * nz, depth


@_compiled
def _sum_loads(layout: Layout, work: Work, lanes: Lanes) -> None:
    """Write the force on every point."""
    n, loads, elements, contacts = len(lanes), work.loads, work.elements, work.contacts
    touch, pulls, signs, nodes = layout.touch, layout.pulls, layout.signs, layout.nodes
    if n > 1:
        for p in range(len(loads)):
            for i in range(touch[p], touch[p + 1]):
                e, sign = pulls[i], signs[i]
                for j in range(3 * n):
                    loads[p, j] += sign * elements[e, j]
    for c in range(len(nodes)):
        p = nodes[c]
        for j in range(3 * n):
            loads[p, j] += contacts[c, j]


@_compiled
def sum_wrenches(layout: Layout, work: Work, lanes: Lanes) -> None:
    """Write the force on every body and the torque about its centre of mass, weight included."""
    n, total, loads, points = len(lanes), work.wrenches, work.loads, work.points
    weight, first = layout.weight, layout.first
    _sum_loads(layout, work, lanes)
    for b in range(len(total)):
        for k in range(n):
            total[b, k], total[b, n + k] = weight[b, 0], weight[b, 1]
            total[b, 2 * n + k], total[b, 3 * n + k] = weight[b, 2], 0.0
            total[b, 4 * n + k] = total[b, 5 * n + k] = 0.0
        for p in range(first[b], first[b + 1]):
            for k in range(n):
                u, v, w = loads[p, k], loads[p, n + k], loads[p, 2 * n + k]
                x, y, z = points[p, k], points[p, n + k], points[p, 2 * n + k]
                total[b, k] += u
                total[b, n + k] += v
                total[b, 2 * n + k] += w
                total[b, 3 * n + k] += y * w - z * v
                total[b, 4 * n + k] += z * u - x * w
                total[b, 5 * n + k] += x * v - y * u


@_compiled
def _add_pushes(pushes: Pushes, work: Work, step: int, lanes: Lanes) -> None:
    n, total = len(lanes), work.wrenches
    for i in range(len(pushes.body)):
        if pushes.window[i, 0] <= step < pushes.window[i, 1]:
            b = pushes.body[i]
            for k in range(n):
                total[b, k] += pushes.force[i, 0]
                total[b, n + k] += pushes.force[i, 1]
                total[b, 2 * n + k] += pushes.force[i, 2]


@_compiled
def _accelerate(layout: Layout, state: FloatArray, work: Work, dt: float, lanes: Lanes) -> None:
    """Step velocities and rates: Newton in the world, Euler along its own axes."""
    n, turns, total, mass = len(lanes), work.turns, work.wrenches, layout.mass
    inertia, inverse = layout.inertia, layout.inverse
    for m in range(len(mass)):
        per_mass = dt / mass[m]
        for k in range(n):
            state[m, 7 * n + k] += per_mass * total[m, k]
            state[m, 8 * n + k] += per_mass * total[m, n + k]
            state[m, 9 * n + k] += per_mass * total[m, 2 * n + k]
            x, y, z = state[m, 10 * n + k], state[m, 11 * n + k], state[m, 12 * n + k]
            a, b, c = turns[m, k], turns[m, n + k], turns[m, 2 * n + k]
            d, e, f = turns[m, 3 * n + k], turns[m, 4 * n + k], turns[m, 5 * n + k]
            g, h, i = turns[m, 6 * n + k], turns[m, 7 * n + k], turns[m, 8 * n + k]
            u, v, w = a * x + d * y + g * z, b * x + e * y + h * z, c * x + f * y + i * z
            lx = inertia[m, 0, 0] * u + inertia[m, 0, 1] * v + inertia[m, 0, 2] * w
            ly = inertia[m, 1, 0] * u + inertia[m, 1, 1] * v + inertia[m, 1, 2] * w
            lz = inertia[m, 2, 0] * u + inertia[m, 2, 1] * v + inertia[m, 2, 2] * w
            tx, ty, tz = total[m, 3 * n + k], total[m, 4 * n + k], total[m, 5 * n + k]
            mx = a * tx + d * ty + g * tz - (v * lz - w * ly)
            my = b * tx + e * ty + h * tz - (w * lx - u * lz)
            mz = c * tx + f * ty + i * tz - (u * ly - v * lx)
            u = inverse[m, 0, 0] * mx + inverse[m, 0, 1] * my + inverse[m, 0, 2] * mz
            v = inverse[m, 1, 0] * mx + inverse[m, 1, 1] * my + inverse[m, 1, 2] * mz
            w = inverse[m, 2, 0] * mx + inverse[m, 2, 1] * my + inverse[m, 2, 2] * mz
            state[m, 10 * n + k] = x + dt * (a * u + b * v + c * w)
            state[m, 11 * n + k] = y + dt * (d * u + e * v + f * w)
            state[m, 12 * n + k] = z + dt * (g * u + h * v + i * w)


@_compiled
def _drift(state: FloatArray, dt: float, lanes: Lanes) -> None:
    """Step places and attitudes with the new velocities and rates."""
    n = len(lanes)
    for m in range(len(state)):
        for k in range(n):
            state[m, k] += dt * state[m, 7 * n + k]
            state[m, n + k] += dt * state[m, 8 * n + k]
            state[m, 2 * n + k] += dt * state[m, 9 * n + k]
            x, y, z = (
                dt * state[m, 10 * n + k],
                dt * state[m, 11 * n + k],
                dt * state[m, 12 * n + k],
            )
            square = x * x + y * y + z * z
            # sin(a / 2) / a and cos(a / 2) to the fourth order of an angle a far below 1.
            sine = 0.5 - square * (1.0 / 48.0 - square * (1.0 / 3840.0))
            cosine = 1.0 - square * (0.125 - square * (1.0 / 384.0))
            x, y, z = sine * x, sine * y, sine * z
            a, b = state[m, 3 * n + k], state[m, 4 * n + k]
            c, d = state[m, 5 * n + k], state[m, 6 * n + k]
            p = cosine * a + x * d + y * c - z * b
            q = cosine * b + y * d + z * a - x * c
            r = cosine * c + z * d + x * b - y * a
            s = cosine * d - x * a - y * b - z * c
            scale = 1.0 / math.sqrt(p * p + q * q + r * r + s * s)
            state[m, 3 * n + k], state[m, 4 * n + k] = scale * p, scale * q
            state[m, 5 * n + k], state[m, 6 * n + k] = scale * r, scale * s


@_compiled
def load_bodies(
    layout: Layout, ground: Ground, pushes: Pushes, state: FloatArray, bristles: FloatArray,
    work: Work, dt: float, elapsed: float, step: int, lanes: Lanes,
) -> None:  # fmt: skip
    """
    Write what acts on every body in a state, ``work.wrenches``, and step the bristles.

    Parameters
    ----------
    layout, ground, pushes
    state : (b, 13 L) array
    bristles : (c, 2 L) array [m]
    work : Work
        Its targets are in force.
    dt, elapsed : float [s]
        The step, and the time since the targets' sub-sample began.
    step : int
        Number of the step, for the pushes.
    lanes : tuple
        Of any L numbers.

    """
    place_points(layout, state, work, lanes)
    pull_elements(layout, work, elapsed, lanes)
    touch_ground(layout, ground, bristles, work, dt, lanes)
    sum_wrenches(layout, work, lanes)
    _add_pushes(pushes, work, step, lanes)


@_compiled
def advance(
    layout: Layout, ground: Ground, pushes: Pushes, state: FloatArray, bristles: FloatArray,
    work: Work, dt: float, first: int, steps: int, lanes: Lanes,
) -> None:  # fmt: skip
    """Advance some steps of one sub-sample; ``first`` is the number of the first of them."""
    for step in range(steps):
        # Spelled out: through load_bodies a step takes a third longer.
        place_points(layout, state, work, lanes)
        pull_elements(layout, work, step * dt, lanes)
        touch_ground(layout, ground, bristles, work, dt, lanes)
        sum_wrenches(layout, work, lanes)
        _add_pushes(pushes, work, first + step, lanes)
        _accelerate(layout, state, work, dt, lanes)
        _drift(state, dt, lanes)
