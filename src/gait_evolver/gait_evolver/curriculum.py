"""Progress of a run through its curriculum and stopping rules."""

from __future__ import annotations

from collections.abc import Callable
import time

from gait_evolver.experiment import Experiment


class Course:
    """
    Follows a run generation by generation; all but the wall time depends on its log alone.

    Parameters
    ----------
    experiment : Experiment
    clock : callable
        Returns seconds.

    """

    def __init__(
        self, experiment: Experiment, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.stage = 0
        self._stages, self._rules = experiment.curriculum, experiment.stop
        self._clock, self._began = clock, clock()
        self._passed = False
        self._lasted = self._stale = 0
        self._best: float | None = None

    @property
    def last(self) -> bool:
        """True if the experiment is tried as it stands."""
        return self.stage == len(self._stages)

    def enter(self) -> bool:
        """Enter the next stage if the last generation ended the one before; tell whether."""
        if not self._passed:
            return False
        self.stage += 1
        self._passed = False
        self._lasted = self._stale = 0
        self._best = None
        return True

    def take(self, generation_best: float | None, best: float | None) -> None:
        """
        Count a generation.

        Parameters
        ----------
        generation_best : float or None
            Fitness of the best of its individuals.
        best : float or None
            Of the best one since the stage began.

        """
        self._lasted += 1
        better = best is not None and (self._best is None or best > self._best)
        self._stale = 0 if better else self._stale + 1
        self._best = best if better else self._best
        if not self.last:
            stage = self._stages[self.stage]
            reached = stage.fitness is not None and (
                generation_best is not None and generation_best >= stage.fitness
            )
            self._passed = reached or (0 < stage.generations <= self._lasted)

    def over(self, trials: int) -> str:
        """Return why the run is over after so many trials; empty while it goes on."""
        rules = self._rules
        wanted = rules.fitness
        if self.last and not self._passed:
            if wanted is not None and self._best is not None and self._best >= wanted:
                return f'a fitness of {wanted:g} was reached'
            if 0 < rules.stagnation <= self._stale:
                return f'no better individual in {rules.stagnation} generations'
        if 0 < rules.trials <= trials:
            return f'{rules.trials} trials were run'
        if 0.0 < rules.wall_time <= self._clock() - self._began:
            return f'{rules.wall_time:g} s are over'
        return ''
