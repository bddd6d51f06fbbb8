# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""GuRoo walks a square by waypoints."""

import numpy as np
import pytest

from gait_core.motion.waypoints import WaypointParams, walk_waypoints
from gait_core.robot.load import load_robot
from gait_core.testing.skips import need_engine
from gait_core.trial.robot_gait import resolve_gait
from gait_core.trial.setup import make_scene
from gait_core.trial.spec import TrialSpec

pytestmark = pytest.mark.physics

CORNERS = np.array([[2.0, 0.0], [2.0, 2.0], [0.0, 2.0], [0.0, 0.0]])


def walked(engine, seconds):
    """Return the record of a walk that ends some seconds after its last corner."""
    spec = TrialSpec(
        scene=make_scene('guroo', {'engine': engine, 'physics_step': 0.002}),
        controller='staged_walk',
        parameters=resolve_gait(load_robot('guroo'), 'staged_walk', 'balanced').parameters,
        duration=seconds,
    )
    rollout, reached = walk_waypoints(spec, WaypointParams(waypoints=tuple(CORNERS.ravel())))
    assert reached == len(CORNERS), f'{reached} corners, {rollout.status}'
    assert rollout.time[-1] < seconds
    return rollout


def test_a_square_of_2_m_closes_within_30_cm():
    need_engine('mujoco')
    rollout = walked('mujoco', 240.0)
    way, time = rollout.body_poses[:, 0, :2], rollout.time
    for corner in CORNERS[:-1]:
        assert np.linalg.norm(way - corner, axis=1).min() < 0.11
    closing = np.linalg.norm(way[-1] - way[0])
    print(f'closes within {closing:.3f} m in {time[-1]:.0f} s')
    assert closing < 0.3
    assert np.ptp(way[time > time[-1] - 1.0], axis=0).max() < 0.01
