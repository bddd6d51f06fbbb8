# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""YAML files within limits of size and depth, with the position of every value."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from gait_core.errors import ConfigurationError, excerpt
from gait_core.files.access import MAX_DIGITS, TEXT_LIMIT, read_text

_MAX_DEPTH = 50
# Characters of an unreadable value in a message.
_MAX_QUOTED = 40
_MERGE_TAG = 'tag:yaml.org,2002:merge'


@dataclass(frozen=True)
class FileLimits:
    """
    Largest file size [bytes] and number of values.

    An alias counts as many values as the node that it stands for.
    """

    size: int
    values: int


EDITED_FILE_LIMITS = FileLimits(TEXT_LIMIT, 20_000)
"""Limits of files that people write: they are read in half a second."""

LIVE_FILE_LIMITS = FileLimits(TEXT_LIMIT // 8, 5_000)
"""Limits of files that a node reads while walking: reading may delay a stop by 0.2 s."""

KeyPath = tuple[str | int, ...]
"""Keys of mappings and indices of lists that lead to a value."""


@dataclass(frozen=True)
class Document:
    """
    Content of a YAML file.

    Attributes
    ----------
    path : Path
    content
        Plain data: dicts, lists, numbers, texts.
    root : yaml.Node or None
        Syntax tree of the content; ``None`` for an empty file.

    """

    path: Path
    content: Any
    root: yaml.Node | None = None

    def position(self, keys: KeyPath) -> str:
        """Return ``line 3, column 5`` of the deepest key that exists; empty if none does."""
        mark, _ = self._find(keys)
        return '' if mark is None else f'line {mark.line + 1}, column {mark.column + 1}'

    def written_text(self, keys: KeyPath) -> str:
        """Return a number, truth value or text as it is written, without quotes."""
        return str(self._find(keys)[1].value)

    def _find(self, keys: KeyPath) -> tuple[Any, Any]:
        """Return the mark of the deepest key that exists, or None, and the node of its value."""
        node, mark = self.root, None
        for key in keys:
            if isinstance(node, yaml.MappingNode):
                found = next((pair for pair in node.value if pair[0].value == key), None)
                if found is None:
                    break
                mark, node = found[0].start_mark, found[1]
            elif isinstance(node, yaml.SequenceNode) and isinstance(key, int):
                node = node.value[key]
                mark = node.start_mark
            else:
                break
        return mark, node


def read_document(path: Path, limits: FileLimits = EDITED_FILE_LIMITS) -> Document:
    """
    Read a YAML file.

    Raises
    ------
    ConfigurationError
        In one line with file, line and column: if the file cannot be read, is not YAML, repeats a
        key, which would lose a value, or exceeds the limits.

    """
    text = read_text(path, limits.size)
    loader = None
    try:
        loader = _LimitedLoader(text, limits.values)
        root = loader.get_single_node()
        content = None if root is None else loader.construct_document(root)
    except yaml.YAMLError as error:
        position, problem = _describe_syntax_error(error, text)
        raise ConfigurationError(f'{excerpt(path)}{position}: {problem}') from error
    finally:
        if loader is not None:
            loader.dispose()
    return Document(path, content, root)


def _describe_syntax_error(error: yaml.YAMLError, text: str) -> tuple[str, str]:
    """Return position and problem of a syntax error, without the parser's own terms."""
    if isinstance(error, yaml.reader.ReaderError):
        before = text[: error.position]
        line, column = before.count('\n') + 1, error.position - (before.rfind('\n') + 1) + 1
        code = error.character if isinstance(error.character, int) else ord(error.character)
        return f', line {line}, column {column}', f'the character U+{code:04X} may not be there'
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return '', ' '.join(str(error).split())
    mark, began = error.problem_mark, error.context_mark
    problem = ' '.join(str(error.problem).split()).replace("'<stream end>'", 'the end')
    if error.context and began is not None and began.line != mark.line:
        problem += f' ({error.context} that begins in line {began.line + 1})'
    elif error.context:
        problem += f' ({error.context})'
    return f', line {mark.line + 1}, column {mark.column + 1}', problem


class _LimitedLoader(yaml.SafeLoader):
    """Safe loader with limits that refuses repeated keys, of which one value would be lost."""

    def __init__(self, text: str, max_values: int) -> None:
        super().__init__(text)
        self._max_values = max_values
        self._depth = self._values = 0
        self._sizes: dict[int, int] = {}

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Return the next node; ComposerError if it is too deep, too large or contains itself."""
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        before = self._values
        self._depth += 1
        self._values += 1
        self._check(self._depth <= _MAX_DEPTH, f'nested deeper than {_MAX_DEPTH} levels', event)
        node: yaml.Node | None = super().compose_node(parent, index)
        self._depth -= 1
        if isinstance(event, yaml.AliasEvent):
            # The size of a node is known once it is complete; one that contains itself never is.
            self._check(id(node) in self._sizes, f"'*{event.anchor}' refers to itself", event)
            self._values += self._sizes[id(node)]
        else:
            self._sizes[id(node)] = self._values - before
        self._check(
            self._values <= self._max_values, f'more than {self._max_values} values', event
        )
        return node

    @staticmethod
    def _check(is_within_limit: bool, problem: str, event: Any) -> None:
        if not is_within_limit:
            raise yaml.composer.ComposerError(None, None, problem, event.start_mark)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Return the value of a node; ConstructorError, with its position, if it has none."""
        kind = node.tag.rsplit(':')[-1]
        if kind in ('int', 'float') and len(str(node.value)) > MAX_DIGITS:
            size = f'a number of {len(str(node.value))} characters'
            raise _constructor_error(f'{size}; at most {MAX_DIGITS} are read', node)
        try:
            return super().construct_object(node, deep=deep)
        except (ArithmeticError, AttributeError, LookupError, ValueError) as error:
            # A value that looks like a date or a number but is invalid, e.g. of month 13. PyYAML
            # raises any of these errors for a value that does not fit its explicit tag (!!int).
            value = str(node.value)
            value = value if len(value) <= _MAX_QUOTED else f'{value[:_MAX_QUOTED]}...'
            reason = error if isinstance(error, ValueError) else f'it is not a valid {kind}'
            raise _constructor_error(f"'{value}' cannot be read: {reason}", node) from error

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return the items of a node whose keys all differ."""
        if not isinstance(node, yaml.MappingNode):
            raise _constructor_error('keys with values are expected here', node)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """
        Replace the merge keys ``<<`` of a node by the items that they take over.

        Written keys come before those of merged mappings, and earlier mappings before later ones
        (https://yaml.org/type/merge.html); PyYAML 6.0.4 lets a later or an inner one hold.
        """
        merged: dict[Hashable, Any] = {}
        written: dict[Hashable, Any] = {}
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE_TAG:
                is_list = isinstance(value_node, yaml.SequenceNode)
                for source in value_node.value if is_list else [value_node]:
                    if not isinstance(source, yaml.MappingNode):
                        raise _constructor_error('keys with values are expected after <<', source)
                    self.flatten_mapping(source)
                    for pair in source.value:
                        merged.setdefault(self._read_key(pair[0]), pair)
                continue
            key = self._read_key(key_node)
            if key in written:
                raise _constructor_error(
                    f"the key '{excerpt(str(key))}' is written twice", key_node
                )
            written[key] = (key_node, value_node)
        node.value = list({**merged, **written}.values())

    def _read_key(self, node: yaml.Node) -> Hashable:
        """Return the key of a node; ConstructorError for a list or mapping."""
        key = self.construct_object(node, deep=True)
        if not isinstance(key, Hashable):
            raise _constructor_error(
                f'{excerpt(repr(key))} is not a valid key, expected text', node
            )
        return key


def _constructor_error(problem: str, node: yaml.Node) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
