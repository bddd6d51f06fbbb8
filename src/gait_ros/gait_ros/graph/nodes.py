# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Node graph as data, for launch files and `gait walk --ros`.

The module imports no ROS package, so that the graph is tested without ROS.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gait_core import registry
from gait_core.contracts import MAX_WORKERS
from gait_core.errors import ConfigurationError
from gait_core.parameters.declaration import make_parameters, parameter_values
from gait_core.trial.scene import EMPTY_MAPPING
from gait_core.trial.spec import TrialSpec

BRIDGE_NAME = 'sim_bridge'
USE_SIM_TIME = 'use_sim_time'
FRAME_REMAPPINGS = (('/tf', 'tf'), ('/tf_static', 'tf_static'))
"""Remappings that move the frames of a robot into its namespace: all robots name them alike."""
CLOCK_REMAPPINGS = (('/clock', f'{BRIDGE_NAME}/clock'),)
"""Remapping of nodes whose bridge does not publish /clock."""

# Packages whose controllers have their own node; other controllers run in the generic node.
_NODES = {
    'gait_cpg': ('gait_cpg', 'cpg_node', 'cpg'),
    'gait_stage_walk': ('gait_stage_walk', 'stage_walk_node', 'stage_walk'),
}
_GENERIC_NODE = ('gait_ros', 'controller_node', 'controller')


@dataclass(frozen=True, kw_only=True)
class NodeSpec:
    """
    Node to start.

    Attributes
    ----------
    package, executable : str
        As in ``ros2 run``.
    name, namespace : str
    parameters : mapping of str to number, bool, str or list of one of them
        Parameters by dotted name, which take precedence over those of the files.
    parameter_files : tuple of str
        ROS parameter files; later files take precedence.
    remappings : tuple of (str, str)
        Old and new name of topics.
    arguments : tuple of str
        Further arguments of the executable.

    """

    package: str
    executable: str
    name: str
    namespace: str = ''
    parameters: Mapping[str, Any] = field(default_factory=lambda: EMPTY_MAPPING)
    parameter_files: tuple[str, ...] = ()
    remappings: tuple[tuple[str, str], ...] = ()
    arguments: tuple[str, ...] = ()

    @property
    def full_name(self) -> str:
        """Name with namespace, e.g. ``/r1/sim_bridge``."""
        space = self.namespace.strip('/')
        return f'/{space}/{self.name}' if space else f'/{self.name}'


def controller_node(
    controller: str, parameters: Mapping[str, Any], namespace: str = '', **more: Any
) -> NodeSpec:
    """Return the node of a registered controller; ConfigurationError if it is not registered."""
    package, executable, name = _NODES.get(
        registry.package('controllers', controller), _GENERIC_NODE
    )
    return NodeSpec(
        package=package,
        executable=executable,
        name=name,
        namespace=namespace,
        parameters={'controller': controller, **parameters},
        **more,
    )


def bridge_node(
    parameters: Mapping[str, Any], namespace: str = '', name: str = BRIDGE_NAME, **more: Any
) -> NodeSpec:
    """Return a bridge; ``more`` are further fields of NodeSpec."""
    return NodeSpec(
        package='sim_bridge',
        executable='sim_bridge_node',
        name=name,
        namespace=namespace,
        parameters=dict(parameters),
        remappings=FRAME_REMAPPINGS,
        **more,
    )


def clock_parameters(publishes_clock: bool) -> dict[str, bool]:
    """Return the parameters with which a bridge publishes /clock, or follows that of another."""
    return {'publish_clock': publishes_clock, USE_SIM_TIME: not publishes_clock}


@dataclass(frozen=True, kw_only=True)
class LiveWalk:
    """
    Walk of a simulated robot that continues until its nodes end.

    Attributes
    ----------
    robot : str
        Name or folder.
    controller : str
        Registered name.
    preset, engine : str
        Empty: the default of the controller or of the robot.
    terrain : str
        ``NAME[:key=value,...]``.
    seed : int or None
        Seed of engine and controller.
    realtime_factor : float
        Simulated time over wall time.
    namespace : str
        Namespace of both nodes.
    champion : str
        Champion file for both nodes. Where engine and terrain are empty and the seed is None, they
        are those of its trial.
    gait_files : tuple of str
        Parameter files of the controller.
    link_transforms : bool
        Whether the bridge publishes the transforms of the links.
    publishes_clock : bool
        Whether the bridge publishes /clock; otherwise the controller follows its ``~/clock``.
    sensors : str
        Names of the range sensors that the bridge simulates, or ``all``.
    motion : mapping
        Parameters of the controller node on motion requests: ``demo``, ``command``,
        ``command_timeout``, ``stamped_cmd_vel``.

    """

    robot: str
    controller: str
    preset: str = ''
    engine: str = ''
    terrain: str = 'flat'
    seed: int | None = 0
    realtime_factor: float = 1.0
    namespace: str = ''
    champion: str = ''
    gait_files: tuple[str, ...] = ()
    link_transforms: bool = False
    publishes_clock: bool = True
    sensors: str = ''
    motion: Mapping[str, Any] = field(default_factory=lambda: EMPTY_MAPPING)


def walk_graph(walk: LiveWalk) -> tuple[NodeSpec, ...]:
    """Return a bridge in real time, and a live controller."""
    files = (walk.champion,) if walk.champion else ()
    seeds = {} if walk.seed is None else {'seed': walk.seed}
    bridge = bridge_node(
        {
            'robot': walk.robot,
            'engine': walk.engine,
            'terrain': walk.terrain,
            **seeds,
            'mode': 'realtime',
            'realtime_factor': float(walk.realtime_factor),
            'publish_link_tf': walk.link_transforms,
            **clock_parameters(walk.publishes_clock),
            'sensors': walk.sensors,
        },
        walk.namespace,
        parameter_files=files,
    )
    walker = controller_node(
        walk.controller,
        {
            'robot': walk.robot,
            'preset': walk.preset,
            **seeds,
            'safety.recover': True,
            USE_SIM_TIME: True,
            **walk.motion,
        },
        walk.namespace,
        parameter_files=(*files, *walk.gait_files),
        remappings=() if walk.publishes_clock else CLOCK_REMAPPINGS,
    )
    return bridge, walker


def trial_graph(
    spec: TrialSpec, *, link_transforms: bool = False, sensors: str = ''
) -> tuple[NodeSpec, ...]:
    """
    Return a bridge and a controller in lock-step, for trials with the same controller.

    The node of the controller is given every parameter, so that no preset or default applies.
    """
    cls = registry.controller(spec.controller)
    gait = parameter_values(make_parameters(cls.Params, spec.parameters))
    bridge = bridge_node(
        {
            'mode': 'lockstep',
            'publish_clock': False,
            'publish_link_tf': link_transforms,
            'sensors': sensors,
        }
    )
    walker = controller_node(
        spec.controller,
        {
            'robot': spec.scene.robot,
            'draw': spec.scene.draw,
            'preset': 'none',
            'weights': spec.weights,
            'weights_sha256': spec.weights_sha256,
            'lockstep': True,
            'bridge': bridge.name,
            **{f'gait.{name}': value for name, value in gait.items() if value != ()},
        },
    )
    return bridge, walker


def evolve_graph(
    workers: int,
    experiment: str = '',
    *,
    namespace: str = '',
    parameters: Mapping[str, Any] = EMPTY_MAPPING,
) -> tuple[NodeSpec, ...]:
    """Return an evolver and its workers, each in its own namespace within ``namespace``."""
    nodes = worker_nodes(workers)
    evolver = NodeSpec(
        package='gait_evolver',
        executable='evolver_node',
        name='evolver',
        namespace=namespace,
        parameters={
            'experiment': experiment,
            # Relative to the namespace of the evolver, which another launch file may extend.
            'workers': [node.full_name.strip('/') for node in nodes],
            **parameters,
        },
    )
    return (
        evolver,
        *(replace(node, namespace=f'{namespace}/{node.namespace}'.strip('/')) for node in nodes),
    )


def worker_nodes(count: int) -> tuple[NodeSpec, ...]:
    """Return a number of bridges that only run trials; ConfigurationError for a wrong number."""
    if not 0 <= count <= MAX_WORKERS:
        raise ConfigurationError(
            f'workers is {count}; nearest valid: {0 if count < 0 else MAX_WORKERS}'
        )
    return tuple(
        bridge_node({'mode': 'lockstep', 'publish_clock': False}, namespace=f'worker{number}')
        for number in range(count)
    )
