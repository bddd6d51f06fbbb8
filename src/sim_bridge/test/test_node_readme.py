"""The README says what the node declares."""

from pathlib import Path

from gait_core.parameters import parameter_table
from sim_bridge.settings import BridgeParams


def test_parameters_are_those_of_the_node():
    readme = (Path(__file__).parents[1] / 'README.md').read_text(encoding='utf-8')
    assert parameter_table(BridgeParams) in readme
