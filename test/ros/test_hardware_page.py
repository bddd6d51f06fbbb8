# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The page on hardware step by step, with doubles of the motors and of controller_manager."""

from dataclasses import replace
import signal

import numpy as np
import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import Twist
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from gait_ros.graph.control_nodes import ControlledRobot, hardware_graph
from gait_ros.graph.processes import NodeProcess
from gait_ros.hardware.motors import read_hardware

# A motor turns the wrong way round, geared, and reads what it likes where its joint is at zero.
FILE = """
joints:
  '.*_joint1': {ratio: 1.55}
  leg0_joint0: {motor: m1, sign: -1, offset: 0.12}
"""

PATIENCE = 120.0
"""Longest wait [s] for processes, which start slowly on a busy machine."""


@pytest.fixture
def spawn(tmp_path):
    """Return a function that starts a node of a graph as a process."""
    started = []

    def start(spec, **parameters):
        folder = tmp_path / str(len(started))
        folder.mkdir()
        spec = replace(spec, parameters={**spec.parameters, **parameters})
        started.append(NodeProcess(spec, folder))
        return started[-1]

    yield start
    for process in started:
        process.signal(signal.SIGKILL)
        process.wait(10.0)
        print(process.spec.name, process.read_output(), sep='\n')


def ask(graph, node, *transitions):
    for number in transitions:
        answer = graph.call(ChangeState, f'/{node}/change_state', transition=Transition(id=number))
        assert answer.success


def test_the_page_on_hardware_moves_nothing_by_surprise(
    graph, box, box_model, manage, motorize, spawn, tmp_path
):
    file, calibrated = tmp_path / 'hardware.yaml', tmp_path / 'hardware.calibrated.yaml'
    file.write_text(FILE)
    motors_of = read_hardware(str(file), box_model)

    def nodes(hardware):
        controlled = ControlledRobot(
            name=box,
            robot=box_model,
            target='hardware',
            controllers_file='controllers.yaml',
            hardware=str(hardware),
            motors=motors_of,
            controller='wave',
            gait={
                'preset': '',
                'seed': 0,
                'autostart': False,
                'safety.fall_action': 'ignore',
            },
        )
        return {node.name: node for node in hardware_graph(controlled)}

    start = dict.fromkeys((motor.name for motor in motors_of.motors.values()), 0.3)
    motors = motorize(start)
    motors.silent = set(start)
    manager, told, asked = manage(box_model.joint_names), [], []
    graph.client.create_subscription(Bool, '/motion_requested', asked.append, 10)
    graph.client.create_subscription(JointState, '/joint_states', told.append, 10)

    # 5. Calibrate: motors that are silent are named.
    first = spawn(nodes(file)['hardware'], calibrated=str(calibrated))
    assert "'m1' of joint 'leg0_joint0'" in graph.call(Trigger, '/hardware/calibrate').message
    manager.run(lambda: len(told) > 5, PATIENCE)
    assert np.isnan([one.position[1:] for one in told]).all()
    motors.silent = set()
    graph.until(lambda: graph.call(Trigger, '/hardware/calibrate').success, PATIENCE)
    first.signal(signal.SIGINT)
    assert first.wait(PATIENCE) and first.exit_code == 0

    # 6. The robot: with the file of the calibration, the gait inactive.
    spawn(nodes(calibrated)['hardware'])
    gait = spawn(nodes(calibrated)['controller'])
    stance = {name: box_model.nominal_stance[name] for name in manager.joints}
    manager.run(lambda: manager.state == pytest.approx(stance), PATIENCE)
    ask(graph, 'controller', Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE)
    manager.run(lambda: len(asked) > 20, PATIENCE)
    # Active is not walking, and the motors are where they were.
    assert not any(one.data for one in asked) and not motors.commands and motors.at == start

    publisher, command = graph.client.create_publisher(Twist, '/cmd_vel', 10), Twist()
    command.linear.x = 0.2
    graph.client.create_timer(0.05, lambda: publisher.publish(command))
    manager.run(lambda: motors.commands, PATIENCE)
    one = motors.commands[0]
    joints = read_hardware(str(calibrated), box_model)
    for name, value in zip(one.name, one.position, strict=True):
        ratio = next(m.ratio for m in joints.motors.values() if m.name == name)
        assert abs(value - start[name]) <= 0.02 * ratio
    count = len(motors.commands)
    manager.run(lambda: len(motors.commands) > count + 20 and motors.at != start, PATIENCE)

    # The gait is killed: controller_manager goes on to send, and the motors hold.
    gait.signal(signal.SIGKILL)

    still_since, still_at = len(manager.written), dict(motors.at)

    def hold():
        nonlocal still_since, still_at
        if motors.at != still_at:
            still_since, still_at = len(manager.written), dict(motors.at)
        return len(manager.written) > still_since + 20

    manager.run(hold, PATIENCE)
    held = dict(motors.at)
    manager.run(lambda: len(manager.written) > still_since + 60)
    assert motors.at == held
