# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every gait of the table carries the a1, in every direction; one may follow another."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gait_core.kinematics.forward_kinematics import link_poses
from gait_core.measures.gait_diagram import gait_diagram
from gait_core.motion.observation import Observation
from gait_core.parameters.declaration import make_parameters
from gait_core.robot.load import load_robot
from gait_core.testing.skips import need_engine, need_robot
from gait_core.trial import setup as trial_setup
from gait_core.trial.loop import run_loop
from gait_core.trial.robot_gait import resolve_gait
from gait_core.trial.spec import OK, Command, TrialSpec
from gait_cpg.phase_cpg.controller import PhaseCpgController
from gait_cpg.phase_cpg.parameters import PhaseCpgParams

need_engine('mujoco')
need_robot('a1')
pytestmark = pytest.mark.physics

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
        parameters=resolve_gait(load_robot('a1'), 'phase_cpg', preset).parameters,
        script=trial_setup.constant_script(velocity),
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


def test_on_an_incline_of_ten_degrees_its_body_is_levelled():
    pitch, cost = {}, {}
    for level in (0.0, 1.0):
        hill = {'angle_deg': 10.0, 'start': -5.0, 'extent': 16.0, 'cell': 0.2}
        terrain = {'name': 'slope', 'parameters': hill}
        spec = TrialSpec(
            scene=trial_setup.make_scene('a1', {'engine': 'mujoco', 'terrain': terrain}),
            controller='phase_cpg',
            parameters=resolve_gait(
                load_robot('a1'),
                'phase_cpg',
                'trot',
                # Steps as high as those of its own trot touch the slope before they end.
                {'level': level, 'stride_height': 0.05},
            ).parameters,
            script=trial_setup.constant_script((0.3, 0.0, 0.0)),
            duration=8.0,
        )
        loop = run_loop(spec)
        assert loop.status == OK, loop.reason
        poses = loop.rollout().body_poses[round(4.0 / loop.dt) :, 0]
        pitch[level] = Rotation.from_quat(poses[:, 3:]).as_euler('ZYX', degrees=True)[:, 1].mean()
        cost[level] = loop.result().metrics['cost_of_transport']
        way = np.linalg.norm(poses[-1, :2] - poses[0, :2]) / ((len(poses) - 1) * loop.dt)
        assert way == pytest.approx(0.3, rel=0.1)
    # Nose up is negative.
    assert pitch[0.0] < -9.0 and abs(pitch[1.0]) < 2.0
    assert cost[1.0] < 0.9 * cost[0.0]


LEGS = ('fl', 'fr', 'rl', 'rr')
DUTY = {'fl': 0.8, 'fr': 0.75, 'rl': 0.88, 'rr': 0.82}
LAGS = {'fl': 0.3, 'fr': 0.75, 'rl': 0.0, 'rr': 0.5}
LIFTED = 0.004
"""Height [m] of a toe that is off the ground: the lift leaves it late and reaches it early."""


def test_duty_factor_and_phase_of_each_leg_are_those_of_the_file(tmp_path):
    table = f'duty_factor: {DUTY}\nlags: {LAGS}\n'.replace("'", '')
    (tmp_path / 'own.yaml').write_text(table, encoding='utf-8')
    own = {'gait': 'own', 'gait_file': str(tmp_path / 'own.yaml'), 'frequency': 0.6}
    spec = TrialSpec(
        scene=trial_setup.make_scene('a1', {'engine': 'mujoco'}),
        controller='phase_cpg',
        parameters=resolve_gait(load_robot('a1'), 'phase_cpg', 'crawl', own).parameters,
        script=trial_setup.constant_script((0.1, 0.0, 0.0)),
        duration=12.0,
    )
    loop = run_loop(spec)
    assert loop.status == OK, loop.reason
    rollout, robot = loop.rollout(), loop.robot
    poses = link_poses(robot, rollout.joint_positions, rollout.body_poses[:, 0])
    soles = [robot.link_index[robot.leg(name).sole] for name in LEGS]
    heights = poses[round(2.0 / loop.dt) :, soles, 2, 3]
    # Forces would tell less: a rigid body on four feet rests on three of them.
    down = heights < heights.min(axis=0) + LIFTED
    seen = gait_diagram(LEGS, down, np.zeros(len(LEGS), dtype=np.int64), loop.dt)
    for leg in LEGS:
        assert seen.stride_frequency[leg] == pytest.approx(0.6, rel=0.02)
        assert seen.duty_factor[leg] == pytest.approx(DUTY[leg], abs=0.05)
        # A foot lands when it has swung.
        lag = LAGS[leg] - DUTY[leg] - (LAGS['fl'] - DUTY['fl'])
        away = seen.phase_lag[leg] / (2.0 * np.pi) - lag
        assert (away + 0.5) % 1.0 - 0.5 == pytest.approx(0.0, abs=0.03)
    assert [seen.duty_factor[leg] for leg in sorted(DUTY, key=DUTY.get)] == sorted(
        seen.duty_factor.values()
    )


def test_one_gait_follows_another_without_a_jump():
    robot = load_robot('a1')
    walker = PhaseCpgController(robot, make_parameters(PhaseCpgParams, {'gait': 'trot'}))
    command, blind = Command(velocity=(0.2, 0.0, 0.0)), Observation(tick=0, time=0.0)
    last, fastest = None, {}
    for name in ('trot', 'pace', 'bound', 'walk', 'trot'):
        walker.set_params(make_parameters(PhaseCpgParams, {'gait': name}))
        for _ in range(150):
            targets = walker.step(0.02, command, blind)
            if last is not None:
                # From one sub-sample of 4 ms to the next no joint moves faster than it says.
                moved = np.abs(targets.position[0] - last) / 0.004
                assert np.all(moved <= np.abs(targets.velocity[0]) + 1e-9)
            last = targets.position[-1]
            fastest[name] = max(fastest.get(name, 0.0), np.abs(targets.velocity).max())
    assert max(fastest.values()) < 1.5 * fastest['trot']
