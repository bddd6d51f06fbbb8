# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Long acceptance checks: `gait bench --checks` runs them in full, the tests at a tenth.

Each function returns measurements with their bounds. Its argument ``share`` is the length of the
check as a share of the full length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
import importlib.util
import json
import os
from pathlib import Path
import signal
import subprocess
import tempfile
import time
from typing import Any

import numpy as np

from gait_core import registry
from gait_core.benchmark import Measurement
from gait_core.errors import ConfigurationError
from gait_core.parameters.space import parameter_space
from gait_core.processes.python_command import python_module_command
from gait_core.trial.loop import run_trial
from gait_core.trial.setup import (
    default_engine,
    default_trial,
    make_scene,
    usable_engines,
    usable_robots,
)
from gait_core.trial.spec import FELL, OK, TrialSpec
from gait_evolver.benchmark import measure_memory
from gait_evolver.evaluators.local import LocalEvaluator
from gait_tools.checks.commanded import check_commanded_walks
from gait_tools.checks.runs import check_long_run, check_worker_costs
from gait_tools.checks.workers import check_disturbed_workers

_ITERATION_OPTIONS = {'bullet': 'solver_iterations', 'mujoco': 'iterations'}
_DELAY = 0.02


def _fine_scene() -> dict[str, Any]:
    """Return changes of a scene: a 1 ms physics step and 100 solver iterations."""
    return {'physics_step': 0.001, 'engine_options': {_ITERATION_OPTIONS[default_engine()]: 100}}


def check_standing(share: float = 1.0) -> list[Measurement]:
    """Measure how long GuRoo stands, up to a minute."""
    seconds = 60.0 * share
    spec = TrialSpec(scene=make_scene('guroo', _fine_scene()), controller='hold', duration=seconds)
    result = run_trial(spec)
    stood = result.metrics['duration_s'] if result.status == OK else (result.fell_at or 0.0)
    return [
        Measurement(
            id='guroo_stands',
            what='time for which GuRoo stands; physics step 1 ms, 100 solver iterations',
            unit='s',
            measured=stood,
            budget=seconds - 1e-9,
            at_most=False,
        ),
        Measurement(
            id='guroo_stands_tilt',
            what='largest tilt of the standing GuRoo',
            unit='deg',
            measured=float(np.degrees(result.metrics['tilt_max_rad'])),
            budget=0.5,
        ),
    ]


def check_walking(share: float = 1.0) -> list[Measurement]:
    """Measure how far GuRoo walks without feedback, up to 5 m or 90 s."""
    seconds, metres = 90.0 * share, 5.0 * share
    spec = replace(default_trial('guroo', seconds), scene=make_scene('guroo', _fine_scene()))
    result = run_trial(spec)
    done = max(result.ticks / spec.ticks, result.metrics['distance_m'] / metres)
    return [
        Measurement(
            id='guroo_walks',
            what=f'share of {seconds:g} s or {metres:g} m that GuRoo walks, at the same settings',
            unit='-',
            measured=done,
            budget=1.0,
            at_most=False,
        ),
        Measurement(
            id='guroo_walks_distance',
            what='its distance',
            unit='m',
            measured=result.metrics['distance_m'],
        ),
    ]


def check_random_gaits(share: float = 1.0) -> list[Measurement]:
    """Count trials of random gaits that end neither as ``ok`` nor as ``fell``."""
    count = max(1, round(100 * share))
    base = default_trial('guroo', 5.0)
    space = parameter_space(registry.controller(base.controller).Params)
    rng = np.random.default_rng(1)
    specs = [
        replace(base, parameters={**base.parameters, **space.decode(rng.random(len(space)))})
        for _ in range(count)
    ]
    evaluator = LocalEvaluator()
    try:
        results = evaluator.evaluate(specs)
    finally:
        evaluator.close()
    statuses = [result.status for result in results]
    return [
        Measurement(
            id='random_gaits',
            what=f'random gaits of GuRoo that end neither ok nor fell, of {count}',
            unit='trials',
            measured=float(sum(status not in (OK, FELL) for status in statuses)),
            budget=0.0,
        ),
        Measurement(
            id='random_gaits_fell',
            what='random gaits of GuRoo that fell',
            unit='trials',
            measured=float(statuses.count(FELL)),
        ),
    ]


def check_equal_hashes(share: float = 1.0) -> list[Measurement]:
    """Compare hashes of a trial alone, after others, over ROS with delays, and by an evaluator."""
    return [_compare_hashes(robot, share) for robot in usable_robots('guroo', 'a1')]


def _compare_hashes(robot: str, share: float) -> Measurement:
    """Count the different hashes of one trial: alone, after others, over ROS and in a worker."""
    from gait_evolver.evaluators.ros import RosEvaluator
    from gait_ros.trials.session import run_ros_trial

    spec = default_trial(robot, max(1.0, 10.0 * share))
    hashes = [run_trial(spec).trial_hash]
    between = [default_trial(other, 0.2) for other in usable_robots('guroo', 'a1')]
    for seed in range(max(2, round(20 * share))):
        run_trial(replace(between[seed % len(between)], seed=seed))
    hashes.append(run_trial(spec).trial_hash)
    hashes.append(run_ros_trial(spec, delay=_DELAY).result.trial_hash)
    evaluator = RosEvaluator(workers=1)
    try:
        hashes.append(evaluator.evaluate([spec])[0].trial_hash)
    finally:
        evaluator.close()
    return Measurement(
        id=f'hashes_{robot}',
        what=f'different hashes of 4 ways to run one trial of {robot}',
        unit='hashes',
        measured=float(len(set(hashes))),
        budget=1.0,
    )


def check_equal_logs(share: float = 1.0) -> list[Measurement]:
    """Count different logs of a run on 1, 2 and 4 workers, over ROS, and killed and resumed."""
    settings = [
        *('--generations', '4'),
        *('--set', f'duration={max(0.5, 10.0 * share):g}'),
        *('--set', f'population={max(6, round(12 * share))}'),
    ]
    with tempfile.TemporaryDirectory(prefix='gait_checks_') as name:
        folder = Path(name)
        _run_evolution(folder / 'one', '1', settings)
        _run_evolution(folder / 'two', '2', settings)
        _kill_and_resume(folder / 'killed', settings)
        # A check of less than full size leaves these out: other tests cover four workers and ROS.
        if share >= 1.0:
            _run_evolution(folder / 'four', '4', settings)
        if share >= 1.0 and _has_ros():
            _run_evolution(folder / 'ros', '2', [*settings, '--evaluator', 'ros'])
        logs = [file.read_bytes() for file in folder.glob('*/evaluations.csv')]
    return [
        Measurement(
            id='equal_logs',
            what='different logs of 1, 2 and 4 workers, over ROS, and of kill -9 in generation 2',
            unit='logs',
            measured=float(len(set(logs))),
            budget=1.0,
        )
    ]


def _evolve_command(*words: str) -> list[str]:
    return [*python_module_command('gait_tools.cli'), 'evolve', *words]


def _run_evolution(folder: Path, workers: str, settings: Sequence[str]) -> None:
    words = _evolve_command(
        'guroo_quick', '--run-dir', str(folder), '--workers', workers, *settings
    )
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _kill_and_resume(folder: Path, settings: Sequence[str]) -> None:
    """Kill an evolution between its first and its last generation, and resume it to its end."""
    words = _evolve_command('guroo_quick', '--run-dir', str(folder), '--workers', '2', *settings)
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    checkpoint = folder / 'checkpoint.json'
    while process.poll() is None and not checkpoint.exists():
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    done = json.loads(checkpoint.read_text())['generations']
    if not 1 <= done < 4:
        raise ConfigurationError(
            f'the run was killed after {done} generations, expected 1 to 3 of 4'
        )
    resume = _evolve_command('--run-dir', str(folder), '--resume', '--workers', '2')
    subprocess.run(resume, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def check_random_kills(share: float = 1.0) -> list[Measurement]:
    """Kill and resume runs at random moments, and count the different logs at their ends."""
    kill_count = max(2, round(20 * share))
    settings = [*('--generations', '4'), *('--set', 'duration=1'), *('--set', 'population=6')]
    rng = np.random.default_rng(kill_count)
    logs, kills, folders = set(), 0, 0
    with tempfile.TemporaryDirectory(prefix='gait_checks_') as name:
        whole = Path(name) / 'whole'
        began = time.monotonic()
        _run_evolution(whole, '1', settings)
        span = time.monotonic() - began
        logs.add((whole / 'evaluations.csv').read_bytes())
        while kills < kill_count:
            folder = Path(name) / str(folders)
            folders += 1
            finished = False
            while not finished:
                # After enough kills the last run continues to its end.
                limit = rng.uniform(0.0, span) if kills < kill_count else None
                finished = _run_for(folder, settings, limit)
                kills += not finished
            logs.add((folder / 'evaluations.csv').read_bytes())
    return [
        Measurement(
            id='random_kills',
            what=f'different logs of a run and of {folders} that were killed {kills} times in all',
            unit='logs',
            measured=float(len(logs)),
            budget=1.0,
        )
    ]


def _run_for(folder: Path, settings: Sequence[str], limit: float | None) -> bool:
    """Start or resume a run and kill it after ``limit`` [s]; return whether it ended before."""
    begun = (folder / 'run.yaml').exists()
    words = ('--resume',) if begun else ('guroo_quick', *settings)
    process = subprocess.Popen(
        _evolve_command('--run-dir', str(folder), '--workers', '2', *words),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        _, error = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return False
    if process.returncode != 0:
        raise ConfigurationError(f'a run that was killed cannot be resumed: {error.strip()}')
    return True


def check_memory(share: float = 1.0) -> list[Measurement]:
    """Measure the growth of a worker's memory over hundreds of trials in each engine."""
    trials = max(1, round(500 * share))
    return [row for engine in usable_engines() for row in measure_memory(engine, trials)]


def check_floods(share: float = 1.0) -> list[Measurement]:
    """Measure whether every node survives floods of messages and requests, and its memory."""
    if not _has_ros():
        return []
    from gait_ros.checks.flood import FLOOD_DURATION, measure_floods

    return measure_floods(FLOOD_DURATION * share)


def check_emergency_stops(share: float = 1.0) -> list[Measurement]:
    """Measure the time from an emergency stop to held targets, under traffic at 1 kHz."""
    if not _has_ros():
        return []
    from gait_ros.checks.emergency_stop import STOP_COUNT, measure_stops

    return measure_stops(max(1, round(STOP_COUNT * share)))


def check_live_champions(share: float = 1.0) -> list[Measurement]:
    """Compare live walks of the champions in ./doc/results with trials in this process."""
    if not _has_ros():
        return []
    from gait_ros.checks.live_walk import compare_walks

    return compare_walks(sorted(Path('doc/results').glob('*champion*.yaml')), 6.0 * share)


def _has_ros() -> bool:
    return importlib.util.find_spec('rclpy') is not None


CHECKS: dict[str, Callable[[float], list[Measurement]]] = {
    'stands': check_standing,
    'walks': check_walking,
    'commanded': check_commanded_walks,
    'random_sets': check_random_gaits,
    'equal_hashes': check_equal_hashes,
    'equal_logs': check_equal_logs,
    'random_kills': check_random_kills,
    'disturbed_workers': check_disturbed_workers,
    'memory': check_memory,
    'worker_costs': check_worker_costs,
    'long_run': check_long_run,
    'floods': check_floods,
    'emergency_stops': check_emergency_stops,
    'champions_live': check_live_champions,
}
"""Checks by the name that `--only` takes; the argument is the share of the full length."""
