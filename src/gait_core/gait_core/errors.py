# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Exceptions of the suite, and the quotations and suggestions in their messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import difflib
import re
from typing import Any

_MAX_QUOTED = 200
_MAX_MESSAGE = 2000
# Quoted parts of a message: an overlong word, or text between quotes or brackets.
_LONG_QUOTATION = re.compile(
    r"""\S{201,}|(?<!\w)(?:'[^']{201,}|"[^"]{201,}|\[[^\]]{201,}|\{[^}]{201,})"""
)


class ConfigurationError(ValueError):
    """
    A user's mistake: the message names the value and the nearest valid one.

    It keeps at most 200 characters of each quotation and 2000 in all.

    Examples
    --------
    >>> len(str(ConfigurationError('no file ' + 100000 * 'a')))
    211

    """

    def __init__(self, message: object = '') -> None:
        # Quoted text may contain line breaks; the message is one line.
        text = ' '.join(str(message).splitlines())
        if len(text) > _MAX_QUOTED:
            text = _LONG_QUOTATION.sub(lambda found: found[0][:_MAX_QUOTED] + '...', text)[
                :_MAX_MESSAGE
            ]
        super().__init__(text)


class NotInstalled(ConfigurationError):
    """A library or data package that is needed cannot be imported here."""


class BadCommand(ConfigurationError):
    """Joint targets that cannot be applied: repeated joint, wrong length, not finite."""


class SimulationDiverged(RuntimeError):
    """
    The physics left the finite or plausible range.

    Attributes
    ----------
    states : sequence of Observation
        States that a rollout reached before; empty for a single step.

    """

    def __init__(self, reason: str, states: Sequence[Any] = ()) -> None:
        super().__init__(reason)
        self.states = states


class ProtocolError(RuntimeError):
    """Calls in an order that the contract forbids, e.g. ``tell`` before ``ask``."""


class RunStopped(RuntimeError):
    """
    An evolution that ended early and can be resumed.

    Attributes
    ----------
    trial : str
        Name of a trial that the user may skip when resuming; empty if no trial is at fault.

    """

    trial = ''


class NoWorkers(RunStopped):
    """Workers are lost and no trial finishes, or no worker sends a heartbeat."""


class DeadlyTrial(RunStopped):
    """
    A trial that ended several workers while others passed.

    Attributes
    ----------
    index : int
        Index of the trial in the batch of the evaluator.
    reasons : sequence of str
        Reason of each lost worker, in order.

    """

    def __init__(self, index: int, reasons: Sequence[str]) -> None:
        super().__init__(f'trial {index} ended {len(reasons)} workers, the last: {reasons[-1]}')
        self.index, self.reasons = index, tuple(reasons)


def excerpt(value: object) -> str:
    r"""
    Return a quotation of a foreign value: one line of at most 200 characters.

    Examples
    --------
    >>> excerpt('knee\n')
    'knee\\n'
    >>> len(excerpt('a' * 1000000))
    224

    """
    text = str(value)
    short = _printable(text[:_MAX_QUOTED])[:_MAX_QUOTED]
    return short if len(text) <= _MAX_QUOTED else f'{short}... ({len(text)} characters)'


def _printable(text: str) -> str:
    if text.isprintable():
        return text
    return ''.join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def describe_error(error: BaseException) -> str:
    """
    Return the message of an error, with its type unless it is a user's mistake.

    Examples
    --------
    >>> describe_error(ConfigurationError('mass is -1 kg, expected more than 0'))
    'mass is -1 kg, expected more than 0'
    >>> describe_error(KeyError('knee'))
    "KeyError: 'knee'"

    """
    if isinstance(error, ConfigurationError):
        return _printable(' '.join(str(error).split()))[:_MAX_MESSAGE]
    if isinstance(error, OSError) and error.strerror:
        file = f': {excerpt(error.filename)}' if error.filename is not None else ''
        return f'{error.strerror}{file}'
    message = excerpt(error)
    return f'{type(error).__name__}: {message}' if message else type(error).__name__


def name_hint(name: str, valid: Iterable[str], prefix: str = '') -> str:
    """
    Return a hint that names the valid string nearest to a wrong one.

    Parameters
    ----------
    name : str
    valid : iterable of str
    prefix : str
        Put in front of the nearest name.

    Examples
    --------
    >>> name_hint('guro', ['guroo', 'a1'])
    "did you mean 'guroo'? valid: a1, guroo"
    >>> name_hint('fricton', ['friction'], 'scene.')
    "did you mean 'scene.friction'? valid: friction"

    """
    names = sorted({excerpt(name) for name in valid})
    if not names:
        return 'none is available'
    close = difflib.get_close_matches(excerpt(name), names, n=1, cutoff=0.4)
    listed = ', '.join(names) if len(names) <= 12 else ', '.join(names[:12]) + ', ...'
    return f"did you mean '{prefix}{close[0]}'? valid: {listed}" if close else f'valid: {listed}'


def unknown_name_error(kind: str, name: str, valid: Iterable[str]) -> ConfigurationError:
    """Return the error for an unknown name of some kind, with the nearest valid one."""
    return ConfigurationError(f"unknown {kind} '{excerpt(name)}': {name_hint(name, valid)}")
