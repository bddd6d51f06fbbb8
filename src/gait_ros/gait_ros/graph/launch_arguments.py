"""
Arguments of the launch files, as data: name, default, what they mean.

Nothing here imports ROS or ``launch``. Those that several launch files take mean the same in each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gait_ros.graph.control import OUTPUTS
from gait_ros.hardware.ros2_control import HARDWARE, MOCK, SIM, TARGETS, TOPIC


@dataclass(frozen=True, kw_only=True)
class LaunchArgument:
    """One argument; every value is text."""

    name: str
    default: str = ''
    text: str
    choices: tuple[str, ...] = ()

    def of(self, default: str) -> LaunchArgument:
        """Return it with another default."""
        return replace(self, default=default)


_ROBOT = LaunchArgument(name='robot', text='Robot name or folder.')
_NAMESPACE = LaunchArgument(name='namespace', text='Of every node.')
_FACTOR = LaunchArgument(
    name='realtime_factor', default='1.0', text='Of a bridge: simulated over wall time.'
)
_CLOCK = LaunchArgument(
    name='publish_clock',
    default='true',
    text='Of a bridge: true or false; one of a domain publishes /clock, all others follow it, '
    'each with the nodes of its own robot.',
)
_RVIZ = LaunchArgument(name='rviz', default='false', text='Open RViz: true or false.')
_GAIT = (
    LaunchArgument(
        name='controller',
        text="Registered controller; empty: the champion's, else the robot's default.",
    ),
    LaunchArgument(
        name='preset',
        text="Parameter set; empty: the default one; 'none': the controller's defaults.",
    ),
    LaunchArgument(
        name='gait',
        text='Parameter file of the controller, or a champion.yaml: robot, controller, control '
        'period, weights and, in simulation, scene are its own where no argument differs; '
        'empty: none.',
    ),
    LaunchArgument(name='seed', text="Of engine and controller; empty: the champion's, else 0."),
)
_MOTION = (
    LaunchArgument(
        name='command_timeout',
        default='0.5',
        text='Age in s at which a cmd_vel expires: then the robot stops.',
    ),
    LaunchArgument(
        name='stamped_cmd_vel',
        default='false',
        text='Read cmd_vel as TwistStamped: true or false.',
    ),
)
_DEMO = (
    LaunchArgument(
        name='demo',
        default='false',
        text='In simulation, walk without a request, until the first cmd_vel or until ~/walk is '
        'called with false: true or false.',
    ),
    LaunchArgument(
        name='command',
        text="Velocity of a demonstration, VX[,VY[,WZ]]; empty: the robot's default.",
    ),
)
_MOVED = LaunchArgument(
    name='target',
    choices=(MOCK, TOPIC, HARDWARE),
    text='What moves the joints: mock components, whoever takes motors/joint_commands as a '
    'bridge does, or real motors.',
)
_CONTROL = (
    LaunchArgument(
        name='hardware',
        text='A hardware.yaml: motors of the joints, and the plugin that reaches them; empty: '
        'motors are as joints.',
    ),
    LaunchArgument(
        name='output',
        default=OUTPUTS[0],
        choices=OUTPUTS,
        text='How joints are commanded, by trajectories or by values as they are; the controller '
        'for it is active, the others are loaded.',
    ),
    LaunchArgument(name='rate', default='200.0', text='Of controller_manager, in Hz.'),
    LaunchArgument(
        name='simulation',
        default='true',
        text='With target topic: a bridge plays the motors, true or false.',
    ),
    _FACTOR,
    _CLOCK,
    _NAMESPACE,
    _RVIZ,
)

WALK = (
    LaunchArgument(name='robot', text="Robot name or folder; empty: the champion's, else guroo."),
    LaunchArgument(
        name='target',
        default=SIM,
        choices=TARGETS,
        text='What moves the joints; other than sim: hardware.launch.py, which takes more.',
    ),
    *_GAIT,
    *_MOTION,
    *_DEMO,
    LaunchArgument(
        name='engine', text="Physics; empty: the champion's, else the robot's default."
    ),
    LaunchArgument(
        name='terrain',
        text="NAME[:key=value,...], e.g. rough:range=0.02; empty: the champion's, else flat.",
    ),
    LaunchArgument(
        name='sensors',
        text='Lidars and depth cameras of robot.yaml to simulate: names, or all; empty: none.',
    ),
    _FACTOR,
    _CLOCK,
    _NAMESPACE,
    LaunchArgument(
        name='link_tf',
        default='robot_state_publisher',
        choices=('robot_state_publisher', 'sim_bridge'),
        text='Who publishes the transforms of the links.',
    ),
    _RVIZ,
)

CONTROL = (_ROBOT.of('a1'), _MOVED.of(MOCK), *_CONTROL)

HARDWARE_ARGUMENTS = (
    _ROBOT.of('a1'),
    _MOVED.of(HARDWARE),
    *_CONTROL,
    *_GAIT,
    *_MOTION,
    LaunchArgument(
        name='activate',
        default='false',
        text='Activate the gait at once: it moves the robot when asked to. Else it waits to be '
        'configured and activated: true or false.',
    ),
)

EVOLVE = (
    LaunchArgument(
        name='experiment',
        default='guroo_quick',
        text='Experiment name or file; empty: wait for goals on evolver/evolve.',
    ),
    LaunchArgument(name='workers', default='2', text='Bridges to start, one core each.'),
    LaunchArgument(name='generations', default='0', text='0: as the experiment says.'),
    LaunchArgument(name='seed', default='-1', text='-1: as the experiment says.'),
    LaunchArgument(name='run_directory', text='Empty: a new folder in ./runs.'),
    LaunchArgument(
        name='resume', default='false', text='Go on with run_directory: true or false.'
    ),
)
