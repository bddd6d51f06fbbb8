"""Simulate a robot and let a controller walk it: `ros2 launch gait_bringup walk.launch.py`."""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

from gait_core.range_sensors import choose_sensors
from gait_core.robot.load import load_robot
from gait_core.robot.ros2_control import HARDWARE, SIM
from gait_core.robot.to_urdf import to_scene_urdf
from gait_core.trial_setup import choose_controller, make_scene, parse_terrain
from gait_ros.graph import walk_graph
from gait_ros.launch_actions import (
    Arguments,
    composed,
    declared,
    node_action,
    rviz,
    state_publisher,
)
from gait_ros.launch_arguments import HARDWARE_ARGUMENTS, WALK


def compose(arguments: Arguments):
    """Return the nodes that the arguments ask for."""
    if arguments.text('target') != SIM:
        return [_under_control(arguments)]
    robot, namespace = arguments.text('robot'), arguments.text('namespace')
    engine, terrain = arguments.text('engine'), arguments.text('terrain')
    gait, preset = arguments.text('gait'), arguments.text('preset')
    sensors = arguments.text('sensors')
    by_bridge = arguments.text('link_tf') == 'sim_bridge'
    # Looked up here: what the nodes refuse ends a launch, too, but with status 0.
    make_scene(
        robot,
        {'terrain': parse_terrain(terrain), **({'engine': engine} if engine else {})},
    )
    choose_sensors(load_robot(robot), sensors)
    known = '' if preset == 'none' else preset
    controller, _ = choose_controller(load_robot(robot), arguments.text('controller'), known)
    bridge, walker = walk_graph(
        robot,
        controller,
        preset=preset,
        engine=engine,
        terrain=terrain,
        seed=arguments.whole('seed'),
        realtime_factor=arguments.number('realtime_factor'),
        namespace=namespace,
        gait_files=(gait,) if gait else (),
        link_transforms=by_bridge,
        clock=arguments.truth('publish_clock'),
        sensors=sensors,
    )
    # Those of other packages first: one that is not installed must not leave nodes behind.
    actions = [] if by_bridge else [state_publisher(to_scene_urdf(load_robot(robot)), namespace)]
    if arguments.truth('rviz'):
        model = load_robot(robot)
        layout = 'tensegrity' if len(model.roots) > 1 else 'sensors' if sensors else 'walk'
        actions.append(rviz(layout, model.length_scale, namespace))
    return [*actions, node_action(bridge, essential=True), node_action(walker)]


def _under_control(arguments: Arguments):
    """Return the launch of the same gait under ros2_control; hardware is activated by hand."""
    alike = {argument.name for argument in WALK} & {a.name for a in HARDWARE_ARGUMENTS}
    given = {name: arguments.text(name) for name in sorted(alike)}
    given['activate'] = str(given['target'] != HARDWARE)
    file = str(Path(__file__).with_name('hardware.launch.py'))
    return IncludeLaunchDescription(
        PythonLaunchDescriptionSource(file), launch_arguments=list(given.items())
    )


def generate_launch_description():
    """Return the arguments and the nodes composed from them."""
    return LaunchDescription([*declared(WALK), composed(compose)])
