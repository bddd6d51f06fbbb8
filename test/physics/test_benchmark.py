"""What `gait bench` steps with 16 and 32 joints is physics with contacts, bare and in a trial."""

import importlib

import numpy as np
import pytest

from gait_core.testing_skips import need_engine
from gait_core.trial_setup import DEFAULT_ENGINES
from sim_bridge.engines.trial_benchmark import BOXES, box_tape

pytestmark = pytest.mark.physics


@pytest.mark.parametrize(('legs', 'joints'), BOXES)
@pytest.mark.parametrize('engine', DEFAULT_ENGINES)
def test_a_generated_robot_squats_on_all_its_feet(engine, legs, joints):
    need_engine(engine)
    bare_trial = importlib.import_module(f'sim_bridge.engines.{engine}_bare').bare_trial
    tape = box_tape(engine, legs, joints, seconds=1.0)
    loop = tape.run()
    tape.engine.close()
    assert loop.status == 'ok'
    assert len(tape.robot.joint_names) == legs * joints
    assert tape.steps == 500
    rollout = loop.rollout()
    # It is let down within 0.1 s and then stands on every foot, whatever its joints do.
    assert rollout.stance()[5:].all()
    assert np.ptp(rollout.joint_positions, axis=0).min() > 0.15
    assert np.ptp(rollout.body_poses[:, 0, 2]) > 0.02
    assert np.abs(rollout.body_poses[-1, 0, :2]).max() < 0.005
    # The bare calls do the same work, to the last bit.
    _, last = bare_trial(tape.robot, tape.spec.scene, tape.applied())
    assert last == tuple(rollout.joint_positions[-1].tolist())
