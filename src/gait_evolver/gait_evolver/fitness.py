# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Fitness terms: pure functions of a rollout, summed with the weights of an experiment.

A quantity that should be small gets a negative weight. All terms are finite for every rollout
whose status gives a fitness, including one that fell at once.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from gait_core.measures.energy import is_work_reported
from gait_core.measures.metrics import contact_zmp, robot_weight, trial_work
from gait_core.measures.metrics import heading_angles as heading_of
from gait_core.measures.stability import support_margins
from gait_core.trial.rollout import Rollout
from gait_core.trial.spec import FELL


def forward_displacement(rollout: Rollout) -> float:
    """Return the displacement of the base along its first heading [m]."""
    return _displacement(rollout)[0]


def lateral_drift(rollout: Rollout) -> float:
    """Return the distance from the line of the first heading [m], >= 0."""
    return abs(_displacement(rollout)[1])


def heading_change(rollout: Rollout) -> float:
    """Return the size of the change of heading [rad], >= 0; full turns are counted."""
    yaw = heading_of(rollout.body_poses[:, 0])
    return float(abs(yaw[-1] - yaw[0]))


def survival_share(rollout: Rollout) -> float:
    """Return the simulated share of the duration, in [0, 1]; below 1 after a fall."""
    return rollout.ticks / rollout.spec.ticks


def max_tilt(rollout: Rollout) -> float:
    """Return the largest tilt of the base [rad], >= 0."""
    upright = Rotation.from_quat(rollout.body_poses[:, 0, 3:]).as_matrix()[:, 2, 2]
    return float(np.arccos(np.clip(upright.min(), -1.0, 1.0)))


def mean_zmp_margin(rollout: Rollout) -> float:
    """
    Return the mean margin of the CoP in the support polygon [m].

    The mean is over all ticks. Without contact the CoP is undefined and the tick counts as zero,
    so that leaving the ground is no advantage. ValueError for states without contacts.
    """
    if rollout.states.contacts is None:
        raise ValueError('zmp_margin: the states of the record have no contacts')
    margin, defined = support_margins(contact_zmp(rollout), *rollout.loaded_contacts)
    return float(np.where(defined, margin, 0.0).mean())


def positive_work(rollout: Rollout) -> float:
    """
    Return the positive mechanical work of joints and drives of force elements [J].

    ValueError for states that do not report it.
    """
    if not is_work_reported(rollout.robot, rollout.states):
        raise ValueError('energy: the states of the record have no work, efforts or forces')
    return float(trial_work(rollout).positive.sum())


def transport_efficiency(rollout: Rollout) -> float:
    """
    Return the reciprocal of the CoT along the first heading, m g x / E [-]; 0 after a fall.

    The work E is bounded below by that of lifting the robot by 0.01 length scales, so that
    standing still has no value.
    """
    if rollout.status == FELL:
        return 0.0
    load, work = robot_weight(rollout), positive_work(rollout)
    ahead = _displacement(rollout)[0]
    return load * ahead / max(work, 0.01 * load * rollout.robot.length_scale)


def smoothness(rollout: Rollout) -> float:
    """
    Return the negative root mean square of the joint accelerations [rad/s^2 or m/s^2], <= 0.

    An acceleration is the difference of two successive joint velocities over a control period.
    """
    if rollout.states.joint_velocities is None and rollout.robot.joint_names:
        raise ValueError('smoothness: the states of the record have no joint velocities')
    accelerations = np.diff(rollout.joint_velocities, axis=0) / rollout.dt
    return -float(np.sqrt(np.mean(accelerations**2))) if accelerations.size else 0.0


def _displacement(rollout: Rollout) -> tuple[float, float]:
    """Return the displacement [m] ahead and to the left of the first pose."""
    # A robot of several roots, such as a tensegrity: the mean of the roots moves, and the first
    # root has the heading.
    centre = rollout.body_poses[:, :, :2].mean(axis=1)
    x, y = centre[-1] - centre[0]
    yaw = heading_of(rollout.body_poses[:1, 0])[0]
    ahead, left = np.cos(yaw), np.sin(yaw)
    return float(ahead * x + left * y), float(ahead * y - left * x)
