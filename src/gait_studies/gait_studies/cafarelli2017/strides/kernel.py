# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Compiled kernel of ``measures``: one pass over the instants of a stroke, all six legs."""

from __future__ import annotations

import math
from typing import NamedTuple

from numba import njit
import numpy as np

from gait_core.arrays import FloatArray
from gait_studies.cafarelli2017.strides.hexapod import BodyConstants

MEASURE_COLUMNS = (
    'rotary_signed',
    'rotary_absolute',
    'rotary_positive',
    'screw_signed',
    'screw_input',
    'rotary_heat',
    'screw_heat',
    'margin',
    'slip',
    'tilt',
    'tilt_range',
    'clearance',
    'handover',
    'knees',
    'lean',
)
"""Columns that ``measure_strides_into`` writes; meanings as in ``StrideMeasures``."""

_ROTARY_SIGNED, _ROTARY_ABSOLUTE, _ROTARY_POSITIVE = range(3)
_SCREW_SIGNED, _SCREW_INPUT, _ROTARY_HEAT, _SCREW_HEAT = range(3, 7)
_MARGIN, _SLIP, _TILT, _TILT_RANGE, _CLEARANCE, _HANDOVER, _KNEES, _LEAN = range(7, 15)

SCREW_COLUMNS = ('pushing', 'yielding', 'torque_pushing', 'torque_yielding', 'torque_holding')
"""
Constants of a screw per newton of load on its rod.

Motor work per metre against the load and with it [J/(N m)], and motor torque to push, to yield and
to hold [N m/N].
"""

_PUSHING, _YIELDING, _TORQUE_PUSHING, _TORQUE_YIELDING, _TORQUE_HOLDING = range(5)


class MeasureConditions(NamedTuple):
    """Settings of a measurement as a named tuple; ``along`` and ``across``: sine of the slopes."""

    steps: int
    phase_duration: float
    along: float
    across: float
    statics: bool
    printed_forces: bool
    rotary_constant: float
    screw_constant: float


@njit(cache=True)
def _hip_position(leg: int, body: BodyConstants) -> tuple[float, float]:
    """Return x and y of a hip in the body: legs 0 to 2 of the standing tripod, 3 to 5 mirrored."""
    side = 1.0 if leg < 3 else -1.0
    inward = body.tripod_width - 0.5 * body.body_width
    if leg % 3 == 1:
        return 0.0, -side * 0.5 * body.body_width
    return (0.5 - 0.5 * (leg % 3)) * body.body_length, side * inward


@njit(cache=True)
def _place_legs(
    joints: FloatArray,
    phase: int,
    share: float,
    body: BodyConstants,
    legs: FloatArray,
    feet: FloatArray,
) -> tuple[float, float, float]:
    """
    Write lengths, cosines and sines of the legs (6, 6) and feet (6, 3) [m] in the body frame.

    Return the centre of mass [m]. The tripod in stance is in phase 0 or 1, the swinging one two
    phases later.
    """
    x = y = z = 0.0
    for leg in range(6):
        now = phase if leg < 3 else phase + 2
        start, end = joints[now, leg % 3], joints[(now + 1) % 4, leg % 3]
        hip = start[0] + share * (end[0] - start[0])
        foot = hip + start[1] + share * (end[1] - start[1])
        upper = start[2] + share * (end[2] - start[2])
        lower = start[3] + share * (end[3] - start[3])
        c0, s0, c01, s01 = math.cos(hip), math.sin(hip), math.cos(foot), math.sin(foot)
        row = legs[leg]
        row[0], row[1], row[2], row[3], row[4], row[5] = upper, lower, c0, s0, c01, s01
        hip_x, hip_y = _hip_position(leg, body)
        feet[leg, 0] = hip_x + upper * c0 + lower * c01
        feet[leg, 1] = hip_y
        feet[leg, 2] = -upper * s0 - lower * s01
        # Two segments, each with its centre of mass at a quarter of its length (Eqs. 3.30, 3.33).
        x += 2.0 * hip_x + 1.25 * upper * c0 + 0.25 * lower * c01
        y += 2.0 * hip_y
        z += -1.25 * upper * s0 - 0.25 * lower * s01
    scale = body.segment_mass / (body.body_mass + 12.0 * body.segment_mass)
    return x * scale, y * scale, z * scale


@njit(cache=True)
def _ground_plane(feet: FloatArray, normal: FloatArray) -> float:
    """Write the unit normal of the plane of the feet in stance; return twice their area [m^2]."""
    ax, ay, az = feet[1, 0] - feet[0, 0], feet[1, 1] - feet[0, 1], feet[1, 2] - feet[0, 2]
    bx, by, bz = feet[2, 0] - feet[0, 0], feet[2, 1] - feet[0, 1], feet[2, 2] - feet[0, 2]
    nx, ny, nz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    area = math.sqrt(nx * nx + ny * ny + nz * nz)
    scale = math.copysign(1.0, nz) / area if area > 0.0 else math.nan
    normal[0], normal[1], normal[2] = nx * scale, ny * scale, nz * scale
    return area


@njit(cache=True)
def _gravity_direction(
    normal: FloatArray, conditions: MeasureConditions, down: FloatArray
) -> None:
    """Write the direction of gravity in the body frame from the ground's normal and slopes."""
    nx, ny, nz = normal[0], normal[1], normal[2]
    # Forward (f) is the body's x axis projected onto the ground, left (l) is normal x forward.
    length = math.sqrt(max(0.0, 1.0 - nx * nx))
    fx, fy, fz = (1.0 - nx * nx) / length, -nx * ny / length, -nx * nz / length
    lx, ly, lz = ny * fz - nz * fy, nz * fx - nx * fz, nx * fy - ny * fx
    along, across = conditions.along, conditions.across
    up = math.sqrt(1.0 - along * along - across * across)
    down[0] = -(along * fx + across * lx + up * nx)
    down[1] = -(along * fy + across * ly + up * ny)
    down[2] = -(along * fz + across * lz + up * nz)


@njit(cache=True)
def _loads_and_margin(
    feet: FloatArray,
    centre: tuple[float, float, float],
    normal: FloatArray,
    down: FloatArray,
    area: float,
    loads: FloatArray,
) -> float:
    """Write the share of the weight on each foot in stance; return the stability margin [m]."""
    nx, ny, nz = normal[0], normal[1], normal[2]
    height = (
        (feet[0, 0] - centre[0]) * nx
        + (feet[0, 1] - centre[1]) * ny
        + (feet[0, 2] - centre[2]) * nz
    )
    # The centre of mass is projected along gravity onto the plane of the feet.
    drop = height / (down[0] * nx + down[1] * ny + down[2] * nz)
    x, y = centre[0] + drop * down[0], centre[1] + drop * down[1]
    z = centre[2] + drop * down[2]
    margin = math.inf
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        ex, ey, ez = feet[k, 0] - feet[j, 0], feet[k, 1] - feet[j, 1], feet[k, 2] - feet[j, 2]
        px, py, pz = x - feet[j, 0], y - feet[j, 1], z - feet[j, 2]
        part = nx * (ey * pz - ez * py) + ny * (ez * px - ex * pz) + nz * (ex * py - ey * px)
        # `part` is twice the signed area of the triangle of the projected point and feet j and k.
        # Divided by `area` it gives the load share of foot i (barycentric coordinate), divided by
        # the length of the edge from j to k the distance of the point from this edge. Feet are
        # numbered clockwise as viewed from above: hence the signs.
        loads[i] = -part / area
        margin = min(margin, -part / math.sqrt(ex * ex + ey * ey + ez * ez))
    return margin


@njit(cache=True)
def _joint_forces(
    leg: FloatArray,
    stance: bool,
    load: float,
    down: FloatArray,
    body: BodyConstants,
    printed: bool,
    out: FloatArray,
) -> None:
    """
    Write torques of hip and knee [N m], axial forces and lateral loads of both segments [N], (6,).

    A screw applies the axial force of its segment; the lateral load presses on its guide.
    """
    upper, lower, c0, s0, c01, s01 = leg[0], leg[1], leg[2], leg[3], leg[4], leg[5]
    weight = body.segment_mass * body.gravity
    gx, gz = weight * down[0], weight * down[2]
    # The ground pushes the foot up by its load; the weights of the segments act on the joints too.
    total = (body.body_mass + 12.0 * body.segment_mass) * body.gravity
    fx, fz = -load * total * down[0], -load * total * down[2]
    knee_x, knee_z = -lower * s01, -lower * c01
    hip_x, hip_z = knee_x - upper * s0, knee_z - upper * c0
    out[0] = -fx * hip_x - fz * hip_z
    out[0] -= gx * (-1.25 * upper * s0 - 0.25 * lower * s01)
    out[0] -= gz * (-1.25 * upper * c0 - 0.25 * lower * c01)
    out[1] = -(fx + 0.25 * gx) * knee_x - (fz + 0.25 * gz) * knee_z
    out[4] = -(fx + 1.25 * gx) * s0 - (fz + 1.25 * gz) * c0
    out[5] = -(fx + 0.25 * gx) * s01 - (fz + 0.25 * gz) * c01
    # Along the screws: as printed in Eqs. 3.4 to 3.7, or what the work along the path requires.
    if printed:
        carried = (body.body_mass + 6.0 * body.segment_mass) * body.gravity / 3.0
        out[2] = (carried if stance else 2.0 * weight) * s0
        out[3] = (carried + weight if stance else weight) * s01
    else:
        out[2] = -(fx + 1.25 * gx) * c0 + (fz + 1.25 * gz) * s0
        out[3] = -(fx + 0.25 * gx) * c01 + (fz + 0.25 * gz) * s01


@njit(cache=True)
def _add_work(
    force: FloatArray,
    start: FloatArray,
    end: FloatArray,
    share: float,
    conditions: MeasureConditions,
    body: BodyConstants,
    screw: FloatArray,
    row: FloatArray,
) -> None:
    """Add the work and heat of one leg in a share of its phase to the energies of a row."""
    duration = conditions.phase_duration
    # Hip and knee. Heat of a motor: (torque / motor constant)^2 for the time that it acts.
    for i in range(2):
        work = force[i] * (end[i] - start[i]) * share
        row[_ROTARY_SIGNED] += work
        row[_ROTARY_ABSOLUTE] += abs(work)
        row[_ROTARY_POSITIVE] += max(0.0, work)
        row[_ROTARY_HEAT] += (force[i] / conditions.rotary_constant) ** 2 * duration * share
    # Screws of the upper and the lower segment.
    for i in range(2, 4):
        change = (end[i] - start[i]) * share
        work = force[i] * change
        row[_SCREW_SIGNED] += work
        # Friction of the guide opposes the motion in both directions.
        needed = work + body.guide_friction * abs(force[i + 2] * change)
        # A screw needs other work against its load (pushing) than with it (yielding).
        row[_SCREW_INPUT] += (
            needed * screw[_PUSHING] if needed > 0.0 else -needed * screw[_YIELDING]
        )
        # It turns at its own speed; for the rest of the time it holds.
        turning = min(abs(change) / body.screw_speed, duration * share)
        if change != 0.0:
            arm = screw[_TORQUE_PUSHING if needed > 0.0 else _TORQUE_YIELDING]
            row[_SCREW_HEAT] += (needed / change * arm / conditions.screw_constant) ** 2 * turning
        holding = abs(force[i]) * screw[_TORQUE_HOLDING]
        row[_SCREW_HEAT] += (holding / conditions.screw_constant) ** 2 * (
            duration * share - turning
        )


@njit(cache=True)
def _foot_height(feet: FloatArray, normal: FloatArray, leg: int) -> float:
    """Return the height of a foot above the ground [m]."""
    height: float = (
        (feet[leg, 0] - feet[0, 0]) * normal[0]
        + (feet[leg, 1] - feet[0, 1]) * normal[1]
        + (feet[leg, 2] - feet[0, 2]) * normal[2]
    )
    return height


@njit(cache=True)
def _knee_height(legs: FloatArray, feet: FloatArray, normal: FloatArray, leg: int) -> float:
    """Return the height of a knee above the ground [m]."""
    lower, c01, s01 = legs[leg, 1], legs[leg, 4], legs[leg, 5]
    height: float = _foot_height(feet, normal, leg) - lower * (c01 * normal[0] - s01 * normal[2])
    return height


@njit(cache=True)
def _update_foot_distances(feet: FloatArray, spans: FloatArray) -> None:
    """Update least (row 0) and largest (row 1) distances between the feet in stance [m]."""
    for i in range(3):
        j = (i + 1) % 3
        span = math.sqrt(
            (feet[i, 0] - feet[j, 0]) ** 2
            + (feet[i, 1] - feet[j, 1]) ** 2
            + (feet[i, 2] - feet[j, 2]) ** 2
        )
        spans[0, i] = min(spans[0, i], span)
        spans[1, i] = max(spans[1, i], span)


@njit(cache=True)
def _update_foot_heights(
    feet: FloatArray, normal: FloatArray, phase: int, step: int, steps: int, row: FloatArray
) -> None:
    """Update clearance in mid-swing and height at lift-off and touch-down of the swing feet."""
    for leg in range(3, 6):
        if phase == 0 and step == steps:
            row[_CLEARANCE] = min(row[_CLEARANCE], _foot_height(feet, normal, leg))
        if (phase == 0 and step == 0) or (phase == 1 and step == steps):
            row[_HANDOVER] = max(row[_HANDOVER], abs(_foot_height(feet, normal, leg)))


@njit(cache=True)
def _angle_between(a: FloatArray, b: FloatArray) -> float:
    return math.acos(min(1.0, max(-1.0, a[0] * b[0] + a[1] * b[1] + a[2] * b[2])))


@njit(cache=True)
def _largest_angle(normals: FloatArray) -> float:
    largest: float = 0.0
    for i in range(len(normals)):
        for j in range(i):
            largest = max(largest, _angle_between(normals[i], normals[j]))
    return largest


@njit(cache=True)
def _measure_stride(
    joints: FloatArray,
    screw: FloatArray,
    body: BodyConstants,
    conditions: MeasureConditions,
    row: FloatArray,
) -> None:
    """Write the measures of one stride, (15,) in the order of ``MEASURE_COLUMNS``."""
    legs, feet = np.empty((6, 6)), np.empty((6, 3))
    along, across = conditions.along, conditions.across
    normals, down = np.empty((3, 3)), np.array([-along, -across, -1.0])
    down[2] = -math.sqrt(1.0 - along * along - across * across)
    normal, upright = np.empty(3), np.array([0.0, 0.0, 1.0])
    loads, force, spans = np.zeros(6), np.empty(6), np.zeros((2, 3))
    spans[0] = math.inf
    row[:] = 0.0
    row[_MARGIN] = row[_CLEARANCE] = row[_KNEES] = math.inf
    for phase in range(2):
        for step in range(conditions.steps + 1):
            # Trapezoidal rule over the phase: half weight at its ends.
            share = (0.5 if step == 0 or step == conditions.steps else 1.0) / conditions.steps
            centre = _place_legs(joints, phase, step / conditions.steps, body, legs, feet)
            area = _ground_plane(feet, normal)
            if conditions.statics:
                _gravity_direction(normal, conditions, down)
            row[_LEAN] = max(row[_LEAN], math.acos(min(1.0, max(-1.0, -down[2]))))
            row[_MARGIN] = min(
                row[_MARGIN], _loads_and_margin(feet, centre, normal, down, area, loads)
            )
            if not conditions.statics:
                loads[:3] = 1.0 / 3.0
            for leg in range(6):
                now = phase if leg < 3 else phase + 2
                _joint_forces(
                    legs[leg], leg < 3, loads[leg], down, body, conditions.printed_forces, force
                )
                row[_KNEES] = min(row[_KNEES], _knee_height(legs, feet, normal, leg))
                start, end = joints[now, leg % 3], joints[(now + 1) % 4, leg % 3]
                _add_work(force, start, end, share, conditions, body, screw, row)
            _update_foot_distances(feet, spans)
            row[_TILT] = max(row[_TILT], _angle_between(normal, upright))
            _update_foot_heights(feet, normal, phase, step, conditions.steps, row)
            if step == 0:
                normals[phase] = normal
    normals[2] = normal
    row[_SLIP] = np.max(spans[1] - spans[0])
    row[_TILT_RANGE] = _largest_angle(normals)


@njit(cache=True)
def measure_strides_into(
    joints: FloatArray,
    screws: FloatArray,
    body: BodyConstants,
    conditions: MeasureConditions,
    rows: FloatArray,
) -> None:
    """
    Write the measures of strides.

    Parameters
    ----------
    joints : (k, 4, 3, 4) array [rad, rad, m, m]
    screws : (k, 5) array
        In the order of ``SCREW_COLUMNS``.
    body : BodyConstants
    conditions : MeasureConditions
    rows : (k, 15) array
        In the order of ``MEASURE_COLUMNS``.

    """
    for i in range(len(joints)):
        _measure_stride(joints[i], screws[i], body, conditions, rows[i])
