"""Simulate a robot and let a controller walk it: `ros2 launch gait_bringup walk.launch.py`."""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

from gait_core.robot.load import load_robot
from gait_core.robot.ros2_control import HARDWARE, SIM
from gait_core.robot.to_urdf import to_scene_urdf
from gait_core.trial_setup import choose_controller, make_scene, parse_terrain
from gait_ros.graph import walk_graph
from gait_ros.launch_actions import Arguments, composed, node_action, rviz, state_publisher

ARGUMENTS = (
    DeclareLaunchArgument('robot', default_value='guroo', description='Robot name or folder.'),
    DeclareLaunchArgument(
        'target',
        default_value='sim',
        choices=['sim', 'mock', 'topic', 'hardware'],
        description='What moves the joints; other than sim: hardware.launch.py, which takes more.',
    ),
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
    DeclareLaunchArgument(
        'engine', default_value='', description="Physics; empty: the robot's default."
    ),
    DeclareLaunchArgument(
        'terrain', default_value='flat', description='NAME[:key=value,...], e.g. rough:range=0.02.'
    ),
    DeclareLaunchArgument('seed', default_value='0', description='Of engine and controller.'),
    DeclareLaunchArgument(
        'realtime_factor', default_value='1.0', description='Simulated over wall time.'
    ),
    DeclareLaunchArgument('namespace', default_value='', description='Of every node.'),
    DeclareLaunchArgument(
        'link_tf',
        default_value='robot_state_publisher',
        choices=['robot_state_publisher', 'sim_bridge'],
        description='Who publishes the transforms of the links.',
    ),
    DeclareLaunchArgument('rviz', default_value='false', description='Open RViz: true or false.'),
)


def compose(arguments: Arguments):
    """Return the nodes that the arguments ask for."""
    if arguments.text('target') != SIM:
        return [_under_control(arguments)]
    robot, namespace = arguments.text('robot'), arguments.text('namespace')
    engine, terrain = arguments.text('engine'), arguments.text('terrain')
    gait, preset = arguments.text('gait'), arguments.text('preset')
    by_bridge = arguments.text('link_tf') == 'sim_bridge'
    # Looked up here: what the nodes refuse ends a launch, too, but with status 0.
    make_scene(
        robot,
        {'terrain': parse_terrain(terrain), **({'engine': engine} if engine else {})},
    )
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
    )
    actions = [node_action(bridge, essential=True), node_action(walker)]
    if not by_bridge:
        actions.append(state_publisher(to_scene_urdf(load_robot(robot)), namespace))
    if arguments.truth('rviz'):
        layout = 'walk.rviz' if len(load_robot(robot).roots) == 1 else 'tensegrity.rviz'
        folder = Path(get_package_share_directory('gait_bringup')) / 'rviz'
        actions.append(rviz(str(folder / layout), namespace))
    return actions


def _under_control(arguments: Arguments):
    """Return the launch of the same gait under ros2_control; hardware is activated by hand."""
    names = ('robot', 'target', 'controller', 'preset', 'gait', 'seed', 'namespace')
    given = {name: arguments.text(name) for name in (*names, 'realtime_factor')}
    given['activate'] = str(given['target'] != HARDWARE)
    file = str(Path(__file__).with_name('hardware.launch.py'))
    return IncludeLaunchDescription(
        PythonLaunchDescriptionSource(file), launch_arguments=list(given.items())
    )


def generate_launch_description():
    """Return the arguments and the nodes composed from them."""
    return LaunchDescription([*ARGUMENTS, composed(compose)])
