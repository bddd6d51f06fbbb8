# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Exceptions of the suite, and the quotations and suggestions in their messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import difflib
import re
from typing import Any

# Distributions of requirements-optional.txt by the module that each brings.
OPTIONAL_LIBRARIES = {
    'cma': 'cma',
    'mujoco': 'mujoco',
    'optuna': 'optuna',
    'plotly': 'plotly',
    'pybullet': 'pybullet',
    'pybullet_data': 'pybullet',
    'pymoo': 'pymoo',
    'rosbags': 'rosbags',
    'sklearn': 'scikit-learn',
    'threadpoolctl': 'threadpoolctl',
}
EXTRA_LIBRARIES = {'ray': 'ray'}
"""Extras by the module that each brings: ``requirements-<extra>.txt``."""

_MAX_QUOTED = 80
_MAX_PATH = 200
_MAX_LISTED = 12
# With the name of the command or node before it, a printed line has at most 300 characters.
_MAX_MESSAGE = 280
# Quoted parts of a message: an overlong word, or text between quotes or brackets.
_LONG_QUOTATION = re.compile(
    r"""\S{81,}|(?<!\w)(?:'[^']{81,}|"[^"]{81,}|\[[^\]]{81,}|\{[^}]{81,})"""
)


class ConfigurationError(ValueError):
    """
    A user's mistake: the message names the value and the nearest valid one.

    It is one line of at most 280 characters, as ``one_line`` makes it.
    """

    def __init__(self, message: object = '') -> None:
        super().__init__(one_line(message))


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


class RunCancelled(Exception):
    """The end of an evolution that was asked for; it can be resumed."""


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


def one_line(message: object) -> str:
    """
    Return a message as one line of at most 280 characters.

    If it is longer, its quotations and words are shortened to 80 characters, absolute paths to
    200; then its end is cut.

    Examples
    --------
    >>> one_line('no file ' + 100000 * 'a' + '.yaml')[50:]
    'aaaaaaaaaa...aaaaaaaaaaaaaaaaaaaa.yaml'

    """
    text = _printable(' '.join(str(message).splitlines()))
    if len(text) > _MAX_MESSAGE:
        text = _LONG_QUOTATION.sub(_shorten_quotation, text)
    return text if len(text) <= _MAX_MESSAGE else f'{text[: _MAX_MESSAGE - 3]}...'


def _shorten_quotation(match: re.Match[str]) -> str:
    return shorten(match[0], _quotation_limit(match[0].lstrip('\'"')))


def _quotation_limit(text: str) -> int:
    return _MAX_PATH if text.startswith('/') else _MAX_QUOTED


def excerpt(value: object) -> str:
    r"""
    Return a quotation of a foreign value: one line of about 80 characters; of a path, 200.

    Examples
    --------
    >>> excerpt('knee\n')
    'knee\\n'
    >>> excerpt('a' * 1000000)[48:]
    'aaaa...aaaaaaaaaaaaaaaaaaaaaaaaa (1000000 characters)'

    """
    text = str(value)
    limit = _quotation_limit(text)
    short = shorten(_printable(shorten(text, limit)), limit)
    return short if len(text) <= limit else f'{short} ({len(text)} characters)'


def shorten(text: str, limit: int) -> str:
    """Return a text; of one longer than ``limit`` characters its start, dots and its end."""
    if len(text) <= limit:
        return text
    tail = (limit - 3) // 3
    return f'{text[: limit - 3 - tail]}...{text[-tail:]}'


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
        return one_line(' '.join(str(error).split()))
    if isinstance(error, OSError) and error.strerror:
        file = f': {excerpt(error.filename)}' if error.filename is not None else ''
        return f'{error.strerror}{file}'
    message = one_line(read_message(error))
    return f'{type(error).__name__}: {message}' if message else type(error).__name__


def read_message(error: BaseException) -> str:
    """Return the message of an error in one line; that of a user's class may raise another."""
    try:
        return ' '.join(str(error).split())
    except Exception:
        return 'its message cannot be read'


def describe_import_error(error: ImportError) -> str:
    """
    Return the message of a failed import; it says how an optional library is installed.

    Examples
    --------
    >>> describe_import_error(ModuleNotFoundError("No module named 'cma'", name='cma'))
    "No module named 'cma' (pip install cma)"

    """
    return f'{error}{install_hint(error.name or "")}'


def install_hint(module: str) -> str:
    """Return the command, in brackets, that installs an optional module; '' for any other."""
    top = module.partition('.')[0]
    if top in EXTRA_LIBRARIES:
        extra = EXTRA_LIBRARIES[top]
        return f' (make setup EXTRAS={extra}, or pip install -r requirements-{extra}.txt)'
    distribution = OPTIONAL_LIBRARIES.get(top)
    return f' (pip install {distribution})' if distribution else ''


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
    listed = list_names(names, 75 if close else 150)
    return f"did you mean '{prefix}{close[0]}'? valid: {listed}" if close else f'valid: {listed}'


def list_names(names: Sequence[str], length: int = 150) -> str:
    """Return the first names with commas: at most twelve, and about ``length`` characters."""
    count = 1
    while count < min(len(names), _MAX_LISTED) and len(', '.join(names[: count + 1])) <= length:
        count += 1
    return ', '.join([*names[:count], *(['...'] if count < len(names) else [])])


def unknown_name_error(kind: str, name: str, valid: Iterable[str]) -> ConfigurationError:
    """Return the error for an unknown name of some kind, with the nearest valid one."""
    return ConfigurationError(f"unknown {kind} '{excerpt(name)}': {name_hint(name, valid)}")


def unknown_leg_error(name: str, legs: Iterable[str]) -> ConfigurationError:
    """Return the error for a name ``<quantity>.<leg>`` whose leg a robot lacks."""
    quantity, _, leg = name.partition('.')
    hint = name_hint(leg, legs, f'{excerpt(quantity)}.')
    return ConfigurationError(f"unknown leg in '{excerpt(name)}': {hint}")
