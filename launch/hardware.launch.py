"""A gait on hardware through ros2_control: `ros2 launch gait_bringup hardware.launch.py`."""

from launch import LaunchDescription

from gait_ros.graph.launch_actions import Arguments, composed, declared
from gait_ros.graph.launch_arguments import HARDWARE_ARGUMENTS
from gait_ros.graph.launch_control import under_control


def compose(arguments: Arguments):
    """Return the nodes that the arguments ask for."""
    return under_control(arguments, walking=True)


def generate_launch_description():
    """Return the arguments and the nodes composed from them."""
    return LaunchDescription([*declared(HARDWARE_ARGUMENTS), composed(compose)])
