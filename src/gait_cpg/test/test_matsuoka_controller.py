# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The Matsuoka controller: what it commands on cables and joints, without any physics."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from gait_core.errors import BadCommand, ConfigurationError
from gait_core.kinematics.leg_ik import LegKinematics
from gait_core.motion.observation import Contacts, Observation
from gait_core.parameters.declaration import Parameters, declared_parameters, make_parameters
from gait_core.robot.load import load_robot
from gait_core.robot.model import Actuator
from gait_core.testing.doubles import legged_box
from gait_core.trial.spec import Command
from gait_cpg.matsuoka.controller import MatsuokaController
from gait_cpg.matsuoka.outputs import divide_period
from gait_cpg.matsuoka.parameters import MAX_OSCILLATORS, MatsuokaParams
from gait_cpg.oscillators import diagnose, neural_oscillators, reference_weights

DT = 0.02
BLIND = Observation(tick=0, time=0.0)
STILL = Command()
POUND = 4.4482216152605
SPINE = load_robot('tetraspine')


def bent(legs, joints=3):
    """Return a box on legs that are bent, so that its feet can go either way."""
    robot = legged_box(legs, joints, roll=True)
    bend = {name: (0.0, -0.5, 1.0)[i % 3] for i, name in enumerate(robot.joint_names)}
    return replace(robot, nominal_stance=bend)


BOX = bent(4)


def controller(robot=SPINE, **values):
    return MatsuokaController(robot, make_parameters(MatsuokaParams, values))


def efforts(driver, periods, dt=DT):
    """Return the (T, K, n) efforts of some steps."""
    return np.array([driver.step(dt, STILL, BLIND).effort for _ in range(periods)])


def diagnosis(driver):
    """Return whether the signals of a controller are alive after twelve seconds."""
    driver.target_tape(DT, [STILL] * 600)
    signals = []
    for _ in range(150):
        driver.step(DT, STILL, BLIND)
        state = driver.state()
        signals.append([state[name] for name in state if name.startswith('signal.')])
    return diagnose(np.array(signals), DT)


def test_check_18_the_first_2500_of_30000_samples_are_zero_and_the_rest_are_the_oscillators():
    tape = controller().target_tape(DT, [STILL] * 750)
    assert tape.effort.shape == (750, 40, 8)
    given = tape.effort.reshape(30000, 8)
    assert np.all(given[:2500] == 0.0)
    network = neural_oscillators(reference_weights(4), 4, tau_a=0.25)
    signals = network.euler(network.initial_state(), 0.0005, 30000).signals[2500:]
    assert np.any(signals[0] != 0.0)
    np.testing.assert_allclose(given[2500:], 2.0 * POUND * np.repeat(signals, 2, axis=1))


def test_both_lower_cables_of_a_gap_share_a_signal_the_rear_gap_the_first():
    driver = controller(blanking=0.0)
    targets = driver.step(DT, STILL, BLIND)
    assert targets.names == tuple(f'gap{g}_outer_{side}' for g in range(1, 5) for side in 'ab')
    np.testing.assert_array_equal(targets.effort[:, 0::2], targets.effort[:, 1::2])
    state = driver.state()
    shown = [state[f'signal.signal_{g}'] for g in range(1, 5)]
    np.testing.assert_allclose(targets.effort[-1, 0::2], 2.0 * POUND * np.array(shown))


@settings(deadline=None, max_examples=15)
@given(
    cut=st.integers(1, 99), separate=st.booleans(), tau=st.floats(0.2, 0.5),
    dt=st.sampled_from([0.02, 0.01, 0.005]), robot=st.sampled_from([SPINE, BOX]),
)  # fmt: skip
def test_a_tape_is_the_steps_to_the_last_bit_and_leaves_it_where_they_do(
    cut, separate, tau, dt, robot
):
    one, other = (controller(robot, separate=separate, tau_a=tau) for _ in range(2))
    stepped = [one.step(dt, STILL, BLIND) for _ in range(100)]
    tapes = [other.target_tape(dt, [STILL] * count) for count in (cut, 100 - cut)]
    for name in ('position', 'velocity', 'effort'):
        single = [getattr(targets, name) for targets in stepped]
        whole = [getattr(tape, name) for tape in tapes]
        assert (single[0] is None) == (whole[0] is None)
        if single[0] is not None:
            np.testing.assert_array_equal(np.concatenate(whole), np.array(single))
    assert one.state() == other.state()


def test_separate_oscillators_are_as_many_as_cables():
    driver = controller(separate=True, blanking=0.0)
    given = driver.target_tape(DT, [STILL] * 400).effort.reshape(-1, 8)
    assert len([name for name in driver.state() if name.startswith('signal.')]) == 8
    network = neural_oscillators(driver.params.weights(8), 8, tau_a=0.25)
    signals = network.euler(network.initial_state(), 0.0005, 16000).signals
    np.testing.assert_allclose(given, 2.0 * POUND * signals)
    # Two cables of a gap are no longer driven alike.
    assert np.abs(given[:, 0] - given[:, 1]).max() > 0.1


def test_parameters_reach_the_oscillators():
    values = {
        'tau_a': 0.3, 'tau_ratio': 3.0, 'pair_weight': 1.7, 'adaptation': 2.2, 'tonic': 0.6,
        'w1': 3.0, 'w24': 1.1, 'gain': -3.0, 'blanking': 0.1,
    }  # fmt: skip
    given = controller(**values).target_tape(DT, [STILL] * 50).effort.reshape(-1, 8)
    weights = reference_weights(4)
    weights[[0, 23]] = 3.0, 1.1
    network = neural_oscillators(
        weights, 4, tau_a=0.3, tau_ratio=3.0, pair_weight=1.7, adaptation=2.2, tonic=0.6
    )
    signals = network.euler(network.initial_state(), 0.0005, 2000).signals
    assert np.all(given[:200] == 0.0)
    np.testing.assert_allclose(given[200:, 0::2], -3.0 * signals[200:])


def test_the_declared_weights_are_those_of_the_most_oscillators():
    names = [info.name for info in declared_parameters(MatsuokaParams)]
    count = 2 * MAX_OSCILLATORS * (MAX_OSCILLATORS - 1)
    assert names[:count] == [f'w{k}' for k in range(1, count + 1)]
    assert issubclass(MatsuokaParams, Parameters)
    with pytest.raises(ConfigurationError, match=r"'w3' = 11 is outside \[0, 10\]"):
        make_parameters(MatsuokaParams, {'w3': 11})
    with pytest.raises(ConfigurationError, match="did you mean 'w12'"):
        make_parameters(MatsuokaParams, {'w_12': 2.0})


def swing_and_lift(targets, robot):
    """Return by leg the joints that swing and lift its foot, as columns of the targets."""
    legs = [
        [i for i, name in enumerate(targets.names) if name in leg.joints] for leg in robot.legs
    ]
    return np.array(legs).T


def test_joints_move_about_the_stance_ever_more_until_the_blanking_is_over():
    tape = controller(BOX, joint_gain=0.8, lift_gain=0.5).target_tape(DT, [STILL] * 500)
    assert tape.position.shape == (500, 5, 8)
    positions = tape.position.reshape(-1, 8)
    away = positions - np.array([BOX.nominal_stance[name] for name in tape.names])
    network = neural_oscillators(reference_weights(4), 4, tau_a=0.25, readout='lagged')
    signals, fatigue = np.hsplit(
        network.euler(network.initial_state(), 0.0005, 2500, steps_per_sample=8).signals, 2
    )
    grown = np.minimum(0.004 * np.arange(1, 2501) / 1.25, 1.0)[:, None]
    swings, lifts = swing_and_lift(tape, BOX)
    signs = [np.sign(away[1000, columns]) for columns in (swings, lifts)]
    np.testing.assert_allclose(np.abs(away[:, swings]), 0.8 * grown * np.abs(fatigue), atol=1e-12)
    np.testing.assert_allclose(
        np.abs(away[:, lifts]), 0.5 * grown * np.maximum(signals - fatigue, 0.0), atol=1e-12
    )
    assert np.all(np.abs(signs[0]) == 1.0)
    np.testing.assert_allclose(
        np.diff(positions, axis=0) / 0.004, tape.velocity.reshape(-1, 8)[1:], atol=1e-9
    )


@pytest.mark.parametrize('robot', [BOX, bent(6)], ids=['four', 'six'])
def test_feet_go_forward_in_the_air(robot):
    driver = controller(
        robot, gait='trot', tau_a=0.5, pair_weight=2.0, joint_gain=0.5, lift_gain=0.5
    )
    # Slow enough for the joints: a cycle of 4.6 s.
    driver.target_tape(DT, [STILL] * 500)
    tape = driver.target_tape(DT, [STILL] * 240)
    positions = tape.position.reshape(-1, len(tape.names))
    for leg, (swing, lift) in zip(robot.legs, swing_and_lift(tape, robot).T, strict=True):
        kinematics = LegKinematics(robot, leg.name)
        stance = np.array([robot.nominal_stance.get(name, 0.0) for name in leg.joints])

        def feet(column, leg=leg, stance=stance, kinematics=kinematics):
            """Return where the foot is with one joint as commanded and all others in stance."""
            joints = np.tile(stance, (len(positions), 1))
            joints[:, leg.joints.index(tape.names[column])] = positions[:, column]
            return np.array([kinematics.forward(row)[0] for row in joints])

        raised = feet(lift)[:, 2] - kinematics.forward(stance)[0][2]
        forward = np.diff(feet(swing)[:, 0])
        assert raised.min() > -1e-12
        assert raised.max() > 0.005
        # Lifted while it goes forward, down while it goes back; they change within a sample.
        assert np.all(forward[raised[1:] > 0.002] > 0.0)
        assert np.all(raised[1:][forward < -1e-5] < 0.002)


def test_a_gait_moves_legs_together_or_half_a_cycle_apart():
    for name, opposite in (
        ('trot', [0, 1, 1, 0]),
        ('pace', [0, 1, 0, 1]),
        ('bound', [0, 0, 1, 1]),
    ):
        driver = controller(BOX, gait=name, tau_a=0.05, pair_weight=2.0, inhibition=0.5)
        driver.target_tape(DT, [STILL] * 200)
        state = driver.state()
        shown = np.array([state[f'signal.{leg.name}'] for leg in BOX.legs])
        assert abs(shown[0]) > 0.01
        np.testing.assert_allclose(shown, np.where(opposite, -shown[0], shown[0]), atol=1e-9)
        assert diagnosis(driver).verdict == 'alive'
    with pytest.raises(
        ConfigurationError, match="'gait' = 'trot' is for robots whose robot.yaml lists no signals"
    ):
        controller(gait='trot')
    with pytest.raises(ConfigurationError, match="'gait': unknown value 'walk'"):
        controller(BOX, gait='walk')


def test_joints_keep_their_limits():
    tape = controller(BOX, joint_gain=5.0, tonic=5.0, blanking=0.0).target_tape(DT, [STILL] * 200)
    columns = [BOX.joint_index[name] for name in tape.names]
    assert np.all(tape.position >= BOX.lower[columns])
    assert np.all(tape.position <= BOX.upper[columns])
    assert np.all(np.abs(tape.velocity) <= BOX.velocity_limit[columns] + 1e-9)
    assert np.ptp(tape.position) > 1.0


def test_joints_that_take_torques_get_them():
    names = tuple(BOX.legs[i].joints[1] for i in range(2))
    torque = {name: Actuator(kind='effort') for name in BOX.joint_names}
    robot = replace(BOX, actuators=torque, signals=(('left', names[:1]), ('right', names[1:])))
    targets = controller(robot, gain=2.0, blanking=0.0).step(DT, STILL, BLIND)
    assert targets.names == names
    assert targets.position is None
    assert targets.effort.shape == (40, 2)


def stretched(share, time=0.0):
    """Return the spine's cables longer by a share than at rest."""
    from gait_core.kinematics.element_geometry import element_lengths_at

    lengths = element_lengths_at(SPINE, np.zeros(0)) * (1.0 + share)
    return Observation(tick=0, time=time, element_lengths=lengths)


def test_elongation_is_fed_into_extensors_and_against_flexors():
    driver = controller(feedback='stretch', feedback_gain=2.0, blanking=0.0)
    assert driver.needs == {'element_lengths'}
    assert driver.target_tape(DT, [STILL]) is None
    given = [driver.step(DT, STILL, stretched(0.1)).effort for _ in range(20)]
    network = neural_oscillators(reference_weights(4), 4, tau_a=0.25)
    run = network.euler(network.initial_state(), 0.0005, 800, drive=np.tile([0.2, -0.2], 4))
    np.testing.assert_allclose(
        np.concatenate(given)[:, 0::2], 2.0 * POUND * run.signals, rtol=1e-9, atol=1e-12
    )
    with pytest.raises(BadCommand, match='element_lengths, which are not observed'):
        driver.step(DT, STILL, BLIND)


def test_at_rest_lengths_and_without_gain_the_loop_is_open():
    resting = controller(feedback='stretch', feedback_gain=5.0, blanking=0.0)
    fed = [resting.step(DT, STILL, stretched(0.0)).effort for _ in range(10)]
    idle = controller(feedback='stretch', blanking=0.0)
    assert idle.needs == frozenset()
    np.testing.assert_allclose(idle.target_tape(DT, [STILL] * 10).effort, fed, atol=1e-12)


def test_a_loaded_leg_is_told_from_a_lifted_one():
    driver = controller(BOX, feedback='contact', feedback_gain=0.1, blanking=0.0, joint_gain=1.0)
    assert driver.needs == {'contacts'}
    weight = BOX.mass * 9.81
    seen = Observation(
        tick=0,
        time=0.0,
        contacts=Contacts(
            soles=BOX.soles,
            sole=np.array([0, 1, 2]),
            points=np.zeros((3, 3)),
            forces=np.outer([0.25, 0.25, 0.5], [0.0, 0.0, weight]),
            depths=np.zeros(3),
        ),
    )
    for _ in range(20):
        driver.step(DT, STILL, seen)
    # One even share gives nothing, two give the gain, a foot in the air its opposite.
    felt = 0.1 * np.array([0.0, 0.0, 1.0, -1.0])
    network = neural_oscillators(reference_weights(4), 4, tau_a=0.25)
    drive = np.stack([felt, -felt], axis=1).ravel()
    signals = network.euler(network.initial_state(), 0.0005, 800, drive=drive).signals[-1]
    state = driver.state()
    shown = [state[f'signal.{leg.name}'] for leg in BOX.legs]
    np.testing.assert_allclose(shown, signals, atol=1e-9)


def test_nodes_of_the_bodies_at_both_ends_carry_the_load_of_a_cable():
    driver = controller(feedback='contact', feedback_gain=0.1, blanking=0.0)
    nodes = SPINE.soles
    even = SPINE.mass * 9.81 / len(nodes)
    # All the weight on the rear body: the first signal feels all of its nodes but none elsewhere.
    rear = [i for i, node in enumerate(SPINE.contact_nodes) if node.link == 't1']
    force = np.zeros((len(rear), 3))
    force[:, 2] = 2.0 * even
    seen = Observation(
        tick=0, time=0.0,
        contacts=Contacts(soles=nodes, sole=np.array(rear), points=np.zeros_like(force),
                          forces=force, depths=np.zeros(len(rear))),
    )  # fmt: skip
    felt = driver._sensor.read(seen)
    np.testing.assert_allclose(felt, [0.0, -1.0, -1.0, -1.0])


def test_new_parameters_take_effect_and_more_oscillators_begin_anew():
    driver = controller(blanking=0.0)
    efforts(driver, 50)
    before = driver.state()
    driver.set_params(make_parameters(MatsuokaParams, {'blanking': 0.0, 'gain': 1.0}))
    assert driver.state() == before
    driver.set_params(make_parameters(MatsuokaParams, {'blanking': 0.0, 'separate': True}))
    fresh = controller(blanking=0.0, separate=True)
    np.testing.assert_array_equal(efforts(driver, 5), efforts(fresh, 5))
    driver.reset(3)
    fresh.reset(4)
    np.testing.assert_array_equal(efforts(driver, 5), efforts(fresh, 5))


def test_the_phase_of_a_single_oscillator_turns_at_its_frequency():
    signal = ('only', (SPINE.force_elements[0].name,))
    driver = controller(replace(SPINE, signals=(signal,)), tau_a=0.3, tau_ratio=2.0)
    driver.target_tape(DT, [STILL] * 500)
    phases = []
    for _ in range(400):
        driver.step(DT, STILL, BLIND)
        phases.append(driver.state()['phase'])
    assert np.all(np.diff(np.unwrap(phases)) > 0.0)
    began = np.flatnonzero(np.diff(phases) < 0.0)
    # Four periods of 1.885 s, each end met within 0.02 s.
    assert np.ptp(began) * DT / (len(began) - 1) == pytest.approx(1.0 / 0.5305, abs=0.02)


def test_dead_oscillators_are_told():
    alive = diagnosis(controller(w1=2.0, **{f'w{k}': 1.4 for k in range(2, 25)}))
    assert alive.peak_to_peak.shape == (4,)
    dead = diagnosis(controller(**{f'w{k}': 2.2 for k in range(1, 25)}))
    assert dead.verdict == 'dead'
    with pytest.raises(ConfigurationError, match='signals 1, 2, 3, 4 of 4 do not oscillate'):
        dead.require_alive()


def test_a_step_too_long_for_the_time_constants_is_a_bad_command():
    driver = controller(tau_a=0.02, tau_ratio=0.2, adaptation=20.0, step=0.01)
    with pytest.raises(BadCommand, match=r'diverge within .* s: shorten step 0.01 s'):
        with np.errstate(over='ignore', invalid='ignore'):
            driver.target_tape(DT, [STILL] * 750)


@pytest.mark.parametrize(
    ('dt', 'step', 'samples', 'wanted'),
    [(0.02, 0.0005, (0, 0), (40, 1, 0.0005)), (0.02, 0.0005, (0, 5), (5, 8, 0.0005)),
     (0.02, 0.0005, (3, 0), (3, 13, 0.02 / 39)), (0.0203, 0.0005, (0, 0), (41, 1, 0.0203 / 41)),
     (0.001, 0.01, (0, 0), (1, 1, 0.001))],
)  # fmt: skip
def test_the_step_is_the_nearest_that_divides_a_target(dt, step, samples, wanted):
    count, every, length = divide_period(dt, step, samples)
    assert (count, every) == wanted[:2]
    assert length == pytest.approx(wanted[2], rel=1e-12)
    assert count * every * length == pytest.approx(dt)


def test_robots_that_it_cannot_drive_are_refused_in_one_line():
    with pytest.raises(ConfigurationError, match="'signals' or 'legs' in robot.yaml.*has neither"):
        controller(replace(SPINE, signals=()))
    first, second = BOX.joint_names[:2]
    mixed = replace(
        BOX,
        actuators={**BOX.actuators, second: Actuator(kind='effort')},
        signals=(('one', (first,)), ('two', (second,))),
    )
    with pytest.raises(
        ConfigurationError, match=f"'{second}' by effort and '{first}' by position"
    ):
        controller(mixed)
    many = replace(BOX, signals=tuple((name, (name,)) for name in BOX.joint_names))
    with pytest.raises(ConfigurationError, match='drives at most 8 signals, here are 12'):
        controller(many)
    with pytest.raises(ConfigurationError, match="sole or contact node at signal 'signal_1'"):
        controller(replace(SPINE, contact_nodes=()), feedback='contact', feedback_gain=1.0)
    with pytest.raises(ConfigurationError, match="did you mean 'stretch'"):
        controller(feedback='strech')
