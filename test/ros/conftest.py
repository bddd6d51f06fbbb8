# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Nodes in this process or in their own, on a domain that nobody else uses."""

import os
from pathlib import Path
import random
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip('rclpy', reason='rclpy is not installed')
pytest.importorskip('gait_interfaces', reason='gait_interfaces is not built')

import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from gait_core import registry
from gait_core.robot.load import load_robot
from gait_core.testing.domain import own_domain
from gait_core.testing.doubles import legged_box
from gait_core.testing.folders import write_plugin_folder, write_robot_folder
from gait_ros.nodes.rclpy_release import make_executor


def pytest_collection_modifyitems(items):
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.ros)


@pytest.fixture(scope='module', autouse=True)
def domain():
    """Keep the domain of this run, in which its children are too, on this machine."""
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    return own_domain()


@pytest.fixture(scope='module', autouse=True)
def plugins(tmp_path_factory):
    """Register an engine without physics and a controller of sines, here and in children."""
    folder = str(write_plugin_folder(tmp_path_factory.mktemp('plugins')))
    before = os.environ.get('PYTHONPATH', '')
    os.environ['PYTHONPATH'] = os.pathsep.join(filter(None, (folder, before)))
    sys.path.insert(0, folder)
    registry._entries.cache_clear()
    yield folder
    sys.path.remove(folder)
    os.environ['PYTHONPATH'] = before
    registry._entries.cache_clear()


@pytest.fixture(scope='module')
def box(tmp_path_factory):
    """Return the folder of a robot whose default engine has no physics."""
    return str(write_robot_folder(tmp_path_factory.mktemp('robots') / 'box', legged_box()))


@pytest.fixture(scope='module')
def box_model(box):
    return load_robot(box)


class Graph:
    """Nodes of this process, spun together, and their log."""

    def __init__(self, kind, capture):
        self._capture = capture
        self.context = Context()
        rclpy.init(args=[], context=self.context, domain_id=own_domain())
        make = (
            SingleThreadedExecutor if kind == 'single' else lambda context: make_executor(context)
        )
        self.executor = make(context=self.context)
        self._lines = []
        self._nodes = []
        self.client = self._keep(Node('test_client', context=self.context, enable_rosout=False))

    def add(self, kind, *, start=True, name='', remap=(), files=(), **parameters):
        """Construct a node with parameters and start it as run_node does."""
        given = [
            Parameter(name.replace('__', '.'), value=value) for name, value in parameters.items()
        ]
        arguments = ['--ros-args', '-r', f'__node:={name}'] if name else []
        for rule in remap:
            arguments += ['--ros-args', '-r', rule]
        for file in files:
            arguments += ['--ros-args', '--params-file', str(file)]
        node = self._keep(
            kind(context=self.context, parameter_overrides=given, cli_args=arguments)
        )
        if start:
            node.start()
        return node

    def _keep(self, node):
        self._nodes.append(node)
        self.executor.add_node(node)
        return node

    def remove(self, node):
        """End a node before the others."""
        self._nodes.remove(node)
        self.executor.remove_node(node)
        # What had happened to it already is still to be worked off.
        self.spin(0.1)
        node.destroy_node()

    def spin(self, seconds):
        self.until(lambda: False, seconds, fail=False)

    def until(self, done, timeout=30.0, fail=True):
        """
        Spin until something is true, and return it.

        A callback counts at most a second: the first step of a controller compiles kernels.
        """
        waited = 0.0
        while waited < timeout:
            before = time.monotonic()
            if value := done():
                return value
            self.executor.spin_once(timeout_sec=0.02)
            waited += min(time.monotonic() - before, 1.0)
        assert not fail, f'nothing came within {timeout} s; log: {self.log}'
        return None

    def start_call(self, kind, name, **fields):
        """Send a request and return its future."""
        client = self.client.create_client(kind, name)
        # The executor registers clients in its queue's order. A response in that moment is lost.
        self.until(self.executor.create_task(lambda: None).done)
        self.until(client.service_is_ready)
        return client.call_async(kind.Request(**fields))

    def call(self, kind, name, **fields):
        """Send a request and return the answer."""
        future = self.start_call(kind, name, **fields)
        self.until(future.done)
        return future.result()

    @property
    def log(self):
        self._lines += self._capture.readouterr().err.splitlines()
        return self._lines

    def logged(self, *words):
        return [line for line in self.log if all(word in line for word in words)]

    def close(self):
        for node in reversed(self._nodes):
            self.executor.remove_node(node)
        self.executor.shutdown()
        for node in reversed(self._nodes):
            node.destroy_node()
        rclpy.shutdown(context=self.context)


@pytest.fixture(params=['events'])
def graph(request, capfd):
    """Return an empty graph in this process, on the executor that nodes use."""
    made = Graph(request.param, capfd)
    yield made
    made.close()


class Process:
    """A node as a user starts it."""

    def __init__(self, module, *arguments):
        self.popen = subprocess.Popen(
            [sys.executable, '-m', module, '--ros-args', *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def end(self, timeout=20.0):
        """Wait for the end and return exit code and output."""
        output, _ = self.popen.communicate(timeout=timeout)
        return self.popen.returncode, output

    def kill(self):
        if self.popen.poll() is None:
            os.killpg(self.popen.pid, signal.SIGKILL)
            self.popen.communicate()


@pytest.fixture
def start_process():
    """Return a function that starts a module as a node in a process of its own."""
    started = []

    def start(module, **parameters):
        arguments = []
        for name, value in parameters.items():
            if name == 'node':
                arguments += ['-r', f'__node:={value}']
            else:
                text = str(value).lower() if isinstance(value, bool) else value
                arguments += ['-p', f'{name}:={text}']
        started.append(Process(module, *arguments))
        return started[-1]

    yield start
    for process in started:
        process.kill()


NAN = float('nan')


class Manager:
    """
    controller_manager with a trajectory controller, in front of topic-based hardware.

    It replays what its parts do, as their sources have it. joint_state_topic_hardware_interface:
    every joint in the order of the URDF's block, NaN for what no controller claims, always sent
    (trigger_joint_command_threshold -1), only the newest state counts, NaN in it does not.
    joint_trajectory_controller: holds the state at its activation, NaN for what is not known; goes
    from what it last commanded to the point, NaN until it arrives where that was NaN; then keeps
    the point. joint_state_broadcaster: NaN until the first state, and the last state for ever.
    """

    def __init__(self, graph, joints, seed=0):
        self.joints = list(joints)
        self._graph, self._random = graph, random.Random(seed)
        self.state, self.desired, self.written = {}, None, []
        self._point, self._arrives, self._time = {}, 0.0, time.monotonic()
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

    def _on_state(self, message):
        told = zip(message.name, message.position, strict=True)
        self.state.update({name: value for name, value in told if value == value})

    def _on_trajectory(self, message):
        assert set(message.joint_names) <= set(self.joints), 'a controller would refuse these'
        point, span = message.points[-1], message.points[-1].time_from_start
        self._arrives = self._time + span.sec + span.nanosec * 1e-9
        self._point = dict(zip(message.joint_names, point.positions, strict=True))

    def write(self, positions=None, joints=None, **more):
        """Publish a command as the hardware component does."""
        joints = self.joints if joints is None else joints
        values = [NAN] * len(joints) if positions is None else list(positions)
        message = JointState(name=list(joints), position=values, **more)
        self._commands.publish(message)

    def activate(self):
        """Let the trajectory controller hold where the joints are, as far as that is known."""
        self.desired = {name: self.state.get(name, NAN) for name in self.joints}
        self._point = {}

    def update(self):
        """Run one cycle: read, let the controllers act, write, broadcast."""
        if self.desired is None:
            self.activate()
        now = time.monotonic()
        dt, left = now - self._time, self._arrives - self._time
        share = 1.0 if left <= dt else dt / left
        self._time = now
        for name, goal in self._point.items():
            start = self.desired[name]
            self.desired[name] = goal if share == 1.0 else start + share * (goal - start)
        command = [self.desired[name] for name in self.joints]
        self.written.append(command)
        self.write(command)
        known = JointState(name=['gripper', *self.joints])
        known.header.stamp = self._graph.client.get_clock().now().to_msg()
        known.position = [0.0, *(self.state.get(name, NAN) for name in self.joints)]
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


class Motors:
    """Motors that reach every position at once, and report while they are asked to."""

    def __init__(self, graph, at):
        self.at, self.commands = dict(at), []
        self.silent = set()
        node = graph.client
        self._states = node.create_publisher(JointState, '/motors/joint_states', 10)
        node.create_subscription(
            JointState, '/motors/joint_commands', self._on_command, qos_profile_sensor_data
        )
        self._timer = node.create_timer(0.01, self.report)

    def report(self):
        """Tell where the motors are that are not silent."""
        told = {name: value for name, value in self.at.items() if name not in self.silent}
        if told:
            self._states.publish(JointState(name=list(told), position=list(told.values())))

    def _on_command(self, message):
        self.commands.append(message)
        for name, value in zip(message.name, message.position, strict=bool(message.position)):
            if value == value:
                self.at[name] = value


@pytest.fixture
def manage(graph):
    """Return a function that makes a controller_manager in front of some joints."""
    return lambda joints, seed=0: Manager(graph, joints, seed)


@pytest.fixture
def motorize(graph):
    """Return a function that makes motors at some positions, by name."""
    return lambda at: Motors(graph, at)
