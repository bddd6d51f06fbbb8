# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""A gait on hardware through ros2_control: `ros2 launch gait_bringup hardware.launch.py`."""

from launch import LaunchDescription

from gait_ros.graph.launch_actions import ArgumentValues, compose_launch, declare_arguments
from gait_ros.graph.launch_arguments import HARDWARE_ARGUMENTS
from gait_ros.graph.launch_control import control_actions


def compose(arguments: ArgumentValues):
    """Return the nodes that the arguments ask for."""
    return control_actions(arguments, with_gait=True)


def generate_launch_description():
    """Return the arguments and the nodes composed from them."""
    return LaunchDescription([*declare_arguments(HARDWARE_ARGUMENTS), compose_launch(compose)])
