# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Simulate a robot and let a controller walk it: `ros2 launch gait_bringup walk.launch.py`."""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

from gait_core.robot.load import load_robot
from gait_core.robot.urdf.writer import to_scene_urdf
from gait_core.sensors.ranging import select_sensors
from gait_core.trial.robot_gait import choose_controller
from gait_core.trial.setup import make_scene, parse_terrain
from gait_ros.graph.launch_actions import (
    ArgumentValues,
    compose_launch,
    declare_arguments,
    demo_parameters,
    motion_parameters,
    node_action,
    rviz_action,
    state_publisher_action,
)
from gait_ros.graph.launch_arguments import HARDWARE_ARGUMENTS, WALK_ARGUMENTS
from gait_ros.graph.nodes import LiveWalk, walk_graph
from gait_ros.hardware.ros2_control import HARDWARE_TARGET, SIM_TARGET
from gait_ros.live.node_champion import check_origin


def compose(arguments: ArgumentValues):
    """Return the nodes that the arguments ask for."""
    champion, gait = arguments.champion(), arguments.text('gait')
    robot, named = arguments.robot(), arguments.text('controller')
    if champion is not None:
        robot, named = robot or champion.scene.robot, named or champion.spec.controller
    robot = robot or arguments.recorded_parameter('robot') or 'guroo'
    named = named or arguments.recorded_parameter('controller')
    demo = demo_parameters(arguments)
    if arguments.text('target') != SIM_TARGET:
        return [_under_control(arguments, robot)]
    namespace, sensors = arguments.text('namespace'), arguments.text('sensors')
    engine, terrain = arguments.text('engine'), arguments.text('terrain')
    preset = arguments.text('preset')
    clock = arguments.boolean('publish_clock')
    by_bridge = arguments.text('link_tf') == 'sim_bridge'
    if champion is None:
        terrain = terrain or 'flat'
    # Looked up here: what the nodes refuse ends a launch, too, but with status 0.
    make_scene(
        robot,
        {
            **({'terrain': parse_terrain(terrain)} if terrain else {}),
            **({'engine': engine} if engine else {}),
        },
    )
    model = load_robot(robot, champion.scene.draw if champion else 0)
    select_sensors(model, sensors)
    known = '' if preset == 'none' else preset
    controller, _ = choose_controller(model, named, known)
    if champion is not None:
        check_origin(champion.origin, robot, controller)
        champion.check_preset(preset)
        if demo['demo'] and 'command' not in demo:
            champion.check_command()
    walk = LiveWalk(
        robot=robot,
        controller=controller,
        preset=preset,
        engine=engine,
        terrain=terrain,
        seed=arguments.seed(None if champion else 0),
        realtime_factor=arguments.number('realtime_factor'),
        namespace=namespace,
        champion=gait if champion else '',
        gait_files=(gait,) if gait and not champion else (),
        link_transforms=by_bridge,
        publishes_clock=clock,
        sensors=sensors,
        motion={**motion_parameters(arguments), **demo},
    )
    bridge, walker = walk_graph(walk)
    # Those of other packages first: one that is not installed must not leave nodes behind.
    description = to_scene_urdf(model)
    actions = (
        []
        if by_bridge
        else [
            state_publisher_action(
                description, namespace, shared_clock=clock, instead='link_tf:=sim_bridge'
            )
        ]
    )
    if arguments.boolean('rviz'):
        layout = 'tensegrity' if len(model.roots) > 1 else 'sensors' if sensors else 'walk'
        actions.append(rviz_action(layout, model.length_scale, namespace, shared_clock=clock))
    return [*actions, node_action(bridge, essential=True), node_action(walker, must_succeed=True)]


def _under_control(arguments: ArgumentValues, robot: str):
    """Return the launch of the same gait under ros2_control; hardware is activated by hand."""
    alike = {argument.name for argument in WALK_ARGUMENTS} & {a.name for a in HARDWARE_ARGUMENTS}
    given = {name: arguments.text(name) for name in sorted(alike)}
    given['robot'] = robot
    given['activate'] = str(given['target'] != HARDWARE_TARGET)
    file = str(Path(__file__).with_name('hardware.launch.py'))
    return IncludeLaunchDescription(
        PythonLaunchDescriptionSource(file), launch_arguments=list(given.items())
    )


def generate_launch_description():
    """Return the arguments and the nodes composed from them."""
    return LaunchDescription([*declare_arguments(WALK_ARGUMENTS), compose_launch(compose)])
