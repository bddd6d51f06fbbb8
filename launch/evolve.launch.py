# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Evolve a gait on sim_bridge workers: `ros2 launch gait_bringup evolve.launch.py`."""

from launch import LaunchDescription

from gait_evolver.plan import load_plan
from gait_ros.graph.launch_actions import (
    ArgumentValues,
    compose_launch,
    declare_arguments,
    node_action,
)
from gait_ros.graph.launch_arguments import EVOLVE_ARGUMENTS
from gait_ros.graph.nodes import evolve_graph


def compose(arguments: ArgumentValues):
    """Return the evolver and its workers."""
    experiment = arguments.text('experiment')
    if experiment:
        # Looked up here: what the evolver refuses ends a launch, too, but with status 0.
        load_plan(experiment)
    evolver, *workers = evolve_graph(
        arguments.integer('workers'),
        experiment,
        namespace=arguments.text('namespace'),
        parameters={
            'generations': arguments.integer('generations'),
            'seed': arguments.integer('seed'),
            'run_directory': arguments.text('run_directory'),
            'resume': arguments.boolean('resume'),
        },
    )
    return [node_action(evolver, essential=True), *map(node_action, workers)]


def generate_launch_description():
    """Return the arguments and the nodes composed from them."""
    return LaunchDescription([*declare_arguments(EVOLVE_ARGUMENTS), compose_launch(compose)])
