# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Diagnostics name the fault, cause and cure of a node, and distinguish errors from waiting."""

import pytest

pytest.importorskip('rclpy')

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from gait_core.errors import SimulationDiverged
from gait_evolver.node import EvolverNode
from gait_interfaces.msg import EvolverStatus
from gait_ros.hardware.node import HardwareNode
from gait_ros.live.node import ControllerNode
from sim_bridge.live import LiveSimulation
from sim_bridge.node import SimBridgeNode

LEVELS = {
    DiagnosticStatus.OK: 'ok',
    DiagnosticStatus.WARN: 'warn',
    DiagnosticStatus.ERROR: 'error',
}


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Let nodes report after fractions of a second in place of three seconds."""
    monkeypatch.setattr('gait_ros.live.gait_watch._MAX_INPUT_AGE', 0.2)
    monkeypatch.setattr('sim_bridge.node._PATIENCE', 0.2)
    for module in ('gait_ros.live.node', 'gait_ros.hardware.node', 'sim_bridge.node'):
        monkeypatch.setattr(f'{module}._WATCH_PERIOD', 0.1)


class Told:
    """Statuses of a node on /diagnostics, in any namespace."""

    def __init__(self, graph, name):
        self._graph, self._name = graph, name
        self._found = []
        graph.client.create_subscription(DiagnosticArray, '/diagnostics', self._take, 10)

    def _take(self, message):
        self._found += [one for one in message.status if one.name == self._name]

    def until(self, level, *words):
        """Return the values of the first status from now on of a level, with words in it."""
        self._found.clear()

        def there():
            for one in self._found:
                values = {pair.key: pair.value for pair in one.values}
                said = f'{one.message} {values}'
                if LEVELS[one.level] == level and all(word in said for word in words):
                    return {**values, '': one.hardware_id}
            return None

        return self._graph.until(there)


def test_a_controller_tells_who_is_silent_what_it_ignores_and_why_it_stands(graph, box, box_model):
    given = {'robot': box, 'controller': 'wave', 'safety__fall_action': 'ignore'}
    graph.add(ControllerNode, remap=('__ns:=/r1',), **given)
    told = Told(graph, '/r1/controller: controller')
    values = told.until('warn', 'waiting for joint_positions: nobody publishes /r1/joint_states')
    assert values[''] == box and values['controller'] == 'wave'

    driver = graph.client.create_publisher(JointState, '/r1/joint_states', 10)
    foreign = JointState(name=['lf_hip'], position=[0.0])
    timer = graph.client.create_timer(0.02, lambda: driver.publish(foreign))
    told.until(
        'warn',
        'no valid values on /r1/joint_states: compare names and QoS',
        "unknown joint 'lf_hip'",
    )

    right = JointState(name=list(box_model.joint_names), position=[0.1] * 8)
    graph.client.destroy_timer(timer)
    timer = graph.client.create_timer(0.02, lambda: driver.publish(right))
    values = told.until('ok', 'standing')
    assert float(values['age of joint_states [s]']) < 0.5

    assert graph.call(Trigger, '/r1/controller/emergency_stop').success
    values = told.until('error', 'stopped: emergency stop; call ~/resume')
    assert values['stops'] == '1' and 'emergency stop' in values['last stop']
    assert graph.call(Trigger, '/r1/controller/resume').success
    told.until('ok')
    graph.client.destroy_timer(timer)
    told.until('error', 'holding: the joint states are')


def test_a_bridge_tells_of_a_rival_and_of_a_divergence(graph, box, monkeypatch):
    bridge = graph.add(SimBridgeNode, robot=box, publish_clock=False)
    told = Told(graph, '/sim_bridge: simulation')
    values = told.until('warn', 'no joint command received on joint_trajectory or commands')
    assert values[''] == box and values['commands'] == '0' and int(values['tick']) > 0
    bridge._live.is_commanded = True
    told.until('ok', 'running')
    rival = graph.client.create_publisher(JointState, '/joint_states', 10)
    told.until('warn', 'joint_states is published by /test_client as well', 'end one of them')
    graph.client.destroy_publisher(rival)
    told.until('ok')

    # The second is refused where it knows of the first: it speaks on the topic all the same.
    senders = [
        graph.add(ControllerNode, robot=box, controller='wave', name=name, start=name == 'a')
        for name in 'ab'
    ]
    told.until('warn', 'joint_trajectory is published by /a as well as by /b: the robot follows')
    monkeypatch.setattr('gait_ros.live.joint_topics._MIN_STREAM_LENGTH', 5)
    monkeypatch.setattr('gait_ros.live.joint_topics._SILENCE', 0.3)
    graph.remove(senders[1])
    graph.until(lambda: bridge._live.command_count > 20)
    graph.remove(senders[0])
    told.until('warn', 'has the controller ended? The robot holds its last targets')

    def diverge(self):
        raise SimulationDiverged('base at 1e9 m')

    monkeypatch.setattr(LiveSimulation, 'step', diverge)
    told.until('error', 'the simulation diverged (base at 1e9 m); call ~/reset')


def test_the_hardware_node_tells_from_which_side_nothing_comes(graph, box, box_model):
    graph.add(HardwareNode, robot=box)
    told = Told(graph, '/hardware: hardware')
    told.until('warn', 'no message on motors/joint_states: is the driver of the motors')
    names = list(box_model.joint_names)
    talk = {
        topic: graph.client.create_publisher(kind, topic, 10)
        for topic, kind in (
            ('/motors/joint_states', JointState),
            ('/hardware/joint_commands', JointState),
            ('/motion_requested', Bool),
        )
    }
    both = JointState(name=[*names, 'tail'], position=[0.0] * 9)
    one = graph.client.create_timer(0.02, lambda: talk['/motors/joint_states'].publish(both))
    told.until('warn', 'no motion request: no message on motion_requested')
    asked = Bool(data=True)
    three = graph.client.create_timer(0.02, lambda: talk['/motion_requested'].publish(asked))
    told.until('warn', 'no message on hardware/joint_commands: is controller_manager')
    two = graph.client.create_timer(0.02, lambda: talk['/hardware/joint_commands'].publish(both))
    values = told.until('ok', 'running')
    assert values['unknown names'] == 'tail' and int(values['from motors/joint_states']) > 0
    assert graph.logged('WARN', "unknown name 'tail'")
    graph.client.destroy_timer(one)
    # What was moving and now holds is an error.
    values = told.until(
        'error', "motor 'leg0_joint0' of joint 'leg0_joint0' has reported no plausible"
    )
    assert values['holds'] == 'true'
    for timer in (two, three):
        graph.client.destroy_timer(timer)


def test_falls_that_nobody_sees_are_an_error(graph, box, box_model):
    """IMU or odometry detect a fall: without both, the node must not report that it runs."""
    graph.add(ControllerNode, robot=box, controller='wave')
    told = Told(graph, '/controller: controller')
    states = graph.client.create_publisher(JointState, '/joint_states', 10)
    names = list(box_model.joint_names)
    still = JointState(name=names, position=box_model.joint_stance.tolist())
    one = graph.client.create_timer(0.02, lambda: states.publish(still))
    told.until('error', 'falls cannot be detected: no valid message on /imu/data or /odom')
    assert graph.logged('WARN', 'falls cannot be detected', 'safety.fall_action')
    imu = graph.client.create_publisher(Imu, '/imu/data', 10)
    level = Imu()
    level.orientation.w = 1.0
    two = graph.client.create_timer(0.02, lambda: imu.publish(level))
    told.until('ok')
    graph.client.destroy_timer(two)
    told.until('error', 'falls cannot be detected: no valid message on /imu/data or /odom for')
    graph.client.destroy_timer(one)


@pytest.mark.parametrize(
    ('status', 'level', 'words'),
    [
        (EvolverStatus(), 'ok', 'idle'),
        (EvolverStatus(state=EvolverStatus.RUNNING, lost_workers=2, lost_trials=3), 'warn',
         '2 workers were lost and 3 trials begun again'),
        (EvolverStatus(state=EvolverStatus.FAILED, message='no disk'), 'error', 'failed: no disk'),
    ],
)  # fmt: skip
def test_an_evolver_tells_what_it_lost_and_why_it_failed(graph, status, level, words):
    node = graph.add(EvolverNode)
    told = Told(graph, '/evolver: evolution')
    timer = graph.client.create_timer(0.05, lambda: node._tell(status))
    assert told.until(level, words)['workers'] == '0'
    graph.client.destroy_timer(timer)
