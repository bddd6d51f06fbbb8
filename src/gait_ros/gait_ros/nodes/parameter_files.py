# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameter files of a command line that have no section for the node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
import difflib
from pathlib import Path
import re
from typing import Any

from gait_core.errors import ConfigurationError, excerpt, list_names
from gait_core.parameters.yaml_file import read_document

FILE_OPTION = '--params-file'
# Similarity from which a name counts as a misspelt one, by difflib.
_MIN_SIMILARITY = 0.7


def named_parameter_files(arguments: Sequence[str]) -> list[Path]:
    """Return the parameter files that a command line names, in its order."""
    pairs = zip(arguments, arguments[1:], strict=False)
    return [Path(file) for option, file in pairs if option == FILE_OPTION]


def check_parameter_files(node: Any, arguments: Sequence[str]) -> None:
    """Warn of a file as of ``find_unused_file``, or raise its ConfigurationError."""
    if text := find_unused_file(node.get_fully_qualified_name(), arguments):
        node.get_logger().warning(text)


def find_unused_file(node: str, arguments: Sequence[str]) -> str:
    """
    Return one line about the first parameter file without a section for a node; '' if all have.

    ROS ignores such a file silently. It may be a file for other nodes.

    Parameters
    ----------
    node : str
        Full name of the node, e.g. ``/r1/cpg``.
    arguments : sequence of str
        Command line of the node.

    Raises
    ------
    ConfigurationError
        If the name of one of its sections is nearly that of the node.

    """
    for file in dict.fromkeys(named_parameter_files(arguments)):
        try:
            names = list(_section_names(read_document(file).content))
        except ConfigurationError:
            # ROS reads the file with other limits, and reports an error in it.
            continue
        if not names or any(_matches(name, node) for name in names):
            continue
        text = f"{excerpt(file)} has no section for node '{node}', but for {list_names(names)}"
        if _is_near(node, names):
            raise ConfigurationError(f'{text}; nearest valid: {node} or /**')
        return text
    return ''


def _section_names(content: Any, parent: str = '') -> Iterator[str]:
    """Yield the node names of a ROS parameter file, which may be nested by namespace."""
    if not isinstance(content, dict):
        return
    for key, value in content.items():
        name = f'{parent}/{str(key).strip("/")}'
        if isinstance(value, dict):
            if 'ros__parameters' in value:
                yield name
            rest = {key: item for key, item in value.items() if key != 'ros__parameters'}
            yield from _section_names(rest, name)


def _matches(pattern: str, node: str) -> bool:
    """Return whether a node name with the wildcards ``**`` and ``*`` matches a node."""
    tokens = re.split(r'(/\*\*(?=/|$)|\*\*|\*)', pattern)
    wild = {'/**': r'(?:/.*)?', '**': '.*', '*': '[^/]*'}
    return bool(
        re.fullmatch(''.join(wild.get(token) or re.escape(token) for token in tokens), node)
    )


def _is_near(node: str, names: Sequence[str]) -> bool:
    """Return whether a section looks like a misspelt name of a node, with or without namespace."""
    own = node.rpartition('/')[2]
    others = [name.rpartition('/')[2] for name in names]
    return bool(difflib.get_close_matches(own, others, 1, _MIN_SIMILARITY))
