# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Topics of joint commands and joint states of a bridge."""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any, Protocol

from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from gait_core.errors import ConfigurationError, describe_error
from gait_core.motion.targets import JointTargets
from gait_core.motion.trajectory import Trajectory
from gait_core.robot.load import load_robot
from gait_core.robot.model import RobotModel
from gait_ros.hardware.joint_messages import (
    joint_state_from_values,
    targets_from_values,
    values_from_joint_state,
)
from gait_ros.hardware.motors import (
    JOINT_COMMANDS_TOPIC,
    JOINT_STATES_TOPIC,
    MOTOR_COMMANDS_TOPIC,
    MOTOR_STATES_TOPIC,
    read_hardware,
)
from gait_ros.messages.commands import from_commands, from_trajectory
from gait_ros.nodes.faults import ThrottledLogger
from gait_ros.nodes.publisher_checks import describe_second_publisher
from gait_ros.nodes.qos import subscribe

# Time [s] without commands after which their stream has ended.
_SILENCE = 3.0
# Commands that make a stream, whose end is reported. Fewer may be sent by hand, to move a robot.
_MIN_STREAM_LENGTH = 100


class CommandedSimulation(Protocol):
    """Simulation that holds the last targets until the next ones."""

    @property
    def robot(self) -> RobotModel:
        """Simulated robot."""

    def command(self, *targets: JointTargets) -> None:
        """Apply targets, which hold until the next ones."""

    def follow(self, trajectory: Trajectory, delay: float = 0.0) -> Any:
        """Follow a trajectory, which starts after a delay [s]."""


class JointTopics:
    """
    Subscriptions to the joint commands of a bridge, and conversion of its joint states.

    The bridge simulates one of three things, according to its parameters:

    - a robot: topics ``joint_trajectory``, ``commands`` and ``joint_states``;
    - with ``hardware``, the hardware of controller_manager: topics ``hardware/...``;
    - with ``calibration`` too, the motors of a motor file: topics ``motors/...``, with values
      of motors.

    Parameters
    ----------
    node : Node
    params
        Parameters of the bridge: ``robot``, ``hardware``, ``calibration`` and ``interface``.
    live : callable
        Returns the live simulation; None without one, and commands are ignored.
    now : callable
        Returns the simulated time [ns].

    Attributes
    ----------
    commands, states : str
        Topics of the commands, joined by "or", and of the joint states.
    refused : int
        Number of refused messages.

    """

    def __init__(
        self,
        node: Node,
        params: Any,
        live: Callable[[], CommandedSimulation | None],
        now: Callable[[], int],
    ) -> None:
        self._node, self._params, self._live, self._now = node, params, live, now
        self._motors = None
        if params.calibration:
            if not (params.hardware and params.robot):
                raise ConfigurationError(
                    "parameter 'calibration' needs a robot and hardware:=true"
                )
            self._motors = read_hardware(params.calibration, load_robot(params.robot))
        commands, self.states = (
            (JOINT_COMMANDS_TOPIC, JOINT_STATES_TOPIC)
            if self._motors is None
            else (MOTOR_COMMANDS_TOPIC, MOTOR_STATES_TOPIC)
        )
        inputs: dict[str, tuple[Any, Callable[[CommandedSimulation, Any], None]]] = {
            commands: (JointState, self._take_joint_commands)
        }
        if not params.hardware:
            self.states = 'joint_states'
            inputs = {
                'joint_trajectory': (JointTrajectory, self._take_trajectory),
                'commands': (Float64MultiArray, self._take_commands),
            }
        self.commands = ' or '.join(inputs)
        self._inputs = tuple(inputs)
        self.refused = 0
        self._received_count, self._last_arrival = 0, 0.0
        for topic, (kind, take) in inputs.items():
            subscribe(node, kind, topic, self._make_callback(topic, take))

    def find_conflict(self) -> str:
        """Return one line on a second publisher of a joint topic; empty if there is none."""
        for topic in self._inputs:
            conflict = describe_second_publisher(
                self._node, topic, 'the robot follows both in turn', own_count=0
            )
            if conflict:
                return conflict
        return describe_second_publisher(self._node, self.states, 'its subscribers receive both')

    def describe_withheld_commands(self) -> str:
        """Return one line if publishers of hardware commands send nothing yet; empty otherwise."""
        if not self._params.hardware or not any(
            self._node.count_publishers(self._node.resolve_topic_name(topic))
            for topic in self._inputs
        ):
            return ''
        return f'no command on {self.commands} before motion is requested'

    def describe_ended_commands(self) -> str:
        """Return one line if a stream of commands has ended; empty otherwise."""
        silence = time.monotonic() - self._last_arrival
        if self._received_count < _MIN_STREAM_LENGTH or silence < _SILENCE:
            return ''
        return (
            f'no more joint commands on {self.commands} for {silence:.0f} s: has the controller '
            'ended? The robot holds its last targets'
        )

    def convert_states(self, message: JointState) -> JointState:
        """Convert joint states to motor states if the bridge simulates motors."""
        if self._motors is None:
            return message
        return joint_state_from_values(
            self._motors.to_motors(values_from_joint_state(message)), message.header.stamp
        )

    def _make_callback(
        self, topic: str, take: Callable[[CommandedSimulation, Any], None]
    ) -> Callable[[Any], None]:
        """Return the callback of a topic, which counts messages and warns of refused ones."""
        warn = ThrottledLogger(self._node.get_logger(), is_error=False)

        def on_message(message: Any) -> None:
            """Apply a message to the live simulation, or refuse it with a warning."""
            live = self._live()
            if live is None:
                return
            self._received_count, self._last_arrival = self._received_count + 1, time.monotonic()
            try:
                take(live, message)
            except Exception as error:
                self.refused += 1
                warn(
                    f'message on {topic} refused, the last valid one stays: '
                    f'{describe_error(error)}'
                )

        return on_message

    def _take_trajectory(self, live: CommandedSimulation, message: JointTrajectory) -> None:
        live.follow(*from_trajectory(message, self._now()))

    def _take_commands(self, live: CommandedSimulation, message: Float64MultiArray) -> None:
        names = live.robot.target_names
        live.command(from_commands(message, names, self._params.interface))

    def _take_joint_commands(self, live: CommandedSimulation, message: JointState) -> None:
        values = values_from_joint_state(message)
        if self._motors is not None:
            values = self._motors.to_joints(values)
        targets = targets_from_values(values)
        if targets:
            live.command(*targets)
