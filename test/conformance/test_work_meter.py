# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Work on the topic `energy` and in bags: that of the metrics of the same trial."""

import math

import pytest

from gait_core.testing.skips import need_engine
from gait_core.trial.loop import run_loop
from gait_core.trial.setup import default_trial
from gait_tools.bags.messages import trial_messages

pytestmark = pytest.mark.physics

ROBOTS = ('a1', 'guroo', 'guroo_merged', 'hexapod', 'roach', 'spider')
CASES = [(robot, {'engine': engine}) for robot in ROBOTS for engine in ('bullet', 'mujoco')]
CASES += [('tetraspine', {'engine': engine}) for engine in ('cables', 'bullet')]
CASES += [('a1', {'engine': 'bullet', 'engine_options': {'sum_work': 0}})]


@pytest.mark.parametrize(('robot', 'scene'), CASES)
def test_the_topic_counts_work_as_the_trial(robot, scene):
    need_engine(scene['engine'])
    # The spine rests for 2 s before its cables pull.
    duration = 4.0 if robot == 'tetraspine' else 0.3
    loop = run_loop(default_trial(robot, duration, scene))
    metrics = loop.result().metrics
    *_, last = (item for topic, _, item in trial_messages(loop.rollout()) if topic == '/energy')
    assert len(last.joint_names) == len(last.power) == len(last.positive_work)
    for key, work in (
        ('energy_j', last.positive_work),
        ('energy_signed_j', last.signed_work),
        ('energy_absolute_j', last.absolute_work),
    ):
        assert math.fsum(work) == pytest.approx(metrics[key], rel=1e-9, abs=1e-12)
    assert metrics['energy_j'] > 0.0
    assert last.distance == pytest.approx(metrics['distance_m'], rel=1e-9)
    costs = [metrics['cost_of_transport']] if 'cost_of_transport' in metrics else []
    assert list(last.cost_of_transport) == pytest.approx(costs, rel=1e-9)
