# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Starts of experiments, robots, controllers and fitness terms run as they are written."""

import json
import subprocess
import sys

import pytest

from gait_core import registry
from gait_core.errors import NotInstalled
from gait_core.robot.find import robot_names
from gait_core.robot.load import load_robot
from gait_core.testing.skips import need_engine
from gait_core.testing.workspace import workspace
from gait_core.trial.loop import run_trial
from gait_core.trial.setup import default_trial
from gait_evolver.plan import load_plan
from gait_tools import cli


@pytest.fixture(autouse=True, scope='module')
def kinematic(tmp_path_factory):
    with workspace(tmp_path_factory.mktemp('workspace')):
        yield


@pytest.fixture
def gait(capsys, monkeypatch, tmp_path):
    """Return what runs a command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        code = cli.main(words)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def installed(monkeypatch):
    """Return what installs a package of its folder into this process."""
    added = []

    def install(folder):
        command = [sys.executable, 'setup.py', '-q', 'egg_info']
        subprocess.run(command, cwd=folder, check=True, timeout=60)
        monkeypatch.syspath_prepend(str(folder))
        added.append(folder.name)
        registry.clear_entry_cache()

    yield install
    registry.clear_entry_cache()
    for name in added:
        for module in [name, *(loaded for loaded in sys.modules if loaded.startswith(f'{name}.'))]:
            sys.modules.pop(module, None)


@pytest.mark.parametrize('engine', ['mujoco', 'bullet'])
def test_a_new_robot_is_checked_without_a_warning_and_walks_straight(gait, tmp_path, engine):
    need_engine(engine)
    code, out, _ = gait('init', 'robot', 'new/my_robot')
    assert (code, out.splitlines()[0]) == (0, 'wrote new/my_robot')
    code, out, _ = gait('check', 'new/my_robot')
    assert code == 0 and 'WARNING' not in out
    metrics = run_trial(default_trial('new/my_robot', 3.0, {'engine': engine})).metrics
    assert metrics['displacement_x_m'] > 0.8 * 0.3 * 3.0
    assert abs(metrics['yaw_rad']) < 0.05


def test_an_experiment_of_a_robot_folder_runs_from_any_folder(gait, tmp_path, monkeypatch):
    need_engine('mujoco')
    robot = 'my robots: all/strider'
    assert gait('init', 'robot', robot)[0] == 0
    (tmp_path / 'searches').mkdir()
    code, out, _ = gait('init', 'experiment', 'searches/walk.yaml', '--robot', robot, '--json')
    assert code == 0
    assert json.loads(out) == {
        'kind': 'experiment',
        'path': 'searches/walk.yaml',
        'next': ['gait evolve searches/walk.yaml'],
    }
    monkeypatch.chdir(tmp_path / 'searches')
    short = ['--set', 'population=4', '--set', 'duration=0.4', '--engine', 'mujoco']
    code, _, err = gait('evolve', 'walk.yaml', '--generations', '1', '--workers', '1', *short)
    assert code == 0, err


@pytest.mark.parametrize('robot', robot_names())
def test_an_experiment_is_valid_for_every_robot_that_has_parameters_to_search(gait, robot):
    try:
        load_robot(robot)
    except NotInstalled as error:
        pytest.skip(str(error))
    code, _, err = gait('init', 'experiment', 'walk.yaml', '--robot', robot)
    if load_robot(robot).defaults.get('controller', '') in ('', 'hold'):
        assert code == 2 and 'has no parameters to search; nearest valid: --robot guroo' in err
        return
    assert code == 0, err
    plan = load_plan('walk.yaml')
    assert len(plan.space) == 3
    # The gait that the robot walks without a search lies within the bounds.
    for gene in plan.space.genes:
        assert gene.lower <= default_trial(robot).parameters[gene.name] <= gene.upper


def test_without_a_path_it_is_named_after_its_kind(gait, tmp_path):
    names = {kind: f'my_{kind}' for kind in ('robot', 'controller', 'fitness_term')}
    for kind, name in {'experiment': 'my_experiment.yaml', **names}.items():
        code, out, _ = gait('init', kind)
        assert code == 0 and out.startswith(f'wrote {name}\nnext: ')
        assert (tmp_path / name).exists()


def test_a_new_controller_walks_with_its_presets(gait, installed, tmp_path):
    assert gait('init', 'controller', 'my_gait')[0] == 0
    installed(tmp_path / 'my_gait')
    words = ('--controller', 'my_gait', '--preset', 'quick', '--seconds', '0.5', '--json')
    code, out, err = gait('walk', 'legged_box', *words)
    assert code == 0, err
    assert json.loads(out)['controller'] == 'my_gait'
    code, _, err = gait('init', 'controller', 'elsewhere/my_gait')
    assert (code, err.count('\n')) == (2, 1) and 'is registered already' in err


def test_a_new_fitness_term_is_measured(gait, installed, tmp_path):
    assert gait('init', 'fitness_term', 'my_term')[0] == 0
    installed(tmp_path / 'my_term')
    (tmp_path / 'search.yaml').write_text(
        'robot: legged_box\ngenes: {amplitude:}\nfitness: {my_term: 1.0}\n'
        'population: 4\nduration: 0.2\n'
    )
    code, _, err = gait('evolve', 'search.yaml', '--generations', '1', '--workers', '1')
    assert code == 0, err


@pytest.mark.parametrize(
    ('words', 'message'),
    [
        (
            ('thing', 'x'),
            "unknown kind 'thing': valid: controller, experiment, fitness_term, robot",
        ),
        (('robot', 'there'), "'there' exists already"),
        (('experiment', 'there.yaml'), "'there.yaml' exists already"),
        (('experiment', 'walk'), "'walk': an experiment is a YAML file, e.g. walk.yaml"),
        (('experiment', 'no/walk.yaml'), "the folder 'no' does not exist"),
        (('experiment', 'walk.yaml', '--robot', 'gurro'), "did you mean 'guroo'"),
        (('robot', '7up'), "name '7up' of a robot: expected"),
        (('robot', 'mine', '--robot', 'a1'), '--robot is for an experiment'),
        (('controller', 'hold'), "a controller 'hold' is registered already"),
        (('controller', 'class'), "name 'class' of a controller is a word of Python"),
        (('fitness_term', 'numpy'), "a Python package 'numpy' is installed already"),
    ],
)
def test_nothing_is_overwritten_and_wrong_names_are_refused(gait, tmp_path, words, message):
    (tmp_path / 'there').mkdir()
    (tmp_path / 'there.yaml').write_text('mine')
    before = sorted(tmp_path.iterdir())
    code, out, err = gait('init', *words)
    assert (code, out, err.count('\n')) == (2, '', 1) and message in err
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / 'there.yaml').read_text() == 'mine'
