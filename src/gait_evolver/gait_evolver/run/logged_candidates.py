# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Candidates of a run's log as champions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from gait_core.errors import ConfigurationError, name_hint
from gait_core.robot.identity import robot_identity
from gait_core.robot.load import load_robot
from gait_core.trial.champion import Champion
from gait_core.trial.fingerprint import fingerprint, fingerprint_fields, fingerprint_of
from gait_core.trial.spec import TrialSpec
from gait_evolver.experiment import Experiment
from gait_evolver.plan import Plan, resolve_experiment
from gait_evolver.run.array_files import ArrayFiles
from gait_evolver.run.log import TrialRow
from gait_evolver.run.store import read_generations, read_run
from gait_evolver.scoring import mean_fitness


def read_logged_candidate(folder: Path, candidate: str, engine: str = '') -> Champion:
    """
    Return a candidate of a run as a champion, with its trials on one engine.

    Parameters
    ----------
    folder : Path
        Run directory.
    candidate : str
        ``generation/individual``, both counted from 0 as in evaluations.csv.
    engine : str
        One of the run's engines; empty: the first.

    Raises
    ------
    ConfigurationError
        If there is no such candidate, or its weights were not kept.

    """
    facts, experiment = read_run(folder)
    plan = resolve_experiment(experiment)
    if engine and engine not in plan.scenes:
        raise ConfigurationError(
            f"no engine '{engine}' in the run: {name_hint(engine, plan.scenes)}"
        )
    rows = _rows_of_candidate(folder, candidate, engine or next(iter(plan.scenes)))
    specs = _candidate_specs(plan, folder, rows)
    champion = make_champion(specs, rows, experiment, str(facts.get('run_id', '')))
    # Hashes are comparable only on the platform that recorded them.
    platform = facts.get('platform', {})
    return replace(champion, fingerprint=fingerprint_of(platform), platform=platform)


def make_champion(
    specs: Sequence[TrialSpec], rows: Sequence[TrialRow], experiment: Experiment, run_id: str
) -> Champion:
    """
    Return the champion of a candidate's trials on one engine.

    Parameters
    ----------
    specs : sequence of TrialSpec
        Spec of each trial.
    rows : sequence of TrialRow
        In order of the repeats. If one of them has no fitness, that of the champion is NaN.
    experiment : Experiment
    run_id : str

    """
    first, spec = rows[0], specs[0]
    have_fitness = all(row.fitness is not None for row in rows)
    return Champion(
        spec=spec,
        seeds=tuple(row.seed for row in rows),
        draws=_differing([one.scene.draw for one in specs]),
        starts_x=_differing([one.scene.initial.x for one in specs]),
        starts_y=_differing([one.scene.initial.y for one in specs]),
        trial_hashes=tuple(row.trial_hash for row in rows),
        fitness=mean_fitness(rows) if have_fitness else float('nan'),
        status=first.status,
        fingerprint=fingerprint(),
        platform=fingerprint_fields(),
        metrics=first.metrics,
        terms=first.terms,
        robot=robot_identity(load_robot(spec.scene.robot, spec.scene.draw)),
        run={
            'id': run_id,
            'experiment': experiment.name,
            'seed': experiment.seed,
            'generation': first.generation,
            'individual': first.individual,
            'candidate': first.id,
            'trials': len(rows),
        },
    )


_NumberT = TypeVar('_NumberT', int, float)


def _differing(values: Sequence[_NumberT]) -> tuple[_NumberT, ...]:
    """Return the values, or an empty tuple if all are equal."""
    return tuple(values) if len(set(values)) > 1 else ()


def _rows_of_candidate(folder: Path, candidate: str, engine: str) -> list[TrialRow]:
    """Return the logged trials of a candidate on an engine; ``ConfigurationError`` for none."""
    generations = read_generations(folder)
    try:
        generation, individual = (int(part) for part in candidate.split('/'))
    except ValueError as error:
        raise ConfigurationError(
            f"candidate '{candidate}': expected GENERATION/INDIVIDUAL, e.g. 3/0 for the first of "
            'generation 3'
        ) from error
    if not generations:
        raise ConfigurationError(
            f"candidate '{candidate}': no generation of the run is finished yet"
        )
    last = len(generations) - 1
    if not 0 <= generation <= last:
        raise ConfigurationError(
            f"candidate '{candidate}': generations 0 to {last} are finished; nearest valid: "
            f'{min(max(generation, 0), last)}'
        )
    rows = [row for row in generations[generation] if row.engine == engine]
    candidate_rows = [row for row in rows if row.individual == individual]
    if not candidate_rows:
        last = max((row.individual for row in rows), default=0)
        raise ConfigurationError(
            f"candidate '{candidate}': generation {generation} on '{engine}' has candidates 0 to "
            f'{last}; nearest valid: {min(max(individual, 0), last)}'
        )
    return candidate_rows


def _candidate_specs(plan: Plan, folder: Path, rows: Sequence[TrialRow]) -> list[TrialSpec]:
    """Return the spec of each trial of a candidate; ConfigurationError without its weights."""
    row = rows[0]
    specs = [plan.spec(one.values, one.trial_index) for one in rows]
    if not row.weights:
        return specs
    files = (folder / 'weights' / f'{row.id}.npz', folder / ArrayFiles.name(row.id))
    file = next((file for file in files if file.exists()), None)
    if file is None:
        raise ConfigurationError(
            f'the network of candidate {row.generation}/{row.individual} was not kept: a run '
            'keeps the networks of its last generation and of its champion'
        )
    return [replace(spec, weights=str(file), weights_sha256=row.weights) for spec in specs]
