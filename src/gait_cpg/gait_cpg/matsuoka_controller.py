"""The controller that drives joints or cables by a network of Matsuoka's oscillators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from gait_core.arrays import FloatArray, all_finite
from gait_core.errors import BadCommand
from gait_core.observation import Observation
from gait_core.parameters import Parameters
from gait_core.robot.model import RobotModel
from gait_core.targets import JointTargets, TargetTape
from gait_core.trial_spec import Command
from gait_cpg.matsuoka_outputs import SENSES, divisions, outputs_of
from gait_cpg.matsuoka_parameters import MatsuokaParams
from gait_cpg.oscillators import Diagnosis, diagnose
from gait_cpg.walk_kernel import follow

_POSITIONS = 5
"""Targets of joints in a control period, unless told."""


class MatsuokaController:
    """
    Drives a robot by neural oscillators, one per signal of its description.

    Force elements, and joints with actuators that take efforts, get the signal times ``gain``;
    other joints are moved about their nominal stance by the signal times ``joint_gain``, within
    their limits. Several that share a signal get the same. The oscillators run from the start,
    whatever the command; nothing in them is random. Open loop unless ``feedback`` is chosen and
    ``feedback_gain`` is not zero.
    """

    Params: ClassVar[type[Parameters]] = MatsuokaParams
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
        {'reference': MappingProxyType({})}
    )

    def __init__(self, robot: RobotModel, params: MatsuokaParams) -> None:
        self._robot = robot
        self.set_params(params)
        self.reset(0)
        # Kernels are compiled on their first call on a machine, for seconds: not in a trial.
        self._run(0.02, 1, None)
        self.reset(0)

    @property
    def params(self) -> MatsuokaParams:
        """The parameters in force."""
        return self._params

    @property
    def needs(self) -> frozenset[str]:
        """What the feedback looks at; nothing in open loop."""
        return frozenset() if self._sense is None else self._sense.needs

    def set_params(self, params: MatsuokaParams) -> None:
        """Replace the parameters; the oscillators go on, anew where their number changes."""
        outputs = outputs_of(self._robot, params.separate)
        network = params.network(len(outputs.signals))
        closed = params.closed_loop
        self._sense = SENSES[params.feedback](self._robot, outputs) if closed else None
        self._params, self._outputs, self._network = params, outputs, network
        if not outputs.efforts:
            columns = [self._robot.joint_index[name] for name in outputs.names]
            self._stance = self._robot.stance[columns]
            self._limits = self._robot.lower[columns], self._robot.upper[columns]
            self._fastest = self._robot.velocity_limit[columns]
        if getattr(self, '_signals', np.empty(0)).shape != (len(outputs.signals),):
            self.reset(0)

    def reset(self, seed: int) -> None:
        """Start the oscillators; nothing here is random, whatever the seed."""
        self._state = self._network.start()
        self._time = 0.0
        self._signals = np.zeros(self._network.outputs)
        if not self._outputs.efforts:
            self._joints = self._stance.copy()

    def step(self, dt: float, command: Command, observation: Observation) -> JointTargets:
        """Return the efforts, or the positions and the rates to them, of a control period."""
        fields = self._run(dt, 1, observation)
        return JointTargets(
            names=self._outputs.names, **{name: array[0] for name, array in fields.items()}
        )

    def tape(self, dt: float, commands: Sequence[Command]) -> TargetTape | None:
        """Return the targets of some control periods, by one call; None in closed loop."""
        if self._sense is not None:
            return None
        return TargetTape(names=self._outputs.names, **self._run(dt, len(commands), None))

    def state(self) -> Mapping[str, float]:
        """
        Return where the oscillators are.

        ``phase`` [rad] in [0, 2 pi) of the first, from where its fatigue begins to favour the
        flexor, and ``signal.<name>`` [-] of each.
        """
        outputs, fatigue = np.maximum(self._state[0, :2], 0.0), self._state[1, :2]
        lag = float(fatigue[0] - fatigue[1])
        lead = float(outputs[0] - outputs[1]) - lag
        values = {'phase': math.atan2(lag, lead) % (2.0 * math.pi)}
        for name, value in zip(self._outputs.signals, self._signals, strict=True):
            values[f'signal.{name}'] = float(value)
        return values

    def diagnosis(self, duration: float = 15.0, last: float = 3.0) -> Diagnosis:
        """
        Return whether the oscillators are alive at the end of some time [s] in open loop.

        They are run from the start; the controller stays as it is. A signal is alive that moves
        by more than 0.05 in the last seconds.
        """
        step = self._params.step
        run = self._network.euler(self._network.start(), step, round(duration / step))
        return diagnose(run.signals[-round(last / step) :], step)

    def _run(
        self, dt: float, periods: int, observation: Observation | None
    ) -> dict[str, FloatArray]:
        """Advance the oscillators and return the targets (periods, K, n) by quantity."""
        given = self._params.sub_samples, 0 if self._outputs.efforts else _POSITIONS
        count, every, step = divisions(dt, self._params.step, given)
        drive = None
        if self._sense is not None and observation is not None:
            felt = self._params.feedback_gain * self._sense.read(observation)
            drive = np.stack([felt, -felt], axis=-1).ravel()
        samples = periods * count
        self._state, signals = self._network.euler(
            self._state, step, samples, every=every, drive=drive
        )
        if not all_finite(signals):
            raise BadCommand(
                f'oscillators diverge within {self._time + periods * dt:g} s: shorten step '
                f'{self._params.step:g} s or lower feedback_gain'
            )
        blanked = self._params.blanking - self._time
        if blanked > 0.0:
            # Sample k is held from the time of its first step on.
            signals[: math.ceil(blanked / (every * step) - 1e-6)] = 0.0
        self._time += periods * dt
        self._signals = signals[-1]
        driven = signals[:, self._outputs.signal] * self._outputs.sign
        shape = periods, count, len(self._outputs.names)
        if self._outputs.efforts:
            return _frozen(effort=(self._params.gain * driven).reshape(shape))
        positions = np.clip(self._stance + self._params.joint_gain * driven, *self._limits)
        rates = np.empty_like(positions)
        follow(self._joints, self._fastest, every * step, positions, rates)
        return _frozen(position=positions.reshape(shape), velocity=rates.reshape(shape))


def _frozen(**arrays: FloatArray) -> dict[str, FloatArray]:
    """Return arrays that targets need not copy."""
    for array in arrays.values():
        array.flags.writeable = False
    return arrays
