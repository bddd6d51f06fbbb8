# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Publisher of the readings of lidars and depth cameras of a bridge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from builtin_interfaces.msg import Time
import numpy as np
from rclpy.node import Node
from tf2_msgs.msg import TFMessage

from gait_core.contracts import Engine
from gait_core.errors import ConfigurationError
from gait_core.motion.observation import Observation
from gait_core.robot.range_sensor import RangeSensor
from gait_core.sensors.ranging import RangeReader, RangingEngine, select_sensors
from gait_core.trial.scene import Scene
from gait_ros.messages.range_messages import reading_messages, sensor_topics, sensor_transforms
from gait_ros.nodes.qos import LATCHED_QOS, advertise


@dataclass(frozen=True)
class RangeSensing:
    """Range sensors of a run, their readers, and the engine that casts the rays."""

    sensors: Sequence[RangeSensor]
    readers: Sequence[RangeReader]
    engine: RangingEngine | None


def set_up_range_sensing(names: str, engine: Engine, scene: Scene, seed: int) -> RangeSensing:
    """
    Return the chosen range sensors of a run; its engine has been reset.

    Raises
    ------
    ConfigurationError
        If the robot has no such sensor, a sensor reads more than once per control period, or the
        engine casts no rays.

    """
    robot = engine.robot
    sensors = select_sensors(robot, names)
    readers = [RangeReader(robot, sensor, scene.control_period, seed) for sensor in sensors]
    return RangeSensing(
        sensors, readers, _check_ranging(engine, scene.engine) if sensors else None
    )


class RangePublisher:
    """Publishers of the range sensors of a bridge; without sensors it does nothing."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._ranges = RangeSensing((), (), None)
        self._publishers: dict[str, Any] = {}
        self._static: Any = None

    def begin(self, ranges: RangeSensing, stamp: Time) -> None:
        """Start publishing the sensors of a run; an error leaves the publishers unchanged."""
        kinds = {
            topic: kind
            for sensor in ranges.sensors
            for topic, kind in sensor_topics(sensor).items()
        }
        for topic, kind in kinds.items():
            if topic not in self._publishers:
                self._publishers[topic] = advertise(self._node, kind, topic)
        for topic in self._publishers.keys() - kinds.keys():
            self._node.destroy_publisher(self._publishers.pop(topic))
        self._ranges = ranges
        if ranges.sensors:
            if self._static is None:
                self._static = advertise(self._node, TFMessage, '/tf_static', LATCHED_QOS)
            self._static.publish(sensor_transforms(stamp, ranges.sensors))

    def publish(self, stamp: Time, state: Observation) -> None:
        """Publish the readings that are due at a tick and have subscribers."""
        for reader in self._ranges.readers:
            sensor = reader.sensor
            if not (
                reader.is_due(state.tick)
                and any(map(self._has_subscribers, sensor_topics(sensor)))
            ):
                continue
            assert self._ranges.engine is not None
            reading = reader.read(state, self._ranges.engine)
            for topic, message in reading_messages(stamp, sensor, reading).items():
                self._publishers[topic].publish(message)

    def _has_subscribers(self, topic: str) -> bool:
        return bool(self._publishers[topic].get_subscription_count())


def _check_ranging(engine: Any, name: str) -> RangingEngine:
    """Return an engine that can cast rays at the ground of its scene."""
    if not isinstance(engine, RangingEngine):
        raise ConfigurationError(f"engine '{name}' casts no rays for range sensors")
    # An engine with the method may still refuse. This call also builds the ground now, instead of
    # in the middle of a run.
    engine.cast(np.zeros(3), np.zeros((0, 3)), 1.0)
    return engine
