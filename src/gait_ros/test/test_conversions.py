"""Dataclasses cross the wire and come back equal to the last bit."""

from dataclasses import fields, is_dataclass

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

pytest.importorskip('rclpy')
pytest.importorskip('gait_interfaces')

from rclpy.serialization import deserialize_message, serialize_message

from gait_core.canonical import plain, sha256_of
from gait_core.errors import BadCommand, ConfigurationError
from gait_core.observation import Contacts, Imu, Observation
from gait_core.scene import InitialState, Push, Scene, SensorModel, TerrainSpec
from gait_core.targets import JointTargets
from gait_core.trial_spec import Command, Milestone, TimedCommand, TrialResult, TrialSpec
from gait_interfaces import msg
from gait_ros import conversions as convert

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
    message = over_the_wire(convert.to_observation(observation))
    assert bits(convert.from_observation(message)) == bits(observation)


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
    gravity=st.tuples(NUMBERS, NUMBERS, NUMBERS),
    physics_step=st.just(0.001),
    control_period=st.integers(1, 50).map(lambda steps: steps * 0.001),
    initial=st.builds(InitialState, x=NUMBERS, yaw=NUMBERS, joint_positions=QUANTITIES),
    pushes=st.lists(
        st.builds(
            Push,
            start=NUMBERS,
            duration=POSITIVE,
            force=st.tuples(NUMBERS, NUMBERS, NUMBERS),
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
    assert plain(back) == plain(spec)
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
        ({'names': ['a', 'b'], 'position': [0.0]}, ['1 numbers', '1 x 2']),
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
        convert.from_quantities(twice)


def test_push_arrays_of_another_length_are_refused_with_both_sizes():
    message = convert.to_scene(Scene(robot='r'))
    message.push_links = ['base']
    message.push_windows = [0.0, 1.0]
    with pytest.raises(ConfigurationError, match='push_forces has 0 numbers, expected 1 x 3'):
        convert.from_scene(message)
