# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The perceptron layer against the checks of Bishop (2008), on the spider's servos."""

import math

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.files.archives import load_weights
from gait_core.kinematics.slider_crank import carriage_position
from gait_core.motion.observation import Observation
from gait_core.parameters.declaration import make_parameters
from gait_core.robot.legged_box import legged_box
from gait_core.robot.load import load_robot
from gait_core.trial.spec import Command
from gait_cpg.perceptron.controller import PerceptronController, PerceptronParams
from gait_cpg.perceptron.kernel import integrate_set_points, push_history, sum_active_outputs
from gait_cpg.perceptron.layout import PerceptronLayout
from gait_cpg.perceptron.servos import (
    ServoReadings,
    Servos,
    write_servo_channels,
    write_servo_targets,
)

SPIDER = load_robot('spider')
DT = 0.012
SMALL = {'perceptrons': 5, 'memory': 4}


def observed(positions=SPIDER.joint_stance, lengths=SPIDER.stance[16:], turn=0.0, pull=0.0):
    """Return the observation of the spider at joint positions and lengths of its elements."""
    pose = np.array([[0.0, 0.0, 0.3, 0.0, 0.0, math.sin(0.5 * turn), math.cos(0.5 * turn)]])
    return Observation(
        tick=0,
        time=0.0,
        joint_names=SPIDER.joint_names,
        joint_positions=positions,
        joint_efforts=np.zeros(16),
        body_poses=pose,
        element_lengths=lengths,
        element_forces=np.full(12, pull),
    )


def test_run_a_and_run_b_have_as_many_weights_as_the_thesis_counts():
    for preset, inputs, total in (('source', 12785, 384030), ('source_b', 7685, 1155150)):
        params = make_parameters(PerceptronParams, PerceptronController.presets[preset])
        layout = PerceptronController.array_shapes(SPIDER, params)
        assert (layout.inputs, layout.perceptrons * layout.weights_per_perceptron) == (
            inputs,
            total,
        )
    text = make_parameters(PerceptronParams, PerceptronController.presets['text'])
    assert PerceptronController.array_shapes(SPIDER, text).inputs == 12534


def test_a_perceptron_answers_only_above_zero():
    weights = np.array([[1.0, -1.0, 0.5], [1.0, 1.0, 0.25]], dtype=np.float32)
    answer = np.zeros(1, dtype=np.float32)
    cases = (((1.0, 1.0), 0.25, 1), ((2.0, 1.0), 0.75, 2), ((-1.0, 0.5), 0.0, 0))
    for signals, expected, count in cases:
        active = sum_active_outputs(np.array(signals, dtype=np.float32), weights, answer)
        assert (answer[0], active) == (expected, count)


def test_the_order_of_perceptrons_does_not_matter():
    rng = np.random.default_rng(1)
    weights = rng.normal(size=(40, 100 + 16)).astype(np.float32)
    signals = rng.normal(size=100).astype(np.float32)
    one, other = np.zeros((2, 16), dtype=np.float32)
    sum_active_outputs(signals, weights, one)
    sum_active_outputs(signals, np.ascontiguousarray(weights[rng.permutation(40)]), other)
    assert one == pytest.approx(other, abs=1e-5)
    excited = weights[:, :100].astype(np.float64) @ signals > 0.0
    assert one == pytest.approx(weights[excited, 100:].sum(axis=0), abs=1e-5)


def test_histories_hold_the_newest_first_and_forget():
    layout = PerceptronLayout(perceptrons=1, memory=3, channels=2, outputs=1)
    signals = np.zeros(layout.inputs, dtype=np.float32)
    for t in range(1, 8):
        signals[:2] = t, -t
        push_history(signals, np.array([100.0 * t], dtype=np.float32), 2, 3)
    assert signals.tolist() == [7, -7, 7, -7, 6, -6, 5, -5, 700, 600, 500]


def test_set_points_keep_both_limits_of_the_thesis():
    places, speeds = np.zeros(1), np.zeros(1)
    bounds, speed = np.array([[-1.0], [1.0]]), [0.0]
    for _ in range(30):
        integrate_set_points(np.array([1e6]), DT, (2.9, 0.35), bounds, places, speeds)
        speed.append(float(speeds[0]))
    assert np.argmax(np.array(speed) >= 0.35) == 11  # 0.121 s are 10.1 periods
    assert max(speed) == 0.35
    assert np.diff(speed).max() <= 2.9 * DT + 1e-12
    assert places[0] == pytest.approx(DT * sum(speed))


def test_a_set_point_stands_still_at_its_stop():
    places, speeds, bounds = np.zeros(1), np.array([0.35]), np.array([[-0.01], [0.01]])
    for _ in range(5):
        integrate_set_points(np.zeros(1), DT, (2.9, 0.35), bounds, places, speeds)
    assert (places[0], speeds[0]) == (0.01, 0.0)


def read(servos, seen):
    """Return places [m] and forces [N]."""
    channels = np.zeros(32)
    readings = ServoReadings(
        seen.element_lengths, seen.element_forces, seen.joint_positions, seen.joint_efforts
    )
    write_servo_channels(servos.geometry, readings, (1.0, 1.0), channels)
    return channels.reshape(2, 16)


def test_servos_read_zero_in_the_stance_and_return_what_they_are_set_to():
    servos = Servos(SPIDER)
    places, forces = read(servos, observed(pull=3.0))
    assert places == pytest.approx(np.zeros(16), abs=1e-12)
    assert forces == pytest.approx([-3.0] * 12 + [0.0] * 4)
    # Stops: a third of a length to either side; of the knee the carriage at its limits.
    assert servos.travel_limits[1, [0, 8]] == pytest.approx([0.0979, 0.0719], abs=1e-4)
    assert servos.travel_limits[:, 12] == pytest.approx(
        [0.0849 - 0.1475, 0.2751 - 0.1475], abs=1e-4
    )
    wanted = np.linspace(-0.04, 0.04, 16)
    targets = np.empty(16)
    write_servo_targets(servos.geometry, wanted, targets)
    positions = SPIDER.joint_stance.copy()
    for name, target in zip(servos.names[12:], targets[12:], strict=True):
        positions[SPIDER.joint_index[name]] = target
    found, _ = read(servos, observed(positions, targets[:12]))
    assert found == pytest.approx(wanted, abs=1e-12)


def test_knee_forces_are_those_along_the_carriage():
    constants = SPIDER.actuators['fl_knee'].constants
    _, slope = carriage_position(1.5, constants['crank'], constants['rod'])
    seen = observed()
    efforts = np.zeros(16)
    efforts[SPIDER.joint_index['fl_knee']] = 10.0 * slope
    object.__setattr__(seen, 'joint_efforts', efforts)
    assert read(Servos(SPIDER), seen)[1][12] == pytest.approx(10.0)


@pytest.mark.parametrize(
    ('frame', 'expected'), [('odom', (0.0, -1.0)), ('body', (1.0, 0.0))], ids=str
)
def test_the_direction_is_of_the_ground_or_of_the_robot(frame, expected):
    # Turned a quarter to the left, what lies ahead on the ground is at the right hand.
    layout = PerceptronController.array_shapes(SPIDER, make_parameters(PerceptronParams, SMALL))
    for channel, value in zip((32, 33), expected, strict=True):
        weights = np.zeros((5, layout.weights_per_perceptron), dtype=np.float32)
        weights[0, channel] = value
        weights[0, layout.inputs] = 0.01
        params = make_parameters(PerceptronParams, {**SMALL, 'direction': frame})
        controller = PerceptronController(SPIDER, params, layout.split_weights(weights))
        controller.step(DT, Command(velocity=(0.2, 0.0, 0.0)), observed(turn=0.5 * math.pi))
        assert controller.state()['active'] == (1.0 if value else 0.0)


def test_outputs_are_steps_of_the_speed_of_set_points():
    params = make_parameters(PerceptronParams, {**SMALL, 'spare': 'one'})
    layout = PerceptronController.array_shapes(SPIDER, params)
    weights = np.zeros((5, layout.weights_per_perceptron), dtype=np.float32)
    weights[:, 34] = 1.0  # The spare channel carries 1: all are always active.
    weights[:, layout.inputs] = 0.002
    weights[:, layout.inputs + 15] = -1.0
    controller = PerceptronController(SPIDER, params, layout.split_weights(weights))
    first = controller.step(DT, Command(), observed())
    assert first.names[:3] == ('v0', 'v1', 'v2')
    assert first.position[0, 0] - SPIDER.stance[16] == pytest.approx(5 * 0.002 * DT, rel=1e-5)
    assert first.position[0, 1] == SPIDER.stance[17]
    # The last one is clipped at the greatest acceleration.
    rest = carriage_position(
        1.5, *(SPIDER.actuators['fl_knee'].constants[k] for k in ('crank', 'rod'))
    )
    place = carriage_position(
        float(first.position[0, 15]),
        *(SPIDER.actuators['fl_knee'].constants[k] for k in ('crank', 'rod')),
    )
    assert place[0] - rest[0] == pytest.approx(-2.9 * DT * DT, rel=1e-6)


def test_weights_come_back_from_their_file_bit_by_bit(tmp_path):
    layout = PerceptronController.array_shapes(SPIDER, make_parameters(PerceptronParams, SMALL))
    weights = layout.random_weights(np.random.default_rng(3))
    file = tmp_path / 'weights.npz'
    np.savez(file, **layout.split_weights(weights))
    again = load_weights(str(file))
    assert layout.join_weights(again).tobytes() == weights.tobytes()
    params = make_parameters(PerceptronParams, SMALL)
    answers = []
    for arrays in (layout.split_weights(weights), again):
        controller = PerceptronController(SPIDER, params, arrays)
        rng = np.random.default_rng(4)
        for _ in range(8):
            lengths = SPIDER.stance[16:] + rng.normal(size=12) * 0.01
            answers.append(controller.step(DT, Command(), observed(lengths=lengths)).position)
    assert np.array_equal(answers[:8], answers[8:])
    assert np.ptp(answers[:8], axis=0).max() > 0.0


def test_first_weights_fill_their_ranges():
    layout = PerceptronLayout(perceptrons=20, memory=10, channels=35, outputs=16)
    named = layout.split_weights(layout.random_weights(np.random.default_rng(1)))
    for array, most in zip(named.values(), (0.1, 0.001), strict=True):
        assert 0.95 * most < np.abs(array).max() <= most
        assert abs(array.mean()) < 0.1 * most


@pytest.mark.parametrize(
    ('change', 'words'),
    [
        (lambda arrays: arrays.pop('input_weights'), "no array 'input_weights'"),
        (lambda arrays: arrays.update(input_weights=np.zeros((5, 3))), r'shape \(5, 3\)'),
        (lambda arrays: arrays['output_weights'].fill(np.nan), 'not finite'),
    ],
)
def test_weights_that_do_not_fit_are_refused(change, words):
    params = make_parameters(PerceptronParams, SMALL)
    layout = PerceptronController.array_shapes(SPIDER, params)
    arrays = dict(layout.split_weights(layout.random_weights(np.random.default_rng(0))))
    change(arrays)
    with pytest.raises(ConfigurationError, match=words):
        PerceptronController(SPIDER, params, arrays)


def test_a_robot_without_linear_servos_is_refused():
    with pytest.raises(ConfigurationError, match='has none'):
        PerceptronController(legged_box(4, 3), PerceptronParams())
