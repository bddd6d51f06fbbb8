"""What an evaluator's workers were offered, and what of it they spent in trials."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Workload:
    """
    Sums since an evaluator began.

    Attributes
    ----------
    busy : float [s]
        In trials whose result was used, as the workers measured it.
    offered : float [s]
        Wall time of calls, times the workers that were there.
    lost_trials : int
        Begun on a worker that was lost.

    """

    busy: float = 0.0
    offered: float = 0.0
    lost_trials: int = 0

    @property
    def efficiency(self) -> float:
        """Share of the offered time that was spent in trials, in [0, 1]; 0 before any."""
        return min(1.0, self.busy / self.offered) if self.offered > 0.0 else 0.0
