# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

from importlib.metadata import EntryPoint

import pytest

from gait_core import registry
from gait_core.contracts import Controller
from gait_core.errors import ConfigurationError
from gait_core.motion.stance_controller import HoldController
from gait_core.testing.doubles import register_temporarily


def test_what_setup_py_registers_is_found_by_name():
    assert registry.load('controllers', 'hold') is HoldController
    assert {'flat', 'rough'} <= set(registry.names('terrains'))


def test_names_are_sorted():
    for kind in registry.GROUPS:
        assert list(registry.names(kind)) == sorted(registry.names(kind))


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(ConfigurationError, match="unknown terrain 'flatt': did you mean 'flat'"):
        registry.load('terrains', 'flatt')
    with pytest.raises(ConfigurationError, match="unknown fitness term 'x'"):
        registry.load('fitness_terms', 'x')


@pytest.mark.parametrize('kind', ['fitness_terms', 'optimizers', 'studies'])
def test_an_unknown_name_says_when_the_package_of_the_studies_is_not_installed(monkeypatch, kind):
    monkeypatch.setattr(registry, 'find_spec', lambda name: None)
    with pytest.raises(ConfigurationError, match="unknown .*'x'.* need the package gait_studies$"):
        registry.load(kind, 'x')
    with pytest.raises(ConfigurationError, match=r'valid: .*flat[^;]*$'):
        registry.load('terrains', 'x')


def fake(monkeypatch, *entries):
    registry._entries.cache_clear()
    points = [EntryPoint(name=n, value=v, group='gait.engines') for n, v in entries]
    monkeypatch.setattr(registry, 'entry_points', lambda group: points)


@pytest.fixture(autouse=True)
def forget():
    yield
    registry._entries.cache_clear()


def test_an_engine_whose_library_is_absent_says_so(monkeypatch):
    fake(monkeypatch, ('mars', 'no_such_library.engine:Engine'))
    with pytest.raises(ConfigurationError, match="engine 'mars' is not usable here.*no_such_lib"):
        registry.load('engines', 'mars')


def test_an_entry_point_without_its_object_says_so(monkeypatch):
    fake(monkeypatch, ('mars', 'gait_core.registry:no_such_engine'))
    with pytest.raises(ConfigurationError, match="engine 'mars' is not usable.*no_such_engine"):
        registry.load('engines', 'mars')


class Incomplete(Controller):
    """Has no parameters and no presets, and cannot step."""

    def reset(self, seed):
        """Do nothing."""


class Nameless(HoldController):
    presets = {}


@pytest.mark.parametrize(
    ('cls', 'message'),
    [
        (dict, "controller 'mine' is not a class derived from gait_core.contracts.Controller"),
        (Incomplete, "controller 'mine' lacks Params, presets, step"),
        (Nameless, "controller 'mine' has no preset"),
    ],
)
def test_a_controller_that_breaks_the_contract_is_refused(cls, message):
    with (
        register_temporarily('controllers', mine=cls),
        pytest.raises(ConfigurationError, match=message),
    ):
        registry.controller('mine')


def test_a_fitness_term_that_is_no_function_is_refused():
    with (
        register_temporarily('fitness_terms', mine=5),
        pytest.raises(ConfigurationError, match='not a function'),
    ):
        registry.fitness_term('mine')


def test_one_name_for_two_objects_is_refused(monkeypatch):
    fake(monkeypatch, ('mars', 'a:Engine'), ('mars', 'b:Engine'))
    with pytest.raises(ConfigurationError, match="'mars': a:Engine and b:Engine"):
        registry.names('engines')


def test_the_same_distribution_may_be_seen_twice(monkeypatch):
    fake(monkeypatch, ('mars', 'a:Engine'), ('mars', 'a:Engine'))
    assert registry.names('engines') == ('mars',)


def test_tests_register_for_their_own_length_only():
    with register_temporarily('engines', mine=HoldController):
        assert registry.load('engines', 'mine') is HoldController
        assert 'mine' in registry.names('engines')
        assert 'mine' not in registry.names('controllers')
    assert 'mine' not in registry.names('engines')
    with pytest.raises(ConfigurationError):
        registry.load('engines', 'mine')
