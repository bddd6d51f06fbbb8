# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""State of the evaluator ``ray``: its workers, and the trials of a call."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from gait_core.processes import liveness
from gait_core.trial.spec import TrialResult, TrialSpec


@dataclass
class RayWorker:
    """
    Actor as seen from here.

    Attributes
    ----------
    name : str
        Host and process; empty before it runs.
    is_ready : bool
        Whether it has been checked for the trials at hand.
    refusal : str
        Why it cannot run them; such an actor is kept, so that Ray starts others elsewhere.
    trial : (int, int) or None
        Numbers of the batch and of the trial that it runs.
    began : float [s]
        Time of the trial's start.
    activity : int
        Activity by the last pulse of the trial; a constant of ``liveness``.
    heard : float [s]
        Time of its last message on the clock of the evaluator.

    """

    name: str = ''
    is_ready: bool = False
    refusal: str = ''
    trial: tuple[int, int] | None = None
    began: float = 0.0
    activity: int = liveness.RUNNING
    heard: float = 0.0

    @property
    def is_idle(self) -> bool:
        """True if it can run a trial now."""
        return self.is_ready and self.trial is None


@dataclass
class TrialBatch:
    """Trials of one call: those that wait for a worker, and the results by index."""

    number: int
    specs: Sequence[TrialSpec]
    waiting: deque[int]
    results: dict[int, TrialResult] = field(default_factory=dict)
