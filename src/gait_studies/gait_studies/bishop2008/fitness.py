# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Fitness terms of the walking networks of Bishop (2008).

Displacements and contacts of the base count from tick 250: by then the robot has dropped to
the ground and settled. Rule 5, a share of the last score that adds to the next, is part of the
optimiser ``rank_squared``.

References
----------
Bishop (2008), *A Method for Generating Robot Control Systems*, MSc thesis, Youngstown State
University: section 3.2.

"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from gait_core.arrays import BoolArray, FloatArray
from gait_core.trial.rollout import Rollout

SETTLE_TICKS = 250
REFRACTORY_TIME = 1.0
"""Time after a contact of the base in which further contacts do not count [s]."""
# Distance from a shape of the base up to which a contact is assigned to it [m].
_CONTACT_MARGIN = 0.002


def bishop2008_net(rollout: Rollout) -> float:
    """Return the distance of the base from its position at tick 250 [m]; rule 1, section 3.2."""
    return float(np.linalg.norm(_displacement(rollout)))


def bishop2008_forward(rollout: Rollout) -> float:
    """Return the distance along the commanded direction since tick 250 [m], >= 0; rule 2."""
    return max(0.0, float(_displacement(rollout) @ _commanded_direction(rollout)))


def bishop2008_x(rollout: Rollout) -> float:
    """Return the displacement of the base along x since tick 250 [m]; for the published log."""
    return float(_displacement(rollout)[0])


def bishop2008_y(rollout: Rollout) -> float:
    """Return the displacement of the base along y since tick 250 [m]; for the published log."""
    return float(_displacement(rollout)[1])


def bishop2008_inverted(rollout: Rollout) -> float:
    """Return 1 if the base is upside down at the end, else 0 [1]; rule 3."""
    upright = Rotation.from_quat(rollout.body_poses[-1, 0, 3:]).as_matrix()[2, 2]
    return float(upright < 0.0)


def bishop2008_hits(rollout: Rollout) -> float:
    """Return the contacts of the base with the ground, at most one per second [1]; rule 4."""
    ticks = np.unique(rollout.contact_tick[_base_contacts(rollout)])
    pause = max(1, round(REFRACTORY_TIME / rollout.dt))
    hits, armed = 0, _settled_tick(rollout)
    for tick in ticks.tolist():
        if tick >= armed:
            hits += 1
            armed = tick + pause
    return float(hits)


def _settled_tick(rollout: Rollout) -> int:
    return min(SETTLE_TICKS, rollout.ticks)


def _displacement(rollout: Rollout) -> FloatArray:
    displacement = (
        rollout.body_poses[-1, 0, :2] - rollout.body_poses[_settled_tick(rollout), 0, :2]
    )
    return np.asarray(displacement)


def _commanded_direction(rollout: Rollout) -> FloatArray:
    """Return the last commanded direction as a unit vector, (2,); x without a command."""
    velocity = rollout.commands[-1, :2] if rollout.ticks else np.zeros(2)
    speed = float(np.linalg.norm(velocity))
    return np.asarray(velocity / speed if speed > 0.0 else np.array([1.0, 0.0]))


def _base_contacts(rollout: Rollout) -> BoolArray:
    """
    Return which contacts belong to the root link, (c,).

    A rollout distinguishes contacts of soles from others. The others belong to the root link if
    they lie on one of its shapes.
    """
    on_base: BoolArray = np.zeros(len(rollout.contact_tick), dtype=bool)
    other = np.flatnonzero(rollout.contacts.sole < 0)
    if not len(other):
        return on_base
    poses = rollout.body_poses[rollout.contact_tick[other], 0]
    points = (
        Rotation.from_quat(poses[:, 3:]).inv().apply(rollout.contacts.points[other] - poses[:, :3])
    )
    margin = _CONTACT_MARGIN + rollout.contacts.depths[other]
    for shape in rollout.robot.links[0].collisions:
        in_shape = Rotation.from_euler('xyz', shape.rpy).inv().apply(points - np.array(shape.xyz))
        if shape.kind == 'box':
            distance = (np.abs(in_shape) - 0.5 * np.array(shape.size)).max(axis=1)
        else:
            distance = np.linalg.norm(in_shape, axis=1) - max(shape.size)
        on_base[other] |= distance <= margin
    return on_base
