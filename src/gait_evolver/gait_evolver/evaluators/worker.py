"""Entry point of a local worker process: runs trials from a socket, one at a time."""

from __future__ import annotations

# Slow modules are imported after `end_with_parent`: a parent that is killed while the worker is
# still importing must not leave it behind.
from contextlib import suppress
import signal
import socket
import sys
from typing import Any

from gait_core.processes.orphans import end_with_parent

DONE, REFUSED, SHORTAGE = 'done', 'refused', 'shortage'
"""Kinds of answers: the result of a trial, a user's mistake, a shortage of the machine."""


def main(channel: socket.socket, memory: Any, parent: int, announce: bool) -> None:
    """
    Answer each ``(index, plain spec)`` with ``(index, kind, plain result or text)``.

    The process ends when the other side of the socket is closed, or with its parent.

    Parameters
    ----------
    channel : socket
    memory : array of ``pulse.SIZE`` integers
        Memory of ``gait_core.processes.liveness``, shared with the parent.
    parent : int
        Process id of the parent.
    announce : bool
        Print a line on standard error if kernels are compiled.

    """
    end_with_parent(parent)
    # Ctrl-C and a closed terminal reach the whole process group; the evaluator decides what
    # becomes of its workers.
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGHUP})
    import numpy as np

    from gait_core.processes import liveness
    from gait_core.processes.compiling import announce_compiling, show_compiling
    from gait_evolver.evaluators.channel import receive, send

    liveness.share(np.frombuffer(memory, dtype=np.int64))
    show_compiling()
    if announce:
        announce_compiling(_say)
    try:
        while True:
            liveness.enter(liveness.IDLE)
            index, spec = receive(channel)
            send(channel, (index, *_answer(spec)))
    except (EOFError, OSError):
        return


def _say(line: str) -> None:
    # A closed terminal must not become an exception of the trial.
    with suppress(OSError, ValueError):
        print(f'gait: {line}', file=sys.stderr, flush=True)


def _answer(plain_spec: Any) -> tuple[str, Any]:
    from gait_core.errors import ConfigurationError
    from gait_core.parameters.plain_data import plain
    from gait_core.parameters.schema import read_value
    from gait_core.processes import liveness
    from gait_core.trial.failures import describe_exception, exception_result, is_shortage
    from gait_core.trial.loop import load_parts, run_trial
    from gait_core.trial.spec import TrialSpec

    spec = read_value(TrialSpec, plain_spec)
    # BaseException: a user's code may also call sys.exit.
    try:
        liveness.enter(liveness.STARTING)
        load_parts(spec)
    except BaseException as error:
        if is_shortage(error):
            return SHORTAGE, describe_exception(error)
        if isinstance(error, ConfigurationError):
            return REFUSED, describe_exception(error)
        return DONE, plain(exception_result(spec, error))
    try:
        liveness.enter(liveness.RUNNING)
        result = run_trial(spec)
    except BaseException as error:
        if is_shortage(error):
            return SHORTAGE, describe_exception(error)
        result = exception_result(spec, error)
    return DONE, plain(result)
