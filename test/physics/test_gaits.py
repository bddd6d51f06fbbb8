"""Every gait of the table carries the a1, in every direction; one may follow another."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gait_core import trial_setup
from gait_core.observation import Observation
from gait_core.parameters import build
from gait_core.robot.load import load_robot
from gait_core.testing_skips import need_engine, need_robot
from gait_core.trial import run_loop
from gait_core.trial_spec import OK, Command, TrialSpec
from gait_cpg.controller import PhaseCpgController, PhaseCpgParams

need_engine('mujoco')
need_robot('a1')
pytestmark = pytest.mark.physics

HELD = {'heading_gain': 0.6, 'speed_gain': 0.6}
SLOW = ('walk', 'crawl', 'ripple', 'wave')
CASES = [
    *((name, (0.15 if name in SLOW else 0.3, 0.0, 0.0)) for name in PhaseCpgController.presets),
    ('trot', (-0.3, 0.0, 0.0)),
    ('trot', (0.0, 0.15, 0.0)),
    ('trot', (0.0, 0.0, 0.5)),
    ('trot', (0.2, 0.1, 0.3)),
]


@pytest.mark.parametrize(('preset', 'velocity'), CASES)
def test_it_goes_as_it_is_told(preset, velocity):
    spec = TrialSpec(
        scene=trial_setup.make_scene('a1', {'engine': 'mujoco'}),
        controller='phase_cpg',
        parameters=trial_setup.controller_parameters('phase_cpg', preset, HELD),
        script=trial_setup.steady(velocity),
        duration=6.0,
    )
    loop = run_loop(spec)
    assert loop.status == OK, loop.reason
    poses = loop.rollout().body_poses[round(2.0 / loop.dt) :, 0]
    turns = Rotation.from_quat(poses[:, 3:])
    steps = turns[:-1].inv().apply(np.diff(poses[:, :3], axis=0)).sum(axis=0)[:2]
    yaw = np.unwrap(turns.as_euler('ZYX')[:, 0])
    went = np.array([*steps, yaw[-1] - yaw[0]]) / ((len(poses) - 1) * loop.dt)
    np.testing.assert_allclose(went, velocity, rtol=0.1, atol=0.02)


def test_one_gait_follows_another_without_a_jump():
    robot = load_robot('a1')
    walker = PhaseCpgController(robot, build(PhaseCpgParams, {'gait': 'trot'}))
    command, blind = Command(velocity=(0.2, 0.0, 0.0)), Observation(tick=0, time=0.0)
    last, fastest = None, {}
    for name in ('trot', 'pace', 'bound', 'walk', 'trot'):
        walker.set_params(build(PhaseCpgParams, {'gait': name}))
        for _ in range(150):
            targets = walker.step(0.02, command, blind)
            if last is not None:
                # From one sub-sample of 4 ms to the next no joint moves faster than it says.
                moved = np.abs(targets.position[0] - last) / 0.004
                assert np.all(moved <= np.abs(targets.velocity[0]) + 1e-9)
            last = targets.position[-1]
            fastest[name] = max(fastest.get(name, 0.0), np.abs(targets.velocity).max())
    assert max(fastest.values()) < 1.5 * fastest['trot']
