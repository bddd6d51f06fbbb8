"""What a trial costs beyond a straight script of the same PyBullet calls, for `gait bench`."""

from __future__ import annotations

from dataclasses import replace
import time

from gait_core.benchmark import Measurement, least_time
from gait_core.rollout import Rollout
from gait_core.targets import AppliedTargets
from gait_core.trial import TrialLoop, engine_for, run_loop, run_trial, start_trial
from gait_core.trial_setup import default_trial
from gait_core.trial_spec import TrialSpec
from sim_bridge.engines.bullet_bare import bare_trial

OVERHEAD, RESET_SHARE = 1.15, 0.10
_SECONDS = 5.0
_REPEATS = 5


def benchmark() -> list[Measurement]:
    """Return overhead and reset share of a trial of 5 s of a humanoid and a quadruped."""
    return [
        row
        for robot in ('guroo', 'a1')
        for row in _rows(default_trial(robot, _SECONDS, {'engine': 'bullet'}))
    ]


def _rows(spec: TrialSpec) -> list[Measurement]:
    robot = spec.scene.robot
    run_trial(replace(spec, duration=0.1))
    whole, bare = _times(spec)
    engine = engine_for(spec.scene.engine)
    reset = least_time(lambda: engine.reset(spec.scene, 0))
    return [
        Measurement(
            id=f'overhead_{robot}',
            what=f'a whole trial of {robot} over its bare engine calls',
            unit='-',
            measured=whole / bare,
            budget=OVERHEAD,
        ),
        Measurement(
            id=f'reset_share_{robot}',
            what=f'reset in a headless trial of {robot} of {_SECONDS:g} s',
            unit='-',
            measured=reset / whole,
            budget=RESET_SHARE,
        ),
        Measurement(
            id=f'controller_share_{robot}',
            what=f'share of the controller in that trial of {robot}',
            unit='-',
            measured=min(_controller_time(spec) for _ in range(_REPEATS)) / whole,
        ),
        Measurement(
            id=f'realtime_{robot}',
            what=f'simulated over wall time of {robot}',
            unit='-',
            measured=_SECONDS / whole,
        ),
    ]


def _times(spec: TrialSpec) -> tuple[float, float]:
    """Return the least times [s] of the trial and of the bare script, run in turn."""
    loop = run_loop(spec)
    tape = _tape(loop.rollout())
    whole, bare = [], []
    for _ in range(_REPEATS):
        began = time.perf_counter()
        run_trial(spec)
        whole.append(time.perf_counter() - began)
        bare.append(bare_trial(loop.robot, spec.scene, tape)[0])
    return min(whole), min(bare)


def _tape(rollout: Rollout) -> list[AppliedTargets]:
    return [
        AppliedTargets(position=position[None], velocity=velocity[None], effort=effort[None])
        for position, velocity, effort in zip(
            rollout.target_positions,
            rollout.target_velocities,
            rollout.target_efforts,
            strict=True,
        )
    ]


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
