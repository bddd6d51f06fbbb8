# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fusing fixed joints keeps masses, frames and the motion of every link."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gait_core.errors import ConfigurationError
from gait_core.kinematics.forward_kinematics import com_positions, link_poses
from gait_core.robot.model import Joint, Leg, Link, RobotModel, Shape
from gait_core.testing.doubles import legged_box
from gait_core.testing.free_bodies import one_joint_robot, solid_box
from sim_bridge.engines.shared.merged_joints import merge_joints

KINDS = ('fixed', 'fixed', 'revolute', 'prismatic')


def random_tree(seed: int, count: int = 8) -> RobotModel:
    """Return a random tree of bodies, half of its joints fixed, some links without mass."""
    rng = np.random.default_rng(seed)
    links, joints = [], []
    for i in range(count):
        turn = Rotation.random(random_state=int(rng.integers(2**31))).as_matrix()
        mass = 0.0 if i and rng.random() < 0.2 else float(rng.uniform(0.1, 2.0))
        moments = np.diag([0.02, 0.03, 0.04]) * mass
        links.append(
            Link(
                name=f'link{i}',
                mass=mass,
                com=rng.uniform(-0.1, 0.1, 3),
                inertia=turn @ moments @ turn.T,
                collisions=(Shape(kind='sphere', size=(0.01,)),) if rng.random() < 0.5 else (),
            )
        )
        if i:
            x, y, z, roll, pitch, yaw = rng.uniform(-1.0, 1.0, 6).tolist()
            joints.append(
                Joint(
                    name=f'joint{i}',
                    kind=KINDS[int(rng.integers(4))] if mass else 'fixed',
                    parent=f'link{int(rng.integers(i))}',
                    child=f'link{i}',
                    xyz=(x, y, z),
                    rpy=(roll, pitch, yaw),
                    axis=(0.0, 0.6, 0.8),
                )
            )
    names = tuple(joint.name for joint in joints if joint.kind != 'fixed')
    return RobotModel(
        name='tree',
        links=tuple(links),
        joints=tuple(joints),
        joint_names=names,
        actuators=dict.fromkeys(names, legged_box().actuators['leg0_joint0']),
    )


def turned(robot: RobotModel, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1.0, 1.0, len(robot.joint_names))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_frames_and_centre_of_mass_stay_where_they_were(seed):
    robot = random_tree(seed)
    small = merge_joints(robot)
    joints = turned(robot, seed)
    before = link_poses(robot, joints)
    after = link_poses(small.robot, joints)
    assert len(after) < len(before) or not any(joint.kind == 'fixed' for joint in robot.joints)
    for i, link in enumerate(robot.links):
        frame = small.frames[link.name]
        carrier = after[small.robot.link_index[frame.link]]
        np.testing.assert_allclose(
            carrier[:3, :3] @ frame.position + carrier[:3, 3], before[i, :3, 3], atol=1e-12
        )
        np.testing.assert_allclose(carrier[:3, :3] @ frame.rotation, before[i, :3, :3], atol=1e-12)
    assert small.robot.mass == pytest.approx(robot.mass, rel=1e-12)
    np.testing.assert_allclose(
        com_positions(small.robot, joints), com_positions(robot, joints), atol=1e-12
    )


def kinetic_energy(robot: RobotModel, joints: np.ndarray, rates: np.ndarray) -> float:
    """Return it by central differences of every link's pose [J]."""
    h = 1e-5
    ahead, behind = (link_poses(robot, joints + sign * h * rates) for sign in (1.0, -1.0))
    energy = 0.0
    for link, late, early in zip(robot.links, ahead, behind, strict=True):
        spin = Rotation.from_matrix(late[:3, :3] @ early[:3, :3].T).as_rotvec() / (2.0 * h)
        coms = [pose[:3, :3] @ link.com + pose[:3, 3] for pose in (late, early)]
        speed = (coms[0] - coms[1]) / (2.0 * h)
        turn = 0.5 * (late[:3, :3] + early[:3, :3])
        energy += 0.5 * link.mass * speed @ speed
        energy += 0.5 * spin @ turn @ link.inertia @ turn.T @ spin
    return float(energy)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_kinetic_energy_of_any_motion_is_unchanged(seed):
    robot = random_tree(seed)
    joints, rates = turned(robot, seed), turned(robot, seed + 1)
    energy = kinetic_energy(robot, joints, rates)
    assert kinetic_energy(merge_joints(robot).robot, joints, rates) == pytest.approx(
        energy, rel=1e-6, abs=1e-9
    )


def test_a_robot_without_fixed_joints_is_left_as_it_is():
    robot = legged_box()
    same = merge_joints(robot).robot
    assert [link.name for link in same.links] == [link.name for link in robot.links]
    assert same.joints == robot.joints
    for new, old in zip(same.links, robot.links, strict=True):
        assert np.array_equal(new.inertia, old.inertia) and new.mass == old.mass


@pytest.mark.parametrize(
    ('sole', 'touches', 'kept'),
    [
        ('toe', True, True),  # a sole and its shank both touch: they stay apart
        ('toe', False, False),  # only the shank can touch: the frame joins it
        ('shank', False, False),
        ('neither', True, False),
    ],
)
def test_a_fixed_link_stays_apart_only_where_it_would_blur_a_sole(sole, touches, kept):
    toe = solid_box('toe', (0.1, 0.1, 0.1), 0.1)
    robot = one_joint_robot()
    arm = replace(robot.links[1], name='shank', collisions=robot.links[0].collisions)
    joints = (
        replace(robot.joints[0], child='shank'),
        Joint(name='ankle', kind='fixed', parent='shank', child='toe'),
    )
    robot = replace(
        robot,
        links=(robot.links[0], arm, toe if touches else replace(toe, collisions=())),
        joints=joints,
        legs=() if sole == 'neither' else (Leg(name='leg', joints=('hinge',), sole=sole),),
    )
    assert ('toe' in merge_joints(robot).robot.link_index) == kept


@pytest.mark.parametrize(
    'moments', [(0.0, 1.0, 1.0), (1.0, 1.0, 2.0), (0.41, 1.79, 2.30), (-0.1, 1.0, 1.0)]
)
def test_an_impossible_inertia_is_mended_by_the_least_sphere(moments):
    turn = Rotation.from_euler('xyz', [0.3, -0.5, 0.9]).as_matrix()
    given_inertia = turn @ np.diag(moments) @ turn.T
    robot = one_joint_robot(inertia=given_inertia)
    mended = merge_joints(robot).robot.links[1].inertia
    least, middle, most = np.linalg.eigvalsh(mended)
    assert 0.0 < most < least + middle
    added = mended - given_inertia
    lacking = max(0.0, max(moments) - (sum(moments) - max(moments)))
    np.testing.assert_allclose(added, lacking * np.eye(3), atol=3e-5 * max(moments))


def test_a_moving_link_without_mass_is_refused_unless_it_carries_some():
    robot = one_joint_robot(mass=0.0)
    with pytest.raises(ConfigurationError, match="'arm' moves on joint 'hinge' but has no mass"):
        merge_joints(robot)
    load = Joint(name='mount', kind='fixed', parent='arm', child='load')
    carried = replace(
        robot,
        links=(*robot.links, solid_box('load', (0.1, 0.1, 0.1), 1.0)),
        joints=(*robot.joints, load),
    )
    assert merge_joints(carried).robot.links[1].mass == 1.0
