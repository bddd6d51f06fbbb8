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
    Result of a comparison of the present robot with a recorded one.

    ``recorded`` and ``present`` are quoted names for a message, with hashes if names are equal.
    ``warning`` is one line if the content could not be compared, else empty.
    """

    is_same: bool
    recorded: str
    present: str
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
    present: str, recorded: str, identity: RobotIdentity | None = None, draw: int = 0
) -> RobotComparison:
    """
    Compare a robot with the robot of a record.

    Parameters
    ----------
    present : str
        Name or folder of the present robot.
    recorded : str
        Name or folder as recorded.
    identity : RobotIdentity or None
        Identity as recorded. ``None`` for a record without one: robots of the same name or path
        then count as the same robot, those of the same path with a warning.
    draw : int
        Draw of the recorded body, of a drawn robot.

    Raises
    ------
    ConfigurationError
        If there is no robot ``present``.

    """
    robot = load_robot(present, draw)
    if identity is not None:
        content = robot_sha256(robot)
        is_same = content == identity.sha256
        if is_same or identity.name != robot.name:
            return RobotComparison(
                is_same=is_same, recorded=f"'{identity.name}'", present=f"'{robot.name}'"
            )
        return RobotComparison(
            is_same=False,
            recorded=f"'{identity.name}' with content {identity.sha256[:_SHOWN_DIGITS]}",
            present=f"'{robot.name}' with content {content[:_SHOWN_DIGITS]}",
        )
    is_name = recorded in robot_folders()
    labels = {'recorded': f"'{recorded}'", 'present': f"'{present}'"}
    if not _same_folder(present, recorded):
        return RobotComparison(is_same=False, **labels)
    warning = f"robot '{recorded}' is recorded by path alone: edits since then are not known"
    return RobotComparison(is_same=True, warning='' if is_name else warning, **labels)


def _same_folder(present: str, recorded: str) -> bool:
    try:
        return find_robot(present) == find_robot(recorded)
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
