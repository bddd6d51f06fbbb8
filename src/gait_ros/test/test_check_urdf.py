# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Descriptions for robot_state_publisher, RViz and ros2_control pass urdfdom's check_urdf."""

import itertools
import math
from pathlib import Path
import shutil
import subprocess

import pytest

from gait_core.robot.load import load_robot, read_robot, robot_names
from gait_core.robot.urdf.writer import insert_base_link
from gait_ros.hardware.ros2_control import MOCK_TARGET, SIM_TARGET, control_urdf

CHECK_URDF = shutil.which('check_urdf')
pytestmark = pytest.mark.skipif(CHECK_URDF is None, reason='check_urdf is not installed')

LIMITS = (
    '',
    '<limit/>',
    '<limit effort="0" velocity="0"/>',
    '<limit lower="-1"/>',
    '<limit lower="-1e300" upper="1e300" effort="1e300" velocity="3"/>',
)
SHAPES = (
    '<mesh filename="a part.stl"/>',
    '<capsule radius="0.1" length="0.2"/>',
    '<sphere radius="0"/>',
)


def faults(text: str, folder: Path) -> list[str]:
    """Return the lines in which urdfdom refuses a description, or a part of it."""
    file = folder / 'description.urdf'
    file.write_text(text)
    done = subprocess.run(
        [str(CHECK_URDF), str(file)], capture_output=True, text=True, timeout=60, check=False
    )
    lines = (done.stdout + done.stderr).splitlines()
    return [line for line in lines if 'rror' in line] or ['refused'] * done.returncode


@pytest.mark.parametrize('name', robot_names())
def test_urdfdom_reads_every_robot(name, tmp_path):
    robot = load_robot(name)
    text = control_urdf(robot, SIM_TARGET if robot.force_elements else MOCK_TARGET)
    if len(robot.roots) == 1:
        text = insert_base_link(text, 'base_link')
    assert not faults(text, tmp_path)


def test_urdfdom_reads_a_robot_that_lacks_limits_or_has_shapes_of_its_own(tmp_path):
    (tmp_path / 'a part.stl').write_text('vertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n')
    material = '<material name="m"><color rgba="255 -1 0 1"/></material>'
    parts = [
        '<link name="base"><inertial><mass value="1"/></inertial></link>',
    ]
    kinds = ('revolute', 'continuous', 'prismatic')
    for index, (kind, limit) in enumerate(itertools.product(kinds, LIMITS)):
        shape = SHAPES[index % len(SHAPES)]
        parts.append(
            f'<link name="l{index}"><inertial><mass value="1"/></inertial>'
            f'<visual><geometry>{shape}</geometry>{material}</visual></link>'
            f'<joint name="j{index}" type="{kind}"><parent link="base"/>'
            f'<child link="l{index}"/>{limit}</joint>'
        )
    source = tmp_path / 'adopted.urdf'
    source.write_text(f'<robot name="adopted">{"".join(parts)}</robot>')
    text = control_urdf(read_robot(source), MOCK_TARGET)
    assert not faults(text, tmp_path)
    # The same joints as before: 1e9 is their limit where they have none.
    (tmp_path / 'again.urdf').write_text(text)
    for old, new in zip(
        read_robot(source).joints, read_robot(tmp_path / 'again.urdf').joints, strict=True
    ):
        assert (new.kind, new.effort) == (old.kind, min(old.effort, 1e9))
        assert new.velocity == min(old.velocity, 1e9)
        turns = old.kind == 'continuous'
        assert new.upper == (math.inf if turns else min(old.upper, 1e9))
