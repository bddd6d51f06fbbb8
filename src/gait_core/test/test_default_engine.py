# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The default engine of scenes, and a robot's defaults for engines and terrains."""

from dataclasses import replace
import logging

import pytest

from gait_core import registry
from gait_core.errors import ConfigurationError
from gait_core.testing.doubles import KinematicEngine, legged_box, register_temporarily
from gait_core.trial.setup import DEFAULT_ENGINES, default_engine


@pytest.fixture
def without(monkeypatch):
    """Make engines unusable, as they are where their library is not installed."""
    load = registry.load

    def make(*absent: str) -> None:
        def refuse(kind: str, name: str):
            if kind == 'engines' and name in absent:
                raise ConfigurationError(f"engine '{name}' is not usable here")
            return KinematicEngine if kind == 'engines' else load(kind, name)

        monkeypatch.setattr(registry, 'load', refuse)

    default_engine.cache_clear()
    yield make
    default_engine.cache_clear()


def test_the_first_usable_engine_is_taken_without_a_word(without, caplog):
    without()
    assert default_engine() == DEFAULT_ENGINES[0] == 'bullet'
    assert not caplog.records


def test_the_second_takes_its_place_and_says_so_once(without, caplog):
    without('bullet')
    with caplog.at_level(logging.WARNING):
        assert [default_engine(), default_engine()] == ['mujoco', 'mujoco']
    (record,) = caplog.records
    line = record.getMessage()
    assert line == "engine 'bullet' is not usable here; 'mujoco' takes its place"


def test_none_that_is_usable_is_an_error_with_every_reason(without):
    without('bullet', 'mujoco')
    with pytest.raises(ConfigurationError, match="'bullet' is not usable.*'mujoco' is not usable"):
        default_engine()


def test_a_scene_gets_it_unless_it_names_one(without, monkeypatch):
    from gait_core.trial import setup as trial_setup

    without('bullet')
    monkeypatch.setattr(trial_setup, 'load_robot', lambda name, draw: legged_box())
    with register_temporarily('engines', kinematic=KinematicEngine):
        assert trial_setup.make_scene('x', {}).engine == 'mujoco'
        assert trial_setup.make_scene('x', {'engine': 'kinematic'}).engine == 'kinematic'


@pytest.mark.parametrize(
    ('key', 'known', 'mistyped'),
    [
        ('engines', {'kinematic': {'order': 1.0}}, {'kinematik': {'order': 1.0}}),
        ('physics_steps', {'kinematic': 0.001}, {'kinematik': 0.001}),
        ('terrains', {'rough': {'range': 0.1}}, {'rouhg': {'range': 0.1}}),
    ],
)
def test_defaults_for_what_does_not_exist_are_refused(monkeypatch, key, known, mistyped):
    from gait_core.trial import setup as trial_setup

    given = {}
    robot = legged_box()
    monkeypatch.setattr(
        trial_setup, 'load_robot', lambda name, draw: replace(robot, defaults={key: given})
    )
    (right,) = known
    (wrong,) = mistyped
    with register_temporarily('engines', kinematic=KinematicEngine):
        given.update(known)
        assert trial_setup.make_scene('x', {'engine': 'kinematic'}).engine == 'kinematic'
        given.update(mistyped)
        with pytest.raises(ConfigurationError) as caught:
            trial_setup.make_scene('x', {'engine': 'kinematic'})
    message = str(caught.value)
    assert f'defaults.{key}' in message
    assert f"'{wrong}': did you mean '{right}'?" in message
