# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""A live walk changes its gait and body pose, sits down and stands up, over topics."""

import math

import numpy as np
import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import Pose, Twist
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from std_srvs.srv import SetBool, Trigger

from gait_core.robot.load import load_robot
from gait_core.testing.skips import need_engine, need_robot
from gait_interfaces.srv import Step
from gait_ros.live.node import ControllerNode
from sim_bridge.node import SimBridgeNode

need_engine('mujoco')
need_robot('a1')
DT = 0.02


class Walk:
    """A bridge that is stepped, and the gait's node that follows its clock."""

    def __init__(self, graph):
        self._graph, self._told = graph, 0
        self.bridge = graph.add(
            SimBridgeNode, robot='a1', engine='mujoco', mode='lockstep', publish_clock=True
        )
        self.node = graph.add(
            ControllerNode, robot='a1', use_sim_time=True, command_timeout=60.0,
            safety__start_speed=100.0,
        )  # fmt: skip
        self._velocity = graph.client.create_publisher(Twist, 'cmd_vel', 10)
        self._pose = graph.client.create_publisher(Pose, 'body_pose', 10)
        self._fast = load_robot('a1').velocity_limit
        self._step = graph.client.create_client(Step, '/sim_bridge/step')
        graph.until(self._step.service_is_ready)
        graph.until(lambda: self.node.count_publishers('/clock'))

    @property
    def pose(self):
        return self.bridge._live.observation.body_poses[0]

    @property
    def tilt(self):
        x, y, z, w = self.pose[3:]
        return math.atan2(2.0 * (w * y - z * x), 1.0 - 2.0 * (x * x + y * y))

    def go(self, seconds):
        """Let simulated time pass; no joint is ever faster than it may be."""
        for _ in range(round(seconds / DT)):
            self._told = self.bridge._live.command_count
            future = self._step.call_async(Step.Request())
            self._graph.until(future.done)
            assert self.node._safe.layer.mode != 'fallen', self.node._safe.layer.reason
            rates = np.abs(self.bridge._live.observation.joint_velocities)
            assert rates.max() < 1.1 * self._fast.max()
            self._graph.until(self._answered, 0.5, fail=False)

    def _answered(self):
        return self.bridge._live.command_count > self._told

    def velocity(self, x):
        message = Twist()
        message.linear.x = x
        self._velocity.publish(message)

    def body(self, height=0.0, pitch=0.0):
        message = Pose()
        message.position.z = height
        message.orientation.y, message.orientation.w = math.sin(pitch / 2), math.cos(pitch / 2)
        self._pose.publish(message)

    def sit(self, down):
        assert self._graph.call(SetBool, '/controller/sit', data=down).success

    def gait(self, **values):
        given = [Parameter(f'gait.{k}', value=v).to_parameter_msg() for k, v in values.items()]
        answer = self._graph.call(SetParameters, '/controller/set_parameters', parameters=given)
        assert all(result.successful for result in answer.results)


def test_gaits_follow_one_another_and_the_body_moves_over_its_feet(graph):
    walk = Walk(graph)
    walk.velocity(0.25)
    walk.go(1.0)
    for gait in ('pace', 'trot'):
        walk.gait(gait=gait)
        walk.go(0.8)
    # It speeds up with 0.5 m/s^2 and keeps on while gaits change.
    assert walk.pose[0] == pytest.approx(0.25 * 2.6 - 0.06, rel=0.25)
    walk.velocity(0.0)
    walk.go(1.2)
    height, tilt, there = walk.pose[2], walk.tilt, walk.pose[0]
    walk.body(height=-0.04, pitch=0.1)
    walk.go(0.6)
    assert walk.pose[2] == pytest.approx(height - 0.04, abs=0.005)
    assert walk.tilt - tilt == pytest.approx(0.1, abs=0.02)
    # Neither a quaternion that is none nor a height that is no number changes that.
    walk.body(height=math.nan)
    walk.go(0.2)
    assert graph.logged('WARN', 'body_pose refused')
    assert walk.pose[2] == pytest.approx(height - 0.04, abs=0.005)
    walk.body()
    walk.sit(True)
    walk.velocity(0.25)
    walk.go(2.2)
    # It sits, whatever the velocity: half of its height is where it would count as fallen.
    assert 0.5 < walk.pose[2] / load_robot('a1').length_scale < 0.65
    assert walk.pose[0] == pytest.approx(there, abs=0.03)
    walk.velocity(0.0)
    walk.sit(False)
    walk.go(2.2)
    assert walk.pose[2] == pytest.approx(height, abs=0.01)
    walk.velocity(0.25)
    walk.go(1.0)
    assert walk.pose[0] > there + 0.1


def test_a_posture_is_refused_while_the_robot_cannot_move(graph):
    node = graph.add(ControllerNode, robot='a1', autostart=False)
    pose = graph.client.create_publisher(Pose, '/body_pose', 10)
    node.trigger_configure()
    graph.until(pose.get_subscription_count)
    answer = graph.call(SetBool, '/controller/sit', data=True)
    assert not answer.success and 'the node is inactive' in answer.message
    message = Pose()
    message.position.z = -0.05
    pose.publish(message)
    graph.until(lambda: graph.logged('WARN', 'body_pose refused: the node is inactive'))
    node.trigger_activate()
    assert graph.call(Trigger, '/controller/emergency_stop').success
    answer = graph.call(SetBool, '/controller/sit', data=False)
    assert not answer.success and 'the robot cannot move' in answer.message
    # Neither request moves the robot later.
    assert graph.call(Trigger, '/controller/resume').success
    graph.spin(0.3)
    assert not node._live.motion.command.set_points.keys() & {'sit', 'height'}
