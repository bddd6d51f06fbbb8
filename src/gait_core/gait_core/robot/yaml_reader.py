"""Safe reading of YAML whose keys and types are checked one by one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
import math
from pathlib import Path
import re
from typing import Any, NoReturn

import yaml

from gait_core.errors import ConfigurationError, excerpt, unknown
from gait_core.files import TEXT_LIMIT, read_text
from gait_core.robot.patterns import matching

_COUNTS = {1: 'one number', 2: 'two numbers', 3: 'three numbers', 4: 'four numbers'}
_SHOWN = 40
"""Characters of a value that cannot be read."""

_DEPTH = 50
"""Deepest nesting of a file."""
_DIGITS = 64
"""Longest number: far longer ones take long to read, and no float holds them."""


@dataclass(frozen=True)
class Bounds:
    """Largest size [bytes] of a file and number of values in it; an alias counts as its values."""

    size: int
    values: int


WRITTEN = Bounds(TEXT_LIMIT, 20_000)
"""Limits of files that people write: they are read in half a second."""

LOADED = Bounds(TEXT_LIMIT // 8, 5_000)
"""Limits of files that a node reads while a robot walks: reading delays a stop by 0.2 s."""


class _BoundedLoader(yaml.SafeLoader):
    """Safe loader with limits, which refuses repeated keys (one value would be lost)."""

    def __init__(self, text: str, most: int) -> None:
        super().__init__(text)
        self._most = most
        self._depth = self._values = 0
        self._sizes: dict[int, int] = {}

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Return the next node; ComposerError if it is too deep, too large or contains itself."""
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        before = self._values
        self._depth += 1
        self._values += 1
        self._check(self._depth <= _DEPTH, f'nested deeper than {_DEPTH} levels', event)
        node: yaml.Node | None = super().compose_node(parent, index)
        self._depth -= 1
        if isinstance(event, yaml.AliasEvent):
            # The size of a node is known once it is complete; one that contains itself never is.
            self._check(id(node) in self._sizes, f"'*{event.anchor}' refers to itself", event)
            self._values += self._sizes[id(node)]
        else:
            self._sizes[id(node)] = self._values - before
        self._check(self._values <= self._most, f'more than {self._most} values', event)
        return node

    @staticmethod
    def _check(kept: bool, problem: str, event: Any) -> None:
        if not kept:
            raise yaml.composer.ComposerError(None, None, problem, event.start_mark)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Return what a node says; ConstructorError, with its place, if it says nothing."""
        kind = node.tag.rsplit(':')[-1]
        if kind in ('int', 'float') and len(str(node.value)) > _DIGITS:
            problem = f'a number of {len(str(node.value))} characters; at most {_DIGITS} are read'
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
        try:
            return super().construct_object(node, deep=deep)
        except (ArithmeticError, AttributeError, LookupError, ValueError) as error:
            # It looks like a date or a number and is none: of month 13, say. The parser refuses
            # an explicit tag, !!bool or !!int, on what it does not fit in any of these ways.
            value = str(node.value)
            value = value if len(value) <= _SHOWN else f'{value[:_SHOWN]}...'
            reason = error if isinstance(error, ValueError) else f'it is no {kind}'
            problem = f"'{value}' cannot be read: {reason}"
            raise yaml.constructor.ConstructorError(
                None, None, problem, node.start_mark
            ) from error

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return the items of a node whose keys all differ."""
        seen = set()
        if not isinstance(node, yaml.MappingNode):
            raise yaml.constructor.ConstructorError(
                None, None, 'keys with values are expected here', node.start_mark
            )
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                raise yaml.constructor.ConstructorError(
                    None, None, f'{excerpt(repr(key))} is no key, a text is', key_node.start_mark
                )
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None,
                    None,
                    f"the key '{excerpt(str(key))}' is written twice",
                    key_node.start_mark,
                )
            seen.add(key)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping


def plain_data(text: str, most: int = WRITTEN.values) -> Any:
    """Return the content of a YAML text; YAMLError for a repeated key or beyond the limits."""
    loader = None
    try:
        loader = _BoundedLoader(text, most)
        return loader.get_single_data()
    finally:
        if loader is not None:
            loader.dispose()


def read_plain(path: Path, bounds: Bounds = WRITTEN) -> Any:
    """
    Return what a YAML file holds.

    Raises
    ------
    ConfigurationError
        In one line with file, line and column: if it cannot be read, is no YAML, repeats a key,
        of which one would be lost, or is beyond the bounds.

    """
    text = read_text(path, bounds.size)
    try:
        return plain_data(text, bounds.values)
    except yaml.YAMLError as error:
        place, reason = _mistake(error, text)
        raise ConfigurationError(f'{excerpt(str(path))}{place}: {excerpt(reason)}') from error


def _mistake(error: yaml.YAMLError, text: str) -> tuple[str, str]:
    """Return where and what a mistake is, without the names that the parser has for a text."""
    if isinstance(error, yaml.reader.ReaderError):
        before = text[: error.position]
        line, column = before.count('\n') + 1, error.position - (before.rfind('\n') + 1) + 1
        code = error.character if isinstance(error.character, int) else ord(error.character)
        return f', line {line}, column {column}', f'the character U+{code:04X} may not be there'
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return '', ' '.join(str(error).split())
    mark, began = error.problem_mark, error.context_mark
    reason = ' '.join(str(error.problem).split()).replace("'<stream end>'", 'the end')
    if error.context and began is not None and began.line != mark.line:
        reason += f' ({error.context} that begins in line {began.line + 1})'
    elif error.context:
        reason += f' ({error.context})'
    return f', line {mark.line + 1}, column {mark.column + 1}', reason


def read_yaml(path: Path, bounds: Bounds = WRITTEN) -> Section:
    """
    Return a file's top-level mapping.

    Raises
    ------
    ConfigurationError
        If the file cannot be read, is no YAML, repeats a key, is beyond the bounds or holds no
        mapping.

    """
    return Section(read_plain(path, bounds), str(path))


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
