# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The robustness card changes the stated quantities and nothing else."""

from __future__ import annotations

from dataclasses import replace
import json

import numpy as np
import pytest

from gait_core.parameters.plain_data import to_plain_data
from gait_core.robot.load import load_robot
from gait_core.testing.skips import need_engine, need_robot
from gait_core.testing.workspace import workspace
from gait_core.trial.champion import Champion, write_champion
from gait_core.trial.loop import run_trial
from gait_core.trial.parts import cached_engine
from gait_core.trial.setup import default_trial, make_scene
from gait_core.trial.spec import TrialSpec
from gait_tools import cli
from gait_tools.robustness import (
    _run_with_mass,
    card_conditions,
    card_markdown,
    robustness_card,
    scale_mass,
)


@pytest.fixture(autouse=True, scope='module')
def kinematic(tmp_path_factory):
    with workspace(tmp_path_factory.mktemp('workspace')):
        yield


@pytest.fixture(scope='module')
def champion():
    spec = TrialSpec(
        scene=make_scene('legged_box', {'engine': 'kinematic'}),
        controller='wave',
        duration=0.5,
        seed=3,
        fitness_terms={'distance': 1.0},
        gates={'speed': 50.0},
    )
    result = run_trial(spec)
    return Champion(
        spec=spec,
        seeds=(3,),
        trial_hashes=(result.trial_hash,),
        fitness=result.fitness,
        status='ok',
        fingerprint=result.fingerprint,
    )


def of_group(champion, group):
    return [one for one in card_conditions(champion) if one.group == group]


def test_the_record_is_repeated(champion):
    row = robustness_card(champion)[0]
    assert (row.group, row.trials, row.succeeded) == ('record', 1, 1)
    assert row.fitness_mean == champion.fitness


def test_unseen_starts_differ_by_a_degree_at_most_and_by_their_seed(champion):
    (unseen,) = of_group(champion, 'unseen starts')
    again = of_group(champion, 'unseen starts')[0]
    assert to_plain_data(unseen.specs) == to_plain_data(again.specs)
    robot = load_robot('legged_box')
    assert len({spec.seed for spec in unseen.specs} | {champion.spec.seed}) == 11
    for spec in unseen.specs:
        start = spec.scene.initial
        assert max(abs(start.roll), abs(start.pitch)) <= np.radians(1.0)
        assert 0.001 <= start.clearance <= 0.001 + 0.01 * robot.length_scale
        for i, name in enumerate(robot.joint_names):
            assert abs(start.joint_positions[name] - robot.stance[i]) <= np.radians(1.0) + 1e-12
        same = replace(
            spec, seed=3, scene=replace(spec.scene, initial=champion.spec.scene.initial)
        )
        assert same == champion.spec


@pytest.mark.parametrize(('group', 'field'), [('friction', 'friction'), ('terrain', 'terrain')])
def test_each_group_changes_its_own_field_alone(champion, group, field):
    found = of_group(champion, group)
    assert found
    (unseen,) = of_group(champion, 'unseen starts')
    starts = (champion.spec, *unseen.specs)
    values = []
    for condition in found:
        for spec in condition.specs:
            values.append(to_plain_data(getattr(spec.scene, field)))
            known = getattr(champion.spec.scene, field)
            assert replace(spec, scene=replace(spec.scene, **{field: known})) in starts
    assert all(value != to_plain_data(getattr(champion.spec.scene, field)) for value in values)


def test_masses_span_20_per_cent(champion):
    assert [one.mass for one in of_group(champion, 'mass')] == [0.8, 0.9, 1.1, 1.2]
    robot = load_robot('legged_box')
    loaded = scale_mass(robot, 1.2)
    assert loaded.mass == pytest.approx(1.2 * robot.mass)
    np.testing.assert_allclose(loaded.links[0].inertia, 1.2 * robot.links[0].inertia)
    assert loaded.joints == robot.joints


def test_every_trial_is_gated(champion):
    without = replace(champion, spec=replace(champion.spec, gates={}))
    for condition in card_conditions(without):
        assert all(spec.gates for spec in condition.specs)
    slow = replace(champion, spec=replace(champion.spec, gates={'speed': 1e-6}))
    row = robustness_card(slow)[0]
    assert (row.succeeded, row.fitness_mean) == (0, None)


def test_the_markdown_has_a_line_per_condition(champion):
    rows = robustness_card(champion)
    lines = card_markdown(rows).splitlines()
    assert len(lines) == 2 + len(rows) == 2 + len(card_conditions(champion))
    assert f'{rows[1].succeeded} of 10' in lines[3]


def test_the_command_adds_the_card_to_the_page(champion, tmp_path, capsys):
    file = tmp_path / 'champion.yaml'
    write_champion(file, champion)
    words = ['report', str(file), '--card', '--markdown', str(tmp_path / 'card.md'), '--json']
    assert cli.main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found['card']) == len(card_conditions(champion))
    assert '<h2>Robustness</h2>' in (tmp_path / 'champion.html').read_text()
    assert (tmp_path / 'card.md').read_text().startswith('| Changed |')
    assert cli.main(['report', str(file), '--markdown', str(tmp_path / 'x.md')]) == 2
    assert '--markdown needs --card' in capsys.readouterr().err


def test_a_heavier_robot_weighs_more_on_the_ground(monkeypatch):
    need_engine('mujoco')
    need_robot('guroo')
    spec = default_trial('guroo', 0.4, {'engine': 'mujoco'})
    spec = replace(spec, controller='hold', parameters={}, settle_time=0.5)
    weights = []

    def weighed(one, engine=None):
        from gait_core.trial.loop import run_loop

        rollout = run_loop(one, engine or cached_engine('mujoco')).rollout()
        weights.append(rollout.sole_forces()[-1, :, 2].sum())

    monkeypatch.setattr('gait_tools.robustness.run_trial', weighed)
    for mass in (1.0, 1.2):
        _run_with_mass(spec, mass)
    assert weights[1] / weights[0] == pytest.approx(1.2, rel=1e-3)
