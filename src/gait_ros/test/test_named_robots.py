# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Robots whose code the command line of a node permits."""

import os

import pytest

pytest.importorskip('rclpy')

from gait_ros.nodes.run import _permit_named_robot


@pytest.mark.parametrize(
    ('words', 'is_permitted'),
    [
        (['--ros-args', '-p', 'robot:=drawn'], True),
        (['--ros-args', '-p', '/cpg:robot:=drawn'], True),
        (['--ros-args', '-p', "robot:='drawn'"], True),
        (['--ros-args', '-p', 'draw:=drawn', '--params-file', 'drawn'], False),
        (['--ros-args', '-r', 'robot:=other', 'drawn'], False),
    ],
)
def test_a_robot_is_named_by_the_command_line_only(tmp_path, monkeypatch, words, is_permitted):
    folder = tmp_path / 'drawn'
    folder.mkdir()
    (folder / 'model.py').write_text('')
    monkeypatch.setenv('GAIT_PERMITTED_ROBOTS', '')
    monkeypatch.chdir(tmp_path)
    _permit_named_robot(words)
    assert os.environ['GAIT_PERMITTED_ROBOTS'].split() == ([str(folder)] if is_permitted else [])
