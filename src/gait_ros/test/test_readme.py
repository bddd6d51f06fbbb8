"""The README says what the code declares."""

from pathlib import Path

import pytest

pytest.importorskip('rclpy')

from gait_core.parameters import parameter_table
from gait_ros.controller_node import ControllerNodeParams

PACKAGE = Path(__file__).parents[1]
README = (PACKAGE / 'README.md').read_text(encoding='utf-8')


def test_parameters_are_those_of_the_node():
    assert parameter_table(ControllerNodeParams) in README


def test_every_module_is_named():
    modules = {path.stem for path in (PACKAGE / 'gait_ros').glob('*.py')} - {'__init__'}
    assert not {name for name in modules if f'`{name}`' not in README}
