"""Names that do not match: the first mismatch, and the prefix that would mend it."""

from __future__ import annotations

from collections.abc import Sequence

from gait_core.errors import ConfigurationError, excerpt, nearest


def unmatched(kind: str, received: Sequence[str], valid: Sequence[str]) -> ConfigurationError:
    """
    Return the error for received names of which at least one is not valid.

    Examples
    --------
    >>> print(unmatched('joint', ['lf_hip', 'lf_knee'], ['hip', 'knee']))
    unknown joint 'lf_hip': every name fits without the prefix 'lf_'; valid: hip, knee
    >>> print(unmatched('joint', ['hip', 'kne'], ['hip', 'knee']))
    unknown joint 'kne': did you mean 'knee'? valid: hip, knee

    """
    wrong = next(name for name in received if name not in valid)
    shown = excerpt(wrong)
    listed = ', '.join(valid)
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
    return ConfigurationError(f"unknown {kind} '{shown}': {nearest(wrong, valid)}")
