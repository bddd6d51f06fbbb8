# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""robot.yaml: every key, every fault with the file and the nearest valid name."""

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.kinematics.forward_kinematics import com_positions, link_poses
from gait_core.robot.load import clear_robot_cache, load_robot, read_robot
from gait_core.robot.model_code import permit_model_code
from gait_core.robot.urdf.writer import to_urdf
from gait_core.testing.doubles import legged_box


@pytest.fixture
def folder(tmp_path):
    """Return a function that makes a robot folder of a four-legged box and some YAML."""

    def make(text: str, name: str = 'beetle'):
        robot = tmp_path / name
        robot.mkdir(exist_ok=True)
        (robot / f'{name}.urdf').write_text(to_urdf(legged_box()))
        (robot / 'robot.yaml').write_text(text)
        return robot

    return make


def test_everything_is_inferred_where_the_file_says_nothing(folder):
    robot, made = read_robot(folder('{}')), legged_box()
    assert robot.name == 'beetle'
    assert robot.joint_names == made.joint_names
    assert [leg.joints for leg in robot.legs] == [leg.joints for leg in made.legs]
    assert robot.soles == made.soles
    assert {leg.sole_point for leg in robot.legs} == {(0.0, 0.0, -0.15)}
    assert set(robot.nominal_stance.values()) == {0.0}
    # Half the body's height, two segments and the ball.
    assert robot.length_scale == pytest.approx(0.05 + 2 * 0.15 + 0.02, abs=1e-12)
    assert robot.fall is not None


FULL = """
name: big_beetle
urdf: beetle.urdf
joints: [leg1_joint0, leg0_joint0, leg0_joint1, leg1_joint1]
limits:
  '.*_joint0': {lower: -0.5, upper: 0.5, velocity: 3}
  leg0_joint0: {upper: 0.25, effort: 7}
actuators:
  default: {kind: position, gain: 12}
  joints:
    leg0_.*: {kind: pd, stiffness: 80, damping: 1e-1}
    leg0_joint1: {kind: effort}
legs:
  - {name: right, joints: [leg1_joint0, leg1_joint1], sole: leg1_link1, sole_point: [0, 0, -1]}
force_elements:
  - {name: spring, kind: spring, link_a: base, link_b: leg0_link1, point_b: [0, 0, -0.1],
     constants: {stiffness: 100}}
mirror: {pairs: [[leg0_joint0, leg1_joint0], [leg0_joint1, leg1_joint1, -1]]}
nominal_stance: {'leg._joint0': 0.2, leg1_joint0: -0.1, spring: 0.3}
fall: {max_tilt: 0.7, pose: {'leg0_.*': 0.1}}
imu_link: leg0_link0
length_scale: 2
defaults:
  controller: hold
  preset: stand
  gait: {frequency: 1.5}
  command: [0.2, 0, 0]
  duration: 8
  scene: {physics_step: 0.002, gravity: [0, 0, -1.6]}
  engines: {bullet: {solver_iterations: 70}}
  physics_steps: {mujoco: 0.001}
  terrains: {steps: {height: 0.02}}
"""


def test_every_key_is_taken(folder):
    robot = read_robot(folder(FULL))
    assert robot.name == 'big_beetle'
    assert robot.joint_names == ('leg1_joint0', 'leg0_joint0', 'leg0_joint1', 'leg1_joint1')
    assert robot.target_names == (*robot.joint_names, 'spring')
    np.testing.assert_array_equal(robot.upper, [0.5, 0.25, 1.5, 1.5])
    np.testing.assert_array_equal(robot.velocity_limit, [3, 3, 8, 8])
    np.testing.assert_array_equal(robot.effort_limit, [20, 7, 20, 20])
    kinds = [robot.actuators[name].kind for name in robot.joint_names]
    assert kinds == ['position', 'pd', 'effort', 'position']
    assert robot.actuators['leg0_joint0'].constants == {'stiffness': 80.0, 'damping': 0.1}
    assert robot.actuators['leg1_joint0'].constants == {'gain': 12.0}
    assert [leg.name for leg in robot.legs] == ['right']
    assert robot.legs[0].sole_point == (0.0, 0.0, -1.0)
    assert robot.force_elements[0].constants == {'stiffness': 100.0}
    # Like axes along y mirror with like signs; the second pair states its own.
    assert robot.mirror_pairs['leg1_joint0'] == ('leg0_joint0', 1.0)
    assert robot.mirror_pairs['leg0_joint1'] == ('leg1_joint1', -1.0)
    np.testing.assert_array_equal(robot.stance, [-0.1, 0.2, 0.0, 0.0, 0.3])
    assert robot.fall is not None and robot.fall.max_tilt == 0.7
    assert robot.fall.pose == {'leg0_joint0': 0.1, 'leg0_joint1': 0.1}
    assert (robot.imu_link, robot.length_scale) == ('leg0_link0', 2.0)
    assert robot.defaults == {
        'controller': 'hold',
        'preset': 'stand',
        'command': (0.2, 0.0, 0.0),
        'duration': 8.0,
        'settle_time': 0.0,
        'scene': {'physics_step': 0.002, 'gravity': (0, 0, -1.6)},
        'engines': {'bullet': {'solver_iterations': 70.0}},
        'physics_steps': {'mujoco': 0.001},
        'terrains': {'steps': {'height': 0.02}},
        'gait': {'frequency': 1.5},
    }


def _element(kind: str, constants: str, link: str = 'leg0_link0') -> str:
    ends = f'link_a: base, link_b: {link}'
    return f'force_elements: [{{name: tie, kind: {kind}, {ends}, constants: {{{constants}}}}}]'


def test_an_element_rests_at_its_length_in_the_stance_unless_told(folder):
    text = _element('spring', 'stiffness: 1', 'leg0_link1')
    robot = read_robot(folder(f'{text}\nnominal_stance: {{leg0_joint0: 0.5, leg0_joint1: -0.3}}'))
    # Hip at (0.2, 0.1, -0.05), then one segment of 0.15 m that is pitched by 0.5 rad.
    end = np.array([0.2 - 0.15 * np.sin(0.5), 0.1, -0.05 - 0.15 * np.cos(0.5)])
    assert robot.stance[-1] == pytest.approx(np.linalg.norm(end), abs=1e-12)


def test_fall_null_means_never_fallen(folder):
    assert read_robot(folder('fall: null')).fall is None


def test_prefixes_pair_joints_across_the_sagittal_plane(folder):
    robot = read_robot(folder('mirror: {prefixes: [[leg0, leg1], [leg2, leg3]]}'))
    assert robot.mirror_pairs['leg0_joint1'] == ('leg1_joint1', 1.0)
    assert robot.mirror_pairs['leg3_joint0'] == ('leg2_joint0', 1.0)
    assert len(robot.mirror_pairs) == 8


def test_a_turned_root_moves_the_robot_rigidly(folder):
    rpy = [0.4, -0.7, 1.1]
    plain, turned = read_robot(folder('{}')), read_robot(folder(f'root_rpy: {rpy}'))
    positions = np.linspace(-1.0, 1.0, 8)
    before, after = link_poses(plain, positions), link_poses(turned, positions)
    turn = after[1, :3, :3] @ before[1, :3, :3].T
    for row in range(1, len(plain.links)):
        np.testing.assert_allclose(after[row, :3, 3], turn @ before[row, :3, 3], atol=1e-14)
        np.testing.assert_allclose(after[row, :3, :3], turn @ before[row, :3, :3], atol=1e-14)
    np.testing.assert_allclose(
        com_positions(turned, positions), turn @ com_positions(plain, positions), atol=1e-14
    )
    np.testing.assert_allclose(
        turned.links[0].inertia, turn @ plain.links[0].inertia @ turn.T, atol=1e-14
    )


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('nominal_stanze: {}', "unknown key 'nominal_stanze': did you mean 'nominal_stance'"),
        (
            'legs: [{name: l, joint: []}]',
            r"line 1, column 18: unknown key 'legs\[0\].joint': did you mean 'legs\[0\].joints'",
        ),
        ('fall: {max_tild: 1}', "unknown key 'fall.max_tild': did you mean 'fall.max_tilt'"),
        ('defaults: {scene: {gravty: 1}}', "did you mean 'defaults.scene.gravity'"),
        ('defaults: {scene: {gravity: [0, 1]}}', 'scene.gravity has 2 values, expected 3'),
        ('defaults: {scene: {physics_step: 0.003}}', 'not a whole multiple of'),
        (
            'defaults: {engines: {bullet: {solver_iterations: many}}}',
            "defaults.engines.bullet.solver_iterations is 'many', expected a number",
        ),
        (
            'limits: {leg0_joint0: {uper: 1}}',
            "'limits.leg0_joint0.uper': did you mean 'limits.leg0_joint0.upper'",
        ),
        ('limits: {leg0_joint0: {upper: -9}}', "'leg0_joint0' has the lower limit -1.5 above"),
        *(
            (
                f"limits: {{'.*': {{{name}: {value}}}}}",
                f"'leg0_joint0' has {name} {value}, expected",
            )
            for name, value in (
                ('velocity', -10),
                ('velocity', 0),
                ('effort', -5),
                ('effort', 0),
                ('damping', -1),
                ('friction', -1),
            )
        ),
        ('actuators: {default: {kind: positon}}', "did you mean 'position'"),
        ('actuators: {joints: {leg0_joint7: {}}}', "unknown joint 'leg0_joint7': did you mean"),
        ("nominal_stance: {'leg(': 1}", 'is not a regular expression'),
        ('nominal_stance: {leg0_joint0: 2}', r'outside its limits \[-1.5, 1.5\]; .*valid: 1.5'),
        ('nominal_stance: {leg0_joint0: .nan}', 'expected a finite number'),
        ('joints: [leg0_joint0, leg0_joint0]', "joint 'leg0_joint0' is listed twice"),
        ('joints: [lf_leg0_joint0]', "every name fits without the prefix 'lf_'"),
        ('legs: [{name: l, joints: [], sole: foot}]', "unknown sole link 'foot'"),
        (
            'legs: [{name: l, joints: [leg0_joint1, leg0_joint0], sole: leg0_link1}]',
            "from the body to its sole 'leg0_link1' the joints are leg0_joint0, leg0_joint1",
        ),
        ('legs: [{joints: []}]', r'legs\[0\].name is missing'),
        ('imu_link: bas', "beetle: unknown link 'bas': did you mean 'base'"),
        ('ball_joints: {a: [leg0_joint0]}', 'ball_joints.a has 1 values, expected 3'),
        (
            'ball_joints: {a: [leg0_joint0, leg0_joint1, leg1_joint0]}',
            "ball joint 'a': joint 'leg0_joint0' has limits or friction",
        ),
        (
            _element('sprung', 'stiffness: 1'),
            "force element 'tie': unknown kind of element 'sprung'",
        ),
        (
            _element('spring', 'damping: 1'),
            "'tie': its spring element has no constant 'stiffness'",
        ),
        (
            _element('cable', 'stiffness: 1, damp: 1'),
            "cable: unknown constant 'damp'.*'damping'",
        ),
        (_element('spring', 'stiffness: -1'), "constant 'stiffness' is -1; nearest valid: 0"),
        (_element('exponential', 'strength: 1'), "no constant 'rise'"),
        (_element('spring', 'stiffness: 1', 'base'), "joins link 'base' with itself"),
        (
            'actuators: {default: {kind: pd, stiffness: 1}}',
            "pd actuator has no constant 'damping'",
        ),
        ('actuators: {default: {gian: 1}}', "position: unknown constant 'gian'.*'gain'"),
        ('mirror: {pairs: [[leg0_joint0]]}', 'expected two joints and optionally a sign'),
        ('mirror: {pairs: [[leg0_joint0, leg9_joint0]]}', "unknown joint 'leg9_joint0'"),
        ('fall: {pose: {leg0_jont0: 1}}', "column 15: fall.pose: unknown joint 'leg0_jont0'"),
        ('length_scale: 0', 'it must be positive'),
        ('length_scale: 1.0e+20', 'nearest valid: 1e.06'),
        (f'name: {2000 * "n"}', 'has a name of 2000 characters, expected at most 255'),
        ('fall: {max_tilt: -1}', 'nearest valid: 0'),
        ('fall: {min_height_ratio: 3}', 'nearest valid: 1'),
        ('fall: {pose: {leg0_joint0: 90}}', "fall pose of joint 'leg0_joint0' is 90, outside"),
        ('nominal_stance: {leg0_joint0: 1.0e+20}', 'nearest valid: 1e.06'),
        ('root_rpy: [0, 1.0e+300, 0]', 'nearest valid: 1e.06'),
        ('actuators: {default: {gain: 1.0e+10}}', "'gain' is 1e.10; nearest valid: 1e.09"),
        ("limits: {'.*': {damping: 1.0e+20}}", 'damping 1e.20, expected 0 to 1e.09'),
        ("limits: {'.*': {effort: 1.0e+300}}", 'effort is 1e.300, .* nearest valid: 1e.09'),
        ('mirror: {prefixes: [[lefft_, right_]]}', "no two joints differ by .* 'lefft_'"),
        ("limits: {'.*': {upper: -1.0e+10}}", 'upper is -1e.10, .* nearest valid: -1e.09'),
        ('defaults: {duration: -1}', 'nearest valid: 0.001'),
        ('defaults: {settle_time: 1.0e+9}', 'nearest valid: 1e.07'),
        ('defaults: {command: [1.0e+9, 0, 0]}', 'nearest valid: 1e.06'),
        ('defaults: {physics_steps: {bullet: 0}}', 'nearest valid: 1e-09'),
        (
            'legs: [{name: a, joints: [leg0_joint0], sole: leg0_link0}, *a]'.replace(
                '*a', '{name: b, joints: [leg0_joint0], sole: leg0_link0}'
            ),
            "legs 'a' and 'b' have the same",
        ),
        ('length_scale: [1]', r'length_scale is \[1\], expected a number'),
        ('root_rpy: [1, 2]', 'root_rpy has 2 values, expected 3'),
        ('urdf: ant.urdf', "the file 'ant.urdf' does not exist"),
        ('urdf: absent_package:a.urdf', "'absent_package', which is not installed"),
        ('name: [1', 'robot.yaml'),
        ('name: a\nname: b', "the key 'name' is written twice"),
        ('- a', 'expected named values'),
        ('name: !!python/object/apply:os.getcwd []', 'could not determine a constructor'),
    ],
)
def test_faults_are_named_in_one_line(folder, text, message):
    with pytest.raises(ConfigurationError, match=message) as caught:
        read_robot(folder(text))
    assert '\n' not in str(caught.value)


def test_a_folder_needs_a_urdf(tmp_path):
    (tmp_path / 'robot.yaml').write_text('{}')
    with pytest.raises(ConfigurationError, match='names no urdf'):
        read_robot(tmp_path)


def test_robots_are_read_once_per_process(folder):
    path = str(folder('{}'))
    assert load_robot(path) is load_robot(path)
    assert load_robot(path) is load_robot(path, draw=3)


MODEL = """
from gait_core.testing.doubles import legged_box

def build(draw, rng):
    return legged_box(legs=int(rng.integers(1, 5)), joints=1 + draw)
"""


@pytest.fixture
def model_folder(tmp_path, monkeypatch):
    """Return a robot folder in the user's search path."""
    monkeypatch.setenv('GAIT_ROBOT_PATH', str(tmp_path))
    folder = tmp_path / 'drawn'
    folder.mkdir()
    return folder


def test_model_py_builds_a_body_per_draw(model_folder):
    (model_folder / 'model.py').write_text(MODEL)
    first, second = load_robot(str(model_folder), 0), load_robot(str(model_folder), 1)
    assert [len(robot.legs[0].joints) for robot in (first, second)] == [1, 2]
    assert load_robot(str(model_folder), 1) is second
    legs = np.random.default_rng(1).integers(1, 5)
    assert len(second.legs) == legs


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('', r'it defines no function build\(draw, rng\)'),
        ('def build(draw, rng): return 3', 'build returned int, expected RobotModel'),
        ('def build(draw): return 3', r'model\.py:1: TypeError: build\(\) takes 1 positional'),
        ('\ndef build(draw, rng): 1 / 0', r'model\.py:2: ZeroDivisionError: division by zero'),
        ('import sys\nsys.exit(0)', r'model\.py:2: SystemExit: 0'),
        ('import os\nos._exit(0)', r'model\.py:2: SystemExit: os\._exit\(0\)'),
        (
            'class E(Exception):\n def __str__(self): return 1\nraise E',
            r'model\.py:3: E: its message cannot be read',
        ),
        ('import nowhere', r"model\.py:1: ModuleNotFoundError: No module named 'nowhere'"),
        ('a b', r'model\.py:1: SyntaxError: invalid syntax'),
        ('a = 1\0', r'model\.py:1: \w+Error: source code string cannot contain null bytes'),
    ],
)
def test_a_model_py_that_builds_no_robot_is_refused(model_folder, text, message):
    (model_folder / 'model.py').write_text(text)
    with pytest.raises(ConfigurationError, match=message):
        load_robot(str(model_folder))


def test_model_py_runs_only_where_the_user_named_its_folder(tmp_path, monkeypatch):
    folder = tmp_path / 'robots' / 'drawn'
    folder.mkdir(parents=True)
    (folder / 'model.py').write_text(f'open({str(tmp_path / "ran")!r}, "w")\n{MODEL}')
    monkeypatch.setenv('GAIT_PERMITTED_ROBOTS', '')
    monkeypatch.delenv('GAIT_ROBOT_PATH', raising=False)
    for path in (folder, tmp_path / 'robots' / '..' / 'robots' / 'drawn'):
        with pytest.raises(ConfigurationError, match='on the command line .* GAIT_ROBOT_PATH'):
            load_robot(str(path))
    # An empty name means no robot, not the working directory.
    monkeypatch.chdir(folder)
    permit_model_code('')
    permit_model_code('no_robot')
    with pytest.raises(ConfigurationError, match='GAIT_ROBOT_PATH'):
        load_robot(str(folder))
    assert not (tmp_path / 'ran').exists()
    monkeypatch.setenv('GAIT_ROBOT_PATH', str(tmp_path / 'robots'))
    assert load_robot('drawn').name
    monkeypatch.delenv('GAIT_ROBOT_PATH')
    clear_robot_cache()
    permit_model_code('../drawn')
    assert load_robot(str(folder)).name and (tmp_path / 'ran').exists()
