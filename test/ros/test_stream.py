# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The benchmark of a stream of commands measures a node that runs."""

import pytest

pytest.importorskip('rclpy')

from gait_ros.checks.benchmark import LOSS_BUDGET, STREAM_RATE, measure_streams


def test_a_node_at_200_hz_is_heard_at_that_rate():
    loss, spread = measure_streams(1.0)
    assert (loss.id, spread.id) == ('stream_loss', 'stream_spread')
    # A busy machine may lose many times what an idle one may.
    assert 0.0 <= loss.measured < 50 * LOSS_BUDGET
    assert 0.0 < spread.measured < 1e3 / STREAM_RATE * 4
