# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Everything registered is of the type that its kind has in the contracts."""

import pytest

from gait_core import registry
from gait_core.contracts import Controller, Engine, Evaluator, Optimizer, TerrainParameters, Viewer
from gait_core.errors import ConfigurationError, NotInstalled
from gait_core.testing.doubles import WaveController, register_temporarily
from gait_tools.study.definition import Study, load_study

CLASSES = {
    'controllers': (registry.controller, Controller),
    'engines': (registry.engine, Engine),
    'terrains': (registry.terrain, TerrainParameters),
    'optimizers': (registry.optimizer, Optimizer),
    'evaluators': (registry.evaluator, Evaluator),
    'viewers': (registry.viewer, Viewer),
}
FUNCTIONS = {
    'fitness_terms': registry.fitness_term,
    'renderers': registry.renderer,
    'benchmarks': registry.benchmark,
    'experiment_folders': registry.experiment_folder,
    'studies': load_study,
}


def every(kinds):
    return [(kind, name) for kind in kinds for name in registry.names(kind)]


def loaded(load, name):
    try:
        return load(name)
    except NotInstalled as error:
        pytest.skip(str(error))


def test_every_kind_has_a_type():
    assert CLASSES.keys() | FUNCTIONS.keys() == registry.GROUPS.keys()


@pytest.mark.parametrize(('kind', 'name'), every(CLASSES))
def test_a_class_derives_from_that_of_its_kind(kind, name):
    load, base = CLASSES[kind]
    cls = loaded(load, name)
    assert issubclass(cls, base)
    assert not getattr(cls, '__abstractmethods__', None)
    assert (cls.__doc__ or '').strip().splitlines()[0].endswith('.')


@pytest.mark.parametrize(('kind', 'name'), every(FUNCTIONS))
def test_a_function_can_be_called_and_says_what_it_does(kind, name):
    found = loaded(FUNCTIONS[kind], name)
    assert isinstance(found, Study) if kind == 'studies' else callable(found)
    assert found.__doc__


@pytest.mark.parametrize('kind', CLASSES)
def test_a_class_that_does_not_derive_is_refused_by_name(kind):
    class Foreign:
        """A controller of long ago."""

    with register_temporarily(kind, foreign=Foreign):
        with pytest.raises(ConfigurationError, match="'foreign' is not a class derived from"):
            CLASSES[kind][0]('foreign')
    with register_temporarily('controllers', wave=WaveController):
        assert registry.controller('wave') is WaveController
