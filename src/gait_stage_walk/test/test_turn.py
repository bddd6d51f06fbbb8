# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The turn in its corrected form, and the heading, beside a walk without physics."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from gait_core.motion.observation import Observation
from gait_core.robot.load import load_robot
from gait_core.trial.spec import Command
from gait_stage_walk.behaviours.behaviour import Period
from gait_stage_walk.behaviours.heading import Heading
from gait_stage_walk.behaviours.turn import MAX_TWIST, Turn, TurnParams
from gait_stage_walk.staged.parameters import PRESETS, StagedWalkParams
from gait_stage_walk.staged.pulse import to_nanoseconds
from gait_stage_walk.staged.walk import StagedWalk, WalkMode

TICK = to_nanoseconds(0.02)
ROBOT = load_robot('guroo')
PUBLISHED = StagedWalkParams(**PRESETS['published'])
CYCLE = 158
START_UP = 100


def walked(walk, behaviour, ticks, seen=None, command=None):
    """Return the twists of both legs after each tick [deg], (ticks, 2)."""
    total, rows = np.zeros(2), []
    for tick in range(ticks):
        observation = seen() if seen else Observation(tick=tick, time=tick * 0.02)
        period = Period(tick * TICK, (tick + 1) * TICK, command or Command(), observation)
        walk.step(period)
        if not behaviour.is_finished:
            total = total + behaviour.step(period)
        rows.append(total)
    return np.degrees(rows)


def turned_by(params, ticks=START_UP + 12 * CYCLE):
    walk = StagedWalk(PUBLISHED)
    turn = Turn(ROBOT, walk, params)
    return walked(walk, turn, ticks), turn


def test_the_signals_are_the_printed_ones_with_the_slip_of_cycle_two_mended():
    walk, times = StagedWalk(PUBLISHED), []
    for tick in range(START_UP + 2 * CYCLE):
        walk.step(Period(tick * TICK, (tick + 1) * TICK))
        times += [(s.swing, s.time * 1e-9) for s in walk.signals(tick * TICK, (tick + 1) * TICK)]
    assert [swing for swing, _ in times] == ['right', 'left', 'right', 'left']
    expected = [2.0 + cycle * 3.16 + tau * 0.9 for cycle in (0, 1) for tau in (1.5, 3.25)]
    assert [time for _, time in times] == pytest.approx(expected, abs=0.01)


def test_a_pair_twists_the_right_leg_in_the_air_and_back_when_it_stands():
    rows, _ = turned_by(TurnParams(angle_deg=20.0, share=0.25))
    left, right = rows.T
    assert not left.any()
    at = [
        START_UP + round((cycle * 3.16 + tau * 0.9) / 0.02)
        for cycle in range(4)
        for tau in (1.5, 1.5 + 0.78, 3.25, 3.25 + 0.79)
    ]
    assert right[at] == pytest.approx([0.0, 5.0, 5.0, 0.0] * 4, abs=0.05)
    assert np.ptp(right) == pytest.approx(5.0)


@settings(max_examples=25, deadline=None)
@given(
    angle=st.floats(-90.0, 90.0),
    share=st.floats(0.2, 1.0),
    period=st.floats(0.3, 0.9),
    legs=st.sampled_from(['right', 'both']),
)
def test_promised_and_kept_twists_sum_to_the_angle_and_end_at_zero(angle, share, period, legs):
    rows, turn = turned_by(TurnParams(angle_deg=angle, share=share, period=period, legs=legs))
    assert turn.is_finished
    assert rows[-1] == pytest.approx([0.0, 0.0], abs=1e-9)
    assert (rows * np.sign(angle) > -1e-9).all()
    assert np.abs(rows).max() <= min(abs(angle) * share, math.degrees(MAX_TWIST)) + 1e-9
    # What the legs took in the air is what the body turns on the ground.
    steps = np.diff(np.vstack([[0.0, 0.0], rows]), axis=0) * np.sign(angle)
    assert steps[steps > 0.0].sum() == pytest.approx(abs(angle), abs=1e-6)


@pytest.mark.parametrize('angle', [0.0, 6e-8])
def test_without_an_angle_that_a_leg_can_twist_it_is_over_at_once(angle):
    params = TurnParams(angle_deg=angle, share=0.5)
    assert Turn(ROBOT, StagedWalk(PUBLISHED), params).is_finished


@pytest.mark.parametrize(
    'change, expected',
    [
        (lambda turn: turn.stop(), 6.0),
        (lambda turn: turn.set_params(TurnParams(angle_deg=5.0)), 5.0),
    ],
)
def test_a_turn_that_is_stopped_or_changed_in_mid_pair_still_ends_in_pairs(change, expected):
    walk = StagedWalk(PUBLISHED)
    turn = Turn(ROBOT, walk, TurnParams(angle_deg=60.0, share=0.1))
    begun = START_UP + 115
    rows = walked(walk, turn, begun)
    assert rows[-1] == pytest.approx([0.0, 6.0])
    change(turn)
    total, tick = np.radians(rows[-1]), begun
    while not turn.is_finished and tick < START_UP + 4 * CYCLE:
        period = Period(tick * TICK, (tick + 1) * TICK)
        walk.step(period)
        total = total + turn.step(period)
        tick += 1
    assert turn.is_finished
    assert total == pytest.approx([0.0, 0.0], abs=1e-9)
    assert math.degrees(turn._twists.turned) == pytest.approx(expected)


def test_a_stop_puts_the_leg_in_the_air_down_straight():
    walk = StagedWalk(PUBLISHED)
    turn = Turn(ROBOT, walk, TurnParams(angle_deg=60.0, share=0.1, legs='both'))
    stop = Command(set_points={'stop': 1.0})
    walked(walk, turn, 120)
    rows = np.zeros(2)
    for tick in range(120, START_UP + CYCLE + 55):
        period = Period(tick * TICK, (tick + 1) * TICK, stop)
        walk.step(period)
        rows = rows + turn.step(period)
    assert walk.mode is WalkMode.IDLE
    assert rows == pytest.approx([0.0, 0.0], abs=1e-9)
    # Only the right leg has turned the body; the left one did not land.
    assert math.degrees(turn._twists.turned) == pytest.approx(6.0)


# ------------------------------------------------------------------------------------- heading


def yawed(yaw):
    quaternion = np.array([0.0, 0.0, math.sin(yaw / 2.0), math.cos(yaw / 2.0)])
    return Observation(tick=0, time=0.0, body_poses=np.array([[0.0, 0.0, 0.6, *quaternion]]))


def test_it_walks_straight_without_a_twist_unless_asked():
    walk = StagedWalk(StagedWalkParams())
    assert not walked(walk, Heading(walk), 600).any()


@pytest.mark.parametrize('asked', [30.0, -30.0])
def test_by_count_it_turns_by_the_parameter_and_the_set_point(asked):
    walk = StagedWalk(StagedWalkParams(turn_deg=2.0 * asked, max_twist_deg=5.0))
    heading = Heading(walk)
    command = Command(set_points={'turn': math.radians(-asked)})
    rows = walked(walk, heading, START_UP + 6 * CYCLE, command=command)
    assert math.degrees(heading.target) == pytest.approx(asked)
    assert math.degrees(heading.heading) == pytest.approx(asked)
    assert np.abs(rows).max() == pytest.approx(5.0)
    assert rows[-1] == pytest.approx([0.0, 0.0], abs=1e-9)


class Plant:
    """A robot that turns by a share of each twist that is kept, and drifts."""

    def __init__(self, heading, share, drift_deg):
        self._heading, self._share, self._drift = heading, share, math.radians(drift_deg)
        self._ticks = 0

    def yaw(self):
        return self._share * self._heading._twists.turned + self._drift * self._ticks * 0.02

    def see(self):
        self._ticks += 1
        return yawed(math.remainder(self.yaw(), math.tau))


@pytest.mark.parametrize('share', [0.7, 1.0, 1.3])
@pytest.mark.parametrize('asked', [0.0, 20.0, -200.0, 360.0])
def test_by_the_measured_yaw_it_reaches_a_heading_in_spite_of_slip_and_drift(share, asked):
    walk = StagedWalk(StagedWalkParams(turn_deg=asked, heading_gain=0.8))
    heading = Heading(walk)
    plant = Plant(heading, share, drift_deg=0.3)
    walked(walk, heading, START_UP + 28 * CYCLE, seen=plant.see)
    # Half a cycle of drift is corrected after it has happened.
    assert math.degrees(plant.yaw()) == pytest.approx(asked, abs=1.5)


@settings(max_examples=10, deadline=None)
@given(st.floats(-0.08, 0.08))
def test_the_commanded_yaw_rate_is_followed_while_it_walks(rate):
    walk = StagedWalk(StagedWalkParams(heading_gain=0.8))
    heading = Heading(walk)
    plant = Plant(heading, 1.0, drift_deg=0.0)
    command = Command(velocity=(0.0, 0.0, rate))
    walked(walk, heading, START_UP + 10 * CYCLE, seen=plant.see, command=command)
    expected = rate * 10 * CYCLE * 0.02
    assert plant.yaw() == pytest.approx(expected, abs=abs(rate) * 2.0 * 3.16 + 1e-9)


def test_a_rate_beyond_its_reach_does_not_pile_up():
    walk = StagedWalk(StagedWalkParams(max_twist_deg=5.0))
    heading = Heading(walk)
    walked(walk, heading, 2000, command=Command(velocity=(0.0, 0.0, 1.0)))
    assert math.degrees(heading.target - heading.heading) <= 10.0 + 2.0
