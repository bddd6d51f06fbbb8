# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Benchmark of the engine ``cables``, alone and relative to the same bodies in PyBullet."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
import time
from typing import Any

import numpy as np

from gait_core import registry
from gait_core.arrays import FloatArray
from gait_core.benchmark import Measurement, shortest_times
from gait_core.contracts import Engine, TapeEngine
from gait_core.motion.targets import AppliedTape
from gait_core.robot.load import load_robot
from gait_core.robot.model import RobotModel
from gait_core.trial.scene import Scene
from gait_core.trial.setup import make_scene, usable_engines

BENCHMARK_ROBOT = 'tetraspine'
TRIAL_DURATION = 15.0
MAX_TRIAL_TIME = 0.22
"""Largest processor time of a trial of 15 s [s]."""
MIN_RATE_RATIO = 40.0
"""Smallest ratio of trials per second in cables to those in bullet."""
_COMPARED_DURATION = 1.0
"""Duration of the trial in each engine of the comparison [s]."""
_SAMPLES_PER_PERIOD = 40
_SIGNAL_AMPLITUDE, _SIGNAL_FREQUENCY = 2.0, 0.5
"""Amplitude [N] and frequency [Hz] of the signals."""


def benchmark() -> list[Measurement]:
    """Measure the time of a trial, and its ratio to the time in PyBullet."""
    robot = load_robot(BENCHMARK_ROBOT)
    engine: Any = registry.engine('cables')()
    scene = make_scene(BENCHMARK_ROBOT, {'engine': 'cables'})
    tape = _sine_tape(robot, TRIAL_DURATION)
    engine.reset(scene, 0)
    (alone,) = shortest_times(partial(_tape_time, engine, scene, tape), repeats=3)
    engine.close()
    rows = [
        Measurement(
            id=f'trial_{BENCHMARK_ROBOT}_cables',
            what=f'processor time of {TRIAL_DURATION:g} s of {BENCHMARK_ROBOT} in cables',
            unit='s',
            measured=alone,
            budget=MAX_TRIAL_TIME,
            group='engine',
        )
    ]
    if 'bullet' in usable_engines():
        rows.append(_rate_over_bullet(robot))
    return rows


def _rate_over_bullet(robot: RobotModel) -> Measurement:
    """Compare the rate of trials in cables to that in bullet, with equal targets."""
    tape = _sine_tape(robot, _COMPARED_DURATION)
    engines = {name: registry.engine(name)() for name in ('cables', 'bullet')}
    cables, bullet = shortest_times(
        *(
            partial(_tape_time, engine, make_scene(BENCHMARK_ROBOT, {'engine': name}), tape)
            for name, engine in engines.items()
        )
    )
    for engine in engines.values():
        engine.close()
    return Measurement(
        id=f'rate_{BENCHMARK_ROBOT}',
        what=f'trials per second of {BENCHMARK_ROBOT} in cables, divided by those in bullet',
        unit='-',
        measured=bullet / cables,
        budget=MIN_RATE_RATIO,
        at_most=False,
        group='engine',
    )


def _sine_tape(robot: RobotModel, seconds: float) -> AppliedTape:
    """Return a tape of sines on the robot's signals, each a quarter period after the last."""
    ticks = round(seconds / 0.02)
    times = np.arange(ticks * _SAMPLES_PER_PERIOD) * 0.02 / _SAMPLES_PER_PERIOD
    effort: FloatArray = np.zeros((len(times), len(robot.target_names)))
    for i, (_, names) in enumerate(robot.signals):
        pull = _SIGNAL_AMPLITUDE * np.sin(
            2.0 * np.pi * _SIGNAL_FREQUENCY * times + 0.5 * np.pi * i
        )
        effort[:, [robot.target_names.index(name) for name in names]] = pull[:, None]
    shape = (ticks, _SAMPLES_PER_PERIOD, len(robot.target_names))
    still = np.broadcast_to(robot.stance, shape)
    return AppliedTape(still, np.zeros(shape), effort.reshape(shape))


def _tape_time(engine: Engine, scene: Scene, tape: AppliedTape) -> float:
    """Return the processor time of a tape from the start of a scene [s]."""
    engine.reset(scene, 0)
    if isinstance(engine, TapeEngine):
        return _processor_time(partial(engine.rollout, tape))
    return _processor_time(lambda: [engine.step(targets) for targets in tape])


def _processor_time(run: Callable[[], Any]) -> float:
    """Return the processor time of a call [s], which other processes do not change."""
    began = time.process_time()
    run()
    return time.process_time() - began
