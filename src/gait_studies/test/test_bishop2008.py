# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Networks are evolved, resumed and replayed; drawn bodies start on drawn ground."""

from argparse import ArgumentParser
from dataclasses import replace
import json
from pathlib import Path
import shutil

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.files.archives import load_weights
from gait_core.terrains import load_terrain
from gait_core.testing.skips import need_engine
from gait_core.trial.champion import read_champion
from gait_core.trial.parts import cached_engine
from gait_evolver.experiment import load_experiment
from gait_evolver.plan import Plan, TrialIndex, load_plan, resolve_experiment
from gait_evolver.run.store import read_generations, read_run
from gait_studies.bishop2008.pattern_cma import PatternCmaOptimizer
from gait_studies.bishop2008.walk import mean_network
from gait_tools.cli import main
from gait_tools.commands import walk
from gait_tools.study.session import FinishedEvolution

need_engine('mujoco')
SMALL = {
    'population': 4,
    'optimizer': {'settings': {'replaced': 2}},
    'gait': {'perceptrons': 5, 'memory': 3},
    'duration': 0.6,
}
SETTINGS = [
    *('--set', 'population=4', '--set', 'optimizer.settings.replaced=2'),
    *('--set', 'gait.perceptrons=5', '--set', 'gait.memory=3', '--set', 'duration=0.6'),
    *('--workers', '1', '--json'),
]


def small(**changes):
    return load_experiment('bishop2008_a', {**SMALL, **changes})


@pytest.fixture(scope='module')
def run(tmp_path_factory):
    """Evolve three generations of a small network."""
    folder = tmp_path_factory.mktemp('runs') / 'whole'
    options = ['--generations', '3', '--run-dir', str(folder), *SETTINGS]
    assert main(['evolve', 'bishop2008_a', *options]) == 0
    return folder


def test_a_resumed_run_has_the_log_and_champion_of_one_in_a_piece(run, tmp_path, capsys):
    folder = tmp_path / 'pieces'
    options = ['--generations', '1', '--run-dir', str(folder), *SETTINGS]
    assert main(['evolve', 'bishop2008_a', *options]) == 0
    # What a kill leaves behind: half a generation, and files of members that are gone.
    with (folder / 'evaluations.csv').open('a') as log:
        log.write('1,0,0,0,mujoco,,5,ok')
    (folder / 'weights' / '99.npz').write_bytes(b'')
    (folder / 'weights' / '1.npz').unlink()
    resumed = ['--resume', '--generations', '3', '--run-dir', str(folder), '--workers', '1']
    assert main(['evolve', *resumed]) == 0
    for name in ('evaluations.csv', 'champion.yaml'):
        assert (folder / name).read_bytes() == (run / name).read_bytes()
    assert not (folder / 'weights' / '99.npz').exists()
    capsys.readouterr()


def test_the_champion_replays_from_its_own_weights(run, capsys):
    champion = read_champion(run / 'champion.yaml')
    assert champion.spec.scene.draw > 0
    arrays = load_weights(champion.spec.weights, champion.spec.weights_sha256)
    assert {name: array.shape for name, array in arrays.items()} == {
        'input_weights': (5, 35 * 4 + 16 * 3),
        'output_weights': (5, 16),
    }
    assert len(list(run.glob('weights.*.npz'))) == 1
    capsys.readouterr()
    assert main(['replay', str(run), '--json']) == 0
    assert json.loads(capsys.readouterr().out)['equal'] is True


def test_repeats_have_bodies_and_starts_of_their_own_for_any_number_of_workers(tmp_path, capsys):
    shorter = [word.replace('duration=0.6', 'duration=0.2') for word in SETTINGS]
    repeated = [*shorter, '--set', 'repeats=3']
    for workers in ('1', '2'):
        options = ['--generations', '1', '--run-dir', str(tmp_path / workers), *repeated]
        assert main(['evolve', 'bishop2008_a', *options, '--workers', workers]) == 0
    for name in ('evaluations.csv', 'champion.yaml'):
        assert (tmp_path / '1' / name).read_bytes() == (tmp_path / '2' / name).read_bytes()
    champion = read_champion(tmp_path / '1' / 'champion.yaml')
    specs = champion.specs
    assert len(specs) == 3
    assert len({(spec.seed, spec.scene.draw, spec.scene.initial.x) for spec in specs}) == 3
    assert len({spec.scene.draw for spec in specs}) == 3
    # Champion and other candidates replay.
    for individual in ([], ['--individual', '0/1']):
        capsys.readouterr()
        assert main(['replay', str(tmp_path / '1'), *individual, '--json']) == 0
        assert json.loads(capsys.readouterr().out)['equal'] is True


@pytest.mark.parametrize('name', ['bishop2008', 'bishop2008_omni'])
def test_a_champion_walks_by_its_own_weights(name):
    file = Path(__file__).parents[3] / f'doc/results/{name}_champion.yaml'
    parser = ArgumentParser()
    walk.add_arguments(parser)
    spec = walk.spec_from_options(parser.parse_args(['spider', '--champion', str(file)]))
    recorded = read_champion(file).spec
    assert spec.weights_sha256 == recorded.weights_sha256
    assert spec.weights == recorded.weights
    assert spec.parameters == recorded.parameters


def test_every_turn_has_a_body_and_a_start_of_its_own():
    plan = resolve_experiment(small())
    scenes = [
        plan.spec({}, TrialIndex(generation=generation, individual=i)).scene
        for generation in (0, 1)
        for i in range(20)
    ]
    assert len({scene.draw for scene in scenes}) == 40
    places = np.array([(scene.initial.x, scene.initial.y) for scene in scenes])
    assert np.abs(places).max() <= 5.0
    assert np.ptp(places, axis=0).min() > 7.0
    member = resolve_experiment(small(bodies='member'))
    places = [TrialIndex(generation=i, individual=3, candidate_id=7) for i in (0, 1)]
    draws = [member.spec({}, place).scene.draw for place in places]
    assert draws[0] == draws[1]
    assert draws[0] != member.spec({}, TrialIndex(individual=3, candidate_id=8)).scene.draw


def test_bodies_start_anywhere_on_the_ground_without_overlap():
    plan, engine = resolve_experiment(small()), cached_engine('mujoco')
    for i in range(12):
        spec = plan.spec({}, TrialIndex(individual=i))
        seen = engine.reset(spec.scene, spec.seed)
        assert seen.contacts.depths.max(initial=0.0) < 2e-3
        ground = load_terrain(spec.scene.terrain).height(
            spec.scene.initial.x, spec.scene.initial.y
        )
        assert 0.2 < seen.body_poses[0, 2] - ground < 0.45


def test_the_ground_is_that_of_the_thesis_and_a_turn_is_as_long():
    plan = load_plan('bishop2008_a')
    field = load_terrain(plan.trial.scene.terrain).heightfield
    assert field.heights.size == 65536
    assert 0.128 <= np.ptp(field.heights) <= 0.13
    assert field.size == pytest.approx((50.0, 50.0))
    steps = np.abs(np.diff(field.heights, axis=1)).mean()
    assert steps == pytest.approx(0.13 / 3.0, rel=0.01)
    assert plan.trial.ticks == 2000
    other = replace(plan.trial.scene.terrain, seed=1)
    assert load_terrain(other).hash != load_terrain(plan.trial.scene.terrain).hash


def test_runs_a_and_b_search_networks_of_the_published_sizes():
    layouts = [load_plan(f'bishop2008_{run}').array_shapes for run in 'ab']
    # As files of 40 members in float32: 61 444 800 and 184 824 000 bytes.
    sizes = [40 * 4 * one.perceptrons * one.weights_per_perceptron for one in layouts]
    assert sizes == [61_444_800, 184_824_000]


@pytest.mark.parametrize(
    ('changes', 'words'),
    [
        ({'genes': {'max_speed': {}}}, 'not genes'),
        ({'optimizer': {'name': 'genetic'}}, 'genes is empty'),
        ({'controller': 'hold', 'preset': '', 'gait': {}}, 'nearest valid: perceptron'),
        ({'bodies': 'turns'}, 'turn'),
        ({'randomise': {'draw': [1, 9]}}, "randomise.draw' .* leave one out, e.g. 'bodies: one'"),
        (
            {'randomise': {'initial': {'y': [0, 1]}}},
            "initial.y' .* leave one out, e.g. 'start_spread: 0'",
        ),
        ({'start_spread': -1.0}, 'nearest valid: 0'),
    ],
)
def test_what_cannot_be_searched_so_is_refused_in_one_line(changes, words):
    with pytest.raises(ConfigurationError, match=words) as refusal:
        resolve_experiment(small(**changes))
    assert '\n' not in str(refusal.value)


TINY = ('population=4', 'optimizer.settings.replaced=2', 'duration=1')


def evolve(folder, experiment, generations, *settings):
    """Run an experiment by the command line in this process, changed by settings."""
    changes = [part for one in settings for part in ('--set', one)]
    where = ['--run-dir', str(folder), '--workers', '1', '--json']
    assert main(['evolve', experiment, '--generations', str(generations), *changes, *where]) == 0


def test_what_of_a_run_was_damaged_is_written_again_when_it_is_resumed(tmp_path, capsys):
    folder = tmp_path / 'run'
    evolve(folder, 'bishop2008_a', 2, *TINY)
    (beside,) = folder.glob('weights.*.npz')
    sound = beside.read_bytes(), (folder / 'champion.yaml').read_bytes()
    for damage in (lambda: beside.unlink(), lambda: beside.write_bytes(b'x')):
        damage()
        (folder / 'champion.yaml').write_bytes(b'')
        assert main(['evolve', '--resume', '--run-dir', str(folder), '--json']) == 0
        assert (beside.read_bytes(), (folder / 'champion.yaml').read_bytes()) == sound
    for file in (folder / 'weights').iterdir():
        file.write_bytes(b'x')
    evolve(folder, '--resume', 3)
    capsys.readouterr()
    assert main(['replay', str(folder), '--json']) == 0
    assert json.loads(capsys.readouterr().out)['equal'] is True


def test_an_exported_network_outlives_its_run(tmp_path, capsys):
    folder, file = tmp_path / 'run', tmp_path / 'one.yaml'
    evolve(folder, 'bishop2008_a', 1, *TINY)
    assert main(['replay', str(folder), '--individual', '0/2', '--export', str(file)]) == 0
    shutil.rmtree(folder)
    capsys.readouterr()
    assert main(['replay', str(file), '--json']) == 0
    assert json.loads(capsys.readouterr().out)['equal'] is True


@pytest.mark.parametrize(
    ('changes', 'words'),
    [
        ({'gait': {'spare': 'zero'}}, 'parameters.spare one, not zero'),
        ({'gait': {'scaled': False}}, 'parameters.scaled True'),
        ({'scene': {'control_period': 0.016}}, 'nearest valid: both 0.016'),
        ({'optimizer': {'settings': {'control_period': 0.02}}}, 'nearest valid: both 0.012'),
        (
            {'curriculum': [{'generations': 1, 'scene': {'control_period': 0.024}}]},
            'nearest valid: both 0.024',
        ),
    ],
)
@pytest.mark.parametrize('search', ['bishop2008_pattern', 'bishop2008_omni'])
def test_a_pattern_is_not_searched_for_trials_that_run_it_otherwise(search, changes, words):
    with pytest.raises(ConfigurationError, match=words):
        load_plan(search, changes)


def test_the_mean_of_a_search_with_repeats_is_told_the_mean_of_their_scores(tmp_path, monkeypatch):
    folder = tmp_path / 'run'
    settings = ('population=4', 'repeats=2', 'duration=5', 'scene.physics_step=0.004')
    evolve(folder, 'bishop2008_omni', 2, *settings)
    plan, generations = resolve_experiment(read_run(folder)[1]), read_generations(folder)
    told = []

    class Watched(PatternCmaOptimizer):
        def tell(self, evaluations):
            """Record the evaluations."""
            told.append(evaluations)
            super().tell(evaluations)

    monkeypatch.setattr(
        Plan,
        'make_optimizer',
        lambda plan: Watched(
            dimension=0, seed=1, shapes=plan.array_shapes, **plan.experiment.optimizer.settings
        ),
    )
    mean_network(
        FinishedEvolution(
            plan=plan,
            folder=folder,
            generations=generations,
            champion=read_champion(folder / 'champion.yaml'),
        )
    )
    for rows, evaluations in zip(generations, told, strict=True):
        assert len(rows) == 8
        scores = np.array([row.fitness for row in rows], dtype=float).reshape(4, 2)
        assert np.array([one.objectives for one in evaluations])[:, 0] == pytest.approx(
            scores.mean(axis=1)
        )
