# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""A robot that an engine simulates enlarged is observed in its own units."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ellipk

from gait_core.errors import ConfigurationError
from gait_core.robot.model import Actuator
from gait_core.testing.doubles import legged_box
from gait_core.testing.free_bodies import applied_targets, free_box, one_joint_robot, step_through
from gait_core.trial.scene import InitialState, Push, Scene

pytestmark = pytest.mark.physics
G = 9.81
INSECT = Scene(robot='of the test', length_scale=100.0, physics_step=1e-4, control_period=1e-3)


def run(engine, ticks: int, targets=None):
    return step_through(
        engine, [applied_targets(engine.robot) if targets is None else targets] * ticks
    )


def test_a_pendulum_of_five_millimetres_has_the_period_of_its_closed_form(engine_of):
    length, mass, inertia, amplitude = 0.005, 1e-5, 1e-11, 0.6
    engine = engine_of(one_joint_robot(mass=mass, com=(0.0, 0.0, -length), inertia=inertia))
    start = InitialState(joint_positions={'hinge': amplitude})
    engine.reset(replace(INSECT, fixed_base=True, initial=start), seed=0)
    seen = run(engine, 600)
    assert seen[-1].time == pytest.approx(0.6, rel=1e-12)
    angles = np.array([one.joint_positions[0] for one in seen])
    down = np.flatnonzero((angles[:-1] > 0.0) & (angles[1:] <= 0.0))
    crossings = down + angles[down] / (angles[down] - angles[down + 1])
    period = float(np.mean(np.diff(crossings))) * 1e-3
    about_hinge = inertia + mass * length**2
    expected = 4.0 * np.sqrt(about_hinge / (mass * G * length))
    assert period == pytest.approx(expected * ellipk(np.sin(0.5 * amplitude) ** 2), rel=3e-3)


def test_a_torque_in_insect_units_turns_a_leg_as_newton_says(engine_of):
    inertia, torque = 1e-10, 1e-8
    balanced = one_joint_robot(mass=1e-5, com=(0.0, 0.0, 0.0), inertia=inertia, joint='continuous')
    engine = engine_of(balanced)
    engine.reset(replace(INSECT, fixed_base=True), seed=0)
    end = run(engine, 20, applied_targets(balanced, effort=[torque]))[-1]
    assert end.joint_velocities[0] == pytest.approx(torque / inertia * 0.02, rel=1e-9)
    assert end.joint_efforts[0] == pytest.approx(torque, rel=1e-12)


def test_a_box_of_a_gram_falls_is_pushed_and_rests_with_its_weight(engine_of):
    mass, size = 1e-3, (0.01, 0.01, 0.004)
    push = Push(start=0.0, duration=0.01, force=(0.02, 0.0, 0.0))
    engine = engine_of(free_box(size=size, mass=mass))
    drop = replace(
        INSECT, initial=InitialState(x=0.03, clearance=0.02), pushes=(push,), friction=0.7
    )
    start = engine.reset(drop, seed=0)
    assert start.body_poses[0, :3] == pytest.approx((0.03, 0.0, 0.022))
    fallen = run(engine, 50)[-1]
    assert fallen.body_poses[0, 2] - 0.022 == pytest.approx(-0.5 * G * 0.05**2, rel=5e-3)
    assert fallen.body_twists[0, 0] == pytest.approx(0.02 / mass * 0.01, rel=1e-9)
    assert fallen.imu.linear_acceleration == pytest.approx(np.zeros(3), abs=1e-6)
    rest = run(engine, 300)[-1]
    assert rest.contacts.forces.sum(axis=0)[2] == pytest.approx(mass * G, rel=1e-3)
    assert rest.contacts.points[:, 2] == pytest.approx(0.0, abs=2e-5)
    assert rest.body_poses[0, 2] == pytest.approx(0.002, abs=2e-5)


def test_a_walker_moves_alike_at_its_own_size_and_enlarged(engine_of):
    """Free of an engine's absolute thresholds only the rounding differs."""
    spring = Actuator(kind='pd', constants={'stiffness': 60.0, 'damping': 1.0})
    robot = legged_box(4, 2)
    robot = replace(robot, actuators=dict.fromkeys(robot.joint_names, spring))
    engine = engine_of(robot)
    scene = Scene(
        robot='of the test',
        physics_step=0.001,
        gravity=(0.0, 0.0, 0.0),
        initial=InitialState(clearance=0.5, roll=0.2),
        pushes=(Push(start=0.02, duration=0.1, force=(30.0, 5.0, 0.0), link='leg1_link1'),),
    )
    ends = []
    bend = applied_targets(robot, position=robot.stance + 0.3)
    for ratio in (1.0, 4.0):
        engine.reset(replace(scene, length_scale=ratio), seed=0)
        ends.append(run(engine, 15, bend)[-1])
    small, large = ends
    for field in ('joint_positions', 'joint_velocities', 'joint_efforts', 'body_poses',
                  'body_twists'):  # fmt: skip
        alike = getattr(small, field)
        assert getattr(large, field) == pytest.approx(alike, rel=1e-6, abs=1e-6), field
    assert np.ptp(small.joint_positions) > 0.1


def test_a_constant_that_has_no_known_power_is_refused(engine_of):
    from sim_bridge.engines.shared.scaling import scaling_exponent

    with pytest.raises(ConfigurationError, match="'A'"):
        scaling_exponent('N m/A')
    assert scaling_exponent('N m s/rad') == 4.5


def test_a_scale_that_takes_an_option_out_of_its_range_is_named(engine_of):
    engine = engine_of(free_box())
    with pytest.raises(
        ConfigurationError, match=r"scene\.length_scale .* parameter '.*nearest valid"
    ):
        engine.reset(Scene(robot='x', length_scale=1e-6), 0)
