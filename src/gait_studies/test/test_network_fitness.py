# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The scoring rules of Bishop (2008) on records made by hand."""

from dataclasses import replace

import numpy as np
import pytest

from gait_core.robot.load import load_robot
from gait_core.testing.doubles import make_rollout
from gait_core.trial.scene import Scene
from gait_core.trial.spec import TrialSpec
from gait_studies.bishop2008.fitness import (
    bishop2008_forward,
    bishop2008_hits,
    bishop2008_inverted,
    bishop2008_net,
)

SPIDER = load_robot('spider')
DT, TICKS = 0.012, 2000
RULES = (
    (1.0, bishop2008_net),
    (1.0, bishop2008_forward),
    (-2.0, bishop2008_inverted),
    (-0.05, bishop2008_hits),
)


def record(end=(0.0, 0.0), inverted=False, touches=(), sole=-1, point=(0.0, 0.0, -0.125)):
    """Return a turn that moves after step 250, with touches at ticks by a point of the base."""
    poses = np.zeros((TICKS + 1, 1, 7))
    poses[:, 0, 2], poses[:, 0, 6] = 0.25, 1.0
    poses[:250, 0, :2] = 7.0  # What happens before does not count.
    poses[250:, 0, :2] = np.linspace(0.0, 1.0, TICKS - 249)[:, None] * np.array(end)
    if inverted:
        poses[-1, 0, 3:] = 1.0, 0.0, 0.0, 0.0
    touches = np.array(touches, dtype=np.int64)
    count = len(touches)
    scene = Scene(robot='spider', control_period=DT, physics_step=0.002)
    return make_rollout(
        SPIDER,
        TrialSpec(scene=scene, controller='hold', duration=TICKS * DT),
        TICKS,
        body_poses=poses,
        commands=np.tile([0.1, 0.0, 0.0], (TICKS, 1)),
        contact_tick=touches,
        contact_sole=np.full(count, sole),
        contact_points=poses[touches, 0, :3] + np.array(point),
        contact_forces=np.zeros((count, 3)),
        contact_depths=np.zeros(count),
    )


def score(rollout) -> float:
    return sum(weight * rule(rollout) for weight, rule in RULES)


@pytest.mark.parametrize(
    ('turn', 'points'),
    [
        ({'end': (1.75, 0.0)}, 3.5),
        ({'end': (-1.0, 0.0)}, 1.0),
        ({'end': (0.0, 1.0)}, 1.0),
        ({'end': (1.0, 0.0), 'inverted': True, 'touches': (300, 700, 1100)}, -0.15),
    ],
)
def test_points_are_those_of_the_thesis(turn, points):
    assert score(record(**turn)) == pytest.approx(points)


def test_a_platform_that_rests_on_the_ground_is_counted_once_a_second():
    held = record(touches=range(500, 500 + round(5.0 / DT)))
    assert bishop2008_hits(held) == pytest.approx(5.0, abs=1.0)
    assert bishop2008_hits(record(touches=(600, 600 + round(0.5 / DT)))) == 1.0
    assert bishop2008_hits(record(touches=(600, 600 + round(1.5 / DT)))) == 2.0


def test_touches_while_it_settles_and_those_of_legs_do_not_count():
    assert bishop2008_hits(record(touches=(10, 200))) == 0.0
    assert bishop2008_hits(record(touches=(600,), sole=0)) == 0.0
    # An upper leg beside the platform: its contacts are no sole's either.
    assert bishop2008_hits(record(touches=(600,), point=(0.25, 0.25, -0.2))) == 0.0


def test_the_direction_is_the_commanded_one():
    turn = record(end=(1.0, 2.0))
    north = replace(turn, commands=np.tile([0.0, 0.3, 0.0], (TICKS, 1)))
    assert bishop2008_forward(north) == pytest.approx(2.0)
    still = replace(turn, commands=np.zeros((TICKS, 3)))
    assert bishop2008_forward(still) == pytest.approx(1.0)
