# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Readings of motors, and conditions for commands to reach them.

The module has no clock and knows no messages: the caller passes values and their times. A time is
a pair [s], (2,), by the clock of the stamps and by a steady clock. A time span is the shorter of
the two, so that a reading does not look old after a pause of the simulation or a change of the
clock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError
from gait_core.safety.plausibility import MAX_PLAUSIBLE
from gait_ros.hardware.motors import (
    JOINT_COMMANDS_TOPIC,
    MOTION_TOPIC,
    MOTOR_STATES_TOPIC,
    Hardware,
    JointValues,
)

# A motor whose readings pause for longer than this [s] no longer counts as at rest: it may have
# moved meanwhile.
_MAX_PAUSE = 0.5
# For a calibration motors must rest for this time [s], within this range [rad or m].
_REST_TIME, _REST_RANGE = 1.0, 0.01


class MotorReadings:
    """
    Last plausible reading of each motor, with its age and the time for which it has been at rest.

    Parameters
    ----------
    names : sequence of str
    tolerance : (n,) float array or None
        Largest change of a reading at rest; None: zero.

    Attributes
    ----------
    values : (n,) float array
        NaN before the first plausible reading.

    """

    def __init__(self, names: Sequence[str], tolerance: FloatArray | None = None) -> None:
        self._row = {name: row for row, name in enumerate(names)}
        n = len(self._row)
        self._tolerance = np.zeros(n) if tolerance is None else tolerance
        self.values: FloatArray = np.full(n, np.nan)
        self._arrivals = np.full((n, 2), -np.inf)
        self._anchor = np.full(n, np.nan)
        self._since = np.full((n, 2), -np.inf)

    def add(self, names: Sequence[str], values: FloatArray, now: FloatArray) -> None:
        """
        Add readings with their time.

        Left out are unknown names, and values that are not finite or beyond ``MAX_PLAUSIBLE``.
        """
        for name, value in zip(names, values.tolist(), strict=True):
            row = self._row.get(name)
            # Written as a negation, because every comparison with NaN is false.
            if row is None or not abs(value) <= MAX_PLAUSIBLE:
                continue
            paused = _time_spans(self._arrivals[row], now) > _MAX_PAUSE
            # The anchor is the value at the start of the rest, so that a slow drift ends the rest.
            if paused or not abs(value - self._anchor[row]) <= self._tolerance[row]:
                self._anchor[row], self._since[row] = value, now
            self.values[row], self._arrivals[row] = value, now

    def ages(self, now: FloatArray) -> FloatArray:
        """Return the age of each reading [s]; ``inf`` before the first."""
        return _time_spans(self._arrivals, now)

    def rest_times(self, now: FloatArray) -> FloatArray:
        """Return the time [s] for which each motor has been at rest; 0 without a reading."""
        return np.where(np.isnan(self.values), 0.0, _time_spans(self._since, now))


def _time_spans(then: FloatArray, now: FloatArray) -> FloatArray:
    """
    Return the shorter of the time spans [s] by both clocks.

    A clock that has jumped back is left out; ``inf`` if both have.
    """
    spans = now - then
    return np.asarray(np.where(spans < 0.0, np.inf, spans).min(axis=-1))


class MotorWatch:
    """
    Monitor of the conditions for commands to reach motors.

    Parameters
    ----------
    hardware : Hardware
    joints : sequence of str
    hold_after : callable
        Returns the time [s] of silence after which motors must hold.

    Attributes
    ----------
    motors : tuple of str
        Names of the motors, in the order of ``joints``.
    motor_readings : MotorReadings
        Positions of motors.
    joint_readings : MotorReadings
        Plausible positions of joints since the activation.
    conflict : str
        One line on a second publisher; empty: there is none.
    motion_requested : bool
        Whether a gait requests motion.

    """

    def __init__(
        self, hardware: Hardware, joints: Sequence[str], hold_after: Callable[[], float]
    ) -> None:
        self._hardware, self._joints, self._hold_after = hardware, tuple(joints), hold_after
        motors = [hardware.motors[joint] for joint in joints]
        self.motors = tuple(motor.name for motor in motors)
        self.motor_readings = MotorReadings(
            self.motors, np.array([_REST_RANGE * m.ratio for m in motors])
        )
        self.conflict = ''
        self.motion_requested = False
        self._times: dict[str, FloatArray] = {}
        self.forget_positions()

    def forget_positions(self) -> None:
        """Forget the positions of joints, which may have been moved by hand meanwhile."""
        self.joint_readings = MotorReadings(self._joints)

    def record_arrival(self, source: str, now: FloatArray) -> None:
        """Store the time of a message on a topic."""
        self._times[source] = now

    def silent_joints(self, now: FloatArray) -> set[str]:
        """Return the joints whose motors are silent."""
        late = self.joint_readings.ages(now) > self._hold_after()
        return {joint for joint, old in zip(self._joints, late.tolist(), strict=True) if old}

    def describe_blocking_condition(self, now: FloatArray) -> str:
        """Return one line on what keeps commands from motors; empty if nothing does."""
        if self.conflict:
            return self.conflict
        ages = self.joint_readings.ages(now)
        never = np.flatnonzero(np.isnan(self.joint_readings.values))
        if len(never):
            return self._unreported(int(never[0]), len(never), now)
        late = np.flatnonzero(ages > self._hold_after())
        if len(late):
            return (
                f'{self._label(int(late[0]))} has reported no plausible position for '
                f'{ages[late[0]]:.1f} s ({len(late)} of {len(ages)} motors): is the driver of the '
                'motors running?'
            )
        return self._not_requested(now) or self._no_commands(now)

    def describe_ended_request(self) -> str:
        """Return one line if the gait has ended its motion request; empty otherwise."""
        if self.motion_requested or MOTION_TOPIC not in self._times:
            return ''
        return f'no motion request: {MOTION_TOPIC} is false; activate a gait and request motion'

    def check_rest(self, now: FloatArray) -> None:
        """Raise ConfigurationError if a motor is silent, moves or has no finite reading."""
        ages, rests = self.motor_readings.ages(now), self.motor_readings.rest_times(now)
        for i, (age, rest) in enumerate(zip(ages.tolist(), rests.tolist(), strict=True)):
            if np.isinf(age):
                raise ConfigurationError(f'{self._label(i)} has no finite reading')
            if age > self._hold_after():
                raise ConfigurationError(f'{self._label(i)} has been silent for {age:.1f} s')
            if rest < _REST_TIME:
                raise ConfigurationError(
                    f'{self._label(i)} was not at rest for {_REST_TIME:g} s: let it rest, then '
                    'call again'
                )

    def _unreported(self, first: int, count: int, now: FloatArray) -> str:
        """Return one line on motors without a plausible position."""
        if MOTOR_STATES_TOPIC not in self._times:
            return f'no message on {MOTOR_STATES_TOPIC}: is the driver of the motors running?'
        why = 'has not reported'
        if np.isfinite(self.motor_readings.ages(now)[first]):
            joint = self._hardware.to_joints(
                JointValues(
                    names=(self.motors[first],),
                    position=self.motor_readings.values[first : first + 1],
                )
            )
            assert joint.position is not None
            why = (
                f'reports joint position {float(joint.position[0]):.2f}, far beyond its limits: '
                'check its offset in hardware.yaml, or calibrate'
            )
        return f'waiting for {count} of {len(self._joints)} motors: {self._label(first)} {why}'

    def _not_requested(self, now: FloatArray) -> str:
        """Return one line if no motion is requested; empty otherwise."""
        if MOTION_TOPIC not in self._times:
            return (
                f'no motion request: no message on {MOTION_TOPIC}; activate a gait and request '
                'motion'
            )
        age = self._age(MOTION_TOPIC, now)
        if self.motion_requested and age > self._hold_after():
            return (
                f'{MOTION_TOPIC} has been silent for {age:.1f} s: has the node of the gait ended?'
            )
        return self.describe_ended_request()

    def _no_commands(self, now: FloatArray) -> str:
        """Return one line if no commands come; empty otherwise."""
        age = self._age(JOINT_COMMANDS_TOPIC, now)
        if age <= self._hold_after():
            return ''
        absent = 'no message' if np.isinf(age) else 'no more messages'
        return (
            f'{absent} on {JOINT_COMMANDS_TOPIC}: is controller_manager running, with '
            'target:=topic or hardware?'
        )

    def _label(self, i: int) -> str:
        return f"motor '{self.motors[i]}' of joint '{self._joints[i]}'"

    def _age(self, source: str, now: FloatArray) -> float:
        """Return the age [s] of the last message on a topic; ``inf`` before the first."""
        then = self._times.get(source)
        return float('inf') if then is None else float(_time_spans(then, now))
