"""Choice of a walk by the size of a robot and the reach of its feet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import math
from typing import Any

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.kinematics.foot_workspace import FootWorkspace
from gait_core.kinematics.forward_kinematics import com_positions, link_poses
from gait_core.kinematics.sole_contacts import sole_extent
from gait_core.robot.model import RobotModel
from gait_tools.adopt.legs import YAW, FoundLeg

GRAVITY = 9.81
PHASE_CPG, ZMP_WALK = 'phase_cpg', 'zmp_walk'
"""Controllers: a table of gaits for four legs and more, footsteps and balance for two."""
MIN_LEGS_WITHOUT_BALANCE = 4
"""Without balance."""
TWO_LEGS = 2
_SWING_PACE = 0.415
"""Cycles per second times the root of leg height over gravity: the a1's 2.5 Hz at 0.27 m."""
_TROT_DUTY, _TRIPOD_DUTY, _LIFT_SHARE = 0.75, 0.55, 0.11
"""Share of a cycle that a foot is down, and its lift as a share of the legs' height: a trot with
long stances also carries a robot with heavy legs, which a fast one shakes until it falls."""
_SPRAWLED_LIFT_SHARE, _MAX_FREQUENCY = 0.35, 2.5
"""Lift of a leg that reaches out, whose foot else scuffs; bound of the frequency [Hz]."""
_HEADING_GAIN, _SPEED_GAIN, _BIPED_HEADING_GAIN = 1.2, 0.6, 0.6
"""Gains [1/s] with which heading and speed are held, and the heading on two legs: at 0.6 a hexapod
at the speed limits of its joints drifted by 8 degrees, at 2 trots begin to weave."""
_WORKSPACE_SHARE = 0.8
"""Share of what a foot reaches that is asked of it."""
_STEP_TIME_CONSTANTS, _STEP_LIFT_SHARE = 2.7, 0.06
"""Time of a step in time constants of the inverted pendulum, root of height over gravity, and the
lift of a foot as a share of the legs' height."""
_MIN_BIPED_JOINTS, _MIN_BIPED_SOLE = 5, 0.02
"""Joints of a leg and size of a sole [m] that balance takes."""
_LEG_SHARE = 0.98
"""Height of the walk as a share of that on stretched legs: the stance is lower and counts."""
_MAX_STEP_TURN = 0.3
"""Most that a foot turns in a step [rad]."""
_CPG_VARIANTS = ((1.0, 1.0), (0.8, 0.75), (0.65, 0.6))
"""Gaits that are tried: shares of the proposed frequency and of the feet's lift."""
_BIPED_VARIANTS = ((1.0, 1.0, 1.0), (1.15, 0.75, 0.85), (1.0, 1.0, 0.75))
"""Walks on two legs that are tried: shares of the time of a step, the feet's lift, the speed."""

Gait = dict[str, Any]


def propose_gait(
    robot: RobotModel, legs: Sequence[FoundLeg], spaces: Mapping[str, FootWorkspace]
) -> tuple[str, Gait, list[str]]:
    """
    Return controller and parameters that fit the robot and what its feet reach, and doubts.

    The controller is empty where none of ours walks such a robot.
    """
    if len(legs) >= MIN_LEGS_WITHOUT_BALANCE:
        return PHASE_CPG, _many_legged_gait(robot, legs, spaces), []
    lacks = _missing_for_balance(robot, legs)
    if lacks:
        doubt = f'{lacks}: no walk of ours carries it, the controller is hold; write one '
        return '', {}, [f'{doubt}(doc/add_a_controller.md)']
    return ZMP_WALK, _biped_gait(robot, legs, spaces), []


def gait_variants(controller: str, gait: Gait) -> Iterator[Gait]:
    """Yield the gait itself and those that are tried where it does not walk as told."""
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
    height = leg_height(robot)
    four = len(legs) == MIN_LEGS_WITHOUT_BALANCE
    gait, duty = ('trot', _TROT_DUTY) if four else ('tripod', _TRIPOD_DUTY)
    lift = _SPRAWLED_LIFT_SHARE if any(one.is_sprawled for one in legs) else _LIFT_SHARE
    frequency = min(_SWING_PACE * math.sqrt(GRAVITY / height), _MAX_FREQUENCY)
    ahead, aside = _smallest_workspace(spaces)
    up = min(space.up for space in spaces.values())
    return {
        'gait': gait,
        'duty_factor': duty,
        'frequency': round(frequency, 2),
        'stride_height': round(min(lift * height, 0.5 * up), 3),
        'max_forward': round(min(2.0 * _WORKSPACE_SHARE * ahead * frequency / duty, 3.0), 2),
        'max_sideways': round(min(2.0 * _WORKSPACE_SHARE * aside * frequency / duty, 2.0), 2),
        'heading_gain': _HEADING_GAIN,
        'speed_gain': _SPEED_GAIN,
    }


def _biped_gait(
    robot: RobotModel, legs: Sequence[FoundLeg], spaces: Mapping[str, FootWorkspace]
) -> Gait:
    """Return a walk whose step lasts as the pendulum of the robot's height says."""
    mass = float(com_positions(robot, robot.joint_stance)[2] - sole_points(robot)[:, 2].mean())
    time = _STEP_TIME_CONSTANTS * math.sqrt(mass / GRAVITY)
    ahead, aside = _smallest_workspace(spaces)
    up = min(space.up for space in spaces.values())
    turns = all(YAW in one.roles for one in legs)
    return {
        'leg_share': _LEG_SHARE,
        'step_time': round(time, 2),
        'stride_height': round(min(_STEP_LIFT_SHARE * leg_height(robot), 0.5 * up), 3),
        # In a step of length l a foot goes from half of it behind the hip to as much before it.
        'max_forward': round(min(1.5 * _WORKSPACE_SHARE * ahead / time, 1.0), 2),
        'max_sideways': round(min(0.5 * _WORKSPACE_SHARE * aside / time, 0.5), 2),
        'max_yaw_rate': round(_MAX_STEP_TURN / time, 2) if turns else 0.0,
        'capture_gain': 1.0,
        'heading_gain': _BIPED_HEADING_GAIN if turns else 0.0,
    }


def _missing_for_balance(robot: RobotModel, legs: Sequence[FoundLeg]) -> str:
    """Return what a robot on few legs lacks to balance, or nothing."""
    if len(legs) != TWO_LEGS:
        return f'it has {len(legs)} legs'
    for one in legs:
        if len(one.leg.joints) < _MIN_BIPED_JOINTS:
            return f'leg {one.leg.name} has {len(one.leg.joints)} joints, not {_MIN_BIPED_JOINTS}'
        length, width = np.ptp(sole_extent(robot, one.leg), axis=0).tolist()
        if not robot.links[robot.link_index[one.leg.sole]].collisions:
            return f'the sole of leg {one.leg.name} has no collision shape'
        if min(length, width) < _MIN_BIPED_SOLE:
            return (
                f'the sole of leg {one.leg.name} is {1e3 * length:.0f} x {1e3 * width:.0f} mm, '
                'a point'
            )
    return ''


def _smallest_workspace(spaces: Mapping[str, FootWorkspace]) -> tuple[float, float]:
    """Return how far every foot reaches forward and back, and to both sides [m]."""
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
