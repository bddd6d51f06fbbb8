# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Node ``hardware`` between controller_manager and motors: conversion, limits and hold."""

from __future__ import annotations

import sys

if __name__ == '__main__':
    # A signal ends the imports below without a traceback.
    from gait_ros.executables import hardware_node

    sys.exit(hardware_node())

from collections.abc import Sequence
from dataclasses import dataclass
import time
from typing import Any

import numpy as np
from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from gait_core.arrays import FloatArray
from gait_core.errors import BadCommand, ConfigurationError, excerpt, one_line
from gait_core.files.access import expand_user
from gait_core.parameters.declaration import (
    Parameters,
    bool_parameter,
    float_parameter,
    str_parameter,
)
from gait_core.robot.load import load_robot
from gait_core.robot.name_checks import unknown_names_error
from gait_ros.hardware.joint_messages import joint_state_from_values, values_from_joint_state
from gait_ros.hardware.motor_guard import MotorGuard
from gait_ros.hardware.motor_watch import MotorWatch
from gait_ros.hardware.motors import (
    JOINT_COMMANDS_TOPIC,
    JOINT_STATES_TOPIC,
    MOTION_TOPIC,
    MOTOR_COMMANDS_TOPIC,
    MOTOR_STATES_TOPIC,
    JointValues,
    read_hardware,
)
from gait_ros.messages.diagnostics import Diagnostics
from gait_ros.nodes.event_queue import EVENT_QUEUE
from gait_ros.nodes.faults import ThrottledLogger, destroyed_if_refused
from gait_ros.nodes.managed import ManagedNode
from gait_ros.nodes.parameters import DeclaredParameters, refuse_unknown_overrides
from gait_ros.nodes.publisher_checks import describe_second_publisher
from gait_ros.nodes.qos import advertise, subscribe
from gait_ros.nodes.run import run_node
from gait_ros.nodes.services import offer_service

_WATCH_PERIOD = 1.0
_HOLD_PERIOD = 0.05
# Largest number of unknown names in diagnostics.
_MAX_LISTED = 20
# Longest wait [s] for reliable subscribers to acknowledge the last hold, and time [s] that the
# message may take to best-effort subscribers.
_ACKNOWLEDGE_TIME, _TRANSPORT_TIME = 0.2, 0.02


@dataclass(frozen=True, kw_only=True)
class HardwareNodeParams(Parameters):
    """Parameters of the node ``hardware``."""

    robot: str = str_parameter('', doc='Robot name or folder.', read_only=True)
    hardware: str = str_parameter(
        '',
        doc='Motor file. Empty: motors have the names and directions of the joints.',
        read_only=True,
    )
    calibrated: str = str_parameter(
        'hardware.calibrated.yaml',
        doc='Motor file that ~/calibrate writes; an existing file is not overwritten.',
    )
    start_speed: float = float_parameter(
        1.0,
        low=0.001,
        high=100.0,
        unit='rad/s or m/s',
        doc='Largest speed of a joint from its measured or held position until it reaches the '
        'commanded one; at most its velocity limit.',
    )
    hold_after: float = float_parameter(
        0.5,
        low=0.02,
        high=60.0,
        unit='s',
        doc='Silence of a motor, of motion_requested or of commands after which all motors hold.',
    )
    autostart: bool = bool_parameter(
        True, doc='Configure and activate the node at its start.', read_only=True
    )


class HardwareNode(ManagedNode):
    """
    Converter of joint commands to motor commands, and of motor states to joint states.

    Commands reach the motors only after every motor has reported its position, and an active
    controller has received a motion request. Commands are limited. All motors hold if commands,
    ``motion_requested`` or a motor become silent.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('hardware', **kwargs)
        with destroyed_if_refused(self):
            self._declared = DeclaredParameters(self, HardwareNodeParams)
            chosen = self._declared.value
            self.autostart = chosen.autostart
            refuse_unknown_overrides(self)
            if not chosen.robot:
                raise ConfigurationError("parameter 'robot' is empty; name one, e.g. robot:=guroo")
            robot = load_robot(chosen.robot)
            self._hardware = read_hardware(chosen.hardware, robot)
            self._guard = MotorGuard(robot)
            self._joints = robot.joint_names
            self._motor_joints = tuple(self._hardware.motors)
            self._watch = MotorWatch(
                self._hardware, self._joints, lambda: self._declared.value.hold_after
            )
            # Joints whose motors are silent.
            self._silent_joints: set[str] = set()
            self._message_counts = {MOTOR_STATES_TOPIC: 0, JOINT_COMMANDS_TOPIC: 0}
            # Whether motors were ever commanded, and whether they hold now.
            self._was_commanded = self._holding = False
            self._last_command: FloatArray | None = None
            self._commands_pass = False
            self._refused = self._kept_back = self._bounded = 0
            self._unknown: set[str] = set()
            logger = self.get_logger()
            self._warn_refused, self._warn_unknown, self._warn_limited, self._warn_trouble = (
                ThrottledLogger(logger, is_error=False) for _ in range(4)
            )
            self._connect()

    def _connect(self) -> None:
        """Create publishers, subscriptions, services and timers."""
        self._diagnostics = Diagnostics(self, 'hardware')
        self._to_motors = advertise(self, JointState, MOTOR_COMMANDS_TOPIC)
        self._to_manager = advertise(self, JointState, JOINT_STATES_TOPIC)
        subscribe(self, JointState, JOINT_COMMANDS_TOPIC, self._on_command)
        subscribe(self, JointState, MOTOR_STATES_TOPIC, self._on_state)
        subscribe(self, Bool, MOTION_TOPIC, self._on_motion)
        offer_service(self, Trigger, '~/calibrate', self._on_calibrate)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(_HOLD_PERIOD, self._on_tick, clock=steady)
        self.create_timer(_WATCH_PERIOD, self._on_watch, clock=steady)

    # ------------------------------------------------------------------------------- lifecycle

    def activate(self) -> None:
        """Start to convert messages; raise ConfigurationError if there is a second publisher."""
        self._watch.conflict = self._find_conflict()
        if self._watch.conflict:
            raise ConfigurationError(self._watch.conflict)
        self._watch.forget_positions()
        self._guard.reset()
        self._was_commanded = self._holding = False
        self._last_command = None

    def deactivate(self) -> None:
        """Send a hold to the motors, and no further command."""
        self._hold()
        self._guard.forget_commands()
        if self._was_commanded:
            self._to_motors.wait_for_all_acked(Duration(seconds=_ACKNOWLEDGE_TIME))
            # Best-effort subscribers acknowledge nothing.
            time.sleep(_TRANSPORT_TIME)

    # ---------------------------------------------------------------------------------- messages

    def _on_motion(self, message: Bool) -> None:
        self._watch.motion_requested = bool(message.data)
        self._watch.record_arrival(MOTION_TOPIC, self._now())

    def _on_state(self, message: JointState) -> None:
        """Store the positions of motors and publish plausible joint states."""
        values = self._read(MOTOR_STATES_TOPIC, message)
        if values is None:
            return
        now = self._now()
        if values.position is not None:
            self._watch.motor_readings.add(values.names, values.position, now)
        if not self.active:
            return
        joints = self._guard.measure(self._hardware.to_joints(values))
        if joints.position is not None:
            self._watch.joint_readings.add(joints.names, joints.position, now)
        if joints.names:
            self._to_manager.publish(joint_state_from_values(joints, message.header.stamp))

    def _on_command(self, message: JointState) -> None:
        """Limit a command and send it to the motors, if no condition keeps it from them."""
        values = self._read(JOINT_COMMANDS_TOPIC, message)
        if values is None or not self.active:
            return
        now = self._now()
        if self._watch.describe_blocking_condition(now):
            self._kept_back += 1
            return
        # After a hold the joints approach the commanded positions at the start speed again.
        if self._holding:
            self._holding = False
            self._guard.soften()
        self._guard.start_speed = self._declared.value.start_speed
        dt = 0.0 if self._last_command is None else float(now[0] - self._last_command[0])
        self._last_command, self._was_commanded = now, True
        bounded = self._guard.limit_command(_of_every_joint(values, self._motor_joints), dt)
        self._send(bounded, message.header.stamp)

    def _read(self, source: str, message: JointState) -> JointValues | None:
        """Return the values of a message; None if it is invalid. Warn of unknown names."""
        self._message_counts[source] += 1
        try:
            values = values_from_joint_state(message)
        except BadCommand as error:
            self._refused += 1
            self._warn_refused(f'message on {source} refused: {one_line(error)}')
            return None
        self._watch.record_arrival(source, self._now())
        known = self._hardware.motors if source == JOINT_COMMANDS_TOPIC else self._watch.motors
        if not all(name in known for name in values.names):
            self._report_unknown(source, values.names, list(known))
        return values

    def _report_unknown(
        self, source: str, names: Sequence[str], valid_names: Sequence[str]
    ) -> None:
        for name in names:
            if name not in valid_names and len(self._unknown) < _MAX_LISTED:
                self._unknown.add(excerpt(name))
        if self._warn_unknown.is_due:
            self._warn_unknown(
                f'{source}: {unknown_names_error("name", names, valid_names)}; ignored'
            )

    def _send(self, values: JointValues, stamp: Any) -> None:
        if values.names:
            self._to_motors.publish(
                joint_state_from_values(self._hardware.to_motors(values), stamp)
            )

    def _hold(self) -> None:
        if self._was_commanded:
            self._holding, self._last_command = True, None
            self._send(self._guard.hold(), self.get_clock().now().to_msg())

    # ---------------------------------------------------------------------------------- watching

    def _on_tick(self) -> None:
        """Hold the motors while commands must not reach them, and log each change of this."""
        if not self.active:
            return
        now = self._now()
        stale = self._watch.silent_joints(now)
        for joint in stale - self._silent_joints:
            # A joint may move while its motor is silent, so that it must start from its measured
            # position afterwards. Its motor may hear commands all the same: the hold stops it.
            self._guard.forget_position(joint)
        self._silent_joints = stale
        condition = self._watch.describe_blocking_condition(now)
        if condition:
            self._hold()
        if bool(condition) == self._commands_pass:
            self._commands_pass = not condition
            if self._commands_pass:
                self.get_logger().info('commands reach the motors')
            elif self._holding and condition == self._watch.describe_ended_request():
                self.get_logger().info(f'the motors hold: {condition}')
            elif self._holding:
                self.get_logger().error(f'the motors hold: {condition}')

    def _on_watch(self) -> None:
        """Log troubles and publish diagnostics; called once per second."""
        conflict = self._find_conflict()
        if conflict and not self._watch.conflict:
            self.get_logger().error(conflict)
        self._watch.conflict = conflict
        trouble = 'inactive: configure and activate it'
        if self.active:
            trouble = self._watch.describe_blocking_condition(self._now())
        if trouble:
            self._warn_trouble(trouble)
        self._log_limited()
        stamp = self.get_clock().now().to_msg()
        is_unwanted_hold = self._holding and (
            self._watch.motion_requested or bool(self._silent_joints)
        )
        self._diagnostics.publish(
            stamp,
            self._declared.value.robot,
            trouble,
            self._diagnostic_values,
            is_error=self.active and (bool(conflict) or is_unwanted_hold),
        )

    def _log_limited(self) -> None:
        """Log the counts of clamped and implausible commands if they have grown."""
        guard = self._guard
        counts = {'implausible': guard.implausible_counts, **guard.clamp_counts}
        changed = {what: int(count.sum()) for what, count in counts.items() if count.any()}
        if sum(changed.values()) > self._bounded:
            self._bounded = sum(changed.values())
            listed = ', '.join(f'{count} of {what}' for what, count in changed.items())
            joint = self._joints[int(np.argmax(sum(counts.values())))]
            self._warn_limited(
                f'commands beyond joint limits were clamped: {listed}; most often those of joint '
                f"'{joint}'"
            )

    def _find_conflict(self) -> str:
        """Return one line on a topic with a second publisher; empty if there is none."""
        for topic, own, what in (
            (JOINT_COMMANDS_TOPIC, 0, 'the motors would follow both in turn'),
            (MOTION_TOPIC, 0, 'each requests motion'),
            (MOTOR_COMMANDS_TOPIC, 1, 'commands reach the motors without this node'),
            (JOINT_STATES_TOPIC, 1, 'its subscribers receive both'),
        ):
            conflict = describe_second_publisher(self, topic, what, own)
            if conflict:
                return conflict
        return ''

    def _diagnostic_values(self) -> dict[str, object]:
        """Return the named values of the diagnostics."""
        return {
            **{f'from {source}': count for source, count in self._message_counts.items()},
            'refused': self._refused,
            'unknown names': ' '.join(sorted(self._unknown)),
            'holds': self._holding,
            'kept back': self._kept_back,
            'messages left out': EVENT_QUEUE.replaced_count,
            'implausible states': self._guard.refused_states,
            'implausible commands': int(self._guard.implausible_counts.sum()),
            **{f'clamped_{what}': int(n.sum()) for what, n in self._guard.clamp_counts.items()},
        }

    def _now(self) -> FloatArray:
        """Return the present time [s], (2,), by the clock of the stamps and by a steady clock."""
        steady = time.monotonic()
        simulated = self.get_parameter('use_sim_time').value
        return np.array(
            [self.get_clock().now().nanoseconds * 1e-9 if simulated else steady, steady]
        )

    # -------------------------------------------------------------------------------- calibration

    def _on_calibrate(self, request: Any, response: Trigger.Response) -> Trigger.Response:
        """Write a motor file by which the robot is in its reference pose now."""
        file = expand_user(self._declared.value.calibrated)
        if file.exists():
            raise ConfigurationError(
                f"{file} exists, and is not overwritten: move it, or set 'calibrated' to another "
                'file'
            )
        # A moving or silent motor would be calibrated by a wrong position.
        self._watch.check_rest(self._now())
        readings = dict(
            zip(self._watch.motors, self._watch.motor_readings.values.tolist(), strict=True)
        )
        calibrated = self._hardware.calibrate(readings).to_yaml()
        # Mode x fails if another process has made the file meanwhile.
        with file.open('x', encoding='utf-8') as output:
            try:
                output.write(calibrated)
                output.flush()
            except OSError:
                file.unlink()
                raise
        response.success = True
        response.message = f'{file} is written; start again with hardware:={file}'
        return response


def _of_every_joint(values: JointValues, joints: tuple[str, ...]) -> JointValues:
    """Return the values of all joints; NaN, which is not commanded, for those left out."""
    row = {name: i for i, name in enumerate(values.names)}
    fields: dict[str, FloatArray] = {}
    for field in ('position', 'velocity', 'effort'):
        array = getattr(values, field)
        if array is not None:
            fields[field] = np.array(
                [array[row[name]] if name in row else np.nan for name in joints]
            )
    return JointValues(names=joints, **fields)


def main(args: Sequence[str] | None = None) -> int:
    """Run the node and return its exit code."""
    return run_node(HardwareNode, args)
