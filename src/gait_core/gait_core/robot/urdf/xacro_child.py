# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Expansion of a xacro file in a process of its own, within limits of time and memory.

An expression such as ``10**10**9`` cannot be interrupted, and takes all memory. The process is
started by ``xml_source``; it prints one JSON object with ``text`` and ``included``,
or ``fault``.
"""

from __future__ import annotations

from collections.abc import Iterable
import contextlib
import io
import json
import os
from pathlib import Path
import re
import resource
import sys
from typing import Any

from gait_core.errors import ConfigurationError
from gait_core.files.access import MEBIBYTE, read_text
from gait_core.robot.find import missing_package

XML_LIMIT = 8 * MEBIBYTE
"""Size limit of a description, of each included file and of the expanded text [bytes]."""

MEMORY_LIMIT = 1024 * MEBIBYTE
"""Limit of the memory of an expansion [bytes]."""


def main() -> None:
    """Expand a file and print the result; arguments: the file, and the processor time [s]."""
    path, seconds = sys.argv[1], int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # At the first limit the process gets SIGXCPU, at the second SIGKILL.
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    try:
        result = _expand(path)
    except MemoryError:
        result = {
            'fault': f'{path}: xacro: expanding it takes more than {MEMORY_LIMIT // MEBIBYTE} MiB '
            'of memory'
        }
    json.dump(result, sys.stdout)


def _expand(path: str) -> dict[str, Any]:
    """Return the expanded text and the included files, or the fault, of a xacro file."""
    try:
        import xacro
    except ImportError:
        needed = 'the Python package xacro, which is not installed here'
        return {'fault': f'{path}: expanding it needs {needed}'}
    # xacro opens every file by this name.
    xacro.open = _open_bounded
    ignored = io.StringIO()
    try:
        with contextlib.redirect_stderr(ignored), contextlib.redirect_stdout(ignored):
            text = str(xacro.process_file(path, mappings={}).toxml())
    except MemoryError:
        raise
    except Exception as error:
        # xacro passes on any exception of an expression: all of them are faults of the file.
        if isinstance(getattr(error, 'exc', None), MemoryError):
            raise MemoryError from error
        return {'fault': _error_message(xacro, error, path)}
    if len(text) > XML_LIMIT:
        return {'fault': f'{path}: xacro: it expands to more than {XML_LIMIT // MEBIBYTE} MiB'}
    included = sorted({str(Path(file).resolve()) for file in xacro.all_includes})
    return {'text': text, 'included': included}


def _open_bounded(file: str) -> io.StringIO:
    """Return the text of a file; OSError if it does not exist, as xacro expects."""
    os.stat(file)
    return io.StringIO(read_text(file, XML_LIMIT))


def _error_message(xacro: Any, error: Exception, path: str) -> str:
    """Return the message of xacro on one line, after the file and the line of the fault."""
    message = _xacro_message(error)
    files = [str(file) for file in xacro.filestack or [] if file] or [path]
    macros = list(reversed(xacro.macrostack or []))
    # The body of a macro lies in the file that defines it, not in the one that calls it.
    source = str(macros[0].history[-1][-1]) if macros and macros[0].history else files[-1]
    line = getattr(error, 'lineno', None)
    if line is None:
        macro_name = macros[0].body.getAttribute('name') if macros else ''
        included = [str(file) for file in xacro.all_includes]
        source, line = _find_expression(message, [source, *reversed(files), *included], macro_name)
    location = f'{source}:{line}' if line else source
    outer = [file for file in dict.fromkeys(reversed(files)) if file != source]
    trail = [f"in macro '{macro.body.getAttribute('name')}'" for macro in macros[:3]]
    trail += [f'{"called" if macros else "included"} from {file}' for file in outer[:2]]
    return f'{location}: xacro: {message}' + (f' ({", ".join(trail)})' if trail else '')


def _xacro_message(error: Exception) -> str:
    """Return the message of xacro on one line; for a missing name, with the way to give it."""
    message = ' '.join((str(error) or repr(error)).split())
    if missing := re.search(r"package '([\w-]+)' not found", message):
        return missing_package(missing[1])
    if missing := re.search(r'Undefined substitution argument (\S+)', message):
        return (
            f'{message}; give it a default in the file, or expand the file first: '
            f'xacro FILE {missing[1]}:=VALUE > robot.urdf'
        )
    if 'maximum recursion depth' in message:
        return 'maximum recursion depth exceeded: does an include or a macro contain itself?'
    # xacro writes the class of another library's error, and its message twice.
    return re.sub(r"<class '(?:\w+\.)*(\w+)'>: (.+) \2", r'\1: \2', message)


def _find_expression(message: str, files: list[str], macro: str) -> tuple[str, int | None]:
    """
    Return the file and the line of the words that a message quotes; xacro reports no lines.

    Expressions come first, in the first file within the macro; without a line that has the words
    the first file is returned.
    """
    # The innermost expression comes first in a message, the innermost name last.
    quoted = re.findall(r"evaluating expression '(.+?)'(?= when|$)", message)
    quoted += reversed(re.findall(r"""['"]([^'"]+)['"]""", message))
    quoted += re.findall(r'(?:property|macro name|parameter|tag|argument):? +([\w.:-]+)', message)
    texts = {file: _read_lines(file) for file in dict.fromkeys(files)}
    first = texts[files[0]]
    start = next((i for i, line in enumerate(first) if f'name="{macro}"' in line), 0)
    for in_expression in (True, False):
        for words in quoted:
            for file, lines in texts.items():
                begin = start if file == files[0] else 0
                if line := _find_line(lines[begin:], words, in_expression):
                    return file, begin + line
    return files[0], None


def _find_line(lines: Iterable[str], words: str, in_expression: bool) -> int | None:
    """Return the number of the first line that has the words, from 1; None without one."""
    pattern = re.compile(rf'(?<!\w){re.escape(words)}(?!\w)')
    for number, line in enumerate(lines, start=1):
        text = ' '.join(re.findall(r'\$[{(].*', line)) if in_expression else line
        if pattern.search(text):
            return number
    return None


def _read_lines(file: str) -> list[str]:
    try:
        return read_text(file, XML_LIMIT).splitlines()
    except ConfigurationError:
        return []


if __name__ == '__main__':
    main()
