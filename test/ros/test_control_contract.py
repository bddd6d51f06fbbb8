"""
What controller_manager says and hears, in its forms, orders and timing, against our nodes.

controller_manager itself has no wheel. ``Manager`` replays what its parts do, as their sources
have it: joint_state_topic_hardware_interface (every joint in the order of the URDF's block, NaN
for what no controller claims, only the newest state counts), joint_trajectory_controller (from the
desired state to the point), joint_state_broadcaster (NaN for what the hardware does not report).
"""

import math
import random
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip('rclpy')

from builtin_interfaces.msg import Time
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from gait_core import registry
from gait_core.errors import NotInstalled
from gait_core.hardware import read_hardware
from gait_core.observation import Imu, Observation, missing
from gait_core.robot.load import load_robot, robot_names
from gait_core.robot.ros2_control import controllers_text
from gait_core.trial_setup import choose_controller
from gait_core.trial_spec import Command
from gait_ros.command_messages import seconds
from gait_ros.controller_node import ControllerNode
from gait_ros.hardware_node import HardwareNode
from sim_bridge.node import SimBridgeNode

NAN = float('nan')


class Manager:
    """controller_manager with a trajectory controller, in front of topic-based hardware."""

    def __init__(self, graph, joints, seed=0):
        self.joints = list(joints)
        self._graph, self._random = graph, random.Random(seed)
        self.state, self.desired, self.written = {}, {}, []
        self._point, self._start, self._arrives = {}, {}, 0.0
        node = graph.client
        # As their sources create them: depth 1; sensor data; reliable.
        self._commands = node.create_publisher(
            JointState, '/hardware/joint_commands', QoSProfile(depth=1)
        )
        self._states = node.create_publisher(JointState, '/joint_states', QoSProfile(depth=10))
        node.create_subscription(
            JointState, '/hardware/joint_states', self._on_state, qos_profile_sensor_data
        )
        node.create_subscription(
            JointTrajectory,
            '/joint_trajectory_controller/joint_trajectory',
            self._on_trajectory,
            QoSProfile(depth=10),
        )
        self._time = 0.0

    def _on_state(self, message):
        self.state = dict(zip(message.name, message.position, strict=True))

    def _on_trajectory(self, message):
        assert set(message.joint_names) <= set(self.joints), 'a controller would refuse these'
        point = message.points[-1]
        self._start = {**self.state, **self.desired}
        self._began = self._time
        self._arrives = self._time + seconds(point.time_from_start)
        self._point.update(zip(message.joint_names, point.positions, strict=True))

    def write(self, positions=None, joints=None, **more):
        """Publish a command as the hardware component does."""
        joints = self.joints if joints is None else joints
        values = [NAN] * len(joints) if positions is None else list(positions)
        message = JointState(name=list(joints), position=values, **more)
        self._commands.publish(message)

    def update(self, dt=0.005):
        """Run one cycle: read, let the controllers act, write, broadcast."""
        self._time += dt
        if not self.state:
            self.write()
            return
        if self._point:
            span = self._arrives - self._began
            share = min(1.0, (self._time - self._began) / span)
            for name, goal in self._point.items():
                start = self._start[name]
                self.desired[name] = start + share * (goal - start)
        command = [self.desired.get(name, NAN) for name in self.joints]
        self.written.append(command)
        self.write(command)
        known = JointState(name=['gripper', *self.joints])
        known.header.stamp = self._graph.client.get_clock().now().to_msg()
        known.position = [0.0, *(self.state[name] for name in self.joints)]
        known.velocity = [NAN] * len(known.name)
        known.effort = [NAN] * len(known.name)
        self._states.publish(known)

    def run(self, done, timeout=15.0):
        """Cycle, often late and sometimes twice in a row, until something is true."""

        def cycle():
            for _ in range(self._random.choice((0, 1, 1, 1, 2))):
                self.update()
            self._graph.spin(self._random.uniform(0.0, 0.01))
            return done()

        self._graph.until(cycle, timeout)


@pytest.fixture
def bridge(graph, box):
    return graph.add(SimBridgeNode, robot=box, mode='realtime', hardware=True)


def shuffled(model, seed=1):
    return random.Random(seed).sample(model.joint_names, len(model.joint_names))


def pose(bridge):
    return bridge._live.observation.joint_positions


def test_a_bridge_as_hardware_takes_every_form_of_command(graph, bridge, box_model):
    manager = Manager(graph, shuffled(box_model))
    graph.until(lambda: manager.state)
    start = pose(bridge).copy()
    for _ in range(5):
        manager.write()
        graph.spin(0.03)
    np.testing.assert_array_equal(pose(bridge), start)
    assert not bridge._live.commanded

    goal = {name: 0.01 * i for i, name in enumerate(box_model.joint_names)}
    manager.write([goal[name] for name in manager.joints])
    graph.until(lambda: np.allclose(pose(bridge), list(goal.values())))
    assert bridge._live.commanded

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
    graph.until(lambda: graph.logged('WARN', '7 values of position for 8 names'))
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
    graph, bridge, box, box_model
):
    manager = Manager(graph, shuffled(box_model))
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
    manager.run(lambda: bridge._live.observation.body_poses[0, 0] > 0.03)
    rows = np.array([row for row in manager.written if not np.isnan(row).any()])
    first = np.array([measured[name] for name in manager.joints])
    assert np.abs(rows[0] - first).max() <= 0.02
    assert node._safe.layer.mode == 'running'
    assert 'body_poses' not in node._seen._fields
    assert not graph.logged('WARN', 'refused')
    assert len(graph.logged('WARN', "unknown joint 'gripper'")) == 1


HARDWARE = """
joints:
  '.*': {ratio: 2, offset: 0.3}
  leg0_joint0: {motor: m0, sign: -1}
"""


def test_motors_behind_the_hardware_are_seen_as_joints(graph, box, box_model, tmp_path):
    file = tmp_path / 'hardware.yaml'
    file.write_text(HARDWARE)
    out = tmp_path / 'found.yaml'
    bridge = graph.add(SimBridgeNode, robot=box, hardware=True, calibration=str(file))
    graph.add(HardwareNode, robot=box, hardware=str(file), calibrated=str(out))
    motors = []
    graph.client.create_subscription(
        JointState, '/motors/joint_states', motors.append, qos_profile_sensor_data
    )
    manager = Manager(graph, shuffled(box_model))
    goal = {name: 0.02 * (i + 1) for i, name in enumerate(box_model.joint_names)}
    graph.until(lambda: manager.state)

    def there():
        manager.write([goal[name] for name in manager.joints])
        graph.spin(0.02)
        seen = [manager.state[name] for name in box_model.joint_names]
        return np.allclose(seen, list(goal.values())) and np.allclose(pose(bridge), seen)

    graph.until(there)
    graph.until(lambda: motors)
    readings = dict(zip(motors[-1].name, motors[-1].position, strict=True))
    assert readings['m0'] == pytest.approx(0.3 - 2 * goal['leg0_joint0'])
    assert readings['leg0_joint1'] == pytest.approx(0.3 + 2 * goal['leg0_joint1'])

    answer = graph.call(Trigger, '/hardware/calibrate')
    assert answer.success, answer.message
    found = read_hardware(str(out), box_model)
    stance = box_model.nominal_stance['leg0_joint0']
    assert found.motors['leg0_joint0'].offset == pytest.approx(readings['m0'] + 2 * stance)
    assert not graph.call(Trigger, '/hardware/calibrate').success


@pytest.mark.parametrize('namespace', ['', 'r1'])
def test_controllers_yaml_reaches_its_nodes_in_every_namespace(tmp_path, box_model, namespace):
    file = tmp_path / 'controllers.yaml'
    file.write_text(controllers_text(box_model, 'mock', 250.0))
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
        controller, preset = choose_controller(robot, '', '')
        cls = registry.load('controllers', controller)
    except NotInstalled as error:
        pytest.skip(str(error))
    made = cls(robot, cls.Params(**cls.presets[preset]))
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
    absent = missing(seen, made.needs)
    assert not {'body_poses', 'body_twists'} & set(absent)
    if not absent:
        targets = made.step(0.02, Command(velocity=(0.1, 0.0, 0.0)), seen)
        assert math.isfinite(float(np.sum(targets.position)))
