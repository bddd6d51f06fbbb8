# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Benchmark of trials against a plain sequence of the same engine calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
import time

import numpy as np

from gait_core import registry
from gait_core.benchmark import Measurement, measure_wall_time, shortest_times
from gait_core.contracts import Engine
from gait_core.motion.targets import AppliedTargets, JointTargets, TargetMemory
from gait_core.robot.legged_box import legged_box
from gait_core.robot.model import RobotModel
from gait_core.trial.loop import TrialLoop, run_trial, start_trial
from gait_core.trial.parts import cached_engine, initial_positions
from gait_core.trial.scene import Scene
from gait_core.trial.setup import default_trial, usable_robots
from gait_core.trial.spec import TrialSpec

MAX_OVERHEAD = 1.15
MAX_RESET_SHARE = 0.10
TRIAL_DURATION = 5.0
REPEAT_DURATION = 5.0
"""Wall time for which short trials are repeated [s]."""
BENCHMARK_ROBOTS = ('a1', 'guroo')
BOX_SHAPES = ((4, 4), (8, 4))
"""Legs and joints per leg of the generated robots, of 16 and 32 joints."""
_SEGMENT_ANGLE, _SQUAT_AMPLITUDE, _SQUAT_FREQUENCY = 0.3, 0.1, 1.0
"""Mean and amplitude of the segment angles [rad], and frequency [Hz], of their squats."""

BareTrial = Callable[
    [RobotModel, Scene, Sequence[AppliedTargets]], tuple[float, tuple[float, ...]]
]
"""Function that runs targets by bare engine calls; returns wall time [s], last positions."""


@dataclass(frozen=True)
class RecordedTrial:
    """
    The targets of a trial, one for each control period, that run without its controller.

    Attributes
    ----------
    spec : TrialSpec
    engine : Engine
        An engine that has the robot of the spec.
    robot : RobotModel
    targets : sequence of JointTargets

    """

    spec: TrialSpec
    engine: Engine
    robot: RobotModel
    targets: Sequence[JointTargets]

    @property
    def physics_steps(self) -> int:
        """Physics steps of the trial."""
        return len(self.targets) * self.spec.scene.steps_per_tick

    def applied_targets(self) -> list[AppliedTargets]:
        """Return the targets of every control period for all joints, with their sub-samples."""
        start = initial_positions(self.robot, self.spec.scene)
        memory = TargetMemory(self.robot.target_names, start)
        return [memory.resolve(targets) for targets in self.targets]

    def run(self) -> TrialLoop:
        """Run the trial, its metrics included."""
        loop = TrialLoop(self.spec, self.engine)
        loop.begin()
        for targets in self.targets:
            if loop.is_running:
                loop.advance(targets)
        loop.result()
        return loop


def measure_trials(engine: str, bare_trial: BareTrial) -> list[Measurement]:
    """
    Measure trials of 5 s in an engine, alone and relative to bare calls.

    Parameters
    ----------
    engine : str
        Registered name.
    bare_trial : callable
        As ``BareTrial``.

    """
    robots = usable_robots(*BENCHMARK_ROBOTS)
    specs = [
        remove_feedback(default_trial(robot, TRIAL_DURATION, {'engine': engine}))
        for robot in robots
    ]
    rows = []
    for spec in specs:
        rows += _measure_trial(spec, bare_trial)
    for record in [squatting_box_trial(engine, *shape) for shape in BOX_SHAPES]:
        record.run()
        bare, driven = shortest_times(
            partial(_bare_time, record, bare_trial),
            partial(measure_wall_time, record.run),
            repeats=3,
        )
        record.engine.close()
        rows += _step_rates(record, bare, driven)
    return rows


def remove_feedback(spec: TrialSpec) -> TrialSpec:
    """Return a trial without feedback, so that its motion, hence its time, does not vary."""
    gains = dict.fromkeys({'heading_gain', 'speed_gain'} & spec.parameters.keys(), 0.0)
    return replace(spec, parameters={**spec.parameters, **gains})


def trial_timer(spec: TrialSpec) -> Callable[[], float]:
    """Return a function that runs a trial and returns its wall time [s], without compiling."""
    run_trial(replace(spec, duration=0.1))
    return partial(measure_wall_time, partial(run_trial, spec))


def squatting_box_trial(
    engine: str, legs: int, joints: int, seconds: float = TRIAL_DURATION
) -> RecordedTrial:
    """
    Return the trial of a generated robot that squats on all its feet.

    The segments of every leg tilt forwards and backwards in turn, so that each foot stays under
    its hip: all feet carry load, and no foot slips.
    """
    zigzag = 2.0 * (-1.0) ** np.arange(joints)
    zigzag[0] = 1.0
    zigzag = np.tile(zigzag, legs)
    robot = legged_box(legs, joints)
    stance = dict(zip(robot.joint_names, (_SEGMENT_ANGLE * zigzag).tolist(), strict=True))
    robot = replace(robot, nominal_stance=stance)
    scene = Scene(robot=robot.name, engine=engine, physics_step=0.002)
    spec = TrialSpec(scene=scene, controller='', duration=seconds)
    times = scene.control_period * np.arange(1, spec.ticks + 1)
    lean = _SEGMENT_ANGLE + _SQUAT_AMPLITUDE * np.sin(2.0 * np.pi * _SQUAT_FREQUENCY * times)
    targets = [
        JointTargets(names=robot.target_names, position=angle * np.asarray(zigzag))
        for angle in lean
    ]
    engine_with_robot = registry.engine(engine)(lambda name, draw: robot)
    return RecordedTrial(spec, engine_with_robot, robot, targets)


def _measure_trial(spec: TrialSpec, bare_trial: BareTrial) -> list[Measurement]:
    """Measure a whole trial and its parts: bare engine calls, controller and reset."""
    robot, engine = spec.scene.robot, spec.scene.engine
    record = _record_trial(spec)
    record.run()
    whole, bare, driven, controller, reset = shortest_times(
        trial_timer(spec),
        partial(_bare_time, record, bare_trial),
        partial(measure_wall_time, record.run),
        partial(_controller_time, spec),
        partial(measure_wall_time, partial(record.engine.reset, spec.scene, 0)),
        seconds=REPEAT_DURATION,
    )
    trial = partial(Measurement, group='trial')
    return [
        *_step_rates(record, bare, driven),
        trial(
            id=f'overhead_{robot}_{engine}',
            what=f'time of a trial of {robot}, divided by that of its calls of {engine} alone',
            unit='-',
            measured=whole / bare,
            budget=MAX_OVERHEAD,
        ),
        trial(
            id=f'controller_share_{robot}_{engine}',
            what=f'share of the controller in a trial of {robot} in {engine}',
            unit='-',
            measured=controller / whole,
        ),
        trial(
            id=f'realtime_{robot}_{engine}',
            what=f'simulated time divided by wall time, {robot} in {engine}',
            unit='-',
            measured=TRIAL_DURATION / whole,
        ),
        Measurement(
            id=f'reset_{robot}_{engine}',
            what=f'a reset of {robot} in {engine}',
            unit='ms',
            measured=1e3 * reset,
            group='reset',
        ),
        Measurement(
            id=f'reset_share_{robot}_{engine}',
            what=f'share of the reset in a trial of {robot} of {TRIAL_DURATION:g} s in {engine}',
            unit='-',
            measured=reset / whole,
            budget=MAX_RESET_SHARE,
            group='reset',
        ),
    ]


def _step_rates(record: RecordedTrial, bare: float, driven: float) -> list[Measurement]:
    """Return physics steps per second from the wall times of bare calls and of the suite [s]."""
    engine, joints = record.spec.scene.engine, len(record.robot.joint_names)
    return [
        Measurement(
            id=f'steps_{way}_{engine}_{joints}',
            what=f'physics steps of {joints} joints in {engine}, {how}',
            unit='1/s',
            measured=record.physics_steps / seconds,
            group='engine',
        )
        for way, how, seconds in (
            ('bare', 'bare calls', bare),
            ('suite', 'as a trial without controller', driven),
        )
    ]


def _bare_time(record: RecordedTrial, bare_trial: BareTrial) -> float:
    return bare_trial(record.robot, record.spec.scene, record.applied_targets())[0]


def _record_trial(spec: TrialSpec) -> RecordedTrial:
    """Return the trial with the targets that its controller commands."""
    engine = cached_engine(spec.scene.engine)
    loop, targets, _ = _run_with_controller(spec)
    return RecordedTrial(spec, engine, loop.robot, targets)


def _controller_time(spec: TrialSpec) -> float:
    """Return the time of a trial's controller alone [s]."""
    return _run_with_controller(spec)[2]


def _run_with_controller(spec: TrialSpec) -> tuple[TrialLoop, list[JointTargets], float]:
    """Run a trial; return it, the targets of its controller and the time of its controller [s]."""
    loop = TrialLoop(spec, cached_engine(spec.scene.engine))
    controller = start_trial(loop)
    targets, spent = [], 0.0
    while loop.is_running:
        began = time.perf_counter()
        targets.append(controller.step(loop.dt, loop.command, loop.observation))
        spent += time.perf_counter() - began
        loop.advance(targets[-1])
    return loop, targets, spent
