# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Exceptions in a trial: distinction from resource shortages, and description in one line."""

from __future__ import annotations

import errno
from pathlib import Path
import sysconfig
import traceback

from gait_core.errors import ConfigurationError, one_line, read_message, shorten
from gait_core.trial.loop import result_without_ticks
from gait_core.trial.spec import EXCEPTION, TrialResult, TrialSpec

# Characters of an exception's own message.
_MAX_EXCEPTION = 150
_SHORTAGE_CODES = (errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EDQUOT, errno.EIO)

SUITE_PACKAGES = (
    'gait_core',
    'gait_cpg',
    'gait_evolver',
    'gait_ros',
    'gait_stage_walk',
    'gait_studies',
    'gait_tools',
    'sim_bridge',
)
"""Packages of this project; frames outside them are code that a user added."""


def is_resource_shortage(error: BaseException) -> bool:
    """Return whether memory, open files or disk space ran out: no fault of the trial."""
    return isinstance(error, MemoryError) or (
        isinstance(error, OSError) and error.errno in _SHORTAGE_CODES
    )


def exception_result(spec: TrialSpec, error: BaseException) -> TrialResult:
    """Return the result of a trial whose code raised an exception."""
    return result_without_ticks(spec, EXCEPTION, describe_exception(error))


def describe_exception(error: BaseException) -> str:
    """
    Return one line with the type, the message and the source line of an exception.

    The line is the innermost one in code that a user added, else in this project. A
    ConfigurationError gives its message alone, which names the wrong value.
    """
    message = read_message(error)
    if isinstance(error, ConfigurationError):
        return message
    text, name = shorten(message, _MAX_EXCEPTION), type(error).__name__
    return one_line(f'{name}{text and ": "}{text} ({_source_line(error)})')


def is_from_added_code(error: BaseException) -> bool:
    """Return whether an exception comes out of code that a user added."""
    if isinstance(error, SyntaxError) and error.filename:
        return not _is_suite_file(error.filename)
    return any(not _is_suite_file(frame.filename) for frame in _frames_outside_libraries(error))


def _source_line(error: BaseException) -> str:
    if isinstance(error, SyntaxError) and error.filename:
        return f'{error.filename}:{error.lineno}'
    own = _frames_outside_libraries(error)
    added = [frame for frame in own if not _is_suite_file(frame.filename)]
    frames = added or own or traceback.extract_tb(error.__traceback__)
    if not frames:
        return 'source line unknown'
    return f'{frames[-1].filename}:{frames[-1].lineno}, in {frames[-1].name}'


def _is_suite_file(file: str) -> bool:
    return bool(set(SUITE_PACKAGES) & set(Path(file).parts))


def _frames_outside_libraries(error: BaseException) -> list[traceback.FrameSummary]:
    """Return the frames of an exception outside of Python's own and installed libraries."""
    libraries = [Path(sysconfig.get_path(name)) for name in ('stdlib', 'purelib', 'platlib')]
    return [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not any(Path(frame.filename).is_relative_to(folder) for folder in libraries)
        and not frame.filename.startswith('<')
    ]
