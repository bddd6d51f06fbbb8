"""Publishers of a node's topics that do not fit: of another type, or one too many."""

from __future__ import annotations

from typing import Any

from rclpy.node import Node

UNDISCOVERED = 'UNKNOWN'
"""In the name of a publisher's node that was not discovered yet."""


def find_other_publishers(node: Node, topic: str, own_count: int = 1) -> list[str]:
    """
    Return the full names of the other publishers on a topic, sorted.

    ``own`` is the number of this node's own publishers; a further one of its name is another
    node's. A publisher whose node is not discovered yet has a name with ``UNKNOWN`` in it.
    """
    found = sorted(
        f'{info.node_namespace.rstrip("/")}/{info.node_name}'
        for info in node.get_publishers_info_by_topic(node.resolve_topic_name(topic))
    )
    for _ in range(own_count):
        if node.get_fully_qualified_name() in found:
            found.remove(node.get_fully_qualified_name())
    return found


def describe_second_publisher(node: Node, topic: str, consequence: str, own_count: int = 1) -> str:
    """
    Return one line on a topic with a publisher too many; empty if there is none.

    Parameters
    ----------
    node : Node
    topic : str
    consequence : str
        What follows of it.
    own : int
        Number of the node's own publishers.

    """
    others = find_other_publishers(node, topic, own_count)
    if len(others) + own_count < 2 or any(UNDISCOVERED in other for other in others):
        return ''
    both = (
        f'{others[0]} as well as by {node.get_fully_qualified_name() if own_count else others[1]}'
    )
    return f'{topic} is published by {both}: {consequence}; end one of them'


def describe_type_mismatches(node: Node) -> list[str]:
    """
    Return a line for each topic that a node reads and another publishes as another type.

    ROS does not connect them and reports nothing.
    """
    lines = []
    for subscription in node.subscriptions:
        wanted = _type_name(subscription.msg_type)
        for other in node.get_publishers_info_by_topic(subscription.topic_name):
            if other.topic_type and other.topic_type != wanted:
                who = f'{other.node_namespace.rstrip("/")}/{other.node_name}'
                lines.append(
                    f'{subscription.topic_name} is published as {other.topic_type} by {who}: '
                    f'{node.get_name()} reads {wanted} and receives nothing'
                )
    return lines


def _type_name(kind: Any) -> str:
    package = kind.__module__.partition('.')[0]
    return f'{package}/msg/{kind.__name__}'
