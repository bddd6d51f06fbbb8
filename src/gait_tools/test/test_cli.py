# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The command: keys of its JSON, exit codes, and one line for every mistake."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
import csv
from dataclasses import replace
import importlib
import json
import os
from pathlib import Path
import re
import signal
import subprocess
import sys

import pytest

from gait_core.benchmark import Measurement
from gait_core.measures.metrics import METRICS
from gait_core.robot.legged_box import legged_box
from gait_core.robot.urdf.writer import to_urdf
from gait_core.testing.doubles import InProcessEvaluator, register_temporarily
from gait_core.testing.workspace import workspace
from gait_core.trial.champion import read_champion, write_champion
from gait_core.trial.fingerprint import fingerprint_fields
from gait_core.trial.loop import run_loop
from gait_evolver.run.store import read_generations
from gait_tools import cli
from gait_tools.bags.folder import BagFolder
from gait_tools.bags.read import read_bag
from gait_tools.commands.common import _TRIAL_LINES
from gait_tools.commands.replay import load_champion

TRIAL_KEYS = [
    'status',
    'robot',
    'controller',
    'engine',
    'seed',
    *METRICS,
    'fell_at_s',
    'fitness',
    'terms',
    'leg_metrics',
    'realtime_factor',
    'trial_hash',
    'pids',
]
EVOLUTION_KEYS = [
    'experiment',
    'seed',
    'generations',
    'evaluations',
    'evaluations_per_s',
    'first_generation_best',
    'best_fitness',
    'champion',
    'run_dir',
    'invalid_counts',
    'violation_counts',
]


RAISING = """
import sys
from gait_core.testing.doubles import WaveController

class Raising(WaveController):
    def step(self, dt, command, observation):
        {}
"""


@pytest.fixture(autouse=True, scope='module')
def kinematic(tmp_path_factory):
    engines = (
        'boggy = gait_core.testing.folders:BoggyKinematicEngine\n'
        'absent = gait_package_that_is_missing:Engine\n'
    )
    with workspace(tmp_path_factory.mktemp('workspace'), engines=engines):
        yield


@pytest.fixture
def gait(capsys):
    def run(*words):
        code = cli.main(words)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture(scope='module')
def run_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp('runs')
    (folder / 'small.yaml').write_text(
        'robot: legged_box\n'
        'genes: {amplitude: {upper: 0.5}}\n'
        'optimizer: {settings: {population: 4}}\n'
        'duration: 0.2\nfitness: {distance: 1.0}\ngenerations: 2\n'
    )
    code = cli.main(
        ['evolve', str(folder / 'small.yaml'), '--run-dir', str(folder / 'run'), '--workers', '1']
    )
    assert code == 0
    return folder / 'run'


def test_walk_prints_the_keys_of_a_trial(gait):
    code, out, err = gait('walk', 'legged_box', '--seconds', '0.2', '--seed', '3', '--json')
    values = json.loads(out)
    assert (code, err) == (0, '')
    assert list(values) == TRIAL_KEYS
    assert {key for _, key, _ in _TRIAL_LINES} >= set(METRICS)
    assert values['duration_s'] == pytest.approx(0.2)
    assert values['seed'] == 3
    assert (values['engine'], values['controller']) == ('kinematic', 'wave')
    assert values['fitness'] is values['pids'] is values['fell_at_s'] is None
    assert values['terms'] == {}
    assert 0.0 <= values['leg_metrics']['stance_fraction.leg0'] <= 1.0
    assert isinstance(values['steps'], int)
    assert len(values['trial_hash']) == 64


def test_settings_reach_the_trial(gait):
    def hash_of(*words):
        return json.loads(gait('walk', 'legged_box', '--json', *words)[1])['trial_hash']

    plain = hash_of()
    assert hash_of() == plain
    assert hash_of('--set', 'gait.amplitude=0.3') != plain
    assert hash_of('--set', 'gait.frequency=1') == plain  # the default, as a whole number
    assert hash_of('--terrain', 'rough:range=0.1,seed=3') != plain
    assert hash_of('--set', 'scene.control_period=0.01') != plain


def test_a_fall_is_0_and_divergence_1(gait):
    code, out, _ = gait('walk', 'legged_box', '--json', '--set', 'scene.initial.roll=2')
    assert (code, json.loads(out)['status']) == (0, 'fell')


def test_a_velocity_that_is_not_walked_is_said_in_one_line(gait):
    words = ('walk', 'legged_box', '--controller', 'hold', '--seconds', '0.1', '--json')
    code, out, err = gait(*words, '--cmd', '100,0,-2')
    assert code == 0 and json.loads(out)['status'] == 'ok'
    assert err == (
        'gait: --cmd is not followed exactly by hold: 100 m/s forward, 2 rad/s to the '
        'right: it holds the nominal stance\n'
    )
    assert gait(*words, '--cmd', '0')[2] == ''
    assert gait(*words)[2] == ''


def test_walk_for_a_person_and_its_record(gait, tmp_path):
    code, out, _ = gait(
        'walk', 'legged_box', '--seconds', '0.5', '--record', str(tmp_path / 'record')
    )
    assert code == 0
    assert out.startswith('legged_box with wave on kinematic: ok\n')
    trial = read_bag(tmp_path / 'record')
    assert len(trial.periods) == 25
    assert trial.result.trial_hash in out
    code, out, _ = gait('replay', str(tmp_path / 'record'), '--json')
    assert code == 0 and json.loads(out)['equal'] is True
    code, _, error = gait('walk', 'legged_box', '--record', str(tmp_path / 'record'))
    assert code == 2 and error.count('\n') == 1 and 'record_2' in error


def test_any_individual_is_replayed_recorded_and_exported(gait, run_folder, tmp_path):
    rows = [row for row in read_generations(run_folder)[1] if row.individual == 1]
    bags = tmp_path / 'bags'
    code, out, _ = gait(
        'replay',
        str(run_folder),
        '--individual',
        '1/1',
        '--record',
        str(bags),
        '--export',
        str(tmp_path / 'gait.yaml'),
        '--json',
    )
    replayed = json.loads(out)
    assert (code, replayed['equal'], replayed['trial_hash']) == (0, True, rows[0].trial_hash)
    again = read_champion(tmp_path / 'gait.yaml')
    assert again.spec.parameters['amplitude'] == rows[0].values['amplitude']
    assert gait('replay', str(run_folder), '--individual', '0/3', '--record', str(bags))[0] == 0
    lines = list(csv.DictReader((bags / 'bags.csv').read_text().splitlines()))
    assert [(line['generation'], line['individual']) for line in lines] == [('1', '1'), ('0', '3')]
    assert float(lines[0]['amplitude']) == rows[0].values['amplitude']
    found = read_bag(bags / lines[0]['bag'])
    assert found.result.trial_hash == lines[0]['trial_hash'] == rows[0].trial_hash
    assert found.about['genome']['amplitude'] == rows[0].values['amplitude']


def test_processes_that_record_at_once_lose_no_line(run_folder, tmp_path):
    candidates = ('0/0', '0/1', '0/2', '0/3', '1/0', '1/1')
    champions = [load_champion(run_folder, '', candidate) for candidate in candidates]
    folders = [BagFolder(tmp_path, champion) for champion in champions]
    for folder in folders:
        folder.check()
    loop = run_loop(champions[0].spec)
    with ThreadPoolExecutor(len(folders)) as pool:
        bags = [pool.submit(folder.write, 0, loop.rollout(), loop.result()) for folder in folders]
        names = {bag.result().name for bag in bags}
    lines = list(csv.DictReader((tmp_path / 'bags.csv').read_text().splitlines()))
    assert len(lines) == len(names) == 6 and {line['bag'] for line in lines} == names


@pytest.mark.parametrize(
    ('words', 'message'),
    [
        (['--individual', '9/0'], 'generations 0 to .* nearest valid'),
        (['--individual', '0/9'], 'has candidates 0 to 3; nearest valid: 3'),
        (['--individual', 'best'], 'expected GENERATION/INDIVIDUAL'),
        (
            ['--individual', '0/0', '--engine', 'mujoco'],
            "no engine 'mujoco' in the run: .*'?kinematic",
        ),
        (
            ['--individual', '0/0', '--engine', 'kinematc'],
            "no engine 'kinematc' in the run: did you mean 'kinematic'",
        ),
    ],
)
def test_individuals_that_are_not_there_are_one_line(gait, run_folder, words, message):
    code, _, error = gait('replay', str(run_folder), *words)
    assert code == 2 and re.search(message, error) and error.count('\n') == 1


@pytest.mark.parametrize('name', ['gait.yaml', 'path.csv', 'bag'])
def test_an_export_takes_no_file_s_place_and_runs_no_trial_first(gait, run_folder, tmp_path, name):
    file = tmp_path / name
    file.write_text('mine')
    code, out, error = gait('replay', str(run_folder), '--export', str(file))
    assert (code, out) == (2, '') and error.count('\n') == 1
    assert str(file.with_stem(f'{file.stem}_2')) in error
    assert file.read_text() == 'mine'
    nowhere = tmp_path / 'none' / name
    if file.suffix:
        code, out, error = gait('replay', str(run_folder), '--export', str(nowhere))
        assert (code, out) == (2, '') and "none' does not exist" in error


def test_evolve_replay_and_walk_of_the_champion(gait, run_folder):
    code, out, _ = gait(
        'evolve',
        '--run-dir',
        str(run_folder),
        '--resume',
        '--generations',
        '3',
        '--workers',
        '1',
        '--json',
    )
    evolved = json.loads(out)
    assert code == 0
    assert list(evolved) == EVOLUTION_KEYS
    assert evolved['generations'] == 3
    assert evolved['best_fitness'] >= evolved['first_generation_best']
    code, out, _ = gait('replay', str(run_folder), '--json')
    replayed = json.loads(out)
    assert code == 0
    assert list(replayed) == [*TRIAL_KEYS, 'recorded_fitness', 'equal']
    assert replayed['equal'] is True
    assert replayed['fitness'] == evolved['best_fitness']
    code, out, _ = gait(
        'walk',
        'legged_box',
        '--champion',
        evolved['champion'],
        '--json',
        '--seconds',
        '0.2',
        '--seed',
        str(replayed['seed']),
    )
    assert json.loads(out)['trial_hash'] == replayed['trial_hash']
    assert json.loads(out)['fitness'] == replayed['fitness']


def test_replay_on_another_engine_says_that_equality_is_not_expected(gait, run_folder):
    code, out, err = gait('replay', str(run_folder), '--engine', 'boggy', '--json')
    replayed = json.loads(out)
    assert code == 0
    assert list(replayed) == [*TRIAL_KEYS, 'recorded_fitness', 'equal']
    assert (replayed['engine'], replayed['equal']) == ('boggy', False)
    # What that engine does, in closed form; the term is the distance.
    expected = (0.2 * replayed['recorded_fitness']) ** 0.5
    assert replayed['fitness'] == pytest.approx(expected, rel=1e-9)
    assert "of engine 'kinematic'" in err and 'hash and fitness on another engine differ' in err
    _, out, _ = gait('replay', str(run_folder), '--engine', 'boggy')
    assert 'on boggy: ok' in out and 'fitness:' in out and 'recorded fitness:' in out


def test_a_run_on_two_engines_replays_on_each_and_engine_makes_it_one(gait, run_folder, tmp_path):
    experiment = str(run_folder.parent / 'small.yaml')
    words = ('evolve', experiment, '--workers', '1', '--json', '--set', 'engines=kinematic,boggy')
    evolved = json.loads(gait(*words, '--run-dir', str(tmp_path / 'both'))[1])
    assert evolved['evaluations'] == (4 + 2) * 2
    recorded = {}
    for words_of_one in ([], ['--engine', 'kinematic'], ['--engine', 'boggy']):
        code, out, err = gait('replay', str(tmp_path / 'both'), *words_of_one, '--json')
        replayed = json.loads(out)
        assert (code, err, replayed['equal']) == (0, '', True)
        recorded.setdefault(replayed['engine'], replayed['fitness'])
    assert min(recorded.values()) == evolved['best_fitness']
    assert set(recorded) == {'kinematic', 'boggy'}
    one = json.loads(gait(*words, '--engine', 'boggy', '--run-dir', str(tmp_path / 'one'))[1])
    assert one['evaluations'] == 4 + 2
    assert not (tmp_path / 'one' / 'champion.boggy.yaml').exists()
    # The champion of another run beside it is no record of this one.
    beside = tmp_path / 'both' / 'champion.boggy.yaml'
    text = beside.read_text()
    assert 'frequency: 1.0' in text
    beside.write_text(text.replace('frequency: 1.0', 'frequency: 2.0'))
    (tmp_path / 'both' / 'champion.kinematic.yaml').replace(tmp_path / 'both' / 'champion.yaml')
    _, out, err = gait('replay', str(tmp_path / 'both'), '--engine', 'boggy', '--json')
    assert json.loads(out)['recorded_fitness'] == recorded['kinematic']
    assert "of engine 'kinematic'" in err


@pytest.mark.parametrize('controller', [(), ('--controller', 'wave')])
def test_a_champion_that_cannot_be_read_does_not_walk_as_a_parameter_file(
    gait, run_folder, tmp_path, controller
):
    file = tmp_path / 'champion.yaml'
    text = (run_folder / 'champion.yaml').read_text()
    file.write_text(re.sub(r'(?m)^( +)format: 1$', r'\1format: 2', text))
    code, out, error = gait('walk', 'legged_box', *controller, '--champion', str(file))
    assert (code, out, error.count('\n')) == (2, '', 1)
    assert 'champion format 2' in error


def test_a_run_is_not_resumed_to_no_generation(gait, run_folder):
    code, _, error = gait('evolve', '--run-dir', str(run_folder), '--resume', '--generations', '0')
    assert code == 2 and 'nearest valid: 1' in error and error.count('\n') == 1


def test_the_command_that_resumes_has_the_options_that_were_given(gait, run_folder, tmp_path):
    run = tmp_path / 'run'
    experiment = str(run_folder.parent / 'small.yaml')
    address = ('--workers', '2', '--address', 'head:6379')
    begin = ('evolve', experiment, '--run-dir', str(run), '--generations', '3', *address)
    resume = ('evolve', '--run-dir', str(run), '--resume')
    longer = ('--generations', '9', '--evaluator', 'ray')

    class Interrupted(InProcessEvaluator):
        def __init__(self, workers, address):
            super().__init__(stop_at=4)

    with register_temporarily('evaluators', ray=Interrupted):
        code, _, error = gait(*begin, '--evaluator', 'ray')
        # Generations and evaluator are in the recorded experiment.
        assert code == 130, error
        assert error.endswith(f'gait {" ".join((*resume, *address))}\n')
        code, _, error = gait(*resume, *address, *longer)
        assert code == 130
        assert error.endswith(f'gait {" ".join((*resume, *longer, *address))}\n')


def test_a_run_is_not_resumed_as_an_experiment_that_was_edited_since(gait, tmp_path):
    file, folder = tmp_path / 'cur.yaml', str(tmp_path / 'run')
    text = (
        'robot: legged_box\ngenes: {amplitude: {upper: 0.5}}\noptimizer: {settings: {elites: 1}}\n'
        'duration: 0.1\nfitness: {distance: 1.0}\ngenerations: 1\nrepeats: 2\n'
    )
    file.write_text(text)
    begin = ['--run-dir', folder, '--workers', '1', '--engine', 'kinematic', '--seed', '3']
    assert gait('evolve', str(file), *begin, '--set', 'population=4')[0] == 0
    # What the command line replaced at the start is no edit of the file.
    resume = ['--resume', '--run-dir', folder, '--workers', '1']
    assert gait('evolve', str(file), *resume, '--generations', '2')[0] == 0
    for old, new, message in (
        ('repeats: 2', 'repeats: 3', 'repeats is 3, in .*run it is 2; leave EXPERIMENT out'),
        ('elites: 1', 'elites: 2', 'optimizer.settings.elites is 2, in .* it is 1'),
        ('generations: 1', 'generations: 9', 'generations is 9, in .* it is 1'),
    ):
        file.write_text(text.replace(old, new))
        code, out, error = gait('evolve', str(file), *resume)
        assert (code, out, error.count('\n')) == (2, '', 1) and re.search(message, error)
    assert gait('evolve', str(file), *resume, '--generations', '3')[0] == 0
    assert len(read_generations(tmp_path / 'run')) == 3


def test_replay_tells_when_it_differs(gait, run_folder, tmp_path):
    file = tmp_path / 'champion.yaml'
    text = (run_folder / 'champion.yaml').read_text()
    start = text.index('    gait:')
    end = text.index('    provenance:')
    file.write_text(text[:start] + '    gait: {amplitude: 0.2, frequency: 1.0}\n' + text[end:])
    code, out, err = gait('replay', str(file), '--json')
    assert (code, json.loads(out)['equal']) == (1, False)
    assert 'differs from the record' in err and 'changed since' not in err
    text = file.read_text()
    file.write_text(text.replace("sources: '", "sources: '0"))
    assert 'code or robot were changed since' in gait('replay', str(file), '--json')[2]
    # The same on a platform with another library and another processor.
    champion = read_champion(file)
    platform = {**champion.platform, 'mujoco': '2.0.1', 'cpu': 'Other 1'}
    write_champion(file, replace(champion, platform=platform, fingerprint='0' * 64))
    present = fingerprint_fields()
    assert (
        f'recorded on another platform, which differs in cpu (Other 1, now {present["cpu"]}), '
        f'mujoco (2.0.1, now {present["mujoco"] or "none"}); the fitness agrees within 5%'
    ) in gait('replay', str(file), '--json')[2]


@pytest.mark.parametrize(
    'kind',
    [
        'robots',
        'controllers',
        'engines',
        'terrains',
        'optimizers',
        'evaluators',
        'experiments',
        'studies',
        'fitness_terms',
    ],
)
def test_list_knows_every_kind(gait, kind):
    code, out, _ = gait('list', kind, '--json')
    names = json.loads(out)['names']
    assert code == 0
    assert names == sorted(names)
    assert gait('list', kind)[0] == 0
    expected = {
        'robots': 'guroo',
        'controllers': 'wave',
        'engines': 'bullet',
        'terrains': 'flat',
        'optimizers': 'cma_es',
        'evaluators': 'ros',
        'experiments': 'guroo_quick',
        'fitness_terms': 'distance',
    }
    assert kind == 'studies' or expected[kind] in names


def test_check_reports_a_robot(gait):
    code, out, _ = gait('check', 'legged_box', '--json')
    report = json.loads(out)
    assert code == 0
    assert report['total_mass_kg'] == pytest.approx(4.0 + 8 * 0.25)
    assert gait('check', 'legged_box')[1].startswith('robot legged_box')


ROOT = '<robot name="r"><link name="base">{}</link><link name="arm"><inertial><mass value="1"/>{}'
ARM = (
    '</inertial></link><joint name="a" type="revolute"><parent link="base"/><child link="arm"/>'
    '</joint></robot>'
)
HEAVY = '<inertial><mass value="9"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'


def test_check_refuses_what_no_walk_could_start(gait, tmp_path):
    from gait_core.testing.skips import need_engine

    need_engine('bullet')
    file = tmp_path / 'robot.urdf'
    file.write_text(ROOT.format('', '') + ARM)
    checked, walked = gait('check', str(file)), gait('walk', str(file))
    assert checked == walked == (2, '', checked[2])
    assert "root link 'base' has no mass" in checked[2]


def test_check_refuses_a_colour_beyond_1(gait, tmp_path):
    file = tmp_path / 'robot.urdf'
    visual = '<visual><geometry><sphere radius="1"/></geometry><material name="m">'
    visual += '<color rgba="255 0.5 -1 1"/></material></visual>'
    file.write_text(ROOT.format(HEAVY + visual, '<inertia ixx="1" iyy="1" izz="1"/>') + ARM)
    code, out, err = gait('check', str(file))
    assert (code, out, err.count('\n')) == (2, '', 1)
    assert "link 'base': rgba is '255 0.5 -1 1'" in err and err.endswith('valid: 1 0.5 0 1\n')


def test_walk_warns_of_a_negative_inertia(gait, tmp_path):
    from gait_core.testing.skips import need_engine

    need_engine('bullet')
    file = tmp_path / 'robot.urdf'
    inertia = '<inertia ixx="1" ixy="3" iyy="1" izz="1"/>'
    file.write_text(ROOT.format(HEAVY, inertia) + ARM)
    code, _, err = gait('walk', str(file), '--seconds', '0.1')
    assert code == 0
    assert "link 'arm' has a negative principal moment of inertia" in err


# Every mistake: what was typed, and what the one line must say.
MISTAKES = [
    ('wlak guroo', "unknown command 'wlak': did you mean 'walk'"),
    ('walk', 'required: ROBOT'),
    ('walk legged_bix', "unknown robot 'legged_bix': did you mean 'legged_box'"),
    ('walk legged_box --controler wave', "unknown option '--controler': did you mean '--contro"),
    ('walk legged_box --controller wav', "did you mean 'wave'"),
    ('walk legged_box --preset wafe', "did you mean 'wave'"),
    ('walk legged_box --engine bulet', "unknown engine 'bulet': did you mean 'bullet'"),
    ('walk legged_box --terrain ruogh', "did you mean 'rough'"),
    ('walk legged_box --terrain rough:rang=1', "did you mean 'range'"),
    ('walk legged_box --terrain rough:range', 'expected NAME:KEY=VALUE'),
    ('walk legged_box --set gait.amplitde=1', "did you mean 'amplitude'"),
    ('walk legged_box --set gait.amplitude=7', 'nearest valid: 1'),
    ('walk legged_box --set gait.amplitude=nan', 'finite'),
    ('walk legged_box --set gait.amplitude=high', 'expected a number'),
    ('walk legged_box --set gait', 'expected NAME=VALUE'),
    ('walk legged_box --set gait=1', 'needs a name after a dot'),
    ('walk legged_box --set gaid.amplitude=1', "did you mean 'gait.<name>'"),
    ('walk legged_box --set scene.fricton=1', "did you mean 'scene.friction'"),
    ('walk legged_box --set scene.friction=-1', 'must not be negative'),
    ('walk legged_box --set scene.physics_step=0.003', 'nearest valid'),
    ('walk legged_box --engine kinematic --set scene.engine.foo=3', '--engine sets scene.engine'),
    ('walk legged_box --engine kinematic --set scene=3', 'needs a name after a dot'),
    ('walk legged_box --terrain flat --set scene.terrain.seed=3', '--terrain sets scene.terrain'),
    ('evolve guroo_quick --engine mujoco --set scene=3', '--engine sets scene.engine'),
    ('walk legged_box --set scene.engine_options={}', 'changes nothing'),
    ('evolve guroo_quick --seed 1 --set seed=3', '--seed sets seed, --set does, too'),
    ('walk legged_box --set settle_time=x', 'expected a number of seconds'),
    ('walk legged_box --set seed=1 --set seed=2', "'seed' is set twice"),
    (
        'walk legged_box --set scene.friction=0.05 --set scene={"draw":0}',
        "'scene' was set to a value, so 'scene.friction' cannot be set",
    ),
    (
        'walk legged_box --set scene={"draw":0} --set scene.friction=0.05',
        "'scene' was set to a value, so 'scene.friction' cannot be set",
    ),
    (
        'evolve guroo_quick --set gait.lag={"fl":1} --set gait.lag.fl=2',
        "'gait.lag' was set to a value, so 'gait.lag.fl' cannot be set",
    ),
    (
        'evolve guroo_quick --set gait.lag=1 --set parameters.lag=2',
        "'gait.lag' and 'parameters.lag' set the same value",
    ),
    ('walk legged_box --set scene={"draw":0,"draw":1}', "the key 'draw' is written twice"),
    ('walk legged_box --terrain rough:range=.01,range=.02', "'range' is set twice"),
    ('check legged_box --package x=. --package x=..', "the folder of 'x' is set twice"),
    ('walk legged_box --seconds 0', 'it must be positive'),
    ('walk legged_box --seconds 1e300', 'nearest valid: 200000 s'),
    ('walk legged_box --set settle_time=1e12', 'nearest valid: 200000 s'),
    ('walk legged_box --set scene.robot=a1', 'leave scene.robot out'),
    ('walk legged_box --set scene.draw=x', "scene.draw is 'x'"),
    ('walk legged_box --champion=', "empty argument after '--champion'"),
    ('walk legged_box --record {run}/run.yaml', 'exists; nearest valid'),
    ('walk legged_box --seconds ten', "invalid float value: 'ten'"),
    ('walk legged_box --seed -1', 'seed -1'),
    ('walk legged_box --seed 1.5', "invalid int value: '1.5'"),
    ('walk legged_box --cmd fast', 'expected VX[,VY[,WZ]]'),
    ('walk legged_box --cmd 1e300', 'nearest valid: 1e+06'),
    ('walk legged_box --cmd -0.05,0,x', "command '-0.05,0,x': expected"),
    ('walk legged_box --json -0.05,0', "unknown option '-0.05,0'"),
    ('walk legged_box --champion none.yaml', 'No such file'),
    ('walk legged_box --video walk.mp4', "nearest valid: 'walk.gif'"),
    ('walk legged_box --video none/walk.gif', "folder 'none' does not exist"),
    ('walk legged_box --viewer', 'a viewer needs a display'),
    ('walk legged_box --champion {run}/run.yaml', 'not a ROS parameter file'),
    (
        'walk guroo --champion {run}/champion.yaml',
        "robot 'legged_box', not of 'guroo'",
    ),
    ('walk legged_box extra', "unexpected argument 'extra'"),
    ('evolve', 'EXPERIMENT is missing'),
    ('evolve guroo_quik', "did you mean 'guroo_quick'"),
    ('evolve none.yaml', 'No such file'),
    ('evolve guroo_quick --evaluator locl', "did you mean 'local'"),
    ('evolve guroo_quick --engine bulet', "did you mean 'bullet'"),
    ('evolve guroo_quick --set engines=bulet,mujoco', "did you mean 'bullet'"),
    ('evolve guroo_quick --engine absent --run-dir {new}', "engine 'absent' is not usable here"),
    ('replay {run} --engine absent', "engine 'absent' is not usable here"),
    ('replay {run} --engine ../boggy', "did you mean 'boggy'"),
    ('evolve guroo_quick --generations 0', 'is 0, outside [1, 1000000]'),
    ('evolve guroo_quick --set populaton=3', "did you mean 'experiment.population'"),
    ('evolve guroo_quick --set optimizer.settings.elits=3', "did you mean 'elites'"),
    ('evolve guroo_quick --run-dir {run}', 'holds a run already'),
    ('evolve guroo_quick --run-dir {run}/run.yaml', 'run.yaml is a file, expected a folder'),
    ('evolve guroo_quick --run-dir {run}/run.yaml/x', 'Not a directory'),
    ('evolve guroo_quick --workers -1 --run-dir {new}', 'must not be negative'),
    ('evolve --resume', '--resume needs --run-dir'),
    ('evolve --resume --run-dir nowhere', 'is not a run directory'),
    ('evolve --resume --run-dir {run} --seed 4', '--seed cannot change a resumed run'),
    ('evolve guroo_quick --resume --run-dir {run}', "is a run of 'small', not of 'guroo_quick'"),
    ('replay nowhere', 'No such file'),
    ('replay {run}/run.yaml', 'not a ROS parameter file'),
    ('replay {new}', 'champion.yaml'),
    ('check nowhere.urdf', 'nowhere.urdf'),
    ('walk a1 --set scene.engine=[1]', 'scene.engine is [1], expected text'),
    ('walk a1 --set scene.engine=[]', 'scene.engine is [], expected text'),
    ('walk legged_box --video /', "nearest valid: '/video.gif'"),
    ('walk legged_box --record .', "bag '.' exists; nearest valid: 'bag_2'"),
    ('replay {run} --export /', "bag '/' exists; nearest valid: '/bag_2'"),
    ('check legged_box --package x', 'expected NAME=PATH'),
    ('check legged_box --package x=absent', "the folder 'absent' does not exist"),
    ('check legged_box --package ../x=/tmp', 'expected NAME=PATH'),
    (f'walk legged_box --set settle_time={400 * "9"}', 'a number of 400 characters; at most 64'),
    (f'walk legged_box --set {1000 * "a."}b=3', 'has more than 20 dots'),
    (f'walk legged_box --set scene.friction={9000 * "["}', 'scene.friction is'),
    ('evolve guroo_quick --workers 99999999999999999999 --run-dir {new}', 'nearest valid: 1000'),
    ('list robot', "unknown kind 'robot': did you mean 'robots'"),
]


@pytest.mark.parametrize(('words', 'message'), MISTAKES, ids=[words for words, _ in MISTAKES])
def test_a_mistake_is_one_line_and_2(gait, run_folder, tmp_path, monkeypatch, words, message):
    monkeypatch.delenv('DISPLAY', raising=False)
    monkeypatch.delenv('WAYLAND_DISPLAY', raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'new').mkdir()
    filled = words.replace('{run}', str(run_folder)).replace('{new}', str(tmp_path / 'new'))
    before = sorted(run_folder.iterdir())
    code, out, err = gait(*filled.split(), *(['--json'] if words != 'wlak guroo' else []))
    assert code == 2
    assert out == ''
    assert err.startswith('gait: ')
    assert err.count('\n') == 1
    assert message in err
    assert sorted(run_folder.iterdir()) == before
    assert not list((tmp_path / 'new').iterdir())


@pytest.mark.parametrize(
    ('line', 'message'),
    [
        ('amplitde: 0.5', "unknown parameter 'amplitde': did you mean 'amplitude'"),
        ('amplitude: 7', "parameter 'amplitude' = 7 rad is outside [0, 1]; nearest valid: 1"),
        ('amplitude: high', "parameter 'amplitude' is 'high', expected a number"),
        ('amplitude: .nan', "parameter 'amplitude' is nan, expected a finite number"),
    ],
)
def test_a_wrong_parameter_of_a_gait_file_is_named_with_its_position(
    gait, tmp_path, line, message
):
    file = tmp_path / 'gait.yaml'
    file.write_text(f'/**:\n  ros__parameters:\n    gait:\n      frequency: 1\n      {line}\n')
    code, _, err = gait('walk', 'legged_box', '--controller', 'wave', '--champion', str(file))
    assert code == 2
    assert err.startswith(f'gait: {file}, line 5, column 7: {message}')
    assert err.count('\n') == 1


def test_a_folder_that_may_not_be_written_is_one_line(gait, tmp_path, monkeypatch):
    # Root may write anywhere: the file system's refusal is made, not asked for.
    def refuse(*_):
        raise PermissionError(13, 'Permission denied')

    monkeypatch.setattr('gait_core.files.access._replace_file', refuse)
    code, out, err = gait('evolve', 'guroo_quick', '--run-dir', str(tmp_path / 'run'))
    assert (code, out) == (2, '')
    assert 'Permission denied' in err
    assert err.count('\n') == 1


def test_help_imports_nothing_slow():
    # 0.3 s after the interpreter's start is the promise; what would break it are these imports.
    script = (
        'import sys; from gait_tools import cli; cli.main(["--help"]); '
        'sys.exit(any(name in sys.modules for name in ("numpy", "scipy", "yaml", "matplotlib")))'
    )
    done = subprocess.run([sys.executable, '-c', script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert all(name in done.stdout for name in cli.COMMANDS)


def test_a_closed_pipe_is_no_fault():
    script = f'{sys.executable} -m gait_tools.cli list controllers | head -c 1 > /dev/null'
    done = subprocess.run(
        ['bash', '-c', f'set -o pipefail; {script}'], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, '')


@pytest.mark.parametrize(
    ('shell', 'code', 'message'),
    [
        ('{gait} list robots >&-', 0, ''),
        ('{gait} list robots <&-', 0, ''),
        ('{gait} list robots > /dev/full', 2, 'No space left on device'),
        ('mkdir gone; cd gone; rmdir ../gone; {gait} list robots', 2, 'the current folder'),
        ('{gait} walk legged_box --champion "$UNSET"', 2, "empty argument after '--champion'"),
        ('LC_ALL=C PYTHONIOENCODING=ascii {gait} list röbots', 2, "did you mean 'robots'"),
        ('PYTHONIOENCODING=ascii {gait} init robot ü/legs', 0, ''),
        (r"{gait} init robot $'\xff/rob'", 2, 'cannot be written'),
    ],
)
def test_a_strange_surrounding_is_no_traceback(tmp_path, shell, code, message):
    command = shell.replace('{gait}', f'{sys.executable} -m gait_tools.cli')
    done = subprocess.run(
        ['bash', '-c', command], capture_output=True, text=True, cwd=tmp_path, encoding='utf-8'
    )
    lines = [line for line in done.stderr.splitlines() if line.startswith('gait: ')]
    assert done.returncode == code, done.stderr
    assert 'Traceback' not in done.stderr
    assert len(lines) == (code == 2) and message in ''.join(lines)


def test_later_signals_do_not_break_off_what_the_first_one_began():
    script = (
        'import os, signal, time\n'
        'from gait_tools.cli import InterruptHandler\n'
        'interrupt = InterruptHandler()\n'
        'interrupt.install()\n'
        'try:\n'
        '    os.kill(os.getpid(), signal.{first})\n'
        '    time.sleep(5)\n'
        'except KeyboardInterrupt:\n'
        '    for number in (signal.SIGINT, signal.SIGTERM):\n'
        '        os.kill(os.getpid(), number)\n'
        '    interrupt.remove(for_good=True)\n'
        '    os.kill(os.getpid(), signal.SIGTERM)\n'
        '    print(interrupt.exit_code)\n'
    )
    for first, code in (('SIGINT', 130), ('SIGTERM', 143)):
        done = subprocess.run(
            [sys.executable, '-c', script.replace('{first}', first)],
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, f'{code}\n', '')


def test_every_command_has_a_module():
    folder = Path(cli.__file__).parent / 'commands'
    assert all((folder / f'{name}.py').is_file() for name in cli.COMMANDS)


# Measurements


def measurement(name, measured):
    return Measurement(id=name, what=name, unit='s', measured=measured, budget=1.0)


def test_checks_are_run_one_by_one_and_each_counts(gait, monkeypatch):
    def broken(share):
        raise RuntimeError('it broke')

    checks = {
        'broken': broken,
        'kept': lambda share: [measurement('kept', share)],
        'slow': lambda share: [measurement('slow', 2.0 * share)],
    }
    monkeypatch.setattr('gait_tools.checks.acceptance.CHECKS', checks)
    code, out, err = gait('bench', '--checks', '--json')
    rows = {row['id']: row['verdict'] for row in json.loads(out)['rows']}
    assert (code, rows) == (1, {'broken_ends': 'fail', 'kept': 'pass', 'slow': 'fail'})
    assert 'it broke' in err
    code, out, err = gait('bench', '--checks', '--only', 'kept')
    assert code == 0
    assert 'pass' in out and 'slow' not in out + err
    code, out, err = gait('bench', '--checks', '--only', 'kepp')
    assert (code, out) == (2, '')
    assert err.startswith("gait: unknown measurement 'kepp': did you mean 'kept'?")
    assert err.count('\n') == 1


# Code that a user added


@pytest.fixture
def raising(tmp_path, monkeypatch):
    """Return a function that registers a controller of one line, in a file of its own."""

    def register(line):
        (tmp_path / 'added_code.py').write_text(RAISING.format(line))
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, 'added_code', raising=False)
        importlib.invalidate_caches()
        return register_temporarily(
            'controllers', raising=importlib.import_module('added_code').Raising
        )

    return register


@pytest.mark.parametrize(
    ('line', 'said'),
    [
        ('1 / 0', 'ZeroDivisionError: division by zero'),
        ('sys.exit(0)', 'SystemExit: 0'),
        ('__import__("os")._exit(0)', 'SystemExit: os._exit(0)'),
        ('self.step(dt, command, observation)', 'RecursionError: '),
        ("raise ValueError('x' * 10**6)", 'ValueError: xxx'),
    ],
)
def test_what_a_controller_raises_is_the_status_of_its_walk(gait, raising, line, said):
    words = ('walk', 'legged_box', '--controller', 'raising', '--seconds', '0.1')
    with raising(line):
        code, out, err = gait(*words)
        assert code == 1 and not err and 'invalid:exception' in out.splitlines()[0]
        assert said in out and 'added_code.py:7' in out and len(out.splitlines()[0]) < 600
        code, out, err = gait(*words, '--json')
    assert code == 1 and json.loads(out)['status'] == 'invalid:exception'
    assert said in err and len(err.splitlines()) == 1 and 'added_code.py:7' in err


@pytest.mark.parametrize('line', ['1 / 0', 'import sys; sys.exit(0)', 'raise KeyError(3)', 'a b'])
@pytest.mark.parametrize('words', [('check',), ('walk',)])
def test_what_a_robot_raises_is_one_line_with_its_place(gait, tmp_path, line, words):
    folder = tmp_path / 'drawn'
    folder.mkdir()
    (folder / 'model.py').write_text(f'\n{line}\n')
    code, out, err = gait(*words, str(folder))
    assert code == 2 and not out
    assert len(err.splitlines()) == 1 and f'{folder / "model.py"}:2' in err


@pytest.mark.parametrize(
    ('defaults', 'message'),
    [
        ('{controller: wave, preset: wav}', "did you mean 'wave'"),
        ('{controller: wave, gait: {amplitude: 7}}', 'nearest valid: 1'),
        ('{controller: wav}', "did you mean 'wave'"),
        ('{terrains: {steps: {height: -1}}}', 'height'),
        ('{engines: {bulet: {}}}', "did you mean 'bullet'"),
    ],
)
def test_check_refuses_defaults_that_a_walk_would_refuse(gait, tmp_path, defaults, message):
    (tmp_path / 'box.urdf').write_text(to_urdf(legged_box(legs=1, joints=1)))
    (tmp_path / 'robot.yaml').write_text(f'urdf: box.urdf\ndefaults: {defaults}\n')
    for words in (('check',), ('walk', '--terrain', 'steps')):
        code, _, err = gait(words[0], str(tmp_path), *words[1:])
        assert code == 2 and message in err and len(err.splitlines()) == 1, words


def test_a_lack_of_memory_is_one_line(gait, monkeypatch):
    def run(spec):
        raise MemoryError

    monkeypatch.setattr('gait_core.trial.loop.run_loop', run)
    code, _, err = gait('walk', 'legged_box', '--controller', 'wave', '--seconds', '0.1')
    assert code == 1 and len(err.splitlines()) == 1 and 'memory' in err


def test_a_closed_terminal_does_not_change_the_exit_code_of_a_signal():
    """A line that waits in the stream cannot be written any more."""
    program = (
        'import os, signal, sys\n'
        'from gait_tools import cli\n'
        'def stop(words):\n'
        "    sys.stdout.write('a line')\n"
        '    signal.raise_signal(signal.SIGHUP)\n'
        'cli._dispatch = stop\n'
        'sys.exit(cli.main())\n'
    )
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, '-c', program],
            stdout=writer,
            env={name: value for name, value in os.environ.items() if name != 'PYTHONUNBUFFERED'},
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
        )
    finally:
        os.close(writer)
    assert done.returncode == 128 + signal.SIGHUP


PROGRESS = """
import os, sys
from gait_evolver.loop import EvolutionProgress
from gait_tools import cli
from gait_tools.progress import make_progress_display

def show(words):
    display = make_progress_display()
    for generation in range(1, 4):
        display(EvolutionProgress(generations=3, generation=generation))
        display.note('a worker was lost')
    display.close()
    return 5

def break_pipe(words):
    reader, writer = os.pipe()
    os.close(reader)
    os.write(writer, b'to a worker')

cli._dispatch = {}
sys.exit(cli.main())
"""


@pytest.mark.parametrize('device', ['pipe', 'full'])
def test_progress_that_nobody_reads_ends_no_run(device):
    reader, errors = os.pipe()
    os.close(reader)
    if device == 'full':
        os.close(errors)
        errors = os.open('/dev/full', os.O_WRONLY)
    try:
        done = subprocess.run([sys.executable, '-c', PROGRESS.format('show')], stderr=errors)
    finally:
        os.close(errors)
    assert done.returncode == 5


def test_only_a_closed_standard_output_is_a_lost_reader():
    words = [sys.executable, '-c', PROGRESS.format('break_pipe')]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, 'gait: Broken pipe\n')


def test_help_is_help(gait):
    assert gait('help') == gait('--help') == (0, f'{cli.format_usage()}\n', '')
    assert gait('help', 'walk') == gait('walk', '--help')
    code, _, err = gait('help', 'wlk')
    assert code == 2 and err.startswith("gait: unknown command 'wlk': did you mean 'walk'?")
    code, out, err = gait('help', 'walk', 'guroo')
    assert (code, out, err.count('\n')) == (2, '', 1) and "'guroo'" in err


def test_parameters_and_presets_of_a_controller_are_listed(gait):
    code, out, _ = gait('list', 'parameters', 'wave')
    assert code == 0
    assert out.splitlines() == [
        'amplitude  0.2 rad (0 to 1): About the stance.',
        'frequency  1 Hz (0.1 to 5): Waves per second.',
    ]
    _, out, _ = gait('list', 'presets', 'phase_cpg')
    assert 'crawl   gait=crawl, duty_factor=0.88, frequency=0.5, sway=0.06' in out.splitlines()
    assert 'trot    gait=trot (default preset)' in out.splitlines()
    _, out, _ = gait('list', 'parameters', 'keyframe_stride')
    assert 'postures         empty (-360 to 360 deg, cm): 48 numbers as published' in out
    _, out, _ = gait('list', 'presets', 'wave', '--json')
    assert json.loads(out) == {'kind': 'presets', 'names': ['wave']}
    for words, message in (
        (('presets',), '`gait list presets` needs a CONTROLLER: valid: '),
        (('presets', 'wav'), "unknown controller 'wav': did you mean 'wave'"),
        (('robots', 'wave'), "unexpected argument 'wave'"),
        (('parameter',), "unknown kind 'parameter': did you mean 'parameters'"),
    ):
        code, out, err = gait('list', *words)
        assert (code, out, err.count('\n')) == (2, '', 1) and message in err
