# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Range in which nodes of this process find others."""

from __future__ import annotations

import os

_RANGE = 'ROS_AUTOMATIC_DISCOVERY_RANGE'
# Fast DDS 3 reads the first, Fast DDS 2 the second.
_PROFILE_VARIABLES = ('FASTDDS_DEFAULT_PROFILES_FILE', 'FASTRTPS_DEFAULT_PROFILES_FILE')
_LOOPBACK_PROFILE = 'share/gait_bringup/config/loopback.xml'


def obey_discovery_range() -> None:
    """
    Unset the loopback profile of Fast DDS if the user has chosen a discovery range.

    ``build/env.sh`` sets both variables. A range that is exported afterwards would have no effect,
    because the profile allows loopback only. To be called before ``rclpy.init``.
    """
    if os.environ.get(_RANGE) == 'SYSTEM_DEFAULT':
        return
    for name in _PROFILE_VARIABLES:
        if os.environ.get(name, '').endswith(_LOOPBACK_PROFILE):
            del os.environ[name]
