# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from gait_core.errors import BadCommand, ConfigurationError
from gait_core.motion.targets import JointTargets, TargetMemory

NAMES = ('hip', 'knee', 'ankle')
START = np.array([0.1, 0.2, 0.3])


def memory():
    return TargetMemory(NAMES, START)


def test_what_is_not_named_holds():
    kept = memory()
    applied = kept.resolve(JointTargets(names=('knee',), position=[1.0]))
    np.testing.assert_array_equal(applied.position, [[0.1, 1.0, 0.3]])
    applied = kept.resolve(JointTargets(names=('hip',), position=[2.0]))
    np.testing.assert_array_equal(applied.position, [[2.0, 1.0, 0.3]])


def test_empty_targets_hold_everything():
    applied = memory().resolve(JointTargets(names=()))
    np.testing.assert_array_equal(applied.position, [START])
    np.testing.assert_array_equal(applied.velocity, np.zeros((1, 3)))


@given(order=st.permutations(range(3)), values=st.lists(st.floats(-3, 3), min_size=3, max_size=3))
def test_permuted_names_give_the_same_targets(order, values):
    straight = memory().resolve(JointTargets(names=NAMES, position=values))
    permuted = memory().resolve(
        JointTargets(names=tuple(NAMES[i] for i in order), position=[values[i] for i in order])
    )
    np.testing.assert_array_equal(straight.position, permuted.position)


def test_unknown_names_are_ignored_and_remembered():
    kept = memory()
    applied = kept.resolve(JointTargets(names=('tail', 'hip'), position=[9.0, 1.0]))
    np.testing.assert_array_equal(applied.position, [[1.0, 0.2, 0.3]])
    assert kept.unknown_names == {'tail'}


def test_sub_samples_are_kept_and_the_last_one_holds():
    kept = memory()
    applied = kept.resolve(JointTargets(names=('hip',), position=[[1.0], [2.0], [3.0]]))
    np.testing.assert_array_equal(applied.position[:, 0], [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(applied.position[:, 1], [0.2, 0.2, 0.2])
    applied = kept.resolve(JointTargets(names=()))
    assert applied.position.shape == (1, 3)
    assert applied.position[0, 0] == 3.0


def test_a_new_position_without_velocity_drops_the_old_feed_forward():
    kept = memory()
    kept.resolve(JointTargets(names=NAMES, position=START, velocity=[1.0, 2.0, 3.0]))
    applied = kept.resolve(JointTargets(names=('hip',), position=[0.5]))
    np.testing.assert_array_equal(applied.velocity, [[0.0, 2.0, 3.0]])


def test_velocity_and_effort_alone_leave_the_position():
    kept = memory()
    applied = kept.resolve(JointTargets(names=('hip',), velocity=[1.5], effort=[7.0]))
    np.testing.assert_array_equal(applied.position, [START])
    np.testing.assert_array_equal(applied.velocity, [[1.5, 0.0, 0.0]])
    np.testing.assert_array_equal(applied.effort, [[7.0, 0.0, 0.0]])


def test_applied_and_given_arrays_cannot_be_written():
    given_positions = np.array([1.0, 2.0, 3.0])
    targets = JointTargets(names=NAMES, position=given_positions)
    given_positions[0] = 99.0
    applied = memory().resolve(targets)
    assert applied.position[0, 0] == 1.0
    for array in (targets.position, applied.position, applied.velocity, applied.effort):
        with pytest.raises(ValueError, match='read-only'):
            array[0, 0] = 5.0


@pytest.mark.parametrize(
    ('targets', 'message'),
    [
        ({'names': ('hip', 'knee', 'hip'), 'position': [1, 2, 3]}, "'hip' is commanded twice"),
        ({'names': NAMES, 'position': [1.0, 2.0]}, r'position has shape \(1, 2\).*3 names'),
        ({'names': NAMES, 'velocity': np.zeros((2, 2, 3))}, 'velocity has shape'),
        ({'names': NAMES, 'position': np.zeros((0, 3))}, 'position has shape'),
        ({'names': NAMES, 'position': [1.0, np.nan, 3.0]}, "'knee' is not finite"),
        ({'names': NAMES, 'effort': [1.0, 2.0, -np.inf]}, "effort of joint 'ankle'"),
        (
            {'names': ('hip',), 'position': [[1.0], [2.0]], 'velocity': [[1.0]]},
            r'sub-samples: \[1, 2\]',
        ),
    ],
)
def test_targets_that_cannot_be_applied_are_refused_by_name(targets, message):
    with pytest.raises(BadCommand, match=message):
        JointTargets(**targets)
    assert issubclass(BadCommand, ConfigurationError)
