# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Each node has exactly the topics, services and parameters that the pages of nodes list."""

from contextlib import contextmanager
from pathlib import Path
import time

import pytest

pytest.importorskip('rclpy')

import rclpy
from rclpy.action import get_action_server_names_and_types_by_node
from rclpy.context import Context
from rclpy.parameter import Parameter

from gait_core.testing.documents import node_sections, table_rows
from gait_evolver.node import EvolverNode
from gait_ros.hardware.motors import default_hardware
from gait_ros.hardware.node import HardwareNode
from gait_ros.live.node import ControllerNode
from gait_ros.live.waypoints_node import WaypointsNode
from sim_bridge.node import SimBridgeNode

ROOT = Path(__file__).resolve().parents[2]
SPACE = 'documented'
# What every node, every lifecycle node and every action server has.
STANDARD_TOPICS = ('/rosout', '/parameter_events', '~/transition_event')
STANDARD_TYPES = ('rcl_interfaces/', 'lifecycle_msgs/', 'type_description_interfaces/')


@contextmanager
def running(kind, domain, name, **parameters):
    context = Context()
    rclpy.init(args=[], context=context, domain_id=domain)
    given = [Parameter(name, value=value) for name, value in parameters.items()]
    node = kind(
        context=context,
        namespace=SPACE,
        parameter_overrides=given,
        cli_args=['--ros-args', '-r', f'__node:={name}'],
    )
    try:
        node.start()
        yield node
    finally:
        node.destroy_node()
        rclpy.shutdown(context=context)


def relative(name, node):
    """Return a resolved name as documentation writes it."""
    for prefix, short in ((f'/{SPACE}/{node.get_name()}/', '~/'), (f'/{SPACE}/', '')):
        if name.startswith(prefix):
            return short + name.removeprefix(prefix)
    return name


def discovered(node):
    """Wait until the node finds all of itself in the graph."""
    own = (node.get_name(), node.get_namespace())
    end = time.monotonic() + 5.0
    while time.monotonic() < end:
        topics = {
            *(name for name, _ in node.get_publisher_names_and_types_by_node(*own)),
            *(name for name, _ in node.get_subscriber_names_and_types_by_node(*own)),
        }
        made = {entity.topic_name for entity in (*node.publishers, *node.subscriptions)}
        services = {name for name, _ in node.get_service_names_and_types_by_node(*own)}
        if made <= topics and {service.service_name for service in node.services} <= services:
            return
        time.sleep(0.02)
    missing = (made - topics) | ({s.service_name for s in node.services} - services)
    raise AssertionError(f'{own} does not find its own {sorted(missing)} in the graph')


def advertised(node, found):
    """Add the interfaces of a node, as (name, type) by the heading of the page's table."""
    own = (node.get_name(), node.get_namespace())
    for heading, listed in (
        ('Publishes', node.get_publisher_names_and_types_by_node(*own)),
        ('Subscribes to', node.get_subscriber_names_and_types_by_node(*own)),
        ('Service', node.get_service_names_and_types_by_node(*own)),
        ('Action', get_action_server_names_and_types_by_node(node, *own)),
    ):
        for name, types in listed:
            short = relative(name, node)
            standard = short in STANDARD_TOPICS or types[0].startswith(STANDARD_TYPES)
            if not standard and '/_action/' not in name:
                found.setdefault(heading, set()).update((short, kind) for kind in types)


@pytest.mark.parametrize(
    ('name', 'kind', 'starts'),
    [
        (
            'sim_bridge',
            SimBridgeNode,
            [
                {'robot': 'BOX'},
                {'robot': 'BOX', 'hardware': True},
                {'robot': 'BOX', 'hardware': True, 'calibration': 'HARDWARE'},
            ],
        ),
        (
            'controller',
            ControllerNode,
            [
                {'robot': 'BOX'},
                {'robot': 'BOX', 'output': 'commands'},
                {'robot': 'BOX', 'lockstep': True},
            ],
        ),
        ('hardware', HardwareNode, [{'robot': 'BOX'}]),
        ('waypoints', WaypointsNode, [{'waypoints': [1.0, 0.0]}]),
        ('evolver', EvolverNode, [{}]),
    ],
    ids=['sim_bridge', 'controller', 'hardware', 'waypoints', 'evolver'],
)
def test_the_pages_list_what_a_node_advertises(
    name, kind, starts, box, box_model, domain, tmp_path
):
    text = node_sections(ROOT)[name]
    hardware = tmp_path / 'hardware.yaml'
    hardware.write_text(default_hardware(box_model).to_yaml())
    files = {'BOX': box, 'HARDWARE': str(hardware)}
    found, parameters = {}, set()
    for number, start in enumerate(starts):
        given = {
            name: files.get(value, value) if isinstance(value, str) else value
            for name, value in start.items()
        }
        # Names of their own: the graph remembers a node for a while after its end.
        with running(kind, domain, f'{name}_{number}', **given) as node:
            discovered(node)
            advertised(node, found)
            parameters |= set(node.get_parameters_by_prefix(''))

    for heading in ('Publishes', 'Subscribes to', 'Service', 'Action'):
        listed = [row[:2] for row in table_rows(text, heading)]
        assert len(listed) == len(set(listed))
        assert set(listed) == found.get(heading, set()), heading
    page = (ROOT / 'doc' / 'parameters.md').read_text(encoding='utf-8')
    described = {row[0] for row in table_rows(page, 'Parameter')}
    own = {
        name
        for name in parameters
        if not name.startswith(('qos_overrides.', 'gait.'))
        and name not in ('use_sim_time', 'start_type_description_service')
    }
    assert own and not {name for name in own - described if f'`{name}`' not in text}
