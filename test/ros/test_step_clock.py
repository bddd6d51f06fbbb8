# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""A live gait in a time that comes in coarse steps, jumps ahead, or goes back."""

import math

from geometry_msgs.msg import Twist
import numpy as np
import pytest

pytest.importorskip('rclpy')

from builtin_interfaces.msg import Time
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from gait_core.messages.reader import to_seconds
from gait_core.testing.doubles import WaveController
from gait_ros.live.node import ControllerNode
from gait_ros.nodes.qos import STREAM_QOS

PERIOD = 0.02


class Simulation:
    """A simulator whose messages of a tick have arrived before it sends the next."""

    def __init__(self, graph, node, model):
        self._graph, self._node, self._model = graph, node, model
        client = graph.client
        self._states = client.create_publisher(JointState, '/joint_states', 10)
        self._velocity = client.create_publisher(Twist, '/cmd_vel', 10)
        self._clock = client.create_publisher(Clock, '/clock', 10)
        self.targets = []
        client.create_subscription(
            JointTrajectory, '/joint_trajectory', self.targets.append, STREAM_QOS
        )
        for publisher in (self._states, self._velocity, self._clock):
            graph.until(publisher.get_subscription_count)

    def ask(self, forward=0.1):
        message = Twist()
        message.linear.x = forward
        self._velocity.publish(message)
        request = self._node._live.motion.request
        self._graph.until(lambda: request.velocity[0] == forward)

    def tick(self, now, pose=0.1, time_first=False):
        """Publish joint states and the time [s]; return the targets that the gait sends."""
        stamp = Time(sec=int(now), nanosec=round((now - int(now)) * 1e9))
        names = list(self._model.joint_names)
        states = JointState(name=names, position=[pose] * len(names))
        states.header.stamp = stamp
        nanoseconds = stamp.sec * 10**9 + stamp.nanosec
        seen, clock = self._node._live.observation, self._node._step_clock
        self.targets.clear()
        if time_first:
            self._clock.publish(Clock(clock=stamp))
            self._graph.until(lambda: clock._last == nanoseconds)
        self._states.publish(states)
        self._graph.until(lambda: (seen._stamps == nanoseconds).all())
        if not time_first:
            self._clock.publish(Clock(clock=stamp))
            self._graph.until(lambda: clock._last == nanoseconds)
        self._graph.spin(0.01)
        return [tuple(point.positions) for one in self.targets for point in one.points]

    def span(self):
        """Return the time [s] in which the last targets are to be reached."""
        return to_seconds(self.targets[-1].points[-1].time_from_start)


@pytest.fixture
def simulation(graph, box, box_model):
    node = graph.add(
        ControllerNode,
        robot=box,
        controller='wave',
        use_sim_time=True,
        safety__start_speed=100.0,
        safety__state_timeout=0.0,
        command_timeout=60.0,
        gait__amplitude=0.4,
        gait__frequency=0.5,
    )
    return Simulation(graph, node, box_model)


def stepped(monkeypatch):
    """Return the list to which every step of the controller adds its dt."""
    found, known = [], WaveController.step
    monkeypatch.setattr(
        WaveController,
        'step',
        lambda self, dt, *more: (found.append(dt), known(self, dt, *more))[1],
    )
    return found


def walk(simulation, start, ticks=12):
    """Let simulated time pass in control periods until the robot walks; return when that is."""
    simulation.ask()
    for tick in range(ticks):
        simulation.tick(start + PERIOD * tick)
    return start + PERIOD * (ticks - 1)


@pytest.mark.parametrize('coarse', [0.06, 0.25])
def test_a_clock_of_regular_coarse_steps_moves_the_gait_by_the_time_that_passed(
    simulation, box_model, monkeypatch, coarse
):
    steps = stepped(monkeypatch)
    now = walk(simulation, 50.0)
    poses = []
    for count in range(1, 11):
        said = simulation.tick(now + coarse * count)
        if count == 3:
            steps.clear()
        if count >= 3:
            poses.append(said[-1])
            assert simulation.span() == pytest.approx(coarse)
    assert steps == pytest.approx([coarse] * 7)
    speed = np.abs(np.diff(poses, axis=0)) / coarse
    assert (speed <= box_model.velocity_limit * (1.0 + 1e-9)).all()
    # The wave itself: as far as its time has come.
    assert speed.max() > 0.5 * 0.4 * 2.0 * math.pi * 0.5


def test_a_single_jump_ahead_is_one_control_period(simulation, monkeypatch):
    steps = stepped(monkeypatch)
    now = walk(simulation, 50.0)
    steps.clear()
    for later in (0.25, 0.27, 40.0, 40.02, 80.0, 120.0, 160.0):
        simulation.tick(now + later)
        assert simulation.span() == pytest.approx(PERIOD)
    assert steps == pytest.approx([PERIOD] * 7)


def test_a_jump_while_kernels_are_loaded_is_no_warning(graph, simulation):
    simulation.tick(50.0)
    simulation.tick(51.0)
    assert graph.logged('INFO', 'time jumped ahead by 1.00 s') and not graph.logged('WARN')


@pytest.mark.parametrize('time_first', [False, True])
def test_after_a_jump_back_the_second_pass_is_the_first(simulation, time_first):
    def run():
        said = []
        for tick in range(30):
            if tick == 3:
                simulation.ask()
            said.append(simulation.tick(50.0 + PERIOD * tick, time_first=time_first))
        return said

    first = run()
    assert sum(map(bool, first)) > 20 and first[-1] != first[-2]
    assert run() == first
    assert run() == first
