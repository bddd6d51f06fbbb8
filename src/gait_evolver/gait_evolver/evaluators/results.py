"""Results of trials that no engine could finish."""

from __future__ import annotations

from gait_core.canonical import sha256_of
from gait_core.fingerprint import fingerprint
from gait_core.trial_spec import TrialResult, TrialSpec


def unfinished(spec: TrialSpec, status: str, reason: str) -> TrialResult:
    """Return the result of a trial without a single tick, whose status may not win."""
    return TrialResult(
        status=status,
        metrics={},
        terms={},
        fitness=None,
        trial_hash='',
        spec_hash=sha256_of(spec),
        fingerprint=fingerprint(),
        ticks=0,
        reason=reason,
    )
