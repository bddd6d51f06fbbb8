# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Robots that the program ``model.py`` of their folder builds, and the permission to run it.

Data never names code: a champion, an experiment, a run directory or a message that names such a
folder does not run its program unless the user has named the folder as well.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
import sys
import traceback

import numpy as np

from gait_core.errors import ConfigurationError, describe_error, excerpt
from gait_core.processes.exits import raise_on_os_exit
from gait_core.robot.find import PATH_VARIABLE, find_robot, is_on_search_path
from gait_core.robot.model import RobotModel

MODEL_FILE = 'model.py'

_PERMITTED_VARIABLE = 'GAIT_PERMITTED_ROBOTS'
"""Folders named by the user, one a line; in the environment, so that workers inherit it."""


def permit_model_code(robot: str) -> None:
    """
    Permit this process, and those that it starts, to run the ``model.py`` of a robot.

    Parameters
    ----------
    robot : str
        Name or folder, as the user wrote it on the command line. Others have no effect.

    """
    if not robot:
        return
    try:
        folder = find_robot(robot)
    except ConfigurationError:
        # The error is reported when the robot is loaded.
        return
    if (folder / MODEL_FILE).is_file():
        os.environ[_PERMITTED_VARIABLE] = '\n'.join([*_permitted_folders(), str(folder)])


def build_from_model_code(folder: Path, draw: int) -> RobotModel:
    """
    Return the robot that ``build(draw, rng)`` of a folder's ``model.py`` makes.

    Raises
    ------
    ConfigurationError
        If the program may not run, raises an exception, ends the process, or builds no robot.

    """
    file = folder / MODEL_FILE
    if str(folder.resolve()) not in _permitted_folders() and not is_on_search_path(folder):
        raise ConfigurationError(
            f"robot '{excerpt(folder)}' is built by its program {MODEL_FILE}, which runs only if "
            f'you name the robot on the command line or list the parent folder in {PATH_VARIABLE}'
        )
    try:
        with raise_on_os_exit():
            robot = _run_build(file, draw)
    except (ConfigurationError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        raise ConfigurationError(
            f'{file}:{_line_number(error, str(file))}: {describe_error(error)}'
        ) from error
    if not isinstance(robot, RobotModel):
        raise ConfigurationError(
            f'{file}: build returned {type(robot).__name__}, expected RobotModel'
        )
    return robot


def _permitted_folders() -> list[str]:
    return os.environ.get(_PERMITTED_VARIABLE, '').splitlines()


def _run_build(file: Path, draw: int) -> object:
    """Import a ``model.py`` and return what its function ``build`` returns."""
    spec = importlib.util.spec_from_file_location(f'gait_robot_{file.parent.name}', file)
    if spec is None or spec.loader is None:
        raise ConfigurationError(f'{file}: cannot be loaded as a Python module')
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look up their module in sys.modules while they are defined.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    build = getattr(module, 'build', None)
    if not callable(build):
        raise ConfigurationError(f'{file}: it defines no function build(draw, rng)')
    robot: object = build(draw, np.random.default_rng(draw))
    return robot


def _line_number(error: BaseException, file: str) -> int:
    """Return the innermost line of a file that an exception passed through; 1 without one."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return error.lineno or 1
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno or 1 for frame in reversed(frames) if frame.filename == file), 1)
