# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""A champion walks on its engine and with its command, and says what differs from its record."""

import json

import pytest

from gait_core.testing.workspace import workspace
from gait_core.trial.champion import read_champion
from gait_tools import cli

SEARCH = """
robot: legged_box
genes: {amplitude: {upper: 0.5}}
optimizer: {settings: {population: 4}}
scene: {engine: boggy, control_period: 0.01}
script: [{time: 0.0, command: {velocity: [0.2, 0.1, 0.0]}}]
duration: 0.2
seed: 3
fitness: {distance: 1.0}
generations: 1
"""


@pytest.fixture(scope='module')
def champion(tmp_path_factory):
    engines = (
        'boggy = gait_core.testing.folders:BoggyKinematicEngine\n'
        'absent = gait_package_that_is_missing:Engine\n'
    )
    folder = tmp_path_factory.mktemp('champion')
    with workspace(folder, engines=engines):
        (folder / 'search.yaml').write_text(SEARCH)
        words = ['evolve', str(folder / 'search.yaml'), '--run-dir', str(folder / 'run')]
        assert cli.main([*words, '--workers', '1']) == 0
        yield folder / 'run' / 'champion.yaml'


@pytest.fixture
def walk(champion, capsys):
    """Return a function that walks the champion and returns its JSON object and its warnings."""

    def run(*words, code=0, file=champion):
        capsys.readouterr()
        assert cli.main(['walk', 'legged_box', '--champion', str(file), '--json', *words]) == code
        captured = capsys.readouterr()
        return json.loads(captured.out or '{}'), captured.err

    return run


def test_with_the_options_of_its_record_it_repeats_it_without_a_word(champion, walk):
    record = read_champion(champion)
    seed = str(record.spec.seed)
    values, err = walk('--seconds', '0.2', '--seed', seed)
    assert values['engine'] == 'boggy'
    assert values['fitness'] == record.fitness and values['trial_hash'] == record.trial_hashes[0]
    assert err == ''
    again, err = walk('--seconds', '0.2', '--seed', seed, '--cmd', '0.2,0.1', '--engine', 'boggy')
    assert again['trial_hash'] == values['trial_hash'] and err == ''


def test_what_differs_is_said_with_both_values_in_one_line(champion, walk):
    record = read_champion(champion)
    seed = str(record.spec.seed)
    options = ['--seconds', '0.3', '--cmd', '0.1', '--engine', 'kinematic', '--seed', seed]
    values, err = walk(*options, '--set', 'gait.frequency=2', '--set', 'scene.friction=0.5')
    assert values['engine'] == 'kinematic'
    assert err.startswith(
        f'gait: {champion}: differs from its record, whose fitness is {record.fitness:.4f}: '
    )
    assert err.count('\n') == 1
    for words in (
        'scene.engine kinematic, recorded boggy;',
        'scene.friction 0.5, recorded 0.9;',
        'command 0.1,0,0, recorded 0.2,0.1,0;',
        'duration 0.3, recorded 0.2;',
        'gait.frequency 2, recorded 1;',
    ):
        assert words in err


def test_on_another_machine_an_engine_that_is_missing_is_replaced_aloud(champion, walk, tmp_path):
    file = tmp_path / 'champion.yaml'
    file.write_text(champion.read_text().replace("engine: 'boggy'", "engine: 'absent'"))
    values, err = walk(file=file)
    assert values['engine'] == 'kinematic'
    assert 'scene.engine kinematic, recorded absent' in err


def test_a_preset_beside_a_champion_is_refused(champion, walk):
    _, err = walk('--preset', 'wave', code=2)
    assert err == (
        f"gait: --preset is 'wave', but {champion} has every parameter of the gait; leave "
        '--preset out\n'
    )


@pytest.mark.parametrize('options', [['--sensors', 'lidar'], ['--record', '/dev/null']])
def test_an_error_of_a_walk_that_differs_is_the_only_line(walk, options):
    _, err = walk('--seconds', '0.3', *options, code=2)
    assert err.count('\n') == 1 and 'differs' not in err
