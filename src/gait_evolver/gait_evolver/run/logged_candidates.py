"""Any individual of a run's log, as the champion that it might have been."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gait_core.errors import ConfigurationError
from gait_core.robot.identity import robot_identity
from gait_core.robot.load import load_robot
from gait_core.trial.champion import Champion
from gait_core.trial.fingerprint import differing_fields, fingerprint, fingerprint_fields
from gait_core.trial.spec import TrialSpec
from gait_evolver.experiment import Experiment
from gait_evolver.plan import Plan, resolve_experiment
from gait_evolver.run.array_files import ArrayFiles
from gait_evolver.run.log import TrialRow
from gait_evolver.run.store import read_generations, read_run
from gait_evolver.scoring import mean_fitness


def read_logged_candidate(folder: Path, number: str, engine: str = '') -> Champion:
    """
    Return an individual of a run as a champion: its trials on one engine and what they gave.

    Parameters
    ----------
    folder : Path
        Of the run.
    place : str
        ``generation/individual``, both counted from 0 as in evaluations.csv.
    engine : str
        Of a run on several engines; empty: the first.

    Raises
    ------
    ConfigurationError
        If there is no such individual, or its weights were not kept.

    """
    facts, experiment = read_run(folder)
    plan = resolve_experiment(experiment)
    rows = _rows_of_candidate(folder, number, engine or next(iter(plan.scenes)))
    spec = _candidate_spec(plan, folder, rows[0])
    found = make_champion(spec, rows, experiment, str(facts.get('run_id', '')))
    foreign = differing_fields(facts.get('platform', {}), fingerprint_fields())
    return replace(found, fingerprint='') if foreign else found


def make_champion(
    spec: TrialSpec, rows: Sequence[TrialRow], experiment: Experiment, run_id: str
) -> Champion:
    """
    Return the champion of an individual's trials on one engine.

    Parameters
    ----------
    spec : TrialSpec
        Of the first trial.
    rows : sequence of Row
        In order of the repeats. If one may not win, the fitness is NaN.
    experiment : Experiment
    run_id : str

    """
    first = rows[0]
    can_win = all(row.fitness is not None for row in rows)
    return Champion(
        spec=spec,
        seeds=tuple(row.seed for row in rows),
        trial_hashes=tuple(row.trial_hash for row in rows),
        fitness=mean_fitness(rows) if can_win else float('nan'),
        status=first.status,
        fingerprint=fingerprint(),
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


def _rows_of_candidate(folder: Path, number: str, engine: str) -> list[TrialRow]:
    generations = read_generations(folder)
    try:
        generation, individual = (int(part) for part in number.split('/'))
    except ValueError as error:
        raise ConfigurationError(
            f"individual '{number}' is no pair of numbers, e.g. 3/0 for the first of generation 3"
        ) from error
    last = len(generations) - 1
    if not 0 <= generation <= last:
        raise ConfigurationError(
            f"individual '{number}': generations 0 to {last} are finished; nearest valid: "
            f'{min(max(generation, 0), last)}'
        )
    rows = [row for row in generations[generation] if row.engine == engine]
    found = [row for row in rows if row.individual == individual]
    if not found:
        most = max((row.individual for row in rows), default=0)
        raise ConfigurationError(
            f"individual '{number}': generation {generation} on '{engine}' has 0 to {most}; "
            f'nearest valid: {min(max(individual, 0), most)}'
        )
    return found


def _candidate_spec(plan: Plan, folder: Path, row: TrialRow) -> TrialSpec:
    spec = plan.spec(row.values, replace(row.trial_index, repeat=0))
    if not row.weights:
        return spec
    places = (folder / 'weights' / f'{row.id}.npz', folder / ArrayFiles.name(row.id))
    file = next((one for one in places if one.exists()), None)
    if file is None:
        raise ConfigurationError(
            f'the network of individual {row.generation}/{row.individual} was not kept: a run '
            'keeps those of its living members and of its champion'
        )
    return replace(spec, weights=str(file), weights_sha256=row.weights)
