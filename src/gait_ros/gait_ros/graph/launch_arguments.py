# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Arguments of the launch files, as data.

The module imports neither ROS nor ``launch``. An argument means the same in every launch file.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gait_ros.graph.control_nodes import OUTPUT_TOPICS
from gait_ros.hardware.ros2_control import (
    HARDWARE_TARGET,
    MOCK_TARGET,
    SIM_TARGET,
    TARGETS,
    TOPIC_TARGET,
)


@dataclass(frozen=True, kw_only=True)
class LaunchArgument:
    """Launch argument; its values are text."""

    name: str
    default: str = ''
    doc: str
    choices: tuple[str, ...] = ()

    def with_default(self, default: str) -> LaunchArgument:
        """Return the argument with another default."""
        return replace(self, default=default)


_ROBOT = LaunchArgument(name='robot', doc='Robot name or folder.')
_NAMESPACE = LaunchArgument(name='namespace', doc='Namespace of all nodes.')
_REALTIME_FACTOR = LaunchArgument(
    name='realtime_factor', default='1.0', doc='Simulated time over wall time of the bridge.'
)
_CLOCK = LaunchArgument(
    name='publish_clock',
    default='true',
    doc='Publish /clock: true for one bridge of a ROS domain, false for the others, which follow '
    'it with the nodes of their robots.',
)
_RVIZ = LaunchArgument(name='rviz', default='false', doc='Open RViz: true or false.')
_GAIT = (
    LaunchArgument(
        name='controller',
        doc="Registered controller. Empty: that of the gait file, else the robot's default.",
    ),
    LaunchArgument(
        name='preset',
        doc="Preset of the controller; it overrides the robot's own gait (`defaults.gait` of "
        'robot.yaml). Empty: the default preset, which the own gait overrides; '
        "'none': the controller's defaults.",
    ),
    LaunchArgument(
        name='gait',
        doc='Parameter file of the controller, such as the output of `ros2 param dump`, or '
        'champion.yaml. A champion also sets robot, controller, control period, weights and, in '
        'simulation, the scene, unless another argument does. Empty: none.',
    ),
    LaunchArgument(
        name='seed', doc="Seed of engine and controller. Empty: the champion's, else 0."
    ),
)
_MOTION = (
    LaunchArgument(
        name='command_timeout',
        default='0.5',
        doc='Age at which a cmd_vel expires and the robot stops [s].',
    ),
    LaunchArgument(
        name='stamped_cmd_vel',
        default='false',
        doc='Subscribe to cmd_vel as TwistStamped: true or false.',
    ),
)
_DEMO = (
    LaunchArgument(
        name='demo',
        default='false',
        doc='In simulation, walk without a motion request, until the first cmd_vel or until '
        '~/walk is called with false: true or false.',
    ),
    LaunchArgument(
        name='command',
        doc='Velocity of a demonstration: forward, left [m/s] and yaw rate [rad/s] as '
        "VX[,VY[,WZ]]. Empty: the robot's default.",
    ),
)
_TARGET = LaunchArgument(
    name='target',
    choices=(MOCK_TARGET, TOPIC_TARGET, HARDWARE_TARGET),
    doc='What moves the joints: mock components, a driver or bridge on motors/joint_commands, '
    'or the plugin of the motor file.',
)
_CONTROL = (
    LaunchArgument(
        name='hardware',
        doc='Motor file: motors of the joints and their plugin. Empty: motors have the '
        'names and directions of the joints.',
    ),
    LaunchArgument(
        name='output',
        default=OUTPUT_TOPICS[0],
        choices=OUTPUT_TOPICS,
        doc='How targets are sent: as trajectories or as plain values. The ros2_controller for '
        'this is active, the others are only loaded.',
    ),
    LaunchArgument(name='rate', default='200.0', doc='Update rate of controller_manager [Hz].'),
    LaunchArgument(
        name='simulation',
        default='true',
        doc='With target topic, simulate the motors by a bridge: true or false.',
    ),
    _REALTIME_FACTOR,
    _CLOCK,
    _NAMESPACE,
    _RVIZ,
)

WALK_ARGUMENTS = (
    LaunchArgument(
        name='robot', doc='Robot name or folder. Empty: the robot of the gait file, else guroo.'
    ),
    LaunchArgument(
        name='target',
        default=SIM_TARGET,
        choices=TARGETS,
        doc='What moves the joints. hardware.launch.py has more arguments for targets other than '
        'sim.',
    ),
    *_GAIT,
    *_MOTION,
    *_DEMO,
    LaunchArgument(
        name='engine', doc="Registered engine. Empty: the champion's, else the robot's default."
    ),
    LaunchArgument(
        name='terrain',
        doc="Terrain as NAME[:key=value,...], e.g. rough:range=0.02. Empty: the champion's, else "
        'flat.',
    ),
    LaunchArgument(
        name='sensors',
        doc='Names of lidars and depth cameras of robot.yaml to simulate, or all. Empty: none.',
    ),
    _REALTIME_FACTOR,
    _CLOCK,
    _NAMESPACE,
    LaunchArgument(
        name='link_tf',
        default='robot_state_publisher',
        choices=('robot_state_publisher', 'sim_bridge'),
        doc='Node that publishes the transforms of the links.',
    ),
    _RVIZ,
)

CONTROL_ARGUMENTS = (_ROBOT.with_default('a1'), _TARGET.with_default(MOCK_TARGET), *_CONTROL)

HARDWARE_ARGUMENTS = (
    _ROBOT.with_default('a1'),
    _TARGET.with_default(HARDWARE_TARGET),
    *_CONTROL,
    *_GAIT,
    *_MOTION,
    LaunchArgument(
        name='activate',
        default='false',
        doc='Configure and activate the controller node at the start: true or false. It then '
        'moves the robot on a motion request.',
    ),
)

EVOLVE_ARGUMENTS = (
    LaunchArgument(
        name='experiment',
        default='guroo_quick',
        doc='Experiment name or file; the launch ends with its run. Empty, written "\'\'": '
        'wait for goals on evolver/evolve.',
    ),
    LaunchArgument(
        name='workers',
        default='2',
        doc='Number of bridges to start; each uses one core. 0: all workers of the ROS domain.',
    ),
    LaunchArgument(
        name='generations', default='0', doc='Number of generations; 0: as in the experiment.'
    ),
    LaunchArgument(name='seed', default='-1', doc='Seed of the run; -1: as in the experiment.'),
    _NAMESPACE,
    LaunchArgument(name='run_directory', doc='Run directory. Empty: a new folder in ./runs.'),
    LaunchArgument(
        name='resume', default='false', doc='Continue the run in run_directory: true or false.'
    ),
)
