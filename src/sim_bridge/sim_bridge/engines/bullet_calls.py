"""
What a trial costs beyond its engine calls, for `gait bench`.

The calls of a trial are recorded with their arguments and then made again by a straight loop:
the bare engine doing the same work, forces and readings of every step included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
import shutil
import tempfile
import time
from typing import Any

from gait_core.benchmark import Measurement, least_time
from gait_core.robot.load import load_robot
from gait_core.trial import TrialLoop, engine_for, run_trial, start_trial
from gait_core.trial_setup import controller_parameters, default_script, make_scene
from gait_core.trial_spec import TrialSpec
from sim_bridge.engines.bullet_client import pb

Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]

OVERHEAD, RESET_SHARE = 1.15, 0.10
_SECONDS = 5.0


@contextmanager
def recorded_calls(folder: Path) -> Iterator[list[Call]]:
    """
    Record every call of a PyBullet function while the context lasts.

    Files that are loaded are kept in a folder: an engine may remove its own once they are read.
    """
    calls: list[Call] = []
    originals = {
        name: value for name, value in vars(pb).items() if callable(value) and name[0].islower()
    }

    def recorder(function: Callable[..., Any]) -> Callable[..., Any]:
        def record(*args: Any, **kwargs: Any) -> Any:
            kept = tuple(_kept(value, folder) for value in args)
            calls.append((function, kept, kwargs))
            return function(*args, **kwargs)

        return record

    for name, function in originals.items():
        setattr(pb, name, recorder(function))
    try:
        yield calls
    finally:
        for name, function in originals.items():
            setattr(pb, name, function)


def _kept(value: Any, folder: Path) -> Any:
    if not (isinstance(value, str) and Path(value).is_file()):
        return value
    return shutil.copy(value, folder)


def make_calls(calls: list[Call]) -> None:
    """Make recorded calls in a straight loop."""
    for function, args, kwargs in calls:
        function(*args, **kwargs)


def benchmark() -> list[Measurement]:
    """Return overhead and reset share of a trial of 5 s of a humanoid and a quadruped."""
    return [row for robot in ('guroo', 'a1') for row in _rows(_spec(robot))]


def _rows(spec: TrialSpec) -> list[Measurement]:
    robot = spec.scene.robot
    run_trial(replace(spec, duration=0.1))
    with tempfile.TemporaryDirectory(prefix='gait_calls_') as folder:
        with recorded_calls(Path(folder)) as calls:
            run_trial(spec)
        whole, bare = _alternating(lambda: run_trial(spec), lambda: make_calls(calls))
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
            measured=min(_controller_time(spec) for _ in range(3)) / whole,
        ),
        Measurement(
            id=f'realtime_{robot}',
            what=f'simulated over wall time of {robot}',
            unit='-',
            measured=_SECONDS / whole,
        ),
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


def _alternating(
    one: Callable[[], Any], other: Callable[[], Any], repeats: int = 5
) -> tuple[float, float]:
    """Return the least times [s] of two runs made in turn: both see the same machine."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for run, spent in zip((one, other), times, strict=True):
            began = time.perf_counter()
            run()
            spent.append(time.perf_counter() - began)
    return min(times[0]), min(times[1])


def _spec(name: str) -> TrialSpec:
    robot = load_robot(name)
    controller, preset = robot.defaults['controller'], robot.defaults['preset']
    return TrialSpec(
        scene=make_scene(name, {'engine': 'bullet'}),
        controller=controller,
        parameters=controller_parameters(controller, preset, {}),
        script=default_script(robot),
        duration=_SECONDS,
    )
