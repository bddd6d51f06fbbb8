# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Extension points: named objects that packages register as setuptools entry points."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable, Iterable
from functools import cache
from importlib.metadata import Distribution, EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar, cast

from gait_core.contracts import (
    Benchmark,
    Controller,
    Engine,
    Evaluator,
    FitnessTerm,
    Optimizer,
    Renderer,
    TerrainParameters,
    Viewer,
)
from gait_core.errors import (
    ConfigurationError,
    NotInstalled,
    describe_import_error,
    unknown_name_error,
)

Base = TypeVar('Base')
GROUPS = {
    'controllers': 'gait.controllers',
    'engines': 'gait.engines',
    'terrains': 'gait.terrains',
    'fitness_terms': 'gait.fitness_terms',
    'optimizers': 'gait.optimizers',
    'evaluators': 'gait.evaluators',
    'renderers': 'gait.renderers',
    'viewers': 'gait.viewers',
    'benchmarks': 'gait.benchmarks',
    'studies': 'gait.studies',
    'experiment_folders': 'gait.experiments',
}


# An optional package, and the kinds of which it registers names.
_STUDIES_PACKAGE = 'gait_studies'
_STUDY_KINDS = ('fitness_terms', 'optimizers', 'studies')


def _singular(kind: str) -> str:
    return f'{kind[:-3]}y' if kind.endswith('ies') else kind[:-1]


@cache
def _entries(kind: str) -> dict[str, EntryPoint]:
    """Return the entry points of a kind by name; ConfigurationError if two packages share one."""
    # A distribution can be found twice (build and install folder): equal entries count once.
    found = sorted(entry_points(group=GROUPS[kind]), key=lambda entry: (entry.name, entry.value))
    entries: dict[str, EntryPoint] = {}
    for entry in found:
        known = entries.setdefault(entry.name, entry)
        if known.value != entry.value:
            raise ConfigurationError(
                f"two packages register the {_singular(kind)} '{entry.name}': "
                f'{known.value} and {entry.value}'
            )
    return entries


def names(kind: str) -> tuple[str, ...]:
    """Return the registered names of a kind (a key of ``GROUPS``), sorted."""
    return tuple(sorted(_entries(kind)))


def _entry(kind: str, name: str) -> EntryPoint:
    entries = _entries(kind)
    if name not in entries:
        raise unregistered_name_error(kind, name, entries)
    return entries[name]


def unregistered_name_error(kind: str, name: str, valid: Iterable[str]) -> ConfigurationError:
    """Return the error for an unknown name of a kind, with the nearest valid one."""
    error = unknown_name_error(_singular(kind).replace('_', ' '), name, valid)
    return with_package_hint(error) if kind in _STUDY_KINDS else error


def with_package_hint(error: ConfigurationError) -> ConfigurationError:
    """Return the error; it names the package of studies if that is not installed."""
    if find_spec(_STUDIES_PACKAGE) is not None:
        return error
    return ConfigurationError(
        f'{error}; names that belong to published studies need the package {_STUDIES_PACKAGE}'
    )


def package(kind: str, name: str) -> str:
    """Return the top-level package that registers a name, without importing it."""
    return _entry(kind, name).value.partition(':')[0].partition('.')[0]


def distribution(kind: str, name: str) -> Distribution:
    """Return the installed distribution that registers a name."""
    found = _entry(kind, name).dist
    assert found is not None
    return found


def load(kind: str, name: str) -> object:
    """
    Return the object of any kind that is registered under a name.

    Raises
    ------
    ConfigurationError
        If the name is unknown (with the nearest valid one); NotInstalled if its module cannot be
        imported.

    """
    entry = _entry(kind, name)
    try:
        found: object = entry.load()
        return found
    except (ImportError, AttributeError) as error:
        reason = describe_import_error(error) if isinstance(error, ImportError) else str(error)
        raise NotInstalled(f"{_singular(kind)} '{name}' is not usable here: {reason}") from error


def controller(name: str) -> type[Controller]:
    """Return a controller's class; errors as of ``load``, here and below."""
    found = _load_class('controllers', name, Controller)
    if not found.presets:
        raise ConfigurationError(f"controller '{name}' has no preset")
    return found


def engine(name: str) -> type[Engine]:
    """Return an engine's class."""
    return _load_class('engines', name, Engine)


def terrain(name: str) -> type[TerrainParameters]:
    """Return the class of a terrain's parameters."""
    return _load_class('terrains', name, TerrainParameters)


def optimizer(name: str) -> type[Optimizer]:
    """Return an optimiser's class."""
    return _load_class('optimizers', name, Optimizer)


def evaluator(name: str) -> type[Evaluator]:
    """Return an evaluator's class."""
    return _load_class('evaluators', name, Evaluator)


def viewer(name: str) -> type[Viewer]:
    """Return a viewer's class."""
    return _load_class('viewers', name, Viewer)


def fitness_term(name: str) -> FitnessTerm:
    """Return a fitness term."""
    return cast(FitnessTerm, _load_function('fitness_terms', name))


def renderer(name: str) -> Renderer:
    """Return a renderer."""
    return cast(Renderer, _load_function('renderers', name))


def benchmark(name: str) -> Benchmark:
    """Return a benchmark."""
    return cast(Benchmark, _load_function('benchmarks', name))


def experiment_folder(name: str) -> Callable[[], Path]:
    """Return the function that returns the folder of a package's experiments."""
    return cast(Callable[[], Path], _load_function('experiment_folders', name))


def _load_class(kind: str, name: str, base: type[Base]) -> type[Base]:
    """Return a registered class; ConfigurationError unless it completes its contract."""
    found = load(kind, name)
    what = f"{_singular(kind)} '{name}'"
    if not (isinstance(found, type) and issubclass(found, base)):
        raise ConfigurationError(
            f'{what} is not a class derived from gait_core.contracts.{base.__name__}'
        )
    # Class attributes that the base only annotates are required like its abstract methods.
    declared = set(base.__annotations__) - set(dir(found))
    lacking = sorted(cast(ABCMeta, found).__abstractmethods__ | declared)
    if lacking:
        raise ConfigurationError(f'{what} lacks {", ".join(lacking)}')
    return found


def _load_function(kind: str, name: str) -> Callable[..., object]:
    found = load(kind, name)
    if not callable(found):
        raise ConfigurationError(f"{_singular(kind)} '{name}' is not a function")
    return found


def clear_entry_cache() -> None:
    """Discard the cached entry points, after a change of the packages on the path."""
    _entries.cache_clear()
