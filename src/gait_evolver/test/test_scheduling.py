# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Distribution of trials by the measured speeds of simulated workers."""

from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

from gait_evolver.evaluators.scheduling import (
    WorkerSpeeds,
    find_overdue_worker,
    is_worth_starting,
    select_lone_workers,
)


def pace(**rates):
    made = WorkerSpeeds()
    for name, rate in rates.items():
        made.record(name, rate, 1.0)
    return made


def makespan(rates, trials, choose):
    """Return when the last of equal trials of 100 ticks ends, in exact simulated time."""
    known, waiting = pace(**rates), [100] * trials
    now, busy, ends = 0.0, {}, []
    while waiting or busy:
        for name in sorted(set(rates) - set(busy), key=lambda one: known.expected_time(one, 100)):
            at = {one: (100, now - began) for one, began in busy.items()}
            if waiting and choose(known, name, waiting, at):
                waiting.pop()
                busy[name] = now
        name = min(busy, key=lambda one: busy[one] + 100 / rates[one])
        now = busy.pop(name) + 100 / rates[name]
        ends.append(now)
    return max(ends)


@given(
    st.lists(st.integers(1, 50), min_size=1, max_size=5).map(
        lambda s: dict(zip('abcde', s, strict=False))
    ),
    st.integers(1, 20),
)
@settings(max_examples=60, deadline=None)
def test_it_is_never_slower_than_to_give_whoever_is_idle_the_next_one(rates, trials):
    greedy = makespan(rates, trials, lambda *_: True)
    assert makespan(rates, trials, is_worth_starting) <= greedy * (1 + 1e-9)


def test_the_last_trial_is_left_to_a_worker_ten_times_as_fast():
    # Alone the fast one needs 3 x 1 s; the slow one would need 10 s for one of the three.
    rates = {'fast': 100, 'slow': 10}
    assert makespan(rates, 3, is_worth_starting) == pytest.approx(3.0)
    assert makespan(rates, 3, lambda *_: True) == pytest.approx(10.0)
    # Of twenty it takes one: the fast one does nineteen meanwhile.
    assert makespan(rates, 20, is_worth_starting) == pytest.approx(19.0)


def test_an_overdue_worker_is_not_waited_for():
    known = pace(fast=100, slow=10)
    assert not is_worth_starting(known, 'slow', [100], {'fast': (100, 0.5)})
    assert is_worth_starting(known, 'slow', [100], {'fast': (100, 2.1)})


def test_of_two_overdue_trials_the_second_is_begun_again_after_the_first():
    known = pace(a=100, b=100, c=100, d=100)
    busy = {'a': (100, 9.0), 'b': (100, 0.5), 'c': (100, 5.0)}
    # Workers a and b run trial 7, so only trial 8 of worker c may get a second worker.
    lone = select_lone_workers({'a': 7, 'b': 7, 'c': 8})
    assert find_overdue_worker(known, 'd', {name: busy[name] for name in lone}) == 'c'


def test_an_overdue_trial_is_begun_again_once_it_would_be_done():
    known = pace(a=100, b=100, c=50)
    assert find_overdue_worker(known, 'b', {'a': (100, 2.5)}) == ''
    assert find_overdue_worker(known, 'b', {'a': (100, 3.5)}) == 'a'
    assert find_overdue_worker(known, 'c', {'a': (100, 3.5)}) == ''
    assert find_overdue_worker(WorkerSpeeds(), 'b', {'a': (100, 99.0)}) == ''


def test_a_speed_follows_the_newest_trials_and_a_new_worker_is_taken_for_the_fastest():
    known = pace(a=100)
    known.record('a', 100, 10.0)
    assert known.expected_time('a', 110) == pytest.approx(110 / 55)
    assert known.expected_time('new', 110) == known.expected_time('a', 110)
