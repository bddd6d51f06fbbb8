# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Services: every request is answered, whatever goes wrong inside and however many come."""

import warnings

import pytest

pytest.importorskip('rclpy')

from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.msg import ParameterValue
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from std_srvs.srv import Trigger

from gait_core.errors import ConfigurationError
from gait_ros.live.waypoints_node import WaypointsNode
from gait_ros.nodes.managed import ManagedNode
from gait_ros.nodes.services import (
    answer_early_requests,
    offer_service,
    resend_dropped_responses,
)

ERRORS = {
    'mass is -1': ConfigurationError('mass is -1'),
    f'File name too long: {52 * "a"}...{25 * "a"} (300 characters)': OSError(
        36, 'File name too long', 300 * 'a'
    ),
    'OverflowError: too large': OverflowError('too large'),
    "KeyError: 'knee'": KeyError('knee'),
    'RecursionError': RecursionError(),
    'SystemExit: 7': SystemExit(7),
    r'ValueError: \udc80\x1b': ValueError('\udc80\x1b'),
}


class Failing(Node):
    """A node whose services raise a chosen exception."""

    def __init__(self, **kwargs):
        super().__init__('failing', **kwargs)
        self.error = None
        offer_service(self, Trigger, '~/now', self.on_now)
        offer_service(self, Trigger, '~/later', self.on_later, ReentrantCallbackGroup())

    def start(self):
        """Do nothing."""

    def on_now(self, request, response):
        if self.error is not None:
            raise self.error
        response.success = True
        return response

    async def on_later(self, request, response):
        return self.on_now(request, response)


@pytest.mark.parametrize('service', ['now', 'later'])
def test_whatever_is_raised_is_an_answer_and_the_node_goes_on(graph, service):
    node = graph.add(Failing)
    for message, node.error in ERRORS.items():
        answer = graph.call(Trigger, f'/failing/{service}')
        assert (answer.success, answer.message) == (False, message)
    node.error = None
    assert graph.call(Trigger, f'/failing/{service}').success
    assert not graph.logged('Traceback')


def test_what_a_request_is_to_blame_for_is_answered_and_a_fault_is_logged_too(graph):
    node = graph.add(Failing)
    node.error = ConfigurationError('mass is -1')
    assert graph.call(Trigger, '/failing/now').message == 'mass is -1'
    assert not graph.logged('~/now failed')
    node.error = OverflowError('too large')
    assert graph.call(Trigger, '/failing/now').message == 'OverflowError: too large'
    assert len(graph.logged('ERROR', '~/now failed: OverflowError: too large')) == 1


def test_a_burst_of_requests_is_answered_to_the_last(graph):
    graph.add(Failing)
    client = graph.client.create_client(Trigger, '/failing/now', qos_profile=QoSProfile(depth=500))
    graph.until(client.service_is_ready)
    futures = [client.call_async(Trigger.Request()) for _ in range(200)]
    graph.until(lambda: all(future.done() for future in futures))
    assert all(future.result().success for future in futures)


class Dropping:
    """Service whose first responses the middleware drops, as rclpy reports it."""

    srv_name = '/dropping'

    def __init__(self, count):
        self.left, self.sent = count, []

    def send_response(self, response, header):
        self.sent.append((response, header))
        self.left -= 1
        if self.left >= 0:
            warnings.warn(
                'failed to send response (timeout): client will not receive response, at a line',
                RuntimeWarning,
                stacklevel=1,
            )


@pytest.mark.parametrize(('dropped', 'attempts'), [(0, 1), (3, 4), (20, 21), (1000, 21)])
def test_a_dropped_response_is_sent_again_until_its_client_is_discovered(graph, dropped, attempts):
    service = Dropping(dropped)
    resend_dropped_responses(graph.client, service)
    service.send_response('response', 'header')
    # The first attempt does not wait for the others.
    assert len(service.sent) == 1
    graph.until(lambda: len(service.sent) == attempts)
    graph.spin(0.2)
    assert service.sent == attempts * [('response', 'header')]
    assert bool(graph.logged('WARN', '/dropping')) == (dropped > attempts)


def test_every_service_of_a_lifecycle_node_sends_dropped_responses_again(graph):
    class Idle(ManagedNode):
        def __init__(self, **kwargs):
            super().__init__('idle', **kwargs)

    services = list(graph.add(Idle).services)
    names = {service.srv_name.rpartition('/')[2] for service in services}
    assert {'change_state', 'get_state', 'set_parameters'} <= names
    assert all('resend' in service.send_response.__qualname__ for service in services)


@pytest.mark.parametrize('service', ['now', 'later'])
def test_requests_that_the_executor_was_not_told_of_are_answered(graph, service):
    # No executor has the node: what it is sent waits untold.
    node = Failing(context=graph.context)
    futures = [graph.start_call(Trigger, f'/failing/{service}') for _ in range(3)]
    graph.spin(0.3)
    assert not any(future.done() for future in futures)
    answer_early_requests(node, graph.executor)
    graph.until(lambda: all(future.done() for future in futures))
    assert all(future.result().success for future in futures)
    node.destroy_node()


@pytest.mark.parametrize('kind', [SetParameters, SetParametersAtomically])
def test_an_invalid_parameter_is_named_and_ends_no_node(graph, kind):
    node = graph.add(WaypointsNode, waypoints=[1.0, 0.0])
    valid = Parameter('odom_timeout', value=0.2).to_parameter_msg()
    is_atomic = kind is SetParametersAtomically
    service = '/waypoints/set_parameters' + ('_atomically' if is_atomic else '')
    for name, type_, words in (
        ('odom_timeout', 77, "parameter 'odom_timeout' has type 77, expected 1 to 9"),
        ('', 3, "unknown parameter ''"),
        ('odom_timeoutt', 3, "did you mean 'odom_timeout'"),
    ):
        wrong = ParameterMessage(name=name, value=ParameterValue(type=type_, double_value=0.5))
        answer = graph.call(kind, service, parameters=[valid, wrong])
        result = answer.result if is_atomic else answer.results[1]
        assert not result.successful and words in result.reason
        # The other parameter is set unless all are to be set or none.
        assert is_atomic or answer.results[0].successful
        assert node.get_parameter('odom_timeout').value == (1.0 if is_atomic else 0.2)
        assert not node.has_parameter('')
