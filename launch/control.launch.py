"""A robot under ros2_control without a gait: `ros2 launch gait_bringup control.launch.py`."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument

from gait_ros.launch_actions import Arguments, composed
from gait_ros.launch_control import under_control

ARGUMENTS = (
    DeclareLaunchArgument('robot', default_value='a1', description='Robot name or folder.'),
    DeclareLaunchArgument(
        'target',
        default_value='mock',
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
        description='Which controller is active: the others are loaded only.',
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
)


def compose(arguments: Arguments):
    """Return the nodes that the arguments ask for."""
    return under_control(arguments, walking=False)


def generate_launch_description():
    """Return the arguments and the nodes composed from them."""
    return LaunchDescription([*ARGUMENTS, composed(compose)])
