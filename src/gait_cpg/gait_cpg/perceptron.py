"""The controller that drives linear servos by a layer of threshold perceptrons with memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import math
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gait_core.observation import Observation
from gait_core.parameters import Parameters, bounded, flag, text, whole
from gait_core.perceptrons import PerceptronLayout, Weights
from gait_core.robot.model import RobotModel
from gait_core.scene import NOTHING
from gait_core.targets import JointTargets
from gait_core.trial_spec import Command
from gait_cpg.perceptron_kernel import think
from gait_cpg.perceptron_servos import Servos


@dataclass(frozen=True, kw_only=True)
class PerceptronParams(Parameters):
    """Parameters of the perceptron layer; the defaults are run A of Bishop (2008)."""

    perceptrons: int = whole(30, low=1, high=10000, doc='Perceptrons side by side.')
    memory: int = whole(250, low=0, high=2000, doc='Control periods that the layer looks back.')
    spare: str = text(
        'zero',
        choices=('none', 'zero', 'one', 'upright'),
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
        self.set_params(params)
        # Kernels are compiled on their first call on a machine, for seconds: not in a trial.
        self.reset(0)
        self._think(1.0)
        self.reset(0)

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
        self._active = 0

    def step(self, dt: float, command: Command, observation: Observation) -> JointTargets:
        """Return the targets of the servos for one control period."""
        self._sense(command, observation)
        self._think(dt)
        return JointTargets(names=self._servos.names, position=self._servos.targets(self._places))

    def _sense(self, command: Command, observation: Observation) -> None:
        """Write the present channels."""
        chosen, outputs = self._params, self._layout.outputs
        scales = (chosen.length_scale, chosen.force_scale) if chosen.scaled else (1.0, 1.0)
        signals = self._signals
        self._servos.read(observation, scales, signals[: 2 * outputs])
        signals[2 * outputs : 2 * outputs + 2] = self._direction(command, observation)
        if chosen.spare != 'none':
            signals[2 * outputs + 2] = self._spare(observation)

    def _direction(self, command: Command, observation: Observation) -> tuple[float, float]:
        """Return the commanded direction in the robot's x and y; zeros where there is none."""
        x, y, _ = command.velocity
        speed = math.hypot(x, y)
        if speed == 0.0:
            return 0.0, 0.0
        x, y = x / speed, y / speed
        if self._params.direction == 'body':
            return x, y
        forward, left, _ = _level_parts(observation)
        return forward[0] * x + forward[1] * y, left[0] * x + left[1] * y

    def _spare(self, observation: Observation) -> float:
        if self._params.spare == 'upright':
            return _level_parts(observation)[2]
        return 1.0 if self._params.spare == 'one' else 0.0

    def _think(self, dt: float) -> None:
        """Answer the present channels, remember both, and move the set points."""
        chosen, layout = self._params, self._layout
        scaled = chosen.scaled and chosen.max_acceleration > 0.0
        self._active = think(
            self._signals, self._weights, self._answer, (layout.channels, layout.memory),
            (dt, chosen.output_gain or 1.0 / dt, chosen.max_acceleration * dt if scaled else 1.0),
            (chosen.max_acceleration, chosen.max_speed), self._bounds, self._places, self._speeds,
        )  # fmt: skip

    def state(self) -> Mapping[str, float]:
        """Return how many perceptrons were active in the last control period."""
        return {'active': float(self._active)}


def _level_parts(
    observation: Observation,
) -> tuple[tuple[float, float], tuple[float, float], float]:
    """Return the root link's x and y axes along the ground's x and y, and its z along the up."""
    assert observation.body_poses is not None
    x, y, z, w = observation.body_poses[0, 3:].tolist()
    scale = 2.0 / (x * x + y * y + z * z + w * w)
    return (
        (1.0 - scale * (y * y + z * z), scale * (x * y + z * w)),
        (scale * (x * y - z * w), 1.0 - scale * (x * x + z * z)),
        1.0 - scale * (x * x + y * y),
    )
