# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Starts that are folders: a robot, and Python packages with a controller or a fitness term."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
import keyword
from pathlib import Path
import shlex

from gait_core import registry
from gait_core.errors import ConfigurationError
from gait_core.files.access import new_folder, read_text, write_atomically
from gait_core.trial.scene import EMPTY_MAPPING

_TEMPLATES = Path(__file__).parent / 'templates'
_MAX_NAME_LENGTH = 60


@dataclass(frozen=True, kw_only=True)
class StartKind:
    """
    Kind of a start.

    Attributes
    ----------
    files : mapping of str to str
        Template by the path of the file in the new folder; ``NAME`` in a path is its name.
    commands : tuple of str
        Commands that use the folder; ``PATH`` is its path, ``NAME`` its name.
    group : str
        Registry in which the package enters its object, a key of ``registry.GROUPS``; '' for a
        robot, which needs no entry.
    target : str
        Module and object of the package, in the form of an entry point.

    """

    files: Mapping[str, str]
    commands: tuple[str, ...]
    group: str = ''
    target: str = ''


_PACKAGE_FILES = {'setup.py': 'package/setup.py', 'package.xml': 'package/package.xml'}
_INSTALL = (
    'python -m pip install --no-deps --no-build-isolation --editable PATH'
    '    # in a ROS 2 workspace: colcon build'
)

FOLDER_KINDS: Mapping[str, StartKind] = {
    'robot': StartKind(
        files={
            'NAME.urdf.xacro': 'robot/robot.urdf.xacro',
            'robot.yaml': 'robot/robot.yaml',
        },
        commands=('gait check PATH', 'gait walk PATH'),
    ),
    'controller': StartKind(
        files={**_PACKAGE_FILES, 'NAME/controller.py': 'controller/controller.py'},
        commands=(_INSTALL, 'gait walk guroo --controller NAME --seconds 3'),
        group='controllers',
        target='__NAME__.controller:__CLASS__Controller',
    ),
    'fitness_term': StartKind(
        files={**_PACKAGE_FILES, 'NAME/fitness.py': 'fitness_term/fitness.py'},
        commands=(_INSTALL, 'gait evolve guroo_quick --set fitness.NAME=1'),
        group='fitness_terms',
        target='__NAME__.fitness:__NAME__',
    ),
}


def write_start_folder(kind: str, folder: Path) -> tuple[str, ...]:
    """
    Write the start of a robot or package, and return the commands that use it.

    Parameters
    ----------
    kind : str
        Key of ``FOLDER_KINDS``.
    folder : Path
        Folder to make; its name is that of the robot, controller or fitness term.

    Raises
    ------
    ConfigurationError
        If the path exists, or the name is no identifier or taken.

    """
    chosen, name = FOLDER_KINDS[kind], folder.resolve().name
    check_new_path(folder)
    _check_name(kind, name, chosen.group)
    words = {
        '__OBJECT__': chosen.target,
        '__GROUP__': registry.GROUPS.get(chosen.group, ''),
        '__KIND__': kind.replace('_', ' '),
        '__CLASS__': ''.join(part.capitalize() for part in name.split('_')),
        '__PATH__': shlex.quote(str(folder)),
        '__NAME__': name,
    }
    with new_folder(folder.resolve()) as temporary:
        temporary.mkdir()
        for path, template in chosen.files.items():
            _write(temporary / path.replace('NAME', name), _filled(template, words))
        if chosen.group:
            _write(
                temporary / name / '__init__.py', f'"""Package of the {words["__KIND__"]}."""\n'
            )
            _write(temporary / 'resource' / name, '')
    return tuple(
        command.replace('PATH', words['__PATH__']).replace('NAME', name)
        for command in chosen.commands
    )


def check_new_path(path: Path) -> None:
    """Raise ConfigurationError if something is at a path."""
    if path.exists() or path.is_symlink():
        raise ConfigurationError(f"'{path}' exists already; name a path that does not")


def _check_name(kind: str, name: str, group: str) -> None:
    """Raise ConfigurationError for a name that is no identifier, or that another one has."""
    if not (name.isidentifier() and name.isascii() and len(name) <= _MAX_NAME_LENGTH):
        raise ConfigurationError(
            f"name '{name}' of a {kind}: expected at most {_MAX_NAME_LENGTH} letters, digits and "
            f'_, no digit first, e.g. my_{kind}'
        )
    if not group:
        return
    if keyword.iskeyword(name):
        raise ConfigurationError(f"name '{name}' of a {kind} is a word of Python; choose another")
    if name in registry.names(group):
        raise ConfigurationError(f"a {kind} '{name}' is registered already; choose another name")
    if find_spec(name) is not None:
        raise ConfigurationError(
            f"a Python package '{name}' is installed already; choose another name"
        )


def _filled(template: str, words: Mapping[str, str] = EMPTY_MAPPING) -> str:
    """Return the text of a template with its words replaced."""
    text = read_text(_TEMPLATES / f'{template}.in')
    for word, value in words.items():
        text = text.replace(word, value)
    return text


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    write_atomically(path, text, durable=False)
