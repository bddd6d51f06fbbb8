"""A gait on hardware through ros2_control: `ros2 launch gait_bringup hardware.launch.py`."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument

from gait_ros.launch_actions import Arguments, composed
from gait_ros.launch_control import under_control

ARGUMENTS = (
    DeclareLaunchArgument('robot', default_value='a1', description='Robot name or folder.'),
    DeclareLaunchArgument(
        'target',
        default_value='hardware',
        choices=['mock', 'topic', 'hardware'],
        description='What moves the joints: mock components, whoever takes '
        'hardware/joint_commands, or real motors.',
    ),
    DeclareLaunchArgument(
        'hardware',
        default_value='',
        description='A hardware.yaml: motors of the joints, and the plugin that reaches them; '
        'empty: motors are as joints.',
    ),
    DeclareLaunchArgument(
        'output',
        default_value='joint_trajectory',
        choices=['joint_trajectory', 'commands'],
        description='How the gait commands joints: by trajectories, or by values as they are.',
    ),
    DeclareLaunchArgument(
        'rate', default_value='200.0', description='Of controller_manager, in Hz.'
    ),
    DeclareLaunchArgument(
        'simulation',
        default_value='true',
        description='With target topic: a bridge is the hardware, true or false.',
    ),
    DeclareLaunchArgument(
        'realtime_factor',
        default_value='1.0',
        description='Of that bridge: simulated over wall time.',
    ),
    DeclareLaunchArgument('namespace', default_value='', description='Of every node.'),
    DeclareLaunchArgument(
        'controller',
        default_value='',
        description="Registered controller; empty: the robot's default.",
    ),
    DeclareLaunchArgument(
        'preset',
        default_value='',
        description="Parameter set; empty: the default one; 'none': the controller's defaults.",
    ),
    DeclareLaunchArgument(
        'gait',
        default_value='',
        description='Parameter file of the controller, e.g. a champion.yaml; empty: none.',
    ),
    DeclareLaunchArgument('seed', default_value='0', description='Of the controller.'),
    DeclareLaunchArgument(
        'activate',
        default_value='false',
        description='Let the gait move the robot at once; else it waits to be configured and '
        'activated: true or false.',
    ),
)


def compose(arguments: Arguments):
    """Return the nodes that the arguments ask for."""
    return under_control(arguments, walking=True)


def generate_launch_description():
    """Return the arguments and the nodes composed from them."""
    return LaunchDescription([*ARGUMENTS, composed(compose)])
