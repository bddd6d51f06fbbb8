"""Exceptions in a trial: the trial's status where its own code raised them, else the machine's."""

from __future__ import annotations

import errno
from pathlib import Path
import sysconfig
import traceback

from gait_core.errors import ConfigurationError, excerpt
from gait_core.trial import unfinished
from gait_core.trial_spec import EXCEPTION, TrialResult, TrialSpec

_SHORTAGES = (errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EDQUOT, errno.EIO)

_SUITE = ('gait_core', 'gait_ros', 'gait_evolver', 'sim_bridge')
"""Packages whose frames lie below whatever a user added."""


def is_shortage(error: BaseException) -> bool:
    """Return whether the machine ran out of memory, files or disk: the trial is not to blame."""
    return isinstance(error, MemoryError) or (
        isinstance(error, OSError) and error.errno in _SHORTAGES
    )


def exception_result(spec: TrialSpec, error: BaseException) -> TrialResult:
    """Return the result of a trial whose code raised an exception."""
    return unfinished(spec, EXCEPTION, describe_exception(error))


def describe_exception(error: BaseException) -> str:
    """
    Return one line with the type, the message and the place of an exception.

    The place is the innermost one in code that a user added, else in the suite. A
    ConfigurationError is its message alone: it names the value that is wrong.
    """
    try:
        said = str(error)
    except Exception:
        said = 'its message cannot be read'
    if isinstance(error, ConfigurationError):
        return said
    text = excerpt(' '.join(said.split()))
    name = type(error).__name__
    return f'{name}: {text} ({_place(error)})' if text else f'{name} ({_place(error)})'


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    if isinstance(error, SyntaxError) and error.filename:
        return f'{error.filename}:{error.lineno}'
    if not frames:
        return 'no place known'
    libraries = [Path(sysconfig.get_path(name)) for name in ('stdlib', 'purelib', 'platlib')]
    own = [
        frame
        for frame in frames
        if not any(Path(frame.filename).is_relative_to(folder) for folder in libraries)
        and not frame.filename.startswith('<')
    ]
    added = [one for one in own if not set(_SUITE) & set(Path(one.filename).parts)]
    frame = (added or own or frames)[-1]
    return f'{frame.filename}:{frame.lineno}, in {frame.name}'
