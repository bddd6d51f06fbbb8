# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Regular expressions of joint names, with a bound on their search time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import re
import sys
from typing import Any, TypeVar

from gait_core.errors import ConfigurationError, excerpt, unknown_name_error
from gait_core.parameters.schema import Location

if sys.version_info >= (3, 11):
    from re import _constants, _parser  # type: ignore[attr-defined]
else:
    import sre_constants as _constants
    import sre_parse as _parser

ValueT = TypeVar('ValueT')

_MAX_ATTEMPTS = 1_000_000
"""Largest number of ways to match one name; a search tries all of them in the worst case."""
_REPETITIONS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT)
_LOOKAROUNDS = (_constants.ASSERT, _constants.ASSERT_NOT)


def match_names(pattern: str, names: Sequence[str], owner: str) -> list[str]:
    """
    Return the names that a name or regular expression matches in full, at least one.

    Raises
    ------
    ConfigurationError
        If no name matches (with the nearest name), or the expression is not valid or might search
        for a very long time, as one with nested repetitions.

    """
    if pattern in names:
        return [pattern]
    subject = f"{owner}: '{excerpt(pattern)}'"
    try:
        parsed = _parser.parse(pattern)
        if _max_attempts(parsed, max(map(len, names), default=0)) > _MAX_ATTEMPTS:
            raise ConfigurationError(
                f'{subject}: the search for it may never end; nearest valid: a pattern without '
                "nested repetitions, e.g. '.*_hip'"
            )
        found = [name for name in names if re.fullmatch(pattern, name)]
    except (re.error, OverflowError, RecursionError) as error:
        raise ConfigurationError(f'{subject} is not a regular expression: {error}') from error
    if not found:
        raise ConfigurationError(f'{owner}: {unknown_name_error("joint", pattern, names)}')
    return found


def expand_patterns(
    values: Mapping[str, ValueT], names: Iterable[str], location: Location
) -> dict[str, ValueT]:
    """
    Return the values of patterns by the names that they match, in the order of the names.

    The last of several patterns that match a name holds. ConfigurationError as ``match_names``.
    """
    known = list(names)
    found: dict[str, ValueT] = {}
    for pattern, value in values.items():
        for name in match_names(pattern, known, (location / pattern).owner):
            found[name] = value
    return {name: found[name] for name in known if name in found}


def _max_attempts(parsed: Any, length: int) -> int:
    """
    Return an upper bound of the number of ways to match a text of a length.

    A backtracking search tries all of them in the worst case. Parts in sequence multiply;
    alternatives add up; a repetition of n ways matches up to ``length`` times, (n + 1)^length.
    """
    tries = 1
    for kind, argument in parsed:
        if kind in _REPETITIONS:
            low, high, inner = argument
            # Each repetition takes at least one character.
            each, times = _max_attempts(inner, length), min(high, max(length, low))
            # The cap of 2^64 keeps the numbers small; it is far above any limit.
            tries *= times + 1 if each == 1 else min((each + 1) ** min(times, 64), 2**64)
        elif kind is _constants.BRANCH:
            tries *= sum(_max_attempts(branch, length) for branch in argument[1])
        elif kind is _constants.SUBPATTERN:
            tries *= _max_attempts(argument[-1], length)
        elif kind in _LOOKAROUNDS:
            tries *= _max_attempts(argument[1], length)
        tries = min(tries, 2**64)
    return tries
