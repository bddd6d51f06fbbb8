# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The spider's body in both engines: it stands, its servos pull as told and push nothing else."""

import numpy as np
import pytest

from gait_core.kinematics.forward_kinematics import link_coms
from gait_core.kinematics.slider_crank import carriage_position
from gait_core.motion.observation import Observation
from gait_core.robot.load import load_robot
from gait_core.testing.free_bodies import applied_targets
from gait_core.testing.skips import need_engine
from gait_core.trial.parts import cached_engine
from gait_core.trial.setup import make_scene

pytestmark = pytest.mark.physics
SPIDER = load_robot('spider')
V_SERVOS = slice(16, 24)
KNEE = SPIDER.joint_index['fl_knee']


@pytest.fixture(scope='module', params=['mujoco', 'bullet'])
def name(request):
    """Return an engine that carries joints and force elements."""
    need_engine(request.param)
    return request.param


def run(name: str, ticks: int, position=SPIDER.stance, **scene) -> list[Observation]:
    """Return the states of some control periods under steady targets, the first included."""
    engine = cached_engine(name)
    seen = [engine.reset(make_scene('spider', {'engine': name, **scene}), 0)]
    for _ in range(ticks):
        seen.append(engine.step(applied_targets(SPIDER, position=position)))
    return seen


@pytest.fixture(scope='module')
def stand(name):
    """Stand on level ground for 10 s."""
    return run(name, 833)


def test_it_starts_with_the_lengths_of_its_spawn_pose(stand):
    # An engine that misreads the inertia of a leg turns its hip, and V becomes 0.275 m.
    lengths = stand[0].element_lengths
    assert lengths[:8] == pytest.approx(0.2936, abs=5e-4)
    assert lengths[8:] == pytest.approx(0.2158, abs=5e-4)


def test_it_settles_on_its_feet_without_creeping(stand):
    end = stand[-1].body_poses[0]
    assert end[2] == pytest.approx(0.23, abs=0.03)
    # The z axis of the base: 1 is upright.
    assert 1.0 - 2.0 * (end[3] ** 2 + end[4] ** 2) > 0.999
    later = np.array([seen.body_poses[0, :2] for seen in stand[83:]])
    assert np.linalg.norm(later - later[0], axis=1).max() < 0.02
    for seen in stand:
        assert np.all(seen.contacts.sole >= 0), 'something else than a leg touches the ground'


def test_standing_forces_are_those_of_the_springs(stand):
    seen = stand[-1]
    # At rest a servo bears its stiffness times how far it is from its set length.
    stretch = seen.element_lengths - SPIDER.stance[16:]
    assert seen.element_forces == pytest.approx(1100.0 * stretch, abs=0.5)
    constants = SPIDER.actuators['fl_knee'].constants
    place, slope = carriage_position(
        seen.joint_positions[KNEE], constants['crank'], constants['rod']
    )
    rest, _ = carriage_position(1.5, constants['crank'], constants['rod'])
    torque = -1500.0 * (place - rest) * slope
    assert seen.joint_efforts[KNEE] == pytest.approx(torque, abs=0.05)
    carried = seen.contacts.forces[:, 2].sum()
    assert carried == pytest.approx(9.81 * SPIDER.mass, rel=0.02)


def test_extending_the_v_servos_lifts_the_platform(name, stand):
    longer = SPIDER.stance.copy()
    longer[V_SERVOS] += 0.03
    lifted = run(name, 250, longer)[-1].body_poses[0, 2]
    assert lifted - stand[-1].body_poses[0, 2] > 0.02


def test_servos_push_the_robot_against_itself_alone(name):
    moved = SPIDER.stance.copy()
    moved[16:] += np.linspace(-0.04, 0.04, 12)
    moved[KNEE] += 0.3
    seen = run(name, 25, moved, gravity=[0.0, 0.0, 0.0], initial={'clearance': 2.0})
    joints = np.array([one.joint_positions for one in seen])
    bases = np.array([one.body_poses[0] for one in seen])
    masses = np.array([link.mass for link in SPIDER.links])
    com = link_coms(SPIDER, joints, bases[:, None]).transpose(0, 2, 1) @ masses / SPIDER.mass
    assert np.abs(joints - joints[0]).max() > 0.1, 'nothing moved'
    # The legs move by decimetres; what the middle of all masses does is the integrator's error.
    assert np.abs(com - com[0]).max() < 2e-4


def test_displaced_joints_come_back_and_lose_their_energy(name):
    start = {'fl_knee': 1.8, 'rr_knee': 1.2, 'fl_lift': 0.15, 'rl_yaw': 0.1}
    seen = run(
        name, 125, fixed_base=True, gravity=[0.0, 0.0, 0.0],
        initial={'clearance': 1.0, 'joint_positions': start},
    )  # fmt: skip
    for joint, value in start.items():
        column = SPIDER.joint_index[joint]
        goal = SPIDER.stance[column]
        assert abs(seen[-1].joint_positions[column] - goal) < 0.05 * abs(value - goal), joint
    speeds = [np.abs(one.joint_velocities).max() for one in (seen[2], seen[-1])]
    assert speeds[1] < 0.05 * speeds[0]
