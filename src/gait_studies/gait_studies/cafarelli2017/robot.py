# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study cafarelli2017: checks of the robot and of the stride controller, without physics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gait_core import registry
from gait_core.arrays import FloatArray
from gait_core.kinematics.forward_kinematics import link_coms, link_poses
from gait_core.motion.observation import Observation
from gait_core.parameters.declaration import make_parameters
from gait_core.robot.load import load_robot
from gait_core.robot.model import RobotModel
from gait_core.trial.spec import Command
from gait_studies.cafarelli2017.strides.published import viewer_stride
from gait_tools.study.definition import StudyRow, row_near
from gait_tools.study.session import StudySession

_FIRST_TRIPOD, _SECOND_TRIPOD = ('lf', 'rm', 'lr'), ('rf', 'lm', 'rr')
"""Legs 1 to 3 of a stride, and the legs with the same motion two phases later."""

_JOINT_NAMES = ('hip', 'knee', 'upper', 'lower')


def measure_robot(session: StudySession) -> Sequence[StudyRow]:
    """Measure checks 22 and 27: delay of the second tripod, masses and joints of the robot."""
    hexapod = load_robot('hexapod')
    off = {length: _max_centre_error(hexapod, length) for length in (0.06, 0.09, 0.12)}
    return [
        row_near(
            'check_22',
            'largest difference between targets of the second tripod and of the first 2 s later',
            _max_delay_error(hexapod),
            0.0,
            1e-9,
            note='rad and m; phases of 1 s',
        ),
        row_near('check_27_mass', 'mass of the robot', hexapod.mass, 22.0, 1e-9, 'kg'),
        row_near(
            'check_27_joints', 'joints of the robot', float(len(hexapod.joint_names)), 24.0, 0.0
        ),
        *(
            row_near(
                f'check_27_{100 * length:g}_cm',
                f'error of the centre of mass of a segment of {100 * length:g} cm: '
                'a quarter of its length',
                error,
                0.0,
                1e-9,
                'm',
            )
            for length, error in off.items()
        ),
    ]


def _max_delay_error(hexapod: RobotModel) -> float:
    """Return the largest difference between the tripods' targets, one shifted by 2 s."""
    player = registry.controller('keyframe_stride')
    dt = 0.02
    params = make_parameters(player.Params, {'postures': tuple(viewer_stride()), 'period': 4.0})
    controller = player(hexapod, params)
    controller.reset(0)
    observation, command = Observation(tick=0, time=0.0), Command()
    steps = [controller.step(dt, command, observation) for _ in range(round(8.0 / dt))]
    columns = {name: i for i, name in enumerate(steps[0].names)}
    # The first 2 s are left out: in them the robot moves from its stance into the stride.
    sent = [targets.position[-1] for targets in steps if targets.position is not None]
    joints = np.array(sent)[round(2.0 / dt) :]
    late = round(2.0 / dt)

    def of(legs: Sequence[str]) -> FloatArray:
        """Return the joints of some legs, (samples, joints)."""
        return np.asarray(
            joints[:, [columns[f'{leg}_{part}'] for leg in legs for part in _JOINT_NAMES]]
        )

    return float(np.abs(of(_SECOND_TRIPOD)[:-late] - of(_FIRST_TRIPOD)[late:]).max())


def _max_centre_error(hexapod: RobotModel, length: float) -> float:
    """Return the largest error of a segment's centre of mass, a quarter along it [m]."""
    values = {'hip': 0.9, 'knee': 0.4, 'upper': length, 'lower': length}
    q = np.array([[values[name.split('_')[1]] for name in hexapod.joint_names]])
    base = np.array([[[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]]])
    coms, frames = link_coms(hexapod, q, base)[0], link_poses(hexapod, q, base)[0]
    errors = []
    for leg in (*_FIRST_TRIPOD, *_SECOND_TRIPOD):
        for part in ('upper', 'lower'):
            names = [f'{leg}_{part}_shell', f'{leg}_{part}_rod']
            near_end, far_end = (frames[hexapod.link_index[name]][:3, 3] for name in names)
            if part == 'lower':
                names.append(f'{leg}_sole')
            rows = [hexapod.link_index[name] for name in names]
            masses = np.array([hexapod.links[row].mass for row in rows])
            centre = masses @ coms[rows] / masses.sum()
            errors.append(np.linalg.norm(centre - near_end - (far_end - near_end) / 4.0))
    return float(max(errors))
