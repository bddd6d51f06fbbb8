# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Robots, plugins and files that travel to workers of Ray, and what a worker refuses by name."""

from __future__ import annotations

from dataclasses import replace
import json
from pathlib import Path
import shutil
import subprocess
import sys

import pytest
import yaml

from gait_core import registry
from gait_core.robot.load import load_robot
from gait_core.testing.workspace import workspace
from gait_core.trial.fingerprint import fingerprint, fingerprint_fields
from gait_core.trial.loop import run_trial
from gait_core.trial.setup import make_scene, trial_of_scene
from gait_evolver.evaluators.ray_worker import TrialActor
from gait_evolver.evaluators.shipping import (
    hash_part,
    hash_suite,
    pack_part,
    pack_robot,
    pack_spec,
    use_part,
    write_files,
)
from gait_evolver.evaluators.worker import DONE

NOTHING = ('', {})


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp('parts')
    with workspace(root):
        yield root


def test_a_worker_says_by_name_what_it_reads_otherwise(folder):
    actor = TrialActor()
    parts = [
        pack_part(*part)[0]
        for part in (('robots', 'legged_box'), ('controllers', 'wave'), ('engines', 'kinematic'))
    ]
    expected = {
        'fingerprint': fingerprint(),
        'platform': fingerprint_fields(),
        'suite': hash_suite(),
        'parts': parts,
    }
    assert actor.check(expected, NOTHING, NOTHING, NOTHING) == ''
    other = {**fingerprint_fields(), 'numpy': '1.0'}
    assert 'another platform: numpy (1.0, now ' in actor.check(
        {**expected, 'fingerprint': '', 'platform': other}
    )
    assert actor.check({**expected, 'suite': 'x'}) == 'another version of the suite'
    robot, controller, _ = parts
    for change, text in (
        ({**robot, 'hash': 'x', 'path': ''}, "another version of robot 'legged_box'"),
        ({**robot, 'name': 'legged_bax', 'path': ''}, "unknown robot 'legged_bax'"),
        ({**controller, 'hash': 'x'}, "another version of controller 'wave'"),
        ({**controller, 'name': 'plugin'}, "unknown controller 'plugin'"),
    ):
        assert text in actor.check({**expected, 'parts': [change]}, NOTHING)


@pytest.fixture
def shipped(folder, tmp_path):
    """Return a trial of a robot and a gait file that are given by their paths."""
    robot = tmp_path / 'own' / 'box'
    shutil.copytree(folder / 'robots' / 'legged_box', robot)
    gait = tmp_path / 'own.yaml'
    legs = [leg.name for leg in load_robot(str(robot)).legs]
    gait.write_text(
        yaml.safe_dump(
            {
                'duty_factor': dict.fromkeys(legs, 0.6),
                'lags': {leg: 0.5 * (number % 2) for number, leg in enumerate(legs)},
            }
        )
    )
    spec = trial_of_scene(
        make_scene(str(robot), {'engine': 'kinematic'}),
        controller='phase_cpg',
        parameters={'gait': 'own', 'gait_file': str(gait)},
    )
    return replace(spec, duration=0.2)


def test_a_robot_and_a_gait_file_travel_by_content_and_no_path_does(shipped, tmp_path):
    plain, files = pack_spec(shipped)
    assert str(tmp_path) not in json.dumps(plain)
    contents = {name: Path(path).read_bytes() for name, path in files}
    expected = run_trial(shipped)
    shutil.rmtree(tmp_path / 'own')
    (tmp_path / 'own.yaml').unlink()
    kind, answer = TrialActor().run(plain, b'', ('digest', contents))
    assert (kind, answer['trial_hash']) == (DONE, expected.trial_hash)


def test_files_that_change_places_make_another_version(folder, tmp_path):
    hashes = []
    for name, order in (('one', 'ab'), ('copy', 'ab'), ('two', 'ba')):
        shutil.copytree(folder / 'robots' / 'legged_box', tmp_path / name)
        for text, place in zip(order, ('left', 'right'), strict=True):
            (tmp_path / name / place).mkdir()
            (tmp_path / name / place / 'part.txt').write_text(text)
        pack_robot.cache_clear()
        hashes.append(hash_part('robots', str(tmp_path / name)))
    assert hashes[0] == hashes[1] != hashes[2]


def test_a_robot_of_links_travels_with_what_its_files_include(tmp_path):
    link = (
        '<link name="a"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )
    xacro = '<robot name="box" xmlns:xacro="http://www.ros.org/wiki/xacro">{}</robot>'
    source, installed = tmp_path / 'source', tmp_path / 'share' / 'robots' / 'box'
    for folder in (source / 'box', source / 'parts', installed):
        folder.mkdir(parents=True)
    (source / 'parts' / 'a.xacro').write_text(f'<robot>{link}</robot>')
    (source / 'box' / 'box.urdf.xacro').write_text(
        xacro.format('<xacro:include filename="../parts/a.xacro"/>')
    )
    (installed / 'box.urdf.xacro').symlink_to(source / 'box' / 'box.urdf.xacro')
    part, files = pack_part('robots', str(installed))
    contents = {name: Path(path).read_bytes() for name, path in files}
    shutil.rmtree(source)
    write_files(contents, tmp_path / 'sent')
    assert use_part(part, tmp_path / 'sent') == ''


PACKAGE = """
from importlib.metadata import version
from pathlib import Path
from plugin_helper_{name} import Plugin
VERSION, TEXT = version('plugin-{name}'), (Path(__file__).parent / 'plugin.txt').read_text()
"""
HELPER = 'class Plugin:\n    pass\n'
MODULES = {
    'module': HELPER,
    'lacking': 'import no_such_library',
    'raising': 'raise KeyError("no such key")',
    'older': 'VERSION = 2',
}


def install(name, root):
    """Install a plugin that registers a controller; return the new entries of the path."""
    code, site = root / name, root / name / 'site'
    (code / f'plugin_{name}').mkdir(parents=True)
    (code / f'plugin_{name}' / '__init__.py').write_text(PACKAGE.format(name=name))
    (code / f'plugin_{name}' / 'plugin.txt').touch()
    (code / f'plugin_helper_{name}.py').write_text(HELPER)
    path = [site]
    if name == 'linked':
        # As `colcon build --symlink-install` does.
        site.mkdir()
        for linked in (f'plugin_{name}', f'plugin_helper_{name}.py'):
            (site / linked).symlink_to(code / linked)
        metadata, facts = site / f'plugin_{name}.egg-info', 'PKG-INFO'
    elif name == 'developed':
        path = [code]
        metadata, facts = code / f'plugin_{name}.egg-info', 'PKG-INFO'
    else:
        path = [site, code]
        metadata, facts = site / f'plugin_{name}-1.0.dist-info', 'METADATA'
    if name in MODULES:
        shutil.rmtree(code / f'plugin_{name}')
        (code / f'plugin_{name}.py').write_text(MODULES[name])
    metadata.mkdir(parents=True)
    (metadata / facts).write_text(f'Metadata-Version: 2.1\nName: plugin-{name}\nVersion: 1.0\n')
    (metadata / 'entry_points.txt').write_text(
        f'[gait.controllers]\n{name} = plugin_{name}:Plugin\n'
    )
    (metadata / 'top_level.txt').write_text(f'plugin_{name}\nplugin_helper_{name}\n')
    return [str(entry) for entry in path]


WORKER = """
import json
from pathlib import Path
import sys
from gait_evolver.evaluators.shipping import use_part, write_files
sys.path.insert(0, sys.argv[1])
import plugin_older
for part, files, folder in json.load(sys.stdin):
    write_files({name: Path(path).read_bytes() for name, path in files}, Path(folder))
    print(use_part(part, Path(folder)) or sys.modules['plugin_' + part['name']].__file__)
"""


def test_a_plugin_of_any_layout_is_found_by_a_process_that_lacks_it_or_has_another(
    folder, tmp_path, monkeypatch
):
    names = ('editable', 'developed', 'linked', *MODULES)
    monkeypatch.setattr(
        sys, 'path', [*sys.path, *(e for n in names for e in install(n, tmp_path))]
    )
    registry.clear_entry_cache()
    sent = [(*pack_part('controllers', name), str(tmp_path / f'sent {name}')) for name in names]
    monkeypatch.undo()
    registry.clear_entry_cache()
    (tmp_path / 'old').mkdir()
    for name in ('older', 'module'):
        (tmp_path / 'old' / f'plugin_{name}.py').write_text('VERSION = 1')
    done = subprocess.run(
        [sys.executable, '-c', WORKER, str(tmp_path / 'old')],
        input=json.dumps(sent),
        capture_output=True,
        text=True,
    )
    answers = dict(zip(names, done.stdout.splitlines(), strict=True))
    for name in ('editable', 'developed', 'linked'):
        assert answers[name] == f'{tmp_path}/sent {name}/plugin_{name}/__init__.py'
    assert answers['module'] == f'{tmp_path}/sent module/plugin_module.py'
    assert answers['older'] == "another version of controller 'older'"
    assert (
        "controller 'lacking' is not usable here: No module named 'no_such" in answers['lacking']
    )
    assert (
        "controller 'raising' is not usable here: KeyError: 'no such key' (" in answers['raising']
    )
