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
_NAMESPACE = LaunchArgument(name='namespace', text='Namespace of all nodes.')
_FACTOR = LaunchArgument(
    name='realtime_factor', default='1.0', text='Simulated time over wall time of the bridge.'
)
_CLOCK = LaunchArgument(
    name='publish_clock',
    default='true',
    text='Publish /clock: true or false. One bridge of a domain does; the others, with the '
    'nodes of their robots, follow it.',
)
_RVIZ = LaunchArgument(name='rviz', default='false', text='Open RViz: true or false.')
_GAIT = (
    LaunchArgument(
        name='controller',
        text="Registered controller. Empty: the champion's, else the robot's default.",
    ),
    LaunchArgument(
        name='preset',
        text="Preset of the controller. Empty: its default preset; 'none': the defaults of its "
        'parameters.',
    ),
    LaunchArgument(
        name='gait',
        text='Parameter file of the controller, or champion.yaml. A champion also sets robot, '
        'controller, control period, weights and, in simulation, the scene, unless another '
        'argument does. Empty: none.',
    ),
    LaunchArgument(
        name='seed', text="Seed of engine and controller. Empty: the champion's, else 0."
    ),
)
_MOTION = (
    LaunchArgument(
        name='command_timeout',
        default='0.5',
        text='Age at which a cmd_vel expires and the robot stops [s].',
    ),
    LaunchArgument(
        name='stamped_cmd_vel',
        default='false',
        text='Subscribe to cmd_vel as TwistStamped: true or false.',
    ),
)
_DEMO = (
    LaunchArgument(
        name='demo',
        default='false',
        text='In simulation, walk without a motion request, until the first cmd_vel or until '
        '~/walk is called with false: true or false.',
    ),
    LaunchArgument(
        name='command',
        text='Velocity of a demonstration: forward, left [m/s] and yaw rate [rad/s] as '
        "VX[,VY[,WZ]]. Empty: the robot's default.",
    ),
)
_MOVED = LaunchArgument(
    name='target',
    choices=(MOCK, TOPIC, HARDWARE),
    text='What moves the joints: mock components, a driver or bridge on motors/joint_commands, '
    'or the hardware plugin.',
)
_CONTROL = (
    LaunchArgument(
        name='hardware',
        text='Hardware file: motors of the joints and their plugin. Empty: motors are named and '
        'turn like the joints.',
    ),
    LaunchArgument(
        name='output',
        default=OUTPUTS[0],
        choices=OUTPUTS,
        text='How targets are sent: as trajectories or as plain values. The controller for it is '
        'active, the others are loaded.',
    ),
    LaunchArgument(name='rate', default='200.0', text='Update rate of controller_manager [Hz].'),
    LaunchArgument(
        name='simulation',
        default='true',
        text='With target topic, simulate the motors by a bridge: true or false.',
    ),
    _FACTOR,
    _CLOCK,
    _NAMESPACE,
    _RVIZ,
)

WALK = (
    LaunchArgument(name='robot', text="Robot name or folder. Empty: the champion's, else guroo."),
    LaunchArgument(
        name='target',
        default=SIM,
        choices=TARGETS,
        text='What moves the joints. Other than sim: as hardware.launch.py, which has more '
        'arguments.',
    ),
    *_GAIT,
    *_MOTION,
    *_DEMO,
    LaunchArgument(
        name='engine', text="Registered engine. Empty: the champion's, else the robot's default."
    ),
    LaunchArgument(
        name='terrain',
        text="Terrain as NAME[:key=value,...], e.g. rough:range=0.02. Empty: the champion's, else "
        'flat.',
    ),
    LaunchArgument(
        name='sensors',
        text='Names of lidars and depth cameras of robot.yaml to simulate, or all. Empty: none.',
    ),
    _FACTOR,
    _CLOCK,
    _NAMESPACE,
    LaunchArgument(
        name='link_tf',
        default='robot_state_publisher',
        choices=('robot_state_publisher', 'sim_bridge'),
        text='Node that publishes the transforms of the links.',
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
        text='Configure and activate the gait at the start: true or false. An active gait moves '
        'the robot on a motion request.',
    ),
)

EVOLVE = (
    LaunchArgument(
        name='experiment',
        default='guroo_quick',
        text='Experiment name or file. Empty: wait for goals on evolver/evolve.',
    ),
    LaunchArgument(
        name='workers', default='2', text='Number of bridges to start; each uses one core.'
    ),
    LaunchArgument(
        name='generations', default='0', text='Number of generations; 0: as in the experiment.'
    ),
    LaunchArgument(name='seed', default='-1', text='Seed of the run; -1: as in the experiment.'),
    LaunchArgument(name='run_directory', text='Run directory. Empty: a new folder in ./runs.'),
    LaunchArgument(
        name='resume', default='false', text='Continue the run in run_directory: true or false.'
    ),
)
