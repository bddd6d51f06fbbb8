"""Claim of a live gait on its robot: the only sender of targets, and permission for motors."""

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
    Publisher of the topic ``motion_requested``, and check for a second sender of targets.

    The node ``hardware`` passes commands on to the motors only while the topic is true: from the
    first request for motion of the active gait until the gait is deactivated.

    Parameters
    ----------
    node : Node
    topic : str
        Topic on which the node publishes its targets.

    """

    def __init__(self, node: Node, topic: str) -> None:
        self._node, self._topic = node, topic
        self._publisher = advertise(node, Bool, MOTION_TOPIC)
        self.is_requested = False
        """True if motion was requested since ``begin``."""
        self.conflict = ''
        """One line on another node that sends targets to the same robot, or empty."""

    def begin(self) -> None:
        """
        Claim the robot, without permission for its motors yet.

        Raises
        ------
        ConfigurationError
            If another node sends targets to the same robot; the message names it.

        """
        self.find_conflict()
        if self.conflict:
            raise ConfigurationError(self.conflict)
        self.end()

    def find_conflict(self) -> None:
        """Update ``rival`` from the publishers of the topic."""
        others = find_other_publishers(self._node, self._topic)
        self.conflict = ''
        # A publisher whose node is not discovered yet has no name to report: wait for it.
        if others and not any(UNDISCOVERED in other for other in others):
            topic = self._node.resolve_topic_name(self._topic)
            self.conflict = (
                f'{topic} is published by {others[0]}, too: the robot would follow both in turn; '
                'end one of them'
            )

    def publish(self, mode: str) -> None:
        """Publish the permission, which begins when the safety layer's mode moves the robot."""
        self.is_requested |= mode in (STARTING, RUNNING)
        self._publisher.publish(Bool(data=self.is_requested))

    def end(self) -> None:
        """Withdraw the permission: the motors hold."""
        self.is_requested = False
        self._publisher.publish(Bool(data=False))
