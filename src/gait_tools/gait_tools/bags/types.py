# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Message types of a bag: those of rosbags, and the suite's own from their files."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from gait_core.errors import ConfigurationError, describe_import_error
from gait_core.files.access import read_text
from gait_core.robot.find import find_package

_INTERFACE_PACKAGE = 'gait_interfaces'
_QUEUE_DEPTH = 10


@cache
def load_typestore() -> Any:
    """
    Return the types of ROS 2 Jazzy and of gait_interfaces.

    Raises
    ------
    ConfigurationError
        If rosbags is not installed, or the files of gait_interfaces are not found.

    """
    try:
        from rosbags.typesys import Stores, get_types_from_msg, get_typestore
    except ImportError as error:
        reason = describe_import_error(error)
        raise ConfigurationError(f'a bag needs the library rosbags: {reason}') from error
    store = get_typestore(Stores.ROS2_JAZZY)
    # In a clone this file is <root>/src/gait_tools/gait_tools/bags/types.py.
    clone = Path(__file__).resolve().parents[3] / _INTERFACE_PACKAGE / 'msg'
    package = find_package(_INTERFACE_PACKAGE, clone)
    files = sorted((package / 'msg').glob('*.msg')) if package else []
    if not files:
        raise ConfigurationError(
            f'a bag needs the messages of {_INTERFACE_PACKAGE}: is it installed?'
        )
    for file in files:
        store.register(
            get_types_from_msg(read_text(file), f'{_INTERFACE_PACKAGE}/msg/{file.stem}')
        )
    return store


def quality_of_service(*, latched: bool = False, keep_all: bool = False) -> Any:
    """Return the quality of service with which live nodes offer a topic."""
    from rosbags.interfaces import (
        Qos,
        QosDurability,
        QosHistory,
        QosLiveliness,
        QosReliability,
        QosTime,
    )

    unlimited = QosTime(9223372036, 854775807)
    return Qos(
        history=QosHistory.KEEP_ALL if keep_all else QosHistory.KEEP_LAST,
        depth=1 if latched else 0 if keep_all else _QUEUE_DEPTH,
        reliability=QosReliability.RELIABLE,
        durability=QosDurability.TRANSIENT_LOCAL if latched else QosDurability.VOLATILE,
        deadline=unlimited,
        lifespan=unlimited,
        liveliness=QosLiveliness.AUTOMATIC,
        liveliness_lease_duration=unlimited,
        avoid_ros_namespace_conventions=False,
    )
