"""The trial loop: one implementation for in-process runs, workers and lock-step over ROS."""

from __future__ import annotations

import time as wall
from typing import Any

import numpy as np

from gait_core import registry
from gait_core.arrays import FloatArray, all_finite
from gait_core.canonical import sha256_of
from gait_core.contracts import Controller, Engine
from gait_core.errors import (
    BadCommand,
    ConfigurationError,
    ProtocolError,
    SimulationDiverged,
    unknown,
)
from gait_core.fall import FallCheck
from gait_core.fingerprint import fingerprint
from gait_core.gates import check_gates, gated
from gait_core.metrics import trial_metrics
from gait_core.observation import Observation, missing
from gait_core.parameters import build
from gait_core.robot.model import RobotModel
from gait_core.rollout import Recorder, Rollout
from gait_core.scene import Scene
from gait_core.seeding import derived_seed
from gait_core.sensors import Sensors
from gait_core.targets import JointTargets, TargetMemory
from gait_core.trial_hash import TrialHash
from gait_core.trial_spec import (
    DIVERGED,
    FELL,
    OK,
    Command,
    CommandScript,
    TrialResult,
    TrialSpec,
    invalid,
)
from gait_core.weights import load_weights

_ENGINE_SEED, _SENSOR_SEED, CONTROLLER_SEED = range(3)


class TrialLoop:
    """
    Runs one trial on an engine, one control period per call of ``advance``.

    Whoever drives it (a controller in this process, or one behind a topic) reads ``seen`` and
    ``command``, and passes the targets to ``advance`` until ``running`` is false.
    """

    def __init__(self, spec: TrialSpec, engine: Engine) -> None:
        self._began = wall.perf_counter()
        self.spec = spec
        self.dt = spec.scene.control_period
        self.running = False
        self.status = ''
        self.reason = ''
        self._engine = engine
        self._hash = TrialHash()
        self._tick = 0
        self._fell_at: float | None = None

    @property
    def controller_seed(self) -> int:
        """Seed for ``Controller.reset``."""
        return derived_seed(self.spec.seed, CONTROLLER_SEED)

    @property
    def tick(self) -> int:
        """Control periods run so far."""
        return self._tick

    @property
    def robot(self) -> RobotModel:
        """The robot of the trial, after ``begin``."""
        return self._engine.robot

    @property
    def unknown_joints(self) -> frozenset[str]:
        """Commanded names that the robot does not have; they were ignored."""
        return frozenset(self._memory.unknown)

    def begin(self) -> None:
        """Reset the engine, let the robot settle and read the first observation."""
        spec = self.spec
        for term in spec.fitness_terms:
            registry.load('fitness_terms', term)
        check_gates(spec.gates)
        self.true = self._engine.reset(
            spec.scene,
            derived_seed(spec.seed, _ENGINE_SEED),
            settle_ticks=round(spec.settle_time / self.dt),
        )
        self._fall = FallCheck(self.robot, spec.scene)
        self._commands = CommandScript(spec.script)
        self._memory = TargetMemory(
            self.robot.target_names, initial_positions(self.robot, spec.scene)
        )
        self._recorder = Recorder(spec, self.robot)
        self._sensors = Sensors(spec.scene.sensors, derived_seed(spec.seed, _SENSOR_SEED))
        self.running = True
        self._look()

    def _look(self) -> None:
        self._recorder.state(self.true)
        self.seen: Observation = self._sensors.read(self.true)
        self.command: Command = self._commands.at(self._tick * self.dt)

    def advance(self, targets: JointTargets) -> None:
        """Apply targets for one control period; ``running`` turns false at the trial's end."""
        if not self.running:
            raise ProtocolError('advance on a trial that is not running')
        applied = self._memory.resolve(targets)
        self._hash.state(self._tick, self.true)
        self._hash.targets(applied)
        self._recorder.targets(applied, self.command.velocity)
        try:
            self.true = _finite(self._engine.step(applied))
        except SimulationDiverged as error:
            self.end(DIVERGED, str(error))
            return
        self._tick += 1
        self._look()
        reason = self._fall.reason(self.true)
        if reason:
            self._fell_at = self._tick * self.dt
            self.end(FELL, reason)
        elif self._tick >= self.spec.ticks:
            self.end(OK)

    def end(self, status: str, reason: str = '') -> None:
        """End the trial with a status, unless a gate catches it; the first one given stays."""
        if self.status:
            return
        self.running = False
        if self.spec.gates and status in (OK, FELL):
            status, reason = gated(self._recorder.rollout(status), status, reason)
        self.status, self.reason = status, reason
        self._hash.state(self._tick, self.true)
        self._hash.status(status)

    def rollout(self) -> Rollout:
        """Return the record of the trial so far."""
        return self._recorder.rollout(self.status)

    def result(self) -> TrialResult:
        """Return the outcome; ProtocolError while the trial is running."""
        if not self.status:
            raise ProtocolError('result of a trial that has not ended')
        rollout = self.rollout()
        terms = fitness_terms(rollout)
        weights = self.spec.fitness_terms
        return TrialResult(
            status=self.status,
            metrics=trial_metrics(rollout),
            terms=terms,
            fitness=sum(weights[name] * value for name, value in terms.items()) if terms else None,
            trial_hash=self._hash.hexdigest(),
            spec_hash=sha256_of(self.spec),
            fingerprint=fingerprint(),
            ticks=self._tick,
            fell_at=self._fell_at,
            wall_time=wall.perf_counter() - self._began,
            reason=self.reason,
        )


def initial_positions(robot: RobotModel, scene: Scene) -> FloatArray:
    """Return the scene's initial positions by ``robot.target_names``, (m,) [rad or m]."""
    start: FloatArray = robot.stance.copy()
    index = {name: i for i, name in enumerate(robot.target_names)}
    for name, value in scene.initial.joint_positions.items():
        if name not in index:
            raise unknown('joint in initial.joint_positions', name, index)
        start[index[name]] = value
    return start


def fitness_terms(rollout: Rollout) -> dict[str, float]:
    """Return the unweighted terms; empty unless the status may win and every term is finite."""
    if rollout.status not in (OK, FELL):
        return {}
    terms = {
        name: float(registry.load('fitness_terms', name)(rollout))
        for name in rollout.spec.fitness_terms
    }
    for name, value in terms.items():
        if not np.isfinite(value):
            raise ConfigurationError(f"fitness term '{name}' returned {value}")
    return terms


def make_controller(spec: TrialSpec, robot: RobotModel) -> Controller:
    """Return the spec's controller with its parameters; ConfigurationError for bad ones."""
    cls: Any = registry.load('controllers', spec.controller)
    params = build(cls.Params, spec.parameters)
    if spec.weights:
        return cls(robot, params, load_weights(spec.weights, spec.weights_sha256))  # type: ignore[no-any-return]
    return cls(robot, params)  # type: ignore[no-any-return]


def step_controller(loop: TrialLoop, controller: Controller) -> None:
    """Run one control period of a trial with a controller in this process."""
    try:
        targets = controller.step(loop.dt, loop.command, loop.seen)
    except BadCommand as error:
        loop.end(invalid('bad_command'), str(error))
        return
    loop.advance(targets)


def start_trial(loop: TrialLoop) -> Controller:
    """Begin a trial with its in-process controller, reset and checked for what it needs."""
    loop.begin()
    controller = make_controller(loop.spec, loop.robot)
    controller.reset(loop.controller_seed)
    absent = missing(loop.seen, controller.needs)
    if absent:
        raise ConfigurationError(
            f"controller '{loop.spec.controller}' needs {', '.join(absent)}, which engine "
            f"'{loop.spec.scene.engine}' does not report"
        )
    return controller


_engines: dict[str, Engine] = {}


def engine_for(name: str) -> Engine:
    """Return this process's engine of a name; it is made once and kept."""
    if name not in _engines:
        _engines[name] = registry.load('engines', name)()
    return _engines[name]


def run_loop(spec: TrialSpec, engine: Engine | None = None) -> TrialLoop:
    """
    Run a whole trial in this process and return its loop, with record and result.

    Raises
    ------
    ConfigurationError
        If the trial cannot be run.
    SimulationDiverged
        If the physics leaves its range before tick 0: there is nothing to record.

    """
    loop = TrialLoop(spec, engine or engine_for(spec.scene.engine))
    controller = start_trial(loop)
    while loop.running:
        step_controller(loop, controller)
    return loop


def run_trial(spec: TrialSpec, engine: Engine | None = None) -> TrialResult:
    """Run a whole trial in this process, also one that diverges while the robot settles."""
    try:
        return run_loop(spec, engine).result()
    except SimulationDiverged as error:
        return unfinished(spec, DIVERGED, str(error))


def unfinished(spec: TrialSpec, status: str, reason: str) -> TrialResult:
    """Return the result of a trial without a single tick, whose status may not win."""
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


def _finite(state: Observation) -> Observation:
    """Return a state, or raise SimulationDiverged: no NaN leaves a trial."""
    for name in ('joint_positions', 'joint_velocities', 'body_poses', 'body_twists'):
        array = getattr(state, name)
        if array is not None and not all_finite(array):
            raise SimulationDiverged(f'{name} at tick {state.tick} are not finite')
    return state
