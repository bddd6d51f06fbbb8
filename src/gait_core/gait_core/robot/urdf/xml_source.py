# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""XML of a robot description, from a .urdf file or an expanded .xacro file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
import contextlib
from functools import cache
import io
import os
from pathlib import Path
import re
import tempfile
from typing import Any

from gait_core.errors import ConfigurationError
from gait_core.files.access import MEBIBYTE, read_bytes, read_text
from gait_core.robot.find import read_package_name
from gait_core.robot.urdf.xml_tree import XmlElement, parse_xml
from gait_core.trial.scene import EMPTY_MAPPING

XML_LIMIT = 8 * MEBIBYTE
"""Size limit of a description and of each included file [bytes]."""


def read_xml(path: Path, packages: Mapping[str, str | Path] = EMPTY_MAPPING) -> XmlElement:
    """
    Return the root element of a description.

    A .xacro file is expanded once per process; its elements have no lines.

    Raises
    ------
    ConfigurationError
        If the file cannot be read, is not well-formed or not valid xacro; with file and line.

    """
    try:
        if path.suffix != '.xacro':
            return parse_xml(read_bytes(path, XML_LIMIT))
        given = tuple(sorted((name, str(folder)) for name, folder in packages.items()))
        root = parse_xml(_expand_xacro(str(path.resolve()), given)[0])
    except ValueError as error:
        if isinstance(error, ConfigurationError):
            raise
        raise ConfigurationError(f'{path}: {error}') from error
    for element in root.iter():
        element.line = 0  # type: ignore[attr-defined]
    return root


def included_files(path: Path) -> tuple[Path, ...]:
    """Return the files that a .xacro file includes, directly or by other files."""
    return _expand_xacro(str(path.resolve()), ())[1]


@cache
def _expand_xacro(
    path: str, packages: tuple[tuple[str, str], ...]
) -> tuple[str, tuple[Path, ...]]:
    """Return the expanded XML of a .xacro file, and the files that it includes; cached."""
    try:
        import xacro
    except ImportError as error:
        raise ConfigurationError(
            f'{path}: expanding it needs the Python package xacro, which is not installed here'
        ) from error
    warnings = io.StringIO()
    try:
        with (
            contextlib.redirect_stderr(warnings),
            _package_index(Path(path), packages) as stand_ins,
            _limit_included_files(xacro),
        ):
            # This list of xacro grows for the whole life of the process.
            xacro.all_includes.clear()
            text = str(xacro.process_file(path, mappings={}).toxml())
            included = tuple(sorted({Path(file).resolve() for file in xacro.all_includes}))
    except Exception as error:
        # xacro passes on any exception of an expression: all of them are faults of the file.
        raise ConfigurationError(_error_message(xacro, error, path)) from error
    for stand_in, folder in stand_ins.items():
        text = text.replace(stand_in, folder)
    return text, included


@contextlib.contextmanager
def _limit_included_files(xacro: Any) -> Iterator[None]:
    """Limit the size of files that xacro includes, by replacing its function ``open``."""

    def opened(file: str) -> io.StringIO:
        """Return the text of a file; OSError if it does not exist, as xacro expects."""
        os.stat(file)
        return io.StringIO(read_text(file, XML_LIMIT))

    xacro.open = opened
    try:
        yield
    finally:
        del xacro.open


def _error_message(xacro: Any, error: Exception, path: str) -> str:
    """Return the message of xacro on one line, after the file and the line of the fault."""
    message = ' '.join((str(error) or repr(error)).split())
    files = [str(file) for file in xacro.filestack or [] if file] or [path]
    line = getattr(error, 'lineno', None) or _find_quoted_line(message, files[-1])
    location = f'{files[-1]}:{line}' if line else files[-1]
    outer = [file for file in reversed(files[:-1]) if file != files[-1]]
    macros = [macro.body.getAttribute('name') for macro in reversed(xacro.macrostack or [])]
    trail = [f"in macro '{name}'" for name in macros] + [f'included from {f}' for f in outer]
    return f'{location}: xacro: {message}' + (f' ({", ".join(trail)})' if trail else '')


def _find_quoted_line(message: str, file: str) -> int | None:
    """Return the first line with the words that a message quotes; xacro reports no lines."""
    quoted = re.findall(r"""['"]([^'"]+)['"]""", message)
    quoted += re.findall(r'(?:property|macro name|parameter|tag):? +([\w.:-]+)', message)
    try:
        lines = read_text(file, XML_LIMIT).splitlines()
    except ConfigurationError:
        return None
    for words in reversed(quoted):
        for number, line in enumerate(lines, start=1):
            if re.search(rf'(?<!\w){re.escape(words)}(?!\w)', line):
                return number
    return None


@contextlib.contextmanager
def _package_index(
    source: Path,
    packages: tuple[tuple[str, str], ...],
) -> Iterator[dict[str, str]]:
    """
    Make the given packages and those around the file visible to ``$(find NAME)``.

    Yields the true folder of each temporary link. The links exist only inside the context: replace
    them in results.
    """
    known = {read_package_name(folder): str(folder) for folder in source.parents}
    known.update(packages)
    known.pop('', None)
    before = os.environ.get('AMENT_PREFIX_PATH')
    with tempfile.TemporaryDirectory() as prefix:
        share = Path(prefix) / 'share'
        markers = share / 'ament_index' / 'resource_index' / 'packages'
        markers.mkdir(parents=True)
        folders = {name: Path(folder).expanduser().resolve() for name, folder in known.items()}
        for name, folder in folders.items():
            (markers / name).touch()
            (share / name).symlink_to(folder)
        os.environ['AMENT_PREFIX_PATH'] = os.pathsep.join([prefix, *([before] if before else [])])
        try:
            yield {str(share / name): str(folder) for name, folder in folders.items()}
        finally:
            if before is None:
                del os.environ['AMENT_PREFIX_PATH']
            else:
                os.environ['AMENT_PREFIX_PATH'] = before
