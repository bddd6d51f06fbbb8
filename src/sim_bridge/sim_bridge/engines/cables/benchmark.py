"""Benchmark of the ``cables`` engine, also against the same bodies moved by PyBullet."""

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

ROBOT = 'tetraspine'
SECONDS = 15.0
TRIAL = 0.22
"""Most processor time of a trial of 15 s [s]."""
TIMES = 40.0
"""The least trials in cables for one in bullet."""
_SHORT = 1.0
"""Time simulated by each side of the comparison [s]."""
_SAMPLES = 40
_PULL, _PACE = 2.0, 0.5
"""Amplitude [N] and frequency [Hz] of the signals."""


def benchmark() -> list[Measurement]:
    """Return the time of a trial, and the ratio to that in PyBullet."""
    robot = load_robot(ROBOT)
    engine: Any = registry.engine('cables')()
    scene = make_scene(ROBOT, {'engine': 'cables'})
    tape = _tape(robot, SECONDS)
    engine.reset(scene, 0)
    (alone,) = shortest_times(partial(_rolled, engine, scene, tape), repeats=3)
    engine.close()
    rows = [
        Measurement(
            id=f'trial_{ROBOT}_cables',
            what=f'processor time of {SECONDS:g} s of {ROBOT} in cables',
            unit='s',
            measured=alone,
            budget=TRIAL,
            group='engine',
        )
    ]
    if 'bullet' in usable_engines():
        rows.append(_over_bullet(robot))
    return rows


def _over_bullet(robot: RobotModel) -> Measurement:
    tape = _tape(robot, _SHORT)
    engines = {name: registry.engine(name)() for name in ('cables', 'bullet')}
    ours, theirs = shortest_times(
        *(
            partial(_rolled, engine, make_scene(ROBOT, {'engine': name}), tape)
            for name, engine in engines.items()
        )
    )
    for engine in engines.values():
        engine.close()
    return Measurement(
        id=f'rate_{ROBOT}',
        what=f'trials of {ROBOT} in cables for one by external forces in bullet',
        unit='-',
        measured=theirs / ours,
        budget=TIMES,
        at_most=False,
        group='engine',
    )


def _tape(robot: RobotModel, seconds: float) -> AppliedTape:
    """Return sines on the robot's signals, a quarter of a period apart."""
    ticks = round(seconds / 0.02)
    times = np.arange(ticks * _SAMPLES) * 0.02 / _SAMPLES
    effort: FloatArray = np.zeros((len(times), len(robot.target_names)))
    for i, (_, names) in enumerate(robot.signals):
        pull = _PULL * np.sin(2.0 * np.pi * _PACE * times + 0.5 * np.pi * i)
        effort[:, [robot.target_names.index(name) for name in names]] = pull[:, None]
    shape = (ticks, _SAMPLES, len(robot.target_names))
    still = np.broadcast_to(robot.stance, shape)
    return AppliedTape(still, np.zeros(shape), effort.reshape(shape))


def _rolled(engine: Engine, scene: Scene, tape: AppliedTape) -> float:
    """Return how long a tape takes from the start of a scene [s]."""
    engine.reset(scene, 0)
    if isinstance(engine, TapeEngine):
        return _busy(partial(engine.rollout, tape))
    return _busy(lambda: [engine.step(targets) for targets in tape])


def _busy(run: Callable[[], Any]) -> float:
    """Return the processor time of a run [s]: others on the machine do not count."""
    began = time.process_time()
    run()
    return time.process_time() - began
