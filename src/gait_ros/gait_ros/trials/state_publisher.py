# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Publisher of the simulated state, on topics of a bridge that have subscribers."""

from __future__ import annotations

from collections.abc import Callable
import math
import time
from typing import Any, NamedTuple

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PointStamped
from nav_msgs.msg import Odometry
import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import Imu, JointState
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import MarkerArray

from gait_core.contracts import Engine
from gait_core.measures.foot_contacts import SoleContacts, stance_rule
from gait_core.measures.work_meter import WorkMeter
from gait_core.motion.observation import Observation
from gait_core.motion.targets import AppliedTargets
from gait_core.terrains import load_terrain
from gait_core.trial.scene import Scene
from gait_interfaces.msg import Energy, FootContacts, Stability
from gait_ros.messages.conversions import BUILDER
from gait_ros.messages.markers import element_marker, stability_markers, terrain_marker
from gait_ros.nodes.qos import advertise
from gait_ros.trials.range_publisher import RangePublisher, set_up_range_sensing

# Shortest wall time between two messages [s].
_MIN_PERIODS = {'markers': 0.1, 'energy': 0.1, 'terrain': 1.0}

_TOPICS = {
    'joint_states': JointState,
    'odom': Odometry,
    'imu/data': Imu,
    'foot_contacts': FootContacts,
    'zmp': PointStamped,
    'stability': Stability,
    'markers': MarkerArray,
    'energy': Energy,
    '/tf': TFMessage,
}


class PublishedTick(NamedTuple):
    """
    Tick of a simulation.

    Attributes
    ----------
    number : int
    state : Observation
        State in the engine.
    observation : Observation
        Observation of the controller, with noise and delay, for joint states and IMU.
    applied : AppliedTargets or None
        Targets applied in the control period before; None at tick 0.

    """

    number: int
    state: Observation
    observation: Observation
    applied: AppliedTargets | None


class StreamedRun:
    """
    Run whose state is published: robot, ground, range sensors and sums over ticks.

    Parameters
    ----------
    engine : Engine
        Engine after its reset.
    scene : Scene
    seed : int
        Seed of the noise of range sensors.
    sensors : str
        Names of the range sensors to publish, or ``all``.

    Raises
    ------
    ConfigurationError
        If the robot has no such range sensors, or the engine casts no rays.

    """

    def __init__(self, engine: Engine, scene: Scene, seed: int, sensors: str) -> None:
        self.robot, self.scene = engine.robot, scene
        self.ranges = set_up_range_sensing(sensors, engine, scene, seed)
        self.gravity = float(np.linalg.norm(scene.gravity))
        rule = stance_rule(self.robot, self.gravity, scene.control_period)
        self.soles = SoleContacts(rule, len(self.robot.soles))
        self.in_stance, self._last_tick = self.soles.loaded, -1
        self.meter = WorkMeter(self.robot, scene.control_period, self.gravity)
        self.ground = load_terrain(scene.terrain).heightfield

    def update(self, state: Observation, applied: AppliedTargets | None) -> None:
        """Add a tick to work and stances, with or without subscribers; both sum over ticks."""
        self.meter.update(state, applied)
        if state.contacts is not None and state.tick != self._last_tick:
            self.in_stance = self.soles.update(state.contacts.sole_forces()[:, 2])
        self._last_tick = state.tick


class StatePublisher:
    """
    Publishers of the state of a bridge.

    Parameters
    ----------
    node : Node
    link_transforms : bool
        Whether to publish the pose of every link on /tf.
    joint_states : str
        Topic of the joint states.
    convert_states : callable
        Converts a message of joint states before it is published.

    """

    def __init__(
        self,
        node: Node,
        link_transforms: bool,
        joint_states: str = 'joint_states',
        convert_states: Callable[[JointState], JointState] = lambda message: message,
    ) -> None:
        self._link_transforms, self._convert_states = link_transforms, convert_states
        self._ranges = RangePublisher(node)
        names = {'joint_states': joint_states}
        self._publishers: dict[str, Any] = {
            topic: advertise(node, kind, names.get(topic, topic))
            for topic, kind in _TOPICS.items()
        }
        self._throttled = dict.fromkeys(_MIN_PERIODS, -math.inf)

    def begin(self, run: StreamedRun, stamp: Time) -> None:
        """Start or continue publishing a run."""
        self._ranges.begin(run.ranges, stamp)
        self._run = run
        self._throttled['terrain'] = -math.inf

    def publish(self, stamp: Time, tick: PublishedTick) -> None:
        """Publish a tick."""
        state, observation = tick.state, tick.observation
        self._run.update(state, tick.applied)
        self._ranges.publish(stamp, state)
        topics = {
            topic
            for topic, publisher in self._publishers.items()
            if publisher.get_subscription_count()
        }
        if not topics:
            return
        if 'joint_states' in topics and observation.joint_positions is not None:
            self._send(
                'joint_states', self._convert_states(BUILDER.joint_state(stamp, observation))
            )
        if 'imu/data' in topics and observation.imu is not None:
            sensors = self._run.scene.sensors
            self._send('imu/data', BUILDER.imu(stamp, observation.imu, self._run.robot, sensors))
        if state.body_poses is not None:
            self._publish_bodies(stamp, state, topics)
        if 'foot_contacts' in topics and state.contacts is not None:
            standing = self._run.in_stance
            self._send('foot_contacts', BUILDER.foot_contacts(stamp, state.contacts, standing))
        has_pose = state.joint_positions is not None and state.body_poses is not None
        if has_pose and topics & {'zmp', 'stability', 'markers'}:
            self._publish_stability(stamp, state, topics)
        if 'energy' in topics and self._is_due('energy'):
            self._send('energy', BUILDER.energy(stamp, self._run.robot, self._run.meter))

    def _publish_bodies(self, stamp: Time, state: Observation, topics: set[str]) -> None:
        if 'odom' in topics:
            self._send('odom', BUILDER.odometry(stamp, state, self._run.robot))
        if '/tf' in topics:
            has_links = self._link_transforms and state.joint_positions is not None
            robot = self._run.robot
            self._send('/tf', BUILDER.robot_transforms(stamp, state, robot, has_links))

    def _publish_stability(self, stamp: Time, state: Observation, topics: set[str]) -> None:
        """Publish stability, ZMP and markers, of which markers are throttled."""
        if not topics & {'zmp', 'stability'} and not self._is_due('markers'):
            return
        message = BUILDER.stability(stamp, state, self._run.robot, self._run.gravity)
        if 'stability' in topics:
            self._send('stability', message)
        point = BUILDER.zmp(message)
        if 'zmp' in topics and point is not None:
            self._send('zmp', point)
        if 'markers' in topics and self._is_due('markers', mark=True):
            load = self._run.robot.mass * (self._run.gravity or 1.0)
            shown = stability_markers(
                message, state, load, self._run.scene.fixed_base, self._run.robot.length_scale
            )
            shown.markers.append(element_marker(stamp, state, self._run.robot))
            if self._is_due('terrain', mark=True):
                over = state.body_poses[0, :2]
                size = self._run.robot.length_scale
                shown.markers.append(terrain_marker(stamp, self._run.ground, over, size))
            self._send('markers', shown)

    def _is_due(self, topic: str, mark: bool = False) -> bool:
        now = time.monotonic()
        is_due = now - self._throttled[topic] >= _MIN_PERIODS[topic]
        if is_due and (mark or topic == 'energy'):
            self._throttled[topic] = now
        return is_due

    def _send(self, topic: str, message: Any) -> None:
        self._publishers[topic].publish(message)
