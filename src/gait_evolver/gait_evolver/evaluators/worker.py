# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Main function of a local worker process, which answers messages from a socket."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
import signal
import socket
import sys
from typing import Any

import numpy as np

from gait_core.errors import ConfigurationError
from gait_core.processes import liveness
from gait_core.processes.compiling import announce_compiling, mark_compiling
from gait_core.processes.orphans import end_with_parent
from gait_core.trial.failures import describe_exception, is_resource_shortage
from gait_evolver.evaluators.channel import receive_message, send_message

Work = Callable[[Any], Any]
"""Function that turns a message into an answer; both are JSON data."""
DONE, REFUSED, RAISED, SHORTAGE = 'done', 'refused', 'raised', 'shortage'
"""Kinds of answers: a result, an error of the user, an exception, a shortage of the machine."""


def main(channel: socket.socket, memory: Any, parent: int, announce: bool, work: Work) -> None:
    """
    Answer each ``(index, message)`` with ``(index, kind, answer or text)``.

    The process ends when the other side of the socket is closed, or with its parent.

    Parameters
    ----------
    channel : socket
    memory : array of ``liveness.PULSE_SIZE`` integers
        Memory of ``gait_core.processes.liveness``, shared with the parent.
    parent : int
        Process id of the parent.
    announce : bool
        Print a line on standard error if kernels are compiled.
    work : callable
        See ``WorkerPool``.

    """
    end_with_parent(parent)
    # Ctrl-C and a closed terminal signal the whole process group; only the pool ends its workers.
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGHUP})
    liveness.use_shared_memory(np.frombuffer(memory, dtype=np.int64))
    mark_compiling()
    if announce:
        announce_compiling(_print_line)
    try:
        while True:
            liveness.set_activity(liveness.IDLE)
            index, message = receive_message(channel)
            liveness.set_activity(liveness.STARTING)
            send_message(channel, (index, *run_work(work, message)))
    except (EOFError, OSError):
        return


def _print_line(line: str) -> None:
    # A closed terminal must not raise an exception in the work.
    with suppress(OSError, ValueError):
        print(f'gait: {line}', file=sys.stderr, flush=True)


def run_work(work: Work, message: Any) -> tuple[str, Any]:
    """Return the kind of answer and the answer, or the text of an exception."""
    # BaseException: a user's code may also call sys.exit.
    try:
        return DONE, work(message)
    except BaseException as error:
        if is_resource_shortage(error):
            kind = SHORTAGE
        elif isinstance(error, ConfigurationError):
            kind = REFUSED
        else:
            kind = RAISED
        return kind, describe_exception(error)
