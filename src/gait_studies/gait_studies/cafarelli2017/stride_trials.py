"""
Strides of the hexapod in physics: trials of them, and what a trial says of distance, slip, drag.

A stride found without an engine is walked by the controller ``keyframe_stride``; whoever compares
it with the analytic measures finds here what those foresee.
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
from gait_core.trial.loop import TrialLoop, run_loop
from gait_core.trial.rollout import Rollout
from gait_core.trial.setup import controller_parameters, make_scene
from gait_core.trial.spec import FELL, TrialSpec
from gait_studies.cafarelli2017.strides.encoding import HIP, KNEE, joints_from_genes
from gait_studies.cafarelli2017.strides.leg import foot_strokes

CONTROLLER = 'keyframe_stride'
GROUNDS: Mapping[str, tuple[float, float]] = {
    'flat': (0.0, 0.0),
    **{f'up_{angle}': (float(angle), 0.0) for angle in (5, 10, 15)},
    **{f'across_{angle}': (float(angle), 90.0) for angle in (5, 10, 15)},
}
"""Rise [deg] and where it leads to, by the names of the analytic grid."""
FOOT_RADIUS = 0.01
"""Of the robot ``hexapod`` [m]."""
TOUCH_FORCE = 1.0
"""Vertical force [N] at which a foot touches the ground."""
_START_TIME = 2.5
"""Time [s] in which the robot stands up and gathers speed, which slip and drag leave out."""


def ground_scene_changes(ground: str, engine: str = '') -> Mapping[str, Any]:
    """
    Return the changes of the hexapod's scene for a ground of ``GROUNDS``.

    The robot starts on the slope itself.
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
    Return the trial of a stride at its own pace.

    Parameters
    ----------
    parameters : mapping
        Of the controller, over the preset: ``{'postures': genes}``, say.
    ground : str
        Of ``GROUNDS``.
    duration : float [s]
    engine : str
        Empty: the robot's default.
    preset : str

    """
    changed = {'follow_velocity': False, **parameters}
    return TrialSpec(
        scene=make_scene('hexapod', ground_scene_changes(ground, engine)),
        controller=CONTROLLER,
        parameters=controller_parameters(CONTROLLER, preset, changed),
        duration=duration,
    )


@dataclass(frozen=True, kw_only=True)
class StrideWalk:
    """
    Outcome of a stride in physics.

    Attributes
    ----------
    status : str
    fell_at : float or None [s]
    distance : float [m]
        Ahead, horizontally.
    speed : float [m/s]
        Ahead, after the start; that of a walk that fell is that until then.
    cost_of_transport : float or None
        Positive work of all motors by weight and distance.
    slip : float [-]
        Path that loaded feet slide over the ground, by the path that they would carry the body.
    drag : float [-]
        Path that feet are dragged ahead over the ground, by the distance walked.
    knees : float [-]
        Share of the time in which anything but feet touches the ground.
    clearance : float [m]
        How high over the ground the foot gets that is lifted least, of the highest of its steps.

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
    """Run a trial in this process and return what became of it."""
    return stride_walk_from_loop(run_loop(spec), ground)


def stride_walk_from_loop(loop: TrialLoop, ground: str = 'flat') -> StrideWalk:
    """Return what became of a trial that has been run, on a ground of ``GROUNDS``."""
    fell_at = loop.tick * loop.dt if loop.status == FELL else None
    return stride_walk_from_rollout(loop.rollout(), fell_at, ground)


def stride_walk_from_rollout(
    rollout: Rollout, fell_at: float | None = None, ground: str = 'flat'
) -> StrideWalk:
    """Return what a rollout of the hexapod says of its stride."""
    metrics = trial_metrics(rollout)
    first = min(round(_START_TIME / rollout.dt), rollout.ticks)
    base = rollout.body_poses[first:, 0, :2]
    way = float(base[-1, 0] - base[0, 0])
    time = (len(base) - 1) * rollout.dt
    poses = _foot_poses(rollout)
    sliding, ahead = _foot_displacements(poses)
    touching = rollout.sole_forces()[:, :, 2] > TOUCH_FORCE
    standing: BoolArray = touching[first:-1] & touching[first + 1 :]
    sliding, ahead = sliding[first:], ahead[first:]
    carried = abs(way) * standing.sum() / max(len(standing), 1)
    knocks = np.unique(rollout.contact_tick[rollout.contacts.sole < 0])
    return StrideWalk(
        status=rollout.status,
        fell_at=fell_at,
        distance=metrics['displacement_x_m'],
        speed=way / time if time else 0.0,
        cost_of_transport=metrics.get('cost_of_transport'),
        slip=_ratio_or_infinity(float(sliding[standing].sum()), carried),
        drag=_ratio_or_infinity(float(np.maximum(ahead[standing], 0.0).sum()), abs(way)),
        knees=float(len(knocks) / (rollout.ticks + 1)),
        clearance=_least_clearance(poses[first:, :, :3, 3], ground),
    )


def predicted_speed(genes: FloatArray, period: float) -> float:
    """
    Return the speed [m/s] of a stride of postures if no foot slips and its shortest stroke counts.

    A foot is a sphere, which rolls: its leg's turn carries the body a little further than the
    published point would.

    Parameters
    ----------
    genes : (48,) array [deg, cm]
    period : float [s]
        Of a cycle of two strokes.

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
    """Return how high over the plane of a ground the foot gets that is lifted least [m]."""
    angle, direction = np.radians(GROUNDS[ground])
    uphill = np.array([math.cos(direction), math.sin(direction), 0.0])
    up = math.cos(angle) * np.array([0.0, 0.0, 1.0]) - math.sin(angle) * uphill
    return float(np.ptp(feet @ up, axis=0).min())


def _foot_displacements(poses: FloatArray) -> tuple[FloatArray, FloatArray]:
    """
    Return how far the lowest point of each foot moves in each tick, and how far ahead, (T, 6) [m].

    It is a point of the foot's material: where a foot rolls it rests.
    """
    turn, at = poses[..., :3, :3], poses[..., :3, 3]
    down = np.array([0.0, 0.0, -FOOT_RADIUS])
    before = at[:-1] + down
    after = at[1:] + np.einsum('tsij,tskj,k->tsi', turn[1:], turn[:-1], down)
    moved = after - before
    return np.linalg.norm(moved[..., :2], axis=-1), moved[..., 0]
