# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Publisher of the simulated state, on topics of a bridge that have subscribers."""

from __future__ import annotations

from collections.abc import Callable
import math
import time
from typing import Any

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PointStamped
from nav_msgs.msg import Odometry
import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Header
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import MarkerArray

from gait_core.arrays import FloatArray
from gait_core.contracts import Engine
from gait_core.kinematics.sole_contacts import SoleContacts
from gait_core.measures.energy import cost_of_transport, joint_work
from gait_core.motion.observation import Observation
from gait_core.robot.model import RobotModel
from gait_core.terrains import load_terrain
from gait_core.trial.scene import Scene
from gait_interfaces.msg import Energy, FootContacts, Stability
from gait_ros.messages.conversions import BUILDER, float_buffer
from gait_ros.messages.markers import element_marker, stability_markers, terrain_marker
from gait_ros.nodes.qos import advertise
from gait_ros.trials.range_publisher import RangePublisher, set_up_range_sensing

# Shortest wall time between two messages [s].
_MIN_PERIODS = {'markers': 0.1, 'energy': 0.1, 'terrain': 1.0}
# Shortest distance with a cost of transport, in length scales of the robot.
_MIN_COST_DISTANCE = 0.1

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


class EnergyMeter:
    """Integrator of the mechanical work of each joint since a reset."""

    def __init__(self, robot: RobotModel, scene: Scene) -> None:
        self._robot, self._dt = robot, scene.control_period
        self._gravity = float(np.linalg.norm(scene.gravity))
        n = len(robot.joint_names)
        self._signed, self._absolute, self._positive = np.zeros(n), np.zeros(n), np.zeros(n)
        self._last: Observation | None = None
        self._start: FloatArray | None = None

    def update(self, state: Observation) -> None:
        """Add the work of the control period since the last state."""
        last, self._last = self._last, state
        if self._start is None and state.body_poses is not None:
            self._start = state.body_poses[:, :2].mean(axis=0)
        if last is None or not (_has_power(last) and _has_power(state)):
            return
        work = joint_work(
            np.stack((last.joint_efforts, state.joint_efforts)),
            np.stack((last.joint_velocities, state.joint_velocities)),
            self._dt,
        )
        self._signed += work.signed
        self._absolute += work.absolute
        self._positive += work.positive

    def message(self, stamp: Time) -> Energy:
        """Return the message of the work so far; fields that need efforts are empty without."""
        state = self._last
        message = Energy(header=Header(stamp=stamp), joint_names=list(self._robot.joint_names))
        if state is None or not _has_power(state):
            return message
        message.power = float_buffer(state.joint_efforts * state.joint_velocities)
        message.signed_work = float_buffer(self._signed)
        message.absolute_work = float_buffer(self._absolute)
        message.positive_work = float_buffer(self._positive)
        if self._start is not None and state.body_poses is not None:
            moved = state.body_poses[:, :2].mean(axis=0) - self._start
            message.distance = float(np.linalg.norm(moved))
        cost = cost_of_transport(
            float(self._absolute.sum()),
            self._robot.mass,
            self._gravity,
            message.distance,
            _MIN_COST_DISTANCE * self._robot.length_scale,
        )
        message.cost_of_transport = [] if cost is None else [cost]
        return message


def _has_power(state: Observation) -> bool:
    return state.joint_efforts is not None and state.joint_velocities is not None


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
        self.soles = SoleContacts(self.robot, self.gravity)
        self.energy = EnergyMeter(self.robot, scene)
        self.ground = load_terrain(scene.terrain).heightfield


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

    def publish(self, stamp: Time, state: Observation, observation: Observation) -> None:
        """
        Publish a tick.

        Parameters
        ----------
        stamp : Time
        state : Observation
            State in the engine.
        observation : Observation
            Observation of the controller, with noise and delay, for joint states and IMU.

        """
        self._run.energy.update(state)
        self._ranges.publish(stamp, state)
        wanted = {
            topic
            for topic, publisher in self._publishers.items()
            if publisher.get_subscription_count()
        }
        if not wanted:
            return
        if 'joint_states' in wanted and observation.joint_positions is not None:
            self._send(
                'joint_states', self._convert_states(BUILDER.joint_state(stamp, observation))
            )
        if 'imu/data' in wanted and observation.imu is not None:
            sensors = self._run.scene.sensors
            self._send('imu/data', BUILDER.imu(stamp, observation.imu, self._run.robot, sensors))
        if state.body_poses is not None:
            self._publish_bodies(stamp, state, wanted)
        if 'foot_contacts' in wanted and state.contacts is not None:
            supporting = self._run.soles.update(state.contacts)
            self._send('foot_contacts', BUILDER.foot_contacts(stamp, state.contacts, supporting))
        has_pose = state.joint_positions is not None and state.body_poses is not None
        if has_pose and wanted & {'zmp', 'stability', 'markers'}:
            self._publish_stability(stamp, state, wanted)
        if 'energy' in wanted and self._is_due('energy'):
            self._send('energy', self._run.energy.message(stamp))

    def _publish_bodies(self, stamp: Time, state: Observation, wanted: set[str]) -> None:
        if 'odom' in wanted:
            self._send('odom', BUILDER.odometry(stamp, state, self._run.robot))
        if '/tf' in wanted:
            links = self._link_transforms and state.joint_positions is not None
            robot = self._run.robot
            self._send('/tf', BUILDER.robot_transforms(stamp, state, robot, links))

    def _publish_stability(self, stamp: Time, state: Observation, wanted: set[str]) -> None:
        """Publish stability, ZMP and markers, of which markers are throttled."""
        if not wanted & {'zmp', 'stability'} and not self._is_due('markers'):
            return
        message = BUILDER.stability(stamp, state, self._run.robot, self._run.gravity)
        if 'stability' in wanted:
            self._send('stability', message)
        point = BUILDER.zmp(message)
        if 'zmp' in wanted and point is not None:
            self._send('zmp', point)
        if 'markers' in wanted and self._is_due('markers', mark=True):
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
        due = now - self._throttled[topic] >= _MIN_PERIODS[topic]
        if due and (mark or topic == 'energy'):
            self._throttled[topic] = now
        return due

    def _send(self, topic: str, message: Any) -> None:
        self._publishers[topic].publish(message)
