# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Releases of rclpy by what their EventsExecutor does with the coroutine of a service."""

import pytest

pytest.importorskip('rclpy')

from gait_ros.nodes.rclpy_release import awaits_services


@pytest.mark.parametrize(
    ('release', 'awaited'),
    [
        ('7.1.6', False),
        ('7.1.10', False),
        ('7.1.11', True),
        ('9.1.1', False),
        ('9.1.2', True),
        ('10.0.10', True),
    ],
)
def test_the_releases_of_each_distribution_are_told_apart(release, awaited):
    assert awaits_services(release) == awaited
