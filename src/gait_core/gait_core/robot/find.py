# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Search for robots and packages, with and without an installed ROS."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.machinery import PathFinder
import importlib.util
import os
from pathlib import Path
from xml.etree import ElementTree

from gait_core.errors import (
    ConfigurationError,
    NotInstalled,
    excerpt,
    install_hint,
    unknown_name_error,
)
from gait_core.files.access import TEXT_LIMIT, expand_user, read_bytes
from gait_core.trial.scene import EMPTY_MAPPING

PATH_VARIABLE = 'GAIT_ROBOT_PATH'
DESCRIPTION_PACKAGE = 'gait_description'
_ROBOT_FILES = ('robot.yaml', 'model.py')
_URDF_SUFFIXES = ('.urdf', '.xacro')


def robot_folders() -> dict[str, Path]:
    """
    Return every robot folder by name, sorted.

    These are searched in order, and the first folder of a name counts: the folders listed in
    ``GAIT_ROBOT_PATH``, ``share/gait_description/robots`` of every prefix in
    ``AMENT_PREFIX_PATH``, the source tree.
    """
    folders: dict[str, Path] = {}
    for parent in _search_path():
        for folder in _readable_entries(parent):
            # A folder that may not be searched is no robot; the others are found all the same.
            with suppress(PermissionError):
                if is_robot_folder(folder):
                    folders.setdefault(folder.name, folder)
    return dict(sorted(folders.items()))


def robot_names() -> tuple[str, ...]:
    """Return the names of all robots that can be found, sorted."""
    return tuple(robot_folders())


def is_robot_folder(folder: Path) -> bool:
    """Return whether a folder describes a robot: by robot.yaml, model.py or its own URDF."""
    return any((folder / name).is_file() for name in _ROBOT_FILES) or bool(
        find_folder_urdf(folder)
    )


def is_on_search_path(folder: Path) -> bool:
    """Return whether a robot folder is installed, or in a folder of ``GAIT_ROBOT_PATH``."""
    wanted = folder.resolve()
    return any(
        found.resolve() == wanted
        for parent in _search_path()
        for found in _readable_entries(parent)
    )


def _readable_entries(parent: Path) -> list[Path]:
    """Return the sorted entries of a folder; empty if it is absent or may not be read."""
    try:
        return sorted(parent.iterdir()) if parent.is_dir() else []
    except PermissionError:
        return []


def find_folder_urdf(folder: Path) -> Path | None:
    """Return the ``.urdf.xacro``, ``.xacro`` or ``.urdf`` named like its folder, or ``None``."""
    for ending in ('.urdf.xacro', '.xacro', '.urdf'):
        candidate = folder / f'{folder.name}{ending}'
        if candidate.is_file():
            return candidate
    return None


def find_robot(name_or_path: str) -> Path:
    """
    Return the robot folder or URDF file of a name or path.

    Raises
    ------
    ConfigurationError
        If there is no such robot; the message names the nearest one.

    """
    try:
        return _resolve_robot(name_or_path)
    except (OSError, RuntimeError) as error:
        # A name too long for a file, a link to itself, or ``~user`` of no user.
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigurationError(f"robot '{excerpt(name_or_path)}': {reason}") from error


def _resolve_robot(name_or_path: str) -> Path:
    """Return the path of a robot: a URDF file, then a name, then a folder."""
    path = expand_user(name_or_path)
    if path.suffix in _URDF_SUFFIXES and path.is_file():
        return path.resolve()
    folders = robot_folders()
    if name_or_path in folders:
        return folders[name_or_path].resolve()
    # Names come before folders of the working directory.
    if path.is_dir() and is_robot_folder(path):
        return path.resolve()
    if len(path.parts) > 1 or path.suffix in _URDF_SUFFIXES:
        fault = 'holds no robot.yaml, model.py or URDF' if path.exists() else 'does not exist'
        raise ConfigurationError(f"robot '{name_or_path}' {fault}")
    raise unknown_name_error('robot', name_or_path, folders)


def _search_path() -> Iterator[Path]:
    for entry in os.environ.get(PATH_VARIABLE, '').split(os.pathsep):
        if entry:
            yield expand_user(entry)
    for share in _ament_share_folders():
        yield share / DESCRIPTION_PACKAGE / 'robots'
    # <root>/src/gait_core/gait_core/robot/find.py: the source tree, if this file is in one.
    root = Path(__file__).resolve().parents[4]
    yield root / 'urdf' / 'robots'


def _ament_share_folders() -> Iterator[Path]:
    for prefix in os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep):
        if prefix:
            yield Path(prefix) / 'share'


def find_package(
    name: str,
    source: Path,
    packages: Mapping[str, str | Path] = EMPTY_MAPPING,
) -> Path | None:
    """
    Return the folder of the package in ``package://name``, or ``None``.

    Parameters
    ----------
    name : str
    source : Path
        File that refers to the package. After installed packages, the folders above it are
        searched for a package.xml with the name, then for a folder of that name.
    packages : mapping of str to path
        Folders given by the user, searched first.

    """
    if name in packages:
        return expand_user(packages[name]).resolve()
    for share in _ament_share_folders():
        if (share / name).is_dir():
            return share / name
    for folder in source.resolve().parents:
        if read_package_name(folder) == name:
            return folder
    return next((folder for folder in source.resolve().parents if folder.name == name), None)


def missing_package(name: str) -> str:
    """Return the message on a ROS package that was not found, with the way to give its folder."""
    return (
        f"package '{name}' was not found; name its folder to gait check or gait adopt: "
        f'--package {name}=PATH'
    )


def read_package_name(folder: Path) -> str:
    """Return the package name in a folder's package.xml; empty if there is none."""
    manifest = folder / 'package.xml'
    if not manifest.is_file():
        return ''
    try:
        root = ElementTree.fromstring(read_bytes(manifest, TEXT_LIMIT))
        return (root.findtext('name') or '').strip()
    except (ElementTree.ParseError, LookupError, ValueError):
        return ''


def find_package_data(reference: str) -> Path:
    """
    Return the file ``path`` of the installed Python package ``module``, from ``module:path``.

    Neither the package nor the packages that contain it are imported, so that no code runs because
    a file names it.

    Raises
    ------
    ConfigurationError
        If the package has no such file; NotInstalled if it is not installed.

    """
    module, _, inner = reference.partition(':')
    name = excerpt(module)
    locations = _package_folders(module)
    if not locations:
        raise NotInstalled(
            f"'{excerpt(reference)}' needs the Python package '{name}', which is not installed "
            f'here{install_hint(module)}'
        )
    for location in locations:
        path = Path(location) / inner
        if path.is_file():
            return path
    raise ConfigurationError(f"the Python package '{name}' has no file '{excerpt(inner)}'")


def _package_folders(module: str) -> list[str]:
    """Return the folders of an installed package, without importing it; empty if there is none."""
    top, *inner = module.split('.')
    if not all(name.isidentifier() for name in (top, *inner)):
        return []
    # A name without a dot is only looked up; of others, `find_spec` imports the parents.
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        # A module that an importer refuses, or one without a specification, e.g. __main__.
        return []
    for name in inner:
        parents = list((spec and spec.submodule_search_locations) or ())
        spec = PathFinder.find_spec(name, parents) if parents else None
    return list((spec and spec.submodule_search_locations) or ())
