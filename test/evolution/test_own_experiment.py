# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""A user's own robot folder, controller, fitness term and experiment, outside this repository."""

from __future__ import annotations

import json
import os
from pathlib import Path
import subprocess
import sys

import pytest

from gait_core import registry
from gait_core.trial.champion import read_champion
from gait_tools import cli

URDF = """<robot name="crawler">
  <link name="body">
    <inertial><mass value="2.0"/>
      <inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.3 0.16 0.08"/></geometry></collision>
  </link>
  {legs}
</robot>
"""
LEG = """<link name="{name}_foot">
    <inertial><origin xyz="0 0 -0.05"/><mass value="0.2"/>
      <inertia ixx="2e-4" iyy="2e-4" izz="5e-5" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 -0.06"/>
      <geometry><box size="0.03 0.03 0.12"/></geometry></collision>
  </link>
  <joint name="{name}_hip" type="revolute">
    <parent link="body"/><child link="{name}_foot"/><origin xyz="{x} {y} -0.02"/>
    <axis xyz="0 1 0"/><limit lower="-0.8" upper="0.8" effort="8" velocity="10"/>
  </joint>"""
PLACES = {'fl': (0.13, 0.1), 'fr': (0.13, -0.1), 'rl': (-0.13, 0.1), 'rr': (-0.13, -0.1)}
ROBOT = """name: crawler
urdf: crawler.urdf
legs:
{legs}
fall: {{max_tilt: 1.2, min_height_ratio: 0.3}}
"""
CONTROLLER = '''
import math
from dataclasses import dataclass

from gait_core.contracts import Controller
from gait_core.parameters.declaration import Parameters, float_parameter
from gait_core.motion.targets import JointTargets


@dataclass(frozen=True, kw_only=True)
class ShuffleParams(Parameters):
    """A lopsided swing of all hips."""

    size: float = float_parameter(0.2, low=0.0, high=0.6, unit='rad', doc='Of the swing.')
    frequency: float = float_parameter(2.0, low=0.5, high=5.0, unit='Hz', doc='Swings per second.')
    haste: float = float_parameter(0.0, low=-0.9, high=0.9, unit='-', doc='Faster forth.')


class ShuffleController(Controller):
    Params = ShuffleParams
    presets = {'even': {}}

    def __init__(self, robot, params):
        super().__init__(robot, params)
        self._names, self._time = robot.joint_names, 0.0

    def reset(self, seed):
        self._time = 0.0

    def step(self, dt, command, observation):
        self._time += dt
        phase = math.tau * self.params.frequency * self._time
        swing = self.params.size * math.sin(phase + self.params.haste * math.sin(phase))
        return JointTargets(names=self._names, position=[swing] * len(self._names))

    def state(self):
        return {}


def reach(rollout):
    """Return how far the base got either way [m]."""
    return float(abs(rollout.body_poses[-1, 0, 0] - rollout.body_poses[0, 0, 0]))
'''
EXPERIMENT = """format: 1
description: Which shuffle carries a crawler farthest?
robot: robots/crawler
controller: shuffle
genes:
  size: {lower: 0.05}
  frequency: {log: true}
  haste:
duration: 1.5
settle_time: 0.2
fitness: {reach: 1.0, survival: 0.1}
gates: {speed: 1.5}
randomise: {mass: [0.8, 1.2], friction: [0.6, 1.0], sensors: {delay_ticks: [0, 1]}}
hopeless: [{time: 1.0, moved: 0.001}]
repeats: 2
stop: {stagnation: 5}
population: 4
generations: 3
seed: 4
"""


@pytest.fixture(scope='module')
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp('users own')
    robot = folder / 'lab' / 'robots' / 'crawler'
    robot.mkdir(parents=True)
    legs = ''.join(LEG.format(name=name, x=x, y=y) for name, (x, y) in PLACES.items())
    (robot / 'crawler.urdf').write_text(URDF.format(legs=legs))
    described = (f'  - {{name: {n}, joints: [{n}_hip], sole: {n}_foot}}' for n in PLACES)
    (robot / 'robot.yaml').write_text(ROBOT.format(legs='\n'.join(described)))
    package = folder / 'site' / 'my_shuffle'
    package.mkdir(parents=True)
    (package / '__init__.py').write_text(CONTROLLER)
    metadata = folder / 'site' / 'my_shuffle-1.0.dist-info'
    metadata.mkdir()
    (metadata / 'METADATA').write_text('Metadata-Version: 2.1\nName: my_shuffle\nVersion: 1.0\n')
    (metadata / 'entry_points.txt').write_text(
        '[gait.controllers]\nshuffle = my_shuffle:ShuffleController\n'
        '[gait.fitness_terms]\nreach = my_shuffle:reach\n'
    )
    (folder / 'lab' / 'shuffle.yaml').write_text(EXPERIMENT)
    return folder


def gait(place, *words, cwd='.'):
    path = os.pathsep.join([str(place / 'site'), os.environ.get('PYTHONPATH', '')])
    return subprocess.run(
        [sys.executable, '-m', 'gait_tools.cli', *words],
        cwd=place / cwd,
        env={**os.environ, 'PYTHONPATH': path},
        capture_output=True,
        text=True,
    )


@pytest.mark.physics
def test_it_evolves_resumes_replays_and_reports(place):
    run = place / 'run'
    words = ('evolve', 'lab/shuffle.yaml', '--workers', '2', '--run-dir', str(run))
    done = gait(place, *words, '--generations', '2', '--json')
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found['experiment'] == 'shuffle' and found['generations'] == 2
    # Resumed from another folder: the robot is found all the same.
    more = gait(
        place, 'evolve', '--run-dir', str(run), '--resume', '--generations', '3', '--json',
        cwd='site',
    )  # fmt: skip
    assert more.returncode == 0, more.stderr
    assert json.loads(more.stdout)['best_fitness'] >= found['best_fitness'] > 0.1
    champion = read_champion(run / 'champion.yaml')
    assert Path(champion.spec.scene.robot) == place / 'lab' / 'robots' / 'crawler'
    assert champion.spec.gates['speed'] == 1.5
    replayed = gait(place, 'replay', str(run), '--json', cwd='lab')
    assert replayed.returncode == 0, replayed.stderr
    assert json.loads(replayed.stdout)['equal'] is True
    report = gait(place, 'report', str(run), cwd='lab')
    assert report.returncode == 0, report.stderr
    assert 'Which shuffle carries a crawler farthest?' in (run / 'report.html').read_text()


@pytest.fixture
def registered(place, monkeypatch):
    """Make the user's package known to this process."""
    monkeypatch.syspath_prepend(str(place / 'site'))
    registry.clear_entry_cache()
    yield
    monkeypatch.undo()
    registry.clear_entry_cache()


@pytest.mark.parametrize(
    ('old', 'new', 'message'),
    [
        ('controller: shuffle', 'controller: shufle', "'shufle': did you mean 'shuffle'"),
        ('reach: 1.0', 'reech: 1.0', "did you mean 'reach'"),
        ('  haste:', '  hast:', "did you mean 'haste'"),
        ('robots/crawler', 'robots/crawlr', 'does not exist'),
        ('speed: 1.5', 'sped: 1.5', "did you mean 'speed'"),
        ('mass: [', 'maas: [', "did you mean 'mass'"),
        ('stagnation', 'stagnatoin', 'stop.stagnation'),
        ('duration: 1.5', 'durration: 1.5', 'duration'),
    ],
)
def test_a_mistake_in_it_is_one_line(place, registered, capsys, old, new, message):
    wrong = place / 'lab' / 'wrong.yaml'
    wrong.write_text(EXPERIMENT.replace(old, new))
    assert cli.main(['evolve', str(wrong), '--run-dir', str(place / 'wrong')]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count('\n') == 1
    assert not (place / 'wrong').exists()
