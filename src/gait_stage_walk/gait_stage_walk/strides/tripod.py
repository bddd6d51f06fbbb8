# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Strides of a hexapod with extending legs: joints of the three legs of a tripod over a cycle.

A stride has four keyframes, at the start of the phases front propel, back propel, lift and
descend. ``joint_stride`` moves joints between postures; ``foot_stride`` moves feet, together and
without slip in stance, and computes the joints by inverse kinematics.

References
----------
Cafarelli (2017), section 5.2.1.

"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError
from gait_stage_walk.strides.cycle import PHASES, knot_phases, minimum_jerk
from gait_stage_walk.strides.leg import (
    HIP,
    KNEE,
    are_reachable,
    feet_from_joints,
    joints_from_feet,
)

LEG_COUNT = 3
POSTURE_NUMBERS = PHASES * LEG_COUNT * 4
"""Genes of a stride, at ``12 * posture + 4 * leg + k``: hip, knee [deg], lengths [cm]."""
FOOT_NUMBERS = PHASES * LEG_COUNT * 2
"""Numbers of feet, at ``6 * posture + 2 * leg + k``: distance ahead of and below the hip [m]."""
_ROLL_ITERATIONS = 8
"""
Iterations of the fixed point of a rolling foot.

Each reduces the error by the ratio of radius to reach, about a tenth.
"""
_MIN_REACH = 1e-9
"""Smallest reach by which lengths are divided [m]."""


@dataclass(frozen=True, kw_only=True)
class Stride:
    """
    Motion of three legs in a cycle.

    Attributes
    ----------
    joints : (KNOTS, 3, 4) array [rad, m]
        Joints at the knots.
    lift_off_phase : float
        Lift-off in phases of the cycle, which run from 0 to 4; touch-down is at 0.
    travel : float [m]
        Distance that the body moves in a cycle by both tripods, without slip.

    """

    joints: FloatArray
    lift_off_phase: float
    travel: float


@dataclass(frozen=True, kw_only=True)
class Extension:
    """
    Share of a change of leg reach that telescoping segments make; the knee makes the rest.

    Attributes
    ----------
    standing, lifting : float
        Exponents of the reach: 0 keeps the lengths constant, 1 the knee angle. ``standing`` is for
        the motion of the foot along the ground, ``lifting`` for its height over the ground.
    shortest, longest : float [m]
        Limits of a length; beyond them the knee makes the change of reach.

    """

    standing: float = 0.0
    lifting: float = 0.0
    shortest: float = 0.06
    longest: float = 0.12


def postures_from_genes(genes: FloatArray) -> FloatArray:
    """
    Return postures, (4, 3, 4) [rad, m], from the 48 genes of a stride [deg, cm].

    Raises
    ------
    ConfigurationError
        For a wrong count of numbers.

    """
    numbers = np.asarray(genes, dtype=np.float64)
    if numbers.shape != (POSTURE_NUMBERS,):
        raise ConfigurationError(
            f"parameter 'postures' has {numbers.size} values; nearest valid: {POSTURE_NUMBERS}"
        )
    table: FloatArray = numbers.reshape(PHASES, LEG_COUNT, 4).copy()
    table[..., :2] = np.radians(table[..., :2])
    table[..., 2:] /= 100.0
    return table


def joint_stride(postures: FloatArray, radius: float) -> Stride:
    """
    Return the stride that moves joints from posture to posture, at rest in each.

    Joints move on straight lines in joint space with minimum jerk, on the path of the published
    model.

    Parameters
    ----------
    postures : (4, 3, 4) array [rad, m]
    radius : float [m]
        Radius of a foot, which rolls.

    """
    phase = knot_phases()
    first = phase.astype(np.int64)
    share = minimum_jerk(phase - first)[:, None, None]
    start, end = postures[first], postures[(first + 1) % PHASES]
    strokes = _ground_ahead(postures[0], radius) - _ground_ahead(postures[2], radius)
    return Stride(
        joints=start + share * (end - start), lift_off_phase=2.0, travel=2.0 * float(strokes.min())
    )


def foot_stride(
    feet: FloatArray,
    lengths: FloatArray,
    duty: float,
    radius: float,
    extension: Extension | None = None,
    beyond: str = 'refuse',
) -> Stride:
    """
    Return the stride that moves feet, with continuous velocity and acceleration.

    In stance a foot moves on a parabola in time through keyframes 1, 2 and 3. If these are evenly
    spaced on a line, the body moves at constant speed, and legs with equal strokes do not slip. In
    swing it moves on the polynomial of degree six that continues velocity and acceleration and
    passes keyframe 4 at mid-swing.

    Parameters
    ----------
    feet : (4, 3, 2) array [m]
        Feet ahead of and below the hip at the keyframes; for a foot with a radius, its centre.
    lengths : (4, 3, 2) array [m]
        Lengths of upper and lower segments, with minimum jerk in between.
    duty : float
        Duty factor, at least 0.5.
    radius : float [m]
        Radius of a foot: it rolls, so that its centre moves along the ground as the leg turns.
    extension : Extension, optional
        Change of the lengths with the reach; ``lengths`` then hold at mid-stance.
    beyond : str
        For a foot out of reach: ``refuse``, or ``nearest`` for the nearest point.

    Raises
    ------
    ConfigurationError
        For a foot out of reach with ``refuse``.

    """
    stance = PHASES * duty
    paths = _foot_paths(feet, stance)
    varying_lengths = _blend_lengths(lengths)
    if extension is not None:
        varying_lengths = _extend_lengths(paths, feet[1], lengths[1], extension)
    # A foot of radius r that rolls by an angle moves its centre by r times the angle: fixed point
    # of the leg angle, relative to mid-stance, and the centre.
    centres = paths
    middle_angle = _lower_leg_angle(feet[1], lengths[1])
    for _ in range(_ROLL_ITERATIONS if radius > 0.0 else 0):
        rolled = _lower_leg_angle(centres, varying_lengths) - middle_angle
        centres = paths + np.stack([radius * rolled, np.zeros_like(rolled)], axis=-1)
        if extension is not None:
            varying_lengths = _extend_lengths(centres, feet[1], lengths[1], extension)
    if beyond == 'refuse':
        _check_reach(centres, varying_lengths)
    strokes = feet[0, :, 0] - feet[2, :, 0]
    return Stride(
        joints=joints_from_feet(centres, varying_lengths),
        lift_off_phase=stance,
        travel=float(strokes.min()) / duty,
    )


def level_walk_feet(stroke: float, height: float, lift: float, offset: float) -> FloatArray:
    """Return the feet, (4, 3, 2) [m], of a level walk with equal motions of all legs."""
    ahead = offset + np.array([0.5 * stroke, 0.0, -0.5 * stroke, 0.0])
    below = height - np.array([0.0, 0.0, 0.0, lift])
    return np.tile(np.stack([ahead, below], axis=-1)[:, None], (1, LEG_COUNT, 1))


def _ground_ahead(posture: FloatArray, radius: float) -> FloatArray:
    """
    Return the distance of a point of the ground ahead of each hip, up to a constant, (3,) [m].

    The centre of a stance foot rolls over the ground by the radius times the angle of the leg;
    without that part, its motion relative to the hip is the motion of the ground.
    """
    return np.asarray(
        feet_from_joints(posture)[..., 0] - radius * (posture[:, HIP] + posture[:, KNEE])
    )


def _lower_leg_angle(feet: FloatArray, lengths: FloatArray) -> FloatArray:
    """Return the angle of the lower segment, hip plus knee, (..., 3) [rad]."""
    joints = joints_from_feet(feet, lengths)
    return np.asarray(joints[..., HIP] + joints[..., KNEE])


def _foot_paths(feet: FloatArray, stance: float) -> FloatArray:
    """Return the paths of the feet over the cycle, (KNOTS, 3, 2) [m]."""
    phase = knot_phases()
    start, middle, end, top = feet
    # Stance: start + slope t + bend t^2, t from 0 to 1.
    bend = 2.0 * (start + end - 2.0 * middle)
    slope = end - start - bend
    on_ground = (phase <= stance)[:, None, None]
    t = np.minimum(phase / stance, 1.0)[:, None, None]
    standing = start + t * (slope + t * bend)
    # Swing: quintic with the velocities and accelerations of the parabola at both ends, scaled to
    # the duration of the swing.
    ratio = (PHASES - stance) / stance
    s = np.clip((phase - stance) / (PHASES - stance), 0.0, 1.0)[:, None, None]
    swing = _quintic(
        end,
        (slope + 2.0 * bend) * ratio,
        2.0 * bend * ratio**2,
        start,
        slope * ratio,
        2.0 * bend * ratio**2,
    )
    flying = np.asarray(
        np.polynomial.polynomial.polyval(s, swing[..., None, :, :], tensor=False), dtype=np.float64
    )
    # A term (s (1 - s))^3 leads the middle through keyframe 4. It leaves position, velocity and
    # acceleration at both ends.
    top_error = top - np.polynomial.polynomial.polyval(0.5, swing)
    flying = flying + top_error * 64.0 * (s * (1.0 - s)) ** 3
    return np.asarray(np.where(on_ground, standing, flying))


def _quintic(  # type: ignore[no-untyped-def]
    p0, v0, a0, p1, v1, a1
) -> FloatArray:
    """Return the coefficients, lowest power first, of the quintic with these ends at 0 and 1."""
    d, dv, da = p1 - p0 - v0 - 0.5 * a0, v1 - v0 - a0, a1 - a0
    return np.stack(
        [
            p0,
            v0,
            0.5 * a0,
            10.0 * d - 4.0 * dv + 0.5 * da,
            -15.0 * d + 7.0 * dv - da,
            6.0 * d - 3.0 * dv + 0.5 * da,
        ]
    )


def _blend_lengths(lengths: FloatArray) -> FloatArray:
    """Return lengths over the cycle, (KNOTS, 3, 2) [m], with minimum jerk between keyframes."""
    phase = knot_phases()
    first = phase.astype(np.int64)
    share = minimum_jerk(phase - first)[:, None, None]
    return np.asarray(lengths[first] + share * (lengths[(first + 1) % PHASES] - lengths[first]))


def _extend_lengths(
    feet: FloatArray, middle: FloatArray, lengths: FloatArray, extension: Extension
) -> FloatArray:
    """Return lengths that change with the reach of feet, (KNOTS, 3, 2) [m] both."""
    # Reach of the point of the ground below the foot, and of the foot itself; their ratios to the
    # reach at mid-stance scale the lengths with the exponents of ``Extension``.
    ground = np.hypot(feet[..., 0], middle[:, 1])
    reach = np.hypot(feet[..., 0], feet[..., 1])
    standing = ground / np.maximum(np.hypot(middle[:, 0], middle[:, 1]), _MIN_REACH)
    lifting = reach / np.maximum(ground, _MIN_REACH)
    scale = standing**extension.standing * lifting**extension.lifting
    return np.clip(lengths * scale[..., None], extension.shortest, extension.longest)


def _check_reach(feet: FloatArray, lengths: FloatArray) -> None:
    """Raise ConfigurationError for the first foot that is out of reach of its leg."""
    is_beyond = ~are_reachable(feet, lengths)
    if is_beyond.any():
        at, leg = np.argwhere(is_beyond)[0]
        ahead, below = feet[at, leg]
        longest, shortest = lengths[at, leg].sum(), abs(np.diff(lengths[at, leg])[0])
        reach = float(np.hypot(ahead, below))
        nearest = longest if reach > longest else shortest
        raise ConfigurationError(
            f'leg {leg + 1} cannot reach a foot {reach:.4g} m from its hip ({ahead:.4g} m ahead, '
            f'{below:.4g} m below); nearest valid: {nearest:.4g} m'
        )
