# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Work of motors and of lead screws in every engine follows the laws of mechanics."""

from dataclasses import replace

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.robot.model import Actuator, Joint, RobotModel
from gait_core.testing.free_bodies import applied_targets, one_joint_robot, solid_box, step_through
from gait_core.trial.scene import Scene

pytestmark = pytest.mark.physics
G, MASS, RISE = 9.81, 5.0, 0.04
STAND = Scene(robot='of the test', fixed_base=True)
SCREW = {'lead': 0.006, 'diameter': 0.01, 'friction': 0.5}
LOOSE = {**SCREW, 'friction': 0.05}


def lift(kind='position', effort=1000.0, mass=MASS, **constants):
    """Return a mass that a prismatic joint carries upwards from a fixed base."""
    base = solid_box('base', (0.1, 0.1, 0.1), 1.0)
    load = solid_box('load', (0.05, 0.05, 0.05), mass)
    rod = Joint(
        name='rod', kind='prismatic', parent='base', child='load', xyz=(0.0, 0.0, 0.2),
        axis=(0.0, 0.0, 1.0), lower=-0.5, upper=0.5, velocity=0.06, effort=effort,
    )  # fmt: skip
    return RobotModel(
        name='lift', links=(base, load), joints=(rod,), joint_names=('rod',),
        actuators={'rod': Actuator(kind=kind, constants=constants)}, fall=None,
    )  # fmt: skip


def slope_of(constants):
    alpha = np.arctan(constants['lead'] / (np.pi * constants['diameter']))
    return alpha, np.arctan(constants['friction'])


def moved(engine, rise, step=0.002):
    """Move a joint smoothly in 2 s and let it rest; return the work (signed, positive) [J]."""
    start = engine.reset(replace(STAND, physics_step=step), 0)
    assert not start.joint_work.any()
    shares = np.linspace(0.0, 1.0, 101)[1:]
    ways = rise * shares**3 * (10.0 - 15.0 * shares + 6.0 * shares**2)
    tape = [applied_targets(engine.robot, position=[way]) for way in (*ways, *[rise] * 100)]
    end = step_through(engine, tape)[-1]
    assert end.joint_positions[0] == pytest.approx(rise, abs=2e-4)
    assert np.abs(end.joint_velocities[0]) < 1e-6
    return end.joint_work[:, 0], end.joint_positions[0]


@pytest.mark.parametrize('step', [0.001, 0.002, 0.004])
def test_work_of_a_lift_is_weight_times_rise_whatever_the_step(engine_of, step):
    (signed, positive), rise = moved(engine_of(lift()), RISE, step)
    assert signed == pytest.approx(MASS * G * rise, rel=2e-3)
    assert positive == pytest.approx(signed, rel=2e-3)
    (signed, positive), sunk = moved(engine_of(lift()), -RISE, step)
    assert signed == pytest.approx(MASS * G * sunk, rel=2e-3)
    # A target that stands still for 20 ms is met a little too late at first.
    assert positive < 2e-2 * MASS * G * RISE


@pytest.mark.parametrize('kind', ['position', 'pd'])
def test_work_of_a_raised_pendulum_is_its_potential(engine_of, kind):
    constants = {'stiffness': 4000.0, 'damping': 40.0} if kind == 'pd' else {}
    arm = one_joint_robot(
        kind, constants, mass=2.0, com=(0.5, 0.0, 0.0), inertia=0.02, joint='continuous'
    )
    engine = engine_of(arm)
    engine.reset(STAND, 0)
    down = [applied_targets(engine.robot, position=[0.0])] * 50
    shares = np.linspace(0.0, 1.0, 101)[1:]
    ways = -1.0 * shares**3 * (10.0 - 15.0 * shares + 6.0 * shares**2)
    tape = [
        *down,
        *(applied_targets(engine.robot, position=[way]) for way in (*ways, *[-1.0] * 50)),
    ]
    states = step_through(engine, tape)
    before, after = states[49], states[-1]
    work = after.joint_work[0, 0] - before.joint_work[0, 0]
    rise = 0.5 * (np.sin(-before.joint_positions[0] * -1.0) - np.sin(after.joint_positions[0]))
    assert work == pytest.approx(2.0 * G * rise, rel=5e-3)


def test_settling_does_not_count(engine_of):
    engine = engine_of(lift())
    assert not engine.reset(STAND, 0, settle_ticks=5).joint_work.any()
    held = step_through(engine, [applied_targets(engine.robot, position=[0.0])] * 50)[-1]
    assert np.abs(held.joint_work).max() < 1e-4 * MASS * G * RISE


@pytest.mark.parametrize('constants', [SCREW, LOOSE], ids=['locking', 'loose'])
def test_a_screw_takes_what_its_thread_says_up_and_down(engine_of, constants):
    alpha, phi = slope_of(constants)
    load = MASS * G
    engine = engine_of(lift('lead_screw', **constants))
    (_, positive), rise = moved(engine, RISE)
    assert positive == pytest.approx(load * rise * np.tan(alpha + phi) / np.tan(alpha), rel=3e-3)
    (signed, _), sunk = moved(engine, -RISE)
    # One that locks itself must be turned against what friction is left; a loose one gives back.
    assert signed == pytest.approx(-load * sunk * np.tan(phi - alpha) / np.tan(alpha), rel=3e-3)


def test_the_published_screw_raises_with_a_quarter_of_its_work(engine_of):
    (_, positive), rise = moved(engine_of(lift('lead_screw', **SCREW)), RISE)
    assert MASS * G * rise / positive == pytest.approx(0.25, abs=1e-3)


def test_a_screw_that_locks_itself_holds_any_load_for_nothing(engine_of):
    engine = engine_of(lift('lead_screw', effort=20.0, **SCREW))
    engine.reset(STAND, 0)
    held = step_through(engine, [applied_targets(engine.robot, position=[0.0])] * 100)[-1]
    assert held.joint_positions[0] == pytest.approx(0.0, abs=1e-4)
    assert held.joint_efforts[0] == pytest.approx(MASS * G, rel=1e-3)
    assert np.abs(held.joint_work).max() < 1e-4 * MASS * G
    # Its motor pushes 20 N, not the 49 N of the load: up it does not go, down it does.
    up = step_through(engine, [applied_targets(engine.robot, position=[0.05])] * 100)[-1]
    assert up.joint_positions[0] == pytest.approx(0.0, abs=2e-3)
    down = step_through(engine, [applied_targets(engine.robot, position=[-0.05])] * 150)[-1]
    assert down.joint_positions[0] == pytest.approx(-0.05, abs=1e-3)


def test_a_loose_screw_holds_what_motor_and_friction_hold_together(engine_of):
    alpha, phi = slope_of(LOOSE)
    grip = np.tan(alpha + phi) / np.tan(alpha - phi)
    for share, holds in ((0.9, True), (1.1, False)):
        engine = engine_of(lift('lead_screw', effort=share**-1 * MASS * G / grip, **LOOSE))
        engine.reset(STAND, 0)
        end = step_through(engine, [applied_targets(engine.robot, position=[0.0])] * 20)[-1]
        assert bool(end.joint_positions[0] > -1e-3) == holds


def test_motor_speed_and_torque_limit_a_screw(engine_of):
    # 300 rpm of a lead of 6 mm; 0.1 N m push 26.2 N, of which 2 kg need 19.6 and 5 kg 49.
    limits = {'rpm': 300.0, 'torque': 0.1}
    engine = engine_of(lift('lead_screw', mass=2.0, **SCREW, **limits))
    engine.reset(STAND, 0)
    seen = step_through(engine, [applied_targets(engine.robot, position=[0.1])] * 50)
    assert max(one.joint_velocities[0] for one in seen) == pytest.approx(0.03, rel=1e-2)
    engine = engine_of(lift('lead_screw', **SCREW, **limits))
    engine.reset(STAND, 0)
    end = step_through(engine, [applied_targets(engine.robot, position=[0.1])] * 50)[-1]
    assert end.joint_positions[0] == pytest.approx(0.0, abs=2e-3)


def test_a_screw_that_jams_is_refused(engine_of):
    with pytest.raises(ConfigurationError, match='jams with a friction of 9; nearest valid'):
        engine_of(lift('lead_screw', **{**SCREW, 'friction': 9.0})).reset(STAND, 0)
