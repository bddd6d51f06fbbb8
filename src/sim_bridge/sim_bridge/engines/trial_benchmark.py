"""What a trial costs beyond a straight script of the same engine calls, for `gait bench`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
import time

from gait_core.benchmark import Measurement, least_time
from gait_core.robot.model import RobotModel
from gait_core.scene import Scene
from gait_core.targets import AppliedTargets, TargetMemory
from gait_core.trial import TrialLoop, engine_for, initial_positions, run_trial, start_trial
from gait_core.trial_setup import default_trial
from gait_core.trial_spec import TrialSpec

RESET_SHARE = 0.10
SECONDS = 5.0
REPEATS = 5
ROBOTS = ('guroo', 'a1')

Bare = Callable[[RobotModel, Scene, Sequence[AppliedTargets]], tuple[float, tuple[float, ...]]]
"""Runs a tape by bare calls of an engine; returns wall time [s] and last joint positions."""


def trial_rows(engine: str, bare_trial: Bare, overhead: float | None) -> list[Measurement]:
    """
    Return overhead and reset share of a trial of 5 s of a humanoid and a quadruped.

    Parameters
    ----------
    engine : str
    bare_trial : callable
    overhead : float or None
        Budget of a whole trial over the bare calls.

    """
    return [
        row
        for robot in ROBOTS
        for row in _rows(default_trial(robot, SECONDS, {'engine': engine}), bare_trial, overhead)
    ]


def trial_time(spec: TrialSpec) -> float:
    """Return the least wall time [s] of a whole trial in this process."""
    run_trial(replace(spec, duration=0.1))
    return least_time(lambda: run_trial(spec), REPEATS)


def _rows(spec: TrialSpec, bare_trial: Bare, overhead: float | None) -> list[Measurement]:
    robot, engine = spec.scene.robot, spec.scene.engine
    run_trial(replace(spec, duration=0.1))
    whole, bare = _times(spec, bare_trial)
    held = engine_for(engine)
    reset = least_time(lambda: held.reset(spec.scene, 0))
    return [
        Measurement(
            id=f'overhead_{robot}_{engine}',
            what=f'a whole trial of {robot} over its bare calls of {engine}',
            unit='-',
            measured=whole / bare,
            budget=overhead,
        ),
        Measurement(
            id=f'reset_share_{robot}_{engine}',
            what=f'reset in a headless trial of {robot} of {SECONDS:g} s in {engine}',
            unit='-',
            measured=reset / whole,
            budget=RESET_SHARE,
        ),
        Measurement(
            id=f'controller_share_{robot}_{engine}',
            what=f'share of the controller in that trial of {robot}',
            unit='-',
            measured=min(_controller_time(spec) for _ in range(REPEATS)) / whole,
        ),
        Measurement(
            id=f'realtime_{robot}_{engine}',
            what=f'simulated over wall time of {robot} in {engine}',
            unit='-',
            measured=SECONDS / whole,
        ),
    ]


def _times(spec: TrialSpec, bare_trial: Bare) -> tuple[float, float]:
    """Return the least times [s] of the trial and of the bare script, run in turn."""
    tape = _tape(spec)
    robot = engine_for(spec.scene.engine).robot
    whole, bare = [], []
    for _ in range(REPEATS):
        began = time.perf_counter()
        run_trial(spec)
        whole.append(time.perf_counter() - began)
        bare.append(bare_trial(robot, spec.scene, tape)[0])
    return min(whole), min(bare)


def _tape(spec: TrialSpec) -> list[AppliedTargets]:
    """Return what a trial applies, all sub-samples of every control period."""
    loop = TrialLoop(spec, engine_for(spec.scene.engine))
    controller = start_trial(loop)
    memory = TargetMemory(loop.robot.target_names, initial_positions(loop.robot, spec.scene))
    tape = []
    while loop.running:
        targets = controller.step(loop.dt, loop.command, loop.seen)
        tape.append(memory.resolve(targets))
        loop.advance(targets)
    return tape


def _controller_time(spec: TrialSpec) -> float:
    """Return how long a trial's controller takes by itself [s]."""
    loop = TrialLoop(spec, engine_for(spec.scene.engine))
    controller = start_trial(loop)
    spent = 0.0
    while loop.running:
        began = time.perf_counter()
        targets = controller.step(loop.dt, loop.command, loop.seen)
        spent += time.perf_counter() - began
        loop.advance(targets)
    return spent
