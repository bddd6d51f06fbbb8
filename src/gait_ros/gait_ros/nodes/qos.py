# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Quality of service of publishers and subscriptions, and guards of their callbacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from functools import wraps
import traceback
from typing import Any

from rclpy.node import Node
from rclpy.qos import (
    QoSDurabilityPolicy,
    QoSHistoryPolicy,
    QoSPolicyKind,
    QoSProfile,
    QoSReliabilityPolicy,
)
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.serialization import deserialize_message

from gait_core.errors import ConfigurationError, describe_error, name_hint
from gait_ros.nodes.event_queue import StreamReceiver
from gait_ros.nodes.faults import CAUGHT_EXCEPTIONS, ThrottledLogger
from gait_ros.nodes.parameters import parameter_overrides

PUBLISHER_QOS = QoSProfile(
    history=QoSHistoryPolicy.KEEP_LAST,
    depth=10,
    reliability=QoSReliabilityPolicy.RELIABLE,
    durability=QoSDurabilityPolicy.VOLATILE,
)
"""QoS of publishers of streams and states, compatible with every subscriber."""

STREAM_QOS = QoSProfile(
    history=QoSHistoryPolicy.KEEP_LAST,
    depth=10,
    reliability=QoSReliabilityPolicy.BEST_EFFORT,
    durability=QoSDurabilityPolicy.VOLATILE,
)
"""QoS of subscribers to streams, compatible with every publisher."""

LATCHED_QOS = QoSProfile(
    history=QoSHistoryPolicy.KEEP_LAST,
    depth=1,
    reliability=QoSReliabilityPolicy.RELIABLE,
    durability=QoSDurabilityPolicy.TRANSIENT_LOCAL,
)
"""QoS of descriptions and the best gait: late subscribers receive the last message."""

LOCKSTEP_QOS = QoSProfile(
    history=QoSHistoryPolicy.KEEP_ALL,
    reliability=QoSReliabilityPolicy.RELIABLE,
    durability=QoSDurabilityPolicy.VOLATILE,
)
"""QoS of the lock-step topics, on which no message may be lost or replaced."""


_POLICY_VALUES: Mapping[str, tuple[str, ...]] = {
    'history': ('keep_last', 'keep_all'),
    'reliability': ('reliable', 'best_effort'),
    'durability': ('volatile', 'transient_local'),
}
_DEPTH = 'depth'
_PREFIX = 'qos_overrides.'
_MAX_DEPTH = 100_000


def advertise(
    node: Node, message_type: Any, topic: str, profile: QoSProfile = PUBLISHER_QOS
) -> Any:
    """
    Create a publisher whose QoS the parameters ``qos_overrides.`` can set.

    Raises
    ------
    ConfigurationError
        If such a parameter has an unknown value.

    """
    return node.create_publisher(
        message_type, topic, **_qos_arguments(node, 'publisher', topic, profile)
    )


def subscribe(node: Node, message_type: Any, topic: str, callback: Callable[[Any], Any]) -> Any:
    """
    Create a subscription to a stream, whose QoS the parameters ``qos_overrides.`` can set.

    Exceptions of the callback are logged. While the event queue of the process is late, the newest
    message replaces waiting ones.
    """
    handle = guard_callback(
        node, topic, lambda data: callback(deserialize_message(data, message_type))
    )
    return node.create_subscription(
        message_type,
        topic,
        StreamReceiver(handle),
        raw=True,
        **_qos_arguments(node, 'subscription', topic, STREAM_QOS),
    )


def guard_callback(node: Node, source: str, callback: Callable[..., Any]) -> Callable[..., None]:
    """Return a callback that logs its exceptions, once per 10 s at most, and never raises."""
    log_error = ThrottledLogger(node.get_logger())

    @wraps(callback)
    def call(*message: Any) -> None:
        """Call the callback, with a message unless it is that of a timer."""
        try:
            callback(*message)
        except CAUGHT_EXCEPTIONS as error:
            if log_error.is_due:
                log_error(f'{source} is ignored: {describe_error(error)}')
                node.get_logger().debug(traceback.format_exc())

    return call


def describe_unused_overrides(node: Node) -> list[str]:
    """Return one line for each override of QoS that applies to no topic of the node."""
    known = [name for name in node.get_parameters_by_prefix('') if name.startswith(_PREFIX)]
    return [
        f"parameter '{name}' has no effect on {node.get_name()}: {name_hint(name, known)}"
        for name in sorted(parameter_overrides(node))
        if name.startswith(_PREFIX) and name not in known
    ]


def _qos_arguments(node: Node, entity: str, topic: str, profile: QoSProfile) -> dict[str, Any]:
    """Return the QoS arguments of a publisher or subscription, after a check of the overrides."""
    given = parameter_overrides(node)
    for policy in (*_POLICY_VALUES, _DEPTH):
        name = f'{_PREFIX}{node.resolve_topic_name(topic)}.{entity}.{policy}'
        if name in given:
            _check_override(name, policy, given[name])
    kinds = [QoSPolicyKind[policy.upper()] for policy in (*_POLICY_VALUES, _DEPTH)]
    return {
        # A copy, because rclpy writes overrides into the profile.
        'qos_profile': copy(profile),
        'qos_overriding_options': QoSOverridingOptions(kinds),
    }


def _check_override(name: str, policy: str, value: Any) -> None:
    """Raise ConfigurationError if an override of QoS has an unknown value."""
    if policy == _DEPTH:
        if type(value) is not int or not 1 <= value <= _MAX_DEPTH:
            raise ConfigurationError(
                f"parameter '{name}' is {value!r}, expected a whole number from 1 to {_MAX_DEPTH}"
            )
        return
    if value not in _POLICY_VALUES[policy]:
        raise ConfigurationError(
            f"parameter '{name}' is {value!r}: {name_hint(str(value), _POLICY_VALUES[policy])}"
        )
