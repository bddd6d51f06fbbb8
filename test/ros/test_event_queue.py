# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Streams faster than their callback: requests and timers do not wait for them."""

import time

import pytest

pytest.importorskip('rclpy')

from std_msgs.msg import UInt32
from std_srvs.srv import Trigger

from gait_ros.nodes import event_queue
from gait_ros.nodes.qos import PUBLISHER_QOS, subscribe
from gait_ros.nodes.services import offer_service

HANDLING, FEED, MOST = 0.01, 5, 500
"""Time [s] that a message takes, messages that come meanwhile, and messages in all."""


@pytest.fixture(autouse=True)
def events(monkeypatch):
    """Return the queue of a process of its own."""
    made = event_queue.EventQueue()
    monkeypatch.setattr(event_queue, 'EVENT_QUEUE', made)
    return made


@pytest.fixture
def flooded(graph):
    """Return a graph with a stream that brings 5 messages while it handles one."""
    sent = graph.client.create_publisher(UInt32, '/count', PUBLISHER_QOS)
    handled, count = [], 0

    def feed():
        nonlocal count
        for _ in range(min(FEED, MOST - count)):
            count += 1
            sent.publish(UInt32(data=count))

    def on_message(message):
        handled.append(message.data)
        time.sleep(HANDLING)
        feed()

    subscribe(graph.client, UInt32, '/count', on_message)
    graph.until(sent.get_subscription_count)
    feed()
    return graph, handled


def spun(graph, done, timeout=30.0):
    """Spin as a node's process does, until something is done; return the time taken [s]."""
    begin = time.monotonic()
    while not done():
        assert time.monotonic() - begin < timeout
        graph.executor.spin_once(timeout_sec=0.1)
        event_queue.EVENT_QUEUE.measure_delay(graph.executor)
    return time.monotonic() - begin


def test_a_request_does_not_wait_for_a_stream_that_is_faster_than_its_callback(flooded):
    """Without thinning it waits for 0.01 s times 5 messages per message handled before it."""
    graph, handled = flooded
    answered = offer_service(graph.client, Trigger, '~/ask', lambda request, response: response)
    client = graph.client.create_client(Trigger, '/test_client/ask')
    graph.until(client.service_is_ready)
    spun(graph, lambda: len(handled) > 60)
    future = client.call_async(Trigger.Request())
    assert spun(graph, future.done) < 1.0
    assert answered


def test_the_newest_message_is_handled_and_those_it_replaces_are_counted(flooded, events):
    graph, handled = flooded
    spun(graph, lambda: handled and handled[-1] == MOST)
    assert handled == sorted(handled)
    assert 0 < events.replaced_count <= MOST - len(handled)


def test_a_stream_in_time_is_handled_whole(graph):
    handled = []
    sent = graph.client.create_publisher(UInt32, '/count', PUBLISHER_QOS)
    subscribe(graph.client, UInt32, '/count', lambda message: handled.append(message.data))
    graph.until(sent.get_subscription_count)
    for number in range(200):
        sent.publish(UInt32(data=number))
        graph.executor.spin_once(timeout_sec=1.0)
        event_queue.EVENT_QUEUE.measure_delay(graph.executor)
    spun(graph, lambda: handled and handled[-1] == 199)
    assert handled == list(range(200))
