# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Scenes of `gait bench` have contacts; a reset takes a small share of a short trial."""

import importlib
import time

import numpy as np
import pytest

from gait_core import registry
from gait_core.measures.metrics import trial_stances
from gait_core.testing.skips import need_engine, need_robot
from gait_core.trial.loop import run_trial
from gait_core.trial.setup import DEFAULT_ENGINES, default_trial
from sim_bridge.engines.shared.trial_benchmark import BOX_SHAPES, squatting_box_trial

pytestmark = pytest.mark.physics

# An engine's library may be missing, so that its script is imported by the test.
BARE_TRIALS = {
    'bullet': 'sim_bridge.engines.bullet.benchmark',
    'mujoco': 'sim_bridge.engines.mujoco.bare_trial',
}


@pytest.mark.parametrize(('legs', 'joints'), BOX_SHAPES)
@pytest.mark.parametrize('engine', DEFAULT_ENGINES)
def test_a_generated_robot_squats_on_all_its_feet(engine, legs, joints):
    need_engine(engine)
    bare_trial = importlib.import_module(BARE_TRIALS[engine]).bare_trial
    tape = squatting_box_trial(engine, legs, joints, seconds=1.0)
    loop = tape.run()
    tape.engine.close()
    assert loop.status == 'ok'
    assert len(tape.robot.joint_names) == legs * joints
    assert tape.physics_steps == 500
    rollout = loop.rollout()
    # It is let down within 0.1 s and then stands on every foot, whatever its joints do.
    assert trial_stances(rollout)[0][5:].all()
    assert np.ptp(rollout.states.joint_positions, axis=0).min() > 0.15
    assert np.ptp(rollout.states.body_poses[:, 0, 2]) > 0.02
    assert np.abs(rollout.states.body_poses[-1, 0, :2]).max() < 0.005
    # The bare calls do the same work, to the last bit.
    _, last = bare_trial(tape.robot, tape.spec.scene, tape.applied_targets())
    assert last == tuple(rollout.states.joint_positions[-1].tolist())


@pytest.mark.parametrize('name', DEFAULT_ENGINES)
def test_a_reset_takes_less_than_a_tenth_of_a_trial_of_5_s(name):
    need_engine(name)
    need_robot('a1')
    engine = registry.load('engines', name)()
    spec = default_trial('a1', 5.0, {'engine': name})
    run_trial(spec, engine)
    least = {'reset': np.inf, 'trial': np.inf}
    for _ in range(3):
        for what, call in (
            ('reset', lambda: engine.reset(spec.scene, 0)),
            ('trial', lambda: run_trial(spec, engine)),
        ):
            began = time.process_time()
            call()
            least[what] = min(least[what], time.process_time() - began)
    engine.close()
    assert least['reset'] < 0.1 * least['trial']
