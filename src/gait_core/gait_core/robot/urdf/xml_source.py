# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""XML of a robot description, from a .urdf file or an expanded .xacro file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
import contextlib
from functools import cache
import json
import os
from pathlib import Path
import signal
import subprocess
import tempfile

from gait_core.errors import ConfigurationError
from gait_core.files.access import expand_user, read_bytes
from gait_core.processes.python_command import python_module_command
from gait_core.robot.find import read_package_name
from gait_core.robot.urdf.xacro_child import XML_LIMIT
from gait_core.robot.urdf.xml_tree import XmlElement, parse_xml
from gait_core.trial.scene import EMPTY_MAPPING

PROCESSOR_TIME = 5
"""Limit of the processor time in which a .xacro file is expanded [s]."""

_WALL_TIME = 60.0
"""Limit of the wall time of an expansion [s]: its files could lie on a drive that hangs."""


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
    with _package_index(Path(path), packages) as (prefix, stand_ins):
        command = python_module_command('gait_core.robot.urdf.xacro_child')
        prefixes = [prefix, *filter(None, [os.environ.get('AMENT_PREFIX_PATH')])]
        try:
            done = subprocess.run(
                [*command, path, str(PROCESSOR_TIME)],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                env={**os.environ, 'AMENT_PREFIX_PATH': os.pathsep.join(prefixes)},
                timeout=_WALL_TIME,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise ConfigurationError(
                f'{path}: xacro: expanding it takes more than {_WALL_TIME:g} s'
            ) from error
    if done.returncode == -signal.SIGXCPU:
        raise ConfigurationError(
            f'{path}: xacro: expanding it takes more than {PROCESSOR_TIME} s of processor time'
        )
    try:
        result = json.loads(done.stdout)
    except ValueError as error:
        last = (done.stderr.decode(errors='replace').splitlines() or [''])[-1]
        raise ConfigurationError(
            f'{path}: xacro: its process ended with status {done.returncode} {last}'
        ) from error
    if 'fault' in result:
        raise ConfigurationError(result['fault'])
    text = str(result['text'])
    for stand_in, folder in stand_ins.items():
        text = text.replace(stand_in, folder)
    return text, tuple(Path(file) for file in result['included'])


@contextlib.contextmanager
def _package_index(
    source: Path,
    packages: tuple[tuple[str, str], ...],
) -> Iterator[tuple[str, dict[str, str]]]:
    """
    Make an index of the given packages and those around the file, for ``$(find NAME)``.

    Yields the prefix of the index, and the true folder behind each of its temporary links. The
    links exist only inside the context, so the caller must replace them in results.
    """
    known = {read_package_name(folder): str(folder) for folder in source.parents}
    known.update(packages)
    known.pop('', None)
    with tempfile.TemporaryDirectory() as prefix:
        share = Path(prefix) / 'share'
        markers = share / 'ament_index' / 'resource_index' / 'packages'
        markers.mkdir(parents=True)
        folders = {name: expand_user(folder).resolve() for name, folder in known.items()}
        for name, folder in folders.items():
            (markers / name).touch()
            (share / name).symlink_to(folder)
        yield prefix, {str(share / name): str(folder) for name, folder in folders.items()}
