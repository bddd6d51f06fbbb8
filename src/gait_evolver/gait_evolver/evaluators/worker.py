"""What a process of the local evaluator runs: trials from a pipe, one at a time."""

from __future__ import annotations

from multiprocessing.connection import Connection
import signal
import sys
import traceback
from typing import Any

from gait_core.canonical import plain, rebuild
from gait_core.compiling import announce_compiling
from gait_core.trial import run_trial
from gait_core.trial_spec import TrialSpec


def main(pipe: Connection, announce: bool) -> None:
    """
    Answer each ``(index, plain spec)`` with ``(index, plain result, None)``.

    An exception is answered as ``(index, None, (exception, traceback))``. The process ends when
    the other side of the pipe is closed, whatever ended that side. ``announce`` has it say that
    it compiles, where it does.
    """
    # Ctrl-C reaches the whole process group; the evaluator decides what becomes of the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    if announce:
        announce_compiling(lambda line: print(f'gait: {line}', file=sys.stderr, flush=True))
    while True:
        try:
            index, spec = pipe.recv()
        except EOFError:
            return
        try:
            result = run_trial(rebuild(TrialSpec, spec))
            answer: tuple[int, Any, Any] = (index, plain(result), None)
        except Exception as error:
            answer = (index, None, (error, traceback.format_exc()))
        try:
            _send(pipe, answer)
        except OSError:
            return


def _send(pipe: Connection, answer: tuple[int, Any, Any]) -> None:
    try:
        pipe.send(answer)
    except OSError:
        raise
    except Exception:
        # The exception itself cannot be sent: its text still can.
        index, _, (error, text) = answer
        pipe.send((index, None, (RuntimeError(f'{type(error).__name__}: {error}'), text)))
