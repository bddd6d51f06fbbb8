# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Properties of the range of discovery in a process."""

import os

import pytest

from gait_ros.nodes.discovery import obey_discovery_range

VARIABLES = ('FASTDDS_DEFAULT_PROFILES_FILE', 'FASTRTPS_DEFAULT_PROFILES_FILE')
LOOPBACK = '/clone/install/gait_bringup/share/gait_bringup/config/loopback.xml'


@pytest.mark.parametrize(
    ('discovery_range', 'profile', 'kept'),
    [
        ('SYSTEM_DEFAULT', LOOPBACK, True),
        ('SUBNET', LOOPBACK, False),
        ('LOCALHOST', LOOPBACK, False),
        ('SUBNET', '/own.xml', True),
    ],
)
def test_a_chosen_range_unsets_the_loopback_profile_only(
    monkeypatch, discovery_range, profile, kept
):
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', discovery_range)
    for name in VARIABLES:
        monkeypatch.setenv(name, profile)
    obey_discovery_range()
    for name in VARIABLES:
        assert os.environ.get(name) == (profile if kept else None)
