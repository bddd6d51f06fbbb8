"""The body over its feet, steering by what is seen, and gaits from a file; without physics."""

from dataclasses import replace
import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gait_core.errors import ConfigurationError
from gait_core.leg_ik import LegKinematics
from gait_core.observation import Imu, Observation
from gait_core.parameters import build
from gait_core.testing import legged_box
from gait_core.trial_spec import Command
from gait_cpg.controller import PhaseCpgController, PhaseCpgParams
from gait_cpg.gaits import read_gait
from gait_cpg.steering import Steering

DT = 0.02
BLIND = Observation(tick=0, time=0.0)
NOWHERE = (0.0, 0.0, 0.0)
BOX = legged_box(4, 3, roll=True)
ROBOT = replace(
    BOX, nominal_stance={n: (0.0, -0.5, 1.0)[i % 3] for i, n in enumerate(BOX.joint_names)}
)


def walker(**values):
    return PhaseCpgController(ROBOT, build(PhaseCpgParams, values))


def feet(positions):
    legs = [LegKinematics(ROBOT, leg.name) for leg in ROBOT.legs]
    columns = np.split(np.asarray(positions), len(legs))
    return np.array([leg.forward(q)[0] for leg, q in zip(legs, columns, strict=True)])


def after(one, seconds, velocity=NOWHERE, **set_points):
    """Return the feet (4, 3) at the end of some time, and the fastest joint on the way."""
    command = Command(velocity=velocity, set_points=set_points)
    targets = [one.step(DT, command, BLIND) for _ in range(round(seconds / DT))]
    return feet(targets[-1].position[-1]), max(np.abs(t.velocity).max() for t in targets)


STANDING, _ = after(walker(), 0.1)


def test_height_and_attitude_move_the_body_over_feet_that_stay():
    turned, _ = after(walker(), 2.0, height=-0.02, roll=0.05, pitch=-0.1, yaw=0.1)
    turn = Rotation.from_euler('xyz', [0.05, -0.1, 0.1])
    # In a frame that stands still the feet are where they were, 2 cm higher.
    wanted = turn.inv().apply(STANDING) + [0.0, 0.0, 0.02]
    np.testing.assert_allclose(turned, wanted, atol=2e-4)


def test_set_points_that_are_gone_give_the_stance_back():
    one = walker()
    after(one, 1.0, height=-0.02, yaw=0.1)
    np.testing.assert_allclose(after(one, 1.5)[0], STANDING, atol=1e-5)


def test_it_sits_down_stands_up_and_only_then_walks():
    one = walker()
    after(one, 1.0, (0.2, 0.0, 0.0))
    seated, fastest = after(one, 4.0, (0.2, 0.0, 0.0), sit=1.0)
    drop = seated[:, 2] - STANDING[:, 2]
    np.testing.assert_allclose(drop, one._posture.sit_drop, atol=1e-4)
    assert one._posture.sit_drop > 0.03
    # It sits, whatever the velocity.
    np.testing.assert_allclose(after(one, 0.5, (0.2, 0.0, 0.0), sit=1.0)[0], seated, atol=1e-6)
    assert fastest <= ROBOT.velocity_limit.min() + 1e-9
    np.testing.assert_allclose(after(one, 2.0)[0], STANDING, atol=1e-4)
    after(one, 1.0, (0.2, 0.0, 0.0))
    assert one.state()['amplitude'] > 0.9


def test_a_tape_with_set_points_equals_stepping():
    commands = [
        Command(velocity=(0.2, 0.0, 0.1), set_points={'height': -0.02 * (i > 5)})
        for i in range(20)
    ]
    tape = walker().tape(DT, commands)
    one = walker()
    stepped = [one.step(DT, command, BLIND).position for command in commands]
    np.testing.assert_array_equal(tape.position, stepped)


def seen(yaw, speed=None):
    quaternion = Rotation.from_euler('z', yaw).as_quat()
    if speed is None:
        imu = Imu(
            orientation=quaternion, angular_velocity=np.zeros(3), linear_acceleration=np.zeros(3)
        )
        return Observation(tick=0, time=0.0, imu=imu)
    c, s = math.cos(yaw), math.sin(yaw)
    return Observation(
        tick=0,
        time=0.0,
        body_poses=np.array([[0.0, 0.0, 0.3, *quaternion]]),
        body_twists=np.array([[speed * c, speed * s, 0.0, 0.0, 0.0, 0.0]]),
    )


def steered(observation, heading=0.5, speed=0.5, velocity=(0.3, 0.0, 0.0), ticks=100):
    one = Steering()
    one.corrected(DT, velocity, seen(0.0, 0.3), 0.4, heading, speed)
    for _ in range(ticks):
        corrected = one.corrected(DT, velocity, observation, 0.4, heading, speed)
    return corrected


def test_a_robot_that_points_left_is_turned_right_by_the_gain():
    assert steered(seen(0.1, 0.3))[2] == pytest.approx(-0.05, abs=1e-9)
    assert steered(seen(-0.1))[2] == pytest.approx(0.05, abs=1e-9)


def test_a_robot_that_is_too_slow_is_told_to_go_faster_within_bounds():
    assert steered(seen(0.4, 0.25), heading=0.0)[0] > 0.3
    # Half of the command and 5 cm/s more, however long it stands.
    assert steered(seen(0.0, 0.0), ticks=5000)[0] == pytest.approx(0.3 + 0.15 + 0.05)
    assert steered(seen(0.0, 0.3))[0] == pytest.approx(0.3)


def test_what_is_not_seen_is_not_corrected():
    assert steered(BLIND) == (0.3, 0.0, 0.0)
    assert steered(seen(0.1))[0] == 0.3
    assert steered(seen(0.3, 0.0), velocity=NOWHERE) == NOWHERE


def test_feedback_leaves_no_tape_and_needs_nothing():
    held = walker(heading_gain=0.6, speed_gain=0.6)
    assert held.tape(DT, [Command(velocity=(0.2, 0.0, 0.0))]) is None
    assert held.needs == frozenset()
    blind, plain = held, walker()
    command = Command(velocity=(0.2, 0.0, 0.0))
    for _ in range(50):
        a, b = blind.step(DT, command, BLIND), plain.step(DT, command, BLIND)
        np.testing.assert_array_equal(a.position, b.position)


def test_a_gait_of_ones_own_is_walked(tmp_path):
    names = [leg.name for leg in ROBOT.legs]
    lags = dict(zip(names, (0.0, 0.1, 0.5, 0.7), strict=True))
    text = f'duty_factor: 0.6\nlags: {lags}\n'.replace("'", '')
    (tmp_path / 'own.yaml').write_text(text, encoding='utf-8')
    one = walker(gait='own', gait_file=str(tmp_path / 'own.yaml'), frequency=2.5)
    after(one, 3.0, (0.2, 0.0, 0.0))
    down = []
    for _ in range(20):
        after(one, DT, (0.2, 0.0, 0.0))
        state = one.state()
        down.append([state[f'stance.{name}'] for name in names])
    behind = [state['phase'] - state[f'phase.{name}'] for name in names]
    np.testing.assert_allclose(np.mod(behind, 2.0 * math.pi) / (2.0 * math.pi),
                               list(lags.values()), atol=1e-3)  # fmt: skip
    # A cycle of 20 control periods meets the duty factor to one.
    np.testing.assert_allclose(np.mean(down, axis=0), 0.6, atol=0.05)


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('duty_factor: 1.5\nlags: {}\n', 'duty_factor is 1.5'),
        ('duty_factor: 0.5\nlag: {a: 0}\n', "did you mean 'lags'"),
        ('lags: {a: 0}\n', 'duty_factor'),
        ('duty_factor: 0.5\nlags: {fx: 0}\n', "unknown leg 'fx'"),
    ],
)
def test_a_gait_file_that_does_not_fit_is_named(tmp_path, text, message):
    (tmp_path / 'own.yaml').write_text(text, encoding='utf-8')
    with pytest.raises(ConfigurationError, match=message):
        read_gait(str(tmp_path / 'own.yaml')).of([leg.name for leg in ROBOT.legs])


def test_a_gait_of_ones_own_needs_its_file():
    with pytest.raises(ConfigurationError, match='needs a gait_file'):
        build(PhaseCpgParams, {'gait': 'own'})
