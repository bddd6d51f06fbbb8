# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Motors of joints, from a motor file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np
import yaml

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError
from gait_core.files.access import expand_user
from gait_core.parameters.patterns import expand_patterns, match_names
from gait_core.parameters.schema import Coordinate, Location, NumberRange, read_file
from gait_core.robot.model import RobotModel
from gait_core.robot.name_checks import MAX_NAME_LENGTH
from gait_core.safety.plausibility import MAX_PLAUSIBLE
from gait_core.trial.scene import EMPTY_MAPPING

# Topics of the node ``hardware``, towards controller_manager and towards the motors.
JOINT_COMMANDS_TOPIC, JOINT_STATES_TOPIC = 'hardware/joint_commands', 'hardware/joint_states'
MOTOR_COMMANDS_TOPIC, MOTOR_STATES_TOPIC = 'motors/joint_commands', 'motors/joint_states'
MOTION_TOPIC = 'motion_requested'
"""Topic of the permission to command motors, given by an active gait."""


@dataclass(frozen=True, kw_only=True)
class JointValues:
    """
    Values of joints or motors, as in a JointState.

    ``position``, ``velocity`` and ``effort`` are (n,) arrays in the order of ``names``, or None. A
    value is NaN if it is unknown, or not commanded.
    """

    names: tuple[str, ...]
    position: FloatArray | None = None
    velocity: FloatArray | None = None
    effort: FloatArray | None = None


@dataclass(frozen=True, kw_only=True)
class Motor:
    """
    Motor of a joint.

    Its position is ``offset + sign * ratio * position`` of the joint, and its effort is
    ``sign / ratio`` times the effort of the joint.

    Attributes
    ----------
    name : str
        Name on the hardware.
    sign : float
        1, or -1 for a motor that turns against its joint.
    ratio : float
        Turns of the motor per turn of the joint, positive.
    offset : float [rad or m]
        Position of the motor at position zero of the joint.

    """

    name: str
    sign: float = 1.0
    ratio: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, kw_only=True)
class MotorEntry:
    """Entry of a motor file on the motors of some joints; None keeps a value."""

    motor: str | None = None
    sign: float | None = None
    ratio: Annotated[float, NumberRange(1e-6, 1e6)] | None = None
    offset: Annotated[float, NumberRange(-MAX_PLAUSIBLE, MAX_PLAUSIBLE, 'rad or m')] | None = None

    def __post_init__(self) -> None:
        """Check the sign and the name."""
        if self.motor is not None and not 0 < len(self.motor) <= MAX_NAME_LENGTH:
            raise ConfigurationError(
                f'motor has a name of {len(self.motor)} characters, expected 1 to '
                f'{MAX_NAME_LENGTH}'
            )
        if self.sign not in (1.0, -1.0, None):
            raise ConfigurationError(f'sign is {self.sign:g}, expected 1 or -1')

    def apply_to(self, motor: Motor) -> Motor:
        """Return a motor with the values of this entry."""
        return Motor(
            name=motor.name if self.motor is None else self.motor,
            sign=motor.sign if self.sign is None else self.sign,
            ratio=motor.ratio if self.ratio is None else self.ratio,
            offset=motor.offset if self.offset is None else self.offset,
        )


@dataclass(frozen=True, kw_only=True)
class HardwareFile:
    """
    Content of a motor file, whose keys are all optional.

    Attributes
    ----------
    robot : str or None
        Name of the robot; the file is refused for another one.
    plugin : str
        Hardware plugin of ros2_control; empty: motors are driven through topics.
    parameters : mapping of str to scalar
        Parameters of the plugin.
    reference : mapping of str to float [rad or m]
        Pose for the calibration, by joint or pattern; other joints have the nominal stance.
    joints : mapping of str to MotorEntry
        Entries by joint or pattern. The last entry that matches a joint and has a key applies.

    """

    robot: str | None = None
    plugin: str = ''
    parameters: Mapping[str, Any] = field(default_factory=lambda: EMPTY_MAPPING)
    reference: Mapping[str, Coordinate] = field(default_factory=lambda: EMPTY_MAPPING)
    joints: Mapping[str, MotorEntry] = field(default_factory=lambda: EMPTY_MAPPING)


@dataclass(frozen=True, kw_only=True)
class Hardware:
    """
    Motors of a robot.

    Attributes
    ----------
    robot : str
        Name of the robot.
    motors : mapping of str to Motor
        Motor of each joint.
    reference : mapping of str to float [rad or m]
        Pose of the robot for the calibration, by joint.
    plugin : str
        Hardware plugin of ros2_control; empty: motors are driven through topics.
    parameters : mapping of str to str
        Parameters of the plugin.

    """

    robot: str
    motors: Mapping[str, Motor]
    reference: Mapping[str, float] = field(default_factory=lambda: EMPTY_MAPPING)
    plugin: str = ''
    parameters: Mapping[str, str] = field(default_factory=lambda: EMPTY_MAPPING)

    def to_motors(self, values: JointValues) -> JointValues:
        """Convert values of joints to values of their motors; unknown joints are left out."""
        known = [i for i, name in enumerate(values.names) if name in self.motors]
        motors = [self.motors[values.names[i]] for i in known]
        gain, offset = _gains_and_offsets(motors)
        return JointValues(
            names=tuple(motor.name for motor in motors),
            position=_convert_rows(values.position, known, lambda q: offset + gain * q),
            velocity=_convert_rows(values.velocity, known, lambda v: gain * v),
            effort=_convert_rows(values.effort, known, lambda e: e / gain),
        )

    def to_joints(self, values: JointValues) -> JointValues:
        """Convert values of motors to values of their joints; unknown motors are left out."""
        joints = {motor.name: joint for joint, motor in self.motors.items()}
        known = [i for i, name in enumerate(values.names) if name in joints]
        names = tuple(joints[values.names[i]] for i in known)
        gain, offset = _gains_and_offsets([self.motors[name] for name in names])
        return JointValues(
            names=names,
            position=_convert_rows(values.position, known, lambda r: (r - offset) / gain),
            velocity=_convert_rows(values.velocity, known, lambda v: v / gain),
            effort=_convert_rows(values.effort, known, lambda e: e * gain),
        )

    def calibrate(self, readings: Mapping[str, float]) -> Hardware:
        """
        Return the hardware with offsets by which the joints are in the reference pose now.

        Parameters
        ----------
        readings : mapping of str to float [rad or m]
            Position of every motor, by its name.

        Raises
        ------
        ConfigurationError
            If a motor has no finite reading; the message names the first one.

        """
        motors = {}
        for joint, motor in self.motors.items():
            reading = readings.get(motor.name, np.nan)
            if not np.isfinite(reading):
                raise ConfigurationError(
                    f"motor '{motor.name}' of joint '{joint}' has no finite reading"
                )
            # reading = offset + sign * ratio * position, at the reference position.
            turned = motor.sign * motor.ratio * self.reference.get(joint, 0.0)
            motors[joint] = replace(motor, offset=float(reading) - turned)
        return replace(self, motors=motors)

    def to_yaml(self) -> str:
        """Return the text of a motor file with equal content; numbers are exact."""
        document: dict[str, Any] = {'robot': self.robot}
        if self.plugin:
            document['plugin'] = self.plugin
            document['parameters'] = dict(self.parameters)
        document['reference'] = {name: float(value) for name, value in self.reference.items()}
        document['joints'] = {
            joint: {
                'motor': motor.name,
                'sign': motor.sign,
                'ratio': motor.ratio,
                'offset': motor.offset,
            }
            for joint, motor in self.motors.items()
        }
        return str(yaml.safe_dump(document, sort_keys=False, default_flow_style=None))


def default_hardware(robot: RobotModel) -> Hardware:
    """Return hardware whose motors have the names and the values of the joints."""
    return Hardware(
        robot=robot.name,
        motors={name: Motor(name=name) for name in robot.joint_names},
        reference={name: robot.nominal_stance.get(name, 0.0) for name in robot.joint_names},
    )


def read_hardware(file: str, robot: RobotModel) -> Hardware:
    """
    Read the motors of a robot from a motor file; without one as ``default_hardware``.

    Every key of the file is optional::

        robot: a1                        # refused for another robot
        plugin: my_driver/MySystem       # of ros2_control; absent: topics drive the motors
        parameters: {port: /dev/ttyUSB0}
        reference: {'.*_knee': -1.2}     # pose for the calibration; default: the nominal stance
        joints:
          FL_hip_joint: {motor: m1, sign: -1, offset: 0.12}
          '.*_lower_joint': {ratio: 1.55}

    Raises
    ------
    ConfigurationError
        If a key or joint is unknown (the message has the nearest one), a sign is not 1 or -1, a
        ratio is not positive, a reference is beyond the limits of its joint, two joints have the
        same motor, or the file is for another robot.

    """
    default = default_hardware(robot)
    if not file:
        return default
    content, location = read_file(HardwareFile, expand_user(file))
    if content.robot not in (None, robot.name):
        raise (location / 'robot').error(
            f"the file is for robot '{content.robot}', this robot is '{robot.name}'"
        )
    pose = expand_patterns(content.reference, robot.joint_names, location / 'reference')
    for name, value in pose.items():
        joint = robot.joint[name]
        if not joint.lower <= value <= joint.upper:
            raise (location / 'reference').error(
                f"joint '{name}' is {value:g}, outside its limits "
                f'[{joint.lower:g}, {joint.upper:g}]'
            )
    return Hardware(
        robot=robot.name,
        motors=_read_motors(content.joints, robot.joint_names, location / 'joints'),
        reference={**default.reference, **pose},
        plugin=content.plugin,
        parameters={
            name: _as_text(value, location / 'parameters' / name)
            for name, value in content.parameters.items()
        },
    )


def _read_motors(
    entries: Mapping[str, MotorEntry], joints: Sequence[str], location: Location
) -> dict[str, Motor]:
    """Return the motor of each joint; ConfigurationError if two joints have the same motor."""
    motors = {name: Motor(name=name) for name in joints}
    for pattern, entry in entries.items():
        for name in match_names(pattern, joints, (location / pattern).owner):
            motors[name] = entry.apply_to(motors[name])
    owner: dict[str, str] = {}
    for joint, motor in motors.items():
        if motor.name in owner:
            raise location.error(
                f"joint '{joint}': motor '{motor.name}' is already the motor of joint "
                f"'{owner[motor.name]}'"
            )
        owner[motor.name] = joint
    return motors


def _as_text(value: Any, location: Location) -> str:
    """Return a parameter of a plugin as it is written: 1.10 is another firmware than 1.1."""
    if not isinstance(value, (str, int, float)):
        raise location.type_error(value, 'a number, text, true or false')
    return location.written_text


def _gains_and_offsets(motors: Sequence[Motor]) -> tuple[FloatArray, FloatArray]:
    """Return sign times ratio, and the offset, of each motor."""
    gain = np.array([motor.sign * motor.ratio for motor in motors], dtype=np.float64)
    return gain, np.array([motor.offset for motor in motors], dtype=np.float64)


def _convert_rows(
    values: FloatArray | None, rows: Sequence[int], change: Any
) -> FloatArray | None:
    """Return some rows of values, converted; None for absent values."""
    return None if values is None else change(np.asarray(values, dtype=np.float64)[list(rows)])
