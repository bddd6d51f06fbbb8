# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Inverse kinematics of legs: it undoes the forward one, keeps limits and says what it cannot."""

import dataclasses

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gait_core.errors import ConfigurationError
from gait_core.kinematics.forward_kinematics import link_poses, point_position
from gait_core.kinematics.leg_ik import LegKinematics
from gait_core.kinematics.leg_kernel import solve_chain
from gait_core.kinematics.leg_paths import LegPathSolver, follow_chains
from gait_core.robot.load import load_robot
from gait_core.robot.model import Mimic, RobotModel
from gait_core.testing.doubles import legged_box
from gait_core.testing.skips import need_robot

GUROO = load_robot('guroo')
LEFT = LegKinematics(GUROO, 'left')
SEGMENT = 0.15
PLANAR = legged_box(legs=1, joints=2)

shares = st.lists(st.floats(0.0, 1.0), min_size=6, max_size=6).map(np.array)


def planar() -> LegKinematics:
    return LegKinematics(PLANAR, 'leg0')


def whole(leg: LegKinematics, positions: np.ndarray) -> np.ndarray:
    joints = GUROO.stance.copy()
    joints[[GUROO.joint_index[name] for name in leg.joint_names]] = positions
    return joints


@settings(max_examples=60, deadline=None)
@given(share=shares)
def test_forward_and_jacobian_equal_those_of_the_whole_robot(share):
    positions = LEFT.lower + share * (LEFT.upper - LEFT.lower)
    sole = GUROO.leg('left').sole
    point, _ = LEFT.forward(positions)
    joints = whole(LEFT, positions)
    np.testing.assert_allclose(point, point_position(GUROO, joints, sole), atol=1e-12)
    step, columns = 1e-6, [GUROO.joint_index[name] for name in LEFT.joint_names]
    shifts = step * np.eye(len(GUROO.joint_names))[columns]
    before, after = joints - shifts, joints + shifts
    places = point_position(GUROO, after, sole) - point_position(GUROO, before, sole)
    row = GUROO.link_index[sole]
    old, new = (link_poses(GUROO, shifted)[:, row, :3, :3] for shifted in (before, after))
    turns = Rotation.from_matrix(new @ old.transpose(0, 2, 1)).as_rotvec()
    # Central differences of a step of 1e-6: rounding of 1e-16 over 1e-6, curvature of 1e-12.
    expected = np.concatenate([places.T, turns.T]) / (2.0 * step)
    np.testing.assert_allclose(LEFT.jacobian(positions), expected, atol=1e-8)


@settings(max_examples=100, deadline=None)
@given(share=shares, off=st.floats(-0.2, 0.2))
def test_inverse_undoes_forward_in_point_and_orientation(share, off):
    positions = LEFT.lower + share * (LEFT.upper - LEFT.lower)
    point, turn = LEFT.forward(positions)
    found = LEFT.solve(point, turn, start=positions + off, thorough=True)
    assert found.is_reachable
    again, turned = LEFT.forward(found.positions)
    # Where the leg is straight, the error of the joints is the root of that of the foot.
    np.testing.assert_allclose(again, point, atol=1e-6)
    np.testing.assert_allclose(turned, turn, atol=2e-6)
    assert np.all((LEFT.lower <= found.positions) & (found.positions <= LEFT.upper))


@settings(max_examples=100, deadline=None)
@given(hip=st.floats(-1.4, 1.4), knee=st.floats(0.3, 1.4))
def test_the_planar_leg_equals_the_law_of_cosines(hip, knee):
    leg = planar()
    target = [
        -SEGMENT * (np.sin(hip) + np.sin(hip + knee)),
        0.0,
        -0.05 - SEGMENT * (np.cos(hip) + np.cos(hip + knee)),
    ]
    found = leg.solve(target, start=[hip + 0.05, knee + 0.05])
    reach = np.hypot(target[0], target[2] + 0.05)
    # Of the two ways to bend the knee, the start decides.
    bend = np.arccos(np.clip(reach**2 / (2.0 * SEGMENT**2) - 1.0, -1.0, 1.0))
    assert found.is_reachable
    np.testing.assert_allclose(found.positions, [hip, bend], atol=1e-6)


def test_every_reachable_foot_position_of_a1_is_found_from_a_cold_start():
    robot = need_robot('a1')
    rng = np.random.default_rng(7)
    for leg in (LegKinematics(robot, name) for name in ('fl', 'rr')):
        for positions in rng.uniform(leg.lower, leg.upper, (150, 3)):
            leg.reset()
            found = leg.solve(leg.forward(positions)[0], thorough=True)
            assert found.is_reachable, positions
            assert np.all((leg.lower <= found.positions) & (found.positions <= leg.upper))


@settings(max_examples=60, deadline=None)
@given(angle=st.floats(-0.6, 0.6), excess=st.floats(0.001, 2.0))
def test_a_target_too_far_is_flagged_and_met_as_closely_as_can_be(angle, excess):
    leg = planar()
    reach = 2.0 * SEGMENT + excess
    found = leg.solve([-reach * np.sin(angle), 0.0, -0.05 - reach * np.cos(angle)])
    assert not found.is_reachable
    assert found.position_error == pytest.approx(excess, abs=1e-9)
    # The straight leg points at the target.
    np.testing.assert_allclose(found.positions, [angle, 0.0], atol=1e-4)


def test_a_target_beside_the_plane_of_the_leg_is_missed_by_its_distance():
    leg = planar()
    found = leg.solve([0.0, 0.07, -0.28])
    assert not found.is_reachable
    assert found.position_error == pytest.approx(0.07, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(target=st.tuples(*[st.floats(-1.0, 1.0)] * 3))
def test_limits_hold_and_the_error_is_true_whatever_the_target(target):
    LEFT.reset()
    found = LEFT.solve(target, np.eye(3))
    assert np.all((LEFT.lower <= found.positions) & (found.positions <= LEFT.upper))
    point, turn = LEFT.forward(found.positions)
    assert found.position_error == pytest.approx(float(np.linalg.norm(point - target)), abs=1e-12)
    angle = np.arccos(np.clip(0.5 * (np.trace(turn) - 1.0), -1.0, 1.0))
    assert found.angle_error == pytest.approx(angle, abs=1e-6)
    assert found.is_reachable == (found.position_error <= 1e-6 and found.angle_error <= 1e-6)


def test_an_unreachable_pose_is_a_minimum_within_the_limits():
    leg = planar()
    leg.solve([0.3, 0.0, -0.05 + 0.25])
    best = leg.solve([0.3, 0.0, -0.05 + 0.25])
    assert not best.is_reachable
    for step in np.concatenate([np.eye(2), -np.eye(2)]) * 1e-4:
        near = np.clip(best.positions + step, leg.lower, leg.upper)
        error = np.linalg.norm(leg.forward(near)[0] - [0.3, 0.0, 0.2])
        assert error >= best.position_error - 1e-12


def test_a_straight_leg_can_shorten():
    """The stance of GuRoo is singular: no joint rate lifts the foot, to first order."""
    LEFT.reset()
    straight, _ = LEFT.forward(np.zeros(6))
    found = LEFT.solve(straight + [0.0, 0.0, 0.02], np.eye(3))
    assert found.is_reachable
    hip, knee, ankle = found.positions[2:5]
    # Thigh and shank are 0.28 m: the law of cosines gives the knee, symmetry its halves.
    expected = 2.0 * np.arccos((0.56 - 0.02) / 0.56)
    np.testing.assert_allclose(
        [hip, knee, ankle], [expected / 2, expected, expected / 2], atol=1e-9
    )


def test_a_walk_in_small_steps_is_followed_without_jumps():
    leg = planar()
    middle = leg.forward([-0.4, 0.8])[0]
    leg.solve(middle, start=[-0.4, 0.8])
    last = np.array([-0.4, 0.8])
    for phase in np.linspace(0.0, 2.0 * np.pi, 51):
        found = leg.solve(middle + [0.04 * np.sin(phase), 0.0, 0.02 * (1.0 - np.cos(phase))])
        assert found.is_reachable
        assert np.max(np.abs(found.positions - last)) < 0.15
        last = found.positions


def test_a_path_is_followed_as_if_solved_point_by_point():
    # In reach, out of it and back: the circle leaves the reach of 0.3 m below.
    angle = np.linspace(0.0, 2.0 * np.pi, 60)
    path = np.stack([0.1 * np.sin(angle), 0.0 * angle, -0.3 - 0.1 * np.cos(angle)], axis=1)
    paths, other = LegPathSolver(PLANAR, ['leg0']), planar()
    followed = paths.follow([path])
    solved = np.array([other.solve(point).positions for point in path])
    np.testing.assert_allclose(followed, solved, atol=1e-5)
    np.testing.assert_array_equal(paths.follow([path[-1:]])[0], followed[-1])


@settings(max_examples=60, deadline=None)
@given(
    radius=st.floats(0.0, 0.2),
    middle=st.tuples(*[st.floats(-0.1, 0.1)] * 3).map(np.array),
    tilt=st.floats(-1.0, 1.0),
)
def test_circles_of_feet_in_and_out_of_reach_are_met_as_by_searches(radius, middle, tilt):
    robot = crouching(4)
    legs = [leg.name for leg in robot.legs]
    angle = np.linspace(0.0, 2.0 * np.pi, 40)
    circle = np.stack([np.sin(angle), tilt * np.cos(angle), np.cos(angle)], axis=1) * radius
    searched = [LegKinematics(robot, leg) for leg in legs]
    feet = [leg.forward(leg.solve(leg.forward(bend(leg))[0]).positions)[0] for leg in searched]
    paths = np.array([foot + middle + circle for foot in feet])
    followed = LegPathSolver(robot, legs).follow(paths)
    for i, leg in enumerate(searched):
        found = followed[:, 3 * i : 3 * i + 3]
        assert np.all((leg.lower <= found) & (found <= leg.upper))
        for point, positions in zip(paths[i], found, strict=True):
            missed = np.linalg.norm(leg.forward(positions)[0] - point)
            assert missed <= leg.solve(point, start=positions).position_error + 1.5e-9


def bend(leg: LegKinematics) -> list[float]:
    return [0.0, -0.5, 1.0][: len(leg.joint_names)]


def crouching(legs: int) -> RobotModel:
    robot = legged_box(legs, 3, roll=True)
    bent = {name: (0.0, -0.5, 1.0)[i % 3] for i, name in enumerate(robot.joint_names)}
    return dataclasses.replace(robot, nominal_stance=bent)


def test_unlike_legs_follow_their_paths_in_one_call():
    robot = crouching(4)
    last = dataclasses.replace(robot.legs[1], joints=robot.legs[1].joints[1:])
    mixed = dataclasses.replace(robot, legs=(robot.legs[0], last, *robot.legs[2:]))
    names = [leg.name for leg in mixed.legs]
    legs = [LegKinematics(mixed, name) for name in names]
    wanted = [np.array(bend(leg)) + 0.03 for leg in legs]
    wanted[1] = np.array([-0.4, 0.9])
    paths = [[leg.forward(positions)[0]] for leg, positions in zip(legs, wanted, strict=True)]
    found = LegPathSolver(mixed, names).follow(paths)
    np.testing.assert_allclose(found[0], np.concatenate(wanted), atol=1e-6)


@pytest.mark.parametrize('paths', [[[[0.0, 0.0]]], [[[0.0, 0.0, np.nan]]], [[0.0, 0.0, 0.0]]])
def test_paths_that_are_none_are_refused(paths):
    with pytest.raises(ValueError, match='paths are .*finite numbers'):
        LegPathSolver(PLANAR, ['leg0']).follow(paths)


def test_equal_histories_give_equal_bits():
    targets = np.random.default_rng(4).uniform(-0.2, 0.2, (20, 3)) - [0.0, 0.0, 0.3]

    def run() -> list[bytes]:
        leg = LegKinematics(GUROO, 'right')
        return [leg.solve(target).positions.tobytes() for target in targets]

    assert run() == run()


def test_joints_outside_the_leg_stay_in_the_stance():
    robot = dataclasses.replace(PLANAR, legs=(dataclasses.replace(
        PLANAR.legs[0], joints=('leg0_joint1',)),))  # fmt: skip
    leg = LegKinematics(robot, 'leg0')
    hip = robot.nominal_stance['leg0_joint0']
    expected = point_position(robot, np.array([hip, 0.3]), 'leg0_link1', (0.0, 0.0, -SEGMENT))
    np.testing.assert_allclose(leg.forward([0.3])[0], expected, atol=1e-14)
    assert leg.solve(expected).positions[0] == pytest.approx(0.3, abs=1e-9)


def test_a_coupled_knee_is_inverted_through_its_coupling():
    knee = dataclasses.replace(PLANAR.joints[1], mimic=Mimic(joint='leg0_joint0', multiplier=-2.0))
    robot = dataclasses.replace(
        PLANAR,
        joints=(PLANAR.joints[0], knee),
        joint_names=('leg0_joint0',),
        nominal_stance={'leg0_joint0': 0.1},
        legs=(dataclasses.replace(PLANAR.legs[0], joints=('leg0_joint0',)),),
    )
    # Hip a, knee -2 a: the foot stays under the hip.
    found = LegKinematics(robot, 'leg0').solve([0.0, 0.0, -0.05 - 2.0 * SEGMENT * np.cos(0.6)])
    assert found.is_reachable
    assert abs(found.positions[0]) == pytest.approx(0.6, abs=1e-9)


def test_nothing_is_left_to_compile_after_construction():
    leg, paths = planar(), LegPathSolver(PLANAR, ['leg0'])
    before = [list(kernel.signatures) for kernel in (solve_chain, follow_chains)]
    target = np.array([0.0, 0.0, -0.3])
    target.flags.writeable = False
    leg.solve(target)
    leg.solve([0, 0, -1], orientation=np.eye(3, dtype=np.float32).T, start=(0, 1), thorough=True)
    paths.follow([[[0, 0, -0.3], [0, 0, -0.31]]])
    points = np.array([[[0.0, 0.0, -0.3], [0.0, 0.0, -0.31]]])
    points.flags.writeable = False
    paths.follow(points)
    assert [kernel.signatures for kernel in (solve_chain, follow_chains)] == before


@pytest.mark.parametrize('target', [[0.0, 0.0], [0.0, np.nan, 0.0], [0.0, 0.0, np.inf]])
def test_targets_that_are_no_point_are_refused(target):
    with pytest.raises(ValueError, match=r'target is .*, expected \(3,\) finite numbers'):
        planar().solve(target)


def test_an_unknown_leg_is_answered_with_the_nearest():
    with pytest.raises(ConfigurationError, match="unknown leg 'lefd': did you mean 'left'"):
        LegKinematics(GUROO, 'lefd')
