# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Trial loop, the same for in-process runs, workers and lock-step over ROS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
import time as wall

import numpy as np

from gait_core import registry
from gait_core.arrays import FloatArray, all_finite
from gait_core.contracts import Controller, Engine, TapeController, TapeEngine
from gait_core.errors import (
    BadCommand,
    ConfigurationError,
    ProtocolError,
    SimulationDiverged,
)
from gait_core.measures.metrics import trial_metrics
from gait_core.motion.observation import Observation, missing_fields
from gait_core.motion.state_tape import StateTape
from gait_core.motion.targets import (
    AppliedTape,
    AppliedTargets,
    JointTargets,
    TargetMemory,
    TargetTape,
)
from gait_core.parameters.plain_data import sha256_of
from gait_core.processes import liveness
from gait_core.robot.model import RobotModel
from gait_core.sensors.noise import SensorSimulator
from gait_core.trial.fall import FallCheck
from gait_core.trial.fingerprint import fingerprint
from gait_core.trial.gates import apply_gates, check_gate_names
from gait_core.trial.parts import cached_engine, fitness_terms, initial_positions, make_controller
from gait_core.trial.randomisation import randomise_scene
from gait_core.trial.rollout import Recorder, Rollout
from gait_core.trial.scene import EMPTY_MAPPING
from gait_core.trial.seeding import derived_seed
from gait_core.trial.spec import (
    DIVERGED,
    FELL,
    OK,
    Command,
    CommandScript,
    Milestone,
    TrialResult,
    TrialSpec,
    invalid_status,
)

ENGINE_SEED, SENSOR_SEED, CONTROLLER_SEED = range(3)
_MAX_TAPE_PERIODS = 2000
"""Largest number of control periods of one tape of targets computed ahead."""


class TrialLoop:
    """
    Loop of one trial on an engine, one control period per call of ``advance``.

    Its driver, a controller in this process or behind a topic, reads ``observation`` and
    ``command``, and passes the targets to ``advance`` until ``is_running`` is false.

    Attributes
    ----------
    spec, original_spec : TrialSpec
        The first has the scene as it is run. The second is the caller's, in which random
        quantities of the scene are ranges.
    dt : float [s]
        Control period.
    is_running : bool
    status, reason : str
        As of TrialResult; empty before the end.
    true_state : Observation
        State of the engine at the present tick.
    observation : Observation
        Input of the controller: the true state with noise and delay of the sensors.
    command : Command
        Command of the coming control period.
    applied : AppliedTargets or None
        Targets of the last control period.

    """

    def __init__(self, spec: TrialSpec, engine: Engine) -> None:
        self._began = wall.perf_counter()
        self.original_spec = spec
        scene = randomise_scene(spec.scene, spec.randomise, spec.seed)
        # The record names the scene as it was run, with the drawn quantities.
        self.spec = replace(spec, scene=scene, randomise=EMPTY_MAPPING) if spec.randomise else spec
        self.dt = spec.scene.control_period
        self.is_running = False
        self.status = ''
        self.reason = ''
        self.true_state: Observation
        self.observation: Observation
        self.command = Command()
        self.applied: AppliedTargets | None = None
        self._engine = engine
        self._tick, self._ticks = 0, spec.ticks
        self._fell_at: float | None = None
        # ``hopeless`` lists the distances that must be reached by certain times; here by tick.
        self._milestones = {round(item.time / self.dt): item for item in spec.hopeless}

    @property
    def controller_seed(self) -> int:
        """Seed for ``Controller.reset``."""
        return derived_seed(self.spec.seed, CONTROLLER_SEED)

    @property
    def tick(self) -> int:
        """Control periods run so far."""
        return self._tick

    @property
    def engine(self) -> Engine:
        """The engine of the trial."""
        return self._engine

    @property
    def robot(self) -> RobotModel:
        """The robot of the trial, after ``begin``."""
        return self._engine.robot

    @property
    def unknown_joints(self) -> frozenset[str]:
        """Commanded names that the robot does not have; they were ignored."""
        return frozenset(self._memory.unknown_names)

    def begin(self) -> None:
        """Reset the engine, let the robot settle and read the first observation."""
        spec = self.spec
        for term in spec.fitness_terms:
            registry.fitness_term(term)
        check_gate_names(spec.gates)
        self.true_state = self._engine.reset(
            spec.scene,
            derived_seed(spec.seed, ENGINE_SEED),
            settle_ticks=round(spec.settle_time / self.dt),
        )
        self._fall = FallCheck(self.robot, spec.scene)
        self._commands = CommandScript(spec.script)
        self._memory = TargetMemory(
            self.robot.target_names, initial_positions(self.robot, spec.scene)
        )
        self._recorder = Recorder(spec, self.robot)
        self._sensors = SensorSimulator(spec.scene.sensors, derived_seed(spec.seed, SENSOR_SEED))
        self._beats = liveness.period_counter()
        self.command = self._commands.command_at(0.0)
        self._origin = _mean_root_position(self.true_state)
        self.is_running = True
        self._record_state()

    def _record_state(self) -> None:
        """Record the true state, then update observation and command from it and the script."""
        self._recorder.states.append(self.true_state)
        self.observation = (
            self.true_state if self._sensors.is_ideal else self._sensors.read(self.true_state)
        )
        time = self._tick * self.dt
        if time >= self._commands.next_change:
            self.command = self._commands.command_at(time)

    def advance(self, targets: JointTargets) -> None:
        """Apply targets for one control period; ``is_running`` turns false at the trial's end."""
        if not self.is_running:
            raise ProtocolError('advance on a trial that is not running')
        applied = self.applied = self._memory.resolve(targets)
        self._recorder.applied.append(applied)
        self._recorder.commands.append(self.command.velocity)
        try:
            self.true_state = self._engine.step(applied)
            _check_finite(self.true_state)
        except SimulationDiverged as error:
            self.end(DIVERGED, str(error))
            return
        self._tick += 1
        # A watching process takes a worker for hung if this count does not change.
        self._beats[0] += 1
        self._record_state()
        self._check_end()

    def _check_end(self) -> None:
        """End the trial after a fall, after its last tick, or at a missed milestone."""
        reason = self._fall.fall_reason(self.true_state)
        if reason:
            self._fell_at = self._tick * self.dt
            self.end(FELL, reason)
        elif self._tick >= self._ticks:
            self.end(OK)
        elif self._tick in self._milestones:
            self._check_milestone(self._milestones[self._tick])

    def _check_milestone(self, milestone: Milestone) -> None:
        """End the trial if the robot has moved less than the milestone requires."""
        distance = float(np.hypot(*(_mean_root_position(self.true_state) - self._origin)))
        if not distance >= milestone.moved:
            self.end(
                invalid_status('hopeless'),
                f'moved {distance:.4g} m in {milestone.time:g} s, less than {milestone.moved:g} m',
            )

    def upcoming_commands(self) -> list[Command]:
        """
        Return the commands of the control periods that one tape may cover.

        They reach to the end of the trial or to the next milestone, at most ``_MAX_TAPE_PERIODS``
        ahead. Empty for a robot that can fall: a fall ends the trial within the tape.
        """
        if self._fall.can_fall:
            return []
        ticks = min(self._ticks - self._tick, _MAX_TAPE_PERIODS)
        if self._milestones:
            ahead = (tick - self._tick for tick in self._milestones if tick > self._tick)
            ticks = min([ticks, *ahead])
        script = CommandScript(self.spec.script)
        return [script.command_at((self._tick + i) * self.dt) for i in range(ticks)]

    def play_tape(self, tape: TargetTape, commands: Sequence[Command]) -> None:
        """
        Apply a tape of targets that was computed for commands, up to its end or the trial's.

        Equals as many calls of ``advance``, but does not update ``observation``.
        """
        if not self.is_running:
            raise ProtocolError('play_tape on a trial that is not running')
        applied = self._memory.resolve_tape(tape)
        self._record_tape(applied, commands, *self._run_tape(applied))

    def _record_tape(
        self,
        applied: AppliedTape,
        commands: Sequence[Command],
        states: StateTape,
        diverged: str | None,
    ) -> None:
        """Record control periods of a tape with their states, then check for the end."""
        if states:
            self.true_state = states[-1]
            self._tick += len(states)
        # The targets with which the physics diverged are recorded, too: they are hashed.
        applied = applied[: len(states) + (diverged is not None)]
        velocities = [command.velocity for command in commands[: len(applied)]]
        self._recorder.add_tape(applied, velocities, states)
        self.command = self._commands.command_at(self._tick * self.dt)
        if diverged is not None:
            self.end(DIVERGED, diverged)
        else:
            self._check_end()

    def _run_tape(self, applied: AppliedTape) -> tuple[StateTape, str | None]:
        """Return the finite states of a tape run by the engine, and the reason if it diverged."""
        assert isinstance(self._engine, TapeEngine)
        diverged = None
        try:
            states: Sequence[Observation] = self._engine.rollout(applied)
        except SimulationDiverged as error:
            states, diverged = error.states, str(error)
        return _finite_states(StateTape.from_states(states), diverged)

    def end(self, status: str, reason: str = '') -> None:
        """End the trial with a status, or that of an exceeded gate; later calls change nothing."""
        if self.status:
            return
        self.is_running = False
        if self.spec.gates and status in (OK, FELL):
            status, reason = apply_gates(self._recorder.rollout(status), status, reason)
        self.status, self.reason = status, reason

    def rollout(self) -> Rollout:
        """Return the record of the trial so far."""
        return self._recorder.rollout(self.status)

    def result(self) -> TrialResult:
        """Return the outcome; ProtocolError while the trial is running."""
        if not self.status:
            raise ProtocolError('result of a trial that has not ended')
        rollout = self._recorder.rollout(self.status)
        terms = fitness_terms(rollout)
        weights = self.spec.fitness_terms
        return TrialResult(
            status=self.status,
            metrics=trial_metrics(rollout),
            terms=terms,
            fitness=sum(weights[name] * value for name, value in terms.items()) if terms else None,
            trial_hash=self._recorder.trial_hash(self.status),
            spec_hash=sha256_of(self.original_spec),
            fingerprint=fingerprint(),
            ticks=self._tick,
            fell_at=self._fell_at,
            wall_time=wall.perf_counter() - self._began,
            reason=self.reason,
        )


def _mean_root_position(state: Observation) -> FloatArray:
    """Return the mean horizontal position of the root links, (2,) [m]."""
    poses = np.asarray(state.body_poses)
    return np.asarray(poses[:, :2].mean(axis=0))


def play_target_tape(loop: TrialLoop, controller: Controller) -> bool:
    """
    Play the coming control periods of a trial from a tape; return whether there was one.

    An open-loop controller gives a tape, which some engines run in one call. Other controllers and
    engines are stepped.
    """
    if not (isinstance(loop.engine, TapeEngine) and isinstance(controller, TapeController)):
        return False
    commands = loop.upcoming_commands()
    tape = controller.target_tape(loop.dt, commands) if commands else None
    if tape is None:
        return False
    loop.play_tape(tape, commands)
    return True


def step_controller(loop: TrialLoop, controller: Controller) -> None:
    """Run one control period of a trial with a controller in this process."""
    try:
        targets = controller.step(loop.dt, loop.command, loop.observation)
    except BadCommand as error:
        loop.end(invalid_status('bad_command'), str(error))
        return
    loop.advance(targets)


def start_trial(loop: TrialLoop) -> Controller:
    """
    Begin a trial and return its controller after a reset.

    Raises
    ------
    ConfigurationError
        If the engine does not report an observation that the controller needs.

    """
    loop.begin()
    controller = make_controller(loop.spec, loop.robot)
    controller.reset(loop.controller_seed)
    absent = missing_fields(loop.observation, controller.needs)
    if absent:
        raise ConfigurationError(
            f"controller '{loop.spec.controller}' needs {', '.join(absent)}, which engine "
            f"'{loop.spec.scene.engine}' does not report"
        )
    return controller


def run_loop(spec: TrialSpec, engine: Engine | None = None) -> TrialLoop:
    """
    Run a whole trial in this process and return its loop, with record and result.

    Raises
    ------
    ConfigurationError
        If the trial cannot be run.
    SimulationDiverged
        If the physics diverges while the robot settles: there is nothing to record.

    """
    engine = engine or cached_engine(spec.scene.engine)
    try:
        return _run_controller(TrialLoop(spec, engine), tapes=True)
    except BadCommand:
        # Steps, unlike a tape, show in which control period the command was refused.
        return _run_controller(TrialLoop(spec, engine), tapes=False)


def _run_controller(loop: TrialLoop, tapes: bool) -> TrialLoop:
    """Run a trial to its end: by tapes while controller and engine support them, then by steps."""
    controller = start_trial(loop)
    while loop.is_running:
        if not (tapes and play_target_tape(loop, controller)):
            tapes = False
            step_controller(loop, controller)
    return loop


def run_trial(spec: TrialSpec, engine: Engine | None = None) -> TrialResult:
    """Run a whole trial in this process; return a result also if it diverges while settling."""
    try:
        return run_loop(spec, engine).result()
    except SimulationDiverged as error:
        return result_without_ticks(spec, DIVERGED, str(error))


def result_without_ticks(spec: TrialSpec, status: str, reason: str) -> TrialResult:
    """Return the result of a trial without ticks, for a status that gives no fitness."""
    return TrialResult(
        status=status,
        metrics={},
        terms={},
        fitness=None,
        trial_hash='',
        spec_hash=sha256_of(spec),
        fingerprint=fingerprint(),
        ticks=0,
        reason=reason,
    )


_STATE_FIELDS = ('joint_positions', 'joint_velocities', 'body_poses', 'body_twists')


def _check_finite(state: Observation) -> None:
    """Raise SimulationDiverged for a state that is not finite: no NaN leaves a trial."""
    total = 0.0
    for array in (
        state.joint_positions,
        state.joint_velocities,
        state.body_poses,
        state.body_twists,
    ):
        if array is not None:
            flat = array.ravel()
            total += float(flat.dot(flat))
    if isfinite(total):
        return
    # A sum of squares may overflow where every number is finite.
    for name in _STATE_FIELDS:
        array = getattr(state, name)
        if array is not None and not all_finite(array):
            raise SimulationDiverged(f'{name} at tick {state.tick} are not finite')


def _finite_states(states: StateTape, diverged: str | None) -> tuple[StateTape, str | None]:
    """Return the states before the first that is not finite, and the reason of the end."""
    arrays = [getattr(states, name) for name in _STATE_FIELDS]
    if all(array is None or all_finite(array) for array in arrays):
        return states, diverged
    for index, state in enumerate(states):
        try:
            _check_finite(state)
        except SimulationDiverged as error:
            return states[:index], str(error)
    return states, diverged
