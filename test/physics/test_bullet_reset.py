# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Client, settings and files of the bullet engine do not outlive a reset."""

from dataclasses import replace
import tempfile

import numpy as np
import pytest

from gait_core.errors import ConfigurationError, SimulationDiverged
from gait_core.testing.doubles import legged_box
from gait_core.testing.free_bodies import applied_targets, one_joint_robot, step_through
from gait_core.testing.skips import need_engine
from gait_core.trial.scene import Scene

need_engine('bullet')
from sim_bridge.engines.bullet.client import pb
from sim_bridge.engines.bullet.engine import BulletEngine

pytestmark = pytest.mark.physics
ROBOTS = {'quadruped': legged_box(4, 3), 'hinge': one_joint_robot()}
SCENE = Scene(robot='quadruped', physics_step=0.002)


@pytest.fixture
def engine():
    engine = BulletEngine(lambda name, draw: ROBOTS[name])
    yield engine
    engine.close()


def trial(engine: BulletEngine) -> np.ndarray:
    engine.reset(SCENE, 0, settle_ticks=3)
    rows = [
        applied_targets(
            engine.robot, engine.robot.stance + 0.3 * np.sin(0.4 * tick + np.arange(12))
        )
        for tick in range(25)
    ]
    return np.array([seen.joint_positions for seen in step_through(engine, rows)])


def poison(engine: BulletEngine) -> None:
    """Put a NaN into a robot that stands on its feet, and let it spread."""
    engine.reset(SCENE, 0, settle_ticks=3)
    world = engine._world
    pb.resetBaseVelocity(world.body, [np.nan] * 3, [np.nan] * 3, physicsClientId=world.client)
    with pytest.raises(SimulationDiverged):
        engine.step(applied_targets(engine.robot))
    for _ in range(20):
        pb.stepSimulation(world.client)


def test_neither_a_nan_nor_another_solver_outlives_a_reset(engine):
    first = trial(engine)
    other = replace(SCENE, engine_options={'solver_iterations': 3, 'erp': 0.9})
    for history in (lambda: poison(engine), lambda: engine.reset(other, 0, settle_ticks=3)):
        history()
        np.testing.assert_array_equal(trial(engine), first)


def test_a_client_holds_robot_and_ground_alone(engine):
    for _ in range(20):
        engine.reset(SCENE, 0)
    assert pb.getNumBodies(engine._world.client) == 2


def test_no_file_is_left_behind_and_a_full_disk_is_named(engine, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, 'tempdir', str(tmp_path))
    for robot in ROBOTS:
        engine.reset(Scene(robot=robot), 0)
        assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(tempfile, 'tempdir', str(tmp_path / 'gone'))
    with pytest.raises(ConfigurationError, match='TMPDIR'):
        engine.reset(Scene(robot='hinge'), 0)


@pytest.mark.parametrize(
    ('options', 'named'),
    [
        ({'solver_iteration': 50}, "did you mean 'solver_iterations'"),
        ({'solver_iterations': 0}, 'nearest valid: 1'),
    ],
)
def test_an_option_that_it_does_not_have_is_refused_with_the_nearest(engine, options, named):
    with pytest.raises(ConfigurationError, match=named):
        engine.reset(Scene(robot='hinge', engine_options=options), 0)
