"""Names that fit and types that do not: nobody hears anything, and ROS says nothing."""

from __future__ import annotations

from typing import Any

from rclpy.node import Node


def mistyped(node: Node) -> list[str]:
    """Return a line for each topic that a node reads and another publishes as another type."""
    lines = []
    for subscription in node.subscriptions:
        wanted = _name(subscription.msg_type)
        for other in node.get_publishers_info_by_topic(subscription.topic_name):
            if other.topic_type and other.topic_type != wanted:
                who = f'{other.node_namespace.rstrip("/")}/{other.node_name}'
                lines.append(
                    f'{subscription.topic_name} is published as {other.topic_type} by {who}: '
                    f'{node.get_name()} reads {wanted} and receives nothing'
                )
    return lines


def _name(kind: Any) -> str:
    package = kind.__module__.partition('.')[0]
    return f'{package}/msg/{kind.__name__}'
