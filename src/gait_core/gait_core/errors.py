"""The suite's exceptions, and the nearest valid name that their messages offer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import difflib
from typing import Any


class ConfigurationError(ValueError):
    """A user's mistake: the message names the value and the nearest valid one."""


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
        Those that a rollout reached before; none of a single step.

    """

    def __init__(self, reason: str, states: Sequence[Any] = ()) -> None:
        super().__init__(reason)
        self.states = states


class ProtocolError(RuntimeError):
    """Calls in an order that the contract forbids, e.g. ``tell`` before ``ask``."""


def nearest(name: str, valid: Iterable[str]) -> str:
    """
    Return a hint that names the valid string nearest to a wrong one.

    Examples
    --------
    >>> nearest('guro', ['guroo', 'a1'])
    "did you mean 'guroo'? valid: a1, guroo"

    """
    names = sorted(set(valid))
    if not names:
        return 'none is available'
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.4)
    listed = ', '.join(names) if len(names) <= 12 else ', '.join(names[:12]) + ', ...'
    return f"did you mean '{close[0]}'? valid: {listed}" if close else f'valid: {listed}'


def unknown(kind: str, name: str, valid: Iterable[str]) -> ConfigurationError:
    """Return the error for an unknown name of some kind, with the nearest valid one."""
    return ConfigurationError(f"unknown {kind} '{name}': {nearest(name, valid)}")
