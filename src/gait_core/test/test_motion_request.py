# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Motion requests of a live robot: sources, expiry, and the end of a gait."""

import dataclasses
import math

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.motion.motion_request import MAX_STOP_TIME, STOP_TIME, GaitStop, MotionRequest
from gait_core.motion.observation import Imu, Observation
from gait_core.motion.targets import JointTargets
from gait_core.motion.velocity_limits import UNLIMITED, VelocityRange
from gait_core.robot.model import FallCriterion
from gait_core.safety.layer import (
    FALLEN,
    HOLD,
    HOLDING,
    RESET,
    RUNNING,
    STANDING,
    STARTING,
    STEP,
    STOPPED,
    WAIT,
    WAITING,
    SafetyLayer,
)
from gait_core.safety.parameters import SafetyParams
from gait_core.testing.doubles import legged_box

DT = 0.02
FORWARD_ONLY = (
    VelocityRange(0.0, 0.5, 'legs'),
    VelocityRange.symmetric(0.0, 'no hips'),
    VelocityRange.symmetric(0.0, 'no turn'),
)
OWN_PACE = 'it keeps its own pace'


class Asked:
    """A request whose two clocks the test moves [s]."""

    def __init__(self, bounds=(UNLIMITED, UNLIMITED, UNLIMITED), **more):
        self.simulated = self.wall = 100.0
        self.request = MotionRequest(
            lambda: bounds, lambda: (round(self.simulated * 1e9), round(self.wall * 1e9)),
            lambda: 0.5, **more,
        )  # fmt: skip

    def receive(self, *velocity):
        self.request.receive((*velocity, 0.0, 0.0, 0.0)[:3])

    @property
    def walking(self):
        return self.request.is_walking


def test_nobody_asks_before_the_first_velocity_and_none_asks_at_zero():
    asked = Asked()
    assert not asked.walking and asked.request.velocity == (0.0, 0.0, 0.0)
    asked.receive(0.3)
    assert asked.walking and asked.request.velocity == (0.3, 0.0, 0.0)
    for still in (0.0, 9e-4, -9e-4):
        asked.receive(still)
        assert not asked.walking
    asked.receive(0.0, 0.0, -1e-3)
    assert asked.walking


@pytest.mark.parametrize(
    ('simulated', 'wall', 'walks'),
    [
        (0.49, 0.49, True),
        (0.5, 0.5, False),
        # A sender at 10 Hz while the simulation runs ten times as fast, and a slow simulation.
        (1.0, 0.1, True),
        (0.1, 1.0, True),
        (5.0, 0.51, False),
    ],
)
def test_a_velocity_ages_by_the_clock_that_has_gone_less(simulated, wall, walks):
    asked = Asked()
    asked.receive(0.3)
    asked.simulated += simulated
    asked.wall += wall
    assert asked.walking == walks and asked.request.is_expired != walks
    asked.receive(0.2)
    assert asked.request.velocity == (0.2, 0.0, 0.0)


def test_a_velocity_is_forgotten_when_a_clock_goes_back():
    asked = Asked()
    asked.receive(0.3)
    asked.simulated = 1.0
    asked.request.forget_velocity()
    assert not asked.walking
    asked.receive(0.3)
    assert asked.walking


@pytest.mark.parametrize('velocity', [(-0.2,), (0.0, 0.3), (0.0, 0.0, 1.0), (-1.0, -1.0, -1.0)])
def test_what_lies_wholly_in_axes_that_are_not_followed_asks_for_nothing(velocity):
    asked = Asked(FORWARD_ONLY)
    asked.receive(*velocity)
    assert not asked.walking
    asked.receive(0.1, *velocity[1:])
    assert asked.walking


@pytest.mark.parametrize(
    ('value', 'words'),
    [
        (math.nan, 'expected a finite number'),
        (math.inf, 'expected a finite number'),
        (-math.inf, 'expected a finite number'),
        (1e308, 'expected -1000 to 1000'),
        (-1000.1, 'expected -1000 to 1000'),
    ],
)
@pytest.mark.parametrize('axis', [0, 1, 2])
def test_a_velocity_that_nobody_means_is_refused_and_asks_for_nothing(axis, value, words):
    asked = Asked()
    velocity = [0.1, 0.1, 0.1]
    velocity[axis] = value
    with pytest.raises(ConfigurationError, match=words) as refusal:
        asked.receive(*velocity)
    assert ('x', 'y', 'yaw')[axis] in str(refusal.value) and '\n' not in str(refusal.value)
    assert not asked.walking
    asked.receive(0.2)
    with pytest.raises(ConfigurationError):
        asked.receive(*velocity)
    assert asked.request.velocity == (0.2, 0.0, 0.0)
    # What is refused keeps nothing alive.
    asked.simulated, asked.wall = 101.0, 101.0
    assert not asked.walking


def test_what_ignores_velocities_is_started_and_stopped_by_the_service_alone():
    asked = Asked(OWN_PACE)
    asked.receive(0.3)
    assert not asked.walking and '~/walk' in asked.request.hint
    asked.request.set_walking(True)
    asked.simulated += 1e6
    assert asked.walking
    asked.request.set_walking(False)
    assert not asked.walking


def test_what_follows_velocities_is_not_started_by_the_service_but_stopped():
    asked = Asked()
    with pytest.raises(ConfigurationError, match='cmd_vel, at 4 Hz or more'):
        asked.request.set_walking(True)
    asked.receive(0.3)
    asked.request.set_walking(False)
    assert not asked.walking
    asked.receive(0.3)
    assert asked.walking and 'cmd_vel' in asked.request.hint


@pytest.mark.parametrize('bounds', [(UNLIMITED, UNLIMITED, UNLIMITED), OWN_PACE])
def test_a_demonstration_asks_by_itself_and_goes_on_after_a_stop(bounds):
    asked = Asked(bounds, demonstration=(0.2, 0.0, 0.0))
    asked.simulated += 1e6
    assert asked.walking and asked.request.velocity == (0.2, 0.0, 0.0)
    asked.request.cancel()
    assert asked.walking
    asked.request.set_walking(False)
    assert not asked.walking


def test_the_first_velocity_ends_a_demonstration():
    asked = Asked(demonstration=(0.2, 0.0, 0.0))
    asked.receive(0.0)
    assert not asked.walking
    asked.receive(0.1)
    asked.simulated, asked.wall = 101.0, 101.0
    assert not asked.walking


@pytest.mark.parametrize('bounds', [(UNLIMITED, UNLIMITED, UNLIMITED), OWN_PACE])
def test_who_asked_is_forgotten(bounds):
    asked = Asked(bounds)
    asked.receive(0.3)
    if isinstance(bounds, str):
        asked.request.set_walking(True)
    assert asked.walking
    asked.request.cancel()
    assert not asked.walking


# ----------------------------------------------------------------------------------------- the end


def end_of(positions, stance=lambda time: {}, starting=False):
    """Return the time [s] from the last motion request to the end of the gait."""
    stop, time = GaitStop(), 0.0
    for _ in range(50):
        stop.update(DT, True, False, dict, np.array([positions(-1.0)]))
    while stop.moving:
        row = np.array([positions(time)])
        stop.update(DT, False, starting, lambda now=time: stance(now), row)
        time += DT
        assert time < 60.0
    return time


def ramp_until(end):
    """Return a position that moves with 1 rad/s until a time [s]."""
    return lambda time: min(time, end)


def test_a_gait_that_comes_to_rest_ends_soon_after():
    assert end_of(ramp_until(1.0)) == pytest.approx(1.3, abs=0.05)


def test_a_gait_that_goes_on_ends_after_its_time():
    assert end_of(ramp_until(1e3)) == pytest.approx(STOP_TIME, abs=0.05)


def test_it_does_not_end_on_one_leg_if_the_other_lands_in_time():
    def lands(end):
        return lambda time: {'stance.left': 1.0, 'stance.right': float(time >= end), 'phase': 0.2}

    assert end_of(ramp_until(1e3), lands(3.8)) == pytest.approx(3.8, abs=0.05)
    assert end_of(ramp_until(0.5), lands(1.5)) == pytest.approx(1.5, abs=0.05)
    assert end_of(ramp_until(1e3), lands(1e3)) == pytest.approx(MAX_STOP_TIME, abs=0.05)


def test_on_the_way_to_its_first_targets_it_ends_at_once():
    assert end_of(ramp_until(1e3), starting=True) == pytest.approx(DT)


def test_a_gait_that_is_asked_for_again_goes_on():
    stop = GaitStop()
    for asked in (*[True] * 10, *[False] * 100, *[True] * 10, *[False] * 100):
        assert stop.update(DT, asked, False, dict, None)


# -------------------------------------------------------------------------------- the safety layer


def seen(robot, value=0.1, roll=0.0):
    return Observation(
        tick=0, time=0.0, joint_names=robot.joint_names,
        joint_positions=np.full(len(robot.joint_names), value),
        imu=Imu(
            orientation=np.array([math.sin(roll / 2), 0.0, 0.0, math.cos(roll / 2)]),
            angular_velocity=np.zeros(3), linear_acceleration=np.array([0.0, 0.0, 9.81]),
        ),
    )  # fmt: skip


@pytest.fixture
def robot():
    return legged_box()


def at(robot, value):
    return JointTargets(
        names=robot.target_names, position=np.full(len(robot.target_names), float(value))
    )


def run(layer, robot, moving, ticks=200, wanted=0.0, **more):
    """Return the positions of the first joint, and the actions."""
    rows, actions = [], []
    for _ in range(ticks):
        actions.append(layer.next_action(DT, seen(robot, **more), 0.0, moving))
        out = layer.output(DT, at(robot, wanted) if actions[-1] in (STEP, RESET) else None)
        rows.append(None if out is None else float(out.position[-1][0]))
    return rows, actions


def test_the_measured_pose_is_held_then_left_softly_and_the_last_output_is_held(robot):
    layer = SafetyLayer(robot, SafetyParams(start_speed=0.5))
    rows, actions = run(layer, robot, False)
    assert layer.mode == STANDING and set(rows) == {0.1} and set(actions) == {HOLD}
    # A load bends the joints meanwhile: commands go on from what was held.
    rows, actions = run(layer, robot, True, value=0.05, wanted=0.3)
    assert actions[0] == RESET and actions.count(RESET) == 1 and layer.mode == RUNNING
    assert rows[0] == pytest.approx(0.1) and rows[-1] == pytest.approx(0.3)
    assert np.abs(np.diff([0.1, *rows])).max() <= 0.5 * DT * 1.001
    rows, _ = run(layer, robot, False, value=0.2)
    assert layer.mode == STANDING and set(rows) == {rows[0]}
    assert rows[0] == pytest.approx(0.3)
    # The controller has begun anew at its stop: later starts do not begin it once more.
    _, actions = run(layer, robot, True)
    assert RESET not in actions and layer.mode == RUNNING


def test_a_start_that_is_no_longer_asked_for_holds_where_it_is(robot):
    layer = SafetyLayer(robot, SafetyParams(start_speed=0.1))
    run(layer, robot, False, 5)
    rows, _ = run(layer, robot, True, 50, wanted=0.5)
    assert layer.mode == STARTING
    held, _ = run(layer, robot, False, 50)
    assert set(held) == {rows[-1]}


def test_falls_and_stops_count_while_it_stands(robot):
    tall = SafetyLayer(dataclasses.replace(robot, fall=FallCriterion()), SafetyParams())
    run(tall, robot, False, 20)
    run(tall, robot, False, 20, roll=1.5)
    assert tall.mode == FALLEN
    layer = SafetyLayer(robot, SafetyParams())
    run(layer, robot, False, 20)
    layer.stop('test')
    rows, _ = run(layer, robot, True, 20, wanted=0.5)
    assert layer.mode == STOPPED and set(rows) == {0.1}
    assert layer.resume() == ''
    run(layer, robot, False, 20)
    assert layer.mode == STANDING


def test_stale_states_hold_it_and_their_return_lets_it_stand_as_it_is_then(robot):
    layer = SafetyLayer(robot, SafetyParams())
    run(layer, robot, False, 5)
    assert layer.next_action(DT, seen(robot), 1.0, False) == HOLD and layer.mode == HOLDING
    rows, _ = run(layer, robot, False, 5, value=0.4)
    assert layer.mode == STANDING and set(rows) == {0.4}


def test_without_the_layers_other_duties_nothing_is_sent_until_motion_is_asked_for(robot):
    layer = SafetyLayer(robot, SafetyParams(enabled=False))
    assert layer.next_action(DT, seen(robot), math.inf, False) == WAIT
    assert layer.output(DT, None) is None and layer.mode == WAITING
    rows, actions = run(layer, robot, True, 10, wanted=0.3)
    assert actions[0] == RESET and set(rows) == {0.3}
    rows, _ = run(layer, robot, False, 10)
    assert layer.mode == STANDING and set(rows) == {0.3}
    rows, actions = run(layer, robot, True, 10, wanted=0.2)
    assert set(actions) == {STEP} and set(rows) == {0.2}
