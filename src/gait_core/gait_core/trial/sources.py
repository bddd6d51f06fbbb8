# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Hash of the code and the robot that a result depends on: a version number misses edits."""

from __future__ import annotations

from collections.abc import Iterable
import hashlib
import importlib.util
from pathlib import Path

from gait_core import registry
from gait_core.files.access import read_bytes
from gait_core.robot.find import find_robot
from gait_core.robot.urdf.xml_source import included_files
from gait_core.trial.spec import TrialSpec


def sources_hash(spec: TrialSpec) -> str:
    """
    Return the SHA-256 of the sources that a trial's result depends on.

    They are the files of the robot, those that it includes, and the Python files of
    ``gait_core`` and of the packages that register the controller, the engine, the terrain and
    the fitness terms.

    Raises
    ------
    ConfigurationError
        For an unknown name, with the nearest valid one.

    """
    packages = {
        'gait_core',
        registry.package('controllers', spec.controller),
        registry.package('engines', spec.scene.engine),
        registry.package('terrains', spec.scene.terrain.name),
        *(registry.package('fitness_terms', term) for term in spec.fitness_terms),
    }
    digest = hashlib.sha256()
    for package in sorted(packages):
        for folder, files in _python_files(package):
            _hash_files(digest, folder, files)
    found = find_robot(spec.scene.robot)
    own = [found] if found.is_file() else sorted(found.rglob('*'))
    _hash_files(digest, found.parent if found.is_file() else found, own)
    included = {
        file for source in own if source.suffix == '.xacro' for file in included_files(source)
    }
    for file in sorted(included - set(own)):
        _hash_files(digest, file.parent, (file,))
    return digest.hexdigest()


def _python_files(package: str) -> list[tuple[Path, list[Path]]]:
    """Return each folder of a package with its Python files, or that of a single module."""
    found = importlib.util.find_spec(package)
    if found is None:
        return []
    if found.submodule_search_locations is None:
        file = Path(found.origin or '')
        return [(file.parent, [file])]
    folders = sorted(map(Path, found.submodule_search_locations))
    return [(folder, list(folder.rglob('*.py'))) for folder in folders]


def _hash_files(digest: hashlib._Hash, folder: Path, files: Iterable[Path]) -> None:
    """Add files to a digest: of each its path within the folder, its size and its content."""
    for file in sorted(files):
        if file.is_file() and '__pycache__' not in file.parts:
            content = read_bytes(file)
            digest.update(f'{file.relative_to(folder).as_posix()} {len(content)}\n'.encode())
            digest.update(content)
