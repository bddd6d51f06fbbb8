# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Dataclasses cross the wire and come back equal to the last bit."""

from dataclasses import fields, is_dataclass, replace
import math

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

pytest.importorskip('rclpy')
pytest.importorskip('gait_interfaces')

from builtin_interfaces.msg import Duration, Time
from rclpy.serialization import deserialize_message, serialize_message
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from gait_core.errors import BadCommand, ConfigurationError
from gait_core.messages.reader import read_observation, read_quantities
from gait_core.motion.observation import Contacts, Imu, Observation
from gait_core.motion.targets import JointTargets
from gait_core.parameters.plain_data import sha256_of, to_plain_data
from gait_core.trial.scene import InitialState, Push, Scene, SensorModel, TerrainSpec
from gait_core.trial.setup import default_trial, make_scene
from gait_core.trial.spec import Command, Milestone, TimedCommand, TrialResult, TrialSpec
from gait_interfaces import msg
from gait_ros.messages import conversions as convert
from gait_ros.messages.commands import from_trajectory

NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=64)
NAMES = st.text('abc_', min_size=1, max_size=4)
SEEDS = st.integers(0, 2**63 - 1)


def over_the_wire(message):
    return deserialize_message(serialize_message(message), type(message))


def bits(value):
    """Return a value as plain data in which every float is its exact text."""
    if is_dataclass(value):
        return {field.name: bits(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, (tuple, list)):
        return [bits(item) for item in value]
    return value


def arrays(*shape):
    size = int(np.prod(shape))
    return st.lists(NUMBERS, min_size=size, max_size=size).map(
        lambda values: np.array(values, dtype=np.float64).reshape(shape)
    )


@st.composite
def observations(draw):
    n, b, c, e = (draw(st.integers(0, 3)) for _ in range(4))
    maybe = lambda strategy: draw(st.none() | strategy)  # noqa: E731
    contacts = st.builds(
        Contacts,
        soles=st.just(('l', 'r')),
        sole=st.just(np.arange(c, dtype=np.int64) - 1),
        points=arrays(c, 3),
        forces=arrays(c, 3),
        depths=arrays(c),
    )
    imu = st.builds(
        Imu,
        orientation=arrays(4),
        angular_velocity=arrays(3),
        linear_acceleration=arrays(3),
    )
    return Observation(
        tick=draw(st.integers(0, 10**9)),
        time=draw(NUMBERS),
        joint_names=tuple(f'j{i}' for i in range(n)),
        joint_positions=maybe(arrays(n)),
        joint_velocities=maybe(arrays(n)),
        joint_efforts=maybe(arrays(n)),
        body_names=tuple(f'b{i}' for i in range(b)),
        body_poses=maybe(arrays(b, 7)),
        body_twists=maybe(arrays(b, 6)),
        imu=maybe(imu),
        contacts=maybe(contacts),
        element_names=tuple(f'e{i}' for i in range(e)),
        element_lengths=maybe(arrays(e)),
        element_forces=maybe(arrays(e)),
    )


@given(observations())
@settings(max_examples=60, deadline=None)
def test_an_observation_comes_back_equal_absent_and_empty_apart(observation):
    message = over_the_wire(convert.BUILDER.observation(observation))
    assert bits(read_observation(message)) == bits(observation)


@st.composite
def targets(draw):
    rows, n = draw(st.integers(1, 3)), draw(st.integers(0, 4))
    given_field = st.none() | arrays(rows, n)
    return JointTargets(
        names=tuple(f'j{i}' for i in range(n)),
        position=draw(given_field),
        velocity=draw(given_field),
        effort=draw(given_field),
    )


@given(targets())
@settings(max_examples=60, deadline=None)
def test_targets_come_back_equal(given_targets):
    message = over_the_wire(convert.to_targets(given_targets))
    assert bits(convert.from_targets(message)) == bits(given_targets)


QUANTITIES = st.dictionaries(NAMES, NUMBERS, max_size=3)
COMMANDS = st.builds(Command, velocity=st.tuples(NUMBERS, NUMBERS, NUMBERS), set_points=QUANTITIES)
POSITIVE = st.floats(1e-3, 1e3)
# Gravity and pushes have bounds.
SIZES = st.floats(-1e9, 1e9)
COORDINATES = st.floats(-1e6, 1e6)
POSITIONS = st.dictionaries(NAMES, COORDINATES, max_size=3)
SCENES = st.builds(
    Scene,
    robot=NAMES,
    draw=SEEDS,
    engine=NAMES,
    engine_options=QUANTITIES,
    terrain=st.builds(TerrainSpec, name=NAMES, parameters=QUANTITIES, seed=SEEDS),
    friction=POSITIVE,
    restitution=st.floats(0.0, 1.0),
    contact_law=NAMES,
    gravity=st.tuples(SIZES, SIZES, SIZES),
    physics_step=st.just(0.001),
    control_period=st.integers(1, 50).map(lambda steps: steps * 0.001),
    initial=st.builds(InitialState, x=COORDINATES, yaw=COORDINATES, joint_positions=POSITIONS),
    pushes=st.lists(
        st.builds(
            Push,
            start=SIZES,
            duration=POSITIVE,
            force=st.tuples(SIZES, SIZES, SIZES),
            link=NAMES,
        ),
        max_size=2,
    ).map(tuple),
    sensors=st.builds(SensorModel, orientation_noise=POSITIVE, delay_ticks=st.integers(0, 9)),
    length_scale=POSITIVE,
    mass_factor=POSITIVE,
)
PARAMETERS = st.dictionaries(
    NAMES,
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | NUMBERS
    | NAMES
    | st.lists(NUMBERS, max_size=3).map(tuple)
    | st.lists(st.integers(-9, 9), min_size=1, max_size=3).map(tuple),
    max_size=4,
)
SPECS = st.builds(
    TrialSpec,
    scene=SCENES,
    controller=NAMES,
    parameters=PARAMETERS,
    script=st.lists(COMMANDS, max_size=3).map(
        lambda commands: tuple(
            TimedCommand(time=0.1 * i, command=command) for i, command in enumerate(commands)
        )
    ),
    seed=SEEDS,
    duration=st.floats(0.1, 1e3),
    settle_time=POSITIVE,
    fitness_terms=QUANTITIES,
    gates=QUANTITIES,
    weights=NAMES,
    randomise=st.sampled_from([{}, {'mass': (0.8, 1.2), 'sensors.delay_ticks': (0.0, 2.0)}]),
    hopeless=st.sampled_from([(), (Milestone(time=0.05, moved=0.1),)]),
)


@given(SPECS)
@settings(max_examples=60, deadline=None)
def test_a_spec_comes_back_equal_and_with_the_same_hash(spec):
    back = convert.from_spec(over_the_wire(convert.to_spec(spec)))
    assert to_plain_data(back) == to_plain_data(spec)
    assert sha256_of(back) == sha256_of(spec)


@given(QUANTITIES, st.none() | NUMBERS, st.none() | NUMBERS)
@settings(max_examples=30, deadline=None)
def test_a_result_comes_back_equal(metrics, fitness, fell_at):
    result = TrialResult(
        status='ok',
        metrics=metrics,
        terms=metrics,
        fitness=fitness,
        trial_hash='a' * 64,
        spec_hash='b' * 64,
        fingerprint='f',
        ticks=7,
        fell_at=fell_at,
        wall_time=0.5,
        reason='',
    )
    assert bits(convert.from_result(over_the_wire(convert.to_result(result)))) == bits(result)


@pytest.mark.parametrize(
    ('changes', 'words'),
    [
        ({'names': ['a', 'a'], 'position': [0.0, 0.0]}, ["'a'", 'twice']),
        ({'names': ['a', 'b'], 'position': [0.0]}, ['1 values', '1 x 2']),
        ({'names': ['a'], 'position': [float('nan')]}, ["'a'", 'not finite']),
        ({'names': ['a'], 'position': [float('inf')]}, ["'a'", 'not finite']),
        ({'names': ['a'], 'position': [0.0], 'sub_samples': 0}, ['0 x 1']),
    ],
)
def test_bad_targets_are_refused_by_name_and_size(changes, words):
    message = msg.JointTargets(**{'sub_samples': 1, 'given': msg.JointTargets.POSITION, **changes})
    with pytest.raises(BadCommand) as caught:
        convert.from_targets(message)
    assert all(word in str(caught.value) for word in words)


def test_a_quantity_given_twice_is_refused():
    twice = [msg.Quantity(name='x', value=1.0), msg.Quantity(name='x', value=2.0)]
    with pytest.raises(ConfigurationError, match="'x' is given twice"):
        read_quantities(twice)


def test_push_arrays_of_another_length_are_refused_with_both_sizes():
    message = convert.to_scene(Scene(robot='r'))
    message.push_links = ['base']
    message.push_windows = [0.0, 1.0]
    with pytest.raises(ConfigurationError, match='push_forces has 0 values, expected 1 x 3'):
        convert.from_scene(message)


ROBOTS = ('a1', 'guroo', 'hexapod', 'tetraspine', 'roach')


@pytest.mark.parametrize('robot', ROBOTS)
def test_a_robots_name_is_a_scene_and_a_trial_by_its_own_defaults(robot):
    by_name = over_the_wire(msg.TrialSpec(scene=msg.Scene(robot=robot)))
    scene, spec = convert.from_scene(by_name.scene), convert.from_spec(by_name)
    assert scene == make_scene(robot, {})
    assert sha256_of(spec) == sha256_of(default_trial(robot))
    # Sent on in full, it is the same.
    assert sha256_of(convert.from_spec(over_the_wire(convert.to_spec(spec)))) == sha256_of(spec)


def test_what_is_given_goes_over_the_robots_own():
    quantity = msg.Quantity
    given = msg.Scene(
        robot='hexapod',
        engine='bullet',
        engine_options=[quantity(name='contact_erp', value=0.3)],
        terrain='slope',
        terrain_parameters=[quantity(name='angle_deg', value=3.0)],
        terrain_seed=4,
        friction=[0.0],
        gravity=[0.0, 0.0, -1.6],
        restitution=0.2,
        control_period=[0.01],
        mass_factor=1.5,
        fixed_base=True,
        initial_pose=[1.0, 2.0, 0.0, 0.0, 0.5, 0.01],
        push_links=[''],
        push_windows=[1.0, 0.5],
        push_forces=[1.0, 0.0, 0.0],
        sensor_delay=2,
    )
    assert convert.from_scene(over_the_wire(given)) == make_scene(
        'hexapod',
        {
            'engine': 'bullet',
            'engine_options': {'contact_erp': 0.3},
            'terrain': {'name': 'slope', 'parameters': {'angle_deg': 3.0}, 'seed': 4},
            'friction': 0.0,
            'gravity': [0.0, 0.0, -1.6],
            'restitution': 0.2,
            'control_period': 0.01,
            'mass_factor': 1.5,
            'fixed_base': True,
            'initial': {'x': 1.0, 'y': 2.0, 'yaw': 0.5, 'clearance': 0.01},
            'pushes': [{'start': 1.0, 'duration': 0.5, 'force': [1.0, 0.0, 0.0]}],
            'sensors': {'delay_ticks': 2},
        },
    )
    spec = msg.TrialSpec(
        scene=msg.Scene(robot='a1'),
        controller='phase_cpg',
        duration=3.0,
        seed=7,
        command_times=[0.0],
        commands=[msg.Command()],
    )
    usual = default_trial('a1', 3.0)
    still = TimedCommand(time=0.0, command=Command())
    assert convert.from_spec(over_the_wire(spec)) == replace(usual, seed=7, script=(still,))


@pytest.mark.parametrize(
    ('changes', 'words'),
    [
        ({'robot': ''}, 'scene.robot is empty'),
        ({'robot': 'guro'}, "did you mean 'guroo'"),
        ({'engine': 'bulet'}, "did you mean 'bullet'"),
        ({'length_scale': 0.0}, 'scene.length_scale is 0.0'),
        ({'friction': [math.nan]}, 'friction is nan'),
        ({'gravity': [0.0, -9.81]}, 'scene.gravity has 2 values, expected 3'),
        ({'initial_pose': [0.1]}, 'scene.initial_pose has 1 values, expected 6'),
        ({'complete': True}, 'scene.friction has 0 values, expected 1'),
    ],
)
def test_a_scene_by_hand_that_cannot_be_is_refused(changes, words):
    with pytest.raises(ConfigurationError, match=words):
        convert.from_scene(msg.Scene(**{'robot': 'a1', **changes}))


@pytest.mark.parametrize(
    ('stamp', 'words'),
    [
        (Time(sec=1_700_000_000), 'the trajectory starts in 1699999990 s'),
        (Time(sec=71), 'starts in 61 s'),
        (Time(sec=5), 'the trajectory ended 4.500 s ago'),
    ],
)
def test_a_trajectory_of_another_clock_is_refused(stamp, words):
    """A stamp of Unix time at a simulated clock would let the robot stand for half a century."""
    point = JointTrajectoryPoint(positions=[0.1], time_from_start=Duration(nanosec=500_000_000))
    message = JointTrajectory(joint_names=['hip'], points=[point])
    message.header.stamp = stamp
    with pytest.raises(BadCommand, match=words):
        from_trajectory(message, 10 * 10**9)
    message.header.stamp = Time(sec=60)
    assert from_trajectory(message, 10 * 10**9)[1] == 50.0
