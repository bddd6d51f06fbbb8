# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Controller ``insect_gait``: rhythm, leg states and motor programs of six insect legs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import math
from typing import Any, ClassVar

import numpy as np

from gait_core.arrays import BoolArray, FloatArray, IntArray
from gait_core.contracts import ReflexController
from gait_core.errors import ConfigurationError
from gait_core.kinematics.footholds import predict_foothold
from gait_core.kinematics.leg_paths import LegPathSolver
from gait_core.motion.observation import Observation
from gait_core.motion.targets import JointTargets
from gait_core.motion.velocity_limits import VelocityLimits, VelocityRange
from gait_core.parameters.declaration import Parameters, bool_parameter, float_parameter
from gait_core.robot.model import RobotModel
from gait_core.trial.spec import Command
from gait_cpg.gaits import leg_sides_and_pairs
from gait_cpg.insect.calibration import ThresholdRecorder
from gait_cpg.insect.motor_programs import (
    JOINTS_PER_LEG,
    LEG_PAIRS,
    MotorCommand,
    MotorProgram,
    MotorProgramParams,
    RestAngles,
    stance_program,
    swing_program,
)
from gait_cpg.insect.reflexes import (
    POTENTIAL_STEP,
    PUBLISHED_REFLEXES,
    REFLEXES,
    STANCE,
    STEP,
    InsectReflexes,
    ReflexParams,
)
from gait_cpg.insect.rhythm import InsectRhythm, cycle_time
from gait_cpg.steering import HeadingHold

LEG_COUNT = 6
_BACK_SHIFT_TABLE = ((1.0, 1.3, 1.9, 3.0), (0.0, 1.0, 1.0, 0.0))
"""Period scales, and the share of ``back_shift`` in force at each; linear in between."""
MAX_PERIOD_SCALE = 20.0
"""Largest period scale, for speeds near zero."""


@dataclass(frozen=True, kw_only=True)
class InsectGaitParams(MotorProgramParams, ReflexParams):
    """Parameters of the insect gait."""

    period_scale: float = float_parameter(
        1.0,
        low=1.0,
        high=MAX_PERIOD_SCALE,
        unit='-',
        log=True,
        doc='Cycle time divided by the shortest one: 1 is the tripod, 3 and above the wave.',
    )
    step_time: float = float_parameter(
        0.05,
        low=0.005,
        high=1.0,
        unit='s',
        doc='Duration of a swing; also the delay between neighbours on one side.',
    )
    period_rate: float = float_parameter(
        4.0, low=0.1, high=100.0, unit='1/s', doc='Largest rate of change of the period scale.'
    )
    top_speed: float = float_parameter(
        0.06,
        low=0.001,
        high=10.0,
        unit='m/s',
        doc='Measured speed of the robot at `period_scale`; slower commands lengthen the cycle in '
        'proportion. A higher value makes no walk faster.',
    )
    back_shift: float = float_parameter(
        0.6,
        low=0.0,
        high=1.0,
        unit='rad',
        doc='Backward shift of the swing of back legs, in full at period scales from 1.3 to 1.9 '
        'and falling to 0 at 1 and 3. Without it the body rears up at these scales.',
    )
    let_go: bool = bool_parameter(
        True, doc='Sticking soles release the ground while their legs swing.'
    )
    turn_gain: float = float_parameter(
        0.16,
        low=0.0,
        high=10.0,
        unit='s/rad',
        doc='Relative difference of the strides of both sides per commanded yaw rate.',
    )
    heading_gain: float = float_parameter(
        3.0,
        low=0.0,
        high=100.0,
        unit='1/s',
        doc='Yaw rate per heading error; 0: the heading is not held.',
    )


class InsectGaitController(ReflexController):
    """
    Walks a robot with six legs whose joints are springs with moving rest angles.

    Oscillators time the states of a leg: stance, ready to swing, swing. The motor programs of
    stance and swing move the rest angles of its first three joints, with equal angles and opposite
    signs on the two sides. A lower speed lengthens the cycle. A yaw rate shortens the strides of
    one side and lengthens those of the other. Without a command the legs finish their swings and
    stand.
    """

    Params: ClassVar[type[Parameters]] = InsectGaitParams
    _params: InsectGaitParams
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        'tripod': {},
        'wave': {'period_scale': 3.0},
        'reflexes': dict.fromkeys(REFLEXES, True),
        'published_reflexes': PUBLISHED_REFLEXES,
    }
    needs: ClassVar[frozenset[str]] = frozenset(
        {'joint_positions', 'joint_efforts', 'imu', 'contacts'}
    )

    def __init__(self, robot: RobotModel, params: InsectGaitParams) -> None:
        if len(robot.legs) != LEG_COUNT or any(
            len(leg.joints) < JOINTS_PER_LEG for leg in robot.legs
        ):
            raise ConfigurationError(
                f"controller 'insect_gait' needs {LEG_COUNT} legs of {JOINTS_PER_LEG} joints or "
                f"more, the legs of robot '{robot.name}' have "
                f'{[len(leg.joints) for leg in robot.legs]}'
            )
        self._leg_names = [leg.name for leg in robot.legs]
        self._names = tuple(name for leg in robot.legs for name in leg.joints[:JOINTS_PER_LEG])
        self._robot = robot
        columns = [robot.joint_index[name] for name in self._names]
        self._columns = np.array(columns).reshape(LEG_COUNT, JOINTS_PER_LEG)
        stance = np.array([robot.nominal_stance.get(name, 0.0) for name in self._names])
        self._right, self._row = _leg_sides_and_rows(robot)
        self._sign = np.where(self._right, -1.0, 1.0)
        # Joints beyond those of the programs carry sticking soles; a negative effort on them
        # releases the soles from the ground.
        have_sole_joints = all(len(leg.joints) > JOINTS_PER_LEG for leg in robot.legs)
        self._sole_joints = tuple(leg.joints[-1] for leg in robot.legs) if have_sole_joints else ()
        self._stance = stance.reshape(LEG_COUNT, JOINTS_PER_LEG) * self._sign[:, None]
        self._reflexes = InsectReflexes(robot, self._row, self._right, JOINTS_PER_LEG)
        self._recorder: ThresholdRecorder | None = None
        self.set_params(params)
        self.reset(0)

    @property
    def velocity_limits(self) -> VelocityLimits:
        """Limits within which a commanded velocity is followed."""
        params = self._params
        gain = params.turn_gain
        return (
            VelocityRange(0.0, params.top_speed, 'gait.top_speed; it does not walk backward'),
            VelocityRange.symmetric(0.0, 'it does not step aside'),
            VelocityRange.symmetric(1.0 / gain if gain > 0.0 else 0.0, 'gait.turn_gain'),
        )

    def set_params(self, params: InsectGaitParams) -> None:
        """Replace the parameters; the period converges, legs use them from their next program."""
        self._params = params
        self._reflexes.set_params(params)
        self._swing_programs = [swing_program(params, LEG_PAIRS[row]) for row in self._row]
        self._stance_programs = [stance_program(params, LEG_PAIRS[row]) for row in self._row]
        # In a turn, strides are shortened or lengthened about the middle of the coxa's motion.
        self._coxa_middle = [
            0.5 * (step[0].target + stance[0].target)
            for step, stance in zip(self._swing_programs, self._stance_programs, strict=True)
        ]

    def reset(self, seed: int) -> None:
        """Return to the nominal stance; the seed is not used."""
        self._rhythm = InsectRhythm(self._row, self._right)
        self._rest = RestAngles(self._stance)
        self._reflexes.reset()
        self._heading = HeadingHold()
        self._state: IntArray = np.full(LEG_COUNT, STANCE, dtype=np.int64)
        self._time_in_state: FloatArray = np.zeros(LEG_COUNT)
        self._period_scale = self._params.period_scale
        self._turn = 0.0
        self._measured_joints = self._robot.joint_stance

    def step(self, dt: float, command: Command, observation: Observation) -> JointTargets:
        """Return the rest angles at the start of the control period and their rates."""
        reflexes = self._reflexes
        reflexes.update(dt, observation)
        if observation.joint_positions is not None:
            self._measured_joints = observation.joint_positions
        is_walking = self._update_cycle_and_turn(dt, command.velocity, observation)
        self._time_in_state += dt
        # End swings first: a leg whose swing has ended must not inhibit its neighbours.
        self._end_steps(dt)
        # Triggers of the rhythm and of the step reflex make a stance leg ready to swing.
        if is_walking:
            cycle = cycle_time(self._period_scale, self._params.step_time)
            triggered = self._rhythm.advance(dt, cycle, self._params.step_time)
            triggered |= reflexes.step_requests(self._state, self._back_shifts())
            self._state[triggered & (self._state == STANCE)] = POTENTIAL_STEP
        if self._recorder is not None:
            self._recorder.record(dt, reflexes, self._state, self._rest.angles)
        # A leg that is ready swings unless the load reflex or a neighbour holds it back.
        for leg in np.flatnonzero(self._state == POTENTIAL_STEP).tolist():
            if not reflexes.inhibits(dt, leg, self._state):
                self._begin_step(leg)
        self._rest.advance(dt)
        early = (self._state == STEP) & (self._time_in_state < 0.5 * self._params.step_time)
        reflexes.advance(dt, self._state, self._rest.angles, early)
        sign = self._sign[:, None]
        position = (self._rest.angles + reflexes.offsets) * sign
        rate = (self._rest.rates + reflexes.rates) * sign
        return self._targets(position.ravel(), rate.ravel())

    def _targets(self, position: FloatArray, rate: FloatArray) -> JointTargets:
        """Return the targets of joints and, with ``let_go``, of the joints that carry soles."""
        feet = self._sole_joints
        if not (feet and self._params.let_go):
            return JointTargets(names=self._names, position=position, velocity=rate)
        zeros = np.zeros(len(feet))
        effort = np.zeros(len(self._names) + len(feet))
        effort[len(self._names) :] = np.where(self._state == STEP, -1.0, 0.0)
        return JointTargets(
            names=(*self._names, *feet),
            position=np.concatenate([position, zeros]),
            velocity=np.concatenate([rate, zeros]),
            effort=effort,
        )

    def _update_cycle_and_turn(
        self, dt: float, velocity: tuple[float, float, float], observation: Observation
    ) -> bool:
        """Update period scale and turn from the command; return whether the robot walks."""
        params = self._params
        forward, _, yaw = velocity
        attitude = observation.attitude
        if params.heading_gain > 0.0 and attitude is not None:
            time = cycle_time(self._period_scale, params.step_time)
            error = self._heading.update_error(dt, yaw, attitude.yaw, time)
            yaw += params.heading_gain * error if forward > 0.0 or yaw else 0.0
        speed = max(forward, 0.0)
        is_walking = speed > 0.0 or yaw != 0.0
        # McKenna (1990): the cycle time sets the speed; here they are inversely proportional.
        target = params.period_scale
        if 0.0 < speed < params.top_speed:
            target = min(target * params.top_speed / speed, MAX_PERIOD_SCALE)
        change = params.period_rate * dt
        self._period_scale += min(max(target - self._period_scale, -change), change)
        self._turn = min(max(params.turn_gain * yaw, -1.0), 1.0)
        return is_walking

    def _end_steps(self, dt: float) -> None:
        """Begin the stance of legs whose swing has lasted ``step_time``."""
        stance = self._params.step_time * (2.0 * self._period_scale - 1.0)
        is_over = (self._state == STEP) & (self._time_in_state > self._params.step_time - 0.5 * dt)
        for leg in np.flatnonzero(is_over).tolist():
            self._state[leg], self._time_in_state[leg] = STANCE, 0.0
            self._rest.begin_program(
                leg, self._adapt_program(leg, self._stance_programs[leg]), stance
            )

    def _begin_step(self, leg: int) -> None:
        """Begin the swing of a leg."""
        self._state[leg], self._time_in_state[leg] = STEP, 0.0
        self._rest.begin_program(
            leg, self._adapt_program(leg, self._swing_programs[leg]), self._params.step_time
        )

    def _adapt_program(self, leg: int, program: MotorProgram) -> MotorProgram:
        """
        Return a program whose coxa target is adapted to the turn and to the period scale.

        The coxa swings less on the inner side of a turn and more on the outer side. Back legs
        swing farther back at period scales at which the robot would otherwise rest too long on
        feet in front of its centre of mass.
        """
        shift = self._back_shifts()[leg]
        if self._turn == shift == 0.0:
            return program
        stretch = 1.0 - self._turn * self._sign[leg]
        first = program[0]
        target = self._coxa_middle[leg] + stretch * (first.target - self._coxa_middle[leg]) + shift
        return (MotorCommand(0, target, first.duration, first.start), *program[1:])

    def _back_shifts(self) -> FloatArray:
        """Return the backward shift of the coxa of each leg by the period scale, (6,) [rad]."""
        share = np.interp(self._period_scale, *_BACK_SHIFT_TABLE)
        return np.where(self._row == self._row.max(), self._params.back_shift * share, 0.0)

    def planned_footholds(self) -> Mapping[str, FloatArray]:
        """
        Return the predicted foothold of each swinging leg, (3,) [m], in the base frame.

        Until touch-down stance legs move on with their rest angles, from the measured joints;
        swinging legs reach the targets of their program.
        """
        standing = [
            name for name, s in zip(self._leg_names, self._state, strict=True) if s != STEP
        ]
        footholds = {}
        for leg in np.flatnonzero(self._state == STEP).tolist() if standing else ():
            time_left = max(self._params.step_time - float(self._time_in_state[leg]), 0.0)
            joints_then = self._measured_joints.copy()
            joints_then[self._columns] += time_left * self._rest.rates * self._sign[:, None]
            for command in self._adapt_program(leg, self._swing_programs[leg]):
                column = self._columns[leg, command.joint]
                joints_then[column] = command.target * self._sign[leg]
            name = self._leg_names[leg]
            footholds[name] = predict_foothold(
                self._robot, name, standing, self._measured_joints, joints_then
            )
        return footholds

    def record_ranges(self) -> None:
        """Record from now on the quantities that have thresholds of reflexes."""
        self._recorder = ThresholdRecorder(self._row)

    def thresholds(self, margin: float) -> dict[str, float]:
        """Return thresholds of reflexes, by name, outside the recorded ranges."""
        return {} if self._recorder is None else self._recorder.thresholds(margin)

    def state(self) -> Mapping[str, float]:
        """
        Return the state of the gait.

        ``phase`` [rad] of the master oscillator; ``phase.<leg>`` [rad] in [0, 2 pi);
        ``state.<leg>``, 0 in stance, 1 for a swing that is held back and 2 in swing;
        ``stance.<leg>``, 0 in swing, else 1; the ``period_scale`` in force; and
        ``reflex.<name>``, the number of activations.
        """
        turn = 2.0 * math.pi
        values = {
            'phase': turn * (self._rhythm.master_phase % 1.0),
            'period_scale': self._period_scale,
        }
        phases: FloatArray = turn * np.mod(self._rhythm.phases, 1.0)
        for name, phase, state in zip(self._leg_names, phases, self._state, strict=True):
            values[f'phase.{name}'] = float(phase)
            values[f'state.{name}'] = float(state)
            values[f'stance.{name}'] = float(state != STEP)
        for name in REFLEXES:
            values[f'reflex.{name}'] = float(self._reflexes.counts[name])
        return values


def _leg_sides_and_rows(robot: RobotModel) -> tuple[BoolArray, IntArray]:
    """Return whether each leg is on the right, and its row, 0 in front, (6,) each."""
    paths = LegPathSolver(robot, [leg.name for leg in robot.legs])
    feet = [
        leg.forward([robot.nominal_stance.get(name, 0.0) for name in described.joints])[0]
        for leg, described in zip(paths.legs, robot.legs, strict=True)
    ]
    side, pair = leg_sides_and_pairs(np.array(feet))
    if side.sum() != LEG_COUNT // 2:
        raise ConfigurationError(
            f"controller 'insect_gait' needs {LEG_COUNT // 2} legs on each side, robot "
            f"'{robot.name}' has {LEG_COUNT - int(side.sum())} on the left"
        )
    return side == 1, int(pair.max()) - pair
