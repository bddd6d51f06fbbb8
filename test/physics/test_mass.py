# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""A robot that is heavier by a factor weighs that much more on the ground."""

import numpy as np
import pytest

from gait_core.robot.load import load_robot
from gait_core.testing.skips import need_engine
from gait_core.trial.loop import run_loop
from gait_core.trial.setup import make_scene
from gait_core.trial.spec import TrialSpec

pytestmark = pytest.mark.physics


@pytest.mark.parametrize('engine', ['bullet', 'mujoco'])
def test_the_ground_carries_the_weight_that_the_seed_drew(engine):
    need_engine(engine)
    spec = TrialSpec(
        scene=make_scene('guroo', {'engine': engine}),
        controller='hold',
        duration=0.4,
        settle_time=0.4,
        randomise={'mass': (1.15, 1.25)},
    )
    rollout = run_loop(spec).rollout()
    factor = rollout.spec.scene.mass_factor
    assert 1.15 <= factor <= 1.25
    mass = load_robot('guroo').mass
    assert rollout.robot.mass == pytest.approx(factor * mass)
    carried = rollout.contacts.forces[:, 2].sum() / (rollout.ticks + 1)
    # It still sways a little after settling.
    assert carried == pytest.approx(factor * mass * 9.81, rel=0.03)
    assert np.isfinite(rollout.body_poses).all()
