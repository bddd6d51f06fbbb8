# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Thinning of a stream while the event queue is late, on a clock of the test."""

from types import SimpleNamespace

import pytest

from gait_ros.nodes import event_queue
from gait_ros.nodes.event_queue import EventQueue, StreamReceiver


class Executor:
    """Executor that keeps its tasks until the test runs them."""

    def __init__(self):
        self.tasks = []

    def create_task(self, task):
        self.tasks.append(task)


@pytest.fixture
def clock(monkeypatch):
    """Return the clock; ``now`` [s] is moved by the test."""
    made = SimpleNamespace(now=100.0)
    monkeypatch.setattr(event_queue, 'time', SimpleNamespace(monotonic=lambda: made.now))
    return made


@pytest.fixture
def queue(monkeypatch, clock):
    made = EventQueue()
    monkeypatch.setattr(event_queue, 'EVENT_QUEUE', made)
    return made


def test_the_delay_is_the_age_of_the_mark_and_marks_are_50_ms_apart(queue, clock):
    executor = Executor()
    assert queue.delay == 0.0 and queue.replaced_count == 0
    queue.measure_delay(executor)
    clock.now += 0.3
    queue.measure_delay(executor)
    assert len(executor.tasks) == 1 and queue.delay == pytest.approx(0.3)
    executor.tasks.pop()()
    assert queue.delay == 0.0
    clock.now += 0.04
    queue.measure_delay(executor)
    assert not executor.tasks
    clock.now += 0.02
    queue.measure_delay(executor)
    assert len(executor.tasks) == 1


def make_late(queue, clock, delay):
    executor = Executor()
    clock.now += 1.0
    queue.measure_delay(executor)
    clock.now += delay
    return executor.tasks


def test_a_late_queue_passes_one_message_per_20_ms_and_keeps_the_newest(queue, clock):
    handled = []
    receive = StreamReceiver(handled.append)
    tasks = make_late(queue, clock, 0.11)
    for count in range(40):
        receive(count)
        clock.now += 0.0051
    # Delivered: the first, and each that comes 20 ms after the last delivery.
    assert handled == list(range(0, 40, 4))
    # Those in between were replaced by newer ones, but for the three that wait or waited last.
    assert queue.replaced_count == 40 - 10 - 1
    tasks.pop()()
    assert handled[-1] == 39 and len(handled) == 11
    receive(40)
    assert handled[-1] == 40 and queue.replaced_count == 29


def test_a_callback_of_a_late_queue_takes_a_fifth_of_the_time(queue, clock):
    handled = []

    def work(data):
        handled.append((data, clock.now))
        clock.now += 0.03

    receive = StreamReceiver(work)
    make_late(queue, clock, 0.2)
    for count in range(100):
        receive(count)
        clock.now += 0.01
    starts = [time for _, time in handled]
    # 30 ms of work, then 150 ms without.
    assert len(starts) > 4
    for before, after in zip(starts, starts[1:], strict=False):
        assert 0.18 - 1e-9 <= after - before <= 0.1901


@pytest.mark.parametrize('delay', [0.0, 0.09])
def test_a_queue_in_time_passes_every_message(queue, clock, delay):
    handled = []
    receive = StreamReceiver(handled.append)
    make_late(queue, clock, delay)
    for count in range(9):
        receive(count)
        clock.now += 0.001
    assert handled == list(range(9)) and queue.replaced_count == 0


@pytest.mark.parametrize(('delay', 'count'), [(0.1, 2), (0.1001, 1)])
def test_a_queue_is_late_beyond_a_tenth_of_a_second(monkeypatch, clock, delay, count):
    class Late(EventQueue):
        delay = 0.0

    queue, handled = Late(), []
    monkeypatch.setattr(event_queue, 'EVENT_QUEUE', queue)
    queue.delay = delay
    receive = StreamReceiver(handled.append)
    receive('a')
    receive('b')
    assert len(handled) == count


def test_streams_are_held_back_each_on_its_own(queue, clock):
    handled = []
    first, second = StreamReceiver(handled.append), StreamReceiver(handled.append)
    tasks = make_late(queue, clock, 0.5)
    for receive, data in ((first, 'a'), (second, 'b'), (first, 'c'), (second, 'd')):
        receive(data)
    assert handled == ['a', 'b'] and queue.replaced_count == 0
    tasks.pop()()
    assert handled == ['a', 'b', 'c', 'd']
    # What was delivered is not delivered again.
    tasks = make_late(queue, clock, 0.5)
    tasks.pop()()
    assert handled == ['a', 'b', 'c', 'd']
