"""A rollout of a tape, as arrays, equals stepping to the last bit, in every engine."""

from dataclasses import fields, replace

import numpy as np
import pytest

from gait_core.errors import BadCommand, SimulationDiverged
from gait_core.observation import Contacts, Imu
from gait_core.robot.model import Joint, Link
from gait_core.scene import Push, Scene, TerrainSpec
from gait_core.state_tape import StateTape
from gait_core.targets import AppliedTape
from gait_core.testing import legged_box
from gait_core.testing_robots import applied, balled, hinged, hung

pytestmark = pytest.mark.physics

PUSH = Push(start=0.1, duration=0.05, force=(30.0, 10.0, 0.0))
ROUGH = TerrainSpec(name='rough', parameters={'nodes': 16, 'extent': 3.0}, seed=3)
BALL = balled('pd', {'stiffness': 2.0, 'damping': 0.1}, inertia=0.02, tip=True)


def masted():
    """Return a box on legs whose mass is off its middle, with an IMU on a mast askew."""
    robot = legged_box(4, 3)
    inertia = 1e-4 * np.eye(3)
    mast = Link(name='mast', mass=0.5, com=np.array([0.0, 0.01, 0.02]), inertia=inertia)
    stay = Joint(
        name='stay', kind='fixed', parent='base', child='mast', xyz=(0.1, 0.02, 0.1),
        rpy=(0.3, -0.2, 0.5),
    )  # fmt: skip
    return replace(
        robot, links=(*robot.links, mast), joints=(*robot.joints, stay), imu_link='mast'
    )


CASES = {
    'rough ground': (legged_box(4, 3), {'physics_step': 0.002, 'terrain': ROUGH}),
    'pushes': (legged_box(4, 3), {'physics_step': 0.002, 'pushes': (PUSH,)}),
    'an IMU askew': (masted(), {'physics_step': 0.002}),
    'similarity': (legged_box(4, 3), {'physics_step': 0.002, 'length_scale': 2.0}),
    'torques': (hinged('exponential', {'strength': 1.0, 'rise': 2.0}), {'fixed_base': True}),
    'ball joint': (BALL, {'fixed_base': True}),
    'springs': (hung('spring', {'stiffness': 200.0}), {'fixed_base': True}),
}


def wave(robot, ticks=20):
    """Return a tape of two sub-samples a period, beyond the limits of some joints."""
    phase = np.arange(len(robot.target_names)) + np.array([[0.0], [0.2]])
    return [
        applied(
            robot,
            robot.stance + 1.5 * np.sin(0.5 * tick + phase),
            velocity=0.1 * np.cos(tick + phase),
        )
        for tick in range(ticks)
    ]


def assert_same(one, other):
    for field in fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if isinstance(a, Imu | Contacts):
            assert_same(a, b)
        elif isinstance(a, np.ndarray):
            assert (a.shape, a.dtype) == (b.shape, b.dtype), field.name
            np.testing.assert_array_equal(a, b, field.name)
        else:
            assert a == b, field.name


@pytest.mark.parametrize('case', CASES)
def test_a_tape_equals_its_steps(able_engine_of, case):
    robot, changes = CASES[case]
    engine, scene, periods = able_engine_of(robot), Scene(robot='x', **changes), wave(robot)
    engine.reset(scene, 0, settle_ticks=2)
    stepped = StateTape.of([engine.step(targets) for targets in periods])
    clamped = engine.clamped
    engine.reset(scene, 0, settle_ticks=2)
    parts = [engine.rollout(AppliedTape.of(part)) for part in (periods[:7], periods[7:])]
    assert engine.clamped == clamped
    assert_same(StateTape.joined(parts), stepped)
    assert np.ptp(stepped.joint_positions, axis=0).max() > 0.01 or case == 'springs'
    assert not parts[0].joint_positions.flags.writeable


def test_a_tape_that_diverges_has_the_states_before(engine_of):
    # Unlimited torque on a light link: a command that no integrator survives.
    robot = hinged('effort', inertia=1e-8, mass=1e-3)
    engine, scene = engine_of(robot), Scene(robot='x', fixed_base=True)
    calm, wild = applied(robot), applied(robot, effort=[1e30])
    engine.reset(scene, 0)
    expected = engine.rollout([calm] * 4)
    engine.reset(scene, 0)
    with pytest.raises(SimulationDiverged) as caught:
        engine.rollout(AppliedTape.of([calm] * 4 + [wild] * 6))
    assert 4 <= len(caught.value.states) < 10
    assert_same(caught.value.states[:4], expected)


def test_a_tape_of_servos_ends_where_its_steps_do(engine_of):
    robot = legged_box(4, 3)
    engine = engine_of(robot)
    # It falls upwards, faster than any robot after 0.1 s.
    scene = Scene(robot='x', physics_step=0.002, gravity=(0.0, 0.0, 1e4))
    ends = []
    for tape in (wave(robot), AppliedTape.of(wave(robot))):
        engine.reset(scene, 0)
        with pytest.raises(SimulationDiverged) as caught:
            engine.rollout(tape)
        ends.append((str(caught.value), engine.clamped, caught.value.states))
    assert ends[0][:2] == ends[1][:2]
    assert_same(ends[0][2], ends[1][2])
    assert 2 <= len(ends[0][2]) <= 5


def test_a_tape_for_another_robot_is_refused(engine_of):
    engine = engine_of(hinged('effort'))
    engine.reset(Scene(robot='x', fixed_base=True), 0)
    with pytest.raises(BadCommand, match='shape'):
        engine.rollout(AppliedTape.of([applied(legged_box(4, 3))] * 3))
