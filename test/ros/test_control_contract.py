# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Nodes work with the messages of controller_manager, in all its forms, orders and timing.

controller_manager itself has no wheel: the fixture ``manage`` replays what its parts do.
"""

import math
import random
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip('rclpy')

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Twist
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from gait_core import registry
from gait_core.errors import NotInstalled
from gait_core.motion.observation import Imu, Observation, missing_fields
from gait_core.robot.load import load_robot, robot_names
from gait_core.trial.robot_gait import resolve_gait
from gait_core.trial.spec import Command
from gait_ros.hardware.motors import read_hardware
from gait_ros.hardware.node import HardwareNode
from gait_ros.hardware.ros2_control import controllers_yaml
from gait_ros.live.node import ControllerNode
from sim_bridge.node import SimBridgeNode

NAN = float('nan')


@pytest.fixture
def bridge(graph, box):
    return graph.add(SimBridgeNode, robot=box, mode='realtime', hardware=True)


def shuffled(model, seed=1):
    return random.Random(seed).sample(model.joint_names, len(model.joint_names))


def pose(bridge):
    return bridge._live.observation.joint_positions


def test_a_bridge_as_hardware_takes_every_form_of_command(graph, bridge, box_model, manage):
    manager = manage(shuffled(box_model))
    graph.until(lambda: manager.state)
    start = pose(bridge).copy()
    for _ in range(5):
        manager.write()
        graph.spin(0.03)
    np.testing.assert_array_equal(pose(bridge), start)
    assert not bridge._live.is_commanded

    goal = {name: 0.01 * i for i, name in enumerate(box_model.joint_names)}
    manager.write([goal[name] for name in manager.joints])
    graph.until(lambda: np.allclose(pose(bridge), list(goal.values())))
    assert bridge._live.is_commanded

    # Some joints; NaN among others; quantities that nobody claimed; a stamp from another time.
    first, second, *_ = manager.joints
    manager.write([0.2], joints=[first])
    goal[first] = 0.2
    values = [NAN if name != second else 0.3 for name in manager.joints]
    late = JointState().header
    late.stamp = Time(sec=1)
    manager.write(values, velocity=[NAN] * 8, effort=[NAN] * 8, header=late)
    goal[second] = 0.3
    graph.until(lambda: np.allclose(pose(bridge), list(goal.values())))

    before = pose(bridge).copy()
    manager.write([0.5] * 7)
    manager.write([0.5, 0.5], joints=[first, first])
    graph.until(lambda: graph.logged('WARN', 'position has 7 values, expected 8'))
    graph.spin(0.1)
    np.testing.assert_array_equal(pose(bridge), before)


def test_as_hardware_it_is_silent_where_a_broadcaster_speaks(bridge):
    published = {publisher.topic_name for publisher in bridge.publishers}
    taken = {subscription.topic_name for subscription in bridge.subscriptions}
    assert '/joint_states' not in published and '/hardware/joint_states' in published
    assert '/hardware/joint_commands' in taken
    assert not {'/joint_trajectory', '/commands'} & taken
    # The clock and the senses of the body are still its own.
    assert {'/clock', '/imu/data', '/foot_contacts', '/odom'} <= published


def test_a_gait_walks_through_a_jittering_manager_without_the_pose_of_the_base(
    graph, bridge, box, box_model, manage
):
    manager = manage(shuffled(box_model))
    graph.until(lambda: manager.state)
    measured = dict(manager.state)
    node = graph.add(
        ControllerNode,
        robot=box,
        controller='wave',
        use_sim_time=True,
        gait__amplitude=0.4,
        safety__start_speed=5.0,
        remap=(
            'joint_trajectory:=joint_trajectory_controller/joint_trajectory',
            'odom:=odom_of_nobody',
        ),
    )
    velocity, asked = graph.client.create_publisher(Twist, '/cmd_vel', 10), Twist()
    asked.linear.x = 0.1
    graph.client.create_timer(0.05, lambda: velocity.publish(asked))
    manager.run(
        lambda: (
            bridge._live.observation.body_poses[0, 0] > 0.03 and node._safe.layer.mode == 'running'
        )
    )
    rows = np.array([row for row in manager.written if not np.isnan(row).any()])
    first = np.array([measured[name] for name in manager.joints])
    assert np.abs(rows[0] - first).max() <= 0.02
    assert node._safe.layer.mode == 'running'
    assert 'body_poses' not in node._live.observation._fields
    assert not graph.logged('WARN', 'refused')
    assert len(graph.logged('WARN', "unknown joint 'gripper'")) == 1


HARDWARE = """
joints:
  '.*': {ratio: 2, offset: 0.3}
  leg0_joint0: {motor: m0, sign: -1}
"""


def test_motors_behind_the_hardware_are_seen_as_joints(graph, box, box_model, manage, tmp_path):
    file = tmp_path / 'hardware.yaml'
    file.write_text(HARDWARE)
    out = tmp_path / 'found.yaml'
    bridge = graph.add(SimBridgeNode, robot=box, hardware=True, calibration=str(file))
    graph.add(HardwareNode, robot=box, hardware=str(file), calibrated=str(out), start_speed=100.0)
    motors = []
    graph.client.create_subscription(
        JointState, '/motors/joint_states', motors.append, qos_profile_sensor_data
    )
    manager = manage(shuffled(box_model))
    goal = {name: 0.02 * (i + 1) for i, name in enumerate(box_model.joint_names)}
    graph.until(lambda: manager.state)
    asked = graph.client.create_publisher(Bool, '/motion_requested', 10)

    def there():
        asked.publish(Bool(data=True))
        manager.write([goal[name] for name in manager.joints])
        graph.spin(0.02)
        seen = [manager.state[name] for name in box_model.joint_names]
        return np.allclose(seen, list(goal.values())) and np.allclose(pose(bridge), seen)

    graph.until(there)
    graph.until(lambda: motors)
    readings = dict(zip(motors[-1].name, motors[-1].position, strict=True))
    assert readings['m0'] == pytest.approx(0.3 - 2 * goal['leg0_joint0'])
    assert readings['leg0_joint1'] == pytest.approx(0.3 + 2 * goal['leg0_joint1'])

    # The motors must have been still for a second.
    graph.until(lambda: graph.call(Trigger, '/hardware/calibrate').success)
    found = read_hardware(str(out), box_model)
    stance = box_model.nominal_stance['leg0_joint0']
    assert found.motors['leg0_joint0'].offset == pytest.approx(readings['m0'] + 2 * stance)
    assert not graph.call(Trigger, '/hardware/calibrate').success


@pytest.mark.parametrize('namespace', ['', 'r1'])
def test_controllers_yaml_reaches_its_nodes_in_every_namespace(tmp_path, box_model, namespace):
    file = tmp_path / 'controllers.yaml'
    file.write_text(controllers_yaml(box_model, 'mock', 250.0))
    script = (
        'import sys, rclpy\nfrom rclpy.node import Node\nrclpy.init(args=sys.argv)\n'
        "for name, key in (('controller_manager', 'update_rate'),"
        " ('joint_trajectory_controller', 'joints')):\n"
        '    node = Node(name, automatically_declare_parameters_from_overrides=True)\n'
        '    print(node.get_parameter(key).value)\n'
    )
    given = ['--ros-args', '--params-file', str(file), '-r', f'__ns:=/{namespace}']
    done = subprocess.run(
        [sys.executable, '-c', script, *given], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ['250', str(list(box_model.joint_names))]


@pytest.mark.parametrize('name', [n for n in robot_names() if n != 'tetraspine'])
def test_a_robots_own_gait_needs_nothing_that_hardware_lacks(name):
    try:
        robot = load_robot(name)
        gait = resolve_gait(robot)
        cls = registry.load('controllers', gait.controller)
    except NotInstalled as error:
        pytest.skip(str(error))
    made = cls(robot, cls.Params(**gait.parameters))
    made.reset(0)
    n = len(robot.joint_names)
    seen = Observation(
        tick=0,
        time=0.0,
        joint_names=robot.joint_names,
        joint_positions=robot.joint_stance,
        joint_velocities=np.zeros(n),
        joint_efforts=np.zeros(n),
        imu=Imu(
            orientation=np.array([0.0, 0.0, 0.0, 1.0]),
            angular_velocity=np.zeros(3),
            linear_acceleration=np.array([0.0, 0.0, 9.81]),
        ),
    )
    absent = missing_fields(seen, made.needs)
    assert not {'body_poses', 'body_twists'} & set(absent)
    if not absent:
        targets = made.step(0.02, Command(velocity=(0.1, 0.0, 0.0)), seen)
        assert math.isfinite(float(np.sum(targets.position)))
