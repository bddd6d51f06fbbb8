# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The largest survived push is found to the resolution of the search, whatever the robot."""

from types import SimpleNamespace

import numpy as np
import pytest

from gait_core.trial.scene import Push, Scene
from gait_core.trial.spec import FELL, OK, TrialSpec
from gait_tools.pushes import PushCase, max_survived_impulses, with_push

SPEC = TrialSpec(scene=Scene(robot='guroo'), controller='hold')
LIMITS = {0.0: 3.3, 90.0: 19.99, 180.0: 25.0, 270.0: 0.0}
CASES = [PushCase(start=2.0, direction_deg=direction) for direction in LIMITS]


def falls_beyond_its_limit(specs):
    """Return results of a robot that falls beyond a known impulse for each direction."""
    results = []
    for spec in specs:
        x, y, _ = spec.scene.pushes[-1].force
        direction = round(np.degrees(np.arctan2(y, x)) % 360.0)
        impulse = np.hypot(x, y) * spec.scene.pushes[-1].duration
        results.append(SimpleNamespace(status=OK if impulse <= LIMITS[direction] else FELL))
    return results


def test_a_bisection_comes_within_its_resolution_from_below():
    found = max_survived_impulses(falls_beyond_its_limit, SPEC, CASES, link='torso', rounds=6)
    resolution = 20.0 / 2**6
    for impulse, limit in zip(found, LIMITS.values(), strict=True):
        assert 0.0 <= min(limit, 20.0) - impulse <= resolution


def test_a_push_has_the_impulse_and_comes_beside_those_of_the_scene():
    once = with_push(SPEC, CASES[0], 5.0, 'torso', 0.2)
    twice = with_push(once, CASES[1], 8.0, '', 0.1)
    assert twice.scene.pushes[0] == Push(
        start=2.0, duration=0.2, force=(25.0, 0.0, 0.0), link='torso'
    )
    assert twice.scene.pushes[1].force == pytest.approx((0.0, 80.0, 0.0))


def test_a_trial_ends_a_while_after_its_push():
    asked = []

    def run(specs):
        asked.extend(specs)
        return falls_beyond_its_limit(specs)

    max_survived_impulses(run, SPEC, CASES[:1], link='torso', rounds=1, after=3.0)
    assert [spec.duration for spec in asked] == pytest.approx([5.2, 5.2])
