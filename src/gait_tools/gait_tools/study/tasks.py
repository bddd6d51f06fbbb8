"""Independent pieces of work on several processes; what is done stands in a file."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import closing
import json
import multiprocessing
import os
from pathlib import Path
import signal
import sys
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

from gait_core.errors import ConfigurationError
from gait_core.files.access import DATA_LIMIT, read_text, write_atomically
from gait_core.processes.orphans import end_with_parent

Piece = TypeVar('Piece')


def work_off(
    work: Callable[[Piece], Any], pieces: Mapping[str, Piece], file: Path, workers: int
) -> dict[str, Any]:
    """
    Return what became of each piece, by its key; pieces whose result stands in the file are read.

    Parameters
    ----------
    work : callable
        A function of a module, of one piece; returns what JSON can hold.
    pieces : mapping
        By a key that says all that a result depends on.
    file : Path
        One line per result, in the order of completion.
    workers : int
        Processes; one BLAS thread each.

    Raises
    ------
    ConfigurationError
        Where a line before the last one cannot be read.

    """
    done = _read(file)
    missing = {key: piece for key, piece in pieces.items() if key not in done}
    if missing:
        file.parent.mkdir(parents=True, exist_ok=True)
        # Closed at once when interrupted: else the processes would work off what is queued.
        with (
            file.open('a', encoding='utf-8') as lines,
            closing(_results(work, missing, workers)) as results,
        ):
            for number, (key, value) in enumerate(results, 1):
                print(json.dumps({'key': key, 'value': value}), file=lines, flush=True)
                done[key] = value
                if number % 100 == 0:
                    print(f'gait: {number} of {len(missing)}', file=sys.stderr, flush=True)
    # As the file has them: a result is the same whether it was read or worked out.
    return {key: json.loads(json.dumps(done[key])) for key in pieces}


def _results(
    work: Callable[[Piece], Any], pieces: Mapping[str, Piece], workers: int
) -> Generator[tuple[str, Any], None, None]:
    if workers == 1 or len(pieces) == 1:
        with threadpool_limits(1):
            for key, piece in pieces.items():
                yield key, work(piece)
        return
    context = multiprocessing.get_context('spawn')
    with ProcessPoolExecutor(
        workers, context, initializer=_prepare, initargs=(os.getpid(),)
    ) as pool:
        try:
            futures = {pool.submit(work, piece): key for key, piece in pieces.items()}
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _prepare(parent: int) -> None:
    end_with_parent(parent)
    # Ctrl-C and a closed terminal reach the whole process group; the parent decides what becomes
    # of its workers.
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    threadpool_limits(1)


def _read(file: Path) -> dict[str, Any]:
    if not file.exists():
        return {}
    text = read_text(file, DATA_LIMIT)
    whole, _, rest = text.rpartition('\n')
    if rest:
        # A line that a kill cut short is worked out again.
        write_atomically(file, whole + '\n' if whole else '')
    done = {}
    for number, line in enumerate(whole.splitlines(), 1):
        try:
            entry = json.loads(line)
            done[entry['key']] = entry['value']
        except (ValueError, KeyError, RecursionError, TypeError) as error:
            raise ConfigurationError(f'{file}, line {number}: {error}') from error
    return done
