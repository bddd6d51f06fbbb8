"""Tapes in threads equal tapes one after the other, to the last bit."""

import numpy as np
import pytest

from gait_core.errors import BadCommand, ConfigurationError, ProtocolError, SimulationDiverged
from gait_core.observation import Observation
from gait_core.robot.legged_box import legged_box
from gait_core.scene import Push, Scene, TerrainSpec
from gait_core.targets import AppliedTape
from gait_core.testing_robots import applied, balled, hung
from gait_core.testing_skips import need_engine

need_engine('mujoco')
from sim_bridge.engines.mujoco import MujocoEngine

pytestmark = pytest.mark.physics
PUSH = Push(start=0.1, duration=0.05, force=(30.0, 10.0, 0.0))
ROUGH = TerrainSpec(name='rough', parameters={'nodes': 16, 'extent': 3.0}, seed=3)
SCENES = {
    'walker': (legged_box(4, 3), Scene(robot='x', physics_step=0.002, terrain=ROUGH)),
    'pushed': (legged_box(4, 3), Scene(robot='x', physics_step=0.002, pushes=(PUSH,))),
    'ball': (
        balled('pd', {'stiffness': 2.0, 'damping': 0.1}, inertia=0.02, tip=True),
        Scene(robot='x', fixed_base=True),
    ),
    'spring': (hung('spring', {'stiffness': 200.0}), Scene(robot='x', fixed_base=True)),
}


@pytest.fixture
def engine_of():
    """Make engines for a robot; they are closed at the end."""
    made = []

    def make(robot) -> MujocoEngine:
        made.append(MujocoEngine(lambda name, draw: robot))
        return made[-1]

    yield make
    for engine in made:
        engine.close()


def tapes_of(robot, count: int, ticks: int = 15):
    """Return tapes that differ, of two sub-samples each."""
    m = len(robot.target_names)
    return [
        [
            applied(
                robot,
                robot.stance + 0.2 * np.sin(0.5 * tick + part + which + np.arange(m)),
                velocity=0.1 * which * np.cos(tick + np.arange(m)),
            )
            for tick in range(ticks)
            for part in [np.array([[0.0], [0.2]])]
        ]
        for which in range(count)
    ]


def bits(seen: list[Observation]) -> list[bytes]:
    """Return all that observations say, as bytes."""
    rows = []
    for one in seen:
        arrays = [
            one.joint_positions, one.joint_velocities, one.joint_efforts, one.body_poses,
            one.body_twists, one.imu.orientation, one.imu.linear_acceleration,
            one.contacts.points, one.contacts.forces,
        ]  # fmt: skip
        if one.element_names:
            arrays += [one.element_lengths, one.element_forces]
        rows.append(b''.join([str(one.tick).encode(), *(array.tobytes() for array in arrays)]))
    return rows


@pytest.mark.parametrize('name', SCENES)
@pytest.mark.parametrize('threads', [1, 3])
def test_a_batch_equals_single_rollouts_from_the_same_state(engine_of, name, threads):
    robot, scene = SCENES[name]
    engine = engine_of(robot)
    before, *tapes = tapes_of(robot, 6)

    def begin() -> None:
        engine.reset(scene, 0, settle_ticks=2)
        engine.rollout(before[:3])

    single = []
    for tape in tapes:
        begin()
        single.append(bits(engine.rollout(tape)))
    assert len(set(map(tuple, single))) == len(tapes)
    begin()
    assert [bits(seen) for seen in engine.rollout_batch(tapes, threads)] == single
    arrays = [AppliedTape.of(tape) for tape in tapes]
    assert [bits(seen) for seen in engine.rollout_batch(arrays, threads)] == single
    # The state it began from has not moved.
    assert bits(engine.rollout(tapes[0])) == single[0]


def test_a_tape_that_diverges_ends_and_leaves_the_others_alone(engine_of):
    robot = hung('spring', {'stiffness': 200.0})
    engine = engine_of(robot)
    scene = Scene(robot='x', fixed_base=True, physics_step=0.002)
    calm = [applied(robot)] * 10
    wild = [*calm[:4], *[applied(robot, [0.0, -1e9])] * 6]
    engine.reset(scene, 0)
    with pytest.raises(SimulationDiverged):
        engine.rollout(wild)
    engine.reset(scene, 0)
    ends = [len(seen) for seen in engine.rollout_batch([wild, calm, wild, calm], 2)]
    assert ends[1] == ends[3] == 10
    assert ends[0] == ends[2] < 10


def test_what_cannot_be_run_is_refused(engine_of):
    robot = legged_box()
    engine = engine_of(robot)
    with pytest.raises(ProtocolError, match='needs a reset'):
        engine.rollout_batch([], 1)
    engine.reset(Scene(robot='x', physics_step=0.002), 0)
    with pytest.raises(ConfigurationError, match='nearest valid: 1'):
        engine.rollout_batch([[applied(robot)]], 0)
    with pytest.raises(BadCommand, match='shapes'):
        engine.rollout_batch([[applied(robot)], [applied(hung('spring', {'stiffness': 1.0}))]], 2)
    assert engine.rollout_batch([], 2) == []
