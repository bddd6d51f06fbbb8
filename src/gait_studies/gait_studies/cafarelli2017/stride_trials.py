# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Trials of hexapod strides in physics, and measures of their distance, slip and drag.

The controller ``keyframe_stride`` walks a stride that was found analytically; ``predicted_speed``
is its analytic speed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import math
from typing import Any

import numpy as np

from gait_core.arrays import BoolArray, FloatArray
from gait_core.errors import unknown_name_error
from gait_core.kinematics.forward_kinematics import link_poses
from gait_core.measures.metrics import trial_metrics
from gait_core.robot.load import load_robot
from gait_core.trial.loop import TrialLoop, run_loop
from gait_core.trial.robot_gait import resolve_gait
from gait_core.trial.rollout import Rollout
from gait_core.trial.setup import make_scene
from gait_core.trial.spec import FELL, TrialSpec
from gait_studies.cafarelli2017.strides.encoding import HIP, KNEE, joints_from_genes
from gait_studies.cafarelli2017.strides.leg import foot_strokes

CONTROLLER = 'keyframe_stride'
GROUNDS: Mapping[str, tuple[float, float]] = {
    'flat': (0.0, 0.0),
    **{f'up_{angle}': (float(angle), 0.0) for angle in (5, 10, 15)},
    **{f'across_{angle}': (float(angle), 90.0) for angle in (5, 10, 15)},
}
"""Angle of the slope and direction of its rise [deg]; names as in ``strides.search_cases``."""
FOOT_RADIUS = 0.01
"""Radius of the feet of the robot ``hexapod`` [m]."""
TOUCH_FORCE = 1.0
"""Vertical force [N] above which a foot counts as in contact."""
_START_TIME = 2.5
"""Start-up time [s] that is left out of speed, slip and drag."""


def ground_scene_changes(ground: str, engine: str = '') -> Mapping[str, Any]:
    """
    Return the scene fields that give the hexapod a ground of ``GROUNDS``.

    The robot starts on the slope.
    """
    if ground not in GROUNDS:
        raise unknown_name_error('ground', ground, GROUNDS)
    angle, direction = GROUNDS[ground]
    changed: dict[str, Any] = {'engine': engine} if engine else {}
    if angle:
        changed['terrain'] = {
            'name': 'slope',
            'parameters': {'angle_deg': angle, 'direction_deg': direction, 'start': -50.0},
        }
    return changed


def stride_trial(
    parameters: Mapping[str, Any],
    ground: str = 'flat',
    duration: float = 20.0,
    engine: str = '',
    preset: str = 'fixed',
) -> TrialSpec:
    """
    Return the trial of a stride at its own speed.

    Parameters
    ----------
    parameters : mapping
        Parameters of the controller that replace those of the preset, e.g.
        ``{'postures': genes}``.
    ground : str
        Key of ``GROUNDS``.
    duration : float [s]
    engine : str
        Empty: the robot's default.
    preset : str

    """
    changed = {'follow_velocity': False, **parameters}
    return TrialSpec(
        scene=make_scene('hexapod', ground_scene_changes(ground, engine)),
        controller=CONTROLLER,
        parameters=resolve_gait(load_robot('hexapod'), CONTROLLER, preset, changed).parameters,
        duration=duration,
    )


@dataclass(frozen=True, kw_only=True)
class StrideWalk:
    """
    Measures of a stride in physics.

    Attributes
    ----------
    status : str
    fell_at : float or None [s]
    distance : float [m]
        Displacement along x.
    speed : float [m/s]
        Mean speed along x after the start-up, until a fall or the end.
    cost_of_transport : float or None
        Positive work of all motors over weight and distance.
    slip : float [-]
        Sliding path of feet in stance, over the path by which they would carry the body.
    drag : float [-]
        Forward sliding path of feet in stance, over the distance walked.
    knees : float [-]
        Share of the time in which a link other than a foot touches the ground.
    clearance : float [m]
        Lift of a foot normal to the ground; that of the foot that is lifted least.

    """

    status: str
    fell_at: float | None
    distance: float
    speed: float
    cost_of_transport: float | None
    slip: float
    drag: float
    knees: float
    clearance: float


def run_stride(spec: TrialSpec, ground: str = 'flat') -> StrideWalk:
    """Run a trial in this process and return the measures of its stride."""
    return stride_walk_from_loop(run_loop(spec), ground)


def stride_walk_from_loop(loop: TrialLoop, ground: str = 'flat') -> StrideWalk:
    """Return the measures of a finished trial on a ground of ``GROUNDS``."""
    fell_at = loop.tick * loop.dt if loop.status == FELL else None
    return stride_walk_from_rollout(loop.rollout(), fell_at, ground)


def stride_walk_from_rollout(
    rollout: Rollout, fell_at: float | None = None, ground: str = 'flat'
) -> StrideWalk:
    """Return the measures of a stride from a rollout of the hexapod."""
    metrics = trial_metrics(rollout)
    first = min(round(_START_TIME / rollout.dt), rollout.ticks)
    base = rollout.body_poses[first:, 0, :2]
    displacement = float(base[-1, 0] - base[0, 0])
    time = (len(base) - 1) * rollout.dt
    poses = _foot_poses(rollout)
    sliding, ahead = _foot_displacements(poses)
    touching = rollout.sole_forces()[:, :, 2] > TOUCH_FORCE
    standing: BoolArray = touching[first:-1] & touching[first + 1 :]
    sliding, ahead = sliding[first:], ahead[first:]
    carried = abs(displacement) * standing.sum() / max(len(standing), 1)
    knocks = np.unique(rollout.contact_tick[rollout.contacts.sole < 0])
    return StrideWalk(
        status=rollout.status,
        fell_at=fell_at,
        distance=metrics['displacement_x_m'],
        speed=displacement / time if time else 0.0,
        cost_of_transport=metrics.get('cost_of_transport'),
        slip=_ratio_or_infinity(float(sliding[standing].sum()), carried),
        drag=_ratio_or_infinity(float(np.maximum(ahead[standing], 0.0).sum()), abs(displacement)),
        knees=float(len(knocks) / (rollout.ticks + 1)),
        clearance=_least_clearance(poses[first:, :, :3, 3], ground),
    )


def predicted_speed(genes: FloatArray, period: float) -> float:
    """
    Return the speed [m/s] of a stride without slip; the shortest stroke of its feet counts.

    A foot is a sphere that rolls, so the rotation of a leg carries the body a little further than
    the point foot of the publication would.

    Parameters
    ----------
    genes : (48,) array [deg, cm]
    period : float [s]
        Duration of a cycle of two strokes.

    """
    joints = joints_from_genes(genes)
    angle = joints[..., HIP] + joints[..., KNEE]
    rolled = FOOT_RADIUS * (angle[2] - angle[0])
    return float(2.0 * (foot_strokes(joints) + rolled).min() / period)


def _ratio_or_infinity(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0.0 else math.inf


def _foot_poses(rollout: Rollout) -> FloatArray:
    """Return the poses of the feet, (T + 1, 6, 4, 4)."""
    robot = rollout.robot
    rows = [robot.link_index[sole] for sole in robot.soles]
    return np.asarray(link_poses(robot, rollout.joint_positions, rollout.body_poses)[:, rows])


def _least_clearance(feet: FloatArray, ground: str) -> float:
    """Return the lift of the foot that is lifted least, normal to a ground's plane [m]."""
    angle, direction = np.radians(GROUNDS[ground])
    uphill = np.array([math.cos(direction), math.sin(direction), 0.0])
    up = math.cos(angle) * np.array([0.0, 0.0, 1.0]) - math.sin(angle) * uphill
    return float(np.ptp(feet @ up, axis=0).min())


def _foot_displacements(poses: FloatArray) -> tuple[FloatArray, FloatArray]:
    """
    Return horizontal distance and forward displacement of each foot's contact point, (T, 6) [m].

    The contact point is the lowest point of the foot, followed as a material point for one tick:
    while a foot rolls without slip it does not move.
    """
    turn, at = poses[..., :3, :3], poses[..., :3, 3]
    down = np.array([0.0, 0.0, -FOOT_RADIUS])
    before = at[:-1] + down
    after = at[1:] + np.einsum('tsij,tskj,k->tsi', turn[1:], turn[:-1], down)
    shifts = after - before
    return np.linalg.norm(shifts[..., :2], axis=-1), shifts[..., 0]
