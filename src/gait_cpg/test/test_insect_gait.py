# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The insect gait: motor programs, leg states in time, what commands change."""

from dataclasses import replace

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.motion.observation import Imu, Observation
from gait_core.robot.load import load_robot
from gait_core.testing.doubles import legged_box
from gait_core.trial.spec import Command
from gait_cpg.insect.controller import STEP, InsectGaitController, InsectGaitParams
from gait_cpg.insect.motor_programs import MotorCommand, RestAngles

ROACH = load_robot('roach')
DT = 1.0 / 2400.0
LEGS = [leg.name for leg in ROACH.legs]
Z = np.zeros(len(ROACH.joint_names))
IMU = Imu(orientation=np.array([0, 0, 0, 1.0]), angular_velocity=Z[:3], linear_acceleration=Z[:3])
FORWARD = (0.06, 0.0, 0.0)


def walk(seconds: float, velocity=FORWARD, controller=None, **params):
    """Return rest angles (T, 6, 3) as left ones and leg states (T, 6) of a walk."""
    controller = controller or InsectGaitController(ROACH, InsectGaitParams(**params))
    side = np.array([1.0 if name[1] == 'l' else -1.0 for name in LEGS])
    angles, states = [], []
    for tick in range(round(seconds / DT)):
        seen = Observation(tick=tick, time=tick * DT, joint_positions=Z, joint_efforts=Z, imu=IMU)
        targets = controller.step(DT, Command(velocity=velocity), seen)
        angles.append(targets.position[0, :18].reshape(6, 3) * side[:, None])
        state = controller.state()
        states.append([state[f'state.{name}'] for name in LEGS])
    return np.array(angles), np.array(states)


def steps(states: np.ndarray) -> list[list[tuple[float, float]]]:
    """Return start and end [s] of every whole step of each leg."""
    found = []
    for column in (states == STEP).T:
        edges = np.diff(column.astype(int))
        begun, ended = np.flatnonzero(edges > 0) + 1, np.flatnonzero(edges < 0) + 1
        ended = ended[ended > begun[0]]
        found.append([(DT * a, DT * b) for a, b in zip(begun, ended, strict=False)])
    return found


def test_a_rest_angle_moves_at_a_constant_rate_to_its_target_and_holds():
    rest = RestAngles(np.zeros((1, 3)))
    rest.begin_program(
        0, (MotorCommand(1, 0.4, duration=0.5), MotorCommand(1, 0.1, 0.25, 0.75)), 0.1
    )
    seen = []
    for _ in range(300):
        rest.advance(DT)
        seen.append(rest.angles[0, 1])
        assert rest.rates[0, 1] * DT == pytest.approx(rest._end_angles[0, 1] - seen[-1], abs=1e-15)
    at = {share: seen[round(share * 0.1 / DT)] for share in (0.0, 0.25, 0.5, 0.74, 0.875, 1.0)}
    expected = {0.0: 0.0, 0.25: 0.2, 0.5: 0.4, 0.74: 0.4, 0.875: 0.25, 1.0: 0.1}
    assert at == pytest.approx(expected, abs=1e-9)
    assert seen[-1] == pytest.approx(0.1)


@pytest.mark.parametrize('scale', [1.0, 1.37, 2.0, 3.0, 5.0])
def test_a_step_lasts_50_ms_whatever_the_cycle(scale):
    _, states = walk(3.5 * 0.1 * scale, period_scale=scale)
    for leg in steps(states):
        assert len(leg) >= 2
        for begun, ended in leg:
            assert ended - begun == pytest.approx(0.05, abs=1.01 * DT)
        starts = [begun for begun, _ in leg]
        assert np.diff(starts) == pytest.approx(0.1 * scale, abs=1.01 * DT)


def test_at_the_top_two_tripods_alternate():
    _, states = walk(0.6)
    stepping = (states == STEP)[round(0.2 / DT) :]
    one = [name in ('bl', 'fl', 'mr') for name in LEGS]
    patterns = {tuple(row) for row in stepping}
    assert {tuple(one), tuple(not leg for leg in one)} <= patterns
    alternate = (stepping == one).all(axis=1) | (stepping == np.logical_not(one)).all(axis=1)
    # Only frames in which one tripod takes over from the other may differ.
    assert alternate.mean() > 0.98


@pytest.mark.parametrize('scale', [3.0, 5.0])
def test_in_the_wave_one_leg_steps_at_a_time_from_back_to_front(scale):
    _, states = walk(0.25 * scale, period_scale=scale)
    assert (states == STEP).sum(axis=1).max() == 1
    order = [LEGS[leg] for leg in np.argmax(states == STEP, axis=1)[(states == STEP).any(axis=1)]]
    excerpt = [name for i, name in enumerate(order) if i == 0 or order[i - 1] != name]
    start = excerpt.index('bl')
    wave = ['bl', 'ml', 'fl', 'br', 'mr', 'fr']
    assert excerpt[start : start + 6] == wave[: len(excerpt[start : start + 6])]


def test_the_rest_angles_pass_the_published_ends_of_step_and_stance():
    angles, states = walk(0.5)
    for leg, (reach, draw) in {
        'fl': (-0.7, -0.05),
        'mr': (-0.25, 0.25),
        'bl': (-0.1, 0.3),
    }.items():
        coxa = angles[round(0.2 / DT) :, LEGS.index(leg), 0]
        assert (coxa.min(), coxa.max()) == pytest.approx((reach, draw), abs=0.01)
    assert angles[:, LEGS.index('br'), 1].max() == pytest.approx(1.0, abs=0.01)


def test_a_changed_period_scale_settles_without_a_lost_or_doubled_step():
    controller = InsectGaitController(ROACH, InsectGaitParams(period_scale=5.0))
    states = [walk(1.0, controller=controller)[1]]
    controller.set_params(replace(controller.params, period_scale=1.0))
    states.append(walk(1.5, controller=controller)[1])
    assert controller.state()['period_scale'] == 1.0
    for leg in steps(np.concatenate(states)):
        starts = np.array([begun for begun, _ in leg])
        gaps = np.diff(starts)
        # The delay between neighbours takes a growing share of the cycle: phases gain a little.
        assert gaps.min() > 0.08
        # Cycles shorten from 0.5 s to 0.1 s: a lost step would make one as long as two.
        assert (gaps[1:] / gaps[:-1]).max() < 1.4


@pytest.mark.parametrize(('speed', 'scale'), [(0.06, 1.0), (0.04, 1.5), (0.02, 3.0)])
def test_a_slower_command_makes_the_cycle_longer(speed, scale):
    controller = InsectGaitController(ROACH, InsectGaitParams(top_speed=0.06, period_rate=100.0))
    walk(0.1, velocity=(speed, 0.0, 0.0), controller=controller)
    assert controller.state()['period_scale'] == pytest.approx(scale)


@pytest.mark.parametrize(('scale', 'shift'), [(1.0, 0.0), (1.15, 0.3), (1.6, 0.6), (3.0, 0.0)])
def test_back_legs_swing_farther_back_between_tripod_and_wave(scale, shift):
    angles, _ = walk(2.2 * 0.1 * scale, period_scale=scale, heading_gain=0.0)
    walked = angles[round(0.12 * scale / DT) :, 4, 0]
    assert (walked.min(), walked.max()) == pytest.approx((shift - 0.1, shift + 0.3), abs=2e-3)


def test_soles_are_told_to_let_go_while_their_legs_step():
    controller = InsectGaitController(ROACH, InsectGaitParams())
    feet = [leg.joints[-1] for leg in ROACH.legs]
    seen = Observation(tick=0, time=0.0, joint_positions=Z, joint_efforts=Z, imu=IMU)
    told = []
    for _ in range(240):
        targets = controller.step(DT, Command(velocity=FORWARD), seen)
        effort = dict(zip(targets.names, targets.effort[0], strict=True))
        told.append([effort[foot] < 0.0 for foot in feet])
        steps_now = [controller.state()[f'state.{name}'] == STEP for name in LEGS]
        assert told[-1] == steps_now
    assert np.ptp(np.array(told).astype(int), axis=0).all()


def test_without_a_command_it_stands():
    still, states = walk(0.5, velocity=(0.0, 0.0, 0.0))
    assert np.ptp(still, axis=0).max() == 0.0
    assert states.max() == 0


def test_a_turn_shortens_the_strides_of_its_side():
    left, _ = walk(0.6, velocity=(0.06, 0.0, 1.0), turn_gain=0.3, heading_gain=0.0)
    straight, _ = walk(0.6)
    ratio = np.ptp(left[round(0.3 / DT) :, :, 0], axis=0) / np.ptp(
        straight[round(0.3 / DT) :, :, 0], axis=0
    )
    side = np.array([name[1] == 'l' for name in LEGS])
    assert ratio[side] == pytest.approx(0.7, abs=0.02)
    assert ratio[~side] == pytest.approx(1.3, abs=0.02)


def test_shorter_cycles_than_the_tripods_and_other_robots_are_refused():
    with pytest.raises(ConfigurationError, match='nearest valid: 1'):
        InsectGaitParams(period_scale=0.9)
    with pytest.raises(ConfigurationError, match='needs 6 legs'):
        InsectGaitController(legged_box(4, 3), InsectGaitParams())


def test_thresholds_of_reflexes_lie_a_margin_beyond_what_a_watched_walk_reached():
    controller = InsectGaitController(ROACH, InsectGaitParams())
    controller.record_ranges()
    walk(0.3, controller=controller)
    # Legs that never move: coxae at zero all the time, so that the range of angles is empty; each
    # lags by how far its step swings its rest angle forward, and no foot touches the ground.
    felt, beyond = controller.thresholds(0.0), controller.thresholds(0.5)
    assert felt['front_held'] == pytest.approx(0.7, abs=0.02)
    assert felt['middle_held'] == pytest.approx(0.25, abs=0.02)
    assert beyond['middle_held'] == pytest.approx(1.5 * felt['middle_held'])
    assert (felt['back_step_angle'], beyond['back_step_angle']) == (0.0, 0.0)
    assert felt['front_groundless'] == pytest.approx(0.1, abs=0.06)
    assert felt['middle_load'] == 0.0
