# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Checks of joint names in messages: too many, too long or unknown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gait_core.errors import BadCommand, ConfigurationError, excerpt, list_names, name_hint

MAX_NAME_LENGTH = 255
"""Largest number of characters of a name: longer ones end engines and messages of ROS."""

_MAX_COUNT, _MAX_LISTED = 1000, 5


def check_message_names(names: Sequence[str]) -> None:
    """Raise BadCommand for too many names, or for a name that is too long."""
    if len(names) > _MAX_COUNT:
        raise BadCommand(f'{len(names)} names, expected at most {_MAX_COUNT}')
    longest = max(map(len, names), default=0)
    if longest > MAX_NAME_LENGTH:
        raise BadCommand(f'a name has {longest} characters, expected at most {MAX_NAME_LENGTH}')


def name_fault(name: str) -> str:
    """
    Return the fault of the name of a part of a robot, after the part; '' if it has none.

    Examples
    --------
    >>> name_fault('knee ')
    'has a name that is not printable, or has spaces at its ends'
    >>> name_fault('knee')
    ''

    """
    if len(name) > MAX_NAME_LENGTH:
        return f'has a name of {len(name)} characters, expected at most {MAX_NAME_LENGTH}'
    if not name.isprintable() or name != name.strip():
        return 'has a name that is not printable, or has spaces at its ends'
    return ''


def format_names(names: Iterable[str]) -> str:
    """
    Return the first five names, sorted, for a message.

    Examples
    --------
    >>> format_names('gfedcba')
    'a, b, c, d, e, ...'

    """
    ordered = sorted(names)
    shown = ', '.join(excerpt(name) for name in ordered[:_MAX_LISTED])
    return shown if len(ordered) <= _MAX_LISTED else f'{shown}, ...'


def unknown_names_error(
    kind: str, received: Sequence[str], valid: Sequence[str]
) -> ConfigurationError:
    """
    Return the error for received names, at least one of which is not valid.

    It names a prefix whose removal or addition makes all names valid, else the nearest name.

    Examples
    --------
    >>> print(unknown_names_error('joint', ['lf_hip', 'lf_knee'], ['hip', 'knee']))
    unknown joint 'lf_hip': every name fits without the prefix 'lf_'; valid: hip, knee
    >>> print(unknown_names_error('joint', ['hip', 'kne'], ['hip', 'knee']))
    unknown joint 'kne': did you mean 'knee'? valid: hip, knee

    """
    wrong = next(name for name in received if name not in valid)
    shown = excerpt(wrong)
    listed = list_names(valid)
    for other in valid:
        extra = wrong[: len(wrong) - len(other)] if wrong.endswith(other) else ''
        if extra and all(
            name.startswith(extra) and name[len(extra) :] in valid for name in received
        ):
            return ConfigurationError(
                f"unknown {kind} '{shown}': every name fits without the "
                f"prefix '{extra}'; valid: {listed}"
            )
        lacking = other[: len(other) - len(wrong)] if other.endswith(wrong) else ''
        if lacking and all(lacking + name in valid for name in received):
            return ConfigurationError(
                f"unknown {kind} '{shown}': every name fits with the "
                f"prefix '{lacking}'; valid: {listed}"
            )
    return ConfigurationError(f"unknown {kind} '{shown}': {name_hint(wrong, valid)}")
