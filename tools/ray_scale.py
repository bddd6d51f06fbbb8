# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Processor time of a run over Ray per trial, and idle time of its workers.

`tools/ray_scale.py --workers 64 --population 640`. Instead of running a trial, an actor sleeps for
a time that the trial's seed decides, and returns the result of one trial of the a1. A few
processes hold all actors; everything else is as in any run.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import closing
import csv
from functools import wraps
import heapq
import itertools
import json
from operator import itemgetter
import os
from pathlib import Path
import random
import sys
import tempfile
import time
from typing import Any

from gait_core.parameters.plain_data import to_plain_data
from gait_core.processes import liveness
from gait_core.trial.loop import run_trial
from gait_core.trial.setup import default_trial
from gait_evolver.evaluators import ray as ray_evaluator
from gait_evolver.evaluators import ray_process
from gait_evolver.evaluators.worker import DONE
from gait_evolver.loop import Evolution
from gait_evolver.plan import Plan, load_plan
from gait_evolver.run.store import RunStore

SHORTEST, LONGEST = 0.2, 1.8
"""Bounds of the uniform distribution of the trials' lengths, as multiples of their mean."""
CALLS = 1000
"""Largest number of calls that a process with sleeping actors serves at once."""
RESULT, MEAN, HOSTS = 'GAIT_SCALE_RESULT', 'GAIT_SCALE_MEAN', 'GAIT_SCALE_HOSTS'
"""Variables for the driver: file of the result, mean length [s], number of those processes."""
COLUMNS = (
    *('population', 'trials', 'trials/s', 'ask', 'tell', 'log', 'choose', 'send', 'receive'),
    *('rest', 'evolver', 'driver', 'its loop', 'idle at least', 'idle', 'load'),
)


class SleepingActors:
    """Stand in for any number of ``TrialActor``."""

    def __init__(self, result: Mapping[str, Any], mean: float) -> None:
        self._result, self._mean = result, mean
        self._numbers = itertools.count()

    async def name(self) -> str:
        """Return the name of another actor."""
        return f'sleeping/{os.getpid()}/{next(self._numbers)}'

    async def check(self, *given: Any) -> str:
        """Accept every trial."""
        return ''

    async def run(self, spec: Mapping[str, Any], *given: Any) -> tuple[str, Any]:
        """Sleep for the length of a trial, which ends early by a fall; return a result."""
        length = trial_length(spec['seed'], self._mean)
        await asyncio.sleep(length)
        fitness = random.Random(f'fitness {spec["seed"]}').random()
        ticks = round(self._result['ticks'] * length / (LONGEST * self._mean))
        return DONE, {**self._result, 'ticks': ticks, 'fitness': fitness, 'wall_time': length}

    async def pulse(self) -> tuple[int, float]:
        """Return the pulse of a trial that makes progress."""
        return liveness.RUNNING, 0.0


def trial_length(seed: int, mean: float) -> float:
    """Return the length of a trial [s]."""
    return mean * random.Random(seed).uniform(SHORTEST, LONGEST)


def drive() -> int:
    """Run the driver process with sleeping actors."""
    import ray

    from gait_evolver.evaluators import ray_actors, ray_driver

    class Driver(ray_actors._Driver):
        """Driver whose actors share processes."""

        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            options: Any = {'max_concurrency': CALLS, 'concurrency_groups': {'pulse': CALLS}}
            host = ray.remote(**options)(SleepingActors)
            result = json.loads(Path(os.environ[RESULT]).read_text())
            mean, count = float(os.environ[MEAN]), int(os.environ[HOSTS])
            self._hosts = itertools.cycle([host.remote(result, mean) for _ in range(count)])
            self._class = self

        def remote(self) -> Any:
            """Return the process of another actor."""
            return next(self._hosts)

    vars(ray_actors)['_Driver'] = Driver
    return ray_driver.main()


class SleepingRay(ray_process.RayProcess):
    """Ray with as many processors as there are processes with sleeping actors."""

    def __init__(self, workers: int, address: str, log: Path | None) -> None:
        super().__init__(int(os.environ[HOSTS]), address, log)

    def driver(self) -> int:
        """Return the process id of the driver, the child of the guard."""
        guard = self._process.pid
        return int(Path(f'/proc/{guard}/task/{guard}/children').read_text().split()[0])


def processor_time(folder: str) -> float:
    """Return the processor time of a process or thread by its folder in /proc [s]."""
    fields = Path(folder, 'stat').read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def add_time(owner: Any, name: str, part: str, times: dict[str, float]) -> None:
    """Let each call of a method add its processor time [s] to ``times[part]``."""
    method: Callable[..., Any] = getattr(owner, name)

    @wraps(method)
    def timed(*given: Any) -> Any:
        began = time.process_time()
        try:
            return method(*given)
        finally:
            times[part] += time.process_time() - began

    setattr(owner, name, timed)


def least_idle_share(generations: list[list[float]], workers: int) -> float:
    """Return the share of idle time if trials start in their order and nothing else takes time."""
    total = 0.0
    for lengths in generations:
        free_at = [0.0] * workers
        for length in lengths:
            heapq.heapreplace(free_at, free_at[0] + length)
        total += max(free_at)
    return 1.0 - sum(map(sum, generations)) / (workers * total)


def read_lengths(store: RunStore, mean: float) -> list[list[float]]:
    """Return the lengths of the trials of each generation in a run's log [s]."""
    with (store.folder / 'evaluations.csv').open() as file:
        rows = itertools.groupby(csv.DictReader(file), key=itemgetter('generation'))
        return [[trial_length(int(row['seed']), mean) for row in group] for _, group in rows]


def measure(evaluator: Any, plan: Plan, folder: Path, times: dict[str, float]) -> list[float]:
    """Run an experiment; return a row of the table, with times in milliseconds per trial."""
    store = RunStore.create(folder, plan)
    run = Evolution(store, evaluator)
    for owner, name, part in (
        (run._optimizer, 'ask', 'ask'),
        (run._optimizer, 'tell', 'tell'),
        (store, 'append', 'log'),
        (store, 'append_summaries', 'log'),
    ):
        add_time(owner, name, part, times)
    times.clear()
    driver = evaluator._ray.driver()
    folders = f'/proc/{driver}', f'/proc/{driver}/task/{driver}'
    before = [time.process_time(), *map(processor_time, folders)]
    began = time.monotonic()
    run.run()
    seconds = time.monotonic() - began
    after = [time.process_time(), *map(processor_time, folders)]
    store.close()
    generations = read_lengths(store, float(os.environ[MEAN]))
    slept, count = sum(map(sum, generations)), sum(map(len, generations))
    times['choose'] -= times['send']
    parts = [1000.0 * times[part] / count for part in COLUMNS[3:9]]
    evolver, of_driver, of_loop = (
        1000.0 * (last - first) / count for first, last in zip(before, after, strict=True)
    )
    workers = len(evaluator.worker_names)
    return [
        *(len(generations[0]), count, count / seconds, *parts, evolver - sum(parts)),
        *(evolver, of_driver, of_loop, least_idle_share(generations, workers)),
        *(1.0 - slept / (workers * seconds), os.getloadavg()[0]),
    ]


def main() -> int:
    """Print a row for each population."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').strip().partition('\n')[0])
    parser.add_argument('--workers', type=int, default=64)
    parser.add_argument('--population', type=int, nargs='+', default=[64, 128, 256, 640])
    parser.add_argument('--generations', type=int, default=3)
    parser.add_argument('--mean', type=float, default=1.0, help='mean length of a trial [s]')
    parser.add_argument('--hosts', type=int, default=2, help='processes with sleeping actors')
    options = parser.parse_args()
    vars(ray_evaluator)['RayProcess'] = SleepingRay
    command = [sys.executable, __file__, 'drive']
    vars(ray_process)['python_module_command'] = lambda module: list(command)
    spec = default_trial('a1', 1.0)
    print(f'| {" | ".join(COLUMNS)} |\n|{"---|" * len(COLUMNS)}')
    evaluator = ray_evaluator.RayEvaluator(workers=options.workers)
    times: dict[str, float] = defaultdict(float)
    for name, part in (('_dispatch', 'choose'), ('_submit', 'send'), ('_receive', 'receive')):
        add_time(evaluator, name, part, times)
    with tempfile.TemporaryDirectory(prefix='gait-scale-') as folder, closing(evaluator):
        result = Path(folder, 'result.json')
        result.write_text(json.dumps(to_plain_data(run_trial(spec))))
        os.environ |= {RESULT: f'{result}', MEAN: f'{options.mean}', HOSTS: f'{options.hosts}'}
        while len(evaluator.worker_names) < options.workers:
            evaluator.evaluate([spec])
        # The first run, which reads files of the robot and the suite once, is not printed.
        for size in (10, *options.population):
            changes = {'population': size, 'generations': options.generations, 'duration': 1.0}
            plan, run = load_plan('a1_trot', changes), tempfile.mkdtemp(dir=folder)
            row = measure(evaluator, plan, Path(run, 'run'), times)
            cells = [f'{value:.3f}' if isinstance(value, float) else f'{value}' for value in row]
            if size > 10:
                print(f'| {" | ".join(cells)} |', flush=True)
    return 0


if __name__ == '__main__':
    if sys.argv[1:2] == ['drive']:
        del sys.argv[1]
        sys.exit(drive())
    sys.exit(main())
