"""Bullet's own C functions do what PyBullet's calls do, to the last bit, for torques."""

import ctypes
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gait_core.robot.load import load_robot
from gait_core.robot.model import Actuator
from gait_core.scene import Push
from gait_core.testing import legged_box
from gait_core.testing_robots import applied
from gait_core.testing_skips import need_engine
from gait_core.trial_setup import make_scene

need_engine('bullet')
from sim_bridge.engines import bullet_motors
from sim_bridge.engines.bullet import BulletEngine
from sim_bridge.engines.bullet_client import pb
from sim_bridge.engines.bullet_native import symbol

pytestmark = pytest.mark.physics
SPIDER = load_robot('spider')
PUSH = Push(start=0.05, duration=0.1, force=(40.0, 20.0, 0.0))
LIBRARY = Path(pb.__file__)
FIELDS = ('joint_positions', 'joint_velocities', 'joint_efforts', 'joint_work', 'body_poses',
          'body_twists', 'element_lengths', 'element_forces')  # fmt: skip


def torqued() -> object:
    """Return a quadruped of hinges that springs drive: neither ball joints nor elements."""
    box = legged_box(4, 3)
    spring = Actuator(kind='pd', constants={'stiffness': 30.0, 'damping': 0.5})
    return replace(box, actuators=dict.fromkeys(box.joint_names, spring))


@pytest.fixture
def native():
    """Skip where PyBullet's library does not say where its clients are."""
    if symbol(LIBRARY.read_bytes(), b'sPhysicsClients1') is None:
        pytest.skip('this library of PyBullet has no table of its own symbols')


def record(robot, settings, ticks=60):
    """Return all numbers of a trial under moving targets, whether it was native, its overspeed."""
    engine = BulletEngine(lambda name, draw: robot)
    scene = replace(make_scene('spider', {'engine': 'bullet', **settings}), pushes=(PUSH,))
    seen = [engine.reset(scene, 0, settle_ticks=3)]
    rng = np.random.default_rng(1)
    for _ in range(ticks):
        aims = robot.stance + 0.02 * rng.standard_normal(len(robot.stance))
        seen.append(engine.step(applied(robot, position=aims)))
    way, fast = engine._motors.native, dict(engine.overspeed)
    engine.close()
    rows = [np.concatenate([np.ravel(getattr(one, name)) for name in FIELDS
                            if getattr(one, name) is not None]) for one in seen]  # fmt: skip
    felt = [one.imu.linear_acceleration for one in seen]
    return np.hstack([rows, felt]), way is not None, fast


@pytest.mark.parametrize('robot', [SPIDER, torqued()], ids=['spider', 'hinges'])
@pytest.mark.parametrize('sum_work', [0, 1])
def test_both_ways_give_the_same_trial_to_the_last_bit(native, monkeypatch, robot, sum_work):
    settings = {'terrain': {'name': 'rough', 'seed': 3}, 'engine_options': {'sum_work': sum_work}}
    compiled, was_native, fast = record(robot, settings)
    assert was_native
    monkeypatch.setattr(bullet_motors, 'native', lambda *given: None)
    called, was_native, slow = record(robot, settings)
    assert not was_native
    np.testing.assert_array_equal(compiled, called)
    assert fast == slow
    assert np.ptp(compiled, axis=0).max() > 0.1


def test_a_table_of_symbols_tells_what_the_loader_tells(native):
    file, loaded = LIBRARY.read_bytes(), ctypes.CDLL(str(LIBRARY))
    names = ('b3InitStepSimulationCommand', 'b3ApplyExternalForce', 'b3GetLinkState')
    found = [symbol(file, name.encode()) for name in names]
    real = [ctypes.cast(getattr(loaded, name), ctypes.c_void_p).value for name in names]
    assert np.ptp(np.subtract(real, found)) == 0


def test_a_symbol_that_is_not_there_is_not_found():
    assert symbol(LIBRARY.read_bytes(), b'sPhysicsClients') is None
    assert symbol(b'MZ' + bytes(100), b'sPhysicsClients1') is None
