# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Independent tasks on several processes, with finished results in a file."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from functools import partial
import json
from pathlib import Path
import sys
from typing import Any, TypeVar

from gait_core.errors import ConfigurationError, DeadlyTrial, RunStopped
from gait_core.files.access import DATA_LIMIT, read_text, write_atomically
from gait_core.processes import liveness
from gait_evolver.evaluators.pool import WorkerPool

Task = TypeVar('Task')


def run_tasks(
    function: Callable[[Task], Any], tasks: Mapping[str, Task], file: Path, workers: int
) -> dict[str, Any]:
    """
    Return the result of each task by its key; finished ones are read from the file.

    A task whose worker is lost runs again.

    Parameters
    ----------
    function : callable
        A function defined at module level that takes a task and returns JSON data.
    tasks : mapping
        Tasks by keys that name everything on which a result depends.
    file : Path
        One line per result, in the order of completion.
    workers : int
        Number of processes; each has one BLAS thread.

    Raises
    ------
    ConfigurationError
        If a line before the last one cannot be read, or the function raises it.
    RuntimeError
        If the function raises anything else; RunStopped after repeated losses of workers.

    """
    done = _read_results(file)
    missing = {key: task for key, task in tasks.items() if key not in done}
    if missing:
        file.parent.mkdir(parents=True, exist_ok=True)
        # `closing` ends the processes at once after an interrupt, with tasks still queued.
        with (
            file.open('a', encoding='utf-8') as lines,
            closing(_task_results(function, missing, workers)) as results,
        ):
            for number, (key, value) in enumerate(results, 1):
                print(json.dumps({'key': key, 'value': value}), file=lines, flush=True)
                done[key] = value
                if number % 100 == 0:
                    print(
                        f'gait: {number} of {len(missing)} tasks done', file=sys.stderr, flush=True
                    )
    return {key: done[key] for key in tasks}


def _task_results(
    function: Callable[[Task], Any], tasks: Mapping[str, Task], workers: int
) -> Generator[tuple[str, Any], None, None]:
    """Yield key and result of each task in order of completion."""
    keys = list(tasks)

    def report(index: int | None, reason: str) -> None:
        """Print that a worker was lost."""
        task = '' if index is None else f' in task {keys[index]}'
        print(f'gait: {reason}{task}', file=sys.stderr, flush=True)

    pool = WorkerPool(partial(_run_task, function, tasks), min(workers, len(tasks)))
    try:
        with closing(pool.run(len(keys), keys.__getitem__, report)) as results:
            for index, value in results:
                yield keys[index], value
    except DeadlyTrial as error:
        raise RunStopped(
            f'{len(error.reasons)} workers died in task {keys[error.index]}, the last one: '
            f'{error.reasons[-1]}'
        ) from None
    finally:
        pool.close()


def _run_task(function: Callable[[Task], Any], tasks: Mapping[str, Task], key: str) -> Any:
    """Run a task in a worker process."""
    liveness.set_activity(liveness.WORKING)
    return function(tasks[key])


def _read_results(file: Path) -> dict[str, Any]:
    """Return the results of finished tasks by key; drop a last line that a kill cut short."""
    if not file.exists():
        return {}
    text = read_text(file, DATA_LIMIT)
    whole, _, rest = text.rpartition('\n')
    if rest:
        # A kill cut the last line short: its task runs again.
        write_atomically(file, whole + '\n' if whole else '')
    done = {}
    for number, line in enumerate(whole.splitlines(), 1):
        try:
            entry = json.loads(line)
            done[entry['key']] = entry['value']
        except (ValueError, RecursionError) as error:
            raise ConfigurationError(f'{file}, line {number}: {error}') from error
        except (KeyError, TypeError) as error:
            raise ConfigurationError(
                f"{file}, line {number}: expected an object with 'key' and 'value'"
            ) from error
    return done
