# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Body pose over the feet, steering by measured motion, and gaits from a file; without physics."""

from dataclasses import replace
import math
import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gait_core.errors import ConfigurationError
from gait_core.kinematics.leg_ik import LegKinematics
from gait_core.motion.observation import Imu, Observation
from gait_core.parameters.declaration import make_parameters
from gait_core.testing.doubles import legged_box
from gait_core.trial.spec import Command
from gait_cpg.gaits import read_gait
from gait_cpg.phase_cpg.controller import PhaseCpgController
from gait_cpg.phase_cpg.parameters import PhaseCpgParams
from gait_cpg.steering import Steering

DT = 0.02
BLIND = Observation(tick=0, time=0.0)
NOWHERE = (0.0, 0.0, 0.0)
BOX = legged_box(4, 3, roll=True)
ROBOT = replace(
    BOX, nominal_stance={n: (0.0, -0.5, 1.0)[i % 3] for i, n in enumerate(BOX.joint_names)}
)


def walker(**values):
    return PhaseCpgController(ROBOT, make_parameters(PhaseCpgParams, values))


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
    one.correct_velocity(DT, velocity, seen(0.0, 0.3), 0.4, heading, speed)
    for _ in range(ticks):
        corrected = one.correct_velocity(DT, velocity, observation, 0.4, heading, speed)
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


def test_an_attitude_that_is_not_finite_steers_nothing():
    with pytest.raises(ConfigurationError, match='feedback of heading and speed is .*nan.*finite'):
        steered(seen(math.nan))


def test_a_velocity_beyond_the_bounds_is_walked_as_they_say():
    high = tuple(bound.high for bound in walker().velocity_limits)
    held, _ = after(walker(), 3.0, high)
    np.testing.assert_array_equal(after(walker(), 3.0, (100.0, 100.0, 100.0))[0], held)
    slower, _ = after(walker(), 3.0, (0.9 * high[0], high[1], high[2]))
    assert np.abs(slower - held).max() > 1e-3


def test_feedback_needs_nothing():
    held = walker(heading_gain=0.6, speed_gain=0.6)
    assert held.needs == frozenset()
    blind, plain = held, walker()
    command = Command(velocity=(0.2, 0.0, 0.0))
    for _ in range(50):
        a, b = blind.step(DT, command, BLIND), plain.step(DT, command, BLIND)
        np.testing.assert_array_equal(a.position, b.position)


LEGS = [leg.name for leg in ROBOT.legs]


def own_gait(folder, duty_factor, lags):
    """Write the file of a gait and return its path."""
    text = f'duty_factor: {duty_factor}\nlags: {dict(zip(LEGS, lags, strict=True))}\n'
    (folder / 'own.yaml').write_text(text.replace("'", ''), encoding='utf-8')
    return str(folder / 'own.yaml')


@pytest.mark.parametrize('each', [None, (0.6, 0.5, 0.75, 0.8)], ids=['alike', 'each its own'])
def test_a_gait_of_ones_own_is_walked(tmp_path, each):
    lags = (0.0, 0.1, 0.5, 0.7)
    duties = each or (0.6,) * 4
    given = dict(zip(LEGS, each, strict=True)) if each else 0.6
    one = walker(gait='own', gait_file=own_gait(tmp_path, given, lags), frequency=2.5)
    after(one, 3.0, (0.2, 0.0, 0.0))
    down, lifted = [], []
    for _ in range(20):
        places, _ = after(one, DT, (0.2, 0.0, 0.0))
        state = one.state()
        down.append([state[f'stance.{name}'] for name in LEGS])
        lifted.append(places[:, 2] > STANDING[:, 2] + 1e-4)
    behind = [state['phase'] - state[f'phase.{name}'] for name in LEGS]
    np.testing.assert_allclose(np.mod(behind, 2.0 * math.pi) / (2.0 * math.pi), lags, atol=1e-3)
    # A cycle of 20 control periods meets the duty factor to one, and so do the feet.
    np.testing.assert_allclose(np.mean(down, axis=0), duties, atol=0.05)
    np.testing.assert_allclose(np.mean(lifted, axis=0), 1.0 - np.array(duties), atol=0.1)


def test_one_gait_settles_into_another_of_other_duty_factors(tmp_path):
    each = dict(zip(LEGS, (0.6, 0.5, 0.75, 0.8), strict=True))
    own = own_gait(tmp_path, each, (0.0, 0.1, 0.5, 0.7))
    one = walker(gait='trot', frequency=2.0)
    after(one, 1.0, (0.2, 0.0, 0.0))
    fastest = []
    for values in ({'gait': 'own', 'gait_file': own}, {'gait': 'trot'}):
        one.set_params(make_parameters(PhaseCpgParams, {'frequency': 2.0, **values}))
        fastest.append(after(one, 3.0, (0.2, 0.0, 0.0))[1])
    assert max(fastest) < 1.5 * after(walker(gait='trot', frequency=2.0), 2.0, (0.2, 0.0, 0.0))[1]
    always = walker(gait='trot', frequency=2.0)
    after(always, 7.0, (0.2, 0.0, 0.0))
    shares = []
    for walk in (one, always):
        down = []
        for _ in range(25):
            after(walk, DT, (0.2, 0.0, 0.0))
            down.append([walk.state()[f'stance.{name}'] for name in LEGS])
        shares.append(np.mean(down, axis=0))
    np.testing.assert_allclose(*shares, atol=0.05)


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('duty_factor: 1.5\nlags: {}\n', 'duty_factor is 1.5, it must lie between 0 and 1'),
        ('duty_factor: 0.5\nlag: {a: 0}\n', "did you mean 'lags'"),
        ('lags: {a: 0}\n', 'own.yaml: duty_factor is missing'),
        ('duty_factor: 0.5\nlags: {LEGx: 0}\n', "unknown leg 'LEGx': did you mean 'LEG'"),
        ('duty_factor: 0.5\nlags: {LEG: 0}\n', 'lags: leg .* is missing; legs: LEG'),
        ('duty_factor: {LEG: 0.5}\nlags: ALL\n', 'duty_factor: leg .* is missing'),
        ('duty_factor: {LEG: 1.0}\nlags: ALL\n', 'duty_factor.LEG is 1, it must lie'),
        ('duty_factor: {LEGx: 0.5}\nlags: ALL\n', "duty_factor: unknown leg 'LEGx'"),
        ('duty_factor: 0.5\nlags: {LEG: 180}\n', 'lags.LEG is 180.* nearest valid: 1'),
        (
            'duty_factor: [0.5]\nlags: ALL\n',
            'line 1, column 1: duty_factor is .0.5., expected a number',
        ),
    ],
)
def test_a_gait_file_that_does_not_fit_is_named(tmp_path, text, message):
    every = '{' + ', '.join(f'{name}: 0' for name in LEGS) + '}'
    text = text.replace('ALL', every).replace('LEG', LEGS[0])
    (tmp_path / 'own.yaml').write_text(text, encoding='utf-8')
    with pytest.raises(ConfigurationError, match=message.replace('LEG', LEGS[0])) as error:
        read_gait(str(tmp_path / 'own.yaml')).lags_and_duty_factors(LEGS)
    assert re.search(r'own\.yaml(, line \d, column \d+)?: ', str(error.value)) and '\n' not in str(
        error.value
    )


def test_a_gait_of_ones_own_needs_its_file():
    with pytest.raises(ConfigurationError, match='needs a gait_file'):
        make_parameters(PhaseCpgParams, {'gait': 'own'})
