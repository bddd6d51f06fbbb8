"""The README says what the code declares."""

from pathlib import Path

from gait_core.parameters import parameter_table
from gait_cpg.controller import PhaseCpgController, PhaseCpgParams

README = (Path(__file__).parents[1] / 'README.md').read_text(encoding='utf-8')


def test_the_parameter_table_is_the_declared_one():
    assert parameter_table(PhaseCpgParams) in README


def test_every_preset_is_named():
    for preset in PhaseCpgController.presets:
        assert f'`{preset}`' in README
