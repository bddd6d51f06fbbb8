"""Safe reading of YAML whose keys and types are checked one by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
import math
from pathlib import Path
import re
from typing import Any, NoReturn

from gait_core.errors import ConfigurationError, excerpt, unknown
from gait_core.robot.patterns import matching
from gait_core.yaml_file import WRITTEN_LIMITS, FileLimits, read_document

_COUNTS = {1: 'one number', 2: 'two numbers', 3: 'three numbers', 4: 'four numbers'}


def read_yaml(path: Path, limits: FileLimits = WRITTEN_LIMITS) -> Section:
    """Return a file's top-level mapping; ConfigurationError as ``read_document``."""
    return Section(read_document(path, limits).content, str(path))


class Section:
    """A mapping of a file and where it stands; every access checks a type."""

    def __init__(self, content: Any, where: str) -> None:
        if not isinstance(content, dict):
            raise ConfigurationError(
                f'{where}: expected keys with values, found {excerpt(repr(content))}'
            )
        self.where = where
        self.content: dict[str, Any] = {str(key): value for key, value in content.items()}

    def allow(self, *keys: str) -> None:
        """Refuse any other key, naming the nearest of these."""
        for key in self.content:
            if key not in keys:
                raise ConfigurationError(f'{self.where}: {unknown("key", key, keys)}')

    def __contains__(self, key: str) -> bool:
        """Return whether the key is given."""
        return key in self.content

    def section(self, key: str) -> Section:
        """Return a nested mapping; an empty one if the key is absent."""
        return Section(self.content.get(key, {}), f'{self.where}: {key}')

    def sections(self, key: str) -> list[Section]:
        """Return a list of mappings."""
        return [
            Section(item, f'{self.where}: {key}[{i}]') for i, item in enumerate(self._list(key))
        ]

    def text(self, key: str, default: str | None = None) -> str:
        """Return a text; a key without default must be given."""
        value = self.content.get(key, default)
        if not isinstance(value, str):
            self._refuse(key, 'a text')
        return str(value)

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; numbers that serve as names are taken as text."""
        items = self._list(key)
        if not all(isinstance(item, (str, int)) and not isinstance(item, bool) for item in items):
            self._refuse(key, 'a list of names')
        return tuple(str(item) for item in items)

    def lists(self, key: str) -> list[list[Any]]:
        """Return a list of lists."""
        items = self._list(key)
        if not all(isinstance(item, list) for item in items):
            self._refuse(key, 'a list of lists')
        return items

    def number(self, key: str, default: float | None = None) -> float:
        """Return a finite number; a key without default must be given."""
        return self._number(key, self.content.get(key, default))

    def numbers(self) -> dict[str, float]:
        """Return the whole section as numbers by key."""
        return {key: self._number(key, value) for key, value in self.content.items()}

    def triple(
        self,
        key: str,
        default: tuple[float, float, float] | None = None,
    ) -> tuple[float, float, float]:
        """Return three finite numbers."""
        if default is not None and key not in self.content:
            return default
        x, y, z = self.floats(key, 3)
        return x, y, z

    def floats(self, key: str, count: int) -> tuple[float, ...]:
        """Return a list of so many finite numbers, one to four."""
        value = self.content.get(key)
        if not isinstance(value, list) or len(value) != count:
            self._refuse(key, f'a list of {_COUNTS[count]}')
        return tuple(self._number(key, item) for item in value)

    def _number(self, key: str, value: Any) -> float:
        # YAML reads 1e-3, without a point, as text.
        if isinstance(value, str) and re.fullmatch(r'[-+]?\d+(\.\d*)?[eE][-+]?\d+', value):
            value = float(value)
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float))
            or (not math.isfinite(value))
        ):
            self._refuse(key, 'a finite number')
        return float(value)

    def _list(self, key: str) -> list[Any]:
        value = self.content.get(key, [])
        if not isinstance(value, list):
            self._refuse(key, 'a list')
        return list(value)

    def _refuse(self, key: str, expected: str) -> NoReturn:
        if key not in self.content:
            raise ConfigurationError(f"{self.where}: the key '{key}' is missing")
        raise ConfigurationError(
            f"{self.where}: '{key}' is {excerpt(repr(self.content[key]))}, expected {expected}"
        )


def by_pattern(values: Mapping[str, Any], names: Iterable[str], where: str) -> dict[str, Any]:
    """Return the values by name; of several patterns that match a name the last one holds."""
    known = list(names)
    found: dict[str, Any] = {}
    for pattern, value in values.items():
        for name in matching(pattern, known, where):
            found[name] = value
    return {name: found[name] for name in known if name in found}
