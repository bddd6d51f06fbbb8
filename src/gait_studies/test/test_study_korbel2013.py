# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The rows of the study korbel2013 that need no evolution, and a short evolution that replays."""

import json
from pathlib import Path

import pytest

from gait_core.registry import load
from gait_core.testing.skips import need_engine, need_robot
from gait_core.trial.champion import read_champion
from gait_core.trial.loop import run_trial
from gait_evolver.experiment import load_experiment
from gait_evolver.plan import TrialIndex, load_plan
from gait_studies.korbel2013.beyond import EXPERIMENT_CASES
from gait_tools import cli
from gait_tools.study.session import StudySession, read_finished_evolution

ROOT = Path(__file__).resolve().parents[3]
PARTS = {part.name: part for part in load('studies', 'korbel2013')().parts}
SHORT = ('--set', 'population=6', '--set', 'duration=4', '--workers', '1', '--json')


@pytest.fixture(scope='module')
def session(tmp_path_factory):
    made = StudySession.create(
        tmp_path_factory.mktemp('study') / 'run', 'korbel2013', quick=True, seed=1, workers=1
    )
    yield made
    made.close()


@pytest.mark.physics
@pytest.mark.parametrize('name', ['robot', 'standing', 'contact', 'fitness', 'search'])
def test_model_and_search_are_the_published_ones(name, session):
    need_engine('cables')
    rows = PARTS[name].measure(session)
    assert rows
    assert [row for row in rows if row.verdict != 'pass'] == []


def test_the_experiment_has_the_published_settings():
    need_robot('tetraspine')
    plan = load_plan('korbel2013')
    settings = plan.experiment.optimizer.settings
    assert plan.space.names == (*(f'w{k}' for k in range(1, 25)), 'tau_a')
    assert settings['population'] == 50
    assert settings['tournament'] == 5
    assert (settings['crossover_probability'], settings['mutation_probability']) == (0.2, 0.7)
    assert settings['iterations'] == plan.experiment.generations - 1 == 2000
    assert plan.trial.duration == 15.0
    assert plan.trial.parameters['tau_ratio'] == 2.0
    weights = plan.experiment.fitness
    assert [weights[f'korbel2013_{name}'] for name in ('forward', 'twist', 'lateral')] == [
        1.0,
        -10.0,
        -1.0,
    ]


def test_every_case_beyond_the_thesis_is_an_experiment_of_the_same_robot():
    for case in EXPERIMENT_CASES:
        assert load_experiment(case.experiment).robot == 'tetraspine'


@pytest.mark.physics
def test_the_champion_of_the_documentation_still_crawls_as_recorded():
    need_engine('cables')
    champion = read_champion(ROOT / 'doc/results/korbel2013_champion.yaml')
    result = run_trial(champion.spec)
    # The bound of `gait replay` across platforms; the thesis's best gait goes 14.34 in.
    assert result.fitness == pytest.approx(champion.fitness, rel=0.05)
    assert result.terms['korbel2013_travel'] > 14.34


@pytest.mark.physics
def test_a_short_evolution_improves_resumes_and_replays(tmp_path, capsys):
    need_engine('cables')
    folder = tmp_path / 'run'
    assert (
        cli.main(['evolve', 'korbel2013', '--generations', '3', '--run-dir', str(folder), *SHORT])
        == 0
    )
    capsys.readouterr()
    assert (
        cli.main(
            [
                'evolve',
                '--run-dir',
                str(folder),
                '--resume',
                '--generations',
                '12',
                '--workers',
                '1',
                '--json',
            ]
        )
        == 0
    )
    last = json.loads(capsys.readouterr().out)
    assert last['best_fitness'] > last['first_generation_best']
    assert last['evaluations'] == 6 + 2 * 11
    one = read_finished_evolution(folder)
    other = one.plan.spec(one.rows[0].values, TrialIndex())
    for _ in range(3):
        run_trial(other)
        result = run_trial(one.champion.spec)
        assert result.trial_hash == one.champion.trial_hashes[0]
        assert result.fitness == one.champion.fitness
    assert cli.main(['replay', str(folder), '--json']) == 0
    assert json.loads(capsys.readouterr().out)['equal'] is True
