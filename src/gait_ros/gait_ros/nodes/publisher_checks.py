# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Checks for publishers of a wrong message type, and for two publishers on one topic."""

from __future__ import annotations

from typing import Any

from rclpy.node import Node

UNDISCOVERED = 'UNKNOWN'
"""Part of the name of a node that has not been discovered yet."""


def find_other_publishers(node: Node, topic: str, own_count: int = 1) -> list[str]:
    """
    Return the sorted full names of the nodes that also publish on a topic.

    The node itself has ``own_count`` publishers; a further one is that of another node with the
    same name. The name of a node that has not been discovered yet contains ``UNDISCOVERED``.
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
    Return one line if a topic has a second publisher; empty otherwise.

    Parameters
    ----------
    node : Node
    topic : str
    consequence : str
        Effect of two publishers, for the line.
    own_count : int
        Number of publishers of the node itself.

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
    Return one line for each subscribed topic that another node publishes as another type.

    ROS does not connect the two, and reports nothing.
    """
    lines = []
    for subscription in node.subscriptions:
        own_type = _type_name(subscription.msg_type)
        for other in node.get_publishers_info_by_topic(subscription.topic_name):
            if other.topic_type and other.topic_type != own_type:
                who = f'{other.node_namespace.rstrip("/")}/{other.node_name}'
                lines.append(
                    f'{subscription.topic_name} is published as {other.topic_type} by {who}: '
                    f'{node.get_name()} reads {own_type} and receives nothing'
                )
    return lines


def _type_name(kind: Any) -> str:
    package = kind.__module__.partition('.')[0]
    return f'{package}/msg/{kind.__name__}'
