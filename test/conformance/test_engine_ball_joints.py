# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Ball joints of every engine: closed forms, three angles, and hinges in their place."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gait_core.kinematics.forward_kinematics import link_poses
from gait_core.robot.model import RobotModel
from gait_core.testing.free_bodies import applied_targets, ball_joint_robot, step_through
from gait_core.trial.scene import InitialState, Push, Scene

pytestmark = pytest.mark.physics
G, ARM = 9.81, 0.5
STEP = 0.001
HUNG = Scene(robot='x', fixed_base=True, control_period=STEP)
FREE = replace(HUNG, gravity=(0.0, 0.0, 0.0))
# Unlike moments about axes that lie askew: the trap of engines that turn with principal axes.
TILT = Rotation.from_euler('xyz', [0.4, -0.9, 1.3]).as_matrix()
ASKEW = TILT @ np.diag([0.02, 0.05, 0.06]) @ TILT.T
AXES = {
    'xyz': np.eye(3),
    'zyx': np.eye(3)[::-1],
    'zxy': np.eye(3)[[2, 0, 1]],
    'askew': Rotation.from_euler('xyz', [1.1, 0.6, -0.4]).as_matrix(),
}


def turned(scene: Scene, *angles: float) -> Scene:
    names = ('ball_0', 'ball_1', 'ball_2', 'knee')[: len(angles)]
    start = dict(zip(names, angles, strict=True))
    return replace(scene, initial=InitialState(joint_positions=start))


def run(engine, ticks: int, **targets):
    return step_through(engine, [applied_targets(engine.robot, **targets)] * ticks)


def angles_of(seen) -> np.ndarray:
    return np.array([one.joint_positions for one in seen])


def period_of(values: np.ndarray) -> float:
    down = np.flatnonzero((values[:-1] > 0.0) & (values[1:] <= 0.0))
    times = down + values[down] / (values[down] - values[down + 1])
    return float(np.diff(times).mean()) * STEP


def weight_of(robot: RobotModel, seen) -> np.ndarray:
    """Return where the arm's centre of mass is against the ball joint, (T, 3) [m]."""
    poses = link_poses(robot, angles_of(seen))[:, robot.link_index['arm']]
    return poses[:, :3, :3] @ robot.links[robot.link_index['arm']].com


@pytest.mark.parametrize('axis', [0, 1])
def test_a_ball_pendulum_swings_with_its_period_in_any_plane(able_engine_of, axis):
    engine = able_engine_of(ball_joint_robot(inertia=1e-4))
    start = np.zeros(3)
    start[axis] = 0.02
    engine.reset(turned(HUNG, *start), 0)
    angles = angles_of(run(engine, 4000))
    expected = 2.0 * np.pi * np.sqrt((ARM**2 + 1e-4) / (G * ARM))
    assert period_of(angles[:, axis]) == pytest.approx(expected, rel=1e-3)
    assert np.abs(np.delete(angles, axis, axis=1)).max() < 1e-9


def test_a_conical_pendulum_goes_round_at_its_rate(able_engine_of):
    robot, lean = ball_joint_robot(inertia=1e-7), 0.5
    rate = np.sqrt(G / (ARM * np.cos(lean)))
    speed = rate * ARM * np.sin(lean)
    # A blow of one physics step gives the weight of 1 kg its speed along the circle.
    blow = Push(start=0.0, duration=STEP, force=(0.0, speed / STEP, 0.0), link='arm')
    engine = able_engine_of(robot)
    engine.reset(replace(turned(HUNG, 0.0, lean), pushes=(blow,)), 0)
    at = weight_of(robot, run(engine, 3000))
    np.testing.assert_allclose(at[:, 2], -ARM * np.cos(lean), atol=0.01 * ARM)
    azimuth = np.unwrap(np.arctan2(at[:, 1], at[:, 0]))
    assert abs(azimuth[-1] - azimuth[0]) / (2.999) == pytest.approx(rate, rel=5e-3)


def test_a_body_of_askew_inertia_swings_about_its_known_axis(able_engine_of):
    # y is a principal axis, x and z are not: the body swings in its plane and stays there.
    inertia = np.array([[0.05, 0.0, 0.02], [0.0, 0.06, 0.0], [0.02, 0.0, 0.03]])
    engine = able_engine_of(ball_joint_robot(inertia=inertia))
    engine.reset(turned(HUNG, 0.0, 0.02), 0)
    angles = angles_of(run(engine, 4000))
    expected = 2.0 * np.pi * np.sqrt((0.06 + ARM**2) / (G * ARM))
    assert period_of(angles[:, 1]) == pytest.approx(expected, rel=1e-3)
    assert np.abs(angles[:, [0, 2]]).max() < 1e-6


@pytest.mark.parametrize('kind', ['pd', 'exponential'])
def test_torques_along_angles_neither_give_nor_take_energy(able_engine_of, kind):
    constants = {
        'pd': {'stiffness': 2.0, 'damping': 0.0},
        'exponential': {'strength': 0.4, 'rise': 2.0},
    }[kind]
    robot = ball_joint_robot(kind, constants, com=(0.0, 0.0, 0.0), inertia=ASKEW)
    engine = able_engine_of(robot)
    scene = turned(FREE, 0.5, -0.4, 0.6)
    first = engine.reset(replace(scene, physics_step=0.0001), 0)
    seen = [first, *run(engine, 2000, position=[0.0] * 3)]
    stretch = angles_of(seen)
    stored = (
        0.5 * 2.0 * stretch**2
        if kind == 'pd'
        else 0.4 * (np.expm1(2.0 * np.abs(stretch)) / 2.0 - np.abs(stretch))
    ).sum(axis=1)
    # The rate of the body from its attitude: independent of the rates that are reported.
    turns = Rotation.from_matrix(link_poses(robot, stretch)[:, -1, :3, :3])
    rates = (turns[:-2].inv() * turns[2:]).as_rotvec() / (2.0 * STEP)
    total = stored[1:-1] + 0.5 * np.einsum('ti,ij,tj->t', rates, ASKEW, rates)
    assert stored.max() > 2.0 * stored.min()
    np.testing.assert_allclose(total, stored[0], rtol=0.02)


@pytest.mark.parametrize('axes', AXES)
@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_the_three_angles_give_the_pose_of_what_hangs_behind(able_engine_of, axes, sign):
    rows = AXES[axes] * np.array([[1.0], [1.0], [sign]])
    robot = ball_joint_robot(com=(0.1, 0.05, -0.4), inertia=ASKEW, axes=rows, has_tip=True)
    engine = able_engine_of(robot)
    start = (0.4, -0.6, 0.3, 0.2)
    first = engine.reset(turned(HUNG, *start), 0)
    np.testing.assert_allclose(first.joint_positions, start, atol=1e-12)
    seen = [first, *run(engine, 300, effort=[0.5, 0.3, -0.2, 0.1])]
    angles, base = angles_of(seen), np.array([one.body_poses[0] for one in seen])
    assert np.ptp(angles, axis=0).min() > 0.05
    poses = link_poses(robot, angles, base)[:, robot.link_index['tip']]
    shown = Rotation.from_quat([one.imu.orientation for one in seen])
    apart = (Rotation.from_matrix(poses[:, :3, :3]).inv() * shown).magnitude()
    assert apart.max() < 1e-6
    rates = np.array([one.joint_velocities for one in seen])
    slopes = (angles[2:] - angles[:-2]) / (2.0 * STEP)
    # Rates are those at the end of a step, slopes those of the steps around it.
    np.testing.assert_allclose(slopes, 0.5 * (rates[1:-1] + rates[2:]), atol=0.02)


@pytest.mark.parametrize(
    ('kind', 'constants'),
    [('effort', {}), ('pd', {'stiffness': 3.0, 'damping': 0.2}),
     ('exponential', {'strength': 0.5, 'rise': 3.0, 'damping': 0.2})],
)  # fmt: skip
def test_a_ball_joint_moves_as_three_hinges_do(able_engine_of, kind, constants):
    """The angles are equal, also under torques; hinges need no inverse of a gimbal."""
    robot = ball_joint_robot(
        kind, constants, com=(0.1, 0.05, -0.4), inertia=ASKEW, axes=AXES['zxy'], has_tip=True,
        damping=0.05,
    )  # fmt: skip
    inside = [
        replace(link, mass=1e-4, inertia=1e-7 * np.eye(3)) if link.name.startswith('in_') else link
        for link in robot.links
    ]
    ends = []
    for one in (robot, replace(robot, links=tuple(inside), ball_joints={})):
        engine = able_engine_of(one)
        engine.reset(replace(turned(HUNG, 0.3, -0.4, 0.2), physics_step=0.0002), 0)
        ends.append(
            angles_of(run(engine, 400, position=[0.1, 0.2, -0.3, 0.1], effort=[0.5, 0.3, -0.2, 0]))
        )
    assert np.ptp(ends[0], axis=0).min() > 0.05
    np.testing.assert_allclose(ends[0], ends[1], atol=0.01)


def test_beyond_a_right_angle_nothing_is_lost(able_engine_of):
    robot = ball_joint_robot('pd', {'stiffness': 2.0, 'damping': 0.1}, inertia=0.02)
    engine = able_engine_of(robot)
    for middle in (0.5 * np.pi, 0.5 * np.pi - 1e-9, -0.5 * np.pi, 1.5):
        engine.reset(turned(HUNG, 0.3, middle, 0.0), 0)
        seen = run(engine, 1500)
        angles = angles_of(seen)
        assert np.isfinite(angles).all()
        assert np.abs(angles[:, 1]).max() <= 0.5 * np.pi + 1e-12
        np.testing.assert_allclose(
            [np.linalg.norm(at) for at in weight_of(robot, seen)], ARM, rtol=1e-9
        )


def test_a_trial_with_a_ball_joint_is_the_same_after_any_other(able_engine_of):
    robot = ball_joint_robot('pd', {'stiffness': 2.0, 'damping': 0.1}, inertia=ASKEW, has_tip=True)
    engine = able_engine_of(robot)
    tape = [applied_targets(robot, position=[0.3, -0.2, 0.5, 0.1])] * 30

    def trial() -> list[bytes]:
        first = engine.reset(turned(HUNG, 0.1, 0.2, 0.3), 0, settle_ticks=3)
        return [
            one.joint_positions.tobytes() + one.joint_velocities.tobytes()
            for one in (first, *step_through(engine, tape))
        ]

    once = trial()
    engine.reset(replace(HUNG, physics_step=0.0005), 0)
    run(engine, 7, position=[1.0, 0.9, -1.0, 2.0])
    assert trial() == once
