# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of a robot's gait replace each other in one order, whoever asks for them."""

from dataclasses import replace

import pytest

from gait_core.errors import ConfigurationError
from gait_core.testing.doubles import WaveController, legged_box, register_temporarily
from gait_core.trial.robot_gait import resolve_gait


class Swell(WaveController):
    presets = {'gentle': {'frequency': 0.5}, 'quick': {'frequency': 4.0}, 'large': {}}


@pytest.fixture(autouse=True)
def swell():
    with register_temporarily('controllers', swell=Swell, wave=WaveController):
        yield


def robot(**defaults):
    return replace(legged_box(), defaults=defaults)


OWN = {'amplitude': 0.4, 'frequency': 2.0}


@pytest.mark.parametrize(
    ('defaults', 'preset', 'parameters', 'amplitude', 'frequency'),
    [
        # Defaults of the controller, then its default preset.
        ({}, '', {}, 0.2, 0.5),
        ({'preset': 'quick'}, '', {}, 0.2, 4.0),
        # Then the robot's own gait ...
        ({'gait': OWN}, '', {}, 0.4, 2.0),
        ({'gait': OWN, 'preset': 'quick'}, '', {}, 0.4, 2.0),
        # ... then a named preset, also if it is the default one ...
        ({'gait': OWN}, 'quick', {}, 0.4, 4.0),
        ({'gait': OWN}, 'gentle', {}, 0.4, 0.5),
        ({'gait': OWN}, 'large', {}, 0.4, 2.0),
        # ... which takes the place of the default one.
        ({'gait': {'amplitude': 0.4}}, 'large', {}, 0.4, 1.0),
        ({'gait': {'amplitude': 0.4}, 'preset': 'quick'}, 'large', {}, 0.4, 1.0),
        ({'gait': OWN}, 'quick', {'frequency': 3.0}, 0.4, 3.0),
    ],
)
def test_each_layer_replaces_those_before(defaults, preset, parameters, amplitude, frequency):
    gait = resolve_gait(
        robot(controller='swell', **defaults), preset=preset, parameters=parameters
    )
    assert gait.parameters == {'amplitude': amplitude, 'frequency': frequency}
    assert gait.ignored == ''


def test_the_own_gait_is_for_its_own_controller_alone():
    gait = resolve_gait(robot(controller='wave', gait=OWN), 'swell')
    assert gait.parameters == {'amplitude': 0.2, 'frequency': 0.5}
    assert gait.ignored == (
        "the own gait of robot 'legged_box' (amplitude, frequency) is for controller 'wave': "
        "'swell' starts from its preset 'gentle'"
    )


@pytest.mark.parametrize(
    ('defaults', 'preset', 'message'),
    [
        ({'gait': {'frequncy': 1.0}}, '', "robot 'legged_box': defaults.gait: unknown parameter"),
        ({'gait': {'frequency': 9.0}}, 'quick', "'legged_box': defaults.gait: parameter 'freq"),
        ({'preset': 'quik'}, '', "'legged_box': defaults.preset: unknown preset of swell 'quik'"),
        ({}, 'quik', "^unknown preset of swell 'quik': did you mean 'quick'"),
    ],
)
def test_the_owner_of_a_wrong_name_or_value_is_named(defaults, preset, message):
    with pytest.raises(ConfigurationError, match=message):
        resolve_gait(robot(controller='swell', **defaults), preset=preset)
