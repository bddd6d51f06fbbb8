# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Services that answer every request, even if their callback raises an exception."""

from __future__ import annotations

from collections.abc import Callable
import inspect
import traceback
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSHistoryPolicy, QoSProfile, QoSReliabilityPolicy

from gait_core.errors import ConfigurationError, describe_error
from gait_ros.nodes.faults import CAUGHT_EXCEPTIONS, ThrottledLogger
from gait_ros.nodes.rclpy_release import await_service

SERVICE_QOS = QoSProfile(
    history=QoSHistoryPolicy.KEEP_LAST,
    depth=1000,
    reliability=QoSReliabilityPolicy.RELIABLE,
)
"""QoS of services. With 10 requests, the default of ROS, most of a burst would be lost."""


def offer_service(
    node: Node,
    service_type: Any,
    name: str,
    callback: Callable[[Any, Any], Any],
    group: CallbackGroup | None = None,
) -> Any:
    """
    Create a service that answers with ``success`` false if its callback raises an exception.

    The ``message`` of the answer is that of the exception; ``sys.exit`` counts as one. The node
    continues. A callback that raises an exception must leave the state of the node unchanged.

    Parameters
    ----------
    node : Node
    service_type : type
        Type of the service; its response has ``success`` and ``message``.
    name : str
    callback : callable
        Fills in and returns the response to a request; a function or coroutine function.
    group : CallbackGroup or None

    """
    log_error = ThrottledLogger(node.get_logger())

    def refuse(response: Any, error: BaseException) -> Any:
        """Fill in the response to a request that raised an exception."""
        if not isinstance(error, ConfigurationError):
            log_error(f'{name} failed: {describe_error(error)}')
            node.get_logger().debug(traceback.format_exc())
        response.success, response.message = False, describe_error(error)
        return response

    def answer(request: Any, response: Any) -> Any:
        """Answer one request."""
        try:
            return callback(request, response)
        except CAUGHT_EXCEPTIONS as error:
            return refuse(response, error)

    async def answer_later(request: Any, response: Any) -> Any:
        """Answer one request, while other callbacks run."""
        try:
            return await callback(request, response)
        except CAUGHT_EXCEPTIONS as error:
            return refuse(response, error)

    is_coroutine = inspect.iscoroutinefunction(callback)
    service = node.create_service(
        service_type,
        name,
        answer_later if is_coroutine else answer,
        qos_profile=SERVICE_QOS,
        callback_group=group,
    )
    if is_coroutine:
        await_service(node, service)
    return service
