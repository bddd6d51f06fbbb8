# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The long acceptance checks at a tenth of their length; `gait bench --checks` runs them whole."""

import importlib.util

import pytest

from gait_core.testing.domain import own_domain
from gait_core.testing.skips import need_robot
from gait_tools.checks import workers
from gait_tools.checks.acceptance import CHECKS

pytestmark = [pytest.mark.physics, pytest.mark.slow]
SHARE = 0.1
# Each node is flooded in test/ros/test_flood.py, champions walk tick by tick in
# test/ros/test_champions_live.py, logs of several numbers of workers are compared in
# test_workers.py, and workers are killed in test_lost_workers.py and in `disturbed_workers`.
ELSEWHERE = {'floods', 'champions_live', 'equal_logs', 'random_kills'}


@pytest.mark.parametrize('name', sorted(CHECKS.keys() - ELSEWHERE))
def test_a_tenth_of_the_check_keeps_its_bounds(name):
    if name == 'equal_hashes':
        if importlib.util.find_spec('rclpy') is None:
            pytest.skip('rclpy is not installed')
        own_domain()
    if name == 'commanded':
        need_robot('a1')
    rows = CHECKS[name](SHARE)
    assert rows
    assert not [row for row in rows if not row.is_within_budget]


def test_a_run_that_does_not_come_to_its_end_is_reported_with_its_last_line():
    tally = workers._Tally(logs={b'log'}, broken=['gait: no worker', 'other'])
    (row,) = [row for row in workers._measurements(tally) if not row.is_within_budget]
    assert row.measured == 2.0 and row.what.endswith(', the first: gait: no worker')
