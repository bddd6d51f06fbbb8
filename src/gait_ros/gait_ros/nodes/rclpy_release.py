# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Differences between the releases of rclpy that the supported distributions of ROS 2 have.

No other module asks for the release.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
import inspect
from typing import Any

from rclpy.executors import SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.time_source import TimeSource
from rosgraph_msgs.msg import Clock

# First releases of Jazzy (7.1) and Kilted (9.1) with an EventsExecutor that awaits services: rclpy
# pull requests 1613 and 1512. Lyrical begins with a later one.
_JAZZY_AWAITS, _AFTER_JAZZY = (7, 1, 11), (8, 0, 0)
_KILTED_AWAITS = (9, 1, 2)


def make_executor(context: Any = None) -> Any:
    """
    Return the EventsExecutor of rclpy, or the SingleThreadedExecutor of releases without it.

    The MultiThreadedExecutor loses most messages of a fast stream. Only ``spin_once`` may be
    called, because ``spin`` of the EventsExecutor stalls. An exception that leaves a coroutine
    ends the process on it (rclpy issue 1641), so services answer with the error instead.
    """
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor(context=context)
    return EventsExecutor(context=context)


def awaits_services(release: str) -> bool:
    """Return whether the EventsExecutor of a release of rclpy awaits a service's coroutine."""
    numbers = tuple(int(part) for part in release.split('.')[:3])
    return numbers >= _KILTED_AWAITS or _JAZZY_AWAITS <= numbers < _AFTER_JAZZY


def await_service(node: Node, service: Any) -> None:
    """
    Let a service whose callback is a coroutine function answer on every executor.

    Earlier EventsExecutors pass the coroutine on as the response. It becomes a task here, which
    sends the response.
    """
    if awaits_services(version('rclpy')):
        return
    send = service.send_response

    def send_when_done(response: Any, header: Any) -> None:
        """Send a response, or what a coroutine returns as soon as it does."""

        async def finish() -> None:
            """Await the coroutine and send its response."""
            send(await response, header)

        if inspect.iscoroutine(response):
            node.executor.create_task(finish)
        else:
            send(response, header)

    service.send_response = send_when_done


def refuse_transitions(change_state: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """
    Return the callback of a ChangeState service that refuses what the present state does not have.

    On Jazzy such a request raises RCLError, which ends the process; Kilted answers it.
    """

    def answer(request: Any, response: Any) -> Any:
        """Answer one request."""
        try:
            return change_state(request, response)
        except rclpy_implementation.RCLError:
            response.success = False
            return response

    return answer


def ignore_negative_times() -> None:
    """Let nodes ignore messages on /clock with a negative time: rclpy raises ValueError for it."""
    accept = TimeSource.clock_callback

    def accept_valid(source: TimeSource, message: Clock) -> None:
        """Set the time of a message unless it is negative."""
        if message.clock.sec >= 0:
            accept(source, message)

    TimeSource.clock_callback = accept_valid


ignore_negative_times()
