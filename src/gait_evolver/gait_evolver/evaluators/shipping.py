# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Files that a trial names by their path, for workers on machines that lack them.

A specification on its way holds no path: a file or folder is named relative to the folder into
which the worker writes the files.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
import os
from pathlib import Path
from typing import Any

from gait_core.parameters.plain_data import to_plain_data
from gait_core.robot.find import find_robot, robot_folders
from gait_core.robot.model_code import permit_model_code
from gait_core.robot.urdf.xml_source import included_files
from gait_core.trial.spec import TrialSpec

Files = tuple[tuple[str, str], ...]
"""Name on the worker, relative to its folder, and path here of each file."""

_MARK = 'sent:'
_HASH_ENDING = '_sha256'


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
    robot, of_robot = pack_robot(spec.scene.robot)
    plain['scene']['robot'] = robot
    files.update(of_robot)
    for name, value in spec.parameters.items():
        if f'{name}{_HASH_ENDING}' in spec.parameters and isinstance(value, str) and value:
            sent = f'parameters/{name}/{Path(value).name}'
            plain['parameters'][name] = _MARK + sent
            files[sent] = str(Path(value).resolve())
    return plain, tuple(files.items())


@cache
def pack_robot(robot: str) -> tuple[str, Files]:
    """Return a robot as a worker finds it, and its files; none for one that is known by name."""
    if robot in robot_folders():
        return robot, ()
    found = find_robot(robot)
    own = [found] if found.is_file() else [path for path in found.rglob('*') if path.is_file()]
    own = [path for path in own if '__pycache__' not in path.parts]
    included = [file for path in own if path.suffix == '.xacro' for file in included_files(path)]
    # Files keep their places relative to each other, as descriptions include each other so.
    root = os.path.commonpath([found.parent, *(file.parent for file in included)])
    files = {f'robot/{path.relative_to(root).as_posix()}': str(path) for path in (*own, *included)}
    return f'{_MARK}robot/{found.relative_to(root).as_posix()}', tuple(sorted(files.items()))


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
