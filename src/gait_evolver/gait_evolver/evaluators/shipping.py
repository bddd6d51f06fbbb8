# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Robots, plugins and files that a trial names, for workers on machines that lack them.

A specification on its way holds no path: a file or folder is named relative to the folder into
which the worker writes the files. A robot or plugin that is known by name keeps its name: the
worker puts the folder with its files in front of the path on which it searches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
import os
from pathlib import Path
import sys
from typing import Any

from gait_core import registry
from gait_core.errors import ConfigurationError
from gait_core.files.access import read_bytes
from gait_core.parameters.plain_data import sha256_of, to_plain_data
from gait_core.robot.find import PATH_VARIABLE, find_robot, robot_folders
from gait_core.robot.load import load_robot
from gait_core.robot.model_code import permit_model_code
from gait_core.robot.urdf.xml_source import included_files
from gait_core.trial.failures import SUITE_PACKAGES, describe_exception
from gait_core.trial.spec import TrialSpec

Files = tuple[tuple[str, str], ...]
"""Name on the worker, relative to its folder, and path here of each file."""
Part = tuple[str, str]
"""Kind (``ROBOTS``, or a key of ``registry.GROUPS``) and name of what a trial names."""
PackedPart = tuple[dict[str, Any], Files]
"""Plain data for ``use_part``, and the files that are sent."""

ROBOTS = 'robots'
_MARK = 'sent:'
_HASH_ENDING = '_sha256'
_METADATA = ('METADATA', 'PKG-INFO', 'entry_points.txt', 'top_level.txt')
"""Files of an installed distribution by which its entries are found."""


def pack_spec(spec: TrialSpec) -> tuple[dict[str, Any], Files]:
    """
    Return a specification without paths as plain data, and the files that it names.

    These are the files of a robot that is given by its path, those that its description includes,
    and files of parameters that have a hash, as ``gait_file``. Weights differ between trials: they
    are left out and sent by the caller.
    """
    plain: dict[str, Any] = to_plain_data(spec)
    plain['weights'] = ''
    files: dict[str, str] = {}
    plain['scene']['robot'], parent, of_robot = pack_robot(spec.scene.robot)
    if not parent:
        files.update(of_robot)
    for name, value in spec.parameters.items():
        if f'{name}{_HASH_ENDING}' in spec.parameters and isinstance(value, str) and value:
            sent = f'parameters/{name}/{Path(value).name}'
            plain['parameters'][name] = _MARK + sent
            files[sent] = str(Path(value).resolve())
    return plain, tuple(files.items())


@cache
def pack_robot(robot: str) -> tuple[str, str, Files]:
    """
    Return a robot as a worker finds it, the parent of its folder there, and its files.

    The parent is empty for a robot that is given by its path.
    """
    found = find_robot(robot)
    own = [found] if found.is_file() else [path for path in found.rglob('*') if path.is_file()]
    places = {path: path for path in own if '__pycache__' not in path.parts}
    for source in [path for path in places if path.suffix == '.xacro']:
        for file in included_files(source):
            # Included relative to the file itself, which an installed folder only links to.
            relative = os.path.relpath(file, source.resolve().parent)
            places[Path(os.path.normpath(source.parent / relative))] = file
    # Files keep their places relative to each other, as descriptions include each other so.
    root = os.path.commonpath([found.parent, *(place.parent for place in places)])
    files = {f'robot/{place.relative_to(root).as_posix()}': str(places[place]) for place in places}
    sent, listed = Path('robot') / found.relative_to(root), tuple(sorted(files.items()))
    if robot in robot_folders():
        return robot, sent.parent.as_posix(), listed
    return f'{_MARK}{sent.as_posix()}', '', listed


def list_parts(spec: TrialSpec) -> Iterator[Part]:
    """Yield the robot and the registered names on which a trial depends."""
    yield ROBOTS, spec.scene.robot
    yield 'controllers', spec.controller
    yield 'engines', spec.scene.engine
    yield 'terrains', spec.scene.terrain.name
    yield from (('fitness_terms', name) for name in spec.fitness_terms)


def pack_part(kind: str, name: str) -> PackedPart:
    """Return a part of a trial; the files of packages of the suite are not sent."""
    part = {'kind': kind, 'name': name, 'hash': hash_part(kind, name), 'path': '', 'metadata': {}}
    if kind == ROBOTS:
        part['name'], part['path'], files = pack_robot(name)
        return part, files
    if registry.package(kind, name) in SUITE_PACKAGES:
        return part, ()
    plugin = registry.distribution(kind, name)
    folder = f'{plugin.name.replace("-", "_")}-{plugin.version}.dist-info'
    texts = {f'{folder}/{file}': plugin.read_text(file) for file in _METADATA}
    metadata = {file: text for file, text in texts.items() if text}
    return {**part, 'path': '.', 'metadata': metadata}, _list_files(kind, name)


def hash_part(kind: str, name: str) -> str:
    """Return the SHA-256 of the places and contents of a part's files, wherever the part lies."""
    if kind != ROBOTS:
        return _hash_files(_list_files(kind, name))
    sent, parent, files = pack_robot(name)
    place = f'{parent}/{name}' if parent else sent.removeprefix(_MARK)
    # Places relative to the robot: folders above it may have other names here and there.
    return _hash_files(tuple((os.path.relpath(file, place), path) for file, path in files))


def hash_suite() -> str:
    """Return the SHA-256 of the Python files of ``gait_core``."""
    return _hash_files(_package_files('gait_core'))


def _hash_files(files: Files) -> str:
    return sha256_of(sorted((name, sha256(read_bytes(path)).hexdigest()) for name, path in files))


def _list_files(kind: str, name: str) -> Files:
    """Return the files of a robot, or of the packages of the plugin that registers a name."""
    if kind == ROBOTS:
        return pack_robot(name)[2]
    package = registry.package(kind, name)
    if package in SUITE_PACKAGES:
        return _package_files(package)
    listed = (registry.distribution(kind, name).read_text('top_level.txt') or '').split()
    packages = {package, *listed} - sys.stdlib_module_names
    return tuple(file for each in sorted(packages) for file in _package_files(each))


def _package_files(package: str) -> Files:
    """Return the files of an importable package or module; of one of the suite, Python files."""
    spec = find_spec(package)
    folders = [Path(folder) for folder in (spec and spec.submodule_search_locations) or ()]
    files = {
        f'{package}/{path.relative_to(folder).as_posix()}': path
        for folder in folders
        for path in folder.rglob('*.py' if package in SUITE_PACKAGES else '*')
        if path.is_file() and '__pycache__' not in path.parts
    }
    if spec and spec.origin and not folders:
        files[Path(spec.origin).name] = Path(spec.origin)
    return tuple((name, str(path)) for name, path in sorted(files.items()))


def use_part(part: Mapping[str, Any], folder: Path) -> str:
    """
    Let this process find a part of trials, its own one if that is equal; else the one sent.

    Returns why it cannot be used, in one line; empty if it can.
    """
    kind, name, digest = part['kind'], find_sent(part['name'], folder), part['hash']
    title = f"{kind[:-1].replace('_', ' ')} '{part['name'].removeprefix(_MARK)}'"
    try:
        if part['path'] and not _is_here(kind, name, digest):
            _search_first(kind, folder, part)
        if hash_part(kind, name) != digest:
            return f'another version of {title}'
        load_robot(name) if kind == ROBOTS else registry.load(kind, name)
    except ConfigurationError as error:
        return str(error)
    except Exception as error:
        # Code of a plugin may raise anything while it is imported.
        return f'{title} is not usable here: {describe_exception(error)}'
    return ''


def _is_here(kind: str, name: str, digest: str) -> bool:
    with suppress(ConfigurationError):
        return hash_part(kind, name) == digest
    return False


def _search_first(kind: str, folder: Path, part: Mapping[str, Any]) -> None:
    """Put the files of a part in front of the path on which its kind is searched."""
    write_files({name: text.encode() for name, text in part['metadata'].items()}, folder)
    path = str(folder / part['path'])
    if kind == ROBOTS:
        known = os.environ.get(PATH_VARIABLE)
        os.environ[PATH_VARIABLE] = f'{path}{os.pathsep}{known}' if known else path
        pack_robot.cache_clear()
    else:
        sys.path.insert(0, path)
        registry.clear_entry_cache()


def write_files(contents: Mapping[str, bytes], folder: Path) -> None:
    """Write files that were sent into a worker's folder."""
    for name, content in contents.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def find_sent(name: str, folder: Path) -> str:
    """Return the path of what was sent, or any other name as it is."""
    if not name.startswith(_MARK):
        return name
    path = folder / name.removeprefix(_MARK)
    # The evaluator has run the program of this robot already.
    permit_model_code(str(path))
    return str(path)


def unpack_spec(plain: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return a specification with paths in a worker's folder."""
    scene, parameters = plain['scene'], plain['parameters']
    return {
        **plain,
        'scene': {**scene, 'robot': find_sent(scene['robot'], folder)},
        'parameters': {
            name: find_sent(value, folder) if isinstance(value, str) else value
            for name, value in parameters.items()
        },
    }
