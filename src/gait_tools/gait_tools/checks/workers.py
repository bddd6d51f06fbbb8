# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Acceptance check of runs with workers killed, stopped and starved at random moments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
import importlib.util
import os
from pathlib import Path
import signal
import subprocess
import tempfile
import threading
import time

import numpy as np

from gait_core.benchmark import Measurement
from gait_core.errors import ConfigurationError, excerpt
from gait_core.processes.python_command import python_module_command

_KINDS = ('killed', 'stopped', 'starved')
_DISTURBANCES = 30
_DISTURBANCES_PER_RUN = 6
_SEED = 20
_STARVED_TIME = 12.0
_STARVED_DUTY = (0.02, 0.18)
"""Times [s] for which a starved worker runs and is stopped in turn, at the lowest priority."""


@dataclass
class _Tally:
    """Counts of disturbances, of runs and of their outcomes."""

    logs: set[bytes] = field(default_factory=set)
    done: Counter[str] = field(default_factory=Counter)
    runs: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    broken: list[str] = field(default_factory=list)


def check_disturbed_workers(share: float = 1.0) -> list[Measurement]:
    """Compare the logs of runs with disturbed workers to that of an undisturbed run."""
    disturbance_count = max(len(_KINDS), round(_DISTURBANCES * share))
    is_full = share >= 1.0
    settings = [
        *('--generations', '4'),
        *('--set', f'duration={4.0 if is_full else 1.0:g}'),
        *('--set', 'population=6'),
    ]
    rng, tally = np.random.default_rng(_SEED), _Tally()
    with tempfile.TemporaryDirectory(prefix='gait_checks_') as name:
        folder = Path(name)
        process = _start_run(folder / 'undisturbed', 'local', settings, {})
        began = time.monotonic()
        _finish_run(process, folder / 'undisturbed', tally)
        span = time.monotonic() - began
        tally.runs.clear()
        kinds = [_KINDS[i % len(_KINDS)] for i in range(disturbance_count)]
        rng.shuffle(kinds)
        while kinds:
            number = sum(tally.runs.values())
            run_kinds, kinds = kinds[:_DISTURBANCES_PER_RUN], kinds[_DISTURBANCES_PER_RUN:]
            uses_ros = (
                is_full and number % 3 == 2 and importlib.util.find_spec('rclpy') is not None
            )
            is_cold = is_full and number % 3 != 1
            changed = {'NUMBA_CACHE_DIR': str(folder / f'cache-{number}')} if is_cold else {}
            evaluator = 'ros' if uses_ros else 'local'
            run = folder / str(number)
            process = _start_run(run, evaluator, settings, changed)
            # A disturbance that came after the end of its run is repeated in another run.
            kinds += [
                kind
                for kind in run_kinds
                if not _disturb_worker(process, kind, rng, span / len(run_kinds), tally)
            ]
            _finish_run(process, run, tally)
            tally.runs[f'{evaluator}{", cold caches" if is_cold else ""}'] += 1
    return _measurements(tally)


def _start_run(
    run: Path, evaluator: str, settings: Sequence[str], variables: Mapping[str, str]
) -> subprocess.Popen[str]:
    """Start an evolution in a process of its own, with some environment variables changed."""
    words = ['guroo_quick', '--run-dir', str(run), '--workers', '2', '--evaluator', evaluator]
    return subprocess.Popen(
        [*python_module_command('gait_tools.cli'), 'evolve', *words, *settings],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **variables},
    )


def _finish_run(process: subprocess.Popen[str], run: Path, tally: _Tally) -> None:
    """Wait for the end of a run, and count its log and its incidents."""
    _, error = process.communicate()
    if process.returncode != 0:
        tally.broken.append(error.strip().splitlines()[-1] if error.strip() else 'no output')
        return
    tally.logs.add((run / 'evaluations.csv').read_bytes())
    events = run / 'events.log'
    tally.lost += len(events.read_text().splitlines()) if events.exists() else 0


def _disturb_worker(
    process: subprocess.Popen[str],
    kind: str,
    rng: np.random.Generator,
    span: float,
    tally: _Tally,
) -> bool:
    """Disturb a worker at a moment within ``span`` [s]; return False if the run ended first."""
    moment = time.monotonic() + rng.uniform(0.0, span)
    which = int(rng.integers(2))
    while process.poll() is None:
        workers = _workers_of(process.pid)
        if workers and time.monotonic() >= moment:
            pid = workers[which % len(workers)]
            if kind == 'starved':
                threading.Thread(target=_starve, args=(pid,)).start()
            else:
                _send_signal(pid, signal.SIGKILL if kind == 'killed' else signal.SIGSTOP)
            tally.done[kind] += 1
            return True
        time.sleep(0.02)
    return False


def _workers_of(pid: int) -> list[int]:
    """Return the process ids of an evolution's workers, sorted."""
    found = []
    for task in Path(f'/proc/{pid}/task').glob('*/children'):
        try:
            children = task.read_text().split()
        except OSError:
            continue
        for child in children:
            try:
                command = Path(f'/proc/{child}/cmdline').read_text()
            except OSError:
                continue
            if 'spawn_main' in command or 'gait_ros.graph.child' in command:
                found.append(int(child))
    return sorted(found)


def _starve(pid: int) -> None:
    """Limit a process to a tenth of a processor, at the lowest priority, for 12 s."""
    try:
        os.setpriority(os.PRIO_PROCESS, pid, 19)
    except OSError:
        return
    end = time.monotonic() + _STARVED_TIME
    while time.monotonic() < end:
        for number, pause in (
            (signal.SIGCONT, _STARVED_DUTY[0]),
            (signal.SIGSTOP, _STARVED_DUTY[1]),
        ):
            if not _send_signal(pid, number):
                return
            time.sleep(pause)
    _send_signal(pid, signal.SIGCONT)


def _send_signal(pid: int, number: int) -> bool:
    """Send a signal; return whether the process exists."""
    try:
        os.kill(pid, number)
    except OSError:
        return False
    return True


def _measurements(tally: _Tally) -> list[Measurement]:
    """Return the rows of the check; ``ConfigurationError`` if no run finished."""
    if not tally.logs and tally.broken:
        raise ConfigurationError(f'no run finished: {tally.broken[0]}')
    reason = f', the first: {excerpt(tally.broken[0])}' if tally.broken else ''
    done = ', '.join(f'{tally.done[kind]} {kind}' for kind in _KINDS)
    runs = ', '.join(f'{count} {name}' for name, count in sorted(tally.runs.items()))
    return [
        Measurement(
            id='disturbed_logs',
            what=f'different logs of an undisturbed run and of {sum(tally.runs.values())} '
            f'({runs}) whose workers were disturbed: {done}',
            unit='logs',
            measured=float(len(tally.logs)),
            budget=1.0,
        ),
        Measurement(
            id='disturbed_ends',
            what=f'disturbed runs that did not finish{reason}',
            unit='runs',
            measured=float(len(tally.broken)),
            budget=0.0,
        ),
        Measurement(
            id='disturbed_lost',
            what='lines about lost workers in their event logs',
            unit='lines',
            measured=float(tally.lost),
        ),
    ]
