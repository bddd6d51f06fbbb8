# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Controller ``matsuoka``: joints or cables driven by a network of neural oscillators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
from typing import Any, ClassVar

import numpy as np

from gait_core.arrays import FloatArray, all_finite
from gait_core.contracts import TapeController
from gait_core.errors import BadCommand
from gait_core.motion.observation import Observation
from gait_core.motion.targets import JointTargets, TargetTape
from gait_core.motion.velocity_limits import VelocityLimits
from gait_core.parameters.declaration import Parameters
from gait_core.robot.model import RobotModel
from gait_core.trial.spec import Command
from gait_cpg.matsuoka.feedback import FEEDBACK_SENSORS
from gait_cpg.matsuoka.outputs import divide_period, make_outputs
from gait_cpg.matsuoka.parameters import MatsuokaParams
from gait_cpg.oscillators import MatsuokaNeurons
from gait_cpg.phase_cpg.kernel import limit_joint_rates

_POSITION_SAMPLES = 5
"""Default number of position targets per control period."""


class MatsuokaController(TapeController):
    """
    Drives a robot by Matsuoka oscillators: one per signal of its description, or one per leg.

    Force elements, and joints whose actuators accept efforts, get the signal times ``gain``. The
    offset of other joints from the nominal stance, within their limits, is the adaptation state of
    their oscillator times ``joint_gain``; it follows the signal smoothly. In a leg this is the
    joint that swings the foot most; another joint lifts the foot while it moves forward. The
    oscillators run from the start and ignore the command; nothing is random. The controller is
    open loop unless ``feedback`` is selected and ``feedback_gain`` is not zero.
    """

    Params: ClassVar[type[Parameters]] = MatsuokaParams
    _params: MatsuokaParams
    velocity_limits: ClassVar[VelocityLimits] = 'its oscillators run at their own pace'
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        'reference': {},
        'alternating': {'gait': 'trot', 'tau_a': 0.05, 'pair_weight': 2.0, 'blanking': 1.0},
    }

    def __init__(self, robot: RobotModel, params: MatsuokaParams) -> None:
        self._robot = robot
        self.set_params(params)
        self.reset(0)
        # The first call on a machine compiles the kernels, for seconds: here, not in a trial.
        self._run(0.02, 1, None)
        self.reset(0)

    @property
    def needs(self) -> frozenset[str]:
        """Fields of an observation that the feedback reads; empty in open loop."""
        return frozenset() if self._sensor is None else self._sensor.needs

    def set_params(self, params: MatsuokaParams) -> None:
        """Replace the parameters; the oscillators run on, or restart if their number changes."""
        outputs = make_outputs(self._robot, params.separate)
        lags = None if params.gait == 'none' else outputs.gait_lags(params.gait)
        network = params.network(len(outputs.signals), lags)
        is_closed = params.is_closed_loop
        self._sensor = (
            FEEDBACK_SENSORS[params.feedback](self._robot, outputs) if is_closed else None
        )
        self._params, self._outputs, self._network = params, outputs, network
        self._initial = _initial_state(network, lags)
        if not outputs.takes_efforts:
            columns = [self._robot.joint_index[name] for name in outputs.names]
            self._stance = self._robot.stance[columns]
            self._limits = self._robot.lower[columns], self._robot.upper[columns]
            self._max_rates = self._robot.velocity_limit[columns]
        if getattr(self, '_signals', np.empty(0)).shape != (len(outputs.signals),):
            self.reset(0)

    def reset(self, seed: int) -> None:
        """Restart the oscillators; the seed is not used."""
        self._state = self._initial
        self._sample_count = 0
        self._signals = np.zeros(len(self._outputs.signals))
        if not self._outputs.takes_efforts:
            self._last_joints = self._stance.copy()

    def step(self, dt: float, command: Command, observation: Observation) -> JointTargets:
        """Return the efforts, or the positions and the rates to them, of a control period."""
        fields = self._run(dt, 1, observation)
        return JointTargets(
            names=self._outputs.names, **{name: array[0] for name, array in fields.items()}
        )

    def target_tape(self, dt: float, commands: Sequence[Command]) -> TargetTape | None:
        """Return the targets of several control periods at once; None in closed loop."""
        if self._sensor is not None:
            return None
        return TargetTape(names=self._outputs.names, **self._run(dt, len(commands), None))

    def state(self) -> Mapping[str, float]:
        """
        Return the state of the oscillators.

        ``phase`` [rad] in [0, 2 pi) of the first oscillator, 0 where its adaptation changes sign
        to favour the flexor, and ``signal.<name>`` [-] of each.
        """
        outputs, adaptation = np.maximum(self._state[0, :2], 0.0), self._state[1, :2]
        lag = float(adaptation[0] - adaptation[1])
        lead = float(outputs[0] - outputs[1]) - lag
        values = {'phase': math.atan2(lag, lead) % (2.0 * math.pi)}
        for name, value in zip(self._outputs.signals, self._signals, strict=True):
            values[f'signal.{name}'] = float(value)
        return values

    def _run(
        self, dt: float, periods: int, observation: Observation | None
    ) -> dict[str, FloatArray]:
        """Advance the oscillators and return the targets (periods, K, n) by quantity."""
        sample_counts = (
            self._params.sub_samples,
            0 if self._outputs.takes_efforts else _POSITION_SAMPLES,
        )
        count, steps_per_sample, step = divide_period(dt, self._params.step, sample_counts)
        drive = None
        if self._sensor is not None and observation is not None:
            # Feedback f of Korbel (2013), Eq. 7: positive to extensors, negative to flexors.
            feedback = self._params.feedback_gain * self._sensor.read(observation)
            drive = np.stack([feedback, -feedback], axis=-1).ravel()
        samples = periods * count
        self._state, signals = self._network.euler(
            self._state, step, samples, steps_per_sample=steps_per_sample, drive=drive
        )
        if not all_finite(signals):
            time = (self._sample_count + samples) * steps_per_sample * step
            raise BadCommand(
                f'oscillators diverge within {time:g} s: '
                f'shorten step {self._params.step:g} s or lower feedback_gain'
            )
        # Times are multiples of the sample time, not sums: steps and tapes agree to the last bit.
        times = np.asarray(
            steps_per_sample * step * np.arange(self._sample_count, self._sample_count + samples)
        )
        self._sample_count += samples
        shape = periods, count, len(self._outputs.names)
        targets = self._efforts if self._outputs.takes_efforts else self._positions
        fields = targets(signals, times, steps_per_sample * step)
        return _make_read_only(**{name: array.reshape(shape) for name, array in fields.items()})

    def _efforts(
        self, signals: FloatArray, times: FloatArray, period: float
    ) -> dict[str, FloatArray]:
        """Return efforts by signals, (samples, n); zero while blanked."""
        signals = signals[:, : len(self._outputs.signals)]
        # Blanking at the start, Korbel (2013), appendix B.1; the margin keeps rounding of the time
        # from blanking one sample more.
        signals[times < self._params.blanking - 1e-6 * period] = 0.0
        self._signals = signals[-1]
        # Korbel (2013), Eq. 6: the signal, times the gain, adds to the tension of its cables.
        return {'effort': self._params.gain * signals[:, self._outputs.signal]}

    def _positions(
        self, signals: FloatArray, times: FloatArray, period: float
    ) -> dict[str, FloatArray]:
        """Return joint positions and rates by signals and adaptation, (samples, n) each."""
        outputs, params = self._outputs, self._params
        signals, adaptation = np.hsplit(signals, 2)
        self._signals = signals[-1]
        # Swing joints follow the adaptation, which is smooth; lift joints act while the signal is
        # above it, which is the swing.
        offsets = np.where(
            outputs.lifts,
            params.lift_gain * np.maximum(signals - adaptation, 0.0)[:, outputs.signal],
            params.joint_gain * adaptation[:, outputs.signal],
        )
        # Offsets grow from zero, so that the robot starts without a jerk.
        if params.blanking > 0.0:
            offsets *= np.minimum((times + period) / params.blanking, 1.0)[:, None]
        positions = np.clip(self._stance + outputs.sign * offsets, *self._limits)
        rates = np.empty_like(positions)
        limit_joint_rates(self._last_joints, self._max_rates, period, positions, rates)
        return {'position': positions, 'velocity': rates}


def _initial_state(network: MatsuokaNeurons, lags: FloatArray | None) -> FloatArray:
    """Return the initial state; in a gait, legs half a cycle apart start with swapped neurons."""
    state = network.initial_state()
    if lags is not None:
        opposite = np.flatnonzero(np.abs(lags - lags[0]) > 0.25)
        state[:, 2 * opposite], state[:, 2 * opposite + 1] = (
            state[:, 2 * opposite + 1],
            state[:, 2 * opposite],
        )
    return state


def _make_read_only(**arrays: FloatArray) -> dict[str, FloatArray]:
    """Mark arrays as read-only, so that targets hold them without a copy; return them."""
    for array in arrays.values():
        array.flags.writeable = False
    return arrays
