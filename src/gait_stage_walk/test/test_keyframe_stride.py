# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The controller of keyframe strides: start, rhythm, commands, changes and refusals."""

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.motion.observation import Observation
from gait_core.parameters.declaration import make_parameters
from gait_core.robot.load import load_robot
from gait_core.trial.spec import Command
from gait_stage_walk.strides.controller import TRIPODS, KeyframeStrideController
from gait_stage_walk.strides.cycle import StrideRhythm
from gait_stage_walk.strides.leg import feet_from_joints
from gait_stage_walk.strides.parameters import KeyframeStrideParams

HEXAPOD = load_robot('hexapod')
DT = 0.02
GENES = np.tile([[45, 45, 9, 9], [75, 30, 9, 9], [105, 30, 9, 9], [80, 70, 7, 7]], (1, 3)).ravel()
SOMETHING = Observation(tick=0, time=0.0)


def made(**values):
    return KeyframeStrideController(HEXAPOD, make_parameters(KeyframeStrideParams, values))


def played(controller, seconds, speed=0.0, seen=SOMETHING):
    """Return the joints, (T, 6, 4), legs as in TRIPODS, one row per sub-sample."""
    command = Command(velocity=(speed, 0.0, 0.0))
    given = [controller.step(DT, command, seen) for _ in range(round(seconds / DT))]
    return np.concatenate([targets.position for targets in given]).reshape(-1, 6, 4)


def test_second_tripod_does_the_same_two_phases_later():
    controller = made(postures=GENES, period=4.0)
    played(controller, 2.0)
    joints = played(controller, 6.0)
    later = round(2.0 / DT) * controller.params.samples
    np.testing.assert_allclose(joints[:-later, 3:], joints[later:, :3], atol=1e-9)


@pytest.mark.parametrize('values', [{}, {'extension': 1.0}, {'postures': GENES, 'period': 4.0}])
def test_start_and_walk_have_no_jump(values):
    controller = made(**values)
    joints = played(controller, 6.0)
    part = DT / controller.params.samples
    stance = HEXAPOD.stance[[HEXAPOD.joint_index[name] for name in controller._names]]
    assert np.abs(joints[0] - stance.reshape(6, 4)).max() < 1e-4
    rates = np.diff(joints, axis=0) / part
    # Knees accelerate at up to 64 rad/s^2, which changes the rate of a part of 4 ms by 0.26 rad/s;
    # a step of a target by 0.001 rad would change it by 0.25 rad/s twice.
    assert np.abs(np.diff(rates, axis=0)).max() < 0.27


def test_velocities_are_those_of_the_positions():
    controller = made()
    first, second = (controller.step(DT, Command(), SOMETHING) for _ in range(2))
    before = first.position[-1]
    np.testing.assert_allclose(
        before + np.cumsum(second.velocity, axis=0) * DT / controller.params.samples,
        second.position,
        atol=1e-12,
    )


def test_start_is_where_the_joints_are():
    seen = Observation(tick=0, time=0.0, joint_positions=HEXAPOD.stance + 0.005)
    controller = made()
    joints = played(controller, DT, seen=seen)
    columns = [HEXAPOD.joint_index[name] for name in controller._names]
    np.testing.assert_allclose(joints[0].ravel(), (HEXAPOD.stance + 0.005)[columns], atol=1e-4)


@pytest.mark.parametrize('speed', [0.03, 0.1, -0.06])
def test_feet_move_at_the_commanded_speed(speed):
    controller = made(follow_velocity=True)
    played(controller, 4.0, speed)
    joints = played(controller, 6.0, speed)
    held = feet_from_joints(joints)[..., 0] - 0.01 * (joints[..., 0] + joints[..., 1])
    moved = np.diff(held, axis=0) / (DT / controller.params.samples)
    depth = feet_from_joints(joints)[1:, :, 1]
    standing = depth > 0.165 - 1e-9
    assert standing.any(axis=1).all()
    np.testing.assert_allclose(moved[standing], -speed, atol=1e-4)


def test_speed_is_bounded_by_the_fastest_rhythm():
    controller = made(follow_velocity=True, fastest=1.2)
    played(controller, 5.0, 1.0)
    assert controller.state()['rate'] == pytest.approx(1.2)


@pytest.mark.parametrize('after', [3.0, 3.4, 3.9, 4.3])
@pytest.mark.parametrize('speed', [0.08, -0.08])
def test_it_stops_on_all_feet_and_walks_again(speed, after):
    controller = made(follow_velocity=True)
    played(controller, after, speed)
    assert abs(controller.state()['rate']) > 0.5
    joints = played(controller, 3.0)
    rates = np.diff(joints, axis=0) / (DT / controller.params.samples)
    assert np.abs(np.diff(rates, axis=0)).max() < 0.27
    assert np.ptp(joints[-20:], axis=0).max() == 0.0
    np.testing.assert_allclose(feet_from_joints(joints[-1])[:, 1], 0.165, atol=1e-9)
    assert all(controller.state()[f'stance.{leg}'] == 1.0 for legs in TRIPODS for leg in legs)
    played(controller, 1.0, speed)
    assert abs(controller.state()['rate']) > 0.5


def test_set_point_stops_too():
    controller = made()
    played(controller, 3.0)
    for _ in range(150):
        controller.step(DT, Command(set_points={'stop': 1.0}), SOMETHING)
    assert controller.state()['rate'] == 0.0


def test_another_stride_is_gone_over_to_without_a_jump():
    controller = made()
    before = played(controller, 3.3)
    controller.set_params(
        make_parameters(KeyframeStrideParams, {'height': 0.158, 'extension': 1.0})
    )
    after = played(controller, 2.0)
    joints = np.concatenate([before[-50:], after])
    rates = np.diff(joints, axis=0) / (DT / controller.params.samples)
    assert np.abs(np.diff(rates, axis=0)).max() < 0.3
    assert feet_from_joints(after[-1])[:, 1].max() == pytest.approx(0.158, abs=1e-6)


@pytest.mark.parametrize(
    ('values', 'message'),
    [
        ({'postures': [1.0] * 47}, "'postures' has 47 values; nearest valid: 48"),
        ({'feet': [0.1] * 3}, "'feet' has 3 values; nearest valid: 24"),
        ({'height': 0.19}, 'cannot reach'),
        (
            {'postures': [20.0, *GENES[1:].tolist()]},
            "moves joint 'lf_hip' to 0.3491; nearest valid: 0.5236",
        ),
    ],
)
def test_strides_that_joints_cannot_do_are_refused(values, message):
    with pytest.raises(ConfigurationError, match=message):
        made(**values)


def test_a_robot_without_such_legs_is_refused():
    with pytest.raises(ConfigurationError, match="needs joint 'lf_hip', which robot 'guroo' lack"):
        KeyframeStrideController(load_robot('guroo'), KeyframeStrideParams())


@pytest.mark.parametrize('rate', [0.2, 1.0, 1.5, -1.0])
def test_rhythm_rests_where_both_tripods_stand(rate):
    for start in np.linspace(0.0, 4.0, 23):
        rhythm = StrideRhythm(2.2)
        rhythm.phase, rhythm.rate = float(start), rate
        travelled = 0.0
        for _ in range(4000):
            phases = rhythm.advance(0.02, 5, 0.0, 2.0, 0.5)
            travelled += phases[-1] - phases[0]
            if rhythm.rate == 0.0:
                break
        assert rhythm.rate == 0.0
        assert rhythm.phase % 2.0 == pytest.approx(0.1, abs=1e-9)
        assert abs(travelled) <= 2.0 + 0.5 * rate**2 * 0.5 * 2.0 + 1e-9


@pytest.mark.parametrize('speed', [0.06, -0.06])
def test_legs_in_the_air_come_down_where_the_others_carry_the_body(speed):
    """A level walk's feet come down half a stroke before, or behind, hips that move on evenly."""
    controller = made(follow_velocity=True)
    assert not controller.planned_footholds()
    played(controller, 6.0, speed)
    while not controller.planned_footholds():
        played(controller, DT, speed)
    told = controller.planned_footholds()
    assert set(told) in (set(TRIPODS[0]), set(TRIPODS[1]))
    ground = -controller.params.height
    before = [place.copy() for place in told.values()]
    played(controller, DT, speed)
    for leg, place in controller.planned_footholds().items():
        # The ground stands still: the body moves on over it, but for feet of 1 cm that roll.
        moved = place - before[list(told).index(leg)]
        np.testing.assert_allclose(moved, [-speed * DT, 0.0, 0.0], atol=0.1 * 0.06 * DT)
        assert place[2] == pytest.approx(ground, abs=1e-6)
    while controller.planned_footholds():
        last = controller.planned_footholds()
        played(controller, DT, speed)
    for leg, place in last.items():
        row = [*TRIPODS[0], *TRIPODS[1]].index(leg)
        hip = HEXAPOD.joint[f'{leg}_hip']
        ahead, below = feet_from_joints(controller._last_joints.reshape(6, 4)[row])
        # To within what the body moved since.
        came = [hip.xyz[0] + ahead, hip.xyz[2] - below]
        np.testing.assert_allclose(place[[0, 2]], came, atol=0.06 * DT + 1e-6)


@pytest.mark.parametrize(
    'values',
    [{}, {'postures': GENES}, {'postures': GENES, 'joined': 'feet', 'beyond': 'nearest'}],
    ids=['steps', 'joints', 'feet'],
)
def test_parameters_without_effect_change_no_target_and_the_others_do(values):
    unchanged = played(made(**values), 3.0)
    reasons = make_parameters(KeyframeStrideParams, values).without_effect(())
    changes = {'stroke': 0.1, 'height': 0.16, 'lift': 0.02, 'offset': 0.01, 'upper': 0.095}
    changes |= {'lower': 0.095, 'extension': 0.5, 'lift_extension': 0.5, 'duty': 0.6}
    for name, value in (changes | {'fastest': 1.0, 'period': 3.0}).items():
        changed = played(made(**values, **{name: value}), 3.0)
        assert np.array_equal(changed, unchanged) == (name in reasons), name
