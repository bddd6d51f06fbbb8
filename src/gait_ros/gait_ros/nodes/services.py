# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Services that answer every request, on a busy machine and after an exception too."""

from __future__ import annotations

from collections.abc import Callable
import inspect
import traceback
from typing import Any
import warnings

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
# Text of rclpy's warning that a response was dropped, and how often one is sent again.
_DROPPED = 'client will not receive response'
_MAX_RESENDS = 20


def resend_dropped_responses(node: Node, service: Any) -> None:
    """
    Let a service send a response again if it was dropped, at most 20 times.

    Fast DDS drops a response 0.1 s after it was sent if it has not discovered the reader of the
    client by then (``rmw_send_response`` of rmw_fastrtps). On a busy machine the discovery takes
    longer, and the client would wait for ever. Between two attempts, other events are handled.
    """
    send = service.send_response

    def attempt(response: Any, header: Any, resends: int = _MAX_RESENDS) -> None:
        """Send a response, and once more later if it was dropped."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter('always')
            send(response, header)
        if not any(_DROPPED in str(warning.message) for warning in caught):
            return
        if resends:
            node.executor.create_task(attempt, response, header, resends - 1)
        else:
            node.get_logger().warning(f'{service.srv_name}: {_DROPPED}')

    service.send_response = attempt


def answer_early_requests(node: Node, executor: Any) -> None:
    """
    Answer the requests that arrived while an executor was given a node.

    The EventsExecutor is not told of a request that arrives between its two steps, to count the
    waiting requests and to ask to be told of new ones. Its client would wait for ever.
    """

    async def answer(service: Any, request: Any, header: Any) -> None:
        """Answer one request, as an executor does."""
        response = service.callback(request, service.srv_type.Response())
        if inspect.isawaitable(response):
            response = await response
        service.send_response(response, header)

    for service in node.services:
        while True:
            with service.handle:
                request, header = service.handle.service_take_request(service.srv_type.Request)
            if request is None:
                break
            executor.create_task(answer, service, request, header)


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
    resend_dropped_responses(node, service)
    if is_coroutine:
        await_service(node, service)
    return service
