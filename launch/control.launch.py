# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""A robot under ros2_control without a gait: `ros2 launch gait_bringup control.launch.py`."""

from launch import LaunchDescription

from gait_ros.graph.launch_actions import ArgumentValues, compose_launch, declare_arguments
from gait_ros.graph.launch_arguments import CONTROL_ARGUMENTS
from gait_ros.graph.launch_control import control_actions


def compose(arguments: ArgumentValues):
    """Return the nodes that the arguments ask for."""
    return control_actions(arguments, with_gait=False)


def generate_launch_description():
    """Return the arguments and the nodes composed from them."""
    return LaunchDescription([*declare_arguments(CONTROL_ARGUMENTS), compose_launch(compose)])
