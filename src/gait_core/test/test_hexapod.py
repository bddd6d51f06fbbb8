# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The hexapod of Cafarelli (2017) as published: masses, joints, and centres of mass that move."""

import numpy as np
import pytest

from gait_core.kinematics.forward_kinematics import link_coms, link_poses
from gait_core.robot.load import load_robot

HEXAPOD = load_robot('hexapod')
LEGS = ('lf', 'lm', 'lr', 'rf', 'rm', 'rr')
BASE = np.array([[[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]]])


def _posture(hip: float, knee: float, upper: float, lower: float) -> np.ndarray:
    values = {'hip': hip, 'knee': knee, 'upper': upper, 'lower': lower}
    return np.array([[values[name.split('_')[1]] for name in HEXAPOD.joint_names]])


def test_masses_and_joints_are_the_published_ones():
    kinds = [HEXAPOD.joint[name].kind for name in HEXAPOD.joint_names]
    assert HEXAPOD.mass == pytest.approx(22.0, abs=1e-12)
    assert (kinds.count('revolute'), kinds.count('prismatic')) == (12, 12)
    assert HEXAPOD.links[0].mass == 10.0
    assert tuple(leg.name for leg in HEXAPOD.legs) == LEGS
    hips = {leg: HEXAPOD.joint[f'{leg}_hip'].xyz for leg in LEGS}
    assert hips['lf'][0] - hips['lr'][0] == pytest.approx(0.54)
    assert hips['lm'][1] - hips['rm'][1] == pytest.approx(0.42)
    assert hips['lf'][1] - hips['rm'][1] == pytest.approx(0.39)


@pytest.mark.parametrize('length', [0.06, 0.09, 0.12])
@pytest.mark.parametrize('part', ['upper', 'lower'])
def test_mass_of_a_segment_stands_at_a_quarter_of_its_length(part, length):
    q = _posture(0.9, 0.4, length, length)
    coms = link_coms(HEXAPOD, q, BASE)[0]
    frames = link_poses(HEXAPOD, q, BASE)[0]
    index = HEXAPOD.link_index
    for leg in LEGS:
        names = [f'{leg}_{part}_shell', f'{leg}_{part}_rod']
        if part == 'lower':
            names.append(f'{leg}_sole')
        masses = np.array([HEXAPOD.links[index[name]].mass for name in names])
        assert masses.sum() == pytest.approx(1.0)
        com = masses @ coms[[index[name] for name in names]]
        near, far = (frames[index[name]][:3, 3] for name in names[:2])
        assert np.linalg.norm(far - near) == pytest.approx(length)
        np.testing.assert_allclose(com, near + (far - near) / 4.0, atol=1e-12)


def test_foot_stands_where_the_published_kinematics_puts_it():
    # 45 degrees at hip and knee, 6 cm: x = 0.0424, depth 0.1024 m (equation 3.16).
    frames = link_poses(HEXAPOD, _posture(np.pi / 4, np.pi / 4, 0.06, 0.06), BASE)[0]
    for leg in LEGS:
        hip = HEXAPOD.joint[f'{leg}_hip'].xyz
        foot = frames[HEXAPOD.link_index[f'{leg}_sole']][:3, 3] - hip
        np.testing.assert_allclose(foot, [0.0424, 0.0, -0.1024], atol=1e-4)
