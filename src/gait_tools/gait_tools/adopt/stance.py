# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Stance for a robot without one: knees bent, feet under the hips or beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import dataclasses
import itertools

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.kinematics.forward_kinematics import com_positions, link_poses
from gait_core.kinematics.leg_ik import LegKinematics, LegSolution
from gait_core.robot.inference import joint_axes_at_zero
from gait_core.robot.model import RobotModel
from gait_tools.adopt.gaits import TWO_LEGS, sole_points
from gait_tools.adopt.legs import ABDUCTION, ANKLE, HIP, KNEE, YAW, FoundLeg

CROUCHED_HEIGHT = 0.75
"""Height of a hip over its foot as a share of the stretched leg: knees bend by 83 degrees."""
UPRIGHT_HEIGHT = 0.92
"""The same for a robot on two legs."""
_FOOT_OUT_SHARE, _FOOT_DOWN_SHARE = 0.55, 0.5
"""Position of a sprawled leg's foot beside and below its hip, as shares of its bending length."""
_FREE_MARGIN = 0.3
"""Distance to a joint's limits up to which a solution is rated higher [rad or m]."""


def propose_stance(
    robot: RobotModel, legs: Sequence[FoundLeg], height: float = 0.0
) -> tuple[dict[str, float], list[str]]:
    """
    Return the standing positions of all joints, and doubts.

    Joints outside the legs keep the positions of the description. All feet are shifted forward or
    back until their mean is under the centre of mass.

    Parameters
    ----------
    robot : RobotModel
    legs : sequence of FoundLeg
    height : float
        Share of the stretched leg; 0: ``UPRIGHT_HEIGHT`` on at most two legs, else
        ``CROUCHED_HEIGHT``.

    """
    height = height or (UPRIGHT_HEIGHT if len(legs) <= TWO_LEGS else CROUCHED_HEIGHT)
    stance = dict(robot.nominal_stance)
    kinematics = {
        found_leg.leg.name: LegKinematics(robot, found_leg.leg.name) for found_leg in legs
    }
    targets = {found_leg.leg.name: _foot_target(robot, found_leg, height) for found_leg in legs}
    doubts: list[str] = []
    shift = 0.0
    # The centre of mass moves a little with the legs: the second shift corrects the first.
    for _ in range(3):
        doubts = []
        for found_leg in legs:
            place = targets[found_leg.leg.name] + np.array([shift, 0.0, 0.0])
            found, more = _best_solution(
                robot, found_leg, kinematics[found_leg.leg.name], place, len(legs)
            )
            doubts += more
            stance.update(zip(found_leg.leg.joints, map(float, found.positions), strict=True))
        shift += _com_ahead_of_feet(dataclasses.replace(robot, nominal_stance=stance))
    if abs(shift) > 0.1 * max(leg.length for leg in kinematics.values()):
        doubts.append(
            f'the centre of mass is {1e3 * shift:+.0f} mm forward of the middle of the hips: all '
            'feet are shifted by that distance'
        )
    return stance, [*doubts, *_asymmetry_doubts(robot, stance)]


def _com_ahead_of_feet(robot: RobotModel) -> float:
    """Return the distance of the centre of mass forward of the mean of the feet [m]."""
    com = com_positions(robot, robot.joint_stance)
    return float(com[0] - sole_points(robot)[:, 0].mean())


def _foot_target(robot: RobotModel, found_leg: FoundLeg, height: float) -> FloatArray:
    """Return the target of the sole point in the base frame, (3,) [m]."""
    axes = joint_axes_at_zero(robot)
    joints = dict(zip(found_leg.roles, found_leg.leg.joints, strict=True))
    hip_axis, hip = axes[joints.get(HIP, found_leg.leg.joints[0])]
    zero = LegKinematics(robot, found_leg.leg.name).forward(
        [robot.nominal_stance.get(name, 0.0) for name in found_leg.leg.joints]
    )[0]
    places = [hip] + [axes[joints[role]][1] for role in (KNEE, ANKLE) if role in joints]
    bending = [np.linalg.norm(b - a) for a, b in itertools.pairwise([*places, zero])]
    level = np.array([hip_axis[0], hip_axis[1], 0.0])
    level /= max(float(np.linalg.norm(level)), 1e-9)
    if found_leg.is_sprawled:
        out = hip - axes[found_leg.leg.joints[0]][1]
        out = np.array([out[0], out[1], 0.0])
        if np.linalg.norm(out) < 1e-3:
            out = np.array([0.0, found_leg.side, 0.0])
        out /= np.linalg.norm(out)
        length = float(np.sum(bending))
        return np.asarray(
            hip + _FOOT_OUT_SHARE * length * out - np.array([0.0, 0.0, _FOOT_DOWN_SHARE * length])
        )
    # The lateral offset stays: a leg that bends in one plane cannot move its foot out of it.
    aside = float((zero - hip) @ level) * level
    if ANKLE in joints:
        *bent, foot = bending
        drop = height * float(np.sum(bent)) + max(float(places[-1][2] - zero[2]), 0.0)
        forward = float(zero[0] - places[-1][0])
        return np.asarray(hip + aside + np.array([forward, 0.0, -drop]))
    return np.asarray(hip + aside - np.array([0.0, 0.0, height * float(np.sum(bending))]))


def _best_solution(
    robot: RobotModel, found_leg: FoundLeg, leg: LegKinematics, target: FloatArray, legs: int
) -> tuple[LegSolution, list[str]]:
    """Return the best joint positions for a foot target, and doubts about them."""
    level = _sole_attitude(robot, found_leg)
    found = [leg.solve(target, level, start=start) for start in _initial_guesses(robot, found_leg)]
    found.append(leg.solve(target, level, thorough=True))
    nearest = min(solution.position_error for solution in found)
    usable = [solution for solution in found if solution.position_error <= nearest + 1e-4]
    rated = sorted(
        (
            (_rate_solution(robot, found_leg, leg, solution, legs), i)
            for i, solution in enumerate(usable)
        ),
        reverse=True,
    )
    best = usable[rated[0][1]]
    doubts = []
    if best.position_error > 0.01 * leg.length:
        doubts.append(
            f'leg {found_leg.leg.name} misses its foot target by '
            f'{1e3 * best.position_error:.0f} mm: its joints or limits do not reach it'
        )
    return best, doubts


def _sole_attitude(robot: RobotModel, found_leg: FoundLeg) -> FloatArray | None:
    """Return the orientation of the sole at zero positions; None without an ankle to keep it."""
    if ANKLE not in found_leg.roles or len(found_leg.leg.joints) < 5:
        return None
    poses = link_poses(robot, robot.joint_stance)
    return np.asarray(poses[robot.link_index[found_leg.leg.sole], :3, :3])


def _initial_guesses(robot: RobotModel, found_leg: FoundLeg) -> Iterator[FloatArray]:
    """Yield initial positions of the solver with the knee bent in either direction."""
    axes = joint_axes_at_zero(robot)
    base = np.array([robot.nominal_stance.get(name, 0.0) for name in found_leg.leg.joints])
    lower = np.array([robot.joint[name].lower for name in found_leg.leg.joints])
    upper = np.array([robot.joint[name].upper for name in found_leg.leg.joints])
    for hip, knee in ((0.7, -1.4), (-0.7, 1.4), (0.0, -1.0), (0.0, 1.0), (1.4, -1.4), (-1.4, 1.4)):
        bent = base.copy()
        for i, role in enumerate(found_leg.roles):
            if role in (HIP, KNEE):
                axis = axes[found_leg.leg.joints[i]][0]
                turn = np.sign(axis[np.argmax(np.abs(axis))])
                bent[i] += turn * (hip if role == HIP else knee)
        yield np.clip(bent, lower, upper)


def _rate_solution(
    robot: RobotModel, found_leg: FoundLeg, leg: LegKinematics, solution: LegSolution, legs: int
) -> float:
    """Return the rating of a solution: distance to limits, side of the knee, little twist."""
    margin = np.minimum(solution.positions - leg.lower, leg.upper - solution.positions)
    clear = float(np.clip(margin, 0.0, _FREE_MARGIN).min())
    aside = [i for i, role in enumerate(found_leg.roles) if role in (ABDUCTION, YAW)]
    twist = float(np.abs(solution.positions[aside]).sum())
    return (
        clear / _FREE_MARGIN
        + _rate_knee(robot, found_leg, solution, legs)
        - 0.3 * twist
        - 0.02 * float(np.abs(solution.positions).sum())
        - solution.angle_error
    )


def _rate_knee(robot: RobotModel, found_leg: FoundLeg, solution: LegSolution, legs: int) -> float:
    """
    Return 0.5 for a knee on its usual side, else -0.5; 0 without a knee.

    Usual is above the foot for a sprawled leg, in front on two legs, behind on more legs.
    """
    joints = dict(zip(found_leg.roles, found_leg.leg.joints, strict=True))
    if KNEE not in joints:
        return 0.0
    positions = robot.joint_stance.copy()
    for name, value in zip(found_leg.leg.joints, solution.positions, strict=True):
        positions[robot.joint_index[name]] = value
    poses = link_poses(robot, positions)
    knee = poses[robot.link_index[robot.joint[joints[KNEE]].child], :3, 3]
    hip = poses[robot.link_index[robot.joint[joints[HIP]].child], :3, 3]
    row = robot.link_index[found_leg.leg.sole]
    sole = poses[row, :3, :3] @ np.array(found_leg.leg.sole_point) + poses[row, :3, 3]
    if found_leg.is_sprawled:
        return 0.5 if knee[2] > 0.5 * (hip[2] + sole[2]) else -0.5
    before = knee[0] > 0.5 * (hip[0] + sole[0])
    return 0.5 if before == (legs <= TWO_LEGS) else -0.5


def _asymmetry_doubts(robot: RobotModel, stance: Mapping[str, float]) -> list[str]:
    """Return doubts about mirrored joints with different positions, and about their limits."""
    apart = [
        name
        for name, (other, sign) in robot.mirror_pairs.items()
        if abs(stance[name] - sign * stance[other]) > 0.02
    ]
    if not apart:
        return []
    found = [f'left and right stand differently: {", ".join(apart)}']
    unlike = [name for name in apart if not _has_mirrored_limits(robot, name)]
    if unlike:
        name, (other, _) = unlike[0], robot.mirror_pairs[unlike[0]]
        found.append(
            f'the file limits {_format_limits(robot, name)} and its counterpart '
            f'{_format_limits(robot, other)}, which do not mirror each other; likewise '
            f'{len(unlike)} of these joints: correct them under limits in robot.yaml'
        )
    return found


def _has_mirrored_limits(robot: RobotModel, name: str) -> bool:
    """Return whether the limits of a joint and its counterpart mirror each other."""
    other, sign = robot.mirror_pairs[name]
    own, counterpart_axis = (
        robot.joint[name],
        sorted(sign * bound for bound in (robot.joint[other].lower, robot.joint[other].upper)),
    )
    return bool(np.allclose((own.lower, own.upper), counterpart_axis, atol=0.02))


def _format_limits(robot: RobotModel, name: str) -> str:
    joint = robot.joint[name]
    return f'{name} to {joint.lower:.3g} ... {joint.upper:.3g}'
