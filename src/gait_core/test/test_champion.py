# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""A champion file is a ROS parameter file and gives back every bit of the trial."""

from __future__ import annotations

from dataclasses import replace
import os

from hypothesis import given, settings
from hypothesis import strategies as st
import pytest
import yaml

from gait_core.errors import ConfigurationError
from gait_core.parameters.plain_data import sha256_of
from gait_core.trial.champion import (
    Champion,
    read_champion,
    read_gait_parameters,
    write_champion,
)
from gait_core.trial.scene import Push, Scene, TerrainSpec
from gait_core.trial.spec import Command, TimedCommand, TrialSpec


def champion(gain=0.1, seeds=(2**63 - 1, 7), friction=0.9):
    return Champion(
        spec=TrialSpec(
            scene=Scene(
                robot='guroo',
                friction=friction,
                engine_options={'solver_iterations': 50.0},
                terrain=TerrainSpec(name='rough', parameters={'range': 0.1}, seed=4),
                pushes=(
                    Push(start=1.0, duration=0.2, force=(1.0, 0.0, 0.0)),
                    Push(start=2.0, duration=0.2, force=(0.0, 1e-7, 0.0), link='torso'),
                ),
            ),
            controller='staged_walk',
            parameters={'gain': gain, 'levelling': True, 'mode': 'no', 'list': [1.0, 2.5]},
            script=(TimedCommand(time=0.0, command=Command(set_points={'stop': 1.0})),),
            seed=seeds[0],
            duration=9.0,
            fitness_terms={'distance': 1.0},
        ),
        seeds=seeds,
        trial_hashes=('12e4567', '0' * 64),
        fitness=1.0 / 3.0,
        status='ok',
        fingerprint='x86_64 family 6',
        platform={'machine': 'x86_64', 'pybullet': '', 'numpy': '2.4.6'},
        metrics={'distance_m': 0.5},
        terms={'distance': 0.5},
        run={'experiment': 'guroo_quick', 'generation': 3},
    )


def test_repeats_may_have_bodies_and_starts_of_their_own(tmp_path):
    drawn = replace(champion(), draws=(2**62, 5), starts_x=(0.1, -1e-7), starts_y=(0.0, 0.5))
    write_champion(tmp_path / 'champion.yaml', drawn)
    read = read_champion(tmp_path / 'champion.yaml')
    assert read == drawn
    scenes = [spec.scene for spec in read.specs]
    assert [spec.seed for spec in read.specs] == list(drawn.seeds)
    assert [(s.draw, s.initial.x, s.initial.y) for s in scenes] == [
        (2**62, 0.1, 0.0),
        (5, -1e-7, 0.5),
    ]
    assert [spec.scene.draw for spec in champion().specs] == [0, 0]
    write_champion(tmp_path / 'champion.yaml', replace(drawn, draws=(1,)))
    with pytest.raises(ConfigurationError, match='2 seeds and 1 draws, expected one of each'):
        read_champion(tmp_path / 'champion.yaml')


@settings(deadline=None, max_examples=50)
@given(
    gain=st.floats(-1e300, 1e300),
    friction=st.floats(0.0, 1e5),
    seeds=st.lists(st.integers(0, 2**63 - 1), min_size=2, max_size=2),
)
def test_reading_gives_back_every_bit(tmp_path_factory, gain, friction, seeds):
    path = tmp_path_factory.mktemp('champion') / 'champion.yaml'
    written = champion(gain, tuple(seeds), friction)
    write_champion(path, written)
    again = read_champion(path)
    assert sha256_of(again) == sha256_of(written)


def test_it_is_a_flat_ros_parameter_file(tmp_path):
    path = tmp_path / 'champion.yaml'
    write_champion(path, champion())
    document = yaml.safe_load(path.read_text())
    assert list(document) == ['/**']
    assert list(document['/**']) == ['ros__parameters']
    parameters = document['/**']['ros__parameters']
    assert sorted(parameters) == ['gait', 'provenance']

    def check(value):
        assert value is not None
        if isinstance(value, dict):
            assert value
            for item in value.values():
                check(item)
        elif isinstance(value, list):
            assert value
            assert len({type(item) for item in value}) == 1
            assert not isinstance(value[0], (dict, list))

    check(parameters)
    # ROS would read an unquoted 12e4567 as a number and an unquoted no as false.
    assert "'12e4567'" in path.read_text()
    assert "'no'" in path.read_text()
    assert read_gait_parameters(path)['mode'] == 'no'


def test_weights_are_found_beside_the_champion(tmp_path):
    path = tmp_path / 'champion.yaml'
    plain = champion()
    write_champion(path, replace(plain, spec=replace(plain.spec, weights='weights.npz')))
    assert read_champion(path).spec.weights == str(tmp_path / 'weights.npz')


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path, monkeypatch):
    path = tmp_path / 'champion.yaml'
    write_champion(path, champion(gain=0.1))
    before = path.read_bytes()

    def full(_):
        raise OSError(28, 'No space left on device')

    monkeypatch.setattr(os, 'fsync', full)
    with pytest.raises(OSError, match='No space'):
        write_champion(path, champion(gain=0.2))
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ['champion.yaml']


def test_a_renamed_item_of_a_list_is_named(tmp_path):
    path = tmp_path / 'champion.yaml'
    write_champion(path, champion())
    path.write_text(path.read_text().replace('item_0', 'item_7'))
    with pytest.raises(ConfigurationError, match=f'{path}.*expected a list'):
        read_champion(path)


@pytest.mark.parametrize(('line', 'message'), [('seeds: [', '0 seeds'), ('status: ', 'missing')])
def test_an_edited_champion_is_named(tmp_path, line, message):
    path = tmp_path / 'champion.yaml'
    write_champion(path, champion())
    old = next(one for one in path.read_text().splitlines() if line in one)
    new = old.split('[')[0] + '[]' if message == '0 seeds' else ''
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(ConfigurationError, match=f'{path}.*{message}') as caught:
        read_champion(path)
    assert '\n' not in str(caught.value)


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        (None, 'No such file'),
        ('{', r'champion\.yaml, line 1, column 2: expected '),
        ('- 1', 'not a ROS parameter file'),
        ('/**: {ros__parameters: {gait: {x: 1.0}}}', 'not a champion'),
        ('/**: {ros__parameters: {provenance: {format: 99}}}', 'champion format 99'),
        ('/**: {ros__parameters: {provenance: {format: 1, spec: {controller: hold}}}}', 'missing'),
        (
            '/**: {ros__parameters: {provenance: {format: 1, spec: {parameters: 3}}}}',
            'below .gait.',
        ),
    ],
)
def test_other_files_are_refused_in_one_line(tmp_path, text, message):
    path = tmp_path / 'champion.yaml'
    if text is not None:
        path.write_text(text)
    with pytest.raises(ConfigurationError, match=message) as caught:
        read_champion(path)
    assert '\n' not in str(caught.value)
