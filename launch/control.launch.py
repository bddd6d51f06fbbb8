"""A robot under ros2_control without a gait: `ros2 launch gait_bringup control.launch.py`."""

from launch import LaunchDescription

from gait_ros.graph.launch_actions import Arguments, composed, declared
from gait_ros.graph.launch_arguments import CONTROL
from gait_ros.graph.launch_control import under_control


def compose(arguments: Arguments):
    """Return the nodes that the arguments ask for."""
    return under_control(arguments, walking=False)


def generate_launch_description():
    """Return the arguments and the nodes composed from them."""
    return LaunchDescription([*declared(CONTROL), composed(compose)])
