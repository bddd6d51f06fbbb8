# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Start poses of robots on the ground, and limits beyond which a robot has fallen."""

import dataclasses

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gait_core.kinematics.forward_kinematics import link_poses
from gait_core.kinematics.start_pose import nominal_height, pose_on_terrain
from gait_core.motion.observation import Observation
from gait_core.robot.load import load_robot
from gait_core.robot.model import FallCriterion, Link, RobotModel, Shape
from gait_core.terrains import Grid, HeightField, Plane, load_terrain
from gait_core.testing.doubles import legged_box
from gait_core.trial.fall import FallCheck
from gait_core.trial.scene import InitialState, Scene, TerrainSpec

GUROO = load_robot('guroo')
BOX = legged_box()
ROUGH = TerrainSpec(name='rough', seed=3)


def ball(radius: float = 0.1) -> RobotModel:
    link = Link(
        name='ball', mass=1.0, com=np.zeros(3), inertia=np.eye(3),
        collisions=(Shape(kind='sphere', size=(radius,)),),
    )  # fmt: skip
    return RobotModel(name='ball', links=(link,), joints=(), joint_names=(), actuators={})


def sole_points(robot: RobotModel, pose: np.ndarray, sole: str) -> np.ndarray:
    """Return a dense grid over the underside of GuRoo's foot, (k, 3)."""
    link = robot.links[robot.link_index[sole]]
    (shape,) = link.collisions
    x, y = np.meshgrid(*(np.linspace(-0.5, 0.5, 101) * size for size in shape.size[:2]))
    local = np.column_stack([x.ravel(), y.ravel(), np.full(x.size, -0.5 * shape.size[2])])
    frame = link_poses(robot, robot.stance, pose)[robot.link_index[sole]]
    return (local + np.array(shape.xyz)) @ frame[:3, :3].T + frame[:3, 3]


def test_guroo_stands_at_the_height_of_its_hips():
    assert nominal_height(GUROO) == pytest.approx(0.62, abs=1e-12)
    initial = InitialState(x=1.0, y=-2.0, yaw=0.5, clearance=0.002)
    pose = pose_on_terrain(GUROO, GUROO.stance, initial, Plane())
    np.testing.assert_allclose(pose[:3], [1.0, -2.0, 0.622], atol=1e-12)
    np.testing.assert_allclose(Rotation.from_quat(pose[3:]).as_euler('xyz'), [0, 0, 0.5])


def test_bent_legs_bring_the_base_down_by_trigonometry():
    joints = np.tile([0.6, -1.2], 4)
    pose = pose_on_terrain(BOX, joints, InitialState(clearance=0.0), Plane())
    assert pose[2] == pytest.approx(0.05 + 2 * 0.15 * np.cos(0.6) + 0.02, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(roll=st.floats(-3.0, 3.0), pitch=st.floats(-1.5, 1.5), yaw=st.floats(-3.0, 3.0))
def test_nothing_is_below_the_clearance_in_any_attitude(roll, pitch, yaw):
    initial = InitialState(roll=roll, pitch=pitch, yaw=yaw, clearance=0.01)
    pose = pose_on_terrain(BOX, BOX.stance, initial, Plane())
    frames = link_poses(BOX, BOX.stance, pose)
    half = 0.5 * np.array(BOX.links[0].collisions[0].size)
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    lowest = [np.min(corners @ frames[0, :3, :3].T + frames[0, :3, 3], axis=0)[2]]
    for sole in BOX.soles:
        frame = frames[BOX.link_index[sole]]
        lowest.append((frame[:3, :3] @ [0, 0, -0.15] + frame[:3, 3])[2] - 0.02)
    assert min(lowest) == pytest.approx(0.01, abs=1e-12)


def test_a_robot_without_legs_rests_on_what_it_has():
    pose = pose_on_terrain(ball(), np.zeros(0), InitialState(clearance=0.0), Plane())
    assert pose[2] == pytest.approx(0.1, abs=1e-12)
    bare = dataclasses.replace(
        ball(), links=(dataclasses.replace(ball().links[0], collisions=()),)
    )
    assert pose_on_terrain(bare, np.zeros(0), InitialState(clearance=0.0), Plane())[2] == 0.0


def step_terrain(height: float) -> Grid:
    """Return ground that rises at x = 0, over one cell of 10 mm."""
    heights = np.zeros((201, 201))
    heights[:, 101:] = height
    return Grid(HeightField(heights=heights, cell=0.01, origin=(-1.0, -1.0)))


def test_a_step_under_the_front_feet_lifts_the_robot():
    """Lowest foot clearance 0 to 20 mm at the start, and no penetration."""
    terrain = step_terrain(0.3)
    pose = pose_on_terrain(GUROO, GUROO.stance, InitialState(), terrain)
    gaps = [
        points[:, 2] - terrain.height(points[:, 0], points[:, 1])
        for points in (sole_points(GUROO, pose, sole) for sole in ('l_sole', 'r_sole'))
    ]
    assert 0.0 <= min(gap.min() for gap in gaps) <= 0.02
    assert pose[2] == pytest.approx(0.921, abs=1e-6)


@pytest.mark.parametrize('seed', range(5))
def test_no_point_of_a_sole_starts_inside_rough_ground(seed):
    terrain = load_terrain(TerrainSpec(name='rough', seed=seed))
    pose = pose_on_terrain(GUROO, GUROO.stance, InitialState(x=0.37, y=-1.2, yaw=0.3), terrain)
    gaps = [
        points[:, 2] - terrain.height(points[:, 0], points[:, 1])
        for points in (sole_points(GUROO, pose, sole) for sole in ('l_sole', 'r_sole'))
    ]
    # Placement looks every 5 mm, this test every 2 mm; the clearance is 1 mm.
    assert 0.0 <= min(gap.min() for gap in gaps) <= 0.001 + 1e-9


def test_a_ball_beside_a_step_is_lifted_over_its_edge():
    sole = dataclasses.replace(ball(), legs=legged_box(1, 1).legs)
    sole = dataclasses.replace(sole, legs=(dataclasses.replace(sole.legs[0], sole='ball'),))
    terrain = step_terrain(0.05)
    pose = pose_on_terrain(sole, np.zeros(0), InitialState(x=-0.03, clearance=0.0), terrain)
    # The edge of the step at x = 0.01 is 0.04 m from the centre, under a ball of 0.1 m.
    assert pose[2] == pytest.approx(0.05 + np.sqrt(0.1**2 - 0.04**2), abs=2e-3)


def seen(pose) -> Observation:
    return Observation(tick=0, time=0.0, body_poses=np.array([pose], dtype=np.float64))


def has_fallen(robot, scene, observation) -> str:
    return FallCheck(robot, scene).fall_reason(observation)


def leaning(angle: float, height: float = 0.62) -> Observation:
    return seen([0, 0, height, *Rotation.from_euler('xz', [angle, 0.7]).as_quat()])


SCENE = Scene(robot='guroo')


@pytest.mark.parametrize('angle', [0.999, -0.999, 0.0])
def test_a_robot_within_its_tilt_stands(angle):
    assert has_fallen(GUROO, SCENE, leaning(angle)) == ''


def test_a_robot_that_leaves_uneven_ground_is_told_where():
    bumps = TerrainSpec(name='bumps', parameters={'height': 0.0, 'extent': 4.0})
    scene = dataclasses.replace(SCENE, terrain=bumps)
    inside, outside = seen([1.99, -1.99, 0.7, 0, 0, 0, 1]), seen([2.01, 0.5, 0.7, 0, 0, 0, 1])
    assert has_fallen(GUROO, scene, inside) == ''
    assert has_fallen(GUROO, scene, outside) == (
        "it left the ground of terrain 'bumps' at x = 2.01 m, y = 0.50 m; the ground is 4 m by 4 m"
    )
    assert has_fallen(GUROO, SCENE, outside) == ''


@pytest.mark.parametrize('angle', [1.001, -1.001, np.pi])
def test_a_tilt_beyond_the_limit_is_a_fall(angle):
    assert f'tilts by {abs(angle):.2f} rad, more than 1.00' in has_fallen(
        GUROO, SCENE, leaning(angle)
    )


def test_half_the_nominal_height_is_a_fall():
    assert has_fallen(GUROO, SCENE, leaning(0.0, 0.3101)) == ''
    reason = has_fallen(GUROO, SCENE, leaning(0.0, 0.3099))
    assert reason == 'the base is 0.310 m above the ground, less than 0.310 m'


def test_height_counts_from_the_ground_under_the_base():
    scene = dataclasses.replace(SCENE, terrain=ROUGH)
    ground = float(load_terrain(ROUGH).height(0.5, 0.25))
    attitude = [0.0, 0.0, 0.0, 1.0]
    assert has_fallen(GUROO, scene, seen([0.5, 0.25, ground + 0.311, *attitude])) == ''
    assert has_fallen(GUROO, scene, seen([0.5, 0.25, ground + 0.309, *attitude])) != ''


def test_some_robots_never_fall():
    lying = leaning(np.pi, 0.0)
    assert has_fallen(dataclasses.replace(GUROO, fall=None), SCENE, lying) == ''
    assert has_fallen(GUROO, dataclasses.replace(SCENE, fixed_base=True), lying) == ''
    assert has_fallen(GUROO, SCENE, Observation(tick=0, time=0.0)) == ''
    lenient = dataclasses.replace(GUROO, fall=FallCriterion(max_tilt=4.0, min_height_ratio=-1.0))
    assert has_fallen(lenient, SCENE, lying) == ''
