# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Flood test of topics, services and parameters of all nodes, for `gait bench --checks`."""

from __future__ import annotations

from pathlib import Path
import tempfile

from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from gait_core.benchmark import Measurement
from gait_ros.checks.flood_client import Flood, FloodTarget
from gait_ros.graph.nodes import NodeSpec, bridge_node, controller_node

FLOOD_DURATION = 60.0
"""Duration of a flood [s]."""
GROWTH_BUDGET = 20.0
"""Largest growth of memory [MB]."""
ANSWER_BUDGET = 2.0
"""Longest wait [s] for an answer."""


def flood_targets() -> list[FloodTarget]:
    """Return a node of each kind, on robots whose physics is cheap."""
    return [
        FloodTarget(
            node=bridge_node({'robot': 'hexapod', 'publish_clock': False}), robot='hexapod'
        ),
        FloodTarget(
            node=bridge_node(
                {'robot': 'hexapod', 'publish_clock': False, 'hardware': True}, name='played'
            ),
            robot='hexapod',
        ),
        FloodTarget(
            node=controller_node('phase_cpg', {'robot': 'a1'}),
            robot='a1',
            output='joint_trajectory',
            kind=JointTrajectory,
        ),
        FloodTarget(
            node=controller_node('staged_walk', {'robot': 'guroo'}),
            robot='guroo',
            output='joint_trajectory',
            kind=JointTrajectory,
        ),
        FloodTarget(
            node=NodeSpec(
                package='gait_ros',
                executable='hardware_node',
                name='hardware',
                parameters={'robot': 'a1'},
            ),
            robot='a1',
            output='motors/joint_commands',
            kind=JointState,
        ),
        FloodTarget(
            node=NodeSpec(
                package='gait_ros',
                executable='waypoints_node',
                name='waypoints',
                parameters={'waypoints': [100.0, 0.0]},
            ),
            robot='a1',
        ),
        FloodTarget(
            node=NodeSpec(package='gait_evolver', executable='evolver_node', name='evolver'),
            robot='a1',
        ),
    ]


def measure_flood(target: FloodTarget, seconds: float = FLOOD_DURATION) -> list[Measurement]:
    """Flood a node for a time [s] and return the measurements with their budgets."""
    with tempfile.TemporaryDirectory(prefix='gait_flood_') as name:
        flood = Flood(target, Path(name))
        try:
            outcome = flood.run(seconds)
        finally:
            flood.close()
    node = target.node.name
    unanswered = outcome.requests - outcome.answers
    bounded: list[tuple[str, str, str, float, float]] = [
        (
            'up',
            'ended (1: yes)' + f': {outcome.ended}' * bool(outcome.ended),
            '-',
            float(bool(outcome.ended)),
            0.0,
        ),
        ('memory', 'growth of its memory', 'MB', outcome.memory_growth, GROWTH_BUDGET),
        (
            'unanswered',
            f'requests without an answer, of {outcome.requests}',
            'requests',
            float(unanswered),
            0.0,
        ),
        ('answers', 'longest wait for an answer', 's', outcome.longest_wait, ANSWER_BUDGET),
    ]
    if target.kind is not None:
        what = f'commands beyond the limits of a joint, of {outcome.commands}'
        bounded.append(('beyond', what, 'commands', float(outcome.beyond_limits), 0.0))
    # Tests with short floods run beside other processes: their wait has no budget.
    is_full = seconds >= FLOOD_DURATION
    return [
        *(
            Measurement(
                id=f'flood_{node}_{key}',
                what=f'{node}, flooded for {seconds:g} s: {what}',
                unit=unit,
                measured=measured,
                budget=budget if is_full or key != 'answers' else None,
                group='floods',
            )
            for key, what, unit, measured, budget in bounded
        ),
        *(
            Measurement(
                id=f'flood_{node}_{topic}',
                what=f'{node}: messages received on {topic}, of {sent:.0f}/s sent',
                unit='1/s',
                measured=outcome.received[topic],
                group='floods',
            )
            for topic, sent in outcome.sent.items()
        ),
    ]


def measure_floods(seconds: float = FLOOD_DURATION) -> list[Measurement]:
    """Flood one node of each kind for a time [s], one after the other."""
    return [row for target in flood_targets() for row in measure_flood(target, seconds)]
