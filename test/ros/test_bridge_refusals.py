# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""A refused request changes nothing in a bridge: its live simulation continues."""

import math

import pytest

pytest.importorskip('rclpy')

from gait_core.errors import SimulationDiverged
from gait_core.robot.load import load_robot
from gait_core.testing.doubles import KinematicEngine, register_temporarily
from gait_core.trial import parts as trial_parts
from gait_core.trial.loop import run_trial
from gait_core.trial.scene import Scene
from gait_core.trial.setup import make_scene
from gait_core.trial.spec import TrialSpec
from gait_interfaces import msg
from gait_interfaces.srv import Reset, RunTrial
from gait_ros.messages.conversions import from_result, to_scene, to_spec
from sim_bridge.node import SimBridgeNode

NAN = math.nan


def quantity(name, value=1.0):
    return [msg.Quantity(name=name, value=value)]


SCENES = {
    'terrain': ({'terrain': 'nope'}, "unknown terrain 'nope'"),
    'terrain parameter': ({'terrain_parameters': quantity('nope')}, "'nope'"),
    'terrain parameter of NaN': (
        {'terrain': 'slope', 'terrain_parameters': quantity('angle_deg', NAN)},
        'angle_deg',
    ),
    'terrain seed': ({'terrain_seed': -1}, 'seed'),
    'engine': ({'engine': 'bulet'}, "did you mean 'bullet'"),
    'engine option': ({'engine_options': quantity('nope')}, "'nope'"),
    'engine option twice': (
        {'engine_options': quantity('solver_iterations') + quantity('solver_iterations')},
        'twice',
    ),
    'link of a push': (
        {'push_links': ['nope'], 'push_windows': [0.0, 1.0], 'push_forces': [1.0, 0.0, 0.0]},
        "'nope'",
    ),
    'push of other sizes': ({'push_links': ['trunk', 'trunk'], 'push_windows': [1.0]}, '2 x 2'),
    'push of NaN': (
        {'push_links': [''], 'push_windows': [0.0, 1.0], 'push_forces': [NAN, 0.0, 0.0]},
        'fx is nan',
    ),
    'initial joint': ({'initial_joints': quantity('nope')}, "'nope'"),
    'initial joint of NaN': ({'initial_joints': quantity('FL_hip_joint', NAN)}, 'FL_hip_joint'),
    'initial pose of NaN': ({'initial_pose': [NAN] * 6}, 'initial.x'),
    'initial pose far away': ({'initial_pose': [1e308, 0.0, 0.0, 0.0, 0.0, 0.0]}, ''),
    'contact law': ({'contact_law': 'nope'}, "'nope'"),
    'friction of NaN': ({'friction': [NAN]}, 'friction'),
    'gravity of inf': ({'gravity': [0.0, 0.0, math.inf]}, 'gravity[2]'),
    'physics step': ({'physics_step': [0.003]}, 'not a whole multiple'),
    'period of NaN': ({'control_period': [NAN]}, 'control_period'),
    'scale of 1e300': ({'length_scale': 1e300}, 'nearest valid: 1e+06'),
    'tiny scale': ({'length_scale': 1e-300}, 'nearest valid: 1e-06'),
    'mass factor': ({'mass_factor': 1e308}, 'nearest valid: 1e+06'),
    'huge gravity': ({'gravity': [0.0, 0.0, -1e300]}, 'nearest valid: -1e+09'),
    'huge push': (
        {'push_links': [''], 'push_windows': [0.0, 1.0], 'push_forces': [0.0, 1e300, 0.0]},
        'push.fy is 1e+300 N, outside [-1e+09, 1e+09]; nearest valid: 1e+09',
    ),
    'huge noise': ({'sensor_noise': [0.0, 0.0, 1e300, 0.0, 0.0]}, 'nearest valid: 1e+09'),
    'noise of NaN': ({'sensor_noise': [NAN] * 5}, 'joint_position_noise'),
    'draw': ({'draw': -1}, 'scene.draw'),
    'robot': ({'robot': 'guro'}, "'guro'"),
    'robot without a name': ({'robot': ''}, ''),
    'robot of 300 characters': ({'robot': 300 * 'a'}, 50 * 'a' + '...' + 20 * 'a'),
    'robot of 100000 characters': ({'robot': 100000 * 'a'}, 50 * 'a' + '...' + 20 * 'a'),
    'robot of control characters': ({'robot': '\n\x1b[31m'}, r'\n\x1b[31m'),
}


@pytest.fixture(scope='module')
def urdfs(tmp_path_factory):
    """Return invalid URDF files by the name of their fault."""
    folder = tmp_path_factory.mktemp('urdf')
    link = '<link name="a"/><link name="b"/>'
    joint = '<joint name="j" type="revolute"><parent link="a"/><child link="b"/>{}</joint>'
    limit = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
    texts = {
        'colour': '<material name="m"><color rgba="red green"/></material>'
        + link
        + joint.format(limit),
        'mimic': link + joint.format(limit + '<mimic joint="j"/>'),
        'cut': '<link name=',
        'empty': '',
    }
    for name, text in texts.items():
        (folder / f'{name}.urdf').write_text(f'<robot name="r">{text}</robot>')
    return folder


def live(graph, **parameters):
    node = graph.add(SimBridgeNode, publish_clock=False, **parameters)
    graph.until(lambda: node._live.tick > 3)
    return node


def assert_goes_on(graph, node, simulation, scene):
    """Assert that the very same simulation is stepped, in the same scene."""
    assert node._live is simulation and node._scene is scene and not node._fault
    tick = simulation.tick
    graph.until(lambda: simulation.tick > tick)


def test_a_refused_reset_leaves_the_live_simulation_running(graph, urdfs):
    node = live(graph, robot='a1')
    simulation, scene = node._live, node._scene
    for what, (changes, words) in SCENES.items():
        asked = to_scene(make_scene('a1', {}))
        for name, value in changes.items():
            setattr(asked, name, value)
        answer = graph.call(Reset, '/sim_bridge/reset', scene=[asked])
        assert not answer.success and answer.message, what
        assert words in answer.message and len(answer.message) <= 300, (what, answer.message)
        assert '\n' not in answer.message and 101 * 'a' not in answer.message, what
        assert_goes_on(graph, node, simulation, scene)
    for file in sorted(urdfs.iterdir()):
        asked.robot = str(file)
        answer = graph.call(Reset, '/sim_bridge/reset', scene=[asked])
        assert not answer.success and answer.message, file
        assert_goes_on(graph, node, simulation, scene)
    for seed in (-1, -(2**63)):
        answer = graph.call(Reset, '/sim_bridge/reset', seed=seed)
        assert not answer.success and str(seed) in answer.message
        assert_goes_on(graph, node, simulation, scene)
    assert not graph.logged('Traceback')
    answer = graph.call(Reset, '/sim_bridge/reset', scene=[to_scene(make_scene('guroo', {}))])
    assert answer.success, answer.message
    graph.until(lambda: node._live.tick > 3)
    assert node._live.robot.name == load_robot('guroo').name


class Exploding(KinematicEngine):
    """Raises an error while it settles: divergence, or an unforeseen one."""

    error = SimulationDiverged('far away')

    def reset(self, scene, seed, settle_ticks=0):
        raise self.error


@pytest.mark.parametrize(
    ('error', 'words'),
    [
        (SimulationDiverged('far away'), 'diverges before its first tick: far away'),
        (ZeroDivisionError('by zero'), 'ZeroDivisionError: by zero'),
        (SystemExit(7), 'SystemExit: 7'),
        (MemoryError(), 'MemoryError'),
    ],
)
def test_an_engine_that_fails_at_a_reset_leaves_the_live_simulation(
    graph, box, monkeypatch, error, words
):
    node = live(graph, robot=box)
    simulation, scene = node._live, node._scene
    monkeypatch.setattr(Exploding, 'error', error)
    with register_temporarily('engines', exploding=Exploding):
        asked = to_scene(Scene(robot=box, engine='exploding'))
        answer = graph.call(Reset, '/sim_bridge/reset', scene=[asked])
    assert not answer.success and words in answer.message
    assert_goes_on(graph, node, simulation, scene)


def test_a_trial_and_the_live_robot_have_engines_of_their_own(graph, box):
    node = live(graph, robot=box)
    simulation, scene = node._live, node._scene
    spec = TrialSpec(scene=Scene(robot=box, engine='kinematic'), controller='wave', duration=0.5)
    before = simulation.observation
    answer = graph.call(RunTrial, '/sim_bridge/run_trial', trial_id='t', spec=to_spec(spec))
    assert answer.success
    assert from_result(answer.result).trial_hash == run_trial(spec).trial_hash
    assert simulation.engine is not trial_parts.cached_engine('kinematic')
    assert_goes_on(graph, node, simulation, scene)
    # Nobody commanded it: it stands where it stood.
    assert (simulation.observation.joint_positions == before.joint_positions).all()
    assert simulation.observation.tick > before.tick


def test_a_refused_trial_leaves_the_live_robot_and_the_bridge_ready(graph, box, tmp_path):
    records = tmp_path / 'records'
    node = live(graph, robot=box, record_folder=str(records))
    simulation, scene = node._live, node._scene
    good = TrialSpec(scene=Scene(robot=box, engine='kinematic'), controller='wave', duration=0.5)
    changes = [
        {'controller': 'nope'},
        {'controller': 300 * 'a'},
        {'seed': -1},
        {'duration': NAN},
        {'duration': math.inf},
        {'settle_time': NAN},
        {'settle_time': -1.0},
        {'command_times': [0.0]},
        {'command_times': [NAN], 'commands': [msg.Command()]},
        {'command_times': [0.0], 'commands': [msg.Command(velocity=[NAN, 0.0, 0.0])]},
        {'varied': ['friction'], 'varied_ranges': [NAN, 1.0]},
        {'varied': ['friction'], 'varied_ranges': [0.1]},
        {'varied': ['nope'], 'varied_ranges': [0.1, 1.0]},
        {'hopeless': [1.0]},
        {'hopeless': [NAN, NAN]},
        {'gates': quantity('nope')},
        {'gates': quantity('nope') + quantity('nope')},
        {'fitness_terms': quantity('nope')},
        {'fitness_terms': quantity('distance', NAN)},
        {'weights': '/nope/weights.npz'},
        {'weights': '/dev/null'},
        {'weights': 10000 * 'a'},
        {'weights_sha256': 'nope'},
    ]
    for change in changes:
        spec = to_spec(good)
        for name, value in change.items():
            setattr(spec, name, value)
        answer = graph.call(RunTrial, '/sim_bridge/run_trial', trial_id='t', spec=spec)
        assert not answer.success and answer.message and answer.trial_id == 't', change
        assert len(answer.message) <= 300 and 101 * 'a' not in answer.message
        assert_goes_on(graph, node, simulation, scene)
    outside = tmp_path / 'outside'
    records.mkdir()
    (records / 'taken').write_text('')
    (records / 'link').symlink_to(tmp_path)
    for record in ('/proc/nope', str(outside), '../outside', 'a/../../outside', 'link/outside'):
        spec = to_spec(good)
        answer = graph.call(
            RunTrial, '/sim_bridge/run_trial', trial_id='t', spec=spec, record=record
        )
        assert 'is not in the folder' in answer.message and not answer.success
        assert not outside.exists()
    for record in (5000 * 'a', 'taken/a'):
        spec = to_spec(good)
        answer = graph.call(
            RunTrial, '/sim_bridge/run_trial', trial_id='t', spec=spec, record=record
        )
        assert not answer.success and answer.message, record
        assert_goes_on(graph, node, simulation, scene)
    answer = graph.call(RunTrial, '/sim_bridge/run_trial', trial_id='t', spec=to_spec(good))
    assert answer.success
