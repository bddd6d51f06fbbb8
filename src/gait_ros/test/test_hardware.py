# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Motors behind joints: the equations, their inverse, calibration and every fault of the file."""

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.testing.doubles import legged_box
from gait_ros.hardware.motors import JointValues, default_hardware, read_hardware

ROBOT = legged_box()
FILE = """
robot: box
reference: {'.*_joint1': 0.5}
joints:
  '.*': {ratio: 2}
  leg0_joint0: {motor: m7, sign: -1, offset: 0.25}
"""


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / 'hardware.yaml'
        path.write_text(text.replace('robot: box', f'robot: {ROBOT.name}'))
        return str(path)

    return write


def drawn(names, seed=3):
    rng = np.random.default_rng(seed)
    position, velocity, effort = rng.normal(size=(3, len(names)))
    return JointValues(names=names, position=position, velocity=velocity, effort=effort)


def test_a_motor_reads_offset_plus_sign_times_ratio_times_position(written):
    hardware = read_hardware(written(FILE), ROBOT)
    given = JointValues(
        names=('leg0_joint1', 'leg0_joint0'),
        position=np.array([0.1, 0.1]),
        velocity=np.array([1.0, 1.0]),
        effort=np.array([4.0, 4.0]),
    )
    motors = hardware.to_motors(given)
    assert motors.names == ('leg0_joint1', 'm7')
    np.testing.assert_allclose(motors.position, [0.2, 0.25 - 0.2])
    np.testing.assert_allclose(motors.velocity, [2.0, -2.0])
    np.testing.assert_allclose(motors.effort, [2.0, -2.0])
    # Power is what it was: the gear loses nothing.
    np.testing.assert_allclose(motors.velocity * motors.effort, given.velocity * given.effort)


def test_there_and_back_is_the_same_in_any_order_and_for_some_joints(written):
    hardware = read_hardware(written(FILE), ROBOT)
    rng = np.random.default_rng(0)
    for count in (8, 5):
        names = tuple(rng.permutation(ROBOT.joint_names)[:count].tolist())
        given = drawn(names)
        back = hardware.to_joints(hardware.to_motors(given))
        assert back.names == names
        for field in ('position', 'velocity', 'effort'):
            np.testing.assert_allclose(getattr(back, field), getattr(given, field), atol=1e-15)


def test_unknown_names_are_left_out_and_absent_quantities_stay_absent(written):
    hardware = read_hardware(written(FILE), ROBOT)
    given = JointValues(names=('tail', 'leg0_joint1'), position=np.array([9.0, np.nan]))
    motors = hardware.to_motors(given)
    assert motors.names == ('leg0_joint1',) and np.isnan(motors.position).all()
    assert motors.velocity is None and motors.effort is None
    assert hardware.to_joints(JointValues(names=('m8',), position=np.ones(1))).names == ()


def test_after_a_calibration_the_readings_are_the_reference_pose(written):
    hardware = read_hardware(written(FILE), ROBOT)
    readings = {motor.name: float(i) for i, motor in enumerate(hardware.motors.values())}
    calibrated = hardware.calibrate(readings)
    joints = calibrated.to_joints(
        JointValues(names=tuple(readings), position=np.array(list(readings.values())))
    )
    stance = ROBOT.nominal_stance
    expected = [0.5 if name.endswith('joint1') else stance[name] for name in joints.names]
    np.testing.assert_allclose(joints.position, expected, atol=1e-12)
    with pytest.raises(ConfigurationError, match="motor 'm7' of joint 'leg0_joint0'"):
        hardware.calibrate({**readings, 'm7': float('nan')})


def test_what_is_written_reads_the_same(written):
    hardware = read_hardware(
        written(FILE + 'plugin: a/B\nparameters: {port: /dev/x, baud: 9600, fast: true}\n'), ROBOT
    )
    assert hardware.parameters == {'port': '/dev/x', 'baud': '9600', 'fast': 'true'}
    assert read_hardware(written(hardware.to_yaml()), ROBOT) == hardware
    plain = read_hardware('', ROBOT)
    assert plain == default_hardware(ROBOT)
    assert read_hardware(written(plain.to_yaml()), ROBOT) == plain


def test_parameters_of_a_plugin_are_the_text_that_is_written(written):
    texts = {'firmware': '1.10', 'id': '0012', 'serial': '12_34', 'at': '1:30', 'port': 'on'}
    texts |= {'mask': '0x1F', 'big': '1e3', 'fast': 'true', 'old': 'FALSE', 'far': '.inf'}
    lines = ''.join(f'  {name}: {text}\n' for name, text in texts.items())
    text = f'plugin: a/B\nparameters:\n{lines}  quoted: \'010\'\n  same: "1.10"\n'
    hardware = read_hardware(written(FILE + text), ROBOT)
    assert hardware.parameters == {**texts, 'quoted': '010', 'same': '1.10'}
    assert read_hardware(written(hardware.to_yaml()), ROBOT) == hardware


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('robot: a1', "the file is for robot 'a1', this robot is"),
        (
            'jonts: {}',
            "hardware.yaml, line 1, column 1: unknown key 'jonts': did you mean 'joints'",
        ),
        ('joints: {leg0_jont0: {sign: 1}}', "unknown joint 'leg0_jont0'.*'leg0_joint0'"),
        (
            'joints: {leg0_joint0: {sgn: 1}}',
            "unknown key 'joints.leg0_joint0.sgn': .*leg0_joint0.sign'",
        ),
        (
            f'joints: {{leg0_joint0: {{motor: {300 * "m"}}}}}',
            'column 10: joints.leg0_joint0: motor has a name of 300 characters',
        ),
        ("joints: {leg0_joint0: {motor: ''}}", 'motor has a name of 0 characters'),
        ('reference: {leg0_joint0: 1.0e+20}', 'nearest valid: 1e.06'),
        ('parameters: {port: [1]}', r'parameters.port is \[1\], expected a number, text'),
        (
            'joints: {leg0_joint0: {sign: 2}}',
            'column 10: joints.leg0_joint0: sign is 2, expected 1 or -1',
        ),
        (
            'joints: {leg0_joint0: {ratio: 0}}',
            'ratio is 0, outside .1e-06, 1e.06.; nearest valid: 1e-06',
        ),
        ('joints: {leg0_joint0: {ratio: 1.0e+300}}', 'ratio is 1e.300, outside .1e-06, 1e.06.'),
        (
            'joints: {leg0_joint0: {offset: 1.0e+9}}',
            'offset is 1e.09 rad or m, .* nearest valid: 1e.06',
        ),
        ('reference: {leg0_joint0: 9}', "'leg0_joint0' is 9, outside its limits"),
        ("joints: {'.*': {motor: m}}", "motor 'm' is already the motor of joint"),
        ('reference: {leg0_jnt0: 1}', "reference: unknown joint 'leg0_jnt0'"),
    ],
)
def test_faults_are_named_in_one_line(written, text, message):
    with pytest.raises(ConfigurationError, match=message) as caught:
        read_hardware(written(text), ROBOT)
    assert '\n' not in str(caught.value)
