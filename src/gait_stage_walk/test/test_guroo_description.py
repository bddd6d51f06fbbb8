# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The GuRoo description against the published totals and the senses that the walk relies on."""

import numpy as np
import pytest

from gait_core.kinematics.forward_kinematics import com_positions, link_poses
from gait_core.robot.inference import infer_mirror_pairs
from gait_core.robot.load import load_robot
from gait_core.robot.shapes import link_points
from gait_stage_walk.staged.timetable import WALK_JOINTS, bend_angles, tilt_angles

SERVOS = (
    'neck_twist',
    'neck_fwd',
    'left_shoulder_fwd',
    'right_shoulder_fwd',
    'left_shoulder_side',
    'right_shoulder_side',
    'left_elbow',
    'right_elbow',
)


@pytest.fixture(scope='module')
def guroo():
    return load_robot('guroo')


def positions(guroo, angles):
    return np.array([angles.get(name, 0.0) for name in guroo.joint_names])


def poses(guroo, angles):
    """Return the 4x4 transforms of all links in the base frame, by link name."""
    return dict(zip(guroo.link_index, link_poses(guroo, positions(guroo, angles)), strict=True))


def tilt_deg(one, other):
    """Return the angle between the z axes of two frames [deg]."""
    return np.degrees(np.arccos(min(one[:3, 2] @ other[:3, 2], 1.0)))


def test_published_totals(guroo):
    assert guroo.mass == pytest.approx(38.0, abs=1e-9)
    assert len(guroo.joint_names) == 23
    assert set(SERVOS) < set(guroo.joint_names)
    assert set(WALK_JOINTS) < set(guroo.joint_names) - set(SERVOS)


def test_published_height(guroo):
    standing = poses(guroo, {})
    z = []
    for link in guroo.links:
        points, _ = link_points(link)
        z += [float((standing[link.name] @ [*point, 1.0])[2]) for point in points]
    assert max(z) - min(z) == pytest.approx(1.2, abs=1e-9)
    assert min(z) == pytest.approx(standing['l_sole'][2, 3], abs=1e-9)


def test_inertias_are_those_of_solid_boxes_of_uniform_density(guroo):
    for link in guroo.links:
        if link.mass == 0.0:
            continue
        x, y, z = link.visuals[0].size
        solid = link.mass / 12.0 * np.diag([y * y + z * z, x * x + z * z, x * x + y * y])
        np.testing.assert_allclose(link.inertia, solid, rtol=1e-12)
        np.testing.assert_allclose(link.com, link.visuals[0].xyz)


def test_check_9_leaning_keeps_soles_and_legs_parallel(guroo):
    frames = poses(guroo, tilt_angles(np.radians(6.5)))
    assert tilt_deg(frames['l_sole'], frames['r_sole']) < 0.2
    assert tilt_deg(frames['l_sole'], frames['base_link']) < 0.2
    assert tilt_deg(frames['l_shank'], frames['r_shank']) < 1e-6
    assert tilt_deg(frames['l_shank'], frames['base_link']) == pytest.approx(6.5)
    # The hips move to the right of the soles by twice the leg segment times sin 6.5 degrees.
    assert frames['l_sole'][1, 3] - 0.085 == pytest.approx(0.56 * np.sin(np.radians(6.5)))


def test_a_lean_of_6_5_degrees_puts_the_centre_of_mass_over_the_foot(guroo):
    angles = tilt_angles(np.radians(6.5))
    com = com_positions(guroo, positions(guroo, angles))
    sole = poses(guroo, angles)['r_sole']
    assert abs(com[1] - sole[1, 3]) < 0.06
    assert -0.09 < com[0] - sole[0, 3] < 0.13


@pytest.mark.parametrize('side', ['left', 'right'])
def test_bending_lifts_a_level_sole_under_the_hip(guroo, side):
    frames, standing = poses(guroo, bend_angles(side, 0.4)), poses(guroo, {})
    sole, before = (f[f'{side[0]}_sole'] for f in (frames, standing))
    assert tilt_deg(sole, before) < 1e-6
    np.testing.assert_allclose(sole[:2, 3], before[:2, 3], atol=1e-12)
    assert sole[2, 3] - before[2, 3] == pytest.approx(0.56 * (1.0 - np.cos(0.2)))


def test_mirror_pairs_agree_with_the_geometry(guroo):
    assert dict(guroo.mirror_pairs) == infer_mirror_pairs(guroo)
    assert set(guroo.mirror_pairs) == set(guroo.joint_names)


def test_mirrored_angles_give_the_mirrored_pose(guroo):
    rng = np.random.default_rng(3)
    angles = {name: float(rng.uniform(-0.4, 0.4)) for name in guroo.joint_names}
    mirrored = {other: sign * angles[name] for name, (other, sign) in guroo.mirror_pairs.items()}
    here, there = poses(guroo, angles), poses(guroo, mirrored)
    for name, frame in here.items():
        other = {'l_': 'r_', 'r_': 'l_'}.get(name[:2], name[:2]) + name[2:]
        np.testing.assert_allclose(
            there[other][:3, 3], frame[:3, 3] * [1.0, -1.0, 1.0], atol=1e-12
        )
