# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Genes of single legs, genes without effect, and gait files that change after a run."""

import csv
from dataclasses import replace
import json
import re

import pytest

from gait_core.errors import ConfigurationError
from gait_core.testing.doubles import InProcessEvaluator
from gait_core.testing.workspace import workspace
from gait_core.trial.champion import read_champion, write_champion
from gait_core.trial.loop import run_trial
from gait_core.trial.setup import parse_settings
from gait_evolver.experiment import read_experiment, rebuild_experiment
from gait_evolver.loop import Evolution
from gait_evolver.plan import TrialIndex, resolve_experiment
from gait_evolver.run.store import RunStore
from gait_tools import cli

EXPERIMENT = {
    'robot': 'legged_box',
    'controller': 'phase_cpg',
    'genes': {
        'frequency': {'lower': 1.0, 'upper': 2.0},
        'duty_factor.leg0': {'lower': 0.5, 'upper': 0.8},
        'lag.leg3': {},
    },
    'duration': 0.4,
    'script': [{'time': 0.0, 'command': {'velocity': [0.3, 0.0, 0.0]}}],
    'fitness': {'distance': 1.0},
    'optimizer': {'settings': {'elites': 1}},
    'gates': {'command_jitter': None, 'joint_rate': None},
    'population': 4,
    'generations': 2,
    'seed': 5,
}


@pytest.fixture(autouse=True, scope='module')
def kinematic(tmp_path_factory):
    with workspace(tmp_path_factory.mktemp('workspace')):
        yield


def plan(**overrides):
    return resolve_experiment(rebuild_experiment(EXPERIMENT, 'small', overrides))


def run(folder, **overrides):
    store = RunStore.create(folder, plan(**overrides))
    try:
        return Evolution(store, InProcessEvaluator()).run()
    finally:
        store.close()


def write_gait(file, last_lag=0.7):
    lags = f'{{leg0: 0, leg1: 0.1, leg2: 0.5, leg3: {last_lag}}}'
    file.write_text(f'duty_factor: 0.6\nlags: {lags}\n')
    return str(file)


def test_genes_of_legs_are_searched_and_their_champion_replays(tmp_path):
    progress = run(tmp_path / 'run')
    champion = read_champion(tmp_path / 'run' / 'champion.yaml')
    with (tmp_path / 'run' / 'evaluations.csv').open(newline='') as lines:
        rows = list(csv.DictReader(lines))
    lags = {float(row['gait.lag.leg3']) for row in rows}
    assert len(lags) > 4 and 0.0 <= min(lags) and max(lags) <= 1.0
    best = next(row for row in rows if row['trial_hash'] == champion.trial_hashes[0])
    for name in EXPERIMENT['genes']:
        assert float(best[f'gait.{name}']) == champion.spec.parameters[name]
    assert run_trial(champion.spec).trial_hash == champion.trial_hashes[0]
    # The genes have an effect: the hash without them is another.
    without = {k: v for k, v in champion.spec.parameters.items() if '.' not in k}
    changed = run_trial(replace(champion.spec, parameters=without))
    assert changed.trial_hash != champion.trial_hashes[0]
    # A resumed run has the same experiment.
    store, recorded = RunStore.open_run(tmp_path / 'run', 3)
    assert Evolution(store, InProcessEvaluator(), recorded).run().generation == 3
    store.close()
    assert progress.generation == 2


def test_fixed_values_of_legs_are_written_out_and_may_be_nested():
    flat = plan(parameters={'lag.leg1': 0.25})
    nested = plan(parameters={'lag': {'leg1': 0.25}})
    assert flat.config_hash == nested.config_hash != plan().config_hash
    assert flat.experiment.parameters['lag.leg1'] == 0.25
    for order in (1, -1):
        texts = ['gait.duty_factor=0.7', 'gait.duty_factor.leg1=0.5'][::order]
        settings = parse_settings(texts)
        assert settings == {'gait': {'duty_factor': 0.7, 'duty_factor.leg1': 0.5}}
        assert plan(**settings).experiment.parameters['duty_factor.leg1'] == 0.5
    set_beside = plan(parameters={'duty_factor': 0.7}, gait={'duty_factor': {'leg1': 0.5}})
    spec = set_beside.spec({}, TrialIndex())
    assert (spec.parameters['duty_factor'], spec.parameters['duty_factor.leg1']) == (0.7, 0.5)


@pytest.mark.parametrize(
    ('lines', 'message'),
    [
        (
            'genes: {duty_factor: {}}\nparameters: {gait: own, gait_file: GAIT}',
            r"line 6, column 9: gene 'duty_factor' has no effect: the gait file '.*own\.yaml'",
        ),
        (
            'genes: {duty_factor: {}}\nparameters: {duty_factor: {ALL}}',
            "gene 'duty_factor' has no effect: every leg has a duty factor of its own",
        ),
        ('genes: {lean_gain: {}}', "line 6, .*'lean_gain' has no effect: posture_reflex is off"),
        ('genes: {lag.leg7: {}}', r"line 6, .*unknown leg in 'lag.leg7': did you mean 'lag.leg"),
        ('genes: {lag: {}}', r"line 6, .*unknown parameter 'lag': did you mean 'lag.<leg>'"),
        ('genes: {lag.leg1: {upper: 2}}', r'line 6, .*nearest valid: 1'),
        (
            'genes: {lag.leg1: {}}\nparameters: {lag: {leg1: 0.5}}',
            "'lag.leg1' is both a gene and a fixed parameter",
        ),
        (
            'genes: {lag.leg1: {}}\nparameters: {lag: {leg8: 0.5}}',
            "unknown leg in 'lag.leg8': did you mean 'lag.leg",
        ),
    ],
)
def test_a_gene_without_effect_or_leg_is_refused(tmp_path, lines, message):
    lines = lines.replace('GAIT', write_gait(tmp_path / 'own.yaml'))
    lines = lines.replace('ALL', ', '.join(f'leg{i}: 0.5' for i in range(4)))
    file = tmp_path / 'wrong.yaml'
    file.write_text(
        'robot: legged_box\ncontroller: phase_cpg\nduration: 0.4\nfitness: {distance: 1.0}\n'
        f'population: 4\n{lines}\n'
    )
    with pytest.raises(ConfigurationError, match=message) as error:
        resolve_experiment(*read_experiment(str(file)))
    assert '\n' not in str(error.value)


def test_a_changed_gait_file_is_named_by_replay_and_resume(tmp_path, capsys):
    file = tmp_path / 'own.yaml'
    own = {'gait': 'own', 'gait_file': write_gait(file)}
    genes = {'genes': {'frequency': {}}, 'parameters': own}
    base = {key: value for key, value in EXPERIMENT.items() if key != 'genes'}
    first = resolve_experiment(rebuild_experiment({**base, **genes}, 'own', {}))
    store = RunStore.create(tmp_path / 'run', first)
    Evolution(store, InProcessEvaluator()).run()
    store.close()
    assert cli.main(['replay', str(tmp_path / 'run'), '--json']) == 0
    assert json.loads(capsys.readouterr().out)['equal'] is True
    write_gait(file, 0.75)
    second = resolve_experiment(rebuild_experiment({**base, **genes}, 'own', {}))
    assert second.config_hash != first.config_hash
    for command in (
        ['replay', str(tmp_path / 'run')],
        ['evolve', '--resume', '--run-dir', str(tmp_path / 'run'), '--generations', '3'],
        ['walk', 'legged_box', '--champion', str(tmp_path / 'run' / 'champion.yaml')],
    ):
        assert cli.main(command) == 2, command
        (line,) = capsys.readouterr().err.splitlines()
        assert 'own.yaml was changed' in line, command
    # A record of an earlier version has no hash: its replay names the file that may have changed.
    early = read_champion(tmp_path / 'run' / 'champion.yaml')
    early_spec = replace(early.spec, parameters={**early.spec.parameters})
    del early_spec.parameters['gait_file_sha256']
    write_champion(tmp_path / 'early.yaml', replace(early, spec=early_spec))
    assert cli.main(['replay', str(tmp_path / 'early.yaml'), '--json']) == 1
    assert re.search(r'differs .* no hash of its gait_file .*own.yaml', capsys.readouterr().err)
    # Another file, named by the user, is walked.
    other = write_gait(tmp_path / 'other.yaml', 0.75)
    walk = ['walk', 'legged_box', '--champion', str(tmp_path / 'run' / 'champion.yaml')]
    assert cli.main([*walk, '--set', f'gait.gait_file={other}']) == 0
