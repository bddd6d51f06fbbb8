# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Calibration of reflexes: the command, its file, and controllers without any."""

import json

import pytest

from gait_core.testing.skips import need_engine
from gait_core.trial.champion import read_gait_parameters
from gait_tools import cli

need_engine('mujoco')


def test_reflexes_are_calibrated_beyond_an_undisturbed_walk_and_loaded_again(tmp_path, capsys):
    need_engine('mujoco')
    file = tmp_path / 'thresholds.yaml'
    words = ['calibrate', 'roach', '--preset', 'tripod', '--seconds', '0.12', '--json']
    assert cli.main([*words, '--out', str(file)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found['events'].values()) == {0}
    assert found['thresholds']['front_held'] > 0.0
    assert read_gait_parameters(file) == pytest.approx(found['thresholds'])
    assert cli.main(['calibrate', 'guroo']) == 2
    assert 'no reflexes to calibrate' in capsys.readouterr().err


def test_a_file_that_cannot_be_written_is_refused_before_the_walks(tmp_path, capsys, monkeypatch):
    def walk(*_):
        raise AssertionError('it walks')

    monkeypatch.setattr('gait_tools.calibration.calibrate_thresholds', walk)
    for out, said in ((tmp_path / 'none' / 'a.yaml', 'does not exist'), (tmp_path, 'is a folder')):
        assert cli.main(['calibrate', 'roach', '--out', str(out)]) == 2
        error = capsys.readouterr().err
        assert said in error.splitlines()[-1]


@pytest.mark.parametrize(
    ('text', 'is_replaced'),
    [
        ('name: roach\n', False),
        ('/**: {ros__parameters: {gait: {step_time: 0.1}, provenance: {format: 2}}}\n', False),
        ('/**: {ros__parameters: {gait: {front_held: 0.1}}}\n', True),
        ('', True),
    ],
)
def test_only_a_parameter_file_is_replaced(tmp_path, capsys, monkeypatch, text, is_replaced):
    monkeypatch.setattr('gait_tools.calibration.calibrate_thresholds', lambda *_: {'held': 1.0})
    monkeypatch.setattr('gait_tools.calibration.count_undisturbed_events', lambda *_: {})
    file = tmp_path / 'robot.yaml'
    file.write_text(text)
    code = cli.main(['calibrate', 'roach', '--preset', 'tripod', '--out', str(file), '--json'])
    error = capsys.readouterr().err
    assert code == (0 if is_replaced else 2), error
    assert (file.read_text() == text) is not is_replaced
    if not is_replaced:
        assert error.endswith(f"nearest valid: '{tmp_path / 'robot_2.yaml'}'\n")
