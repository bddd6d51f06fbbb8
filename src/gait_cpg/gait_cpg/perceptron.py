"""The controller that drives linear servos by a layer of threshold perceptrons with memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import math
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gait_core.compiled_step import CompiledStep, places
from gait_core.observation import Observation
from gait_core.parameters import Parameters, bounded, flag, text, whole
from gait_core.perceptrons import PerceptronLayout, Weights
from gait_core.robot.model import RobotModel
from gait_core.scene import NOTHING
from gait_core.targets import JointTargets
from gait_core.trial_spec import Command
from gait_core.velocity_bounds import FREE, Bound, Bounds
from gait_cpg.perceptron_kernel import MEMORY, NATIVE_STEP, NO_SPARE, ONE, UPRIGHT, ZERO
from gait_cpg.perceptron_servos import Servos

_SPARES = {'none': NO_SPARE, 'zero': ZERO, 'one': ONE, 'upright': UPRIGHT}


@dataclass(frozen=True, kw_only=True)
class PerceptronParams(Parameters):
    """Parameters of the perceptron layer; the defaults are run A of Bishop (2008)."""

    perceptrons: int = whole(30, low=1, high=10000, doc='Perceptrons side by side.')
    memory: int = whole(250, low=0, high=2000, doc='Control periods that the layer looks back.')
    spare: str = text(
        'zero',
        choices=tuple(_SPARES),
        doc='What a last channel carries: nothing (there is none), 0, 1, or the cosine of the '
        "platform's tilt.",
    )
    direction: str = text(
        'odom',
        choices=('odom', 'body'),
        doc='Where the direction of the commanded velocity is meant: one of the ground, or one '
        'that turns with the robot.',
    )
    scaled: bool = flag(True, doc='Channels are divided by the scales; else they are in m and N.')
    length_scale: float = bounded(
        0.1, low=1e-6, high=1e3, unit='m', doc='What a servo position is divided by.'
    )
    force_scale: float = bounded(
        100.0, low=1e-6, high=1e6, unit='N', doc='What a servo force is divided by.'
    )
    output_gain: float = bounded(
        0.0,
        low=0.0,
        high=1e6,
        unit='1/s',
        doc='Acceleration of a set point per output [m/s]; 0 is one over the control period, '
        'outputs then are steps of the speed.',
    )
    max_acceleration: float = bounded(
        2.9, low=0.0, high=1e3, unit='m/s^2', doc='Bound of the acceleration of a set point.'
    )
    max_speed: float = bounded(
        0.35, low=0.0, high=1e3, unit='m/s', doc='Bound of the speed of a set point.'
    )
    stops: bool = flag(
        True, doc='Set points stay within the travel of their servo: a third of its length.'
    )


class PerceptronController:
    """
    A neural network of one layer on any robot with linear servos.

    Every control period the network sees position and force of each servo and the direction of
    the commanded velocity, now and in the past, and its own past outputs. These accelerate the
    set points of the servos. Its weights are arrays beside the parameters; without any it is the
    network that has learned nothing, drawn from the seed of the trial.

    References
    ----------
    Bishop (2008), *A Method for Generating Robot Control Systems*, MSc thesis, Youngstown State
    University: sections 2 and 4.8, appendix A.

    """

    Params: ClassVar[type[Parameters]] = PerceptronParams
    velocity_bounds: ClassVar[Bounds] = (FREE, FREE, Bound.both(0.0, 'it does not turn'))
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
        {
            'source': MappingProxyType({}),
            'text': MappingProxyType({'spare': 'none'}),
            'source_b': MappingProxyType({'perceptrons': 150, 'memory': 150}),
        }
    )

    def __init__(
        self,
        robot: RobotModel,
        params: PerceptronParams,
        weights: Mapping[str, npt.NDArray[np.generic]] = NOTHING,
    ) -> None:
        self._robot = robot
        self._servos = Servos(robot)
        self._given = weights
        self._memory: npt.NDArray[np.void] = np.zeros(1, dtype=MEMORY)
        self.set_params(params)

    @classmethod
    def layout(cls, robot: RobotModel, params: PerceptronParams) -> PerceptronLayout:
        """Return the layout of the weights on a robot, for optimisers that search them."""
        servos = len(Servos(robot).names)
        return PerceptronLayout(
            perceptrons=params.perceptrons,
            memory=params.memory,
            channels=2 * servos + 2 + (params.spare != 'none'),
            outputs=servos,
        )

    @property
    def params(self) -> PerceptronParams:
        """The parameters in force."""
        return self._params

    @property
    def needs(self) -> frozenset[str]:
        """Forces and positions of the servos, and the attitude where a direction asks for it."""
        chosen = self._params
        turned = chosen.direction == 'odom' or chosen.spare == 'upright'
        return self._servos.needs | (frozenset({'body_poses'}) if turned else frozenset())

    def set_params(self, params: PerceptronParams) -> None:
        """Replace the parameters; a network of another shape begins anew."""
        layout = self.layout(self._robot, params)
        weights = layout.joined(self._given) if self._given else None
        same = getattr(self, '_layout', None) == layout
        self._params, self._layout = params, layout
        self._bounds = (
            self._servos.stops
            if params.stops
            else np.array([[-math.inf], [math.inf]]) + np.zeros_like(self._servos.stops)
        )
        self._compiled: CompiledStep | None = None
        if weights is not None:
            self._weights = weights
        if not same:
            self._begin()
            if weights is None:
                self._weights = layout.first(np.random.default_rng(0))

    def reset(self, seed: int) -> None:
        """Forget the past and stand still; a network without weights is drawn from the seed."""
        if not self._given:
            self._weights = self._layout.first(np.random.default_rng(seed))
        self._begin()

    def _begin(self) -> None:
        outputs = self._layout.outputs
        self._signals: Weights = np.zeros(self._layout.inputs, dtype=np.float32)
        self._answer: Weights = np.zeros(outputs, dtype=np.float32)
        self._places, self._speeds = np.zeros(outputs), np.zeros(outputs)
        self._compiled = None

    def step(self, dt: float, command: Command, observation: Observation) -> JointTargets:
        """Return the targets of the servos for one control period."""
        native = self.compiled(dt)
        return JointTargets(
            names=native.names, position=native.targets(observation, command.velocity)
        )

    def compiled(self, dt: float) -> CompiledStep:
        """Return ``step`` as a native function, until the next reset or change of parameters."""
        memory = self._memory[0]
        if self._compiled is None or memory['dt'] != dt:
            self._compiled = self._compile(dt)
        return self._compiled

    def _compile(self, dt: float) -> CompiledStep:
        servos, robot = self._servos, self._robot
        joints, elements = len(robot.joint_names), len(robot.force_elements)
        sizes = {
            'element_lengths': elements, 'element_forces': elements, 'joint_positions': joints,
            'joint_efforts': joints, 'body_poses': 7 * len(robot.roots),
        }  # fmt: skip
        reads = tuple(name for name in sizes if name in self.needs)
        arrays: dict[str, npt.NDArray[Any]] = {
            'signals': self._signals, 'weights': self._weights, 'answer': self._answer,
            'places': self._places, 'speeds': self._speeds, 'bounds': self._bounds,
            'elements': servos.elements, 'at_rest': servos.at_rest, 'joints': servos.joints,
            'cranks': servos.cranks, 'carriages_at_rest': servos.carriages_at_rest,
        }  # fmt: skip
        values: dict[str, float] = {
            **{name: array.ctypes.data for name, array in arrays.items()},
            **places(reads, sizes),
            **self._numbers(dt),
        }
        for name, value in values.items():
            self._memory[name] = value
        return CompiledStep(
            function=NATIVE_STEP.address,
            memory=self._memory.ctypes.data,
            reads=reads,
            names=servos.names,
        )

    def _numbers(self, dt: float) -> dict[str, float]:
        """Return counts, scales, timing and limits by their names in the memory."""
        chosen, layout = self._params, self._layout
        lengths, forces = (
            (chosen.length_scale, chosen.force_scale) if chosen.scaled else (1.0, 1.0)
        )
        scaled = chosen.scaled and chosen.max_acceleration > 0.0
        return {
            'perceptrons': layout.perceptrons,
            'memory': layout.memory,
            'channels': layout.channels,
            'servos': layout.outputs,
            'cranked': len(self._servos.joints),
            'turned': chosen.direction == 'odom',
            'spare': _SPARES[chosen.spare],
            'active': 0,
            'length_scale': lengths,
            'force_scale': forces,
            'dt': dt,
            'gain': chosen.output_gain or 1.0 / dt,
            'unit': chosen.max_acceleration * dt if scaled else 1.0,
            'acceleration': chosen.max_acceleration,
            'speed': chosen.max_speed,
        }

    def state(self) -> Mapping[str, float]:
        """Return how many perceptrons were active in the last control period."""
        return {'active': float(self._memory['active'][0])}
