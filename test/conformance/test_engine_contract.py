# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every registered engine is made and used as the contract of ``gait.engines`` says."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from gait_core import registry
from gait_core.errors import ConfigurationError, ProtocolError
from gait_core.robot.load import load_robot
from gait_core.testing.doubles import legged_box
from gait_core.testing.free_bodies import applied_targets
from gait_core.testing.skips import need_engine
from gait_core.trial.scene import Scene

pytestmark = pytest.mark.physics
TICKS = 3


@pytest.fixture(params=registry.names('engines'))
def name(request):
    """Name each engine in turn; one whose library is absent is skipped by name."""
    need_engine(request.param)
    return request.param


def scene_of(robot, name):
    scene = Scene(robot=robot.name, engine=name)
    step = robot.defaults.get('scene', {}).get('physics_step', scene.physics_step)
    return replace(scene, physics_step=step)


@cache
def suited(name):
    """Return a legged robot, or one of free bodies that an engine simulates, and its scene."""
    refusals = []
    for robot in (legged_box(4, 3), load_robot('tetraspine')):
        scene = scene_of(robot, name)
        engine = registry.engine(name)(lambda known, draw, robot=robot: robot)
        try:
            engine.reset(scene, 0)
        except ConfigurationError as error:
            refusals.append(str(error))
        else:
            return robot, scene
        finally:
            engine.close()
    raise AssertionError(f'no robot suits the engine {name}: {refusals}')


def run(name, settle=0):
    robot, scene = suited(name)
    engine = registry.engine(name)(lambda known, draw: robot)
    try:
        seen = [engine.reset(scene, 3, settle_ticks=settle)]
        seen += [engine.step(applied_targets(robot)) for _ in range(TICKS)]
        assert engine.robot.name == robot.name
    finally:
        engine.close()
    return seen


def test_its_states_are_of_the_robot_and_count_the_periods(name):
    (robot, scene), seen = suited(name), run(name, settle=2)
    assert [one.tick for one in seen] == list(range(TICKS + 1))
    times = [tick * scene.control_period for tick in range(TICKS + 1)]
    assert [one.time for one in seen] == pytest.approx(times)
    for one in seen:
        assert one.joint_names == robot.joint_names
        assert one.body_names == robot.roots
        assert one.body_poses.shape == (len(robot.roots), 7)
        assert one.body_twists.shape == (len(robot.roots), 6)
        assert np.isfinite(one.body_poses).all()
        assert one.contacts.soles == robot.soles


def test_another_engine_of_the_kind_gives_equal_states(name):
    for one, other in zip(run(name), run(name), strict=True):
        np.testing.assert_array_equal(one.body_poses, other.body_poses)
        np.testing.assert_array_equal(one.body_twists, other.body_twists)


def test_it_says_what_it_carries_and_needs_no_source_of_robots(name):
    cls = registry.engine(name)
    assert cls.supported_features and all(
        isinstance(feature, str) for feature in cls.supported_features
    )
    engine = cls()
    with pytest.raises(ProtocolError):
        engine.step(applied_targets(legged_box(4, 3)))
    engine.close()
    with pytest.raises(ProtocolError):
        engine.reset(Scene(robot='x', engine=name), 0)
