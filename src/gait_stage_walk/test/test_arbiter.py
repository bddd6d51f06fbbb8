# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Behaviours that add, subtract and overwrite, against the published superposition tests."""

from collections import namedtuple

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.robot.load import load_robot
from gait_stage_walk.behaviours.arbiter import MAX_BEHAVIOURS, Action, Arbiter, parse_action
from gait_stage_walk.behaviours.behaviour import Period
from gait_stage_walk.behaviours.kinds import JointPulse, JointPulseParams
from gait_stage_walk.staged.parameters import StagedWalkParams
from gait_stage_walk.staged.pulse import to_nanoseconds
from gait_stage_walk.staged.walk import StagedWalk

TICK = to_nanoseconds(0.02)
ROBOT = load_robot('guroo')
JOINTS = ROBOT.joint_names
COUNTS_PER_TURN = 62400
Constant = namedtuple('Constant', 'joints rates is_finished', defaults=(False,))
Constant.step = lambda self, period: np.array(self.rates)


def pulse(joint, degrees=22.5, period=3.0):
    params = JointPulseParams(joint=joint, angle_deg=degrees, period=period)
    return JointPulse(ROBOT, StagedWalk(StagedWalkParams()), params)


def arbiter(*behaviours):
    made = Arbiter(JOINTS, np.zeros(len(JOINTS)))
    for number, behaviour in enumerate(behaviours):
        made.register(f'b{number}', behaviour)
    return made


def turns_deg(made, ticks=150):
    """Return the turn of every joint in each tick [deg], (ticks, n)."""
    return np.degrees([made.step(Period(t * TICK, (t + 1) * TICK)) for t in range(ticks)])


def column(rows, joint):
    return rows[:, JOINTS.index(joint)]


def test_check_1_one_pulse_peaks_at_0_3_degrees_a_tick_and_turns_its_angle():
    turned = column(turns_deg(arbiter(pulse('left_leg_twist'))), 'left_leg_twist')
    assert turned.max() == pytest.approx(0.300, rel=0.01)
    assert turned.sum() == pytest.approx(22.5, abs=1e-9)


def test_check_2_it_peaks_at_52_encoder_counts():
    turned = column(turns_deg(arbiter(pulse('left_leg_twist'))), 'left_leg_twist')
    assert turned.max() / 360.0 * COUNTS_PER_TURN == pytest.approx(52.0, abs=1.0)


def test_check_3_two_pulses_on_one_joint_are_exactly_twice_one():
    one = turns_deg(arbiter(pulse('left_leg_twist')))
    two = turns_deg(arbiter(pulse('left_leg_twist'), pulse('left_leg_twist')))
    np.testing.assert_allclose(two, 2.0 * one, rtol=0.0, atol=1e-9)
    assert two.max() / 360.0 * COUNTS_PER_TURN == pytest.approx(104.0, abs=2.0)


def test_check_4_pulses_on_two_joints_do_not_touch_each_other_or_a_third():
    both = turns_deg(arbiter(pulse('left_leg_twist'), pulse('right_ankle_fwd', 11.25)))
    for joint, degrees in (('left_leg_twist', 22.5), ('right_ankle_fwd', 11.25)):
        alone = turns_deg(arbiter(pulse(joint, degrees)))
        np.testing.assert_allclose(column(both, joint), column(alone, joint), atol=1e-9)
    peaks = both.max(axis=0)
    twist, ankle = (peaks[JOINTS.index(j)] for j in ('left_leg_twist', 'right_ankle_fwd'))
    assert ankle / twist == pytest.approx(0.5, abs=0.01)
    assert (np.abs(both).sum(axis=0) > 0.0).sum() == 2


@given(st.floats(-1.0, 1.0), st.floats(-1.0, 1.0), st.floats(-1.0, 1.0))
def test_check_5_add_subtract_and_overwrite_in_order_of_registration(a, b, c):
    for action, expected in (
        (Action.ADD, a + b),
        (Action.SUBTRACT, a - b),
        (Action.OVERWRITE, b),
    ):
        made = arbiter(Constant(('left_knee', 'right_knee'), (a, a)))
        made.register('second', Constant(('left_knee',), (b,)), action)
        made.register('last', Constant(('left_knee',), (c,)))
        turned = made.step(Period(0, TICK))
        assert turned[JOINTS.index('left_knee')] == expected + c
        assert turned[JOINTS.index('right_knee')] == a


def test_check_5_an_unknown_action_is_refused_with_the_nearest():
    with pytest.raises(ConfigurationError, match="action 'overwrit': did you mean 'overwrite'"):
        parse_action('overwrit')


def test_check_6_velocities_are_cleared_and_positions_grow_by_what_was_emitted():
    made = arbiter(pulse('left_knee', period=1.0))
    for tick in range(80):
        before = made.position
        turned = made.step(Period(tick * TICK, (tick + 1) * TICK))
        np.testing.assert_array_equal(made.position, before + turned)
        assert turned.any() == (tick < 50)


def test_check_7_a_finished_behaviour_is_dropped_by_the_next_tick():
    made = arbiter(pulse('left_knee', period=0.1), pulse('right_knee', period=0.2))
    turns_deg(made, 5)
    made.step(Period(5 * TICK, 6 * TICK))
    assert made.names == ('b1',)


def test_check_7_registering_twice_leaves_one_entry_and_says_so():
    made, one = arbiter(), pulse('left_knee')
    made.register('one', one)
    for name, behaviour in (('one', pulse('left_knee')), ('other', one)):
        with pytest.raises(ConfigurationError, match="'one' is registered already"):
            made.register(name, behaviour)
    assert made.names == ('one',)


def test_check_7_the_eleventh_is_refused_until_one_has_gone():
    made = arbiter(*(pulse('left_knee') for _ in range(MAX_BEHAVIOURS)))
    assert MAX_BEHAVIOURS == 10
    with pytest.raises(ConfigurationError, match="'more' is one too many: at most 10.*b0, b1"):
        made.register('more', pulse('left_knee'))
    made.unregister('b3')
    made.register('more', pulse('left_knee'))
    assert made.names == ('b0', 'b1', 'b2', 'b4', 'b5', 'b6', 'b7', 'b8', 'b9', 'more')


@pytest.mark.parametrize(
    'name, joint, message',
    [
        ('', 'left_knee', 'a name that is not empty'),
        ('b', 'left_kne', "'left_kne', which does not exist: did you mean 'left_knee'"),
    ],
)
def test_what_cannot_be_registered_is_refused(name, joint, message):
    with pytest.raises(ConfigurationError, match=message):
        arbiter().register(name, Constant((joint,), (0.0,)))


def test_a_name_that_does_not_run_is_refused_with_the_nearest():
    with pytest.raises(ConfigurationError, match="unknown behaviour 'b7': .*'b0'"):
        arbiter(pulse('left_knee')).unregister('b7')


@given(st.permutations(range(4)))
def test_the_order_of_those_that_only_add_does_not_matter(order):
    behaviours = [Constant(('left_knee',), (2.0**-i,)) for i in range(4)]
    turned = arbiter(*(behaviours[i] for i in order)).step(Period(0, TICK))
    assert turned[JOINTS.index('left_knee')] == 1.875
