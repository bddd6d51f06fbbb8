"""Progress of a run through its curriculum and stopping rules."""

from __future__ import annotations

from collections.abc import Callable
import time

from gait_evolver.experiment import Experiment


class RunProgression:
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
        self._clock, self._start_time = clock, clock()
        self._stage_passed = False
        self._stage_generations = self._stagnant_generations = 0
        self._best: float | None = None

    @property
    def is_last_stage(self) -> bool:
        """True if the experiment is tried as it stands."""
        return self.stage == len(self._stages)

    def enter_next_stage(self) -> bool:
        """Enter the next stage if the last generation ended the one before; tell whether."""
        if not self._stage_passed:
            return False
        self.stage += 1
        self._stage_passed = False
        self._stage_generations = self._stagnant_generations = 0
        self._best = None
        return True

    def count_generation(self, generation_best: float | None, best: float | None) -> None:
        """
        Count a generation.

        Parameters
        ----------
        generation_best : float or None
            Fitness of the best of its individuals.
        best : float or None
            Of the best one since the stage began.

        """
        self._stage_generations += 1
        better = best is not None and (self._best is None or best > self._best)
        self._stagnant_generations = 0 if better else self._stagnant_generations + 1
        self._best = best if better else self._best
        if not self.is_last_stage:
            stage = self._stages[self.stage]
            reached = stage.fitness is not None and (
                generation_best is not None and generation_best >= stage.fitness
            )
            self._stage_passed = reached or (0 < stage.generations <= self._stage_generations)

    def stop_reason(self, trials: int) -> str:
        """Return why the run is over after so many trials; empty while it goes on."""
        rules = self._rules
        wanted = rules.fitness
        if self.is_last_stage and not self._stage_passed:
            if wanted is not None and self._best is not None and self._best >= wanted:
                return f'a fitness of {wanted:g} was reached'
            if 0 < rules.stagnation <= self._stagnant_generations:
                return f'no better individual in {rules.stagnation} generations'
        if 0 < rules.trials <= trials:
            return f'{rules.trials} trials were run'
        if 0.0 < rules.wall_time <= self._clock() - self._start_time:
            return f'{rules.wall_time:g} s are over'
        return ''
