# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Claim of a live gait on its robot: permission for the motors, and check for a second gait."""

from __future__ import annotations

from rclpy.node import Node
from std_msgs.msg import Bool

from gait_core.errors import ConfigurationError
from gait_core.safety.layer import RUNNING, STARTING
from gait_ros.hardware.motors import MOTION_TOPIC
from gait_ros.nodes.publisher_checks import UNDISCOVERED, find_other_publishers
from gait_ros.nodes.qos import advertise


class MotionClaim:
    """
    Publisher of the topic ``motion_requested``, and check for a second publisher of targets.

    The node ``hardware`` passes commands to the motors only while the topic is true: from the
    first motion request to the active gait until its deactivation.

    Parameters
    ----------
    node : Node
    topic : str
        Topic on which the node publishes its targets.

    Attributes
    ----------
    is_requested : bool
        Whether motion was requested since ``begin``.
    conflict : str
        One line on another node that publishes targets for the same robot; empty: there is none.

    """

    def __init__(self, node: Node, topic: str) -> None:
        self._node, self._topic = node, topic
        self._publisher = advertise(node, Bool, MOTION_TOPIC)
        self.is_requested = False
        self.conflict = ''

    def begin(self) -> None:
        """
        Claim the robot, without permission for its motors.

        Raises
        ------
        ConfigurationError
            If another node publishes targets for the same robot; the message names it.

        """
        self.update_conflict()
        if self.conflict:
            raise ConfigurationError(self.conflict)
        self.end()

    def update_conflict(self) -> None:
        """Update ``conflict`` from the publishers of the topic."""
        others = find_other_publishers(self._node, self._topic)
        self.conflict = ''
        # A publisher whose node has not been discovered yet has no name to report: wait for it.
        if others and not any(UNDISCOVERED in other for other in others):
            topic = self._node.resolve_topic_name(self._topic)
            self.conflict = (
                f'{topic} is published by {others[0]}, too: the robot would follow both in turn; '
                'end one of them'
            )

    def publish(self, mode: str) -> None:
        """Publish the permission, which begins when the safety layer starts to move the robot."""
        self.is_requested |= mode in (STARTING, RUNNING)
        self._publisher.publish(Bool(data=self.is_requested))

    def end(self) -> None:
        """Withdraw the permission, so that the motors hold."""
        self.is_requested = False
        self._publisher.publish(Bool(data=False))
