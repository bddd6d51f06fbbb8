"""Nodes in this process or in their own, on a domain that nobody else uses."""

import os
from pathlib import Path
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

from gait_core import registry
from gait_core.robot.load import load_robot
from gait_core.testing import legged_box
from gait_core.testing_domain import own_domain
from gait_core.testing_folders import plugin_folder, robot_folder
from gait_ros.run_node import make_executor


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
    folder = str(plugin_folder(tmp_path_factory.mktemp('plugins')))
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
    return str(robot_folder(tmp_path_factory.mktemp('robots') / 'box', legged_box()))


@pytest.fixture(scope='module')
def box_model(box):
    return load_robot(box)


class Graph:
    """Nodes of this process, spun together, and what they have logged."""

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
        """Spin until something is true, and return it."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            value = done()
            if value:
                return value
            self.executor.spin_once(timeout_sec=0.02)
        assert not fail, f'nothing came within {timeout} s; log: {self.log}'
        return None

    def start_call(self, kind, name, **fields):
        """Send a request and return its future."""
        client = self.client.create_client(kind, name)
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
    """Return what starts a module as a node in a process of its own."""
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
