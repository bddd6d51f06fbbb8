# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Robot folder of an adopted robot: description, meshes and robot.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from gait_core.errors import ConfigurationError
from gait_core.files.access import read_bytes, write_atomically
from gait_core.robot.load import clear_robot_cache
from gait_core.robot.model import RobotModel
from gait_core.robot.urdf.meshes import resolve_mesh
from gait_core.robot.urdf.xml_source import read_xml
from gait_core.trial.scene import EMPTY_MAPPING
from gait_tools.adopt.adoption import Adoption
from gait_tools.adopt.gaits import ZMP_WALK
from gait_tools.adopt.proof import COMMANDED_SPEED

SERVO_GAIN, STIFF_SERVO_GAIN = 25.0, 50.0
"""Gains of the position servos [1/s]; the stiff one for balance on two legs."""
_ENGINE_OPTIONS = {'bullet': '{solver_iterations: 50}'}
_STIFF_ENGINE_OPTIONS = {
    'bullet': '{solver_iterations: 200}',
    'mujoco': '{servo_impedance: 0.999}',
}
"""Options of engines; the second with stiffer servos and contacts for balance on two legs."""
_MESH_FOLDER = 'meshes'


def check_folder(folder: Path) -> None:
    """Raise ConfigurationError if a robot folder cannot be made at this path."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigurationError(f"'{folder}' exists already; name a folder that does not")
    if not folder.resolve().name.isidentifier():
        raise ConfigurationError(
            f"robot name '{folder.resolve().name}': expected letters, digits and _, no digit first"
        )


def write_robot_folder(
    folder: Path, adoption: Adoption, packages: Mapping[str, str | Path] = EMPTY_MAPPING
) -> None:
    """
    Write a robot folder: the description as one URDF, copies of its meshes, and robot.yaml.

    Parameters
    ----------
    folder : Path
        Its name becomes the robot's.
    adoption : Adoption
    packages : mapping of str to path
        Folders of the packages in ``package://`` paths.

    """
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    root = read_xml(adoption.urdf, packages)
    copied: dict[str, str] = {}
    for mesh in root.iter('mesh'):
        file = resolve_mesh(mesh.get('filename', ''), adoption.urdf, packages)
        mesh.set('filename', _copy_mesh(Path(file), folder, copied))
    text = ElementTree.tostring(root, encoding='unicode')
    write_atomically(folder / f'{folder.name}.urdf', text + '\n')
    write_atomically(folder / 'robot.yaml', format_robot_yaml(adoption, folder.name))
    # The loaded robot is stale: the folder may have been written before with another stance.
    clear_robot_cache()


def _copy_mesh(file: Path, folder: Path, copied: dict[str, str]) -> str:
    """Copy a mesh into the folder once; return its relative path, with a unique name."""
    if str(file) not in copied:
        name = file.name
        while f'{_MESH_FOLDER}/{name}' in copied.values():
            name = f'_{name}'
        (folder / _MESH_FOLDER).mkdir(exist_ok=True)
        write_atomically(folder / _MESH_FOLDER / name, read_bytes(file))
        copied[str(file)] = f'{_MESH_FOLDER}/{name}'
    return copied[str(file)]


def format_robot_yaml(adoption: Adoption, name: str) -> str:
    """Return the content of robot.yaml; ``gait_core.robot.robot_file`` documents its keys."""
    robot = adoption.robot
    lines = [
        f'# Proposed by `gait adopt {adoption.urdf.name}`; check its doubts in report.txt.',
        f'name: {name}',
        f'urdf: {name}.urdf',
    ]
    if adoption.root_rpy is not None:
        lines.append(f'root_rpy: {_format_flow([round(angle, 9) for angle in adoption.root_rpy])}')
    lines += ['', f'joints: {_format_flow(list(robot.joint_names))}', '', 'legs:']
    for found_leg in adoption.legs:
        leg = found_leg.leg
        point = [round(value, 6) for value in leg.sole_point]
        lines += [
            f'  # {", ".join(found_leg.roles)}',
            f'  - {{name: {leg.name}, joints: {_format_flow(list(leg.joints))},',
            f'     sole: {_format_flow(leg.sole)}, sole_point: {_format_flow(point)}}}',
        ]
    gain = STIFF_SERVO_GAIN if adoption.controller == ZMP_WALK else SERVO_GAIN
    lines += ['', 'actuators:', f'  default: {{kind: position, gain: {gain}}}    # 1/s', '']
    lines += _mirror_lines(adoption)
    lines += ['nominal_stance:    # rad or m']
    for joint in robot.joint_names:
        lines.append(f'  {_format_flow(joint)}: {_round_within_limits(robot, joint)}')
    lines += ['', *_default_lines(adoption)]
    return '\n'.join(lines) + '\n'


def _round_within_limits(robot: RobotModel, joint: str) -> str:
    """Return a joint's stance position as text, rounded if that keeps it within its limits."""
    value, limits = robot.nominal_stance[joint], robot.joint[joint]
    # `+ 0.0` turns -0.0 into 0.0.
    rounded = round(value, 6) + 0.0
    return f'{rounded:g}' if limits.lower <= float(f'{rounded:g}') <= limits.upper else repr(value)


def _mirror_lines(adoption: Adoption) -> list[str]:
    pairs: list[str] = []
    done_names: set[str] = set()
    for name, (other, sign) in adoption.robot.mirror_pairs.items():
        if name not in done_names:
            pairs.append(f'    - {_format_flow([name, other, int(sign)])}')
            done_names.update((name, other))
    return ['mirror:', '  pairs:', *pairs, ''] if pairs else []


def _default_lines(adoption: Adoption) -> list[str]:
    """Return the section ``defaults`` of ``robot.yaml``: controller, gait, scene and engines."""
    lines = ['defaults:']
    if adoption.controller:
        lines += [
            f'  controller: {adoption.controller}',
            '  gait:    # parameters of the controller',
        ]
        lines += [f'    {key}: {value}' for key, value in adoption.gait.items()]
        forward = min(COMMANDED_SPEED, adoption.gait['max_forward'])
        lines.append(f'  command: [{forward}, 0.0, 0.0]    # m/s, m/s, rad/s')
    else:
        lines.append('  controller: hold')
    lines.append('  scene: {physics_step: 0.002, control_period: 0.02}')
    options = _STIFF_ENGINE_OPTIONS if adoption.controller == ZMP_WALK else _ENGINE_OPTIONS
    lines += ['  engines:', *(f'    {engine}: {text}' for engine, text in options.items())]
    return lines


def _format_flow(value: Any) -> str:
    """Return names and numbers as YAML on one line; quote names that YAML would misread."""
    if isinstance(value, list):
        return '[' + ', '.join(_format_flow(item) for item in value) + ']'
    if isinstance(value, str):
        escaped = value.replace("'", "''")
        is_plain = value.replace('-', '_').isidentifier() and value.lower() not in _YAML_WORDS
        return value if is_plain else f"'{escaped}'"
    return f'{value:g}' if isinstance(value, float) else str(value)


_YAML_WORDS = ('y', 'n', 'yes', 'no', 'on', 'off', 'true', 'false', 'null')
