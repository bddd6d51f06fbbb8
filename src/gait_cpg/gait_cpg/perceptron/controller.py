# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Controller ``perceptron``: linear servos driven by threshold perceptrons with memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import math
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gait_core.arrays import FloatArray
from gait_core.contracts import Controller
from gait_core.motion.observation import Observation
from gait_core.motion.targets import JointTargets
from gait_core.motion.velocity_limits import UNLIMITED, VelocityLimits, VelocityRange
from gait_core.parameters.declaration import (
    Parameters,
    bool_parameter,
    float_parameter,
    int_parameter,
    str_parameter,
)
from gait_core.robot.model import RobotModel
from gait_core.trial.scene import EMPTY_MAPPING
from gait_core.trial.spec import Command
from gait_cpg.perceptron.kernel import (
    NO_SPARE_CHANNEL,
    SPARE_ONE,
    SPARE_UPRIGHT,
    SPARE_ZERO,
    ChannelOptions,
    Layer,
    LayerState,
    drive_servos,
)
from gait_cpg.perceptron.layout import PerceptronLayout
from gait_cpg.perceptron.servos import ServoReadings, Servos

_LEVEL_ATTITUDE: FloatArray = np.array((0.0, 0.0, 0.0, 1.0))
_SPARE_CODES = {
    'none': NO_SPARE_CHANNEL,
    'zero': SPARE_ZERO,
    'one': SPARE_ONE,
    'upright': SPARE_UPRIGHT,
}


@dataclass(frozen=True, kw_only=True)
class PerceptronParams(Parameters):
    """
    Parameters of the perceptron layer; the defaults are run A of Bishop (2008).

    Presets: ``source`` as in the program of the thesis, ``text`` as in its text, ``source_b`` its
    run B.
    """

    perceptrons: int = int_parameter(30, low=1, high=10000, doc='Perceptrons side by side.')
    memory: int = int_parameter(
        250, low=0, high=2000, doc='Control periods that the layer looks back.'
    )
    spare: str = str_parameter(
        'zero',
        choices=tuple(_SPARE_CODES),
        doc='Last input channel: none, 0, 1, or the cosine of the tilt of the base.',
    )
    direction: str = str_parameter(
        'odom',
        choices=('odom', 'body'),
        doc='Frame of the commanded direction: that of the ground, or that of the robot.',
    )
    scaled: bool = bool_parameter(
        True, doc='Input channels are divided by their scales; otherwise they are in m and N.'
    )
    length_scale: float = float_parameter(
        0.1, low=1e-6, high=1e3, unit='m', doc='Scale of servo positions.'
    )
    force_scale: float = float_parameter(
        100.0, low=1e-6, high=1e6, unit='N', doc='Scale of servo forces.'
    )
    output_gain: float = float_parameter(
        0.0,
        low=0.0,
        high=1e6,
        unit='1/s',
        doc='Gain from an output [m/s] to the acceleration of a target; 0: 1 / control period, so '
        'that each output is a change of speed.',
    )
    max_acceleration: float = float_parameter(
        2.9, low=0.0, high=1e3, unit='m/s^2', doc='Largest acceleration of a target.'
    )
    max_speed: float = float_parameter(
        0.35, low=0.0, high=1e3, unit='m/s', doc='Largest speed of a target.'
    )
    stops: bool = bool_parameter(
        True, doc='Targets stay within the travel of their servo, which is a third of its length.'
    )


class PerceptronController(Controller):
    """
    Drives linear servos by a layer of threshold perceptrons with memory.

    The inputs are the positions and forces of the servos and the direction of the commanded
    velocity, at present and in the past, and the past outputs. The outputs accelerate the targets
    of the servos. The weights are arrays apart from the parameters; without any, an untrained
    network is drawn from the seed of the trial.

    References
    ----------
    Bishop (2008), *A Method for Generating Robot Control Systems*, MSc thesis, Youngstown State
    University: sections 2 and 4.8, appendix A.

    """

    Params: ClassVar[type[Parameters]] = PerceptronParams
    _params: PerceptronParams
    velocity_limits: ClassVar[VelocityLimits] = (
        UNLIMITED,
        UNLIMITED,
        VelocityRange.symmetric(0.0, 'it does not turn'),
    )
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        'source': {},
        'text': {'spare': 'none'},
        'source_b': {'perceptrons': 150, 'memory': 150},
    }

    def __init__(
        self,
        robot: RobotModel,
        params: PerceptronParams,
        weights: Mapping[str, npt.NDArray[np.generic]] = EMPTY_MAPPING,
    ) -> None:
        self._robot = robot
        self._servos = Servos(robot)
        self._given_weights = weights
        self.set_params(params)
        # The first call on a machine compiles the kernels, for seconds: here, not in a trial.
        self._drive(0.01, Command().velocity, self._rest_readings(), _LEVEL_ATTITUDE)
        self._clear_memory()

    @classmethod
    def array_shapes(cls, robot: RobotModel, params: PerceptronParams) -> PerceptronLayout:
        """Return the layout of the weights for a robot."""
        servos = len(Servos(robot).names)
        return PerceptronLayout(
            perceptrons=params.perceptrons,
            memory=params.memory,
            channels=2 * servos + 2 + (params.spare != 'none'),
            outputs=servos,
        )

    @property
    def needs(self) -> frozenset[str]:
        """Fields for positions and forces of the servos and, if it is used, the attitude."""
        params = self._params
        needs_attitude = params.direction == 'odom' or params.spare == 'upright'
        return self._servos.needs | (frozenset({'body_poses'}) if needs_attitude else frozenset())

    def set_params(self, params: PerceptronParams) -> None:
        """Replace the parameters; a network of another layout restarts without memory."""
        layout = self.array_shapes(self._robot, params)
        weights = layout.join_weights(self._given_weights) if self._given_weights else None
        is_same_layout = getattr(self, '_layout', None) == layout
        self._params, self._layout = params, layout
        self._bounds = (
            self._servos.travel_limits
            if params.stops
            else np.array([[-math.inf], [math.inf]]) + np.zeros_like(self._servos.travel_limits)
        )
        self._options = _channel_options(params)
        self._layer: Layer | None = None
        if weights is not None:
            self._weights = weights
        if not is_same_layout:
            self._clear_memory()
            if weights is None:
                self._weights = layout.random_weights(np.random.default_rng(0))

    def reset(self, seed: int) -> None:
        """Clear the memory; without given weights, draw a random network from the seed."""
        if not self._given_weights:
            self._weights = self._layout.random_weights(np.random.default_rng(seed))
        self._clear_memory()

    def _clear_memory(self) -> None:
        """Set the memory of the layer and the targets of the servos to zero."""
        outputs = self._layout.outputs
        self._state = LayerState(
            signals=np.zeros(self._layout.inputs, dtype=np.float32),
            outputs=np.zeros(outputs, dtype=np.float32),
            positions=np.zeros(outputs),
            speeds=np.zeros(outputs),
        )
        self._active = 0
        self._layer = None

    def step(self, dt: float, command: Command, observation: Observation) -> JointTargets:
        """Return the targets of the servos for one control period."""
        readings = ServoReadings(
            _writable_copy(observation.element_lengths),
            _writable_copy(observation.element_forces),
            _writable_copy(observation.joint_positions),
            _writable_copy(observation.joint_efforts),
        )
        poses = observation.body_poses
        attitude = _LEVEL_ATTITUDE if poses is None else _writable_copy(poses[0, 3:])
        targets = self._drive(dt, command.velocity, readings, attitude)
        return JointTargets(names=self._servos.names, position=targets)

    def _rest_readings(self) -> ServoReadings:
        joints, elements = len(self._robot.joint_names), len(self._robot.force_elements)
        return ServoReadings(
            self._robot.stance[joints:].copy(),
            np.zeros(elements),
            self._robot.joint_stance.copy(),
            np.zeros(joints),
        )

    def _drive(
        self,
        dt: float,
        velocity: tuple[float, float, float],
        readings: ServoReadings,
        attitude: FloatArray,
    ) -> FloatArray:
        """Run the layer for one control period and return the target positions, (q,)."""
        if self._layer is None or self._layer.period != dt:
            self._layer = self._make_layer(dt)
        command_and_attitude = (np.array(velocity, dtype=np.float64), attitude)
        targets: FloatArray
        self._active, targets = drive_servos(
            self._layer,
            self._state,
            self._options,
            self._servos.geometry,
            readings,
            command_and_attitude,
        )
        return targets

    def _make_layer(self, dt: float) -> Layer:
        """Return the constants of the layer for a control period [s]."""
        params = self._params
        is_scaled = params.scaled and params.max_acceleration > 0.0
        return Layer(
            weights=self._weights,
            bounds=self._bounds,
            channels=self._layout.channels,
            memory=self._layout.memory,
            period=dt,
            gain=params.output_gain or 1.0 / dt,
            unit=params.max_acceleration * dt if is_scaled else 1.0,
            acceleration=params.max_acceleration,
            speed=params.max_speed,
        )

    def state(self) -> Mapping[str, float]:
        """Return the number of active perceptrons in the last control period."""
        return {'active': float(self._active)}


def _channel_options(params: PerceptronParams) -> ChannelOptions:
    scales = (params.length_scale, params.force_scale) if params.scaled else (1.0, 1.0)
    return ChannelOptions(
        scales=scales, in_ground_frame=params.direction == 'odom', spare=_SPARE_CODES[params.spare]
    )


def _writable_copy(array: FloatArray | None) -> FloatArray:
    """Return a writable copy: Numba would compile the kernel again for a read-only array."""
    return np.array(() if array is None else array, dtype=np.float64)
