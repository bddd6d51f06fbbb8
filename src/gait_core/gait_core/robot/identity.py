# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Identity of a robot: a hash of its description, independent of folder and file names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import hashlib
from typing import Any

from gait_core.errors import ConfigurationError
from gait_core.files.access import read_bytes
from gait_core.parameters.plain_data import sha256_of, to_plain_data
from gait_core.robot.cache import cached_per_robot
from gait_core.robot.find import find_robot, robot_folders
from gait_core.robot.load import load_robot
from gait_core.robot.model import RobotModel

# Fields that a gait depends on, unlike folder names, visuals, range sensors, the fall criterion
# and defaults of trials. A further field here would change the hash of every robot, so that
# recorded champions would no longer match their robots.
_HASHED_FIELDS = (
    *('links', 'joints', 'joint_names', 'actuators', 'legs', 'force_elements', 'signals'),
    *('contact_nodes', 'assembly', 'ball_joints', 'mirror_pairs', 'nominal_stance'),
    *('length_scale', 'imu_link'),
)
# Smaller numbers count as zero: they are rounding errors, which differ between processors.
_MIN_MAGNITUDE = 1e-12
# Digits of a hash in a message.
_SHOWN_DIGITS = 12


@dataclass(frozen=True, kw_only=True)
class RobotIdentity:
    """Name of a robot, for messages, and SHA-256 of its content, for comparisons."""

    name: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class RobotComparison:
    """
    Result of a comparison of two robots.

    ``theirs`` and ``ours`` are quoted names for a message, with the hashes if the names are equal.
    ``warning`` is one line if the content could not be compared, else empty.
    """

    is_same: bool
    theirs: str
    ours: str
    warning: str = ''


@cached_per_robot
def robot_sha256(robot: RobotModel) -> str:
    """
    Return the SHA-256 of the fields of a robot that a gait depends on.

    Numbers are rounded to nine digits; meshes are hashed by their bytes instead of their paths.
    ConfigurationError if a mesh cannot be read.
    """
    content = {name: to_plain_data(getattr(robot, name)) for name in _HASHED_FIELDS}
    for link in content['links']:
        del link['visuals']
        for shape in link['collisions']:
            del shape['rgba']
            shape['file'] = _file_sha256(shape['file'])
    return sha256_of(_round_numbers(content))


def robot_identity(robot: RobotModel) -> RobotIdentity:
    """Return the name and the hash of a robot."""
    return RobotIdentity(name=robot.name, sha256=robot_sha256(robot))


def compare_robots(
    ours: str, theirs: str, recorded: RobotIdentity | None = None, draw: int = 0
) -> RobotComparison:
    """
    Compare a robot with the robot of a record.

    Parameters
    ----------
    ours : str
        Name or folder of the robot at hand.
    theirs : str
        Name or folder as recorded.
    recorded : RobotIdentity or None
        Identity as recorded. ``None`` for a record without it: robots of the same name, or
        at the same path, then count as the same, the latter with a warning.
    draw : int
        Draw of the recorded body, of a drawn robot.

    Raises
    ------
    ConfigurationError
        If there is no robot ``ours``.

    """
    robot = load_robot(ours, draw)
    if recorded is not None:
        present = robot_sha256(robot)
        is_same = present == recorded.sha256
        if is_same or recorded.name != robot.name:
            return RobotComparison(
                is_same=is_same, theirs=f"'{recorded.name}'", ours=f"'{robot.name}'"
            )
        return RobotComparison(
            is_same=False,
            theirs=f"'{recorded.name}' with content {recorded.sha256[:_SHOWN_DIGITS]}",
            ours=f"'{robot.name}' with content {present[:_SHOWN_DIGITS]}",
        )
    is_name = theirs in robot_folders()
    labels = {'theirs': f"'{theirs}'", 'ours': f"'{ours}'"}
    if not _same_folder(ours, theirs):
        return RobotComparison(is_same=False, **labels)
    warning = f"robot '{theirs}' is recorded by path alone: edits since then are not known"
    return RobotComparison(is_same=True, warning='' if is_name else warning, **labels)


def _same_folder(ours: str, theirs: str) -> bool:
    try:
        return find_robot(ours) == find_robot(theirs)
    except ConfigurationError:
        return False


def _file_sha256(file: str) -> str:
    return hashlib.sha256(read_bytes(file)).hexdigest() if file else ''


def _round_numbers(value: Any) -> Any:
    """Return plain data with every number as text of nine digits."""
    if isinstance(value, Mapping):
        return {key: _round_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_round_numbers(item) for item in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return '0' if abs(value) < _MIN_MAGNITUDE else f'{value:.9g}'
    return value
