"""Extension points: named objects that packages register as setuptools entry points."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from gait_core.errors import ConfigurationError, NotInstalled, unknown

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
    'measurements': 'gait.measurements',
}


def _one(kind: str) -> str:
    return f'{kind[:-3]}y' if kind.endswith('ies') else kind[:-1]


@cache
def _entries(kind: str) -> dict[str, EntryPoint]:
    # The same distribution can be seen twice (build and install folder): one of a name is kept.
    found = sorted(entry_points(group=GROUPS[kind]), key=lambda entry: (entry.name, entry.value))
    entries: dict[str, EntryPoint] = {}
    for entry in found:
        known = entries.setdefault(entry.name, entry)
        if known.value != entry.value:
            raise ConfigurationError(
                f"two packages register the {_one(kind)} '{entry.name}': "
                f'{known.value} and {entry.value}'
            )
    return entries


def names(kind: str) -> tuple[str, ...]:
    """Return the registered names of a kind (a key of ``GROUPS``), sorted."""
    return tuple(sorted(_entries(kind)))


def _entry(kind: str, name: str) -> EntryPoint:
    entries = _entries(kind)
    if name not in entries:
        raise unknown(_one(kind).replace('_', ' '), name, entries)
    return entries[name]


def package(kind: str, name: str) -> str:
    """Return the top-level package that registers a name, without importing it."""
    return _entry(kind, name).value.partition(':')[0].partition('.')[0]


def load(kind: str, name: str) -> Any:
    """
    Return the object registered under a name.

    Raises
    ------
    ConfigurationError
        If the name is unknown (with the nearest valid one); NotInstalled if its module cannot be
        imported.

    """
    entry = _entry(kind, name)
    try:
        return entry.load()
    except ImportError as error:
        raise NotInstalled(f"{_one(kind)} '{name}' is not usable here: {error}") from error


def forget() -> None:
    """Look the entry points up again: the packages on the path have changed."""
    _entries.cache_clear()
