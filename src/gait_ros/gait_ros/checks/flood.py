"""Flood test of every node's topics, services and parameters, for `gait bench --checks`."""

from __future__ import annotations

from pathlib import Path
import tempfile

from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from gait_core.benchmark import Measurement
from gait_ros.checks.flood_client import Flood, Victim
from gait_ros.graph.nodes import NodeSpec, bridge_node, controller_node

SECONDS = 60.0
"""Duration of a flood."""
GROWTH_BUDGET = 20.0
"""Largest growth of memory [MB]."""
ANSWER_BUDGET = 2.0
"""Longest wait [s] for an answer."""


def victims() -> list[Victim]:
    """Return a node of each kind, on robots whose physics is cheap."""
    return [
        Victim(node=bridge_node({'robot': 'hexapod', 'publish_clock': False}), robot='hexapod'),
        Victim(
            node=bridge_node(
                {'robot': 'hexapod', 'publish_clock': False, 'hardware': True}, name='played'
            ),
            robot='hexapod',
        ),
        Victim(
            node=controller_node('phase_cpg', {'robot': 'a1'}),
            robot='a1',
            output='joint_trajectory',
            kind=JointTrajectory,
        ),
        Victim(
            node=controller_node('staged_walk', {'robot': 'guroo'}),
            robot='guroo',
            output='joint_trajectory',
            kind=JointTrajectory,
        ),
        Victim(
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
        Victim(
            node=NodeSpec(
                package='gait_ros',
                executable='waypoints_node',
                name='waypoints',
                parameters={'waypoints': [100.0, 0.0]},
            ),
            robot='a1',
        ),
        Victim(
            node=NodeSpec(package='gait_evolver', executable='evolver_node', name='evolver'),
            robot='a1',
        ),
    ]


def rows(victim: Victim, seconds: float = SECONDS) -> list[Measurement]:
    """Flood a node for a time [s] and return the measurements with their budgets."""
    with tempfile.TemporaryDirectory(prefix='gait_flood_') as name:
        flood = Flood(victim, Path(name))
        try:
            outcome = flood.run(seconds)
        finally:
            flood.close()
    node = victim.node.name
    unanswered = outcome.requests - outcome.answers
    bounded: list[tuple[str, str, str, float, float]] = [
        (
            'up',
            'whether it has ended' + f': {outcome.ended}' * bool(outcome.ended),
            '-',
            float(bool(outcome.ended)),
            0.0,
        ),
        ('memory', 'growth of its memory', 'MB', outcome.growth, GROWTH_BUDGET),
        (
            'unanswered',
            f'of {outcome.requests} requests, without an answer',
            'requests',
            float(unanswered),
            0.0,
        ),
        ('answers', 'longest wait for an answer', 's', outcome.longest, ANSWER_BUDGET),
    ]
    if victim.kind is not None:
        what = f'of {outcome.commands} commands, beyond the limits of a joint'
        bounded.append(('beyond', what, 'commands', float(outcome.beyond), 0.0))
    # Short floods run in tests, beside other processes: then the wait has no budget.
    whole = seconds >= SECONDS
    return [
        *(
            Measurement(
                id=f'flood_{node}_{key}',
                what=f'{node}, flooded for {seconds:g} s: {what}',
                unit=unit,
                measured=measured,
                budget=budget if whole or key != 'answers' else None,
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


def flooded(seconds: float = SECONDS) -> list[Measurement]:
    """Flood one node of each kind for a time [s], one after the other."""
    return [row for victim in victims() for row in rows(victim, seconds)]
