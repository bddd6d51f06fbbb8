"""A node's diagnostic: fine, or what is wrong, why, and what to do, in a line for a person."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node
from std_msgs.msg import Header

from gait_ros.nodes.qos import advertise

DIAGNOSTICS_TOPIC = '/diagnostics'
"""Where aggregators and monitors listen, whatever the namespace (REP-107)."""


class Diagnostics:
    """
    The diagnostic of one node, for whoever listens.

    Parameters
    ----------
    node : Node
    task : str
        What is told of, behind the node's full name.

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
        failed: bool = False,
        fine: str = 'running',
    ) -> None:
        """
        Publish what is wrong, if anybody listens.

        Parameters
        ----------
        stamp : Time
        robot : str
            What it is about.
        trouble : str
            One line; empty: nothing is wrong.
        values : callable
            Returns what is known besides.
        failed : bool
            Whether the trouble is an error: nothing goes on until somebody acts.
        fine : str
            What is said where nothing is wrong.

        """
        if not self._publisher.get_subscription_count():
            return
        level = DiagnosticStatus.ERROR if failed else DiagnosticStatus.WARN
        status = DiagnosticStatus(
            level=level if trouble else DiagnosticStatus.OK,
            name=self._name,
            message=trouble or fine,
            hardware_id=robot,
            values=[KeyValue(key=key, value=_text(value)) for key, value in values().items()],
        )
        self._publisher.publish(DiagnosticArray(header=Header(stamp=stamp), status=[status]))


def _text(value: object) -> str:
    if isinstance(value, float):
        return f'{value:.3f}'
    return str(value).lower() if isinstance(value, bool) else str(value)
