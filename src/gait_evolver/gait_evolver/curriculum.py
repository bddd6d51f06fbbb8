# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Progression of a run through its curriculum and stopping rules."""

from __future__ import annotations

from collections.abc import Callable
import time

from gait_evolver.experiment import Experiment


class RunProgression:
    """
    Present stage of a run, and the rules that end the stage or the run.

    It depends on the recorded generations alone, except for the rule of wall time, so that a
    resumed run enters its stages at the same generations.

    Parameters
    ----------
    experiment : Experiment
    clock : callable
        Returns a time [s].

    Attributes
    ----------
    stage : int
        Index of the stage; one beyond the last stage: the experiment as written.

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
        """True after the last stage of the curriculum: the experiment is run as written."""
        return self.stage == len(self._stages)

    def enter_next_stage(self) -> bool:
        """Enter the next stage if the last generation ended the present; return whether it did."""
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
            Best fitness of its candidates; None if none of them has one.
        best : float or None
            Best fitness since the stage began.

        """
        self._stage_generations += 1
        is_better = best is not None and (self._best is None or best > self._best)
        self._stagnant_generations = 0 if is_better else self._stagnant_generations + 1
        self._best = best if is_better else self._best
        if not self.is_last_stage:
            stage = self._stages[self.stage]
            is_reached = stage.fitness is not None and (
                generation_best is not None and generation_best >= stage.fitness
            )
            self._stage_passed = is_reached or (0 < stage.generations <= self._stage_generations)

    def stop_reason(self, trials: int) -> str:
        """
        Return the rule that ends the run after a number of trials, or an empty string.

        Fitness and stagnation count in the last stage only: an easier stage ends by its own rule.
        """
        rules = self._rules
        goal = rules.fitness
        if self.is_last_stage and not self._stage_passed:
            if goal is not None and self._best is not None and self._best >= goal:
                return f'a fitness of {goal:g} was reached'
            if 0 < rules.stagnation <= self._stagnant_generations:
                return f'no better candidate in {rules.stagnation} generations'
        if 0 < rules.trials <= trials:
            return f'{rules.trials} trials were run'
        if 0.0 < rules.wall_time <= self._clock() - self._start_time:
            return f'the wall time of {rules.wall_time:g} s has passed'
        return ''
