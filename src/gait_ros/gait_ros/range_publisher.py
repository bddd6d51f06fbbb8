"""Publishes what a bridge's lidars and depth cameras see, at their rates, to whoever listens."""

from __future__ import annotations

from typing import Any

from builtin_interfaces.msg import Time
import numpy as np
from rclpy.node import Node
from tf2_msgs.msg import TFMessage

from gait_core.errors import ConfigurationError
from gait_core.observation import Observation
from gait_core.range_sensors import RangeReader, RangingEngine, choose_sensors
from gait_core.robot.model import RobotModel
from gait_core.scene import Scene
from gait_core.trial import engine_for
from gait_ros.qos import LATCHED, advertise
from gait_ros.range_messages import messages, mounts, topics


class RangePublisher:
    """
    The range sensors of one bridge; without names it does nothing.

    Parameters
    ----------
    node : Node
    names : str
        Of sensors of the robot, as of ``choose_sensors``.

    """

    def __init__(self, node: Node, names: str) -> None:
        self._node, self._names = node, names
        self._readers: list[RangeReader] = []
        self._publishers: dict[str, Any] = {}
        self._static: Any = None

    def check(self, robot: RobotModel, scene: Scene) -> None:
        """Raise ConfigurationError if a robot has no such sensors, or slower ones are needed."""
        for sensor in choose_sensors(robot, self._names):
            RangeReader(robot, sensor, scene.control_period, 0)

    def restart(self, robot: RobotModel, scene: Scene, seed: int, stamp: Time) -> None:
        """
        Begin a trial or a live run whose engine has been reset.

        Raises
        ------
        ConfigurationError
            If the robot has no such sensor, or the engine casts no rays.

        """
        sensors = choose_sensors(robot, self._names)
        self._readers = []
        if sensors:
            self._engine = _ranging(scene.engine)
            self._readers = [
                RangeReader(robot, sensor, scene.control_period, seed) for sensor in sensors
            ]
        kinds = {topic: kind for one in sensors for topic, kind in topics(one).items()}
        for topic in self._publishers.keys() - kinds.keys():
            self._node.destroy_publisher(self._publishers.pop(topic))
        for topic, kind in kinds.items():
            if topic not in self._publishers:
                self._publishers[topic] = advertise(self._node, kind, topic)
        if sensors:
            if self._static is None:
                self._static = advertise(self._node, TFMessage, '/tf_static', LATCHED)
            self._static.publish(mounts(stamp, sensors))

    def publish(self, stamp: Time, true: Observation) -> None:
        """Publish the readings that are due at a tick and listened to."""
        for reader in self._readers:
            sensor = reader.sensor
            if not (reader.due(true.tick) and any(map(self._heard, topics(sensor)))):
                continue
            reading = reader.read(true, self._engine)
            for topic, message in messages(stamp, sensor, reading).items():
                self._publishers[topic].publish(message)

    def _heard(self, topic: str) -> bool:
        return bool(self._publishers[topic].get_subscription_count())


def _ranging(name: str) -> RangingEngine:
    """Return this process's engine of a name, ready to cast rays at the ground of its scene."""
    engine: Any = engine_for(name)
    if not isinstance(engine, RangingEngine):
        raise ConfigurationError(f"engine '{name}' casts no rays for range sensors")
    # One that has the method may refuse; the ground is built now, not in the middle of a run.
    engine.cast(np.zeros(3), np.zeros((0, 3)), 1.0)
    return engine
