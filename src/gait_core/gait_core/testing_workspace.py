"""A robot folder and installed metadata for tests whose trials run in other processes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
import os
from pathlib import Path
import sys

from gait_core import registry
from gait_core.robot.find import PATH_VARIABLE
from gait_core.robot.to_urdf import to_urdf
from gait_core.testing import legged_box

_ENTRY_POINTS = """\
[gait.engines]
kinematic = gait_core.testing:KinematicEngine
[gait.controllers]
wave = gait_core.testing:WaveController
"""


def make_workspace(folder: Path, entry_points: str = '') -> dict[str, str]:
    """
    Write what makes the robot ``legged_box``, engine ``kinematic`` and controller ``wave`` known.

    Parameters
    ----------
    folder : Path
        Empty; must outlive the tests that use it.
    entry_points : str
        More of them, as in an ``entry_points.txt``.

    Returns
    -------
    dict
        Environment variables that a process needs to see them.

    """
    robot = folder / 'robots' / 'legged_box'
    robot.mkdir(parents=True)
    (robot / 'legged_box.urdf').write_text(to_urdf(legged_box()))
    (robot / 'robot.yaml').write_text(
        'defaults: {controller: wave, preset: wave, scene: {engine: kinematic}, duration: 0.5}\n'
    )
    metadata = folder / 'packages' / 'gait_workspace_for_tests-0.dist-info'
    metadata.mkdir(parents=True)
    (metadata / 'METADATA').write_text(
        'Metadata-Version: 2.1\nName: gait-workspace-for-tests\nVersion: 0\n'
    )
    (metadata / 'entry_points.txt').write_text(_ENTRY_POINTS + entry_points)
    return {
        PATH_VARIABLE: _prepended(robot.parent, PATH_VARIABLE),
        'PYTHONPATH': _prepended(metadata.parent, 'PYTHONPATH'),
    }


@contextmanager
def workspace(folder: Path, entry_points: str = '') -> Iterator[Mapping[str, str]]:
    """Make them known in this process and its children while the context lasts."""
    variables = make_workspace(folder, entry_points)
    before = {name: os.environ.get(name) for name in variables}
    packages = str(folder / 'packages')
    os.environ.update(variables)
    sys.path.insert(0, packages)
    registry.forget()
    try:
        yield variables
    finally:
        sys.path.remove(packages)
        registry.forget()
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _prepended(folder: Path, variable: str) -> str:
    return os.pathsep.join(filter(None, (str(folder), os.environ.get(variable, ''))))
