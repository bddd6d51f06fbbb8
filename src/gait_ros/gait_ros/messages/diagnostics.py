# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Diagnostics of a node: its state or its trouble, in one line."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node
from std_msgs.msg import Header

from gait_ros.nodes.qos import advertise

DIAGNOSTICS_TOPIC = '/diagnostics'
"""Topic of aggregators and monitors in every namespace (REP-107)."""


class Diagnostics:
    """
    Publisher of the diagnostics of a node.

    Parameters
    ----------
    node : Node
    task : str
        Name of the diagnosed part, after the full name of the node.

    """

    def __init__(self, node: Node, task: str) -> None:
        self._publisher = advertise(node, DiagnosticArray, DIAGNOSTICS_TOPIC)
        self._name = f'{node.get_fully_qualified_name()}: {task}'

    def publish(
        self,
        stamp: Time,
        robot: str,
        trouble: str,
        values: Callable[[], Mapping[str, object]],
        *,
        is_error: bool = False,
        ok_message: str = 'running',
    ) -> None:
        """
        Publish the diagnostics if the topic has subscribers.

        Parameters
        ----------
        stamp : Time
        robot : str
            Name of the robot, as the hardware id.
        trouble : str
            One line on the trouble, its cause and remedy; empty without trouble.
        values : callable
            Returns further named values.
        is_error : bool
            Whether the trouble is an error, which lasts until somebody acts, and not a warning.
        ok_message : str
            Message without trouble.

        """
        if not self._publisher.get_subscription_count():
            return
        level = DiagnosticStatus.ERROR if is_error else DiagnosticStatus.WARN
        status = DiagnosticStatus(
            level=level if trouble else DiagnosticStatus.OK,
            name=self._name,
            message=trouble or ok_message,
            hardware_id=robot,
            values=[KeyValue(key=key, value=_text(value)) for key, value in values().items()],
        )
        self._publisher.publish(DiagnosticArray(header=Header(stamp=stamp), status=[status]))


def _text(value: object) -> str:
    """Return a value as text: floats with three decimals, booleans in lower case."""
    if isinstance(value, float):
        return f'{value:.3f}'
    return str(value).lower() if isinstance(value, bool) else str(value)
