# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Loop of an evolution: ask, evaluate, record, tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
import time

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.contracts import Candidate, Evaluation, Evaluator
from gait_core.errors import ConfigurationError
from gait_core.trial.champion import Champion
from gait_core.trial.sources import sources_hash
from gait_evolver import __version__
from gait_evolver.curriculum import RunProgression
from gait_evolver.incidents import IncidentHandler, LinePrinter, print_line
from gait_evolver.pareto_front import FrontMember, ParetoFront
from gait_evolver.plan import Plan, TrialIndex
from gait_evolver.run.array_files import ArrayFiles
from gait_evolver.run.files import store_errors
from gait_evolver.run.log import CandidateSummary, TrialRow
from gait_evolver.run.logged_candidates import make_champion
from gait_evolver.run.store import RunStore
from gait_evolver.scoring import (
    BestCandidate,
    evaluate_candidate,
    group_by_candidate,
    group_by_engine,
    make_summary,
    status_and_fitness,
)


@dataclass
class EvolutionProgress:
    """
    Progress of an evolution; passed to the listener after every trial and generation.

    Attributes
    ----------
    generation : int
        Finished generations.
    generations : int
        Generations of the full run.
    trials_done, trials_total : int
        Trials of the present generation.
    evaluations : int
        Trials of all finished generations.
    rate : float [1/s]
        Trials per second in this process; 0 before its first generation.
    efficiency : float
        Share of the workers' time that was spent in trials.
    time_left : float or None [s]
        Estimated time to the last generation; None before the first one of this process.
    stage : int
        Stage of the curriculum.
    first_generation_best : float or None
        Best fitness of generation 0.
    best : BestCandidate or None
        Best candidate of the present stage.
    invalid_counts : Counter of str
        Trials by each status that gives no fitness.
    violation_counts : Counter of str
        Candidates with a fitness that violate each constraint.
    stop_reason : str
        Reason for which the run ended; empty before its end.

    """

    generation: int = 0
    generations: int = 0
    trials_done: int = 0
    trials_total: int = 0
    evaluations: int = 0
    rate: float = 0.0
    efficiency: float = 0.0
    time_left: float | None = None
    stage: int = 0
    first_generation_best: float | None = None
    best: BestCandidate | None = None
    invalid_counts: Counter[str] = field(default_factory=Counter)
    violation_counts: Counter[str] = field(default_factory=Counter)
    stop_reason: str = ''


ProgressListener = Callable[[EvolutionProgress], None]
"""Called with the progress; an exception from it stops the run, which can then be resumed."""


class Evolution:
    """
    One run of an experiment: a plan, its store and an evaluator.

    A resumed run replays its recorded generations: the optimiser is asked and told again, which
    restores its state exactly, and no trial runs.

    Parameters
    ----------
    store : RunStore
    evaluator : Evaluator
    recorded : sequence of sequences of TrialRow
        Finished generations of a resumed run.
    listener : callable
    say : callable
        Prints a line for the user: a lost worker, an exception in a trial.
    skipped : collection of str
        Names of trials to leave out (``TrialIndex.name``).

    Raises
    ------
    ConfigurationError
        If the recorded candidates are not those that the optimiser asks for.

    """

    def __init__(
        self,
        store: RunStore,
        evaluator: Evaluator,
        recorded: Sequence[Sequence[TrialRow]] = (),
        listener: ProgressListener | None = None,
        *,
        say: LinePrinter = print_line,
        skipped: Collection[str] = (),
    ) -> None:
        self._store = store
        self._plan: Plan = store.plan
        self._evaluator = evaluator
        evaluator.log_folder = store.folder
        self._listener = listener or (lambda progress: None)
        self._incidents = IncidentHandler(store, say, skipped)
        self._optimizer = self._plan.make_optimizer()
        self._files = ArrayFiles(store.folder)
        generations = self._plan.experiment.generations
        self.progress = EvolutionProgress(generations=max(generations, len(recorded)))
        self._progression = RunProgression(self._plan.experiment)
        self._front = ParetoFront()
        self._front_changed = False
        self._summaries: list[CandidateSummary] = []
        self._rows_by_genome: dict[tuple[float, ...], list[TrialRow]] = {}
        self._evaluation_time = 0.0
        self._trials_here = self._generations_here = 0
        self._best_candidate: Candidate | None = None
        for generation, rows in enumerate(recorded):
            self._replay_generation(generation, rows)
        self._resumed = bool(recorded)

    def run(self) -> EvolutionProgress:
        """Run to the last generation or until a rule stops the run; return the progress."""
        progress = self.progress
        self._restore_files()
        if self._resumed:
            self._store.rewrite_derived_files(self._summaries)
            self._write_front()
        self._summaries = []
        while not progress.stop_reason:
            if progress.generation >= progress.generations:
                progress.stop_reason = 'all generations done'
            else:
                progress.stop_reason = self._optimizer.stop() or self._progression.stop_reason(
                    progress.evaluations
                )
            if not progress.stop_reason:
                self._run_generation(progress.generation)
        self._listener(progress)
        return progress

    def _enter_stage(self) -> None:
        """Enter the next stage of the curriculum if the last generation completed the present."""
        # Fitness values of two stages are not comparable: the new stage starts without a best.
        if self._progression.enter_next_stage():
            self._rows_by_genome.clear()
            self._front = ParetoFront()
            self.progress.best = None
            self.progress.stage = self._progression.stage

    def _restore_files(self) -> None:
        """Rewrite missing or damaged champion files of a resumed run from its log."""
        champions = self.champions()
        if champions and self._best_candidate is not None:
            with store_errors(self._store.folder):
                self._files.publish(self._best_candidate)
        # The hashes of a champion hold only on the platform and with the code that recorded it.
        if champions and not self._store.describe_changes():
            self._store.restore(champions)

    def _run_generation(self, generation: int) -> None:
        """Ask for candidates, run their trials, record the generation and tell the optimiser."""
        self._enter_stage()
        candidates = self._optimizer.ask()
        values = [self._plan.space.decode(candidate.values) for candidate in candidates]
        arrays = self._files.write(candidates)
        # One trial for each candidate, repeat and engine, in the order of the log.
        repeats = self._plan.experiment.repeats
        trial_indices = [
            TrialIndex(
                generation=generation,
                individual=i,
                repeat=repeat,
                engine=engine,
                candidate_id=candidate.id,
                stage=self._progression.stage,
            )
            for i, candidate in enumerate(candidates)
            for repeat in range(repeats)
            for engine in self._plan.scenes
        ]
        specs = [
            replace(
                self._plan.spec(values[trial_index.individual], trial_index),
                weights=arrays[trial_index.individual],
                weights_sha256=self._files.digest(candidates[trial_index.individual]),
            )
            for trial_index in trial_indices
        ]
        self.progress.trials_done, self.progress.trials_total = 0, len(specs)
        began = time.perf_counter()
        names = [trial_index.name for trial_index in trial_indices]
        self._incidents.check_skipped(generation, names)
        results = self._incidents.evaluate(self._evaluator, specs, names, self._count)
        self._update_rates(len(results), time.perf_counter() - began)
        rows = [
            TrialRow.from_result(
                result,
                trial_index,
                self._plan.logged_metrics,
                parents=candidates[trial_index.individual].parents,
                seed=spec.seed,
                values=values[trial_index.individual],
                weights=spec.weights_sha256,
            )
            for trial_index, spec, result in zip(trial_indices, specs, results, strict=True)
        ]
        previous_best = self.progress.best
        evaluations = self._score_generation(rows)
        best = self.progress.best
        is_new_best = best is not None and best is not previous_best
        self._keep_best(candidates, previous_best)
        # The arrays of a new champion are written before the champion file that names them. The
        # generation is recorded before the optimiser is told: a kill in between loses nothing,
        # because a resumed run tells the recorded generation again.
        if self._best_candidate is not None and is_new_best:
            self._files.publish(self._best_candidate)
        self._store.append(
            generation,
            rows,
            [result.wall_time for result in results],
            self.champions() if is_new_best else (),
        )
        if best is not None:
            self._files.remove_former_champions(best.rows[0].id)
        self._store.append_summaries(self._summaries)
        self._summaries = []
        self._write_front()
        self._optimizer.tell(evaluations)
        self._advance(generation, rows)

    def _write_front(self) -> None:
        if self._front_changed:
            self._store.write_front(self._front.members)
            self._front_changed = False

    def _update_rates(self, trials: int, seconds: float) -> None:
        """Count a generation of this process and estimate the time of those to come."""
        progress = self.progress
        self._evaluation_time += seconds
        self._trials_here += trials
        self._generations_here += 1
        progress.rate = (
            self._trials_here / self._evaluation_time if self._evaluation_time > 0.0 else 0.0
        )
        progress.efficiency = self._evaluator.workload.efficiency
        generations_left = progress.generations - progress.generation - 1
        progress.time_left = generations_left * self._evaluation_time / self._generations_here

    def _count(self) -> None:
        self.progress.trials_done += 1
        self._listener(self.progress)

    def _replay_generation(self, generation: int, rows: Sequence[TrialRow]) -> None:
        """Ask the optimiser and tell it a recorded generation; refuse other candidates."""
        self._enter_stage()
        candidates = self._optimizer.ask()
        decode = self._plan.space.decode
        recorded = {(row.id, tuple(row.values.items()), row.weights) for row in rows}
        asked = {
            (candidate.id, tuple(decode(candidate.values).items()), self._files.digest(candidate))
            for candidate in candidates
        }
        if recorded != asked:
            raise ConfigurationError(
                f'{self._store.folder}: the candidates of generation {generation} come from '
                'another version of the optimiser; the run cannot be resumed'
            )
        previous_best = self.progress.best
        evaluations = self._score_generation(rows)
        self._keep_best(candidates, previous_best)
        self._optimizer.tell(evaluations)
        self._advance(generation, rows)

    def _keep_best(
        self, candidates: Sequence[Candidate], previous_best: BestCandidate | None
    ) -> None:
        """Keep the arrays of a new best candidate; None for one without arrays."""
        best = self.progress.best
        if best is not None and best is not previous_best:
            best_id = best.rows[0].id
            self._best_candidate = next(
                (item for item in candidates if item.arrays and item.id == best_id), None
            )

    def _score_generation(self, rows: Sequence[TrialRow]) -> list[Evaluation]:
        """Return the evaluations of a generation, and update summaries, front and best."""
        evaluations = []
        experiment = self._plan.experiment
        for group in group_by_candidate(rows):
            all_rows = self._with_earlier_rows(group)
            evaluation = evaluate_candidate(all_rows, experiment)
            self._summaries.append(make_summary(all_rows, evaluation, experiment))
            evaluations.append(evaluation)
            self.progress.violation_counts.update(
                name for name, excess in evaluation.constraints.items() if excess > 0.0
            )
            if not evaluation.is_feasible:
                continue
            objectives = evaluation.objectives
            if objectives is not None and len(objectives) > 1:
                self._add_to_front(group[0], objectives)
            # Strictly greater: of equal candidates the first stays champion.
            best, fitness = self.progress.best, evaluation.fitness
            if best is None or fitness > best.fitness:
                self.progress.best = BestCandidate(rows=tuple(all_rows), fitness=fitness)
        # With re-evaluation the mean of the former best may have fallen: choose among all again.
        if self._rows_by_genome:
            self.progress.best = self._best_by_all_trials()
        reached = [item.fitness for item in evaluations if item.is_feasible]
        best = self.progress.best
        self._progression.count_generation(
            max(reached, default=None), None if best is None else best.fitness
        )
        return evaluations

    def _add_to_front(self, row: TrialRow, objectives: FloatArray) -> None:
        member = FrontMember(
            generation=row.generation,
            individual=row.individual,
            id=row.id,
            objectives=objectives,
            values=row.values,
        )
        self._front_changed |= self._front.add(member)

    def _with_earlier_rows(self, group: list[TrialRow]) -> list[TrialRow]:
        """Return all rows of a candidate; those of earlier evaluations come first."""
        if not self._optimizer.reevaluates:
            return group
        all_rows = self._rows_by_genome.setdefault(tuple(group[0].values.values()), [])
        all_rows += group
        return list(all_rows)

    def _best_by_all_trials(self) -> BestCandidate | None:
        """
        Return the best candidate by the mean over all its trials.

        With noisy trials the maximum over many single evaluations is biased upwards. A candidate
        that was evaluated again therefore precedes every candidate evaluated once.
        """
        ranked: list[tuple[bool, float, list[TrialRow]]] = []
        for rows in self._rows_by_genome.values():
            evaluation = evaluate_candidate(rows, self._plan.experiment)
            if evaluation.is_feasible:
                is_reevaluated = rows[-1].generation > rows[0].generation
                ranked.append((is_reevaluated, evaluation.fitness, rows))
        if not ranked:
            return None
        _, fitness, rows = max(ranked, key=lambda item: item[:2])
        # The same object while nothing changes: callers compare by identity.
        best = self.progress.best
        is_unchanged = best is not None and best.rows == tuple(rows)
        return best if is_unchanged else BestCandidate(rows=tuple(rows), fitness=fitness)

    def _advance(self, generation: int, rows: Sequence[TrialRow]) -> None:
        """Count a finished generation and call the listener."""
        progress = self.progress
        progress.evaluations += len(rows)
        for row in rows:
            status, fitness = status_and_fitness([row])
            if fitness is None:
                progress.invalid_counts[status] += 1
        if generation == 0 and progress.best is not None:
            progress.first_generation_best = progress.best.fitness
        progress.generation = generation + 1
        self._listener(progress)

    def champions(self) -> tuple[Champion, ...]:
        """
        Return the best candidate as a champion of each engine; empty without a best.

        The first champion is that of the engine with the lowest mean fitness, which is the
        candidate's fitness.
        """
        best = self.progress.best
        if best is None:
            return ()
        deciding = best.deciding_rows
        others = [
            rows for rows in group_by_engine(best.rows) if rows[0].engine != deciding[0].engine
        ]
        return tuple(self._champion_on_engine(rows) for rows in (deciding, *others))

    def _champion_on_engine(self, rows: Sequence[TrialRow]) -> Champion:
        """Return the champion of one candidate's trials on one engine."""
        first = rows[0]
        specs = [
            replace(
                self._plan.spec(row.values, row.trial_index),
                weights=ArrayFiles.name(first.id) if first.weights else '',
                weights_sha256=first.weights,
            )
            for row in rows
        ]
        champion = make_champion(specs, rows, self._plan.experiment, self._store.run_id)
        more = {
            'fitness_deviation': float(np.array([row.fitness for row in rows], dtype=float).std()),
            'version': __version__,
            'sources': sources_hash(champion.spec),
        }
        return replace(champion, run={**champion.run, **more})


def evolution_summary(store: RunStore, progress: EvolutionProgress) -> dict[str, object]:
    """Return the JSON object of an evolution; undefined values are ``None``."""
    experiment = store.plan.experiment
    champion = store.champion_file
    return {
        'experiment': experiment.name,
        'seed': experiment.seed,
        'generations': progress.generation,
        'evaluations': progress.evaluations,
        'evaluations_per_s': progress.rate or None,
        'first_generation_best': progress.first_generation_best,
        'best_fitness': None if progress.best is None else progress.best.fitness,
        'champion': str(champion) if progress.best is not None else None,
        'run_dir': str(store.folder),
        'invalid_counts': dict(sorted(progress.invalid_counts.items())),
        'violation_counts': dict(sorted(progress.violation_counts.items())),
    }


def new_run_folder(experiment: str, seed: int, parent: Path = Path('runs')) -> Path:
    """Return a folder that does not exist yet, named after experiment and seed."""
    number = 1
    while (parent / f'{experiment}-{seed}-{number:03d}').exists():
        number += 1
    return parent / f'{experiment}-{seed}-{number:03d}'
