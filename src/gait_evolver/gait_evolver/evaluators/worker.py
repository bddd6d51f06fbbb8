"""A process of the local evaluator: trials from a socket, one at a time."""

from __future__ import annotations

# Nothing slow is imported before the process is bound to its parent.
from contextlib import suppress
import signal
import socket
import sys
from typing import Any

from gait_core.orphans import end_with_parent

DONE, REFUSED, SHORTAGE = 'done', 'refused', 'shortage'
"""How a trial was answered: with its result, a mistake of the user, a shortage of the machine."""


def main(channel: socket.socket, memory: Any, parent: int, announce: bool) -> None:
    """
    Answer each ``(index, plain spec)`` with ``(index, how, plain result or text)``.

    The process ends when the other side of the socket is closed, and with its parent.

    Parameters
    ----------
    channel : socket
    memory : array of ``pulse.SIZE`` whole numbers
        Shared with the parent, which sees by it that the process is alive.
    parent : int
        Process id.
    announce : bool
        Say on standard error that kernels are compiled, where they are.

    """
    end_with_parent(parent)
    # Ctrl-C and a closed terminal reach the whole process group; the evaluator decides what
    # becomes of its workers.
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGHUP})
    import numpy as np

    from gait_core import pulse
    from gait_core.compiling import announce_compiling, show_compiling
    from gait_evolver.evaluators.channel import receive, send

    pulse.share(np.frombuffer(memory, dtype=np.int64))
    show_compiling()
    if announce:
        announce_compiling(_say)
    try:
        while True:
            pulse.enter(pulse.IDLE)
            index, spec = receive(channel)
            send(channel, (index, *_answer(spec)))
    except (EOFError, OSError):
        return


def _say(line: str) -> None:
    # A terminal that is gone must not become an exception of the trial.
    with suppress(OSError, ValueError):
        print(f'gait: {line}', file=sys.stderr, flush=True)


def _answer(plain_spec: Any) -> tuple[str, Any]:
    from gait_core import pulse
    from gait_core.canonical import plain, rebuild
    from gait_core.errors import ConfigurationError
    from gait_core.failures import describe_exception, exception_result, is_shortage
    from gait_core.trial import load_parts, run_trial
    from gait_core.trial_spec import TrialSpec

    spec = rebuild(TrialSpec, plain_spec)
    # A user's code may end in any exception, also that of sys.exit.
    try:
        pulse.enter(pulse.STARTING)
        load_parts(spec)
    except BaseException as error:
        if is_shortage(error):
            return SHORTAGE, describe_exception(error)
        if isinstance(error, ConfigurationError):
            return REFUSED, describe_exception(error)
        return DONE, plain(exception_result(spec, error))
    try:
        pulse.enter(pulse.RUNNING)
        result = run_trial(spec)
    except BaseException as error:
        if is_shortage(error):
            return SHORTAGE, describe_exception(error)
        result = exception_result(spec, error)
    return DONE, plain(result)
