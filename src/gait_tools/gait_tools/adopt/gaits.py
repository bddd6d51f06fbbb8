# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Choice of a controller and its parameters by the size of a robot and its foot workspaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import math
from typing import Any

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.kinematics.foot_workspace import FootWorkspace
from gait_core.kinematics.forward_kinematics import com_positions, link_poses
from gait_core.kinematics.leg_ik import LegKinematics
from gait_core.kinematics.sole_contacts import sole_extent
from gait_core.robot.model import RobotModel
from gait_tools.adopt.legs import YAW, FoundLeg

GRAVITY = 9.81
PHASE_CPG, ZMP_WALK = 'phase_cpg', 'zmp_walk'
"""Controllers: gaits by phase lags for four or more legs, balanced footsteps for two."""
MIN_LEGS_WITHOUT_BALANCE = 4
"""Smallest number of legs with which a robot walks without feedback of its balance."""
TWO_LEGS = 2
_FREQUENCY_FACTOR = 0.415
"""Frequency of the gait times sqrt(leg height / gravity), from a1: 2.5 Hz at 0.27 m."""
_TROT_DUTY = 0.75
"""Duty factor of a trot; robots with heavy legs fall in a trot with a lower one."""
_TRIPOD_DUTY = 0.55
_LIFT_SHARE = 0.11
"""Lift of a foot as a share of the leg height."""
_SPRAWLED_LIFT_SHARE = 0.35
"""Lift of a foot of a sprawled leg as a share of the leg height."""
_MAX_FREQUENCY = 2.5
"""Upper bound of the frequency [Hz]."""
_HEADING_GAIN, _SPEED_GAIN, _BIPED_HEADING_GAIN = 1.2, 0.6, 0.6
"""Gains of heading and speed, and of the heading on two legs [1/s]. With a heading gain of 0.6 a
hexapod at its joint speed limits drifted by 8 degrees; with a gain of 2, trots oscillate."""
_JACOBIAN_CUTOFF = 1e-3
"""Smallest singular value of a Jacobian that counts, relative to the largest: without it, joints
that are parallel but for rounding would seem to move the foot in another direction."""
_WORKSPACE_SHARE = 0.8
"""Share of a foot's workspace that strides may use."""
_STEP_TIME_CONSTANTS, _STEP_LIFT_SHARE = 2.7, 0.06
"""Step time in time constants sqrt(height / gravity) of the inverted pendulum, and lift of a foot
as a share of the leg height."""
_MIN_BIPED_JOINTS, _MIN_BIPED_SOLE = 5, 0.02
"""Smallest number of joints of a leg and smallest size of a sole [m] for balance."""
_LEG_SHARE = 0.98
"""Height of the base as a share of its height on stretched legs; a lower stance is kept."""
_MAX_STEP_TURN = 0.3
"""Largest turn of a foot in a step [rad]."""
_CPG_VARIANTS = ((1.0, 1.0), (0.8, 0.75), (0.65, 0.6))
"""Variants of a gait: factors on frequency and lift."""
_BIPED_VARIANTS = ((1.0, 1.0, 1.0), (1.15, 0.75, 0.85), (1.0, 1.0, 0.75))
"""Variants of a walk on two legs: factors on step time, lift and speed."""

Gait = dict[str, Any]


def propose_gait(
    robot: RobotModel, legs: Sequence[FoundLeg], spaces: Mapping[str, FootWorkspace]
) -> tuple[str, Gait, list[str]]:
    """
    Return the controller, its parameters and doubts (lines for the user) about a robot.

    The controller is empty if none of this suite can walk the robot.
    """
    if len(legs) >= MIN_LEGS_WITHOUT_BALANCE:
        return PHASE_CPG, _many_legged_gait(robot, legs, spaces), []
    lacks = _missing_for_balance(robot)
    if lacks:
        doubt = f'{lacks}: no controller of this suite walks with it, the robot holds its stance; '
        return '', {}, [f'{doubt}to write a controller, see doc/add_a_controller.md']
    return ZMP_WALK, _biped_gait(robot, legs, spaces), []


def gait_variants(controller: str, gait: Gait) -> Iterator[Gait]:
    """Yield the gait, then variants to try if it does not follow its command."""
    if controller == ZMP_WALK:
        for time, lift, speed in _BIPED_VARIANTS:
            yield {
                **gait,
                'step_time': round(time * gait['step_time'], 2),
                'stride_height': round(lift * gait['stride_height'], 3),
                'max_forward': round(speed * gait['max_forward'], 2),
            }
        return
    for pace, lift in _CPG_VARIANTS:
        yield {
            **gait,
            'frequency': round(pace * gait['frequency'], 2),
            'stride_height': round(lift * gait['stride_height'], 3),
            'max_forward': round(pace * gait['max_forward'], 2),
            'max_sideways': round(pace * gait['max_sideways'], 2),
        }


def _many_legged_gait(
    robot: RobotModel, legs: Sequence[FoundLeg], spaces: Mapping[str, FootWorkspace]
) -> Gait:
    """Return a trot for four legs, a tripod for more, with strides that the feet can reach."""
    height = leg_height(robot)
    has_four_legs = len(legs) == MIN_LEGS_WITHOUT_BALANCE
    gait, duty = ('trot', _TROT_DUTY) if has_four_legs else ('tripod', _TRIPOD_DUTY)
    lift = (
        _SPRAWLED_LIFT_SHARE if any(found_leg.is_sprawled for found_leg in legs) else _LIFT_SHARE
    )
    frequency = min(_FREQUENCY_FACTOR * math.sqrt(GRAVITY / height), _MAX_FREQUENCY)
    ahead, aside = _smallest_workspace(spaces)
    up = min(space.up for space in spaces.values())
    # In the swing a foot returns by the way that it went back in the stance: its mean speed is
    # d / (1 - d) times that of the robot.
    forward, sideways = ((1.0 - duty) / duty * _foot_speeds(robot)).tolist()
    return {
        'gait': gait,
        'duty_factor': duty,
        'frequency': round(frequency, 2),
        'stride_height': round(min(lift * height, 0.5 * up), 3),
        'max_forward': round(
            min(2.0 * _WORKSPACE_SHARE * ahead * frequency / duty, forward, 3.0), 2
        ),
        'max_sideways': round(
            min(2.0 * _WORKSPACE_SHARE * aside * frequency / duty, sideways, 2.0), 2
        ),
        'heading_gain': _HEADING_GAIN,
        'speed_gain': _SPEED_GAIN,
    }


def _foot_speeds(robot: RobotModel) -> FloatArray:
    """Return the largest speeds along x and y of the slowest foot, (2,) [m/s]."""
    speeds = np.full(2, np.inf)
    for leg in robot.legs:
        kinematics = LegKinematics(robot, leg.name)
        jacobian = kinematics.jacobian(robot.stance[kinematics.columns])
        limits = np.array([[robot.joint[name].velocity] for name in leg.joints])
        # Joint speeds for a foot that moves along x or y at 1 m/s.
        joint_speeds = np.abs(np.linalg.pinv(jacobian[:3], rcond=_JACOBIAN_CUTOFF)[:, :2])
        needed = joint_speeds > 1e-6
        allowed = np.where(needed, limits / np.where(needed, joint_speeds, 1.0), np.inf)
        speeds = np.minimum(speeds, allowed.min(axis=0))
    return speeds


def _biped_gait(
    robot: RobotModel, legs: Sequence[FoundLeg], spaces: Mapping[str, FootWorkspace]
) -> Gait:
    """Return a walk whose step time is that of an inverted pendulum of the robot's height."""
    com_height = float(
        com_positions(robot, robot.joint_stance)[2] - sole_points(robot)[:, 2].mean()
    )
    time = _STEP_TIME_CONSTANTS * math.sqrt(com_height / GRAVITY)
    ahead, aside = _smallest_workspace(spaces)
    up = min(space.up for space in spaces.values())
    turns = all(YAW in found_leg.roles for found_leg in legs)
    return {
        'leg_share': _LEG_SHARE,
        'step_time': round(time, 2),
        'stride_height': round(min(_STEP_LIFT_SHARE * leg_height(robot), 0.5 * up), 3),
        # With a step of length l, one foot is l / 2 ahead of its hip and the other l / 2 behind:
        # the workspace allows l = 2 ahead, of which 3/4 are used. Sideways one step covers the
        # distance of two, so that each foot gets l beside its hip: l = aside, of which 1/2.
        'max_forward': round(min(1.5 * _WORKSPACE_SHARE * ahead / time, 1.0), 2),
        'max_sideways': round(min(0.5 * _WORKSPACE_SHARE * aside / time, 0.5), 2),
        'max_yaw_rate': round(_MAX_STEP_TURN / time, 2) if turns else 0.0,
        'capture_gain': 1.0,
        'heading_gain': _BIPED_HEADING_GAIN if turns else 0.0,
    }


def _missing_for_balance(robot: RobotModel) -> str:
    """Return the reason why a robot cannot balance on its legs, or ''."""
    if len(robot.legs) != TWO_LEGS:
        return f'it has {len(robot.legs)} legs'
    for leg in robot.legs:
        if len(leg.joints) < _MIN_BIPED_JOINTS:
            return f'leg {leg.name} has {len(leg.joints)} joints, not {_MIN_BIPED_JOINTS}'
        length, width = np.ptp(sole_extent(robot, leg), axis=0).tolist()
        if not robot.links[robot.link_index[leg.sole]].collisions:
            return f'the sole of leg {leg.name} has no collision shape'
        if min(length, width) < _MIN_BIPED_SOLE:
            return (
                f'the sole of leg {leg.name} is {1e3 * length:.0f} x {1e3 * width:.0f} mm, '
                f'expected at least {1e3 * _MIN_BIPED_SOLE:.0f} mm on both sides'
            )
    return ''


def _smallest_workspace(spaces: Mapping[str, FootWorkspace]) -> tuple[float, float]:
    """Return the distances that every foot can move forward and back, and to both sides [m]."""
    ahead = min(min(space.forward, space.back) for space in spaces.values())
    aside = min(min(space.left, space.right) for space in spaces.values())
    return ahead, aside


def leg_height(robot: RobotModel) -> float:
    """Return the mean height of the first joints of the legs over the feet in the stance [m]."""
    poses = link_poses(robot, robot.joint_stance)
    axes = [poses[robot.link_index[robot.joint[leg.joints[0]].child], 2, 3] for leg in robot.legs]
    return float(np.mean(axes) - sole_points(robot)[:, 2].mean())


def sole_points(robot: RobotModel) -> FloatArray:
    """Return the sole points in the stance, in the base frame, (L, 3) [m]."""
    poses = link_poses(robot, robot.joint_stance)
    rows = [robot.link_index[leg.sole] for leg in robot.legs]
    points = [
        poses[row, :3, :3] @ np.array(leg.sole_point) + poses[row, :3, 3]
        for row, leg in zip(rows, robot.legs, strict=True)
    ]
    return np.array(points)
