# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Published energy of a leg between two postures, as printed and as coded.

Its rotary part is not work: a force is summed over the *area* that two joint ranges span. So a
joint moves almost without energy if the other one hardly moves. The module ``strides.measures``
computes work.

References
----------
Cafarelli (2017), chapter 3; class ``Power`` of appendix B.

"""

from __future__ import annotations

import math

from numba import njit
import numpy as np

from gait_core.arrays import FloatArray
from gait_studies.cafarelli2017.strides.hexapod import WATTS_PER_RPM, BodyConstants
from gait_studies.cafarelli2017.strides.rules import RuleFlags

# Sums may be reordered and contracted, which lets them run in vector registers.
_FAST = {'reassoc', 'contract', 'nsz'}


@njit(cache=True)
def screw_power(
    hip: float,
    knee: float,
    upper_change: float,
    lower_change: float,
    stance: bool,
    body: BodyConstants,
) -> float:
    """
    Return the power of both screws that change lengths within 1 s at a fixed posture [W].

    References
    ----------
    Cafarelli (2017), equations 3.4 to 3.12. The carried weight is the body's and that of the six
    segments of the other tripod, a third per leg.

    """
    # Weight of a segment (m_l g), and what a leg in stance carries (m_b g / 3 and two segments).
    segment = body.segment_mass * body.gravity
    carried = (body.body_mass + 6.0 * body.segment_mass) * body.gravity / 3.0
    # Eqs. 3.4 and 3.5, in stance and in swing: F_l0 along the upper segment; sin is cos(90 - q0).
    upper_force = (carried if stance else 2.0 * segment) * math.sin(hip)
    # Eqs. 3.6 and 3.7, in stance and in swing: F_l1 along the lower segment.
    lower_force = (carried + segment if stance else segment) * math.sin(hip + knee)
    # Eqs. 3.8 and 3.9: thread angle alpha plus friction angle theta_f.
    angle = math.atan2(body.lead, body.screw_diameter * math.pi) + math.atan(body.screw_friction)
    # Eqs. 3.10 and 3.12, per F dl: tau = F d/2 tan(alpha + theta_f), RPM = 60 dl / lead.
    per_newton_metre = 0.5 * body.screw_diameter * math.tan(angle) * 60.0 / body.lead
    # Eq. 3.11: P_p, as coded by magnitudes: shortening costs as much as lengthening.
    work = abs(upper_force * upper_change) + abs(lower_force * lower_change)
    return work * per_newton_metre * WATTS_PER_RPM


@njit(cache=True)
def _sample_range(start: float, end: float, rules: RuleFlags, out: FloatArray) -> int:
    """Write the left ends of the intervals from start to end; return their number."""
    step = (end - start) / rules.intervals
    if not rules.accumulated:
        for i in range(rules.intervals):
            out[i] = start + i * step
        return rules.intervals
    angle, count = start, 0
    # Ranges near the resolution of a double never end in the original: the buffer bounds them.
    while angle < end and count < len(out):
        out[count] = angle
        angle += step
        count += 1
    return count


@njit(cache=True, fastmath=_FAST)
def _sum_of_magnitudes(c0: float, s0: float, upper: float, knees: FloatArray, count: int) -> float:
    """Return the sum over knee angles of the force as coded, at one hip angle."""
    # Eqs. 3.21 and 3.22 with the magnitudes |f_x|, |f_z| of Eq. 3.36. A term is the sum of both
    # components of J^T F, the torques of hip and knee; force_sum has its formula.
    total = 0.0
    fixed_x, fixed_z = 2.0 - upper * s0, upper * c0
    c1, s1, cosines, sines = knees[0], knees[1], knees[2], knees[3]
    for j in range(count):
        x = abs(cosines[j] * c0 - sines[j] * s0)
        z = abs(cosines[j] * s0 + sines[j] * c0)
        along = fixed_x - (s0 * c1[j] + c0 * s1[j])
        across = fixed_z + (c0 * c1[j] - s0 * s1[j])
        total += abs(x * along + z * across)
    return total


@njit(cache=True, fastmath=_FAST)
def _sum_of_signed(c0: float, s0: float, upper: float, knees: FloatArray, count: int) -> float:
    """Return the sum over knee angles of the force as printed, at one hip angle."""
    # Eqs. 3.21 and 3.22 with signed f_x and f_z of Eq. 3.36.
    total = 0.0
    fixed_x, fixed_z = 2.0 - upper * s0, upper * c0
    c1, s1, cosines, sines = knees[0], knees[1], knees[2], knees[3]
    for j in range(count):
        x = cosines[j] * c0 - sines[j] * s0
        z = cosines[j] * s0 + sines[j] * c0
        along = fixed_x - (s0 * c1[j] + c0 * s1[j])
        across = fixed_z + (c0 * c1[j] - s0 * s1[j])
        total += x * along + z * across
    return total


@njit(cache=True)
def force_sum(
    hips: FloatArray,
    knees: FloatArray,
    lengths: tuple[float, float],
    stance: bool,
    body: BodyConstants,
    rules: RuleFlags,
) -> float:
    r"""
    Return the sum of the generalised force over a grid of hip and knee angles.

    With X, Z the components of equation 3.36, whose third one equals the first, one point is

    .. math::
        |X (2 - 2 l_1 s_{01} - l_0 s_0) + Z (2 l_1 c_{01} + l_0 c_0)|

    X and Z are linear in the cosine and sine of the hip angle; what multiplies them depends on the
    knee alone: ``a cos(theta) = l0 + l1 c1`` and ``a sin(theta) = l1 s1`` (Eqs. 3.25 and 3.26).
    """
    upper, lower = lengths
    segment = body.segment_mass * body.gravity
    carried = (body.body_mass + 6.0 * body.segment_mass) * body.gravity / 3.0 if stance else 0.0
    # theta and beta are angles between the upper segment and a line to the foot: corners of
    # triangles. The coded rule (True) has their law of cosines; as printed, Eqs. 3.26 and 3.31
    # have the wrong sign.
    sign = 1.0 if rules.corner_angles else -1.0
    count = len(knees)
    table = np.empty((4, count))
    # Rows 0 and 1: l1 cos(q1), l1 sin(q1), twice, for the Jacobian J = [J_v; J_w] (Eqs. 3.17 to
    # 3.20). Rows 2 and 3: what cos(q0) and sin(q0) multiply in f_x and f_z of the body (Eqs. 3.23
    # to 3.26, a W), the upper segment (Eqs. 3.28 to 3.31, b w) and the lower one (Eqs. 3.33 and
    # 3.34). The moments (Eqs. 3.27, 3.32 and 3.35) equal f_x.
    for j in range(count):
        c1, s1 = math.cos(knees[j]), math.sin(knees[j])
        table[0, j], table[1, j] = 2.0 * lower * c1, 2.0 * lower * s1
        table[2, j] = (
            sign * (carried * (upper + lower * c1) + segment * (0.75 * upper + lower * c1))
            + 0.75 * lower * segment * c1
        )
        table[3, j] = (carried + 1.75 * segment) * lower * s1
    # Eq. 3.37: the double integral over q1 and q0, as a sum of left ends.
    total = 0.0
    for hip in hips:
        c0, s0 = math.cos(hip), math.sin(hip)
        if rules.magnitudes:
            total += _sum_of_magnitudes(c0, s0, upper, table, count)
        else:
            total += _sum_of_signed(c0, s0, upper, table, count)
    return total


@njit(cache=True)
def phase_power(
    start: FloatArray, end: FloatArray, stance: bool, body: BodyConstants, rules: RuleFlags
) -> float:
    """
    Return the published power of one leg in one phase of 1 s, in thesis units.

    These are no watts: as published, the power of the screws in W is added to a rotary part that
    sums torques over an area of angles.

    Parameters
    ----------
    start, end : (4,) arrays [rad, rad, m, m]
        Postures.
    stance : bool
        Whether the leg carries the robot.

    References
    ----------
    Cafarelli (2017), equations 3.3, 3.37 to 3.39; ``calculatePowerBetween`` of appendix B.

    """
    upper, lower = end[2] - start[2], end[3] - start[3]
    screws_first: float = screw_power(start[0], start[1], upper, lower, stance, body)
    screws_last: float = screw_power(end[0], end[1], upper, lower, stance, body)
    hip_range, knee_range = abs(end[0] - start[0]), abs(end[1] - start[1])
    if rules.line_for_one_joint and hip_range == 0.0 and knee_range == 0.0:
        return screws_first
    # Eq. 3.37 sums over the area dq0 dq1. As coded, a joint that rests makes it a line integral:
    # one sample of width 1.
    hip_low, knee_low = min(start[0], end[0]), min(start[1], end[1])
    hips, knees = np.empty(2 * rules.intervals + 2), np.empty(2 * rules.intervals + 2)
    hip_step, knee_step = hip_range / rules.intervals, knee_range / rules.intervals
    hip_count = _sample_range(hip_low, max(start[0], end[0]), rules, hips)
    knee_count = _sample_range(knee_low, max(start[1], end[1]), rules, knees)
    if rules.line_for_one_joint and hip_range == 0.0:
        hips[0], hip_count, hip_step = hip_low, 1, 1.0
    if rules.line_for_one_joint and knee_range == 0.0:
        knees[0], knee_count, knee_step = knee_low, 1, 1.0
    hips, knees = hips[:hip_count], knees[:knee_count]
    # Eq. 3.39: RPM of both joints in 1 s.
    rpm = (hip_range + knee_range) * 180.0 / math.pi * 60.0 / 360.0
    # Eq. 3.38: P_r = F RPM 0.1047, at the first and at the last lengths.
    scale = hip_step * knee_step * rpm * WATTS_PER_RPM
    rotary_first: float = scale * force_sum(hips, knees, (start[2], start[3]), stance, body, rules)
    rotary_last = rotary_first
    if upper != 0.0 or lower != 0.0:
        rotary_last = scale * force_sum(hips, knees, (end[2], end[3]), stance, body, rules)
    # Eq. 3.3: P_i = P_r + P_p; section 5.2.6 pairs the ends, and the lesser sum counts.
    if rules.same_end:
        return min(rotary_first + screws_first, rotary_last + screws_last)
    return min(rotary_first + screws_last, rotary_last + screws_first)


@njit(cache=True)
def stride_power(
    joints: FloatArray, body: BodyConstants, rules: RuleFlags, out: FloatArray
) -> float:
    """
    Write the power of each phase and leg, (4, 3), and return their sum, as ``phase_power``.

    Parameters
    ----------
    joints : (4, 3, 4) array [rad, rad, m, m]

    """
    # Eq. 3.2: sum over the four phases, of the three legs of the tripod.
    total = 0.0
    for phase in range(4):
        for leg in range(3):
            out[phase, leg] = phase_power(
                joints[phase, leg], joints[(phase + 1) % 4, leg], phase < 2, body, rules
            )
            total += out[phase, leg]
    return total
