# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Folders on disk for tests of whole processes: a robot, and engines found by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import yaml

from gait_core.motion.observation import Observation
from gait_core.motion.targets import AppliedTargets
from gait_core.robot.load import load_robot
from gait_core.robot.mass import scale_mass
from gait_core.robot.model import RobotModel
from gait_core.robot.urdf.writer import to_urdf
from gait_core.testing.doubles import KinematicEngine
from gait_core.trial.scene import Scene

_DISTRIBUTION = 'gait_testing_plugins'
_BOG_LENGTH = 0.2


class SceneKinematicEngine(KinematicEngine):
    """A KinematicEngine of the robot that each scene names."""

    def reset(self, scene: Scene, seed: int, settle_ticks: int = 0) -> Observation:
        """Load the scene's robot and return its initial state."""
        self._robot = scale_mass(load_robot(scene.robot, scene.draw), scene.mass_factor)
        return super().reset(scene, seed, settle_ticks)


class BoggyKinematicEngine(SceneKinematicEngine):
    """
    Carries a gait that starts at x = 0 to ``sqrt(c x)``, with c = 0.2 m, instead of x.

    A gait that would come less far than c is carried further, a longer one less far.
    """

    def step(self, targets: AppliedTargets) -> Observation:
        """Advance one control period."""
        observation = super().step(targets)
        poses = np.array(observation.body_poses)
        poses[:, 0] = np.sqrt(_BOG_LENGTH * poses[:, 0])
        return replace(observation, body_poses=poses)


PLUGINS: Mapping[str, Mapping[str, str]] = {
    'gait.engines': {'kinematic': f'{__name__}:SceneKinematicEngine'},
    'gait.controllers': {'wave': 'gait_core.testing.doubles:WaveController'},
}
"""Entry points that ``write_plugin_folder`` registers: an engine without physics, a wave."""


def write_robot_folder(folder: Path, robot: RobotModel) -> Path:
    """Write a robot of revolute joints as a robot folder, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f'{robot.name}.urdf').write_text(to_urdf(robot))
    described = {
        'name': robot.name,
        'urdf': f'{robot.name}.urdf',
        'joints': list(robot.joint_names),
        'actuators': {
            'default': {
                'kind': next(iter(robot.actuators.values())).kind,
                **next(iter(robot.actuators.values())).constants,
            }
        },
        'legs': [
            {
                'name': leg.name,
                'joints': list(leg.joints),
                'sole': leg.sole,
                'sole_point': list(leg.sole_point),
            }
            for leg in robot.legs
        ],
        'nominal_stance': dict(robot.nominal_stance),
        'length_scale': robot.length_scale,
        'defaults': {
            'controller': 'wave',
            'scene': {'engine': 'kinematic'},
        },
    }
    (folder / 'robot.yaml').write_text(yaml.safe_dump(described, sort_keys=False))
    return folder


def write_plugin_folder(folder: Path) -> Path:
    """
    Write the metadata that register ``PLUGINS``, and return the folder.

    Processes find them when the folder is on their PYTHONPATH.
    """
    info = folder / f'{_DISTRIBUTION}-0.dist-info'
    info.mkdir(parents=True, exist_ok=True)
    (info / 'METADATA').write_text(f'Metadata-Version: 2.1\nName: {_DISTRIBUTION}\nVersion: 0\n')
    lines = []
    for group, entries in PLUGINS.items():
        lines += [f'[{group}]', *(f'{name} = {value}' for name, value in entries.items()), '']
    (info / 'entry_points.txt').write_text('\n'.join(lines))
    return folder
