# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Verdicts: inputs run in forked children of one warm process, and what is wrong with the end."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
import os
from pathlib import Path
import re
import resource
import select
import signal
import sys
import tempfile
import traceback

from fuzzing.inputs import ACCEPTED, NAMED, PIPE, REFUSED, Input
from fuzzing.readers import run_command

TIME_LIMIT = 20
"""Largest processor time of an input [s]."""
_WALL_LIMIT = 60.0
_MEMORY_LIMIT = 3 * 2**30
LINE_LIMIT = 300
"""Largest number of characters of a refusal."""
MARKER = 'executed'
"""File that planted code writes."""
FAULT = 'ends badly'
ENDS = ('refused', 'accepted', 'failed trial', FAULT)
"""Ends of inputs, as counted in the table."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """
    End of the commands of an input.

    ``codes``, ``outputs`` and ``errors`` are those of each command that ran; ``signal`` is the
    one that ended the process, else 0; ``slow`` and ``executed`` say whether it passed the limit
    of time, and whether planted code ran.
    """

    codes: Sequence[int]
    outputs: Sequence[str]
    errors: Sequence[str]
    signal: int
    slow: bool
    executed: bool


def run_input(case: Input) -> Outcome:
    """Run the commands of an input in a child process, in a new folder with its files."""
    with tempfile.TemporaryDirectory(prefix='fuzz') as name:
        folder = Path(name)
        files = folder / 'in'
        files.mkdir()
        for path, content in case.files.items():
            _write(files / path, content)
        pid = os.fork()
        if pid == 0:
            _run_child(case, files, folder)
        status, slow = _wait(pid)
        count = len(list(folder.glob('out*')))
        codes = [_read(folder / f'code{i}') for i in range(count)]
        return Outcome(
            codes=[int(code) if code else -1 for code in codes],
            outputs=[_read(folder / f'out{i}') for i in range(count)],
            errors=[_read(folder / f'err{i}') for i in range(count)],
            signal=0 if slow else os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
            slow=slow,
            executed=(files / MARKER).exists(),
        )


def _write(path: Path, content: bytes | str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content == PIPE:
        os.mkfifo(path)
    else:
        path.symlink_to(content)


def _read(path: Path) -> str:
    return path.read_text(errors='replace') if path.exists() else ''


def _run_child(case: Input, files: Path, results: Path) -> None:
    """Run the commands and end this process; their output and status go into ``results``."""
    os.setsid()
    os.chdir(files)
    resource.setrlimit(resource.RLIMIT_CPU, (TIME_LIMIT, TIME_LIMIT + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _limit_memory()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, words in enumerate(case.commands):
        for descriptor, name in ((1, 'out'), (2, 'err')):
            target = os.open(results / f'{name}{number}', os.O_WRONLY | os.O_CREAT)
            os.dup2(target, descriptor)
        # The streams of the parent may write elsewhere, as those of a test do.
        sys.stdout, sys.stderr = (open(number, 'w', closefd=False) for number in (1, 2))
        try:
            code = run_command(words)
        except BaseException:
            traceback.print_exc()
            code = 1
        sys.stdout.flush()
        sys.stderr.flush()
        (results / f'code{number}').write_text(str(code))
        # A trial that fell or differs from its record has printed its result.
        if code == 2 or (code and not os.fstat(1).st_size):
            break
    os._exit(0)


def _limit_memory() -> None:
    """Limit the memory of this process to what it has and three gibibytes more."""
    pages = int(Path('/proc/self/statm').read_text().split()[0])
    limit = pages * resource.getpagesize() + _MEMORY_LIMIT
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _wait(pid: int) -> tuple[int, bool]:
    """Wait for a child; return its status and whether it passed the limit of time."""
    handle = os.pidfd_open(pid)
    try:
        ended = bool(select.select([handle], [], [], _WALL_LIMIT)[0])
    finally:
        os.close(handle)
    # Workers of an evolution are in its group, too.
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return status, not ended or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU)


def find_fault(case: Input, outcome: Outcome) -> str:
    """Return what is wrong with the end of an input in one line; '' if nothing is."""
    if outcome.executed:
        return 'code was executed'
    if outcome.slow:
        return f'not done in {TIME_LIMIT} s'
    if outcome.signal:
        return f'killed by {signal.Signals(outcome.signal).name}'
    for error in outcome.errors:
        if 'Traceback (most recent call last)' in error:
            return f'traceback: {_last_frame(error)}'
        if warning := re.search(r'\w+Warning: .*', error):
            return f'a warning of Python: {warning[0][:120]}'
    if not outcome.codes or outcome.codes[-1] not in (0, 1, 2):
        return f'ended with status {[*outcome.codes]}'
    code, said = outcome.codes[-1], ''.join([*outcome.outputs, *outcome.errors])
    if code == 2:
        return _fault_of_refusal(case, outcome)
    if case.expected == REFUSED and code == 0:
        return 'accepted without a word'
    if case.expected == NAMED and case.name not in said:
        return f'accepted, but {case.name[:60]} is not named'
    if case.expected == ACCEPTED and case.unchanged and outcome.outputs[-1] == case.unchanged:
        return 'accepted without an effect'
    return ''


def describe_end(outcome: Outcome, fault: str) -> str:
    """Return the end of an input that has a fault or none."""
    return FAULT if fault else {0: ENDS[1], 1: ENDS[2], 2: ENDS[0]}[outcome.codes[-1]]


def _fault_of_refusal(case: Input, outcome: Outcome) -> str:
    """Return what is wrong with a refusal, or no text if it is one short line on a wrong input."""
    lines = outcome.errors[-1].splitlines()
    if not lines or not lines[-1].startswith('gait: '):
        return 'refused without a line'
    if case.expected == ACCEPTED:
        return f'a valid input is refused: {lines[-1][:LINE_LIMIT]}'
    # Progress and what the command says before are no part of the refusal.
    other = next((line for line in lines if not line.startswith(('gait: ', 'generation '))), '')
    if other:
        return f'a refusal of several lines: {other[-120:]}'
    if len(lines[-1]) > LINE_LIMIT:
        return f'a refusal of {len(lines[-1])} characters: {lines[-1][:120]}'
    passed = outcome.outputs[:-1]
    if passed and case.commands[0][0] == 'check' and 'WARNING' not in passed[0]:
        return f'check accepts what {case.commands[len(passed)][0]} refuses: {lines[-1][:120]}'
    return ''


def _last_frame(error: str) -> str:
    """Return the exception of a traceback and the last line of this project in it."""
    frames = re.findall(r'File "[^"]*?(\w+/\w+\.py)", line (\d+)', error)
    where = ':'.join(frames[-1]) if frames else '?'
    return f'{error.strip().splitlines()[-1][:120]} ({where})'
