# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Compiled dynamics of free rigid bodies with force elements and contact nodes.

The integrator is semi-implicit Euler. Every array has one row for each body, point, element or
node, with these columns:

- body: centre of mass (3), quaternion x, y, z, w (4), velocity (3), angular velocity (3), in
  ``odom``;
- point: lever from the centre of mass (3), position (3), velocity (3), in ``odom``;
- element: length, tension;
- contact: force on the node (3), contact point (3), depth.

Vectors are written out as scalars: Numba would allocate an array for every slice.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from gait_core.arrays import FloatArray, IntArray
from sim_bridge.engines.cables.ground import Ground, node_force, surface_at
from sim_bridge.engines.shared.force_laws import CABLE, EXPONENTIAL_SPRING, SPRING, element_tension

_MIN_LENGTH = 1e-12
"""Length [m] below which an element has no direction and pulls nothing."""

_compiled = numba.njit(cache=True, error_model='numpy', nogil=True)


class BodyLayout(NamedTuple):
    """
    A robot as arrays: b bodies, p points of bodies, e elements, c nodes.

    Attributes
    ----------
    mass : (b,) array [kg]
    inertia, inverse_inertia : (b, 3, 3) arrays [kg m^2, 1/(kg m^2)]
        About the centre of mass, in the body's axes; and its inverse.
    weight : (b, 3) array [N]
    first_point : (b + 1,) int array
        Points first_point[i] to first_point[i + 1] - 1 belong to body i.
    coms : (b, 3) array [m]
        Centres of mass in the links' frames.
    levers : (p, 3) array [m]
        From the centre of mass to the point, in the body's axes.
    end_points : (e, 2) int array
        Points between which each element acts.
    laws : (e,) int array
    constants : (e, COLUMN_COUNT) array
        As of ``force_laws.element_tensions``.
    node_points : (c,) int array
        Centre of the sphere of each contact node.
    radii : (c,) array [m]

    """

    mass: FloatArray
    inertia: FloatArray
    inverse_inertia: FloatArray
    weight: FloatArray
    first_point: IntArray
    coms: FloatArray
    levers: FloatArray
    end_points: IntArray
    laws: IntArray
    constants: FloatArray
    node_points: IntArray
    radii: FloatArray


class StepBuffers(NamedTuple):
    """
    Intermediate results of a step, overwritten in every step.

    Attributes
    ----------
    rotations : (b, 9) array
        Rotation matrix of each body, by rows.
    points : (p, 9) array
    elements : (e, 2) array
    contacts : (c, 7) array
    point_forces : (p, 3) array [N]
    wrenches : (b, 6) array [N, N m]
        Force on each body and torque about its centre of mass.
    targets : (e, 3) array [m, m/s, N]
        Targets in force: rest length, its rate, and a tension that is added.

    """

    rotations: FloatArray
    points: FloatArray
    elements: FloatArray
    contacts: FloatArray
    point_forces: FloatArray
    wrenches: FloatArray
    targets: FloatArray


class Pushes(NamedTuple):
    """Pushes at centres of mass: bodies (n,), forces (n, 3) [N], first and end step (n, 2)."""

    body: IntArray
    force: FloatArray
    window: IntArray


class CompiledScene(NamedTuple):
    """Constants of a scene: ``dt`` is the physics step [s], ``steps`` their number in a period."""

    layout: BodyLayout
    ground: Ground
    pushes: Pushes
    dt: float
    steps: int


class BodyMotion(NamedTuple):
    """States of the bodies (b, 13), displacements of the nodes' bristles (c, 2) [m], buffers."""

    state: FloatArray
    bristles: FloatArray
    buffers: StepBuffers


def allocate_buffers(layout: BodyLayout) -> StepBuffers:
    """Return buffers of the sizes that a layout requires."""
    bodies, points = len(layout.mass), len(layout.levers)
    elements, nodes = len(layout.laws), len(layout.node_points)
    return StepBuffers(
        rotations=np.zeros((bodies, 9)),
        points=np.zeros((points, 9)),
        elements=np.zeros((elements, 2)),
        contacts=np.zeros((nodes, 7)),
        point_forces=np.zeros((points, 3)),
        wrenches=np.zeros((bodies, 6)),
        targets=np.zeros((elements, 3)),
    )


@_compiled
def update_points(layout: BodyLayout, state: FloatArray, buffers: StepBuffers) -> None:
    """Write the rotation matrix of every body, and position and velocity of every point."""
    first = layout.first_point
    rotations, points, levers = buffers.rotations, buffers.points, layout.levers
    for b in range(len(layout.mass)):
        # R(q) by rows; q is a unit quaternion, so that it needs no division by |q|^2.
        x, y = state[b, 3], state[b, 4]
        z, w = state[b, 5], state[b, 6]
        rotations[b, 0] = 1.0 - 2.0 * (y * y + z * z)
        rotations[b, 1] = 2.0 * (x * y - w * z)
        rotations[b, 2] = 2.0 * (x * z + w * y)
        rotations[b, 3] = 2.0 * (x * y + w * z)
        rotations[b, 4] = 1.0 - 2.0 * (x * x + z * z)
        rotations[b, 5] = 2.0 * (y * z - w * x)
        rotations[b, 6] = 2.0 * (x * z - w * y)
        rotations[b, 7] = 2.0 * (y * z + w * x)
        rotations[b, 8] = 1.0 - 2.0 * (x * x + y * y)
        # Rigid body: point = com + R r, and its velocity = v + omega x (R r).
        for p in range(first[b], first[b + 1]):
            u, v, w = levers[p, 0], levers[p, 1], levers[p, 2]
            x = rotations[b, 0] * u + rotations[b, 1] * v + rotations[b, 2] * w
            y = rotations[b, 3] * u + rotations[b, 4] * v + rotations[b, 5] * w
            z = rotations[b, 6] * u + rotations[b, 7] * v + rotations[b, 8] * w
            wx, wy, wz = state[b, 10], state[b, 11], state[b, 12]
            points[p, 0], points[p, 1], points[p, 2] = x, y, z
            points[p, 3] = state[b, 0] + x
            points[p, 4] = state[b, 1] + y
            points[p, 5] = state[b, 2] + z
            points[p, 6] = state[b, 7] + (wy * z - wz * y)
            points[p, 7] = state[b, 8] + (wz * x - wx * z)
            points[p, 8] = state[b, 9] + (wx * y - wy * x)


@_compiled
def update_elements(layout: BodyLayout, buffers: StepBuffers, elapsed: float) -> None:
    """
    Write length and tension of every element, and the forces on its two end points.

    ``elapsed`` [s] is the time since the targets came into force. Forces on points start from
    zero here; ``sum_wrenches`` adds those of the contacts.
    """
    points, aims, loads, out = (
        buffers.points,
        buffers.targets,
        buffers.point_forces,
        buffers.elements,
    )
    constants, ends, codes = layout.constants, layout.end_points, layout.laws
    loads[:] = 0.0
    for e in range(len(codes)):
        i, j, row = ends[e, 0], ends[e, 1], constants[e]
        x = points[j, 3] - points[i, 3]
        y = points[j, 4] - points[i, 4]
        z = points[j, 5] - points[i, 5]
        u = points[j, 6] - points[i, 6]
        v = points[j, 7] - points[i, 7]
        w = points[j, 8] - points[i, 8]
        # With d from end i to end j: L = |d|, dL/dt = d . (v_j - v_i) / L.
        length = math.sqrt(x * x + y * y + z * z)
        scale = 1.0 / length if length > _MIN_LENGTH else 0.0
        rate = scale * (x * u + y * v + z * w)
        # The rest length moves at its rate within a sub-sample.
        rest, feed = aims[e, 0] + aims[e, 1] * elapsed, aims[e, 2]
        # One call for each law: with a constant code the compiler removes the other branches.
        if codes[e] == CABLE:
            tension = element_tension(CABLE, row, rest, feed, length, rate)
        elif codes[e] == SPRING:
            tension = element_tension(SPRING, row, rest, feed, length, rate)
        else:
            tension = element_tension(EXPONENTIAL_SPRING, row, rest, feed, length, rate)
        out[e, 0], out[e, 1] = length, tension
        # A positive tension pulls both ends together: +T d / L on i, -T d / L on j.
        pull = tension * scale
        x, y, z = pull * x, pull * y, pull * z
        loads[i, 0] += x
        loads[i, 1] += y
        loads[i, 2] += z
        loads[j, 0] -= x
        loads[j, 1] -= y
        loads[j, 2] -= z


@_compiled
def update_contacts(
    layout: BodyLayout, ground: Ground, bristles: FloatArray, buffers: StepBuffers, dt: float
) -> None:
    """Write force, point and depth of the contact of every node; advance its bristles by dt."""
    points, out = buffers.points, buffers.contacts
    nodes, radii, uneven = layout.node_points, layout.radii, len(ground.heights) > 0
    for c in range(len(nodes)):
        p, radius = nodes[c], radii[c]
        if uneven:
            # Single arrays in place of `buffers`: counting the references of a whole record
            # would take longer than the contact itself.
            _update_uneven_contact(ground, (c, p, radius), points, bristles, dt, out)
        else:
            # Plane z = 0: the normal is z, the tangents are x and y.
            depth = radius - points[p, 5]
            speeds, bristle = (points[p, 6], points[p, 7]), (bristles[c, 0], bristles[c, 1])
            push, along, across, bristles[c, 0], bristles[c, 1] = node_force(
                ground, depth, -points[p, 8], speeds, bristle, dt
            )
            out[c, 0], out[c, 1], out[c, 2] = along, across, push
            out[c, 3], out[c, 4] = points[p, 3], points[p, 4]
            out[c, 5], out[c, 6] = points[p, 5] - radius, depth


@_compiled
def _update_uneven_contact(
    ground: Ground,
    node: tuple[int, int, float],
    points: FloatArray,
    bristles: FloatArray,
    dt: float,
    out: FloatArray,
) -> None:
    """
    Write the contact of a node with a height field; advance its bristles by dt.

    Parameters
    ----------
    ground : Ground
    node : (int, int, float)
        Index of the node, its point, and its radius [m].
    points, bristles, out : (p, 9), (c, 2) and (c, 7) arrays

    """
    c, p, radius = node
    x, y, z = points[p, 3], points[p, 4], points[p, 5]
    height, a, b = surface_at(ground, x, y)
    # Slopes a = dh/dx, b = dh/dy: normal n = (-a, -b, 1) / |..|, first tangent t = (1, 0, a) /
    # |..| in the plane of x and z, second tangent s = n x t.
    nz = 1.0 / math.sqrt(1.0 + a * a + b * b)
    nx, ny = -a * nz, -b * nz
    tx = 1.0 / math.sqrt(1.0 + a * a)
    tz = a * tx
    sx, sy, sz = ny * tz, nz * tx - nx * tz, -ny * tx
    u, v, w = points[p, 6], points[p, 7], points[p, 8]
    # Distance to the tangent plane below the node: exact on a triangle of the field.
    depth = (height - z) * nz + radius
    speeds = (tx * u + tz * w, sx * u + sy * v + sz * w)
    push, along, across, bristles[c, 0], bristles[c, 1] = node_force(
        ground, depth, -(nx * u + ny * v + nz * w), speeds, (bristles[c, 0], bristles[c, 1]), dt
    )
    out[c, 0] = push * nx + along * tx + across * sx
    out[c, 1] = push * ny + across * sy
    out[c, 2] = push * nz + along * tz + across * sz
    out[c, 3], out[c, 4] = x - radius * nx, y - radius * ny
    out[c, 5], out[c, 6] = z - radius * nz, depth


@_compiled
def sum_wrenches(layout: BodyLayout, buffers: StepBuffers) -> None:
    """Sum the forces on every body and their torques about its centre of mass; add its weight."""
    total, loads, points = buffers.wrenches, buffers.point_forces, buffers.points
    weight, first = layout.weight, layout.first_point
    # The contact force acts at the node's centre: a sphere of radius r adds no torque of friction.
    for c in range(len(layout.node_points)):
        p = layout.node_points[c]
        for j in range(3):
            loads[p, j] += buffers.contacts[c, j]
    for b in range(len(total)):
        total[b, 0], total[b, 1] = weight[b, 0], weight[b, 1]
        total[b, 2], total[b, 3] = weight[b, 2], 0.0
        total[b, 4] = total[b, 5] = 0.0
        for p in range(first[b], first[b + 1]):
            u, v, w = loads[p, 0], loads[p, 1], loads[p, 2]
            x, y, z = points[p, 0], points[p, 1], points[p, 2]
            total[b, 0] += u
            total[b, 1] += v
            total[b, 2] += w
            total[b, 3] += y * w - z * v
            total[b, 4] += z * u - x * w
            total[b, 5] += x * v - y * u


@_compiled
def _add_pushes(pushes: Pushes, buffers: StepBuffers, step: int) -> None:
    """Add the pushes that act in a step, each at the centre of mass of its body."""
    total = buffers.wrenches
    for i in range(len(pushes.body)):
        if pushes.window[i, 0] <= step < pushes.window[i, 1]:
            b = pushes.body[i]
            total[b, 0] += pushes.force[i, 0]
            total[b, 1] += pushes.force[i, 1]
            total[b, 2] += pushes.force[i, 2]


@_compiled
def _update_velocities(
    layout: BodyLayout, state: FloatArray, buffers: StepBuffers, dt: float
) -> None:
    """Advance velocities by Newton's equation and angular velocities by Euler's."""
    rotations, total, mass = buffers.rotations, buffers.wrenches, layout.mass
    inertia, inverse = layout.inertia, layout.inverse_inertia
    for m in range(len(mass)):
        # Newton: v += dt F / m.
        per_mass = dt / mass[m]
        state[m, 7] += per_mass * total[m, 0]
        state[m, 8] += per_mass * total[m, 1]
        state[m, 9] += per_mass * total[m, 2]
        x, y, z = state[m, 10], state[m, 11], state[m, 12]
        a, b, c = rotations[m, 0], rotations[m, 1], rotations[m, 2]
        d, e, f = rotations[m, 3], rotations[m, 4], rotations[m, 5]
        g, h, i = rotations[m, 6], rotations[m, 7], rotations[m, 8]
        # Euler's equation in the body's axes, where I is constant:
        #   I omega' = tau - omega x (I omega).
        # R^T turns omega -> (u, v, w) and tau into the body, R turns omega' back into odom.
        u, v, w = a * x + d * y + g * z, b * x + e * y + h * z, c * x + f * y + i * z
        # Angular momentum l = I omega.
        lx = inertia[m, 0, 0] * u + inertia[m, 0, 1] * v + inertia[m, 0, 2] * w
        ly = inertia[m, 1, 0] * u + inertia[m, 1, 1] * v + inertia[m, 1, 2] * w
        lz = inertia[m, 2, 0] * u + inertia[m, 2, 1] * v + inertia[m, 2, 2] * w
        tx, ty, tz = total[m, 3], total[m, 4], total[m, 5]
        mx = a * tx + d * ty + g * tz - (v * lz - w * ly)
        my = b * tx + e * ty + h * tz - (w * lx - u * lz)
        mz = c * tx + f * ty + i * tz - (u * ly - v * lx)
        u = inverse[m, 0, 0] * mx + inverse[m, 0, 1] * my + inverse[m, 0, 2] * mz
        v = inverse[m, 1, 0] * mx + inverse[m, 1, 1] * my + inverse[m, 1, 2] * mz
        w = inverse[m, 2, 0] * mx + inverse[m, 2, 1] * my + inverse[m, 2, 2] * mz
        state[m, 10] = x + dt * (a * u + b * v + c * w)
        state[m, 11] = y + dt * (d * u + e * v + f * w)
        state[m, 12] = z + dt * (g * u + h * v + i * w)


@_compiled
def _update_poses(state: FloatArray, dt: float) -> None:
    """Advance centres of mass and quaternions with the new velocities."""
    for m in range(len(state)):
        state[m, 0] += dt * state[m, 7]
        state[m, 1] += dt * state[m, 8]
        state[m, 2] += dt * state[m, 9]
        # Exponential map: dq = (sin(a/2) omega / |omega|, cos(a/2)) with a = |omega| dt, q <- dq
        # q.
        x, y, z = (
            dt * state[m, 10],
            dt * state[m, 11],
            dt * state[m, 12],
        )
        square = x * x + y * y + z * z
        # Series of sin(a/2) / a and cos(a/2) to a^4: no division by a = 0, error below 1e-9 for
        # the angle of a step (a < 0.1 rad).
        sine = 0.5 - square * (1.0 / 48.0 - square * (1.0 / 3840.0))
        cosine = 1.0 - square * (0.125 - square * (1.0 / 384.0))
        x, y, z = sine * x, sine * y, sine * z
        a, b = state[m, 3], state[m, 4]
        c, d = state[m, 5], state[m, 6]
        p = cosine * a + x * d + y * c - z * b
        q = cosine * b + y * d + z * a - x * c
        r = cosine * c + z * d + x * b - y * a
        s = cosine * d - x * a - y * b - z * c
        # Normalised in every step, for rounding would let |q| drift.
        scale = 1.0 / math.sqrt(p * p + q * q + r * r + s * s)
        state[m, 3], state[m, 4] = scale * p, scale * q
        state[m, 5], state[m, 6] = scale * r, scale * s


@_compiled
def update_wrenches(scene: CompiledScene, motion: BodyMotion, elapsed: float, step: int) -> None:
    """
    Write the wrench on every body in a state, ``buffers.wrenches``; advance the bristles.

    Parameters
    ----------
    scene, motion
    elapsed : float [s]
        Time since the targets came into force.
    step : int
        Index of the step, counted from tick 0, for the pushes.

    """
    layout, buffers = scene.layout, motion.buffers
    update_points(layout, motion.state, buffers)
    update_elements(layout, buffers, elapsed)
    update_contacts(layout, scene.ground, motion.bristles, buffers, scene.dt)
    sum_wrenches(layout, buffers)
    _add_pushes(scene.pushes, buffers, step)


@_compiled
def select_targets(targets: FloatArray, sample: int, buffers: StepBuffers) -> None:
    """Copy a sub-sample of targets, (3, K, e), to ``buffers.targets``, (e, 3)."""
    for e in range(targets.shape[2]):
        for part in range(3):
            buffers.targets[e, part] = targets[part, sample, e]


@_compiled
def _advance_sub_sample(scene: CompiledScene, motion: BodyMotion, first: int, steps: int) -> None:
    """Advance ``steps`` physics steps under the targets in force, the first of index ``first``."""
    layout, dt, state, buffers = scene.layout, scene.dt, motion.state, motion.buffers
    for step in range(steps):
        # Semi-implicit (symplectic) Euler: forces from the old state, velocities from the forces,
        # positions from the new velocities. The first five calls are those of update_wrenches,
        # repeated here: the call of it would take a third longer.
        update_points(layout, state, buffers)
        update_elements(layout, buffers, step * dt)
        update_contacts(layout, scene.ground, motion.bristles, buffers, dt)
        sum_wrenches(layout, buffers)
        _add_pushes(scene.pushes, buffers, first + step)
        _update_velocities(layout, state, buffers, dt)
        _update_poses(state, dt)


@_compiled
def advance_period(
    scene: CompiledScene, motion: BodyMotion, targets: FloatArray, first: int
) -> None:
    """
    Advance one control period.

    Parameters
    ----------
    scene, motion
    targets : (3, K, e) array
        As of ``StepBuffers.targets``, for K sub-samples of equal duration.
    first : int
        Index of the first step, counted from tick 0, for the pushes.

    """
    samples = targets.shape[1]
    steps = scene.steps // samples
    for sample in range(samples):
        select_targets(targets, sample, motion.buffers)
        _advance_sub_sample(scene, motion, first + sample * steps, steps)
