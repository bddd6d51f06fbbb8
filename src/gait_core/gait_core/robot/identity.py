"""Identity of a robot by its content, wherever its files lie and whatever its folder is called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import hashlib
from typing import Any

from gait_core.canonical import plain, sha256_of
from gait_core.errors import ConfigurationError
from gait_core.files import read_bytes
from gait_core.robot.cache import per_robot
from gait_core.robot.find import find_robot, robot_folders
from gait_core.robot.load import load_robot
from gait_core.robot.model import RobotModel

# What a gait feels of a robot. Names of folders, what is only drawn, range sensors, the fall
# criterion and defaults of trials are not among it; a field that is added here makes every
# robot another one.
_CONTENT = (
    *('links', 'joints', 'joint_names', 'actuators', 'legs', 'force_elements', 'signals'),
    *('contact_nodes', 'assembly', 'ball_joints', 'mirror_pairs', 'nominal_stance'),
    *('length_scale', 'imu_link'),
)
# Below it a number is an error of rounding, which differs between processors.
_NOTHING = 1e-12
_SHOWN = 12


@dataclass(frozen=True, kw_only=True)
class RobotIdentity:
    """Name of a robot, for people, and the SHA-256 of its content, by which it is recognised."""

    name: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class RobotComparison:
    """
    Whether two robots are the same one.

    ``theirs`` and ``ours`` are quoted names for a message, with the content where names alone do
    not tell them apart. ``warning`` is a line about what could not be compared, else empty.
    """

    same: bool
    theirs: str
    ours: str
    warning: str = ''


@per_robot
def robot_sha256(robot: RobotModel) -> str:
    """
    Return the SHA-256 of what a gait feels of a robot: bodies, joints, actuators, stance.

    Numbers count to nine digits, meshes by their bytes and not by their paths; ConfigurationError
    if one cannot be read.
    """
    content = {name: plain(getattr(robot, name)) for name in _CONTENT}
    for link in content['links']:
        del link['visuals']
        for shape in link['collisions']:
            del shape['rgba']
            shape['file'] = _file_sha256(shape['file'])
    return sha256_of(_rounded(content))


def identity_of(robot: RobotModel) -> RobotIdentity:
    """Return name and content of a robot."""
    return RobotIdentity(name=robot.name, sha256=robot_sha256(robot))


def compare_robots(
    ours: str, theirs: str, recorded: RobotIdentity | None = None, draw: int = 0
) -> RobotComparison:
    """
    Compare a robot with the one that a record is about.

    Parameters
    ----------
    ours : str
        Name or folder of the robot at hand.
    theirs : str
        Name or folder as recorded.
    recorded : RobotIdentity or None
        As recorded. ``None``: an early record without it; then a name stands for the robot of that
        name, and a path for the same path, with a warning.
    draw : int
        Seed of the body that was recorded, of a robot that is drawn at random.

    Raises
    ------
    ConfigurationError
        If there is no robot ``ours``.

    """
    robot = load_robot(ours, draw)
    if recorded is not None:
        present = robot_sha256(robot)
        same = present == recorded.sha256
        if same or recorded.name != robot.name:
            return RobotComparison(same=same, theirs=f"'{recorded.name}'", ours=f"'{robot.name}'")
        return RobotComparison(
            same=False,
            theirs=f"'{recorded.name}' with content {recorded.sha256[:_SHOWN]}",
            ours=f"'{robot.name}' with content {present[:_SHOWN]}",
        )
    by_name = theirs in robot_folders()
    labels = {'theirs': f"'{theirs}'", 'ours': f"'{ours}'"}
    if not _same_place(ours, theirs):
        return RobotComparison(same=False, **labels)
    warning = f"robot '{theirs}' is recorded by path alone: edits since then are not known"
    return RobotComparison(same=True, warning='' if by_name else warning, **labels)


def _same_place(ours: str, theirs: str) -> bool:
    try:
        return find_robot(ours) == find_robot(theirs)
    except ConfigurationError:
        return False


def _file_sha256(file: str) -> str:
    return hashlib.sha256(read_bytes(file)).hexdigest() if file else ''


def _rounded(value: Any) -> Any:
    """Return plain data with every number as text of nine digits."""
    if isinstance(value, Mapping):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return '0' if abs(value) < _NOTHING else f'{value:.9g}'
    return value
