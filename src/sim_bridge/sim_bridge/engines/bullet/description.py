# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Temporary files by which Bullet loads a robot; it reads no collision mesh of the user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
import subprocess
import tempfile

from gait_core.errors import ConfigurationError
from gait_core.files.access import write_atomically
from gait_core.processes.python_command import python_code_command
from gait_core.robot.model import Link, RobotModel, Shape
from gait_core.robot.urdf.meshes import mesh_hull
from gait_core.robot.urdf.writer import to_urdf

_URDF = 'robot.urdf'
_TRIAL_TIME = 60.0
"""Longest time [s] in which a robot with visual meshes is loaded for pictures."""


def description_files(
    robot: RobotModel, *, root: str = '', visuals: bool = False
) -> dict[str, str]:
    """
    Return the texts of the files of a robot by name: its URDF and the hulls of its meshes.

    Bullet collides with the convex hull of a mesh anyway, but its own readers end the process on
    damaged files. Arguments as of ``to_urdf``; visual meshes stay the files of the user.
    """
    files: dict[str, str] = {}
    links = tuple(_with_hulls(link, files) for link in robot.links)
    files[_URDF] = to_urdf(replace(robot, links=links), root=root, visuals=visuals)
    return files


def _with_hulls(link: Link, files: dict[str, str]) -> Link:
    """Return a link whose collision meshes are hulls, which are added to the files."""
    shapes: list[Shape] = []
    for shape in link.collisions:
        if shape.kind == 'mesh':
            name = f'mesh{len(files)}.obj'
            files[name] = _hull_text(shape.file)
            shape = replace(shape, file=name)
        shapes.append(shape)
    return replace(link, collisions=tuple(shapes))


def _hull_text(file: str) -> str:
    """Return the hull of a mesh as an OBJ file, whose faces name every vertex."""
    vertices, faces = mesh_hull(file)
    return ''.join(
        [
            *(f'v {x!r} {y!r} {z!r}\n' for x, y, z in vertices.tolist()),
            *(f'f {a + 1} {b + 1} {c + 1}\n' for a, b, c in faces.tolist()),
        ]
    )


@contextmanager
def written_description(files: Mapping[str, str]) -> Iterator[str]:
    """Yield the name of the URDF among the files of a robot, which exist in the context."""
    try:
        with tempfile.TemporaryDirectory(prefix='gait-bullet-') as folder:
            for name, text in files.items():
                write_atomically(Path(folder) / name, text, durable=False)
            yield str(Path(folder) / _URDF)
    except OSError as error:
        raise ConfigurationError(
            f'no temporary file can be written ({error}); set TMPDIR to a folder with space'
        ) from None


def check_visual_meshes(robot: RobotModel, file: str) -> None:
    """
    Load the URDF of a robot with visual meshes in a process of its own.

    Raises
    ------
    ConfigurationError
        If the process ends by a signal, as on some damaged meshes, or does not end.

    """
    meshes = sorted({shape.file for link in robot.links for shape in link.visuals if shape.file})
    if not meshes:
        return
    script = 'import pybullet as pb; pb.connect(pb.DIRECT); pb.loadURDF(sys.argv[1])'
    try:
        done = subprocess.run(
            [*python_code_command(script), file],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_TRIAL_TIME,
            check=False,
        )
    except subprocess.TimeoutExpired:
        fault = f'did not end within {_TRIAL_TIME:g} s'
    else:
        if done.returncode >= 0:
            return
        fault = f'was ended by signal {-done.returncode}'
    raise ConfigurationError(
        f"robot '{robot.name}': Bullet {fault} as it loaded its visual meshes, the first of which "
        f"is '{meshes[0]}'"
    )
