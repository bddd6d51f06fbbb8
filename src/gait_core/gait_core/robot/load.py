# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Loading of robots by name, folder or file, once per process."""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
from functools import lru_cache
import os
from pathlib import Path

from gait_core.errors import ConfigurationError, excerpt
from gait_core.kinematics.start_pose import nominal_height
from gait_core.parameters.schema import Location, Source, read_file
from gait_core.robot.check import check_robot
from gait_core.robot.description import robot_from_description
from gait_core.robot.find import (
    PATH_VARIABLE,
    find_folder_urdf,
    find_package_data,
    find_robot,
    robot_names,
)
from gait_core.robot.free_bodies import read_bodies
from gait_core.robot.model import RobotModel
from gait_core.robot.model_code import MODEL_FILE, build_from_model_code
from gait_core.robot.robot_file import RobotFile
from gait_core.robot.urdf.reader import read_urdf
from gait_core.trial.scene import EMPTY_MAPPING
from gait_core.trial.seeding import check_seed

__all__ = ['load_robot', 'read_robot', 'robot_names']


def load_robot(name_or_path: str, draw: int = 0) -> RobotModel:
    """
    Return a robot, read once per process.

    Parameters
    ----------
    name_or_path : str
        Name of a robot that ``robot_names`` lists, a robot folder, or a .urdf or .xacro file.
    draw : int
        Seed of the body of a drawn robot, which ``model.py`` builds; ignored by other robots.

    Raises
    ------
    ConfigurationError
        If there is no such robot (with the nearest name) or its description has a fault.

    """
    # The search depends on these too: they are part of the key of the cache.
    surroundings = os.environ.get(PATH_VARIABLE), os.environ.get('AMENT_PREFIX_PATH'), os.getcwd()
    path, is_drawn = _locate(name_or_path, *surroundings)
    return _load_cached(str(path), check_seed(draw) if is_drawn else 0)


@lru_cache(maxsize=64)
def _locate(name_or_path: str, *surroundings: str | None) -> tuple[Path, bool]:
    """Return the path of a robot and whether it is drawn; ``surroundings`` is for the cache."""
    path = find_robot(name_or_path)
    return path, path.is_dir() and (path / MODEL_FILE).is_file()


@lru_cache(maxsize=64)
def _load_cached(path: str, draw: int) -> RobotModel:
    return read_robot(Path(path), draw=draw)


def clear_robot_cache() -> None:
    """Clear the cache of ``load_robot``, for files that have changed."""
    _locate.cache_clear()
    _load_cached.cache_clear()


def read_robot(
    path: Path,
    packages: Mapping[str, str | Path] = EMPTY_MAPPING,
    draw: int = 0,
) -> RobotModel:
    """
    Read a robot folder or a .urdf or .xacro file, without a cache.

    In a folder with ``model.py``, its ``build(draw, rng)`` makes the robot. Other folders have a
    ``robot.yaml``, which lists bodies or names a URDF, or only a URDF named like the folder.

    Parameters
    ----------
    path : Path
    packages : mapping of str to path
        Folders of the packages in ``package://`` references of the description.
    draw : int
        Seed of the body of a drawn robot.

    """
    try:
        return _read(path, packages, draw)
    except OSError as error:
        # A file of the description is missing or unreadable, or its name is invalid.
        raise ConfigurationError(
            f"{path}: {error.strerror or error}: '{excerpt(error.filename)}'"
        ) from error


def _read(path: Path, packages: Mapping[str, str | Path], draw: int) -> RobotModel:
    """Return the robot of a path; OSError if one of its files cannot be read."""
    if path.is_dir() and (path / MODEL_FILE).is_file():
        return _check_at(build_from_model_code(path, draw), path)
    content, location = RobotFile(), Location(source=Source(str(path)))
    if path.is_dir() and (path / 'robot.yaml').is_file():
        content, location = read_file(RobotFile, path / 'robot.yaml')
    if content.bodies is not None:
        tree, assembly = read_bodies(content, location, path, packages)
    else:
        urdf = _find_urdf(path, content.urdf, location) if path.is_dir() else path
        tree, assembly = read_urdf(urdf, packages), EMPTY_MAPPING
    robot = _check_at(robot_from_description(tree, content, location, path, assembly), path)
    scale = _default_length_scale(robot) if content.length_scale is None else content.length_scale
    if not scale > 0.0:
        raise ConfigurationError(
            f'{location / "length_scale"} is {scale:g} m, it must be positive'
        )
    return dataclasses.replace(robot, length_scale=scale)


def _check_at(robot: RobotModel, path: Path) -> RobotModel:
    """Return a consistent robot; ConfigurationError begins with its folder or file."""
    try:
        return check_robot(robot)
    except ConfigurationError as error:
        raise ConfigurationError(f'{path}: {error}') from error


def _default_length_scale(robot: RobotModel) -> float:
    # A root frame at the sole has height zero, which is no measure of size.
    height = nominal_height(robot)
    return height if height > 1e-3 else 1.0


def _find_urdf(folder: Path, reference: str, location: Location) -> Path:
    """Return the URDF that robot.yaml names, else the one named like the folder."""
    if ':' in reference:
        return find_package_data(reference)
    if reference:
        if (folder / reference).is_file():
            return folder / reference
        raise (location / 'urdf').error(f"the file '{reference}' does not exist")
    urdf = find_folder_urdf(folder)
    if urdf is None:
        raise ConfigurationError(
            f"robot folder '{folder}' holds no {folder.name}.urdf.xacro or {folder.name}.urdf, "
            'and its robot.yaml names no urdf'
        )
    return urdf
