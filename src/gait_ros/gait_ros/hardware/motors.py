"""Motors behind joints: names, signs, ratios and offsets, from a hardware.yaml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import yaml

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError
from gait_core.parameters.patterns import expand_patterns, match_names
from gait_core.parameters.schema import Location, NumberRange, read_file
from gait_core.robot.model import RobotModel
from gait_core.safety.plausibility import MAX_PLAUSIBLE
from gait_core.trial.scene import EMPTY_MAPPING

# Topics of the node hardware.
JOINT_COMMANDS_TOPIC, JOINT_STATES_TOPIC = 'hardware/joint_commands', 'hardware/joint_states'
MOTOR_COMMANDS_TOPIC, MOTOR_STATES_TOPIC = 'motors/joint_commands', 'motors/joint_states'
MOTION_TOPIC = 'motion_requested'
"""Topic of the permission to command motors: an active gait was asked for motion."""


@dataclass(frozen=True, kw_only=True)
class JointValues:
    """
    Some joints' or motors' values, as a JointState has them.

    ``position``, ``velocity`` and ``effort`` are (n,) arrays in the order of ``names``, or
    ``None``. Values may be NaN: not known, or not commanded.
    """

    names: tuple[str, ...]
    position: FloatArray | None = None
    velocity: FloatArray | None = None
    effort: FloatArray | None = None


@dataclass(frozen=True, kw_only=True)
class Motor:
    """
    The motor of one joint.

    It reads ``offset + sign * ratio * position`` where the joint is at ``position``; its effort
    is ``sign / ratio`` times the joint's.

    Attributes
    ----------
    name : str
        On the hardware.
    sign : float
        1, or -1 for a motor that turns against its joint.
    ratio : float
        Turns of the motor for one of the joint, positive.
    offset : float [rad or m]
        What it reads where the joint's position is zero.

    """

    name: str
    sign: float = 1.0
    ratio: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, kw_only=True)
class MotorEntry:
    """Entry of a hardware.yaml on the motors of some joints; ``None`` leaves a value as it is."""

    motor: str | None = None
    sign: float | None = None
    ratio: Annotated[float, NumberRange(1e-6, 1e6)] | None = None
    offset: Annotated[float, NumberRange(-MAX_PLAUSIBLE, MAX_PLAUSIBLE, 'rad or m')] | None = None

    def __post_init__(self) -> None:
        """Check the sign."""
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
    Content of a hardware.yaml; every key is optional.

    Attributes
    ----------
    robot : str or None
        The file is refused for another robot.
    plugin : str
        Of ros2_control; empty: motors are reached through topics.
    parameters : mapping of str to scalar
        Of that plugin.
    reference : mapping of str to float [rad or m]
        Pose for the calibration by joint or pattern, over the nominal stance.
    joints : mapping of str to MotorEntry
        By joint or pattern; of several that match a joint the last one holds, key by key.

    """

    robot: str | None = None
    plugin: str = ''
    parameters: Mapping[str, Any] = field(default_factory=lambda: EMPTY_MAPPING)
    reference: Mapping[str, float] = field(default_factory=lambda: EMPTY_MAPPING)
    joints: Mapping[str, MotorEntry] = field(default_factory=lambda: EMPTY_MAPPING)


@dataclass(frozen=True, kw_only=True)
class Hardware:
    """
    The motors of a real robot, joint by joint.

    Attributes
    ----------
    robot : str
        Name of the robot's model.
    motors : mapping of str to Motor
        By joint, for each of them.
    reference : mapping of str to float [rad or m]
        The pose in which the robot is put to be calibrated.
    plugin : str
        Of ros2_control; empty: motors are reached through topics.
    parameters : mapping of str to str
        Of that plugin.

    """

    robot: str
    motors: Mapping[str, Motor]
    reference: Mapping[str, float] = field(default_factory=lambda: EMPTY_MAPPING)
    plugin: str = ''
    parameters: Mapping[str, str] = field(default_factory=lambda: EMPTY_MAPPING)

    def to_motors(self, values: JointValues) -> JointValues:
        """Convert values of joints to those of their motors; unknown joints are left out."""
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
        """Convert values of motors to those of their joints; unknown motors are left out."""
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
        Return the hardware with the offsets that put its joints into the reference pose now.

        Parameters
        ----------
        readings : mapping of str to float [rad or m]
            Reading of every motor by its name.

        Raises
        ------
        ConfigurationError
            If a motor has no finite reading; the message names the first.

        """
        motors = {}
        for joint, motor in self.motors.items():
            reading = readings.get(motor.name, np.nan)
            if not np.isfinite(reading):
                raise ConfigurationError(
                    f"motor '{motor.name}' of joint '{joint}' has no finite reading"
                )
            at = motor.sign * motor.ratio * self.reference.get(joint, 0.0)
            motors[joint] = replace(motor, offset=float(reading) - at)
        return replace(self, motors=motors)

    def to_yaml(self) -> str:
        """Write a hardware.yaml from which this is read again, with every bit of its numbers."""
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
    """Return hardware whose motors have the names and values of the joints."""
    return Hardware(
        robot=robot.name,
        motors={name: Motor(name=name) for name in robot.joint_names},
        reference={name: robot.nominal_stance.get(name, 0.0) for name in robot.joint_names},
    )


def read_hardware(file: str, robot: RobotModel) -> Hardware:
    """
    Read the motors of a robot from a hardware.yaml; without a file they are its joints.

    Every key is optional::

        robot: a1                        # refused for another robot
        plugin: my_driver/MySystem       # of ros2_control; absent: motors speak through topics
        parameters: {port: /dev/ttyUSB0}
        reference: {'.*_knee': -1.2}     # pose for the calibration; default: the nominal stance
        joints:
          FL_hip_joint: {motor: m1, sign: -1, offset: 0.12}
          '.*_lower_joint': {ratio: 1.55}

    Raises
    ------
    ConfigurationError
        For an unknown key or joint (with the nearest), a sign that is not 1 or -1, a ratio that
        is not positive, a reference beyond a joint's limits, a motor of two joints, or another
        robot's file.

    """
    default = default_hardware(robot)
    if not file:
        return default
    content, location = read_file(HardwareFile, Path(file).expanduser())
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
        parameters={name: _as_text(value) for name, value in content.parameters.items()},
    )


def _read_motors(
    entries: Mapping[str, MotorEntry], joints: Sequence[str], location: Location
) -> dict[str, Motor]:
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


def _as_text(value: Any) -> str:
    """Return a parameter of a plugin as text, with flags as YAML has them."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _gains_and_offsets(motors: Sequence[Motor]) -> tuple[FloatArray, FloatArray]:
    gain = np.array([motor.sign * motor.ratio for motor in motors], dtype=np.float64)
    return gain, np.array([motor.offset for motor in motors], dtype=np.float64)


def _convert_rows(
    values: FloatArray | None, rows: Sequence[int], change: Any
) -> FloatArray | None:
    """Return the values of some rows, changed; ``None`` for values that are not known."""
    return None if values is None else change(np.asarray(values, dtype=np.float64)[list(rows)])
