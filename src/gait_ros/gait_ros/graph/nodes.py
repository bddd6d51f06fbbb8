"""
The node graph as data: what launch files and `gait walk --ros` both translate.

Nothing here imports ROS, so the graph itself is tested everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from gait_core import registry
from gait_core.parameters.declaration import make_parameters
from gait_core.trial.scene import EMPTY_MAPPING
from gait_core.trial.spec import TrialSpec

BRIDGE_NAME = 'sim_bridge'
USE_SIM_TIME = 'use_sim_time'
FRAME_REMAPPINGS = (('/tf', 'tf'), ('/tf_static', 'tf_static'))
"""Remappings by which a robot's frames go into its namespace: those of all are called alike."""
CLOCK_REMAPPINGS = (('/clock', f'{BRIDGE_NAME}/clock'),)
"""Remapping for the nodes of a robot whose bridge does not publish /clock."""

# Packages whose controllers have a node of their own; any other is run by the generic one.
_NODES = {
    'gait_cpg': ('gait_cpg', 'cpg_node', 'cpg'),
    'gait_stage_walk': ('gait_stage_walk', 'stage_walk_node', 'stage_walk'),
}
_GENERIC_NODE = ('gait_ros', 'controller_node', 'controller')


@dataclass(frozen=True, kw_only=True)
class NodeSpec:
    """
    One node to start.

    Attributes
    ----------
    package, executable : str
        As in ``ros2 run``.
    name, namespace : str
        Of the node.
    parameters : mapping of str to number, bool, str or list of one of them
        By dotted name, over those of the files.
    parameter_files : tuple of str
        ROS parameter files, the later ones over the earlier.
    remappings : tuple of (str, str)
        From, to.
    arguments : tuple of str
        Command line of an executable that takes more than a node does.

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
        """Name with its namespace, e.g. ``/r1/sim_bridge``."""
        space = self.namespace.strip('/')
        return f'/{space}/{self.name}' if space else f'/{self.name}'


def controller_node(
    controller: str, parameters: Mapping[str, Any], namespace: str = '', **more: Any
) -> NodeSpec:
    """Return the node of a registered controller; ConfigurationError if there is none."""
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
    """Return a bridge; ``more`` are further fields of the node."""
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
    """Return a bridge's parameters by which it publishes /clock, or follows another's."""
    return {'publish_clock': publishes_clock, USE_SIM_TIME: not publishes_clock}


@dataclass(frozen=True, kw_only=True)
class LiveWalk:
    """
    A walk of a simulated robot that goes on until its nodes end.

    Attributes
    ----------
    robot, controller : str
        Name or folder; registered name.
    preset, engine : str
        Empty: the defaults of the controller and of the robot.
    terrain : str
        ``NAME[:key=value,...]``.
    realtime_factor : float
        Simulated over wall time.
    namespace : str
        Of both nodes.
    champion : str
        Champion file for both nodes; engine, terrain and seed are those of its trial where they
        are empty or ``None``.
    gait_files : tuple of str
        Parameter files for the controller.
    link_transforms : bool
        Whether the bridge publishes the links' transforms.
    clock : bool
        Whether it publishes /clock. If not, the controller steps by the bridge's own all the same.
    sensors : str
        Names of the robot's range sensors that it simulates, or ``all``.
    motion : mapping
        Parameters of the controller that say when it walks: ``demo``, ``command``,
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
    clock: bool = True
    sensors: str = ''
    motion: Mapping[str, Any] = field(default_factory=lambda: EMPTY_MAPPING)


def walk_graph(walk: LiveWalk) -> tuple[NodeSpec, ...]:
    """Return a bridge that runs by itself and a controller that walks its robot."""
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
            **clock_parameters(walk.clock),
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
        remappings=() if walk.clock else CLOCK_REMAPPINGS,
    )
    return bridge, walker


def trial_graph(
    spec: TrialSpec, *, link_transforms: bool = False, sensors: str = ''
) -> tuple[NodeSpec, ...]:
    """
    Return a bridge and a controller in lock-step, for one trial or many of its controller.

    Every parameter of the controller is written out, so that no preset or default of the node
    takes part.
    """
    cls = registry.controller(spec.controller)
    gait = asdict(make_parameters(cls.Params, spec.parameters))
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
    parameters: Mapping[str, Any] = EMPTY_MAPPING,
) -> tuple[NodeSpec, ...]:
    """Return an evolver and its workers, each in a namespace of its own."""
    evolver = NodeSpec(
        package='gait_evolver',
        executable='evolver_node',
        name='evolver',
        parameters={
            'experiment': experiment,
            'workers': list(worker_names(workers)),
            **parameters,
        },
    )
    return (evolver, *worker_nodes(workers))


def worker_nodes(count: int) -> tuple[NodeSpec, ...]:
    """Return bridges that only run trials."""
    return tuple(
        bridge_node({'mode': 'lockstep', 'publish_clock': False}, namespace=f'worker{number}')
        for number in range(count)
    )


def worker_names(count: int) -> tuple[str, ...]:
    """Return the full names of that many workers."""
    return tuple(node.full_name for node in worker_nodes(count))
