# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The bare script that the engine's overhead is measured against does the same work."""

from dataclasses import replace

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.testing.doubles import legged_box
from gait_core.testing.free_bodies import applied_targets, one_joint_robot, step_through
from gait_core.testing.skips import need_engine
from gait_core.trial.scene import Push, Scene, TerrainSpec

need_engine('bullet')
from sim_bridge.engines.bullet.benchmark import bare_trial
from sim_bridge.engines.bullet.engine import BulletEngine

pytestmark = pytest.mark.physics


@pytest.mark.parametrize(('samples', 'sum_work'), [(1, 1), (5, 0)])
def test_it_ends_in_the_state_of_the_engine_to_the_last_bit(samples, sum_work):
    options = {'solver_iterations': 40, 'sum_work': sum_work}
    robot, scene = (
        legged_box(4, 3),
        Scene(robot='x', physics_step=0.002, engine_options=options),
    )
    tape = [
        applied_targets(robot, robot.stance + 0.2 * np.sin(0.3 * tick + part + np.arange(12)))
        for tick in range(40)
        for part in [np.linspace(0.0, 0.3, samples, endpoint=False)[:, None]]
    ]
    seconds, bare = bare_trial(robot, scene, tape)
    engine = BulletEngine(lambda name, draw: robot)
    engine.reset(scene, 0)
    end = step_through(engine, tape)[-1]
    engine.close()
    assert seconds > 0.0
    assert bare == tuple(end.joint_positions.tolist())


@pytest.mark.parametrize(
    ('robot', 'fields'),
    [
        (one_joint_robot('pd', {'stiffness': 1.0, 'damping': 1.0}), {}),
        (legged_box(), {'terrain': TerrainSpec(name='rough')}),
        (legged_box(), {'pushes': (Push(start=0.0, duration=1.0, force=(1.0, 0.0, 0.0)),)}),
        (legged_box(), {'engine_options': {'self_collision': 1}}),
    ],
)
def test_what_it_does_not_know_is_refused(robot, fields):
    scene = replace(Scene(robot='x'), **fields)
    with pytest.raises(ConfigurationError, match='the comparison without the suite needs'):
        bare_trial(robot, scene, [applied_targets(robot)])
