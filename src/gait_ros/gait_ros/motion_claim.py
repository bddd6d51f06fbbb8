"""A live gait's claim on its robot: one sender of targets, and whether motors may follow it."""

from __future__ import annotations

from rclpy.node import Node
from std_msgs.msg import Bool

from gait_core.errors import ConfigurationError
from gait_core.safety import RUNNING, STARTING
from gait_ros.clock import UNKNOWN, others_on
from gait_ros.joint_messages import MOTION
from gait_ros.qos import advertise


class MotionClaim:
    """
    Publishes whether motion was asked for, and finds second senders of a gait's targets.

    The node ``hardware`` lets commands reach motors only while this says so: from the moment
    somebody asks the active gait for motion until the gait ends or is deactivated.

    Parameters
    ----------
    node : Node
    topic : str
        On which the node publishes its targets.

    """

    def __init__(self, node: Node, topic: str) -> None:
        self._node, self._topic = node, topic
        self._publisher = advertise(node, Bool, MOTION)
        self.asked = False
        """Whether anybody has asked for motion since ``begin``."""
        self.rival = ''
        """Who sends targets to the same robot, for a person; empty: nobody does."""

    def begin(self) -> None:
        """
        Make the claim, for a robot that nobody has asked for motion yet.

        Raises
        ------
        ConfigurationError
            If another node sends targets to the same robot; the message names it.

        """
        self.look()
        if self.rival:
            raise ConfigurationError(self.rival)
        self.end()

    def look(self) -> None:
        """Look for a second sender."""
        others = others_on(self._node, self._topic)
        self.rival = ''
        if others and not any(UNKNOWN in other for other in others):
            topic = self._node.resolve_topic_name(self._topic)
            self.rival = (
                f'{topic} is published by {others[0]}, too: the robot would follow both in turn; '
                'end one of them'
            )

    def tell(self, mode: str) -> None:
        """Publish the claim of a gait whose safety layer is in a mode."""
        self.asked |= mode in (STARTING, RUNNING)
        self._publisher.publish(Bool(data=self.asked))

    def end(self) -> None:
        """Tell that the motors are to be left as they are."""
        self.asked = False
        self._publisher.publish(Bool(data=False))
