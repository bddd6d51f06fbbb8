# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""ROS parameters follow their dataclass in declaration, conversion and refusal."""

from dataclasses import dataclass

import pytest

pytest.importorskip('rclpy')

import rclpy
from rclpy.context import Context
from rclpy.node import Node
from rclpy.parameter import Parameter

from gait_core.errors import ConfigurationError
from gait_core.parameters.declaration import (
    UNSET_LEG,
    Parameters,
    bool_parameter,
    float_parameter,
    floats_parameter,
    int_parameter,
    leg_parameter,
    str_parameter,
)
from gait_core.testing.domain import own_domain
from gait_ros.nodes.parameters import (
    DeclaredParameters,
    from_parameter_values,
    refuse_unknown_overrides,
    to_parameter_values,
)


@dataclass(frozen=True, kw_only=True)
class Gait(Parameters):
    frequency: float = float_parameter(1.2, low=0.1, high=5.0, unit='Hz', doc='Cycles per second.')
    legs: int = int_parameter(4, low=2, high=8, doc='Number of legs.')
    mirrored: bool = bool_parameter(False, doc='Left and right change places.')
    kind: str = str_parameter('trot', choices=('trot', 'walk'), doc='Order of the legs.')
    phases: tuple = floats_parameter((0.0, 0.5), low=0.0, high=1.0, unit='-', doc='Of each leg.')
    offsets: tuple = floats_parameter((), low=-1.0, high=1.0, unit='m', doc='Of each leg.')
    robot: str = str_parameter('a', doc='Which.', read_only=True)

    def __post_init__(self):
        super().__post_init__()
        if self.kind == 'walk' and self.frequency > 2.0:
            raise ConfigurationError(f'a walk at {self.frequency} Hz is a trot')


@pytest.fixture(scope='module')
def context():
    context = Context()
    rclpy.init(args=[], context=context, domain_id=own_domain())
    yield context
    rclpy.shutdown(context=context)


@pytest.fixture
def make_node(context):
    nodes = []

    def make(**overrides):
        given = [
            Parameter(name.replace('__', '.'), value=value) for name, value in overrides.items()
        ]
        node = Node('parameters', context=context, parameter_overrides=given, enable_rosout=False)
        nodes.append(node)
        return node

    yield make
    for node in nodes:
        node.destroy_node()


def set_one(node, name, value):
    return node.set_parameters([Parameter(name, value=value)])[0]


def test_defaults_descriptions_and_ranges_are_those_of_the_dataclass(make_node):
    node = make_node()
    assert DeclaredParameters(node, Gait, prefix='gait').value == Gait()
    described = node.describe_parameter('gait.frequency')
    assert described.description == 'Cycles per second. [Hz]'
    (limits,) = described.floating_point_range
    assert (limits.from_value, limits.to_value) == (0.1, 5.0)
    (limits,) = node.describe_parameter('gait.legs').integer_range
    assert (limits.from_value, limits.to_value) == (2, 8)
    assert node.describe_parameter('gait.kind').additional_constraints == 'one of: trot, walk'
    assert node.describe_parameter('gait.robot').read_only
    assert list(node.get_parameter('gait.phases').value) == [0.0, 0.5]


def test_whole_numbers_become_floats_before_they_are_declared(make_node):
    node = make_node(gait__frequency=2, gait__phases=[0, 1])
    declared = DeclaredParameters(node, Gait, prefix='gait')
    assert declared.value == Gait(frequency=2.0, phases=(0.0, 1.0))
    assert node.get_parameter('gait.frequency').type_ == Parameter.Type.DOUBLE


@pytest.mark.parametrize(
    ('overrides', 'words'),
    [
        ({'gait__frequency': 9.0}, ['gait.frequency', '9', 'nearest valid: 5']),
        ({'gait__frequency': 'fast'}, ['gait.frequency', 'fast']),
        ({'gait__kind': 'trott'}, ["did you mean 'trot'"]),
        ({'gait__legs': 1}, ['gait.legs', '[2, 8]']),
    ],
)
def test_a_bad_override_is_refused_by_its_ros_name(make_node, overrides, words):
    with pytest.raises(ConfigurationError) as caught:
        DeclaredParameters(make_node(**overrides), Gait, prefix='gait')
    assert all(word in str(caught.value) for word in words)


def test_an_override_that_nobody_declares_is_refused_with_the_nearest_name(make_node):
    node = make_node(gait__frequenzy=1.0)
    DeclaredParameters(node, Gait, prefix='gait')
    with pytest.raises(ConfigurationError, match="did you mean 'gait.frequency'"):
        refuse_unknown_overrides(node)


def test_provenance_and_use_sim_time_are_nobodys_mistake(make_node):
    node = make_node(provenance__fitness=1.0, use_sim_time=True, gait__legs=6)
    DeclaredParameters(node, Gait, prefix='gait')
    refuse_unknown_overrides(node)
    assert node.get_parameter('gait.legs').value == 6


def test_a_change_makes_a_new_instance_and_reports_it(make_node):
    seen = []
    node = make_node()
    declared = DeclaredParameters(node, Gait, prefix='gait', on_change=seen.append)
    before = declared.value
    assert set_one(node, 'gait.frequency', 2).successful  # a whole number
    assert declared.value == Gait(frequency=2.0) and before == Gait()
    assert seen == [Gait(frequency=2.0)]
    assert set_one(node, 'gait.phases', [1, 0]).successful
    assert declared.value.phases == (1.0, 0.0)
    assert set_one(node, 'gait.offsets', [0.5]).successful
    assert declared.value.offsets == (0.5,)


def test_a_refused_change_says_why_and_changes_nothing(make_node):
    node = make_node()
    declared = DeclaredParameters(node, Gait, prefix='gait')
    assert set_one(node, 'gait.frequency', 3.0).successful
    result = set_one(node, 'gait.kind', 'walk')
    assert not result.successful and 'a walk at 3.0 Hz is a trot' in result.reason
    assert not set_one(node, 'gait.legs', 99).successful
    assert not set_one(node, 'gait.robot', 'b').successful
    assert not set_one(node, 'gait.mirrored', 1).successful
    assert declared.value == Gait(frequency=3.0)
    assert node.get_parameter('gait.kind').value == 'trot'


def test_several_changes_are_taken_together_or_not_at_all(make_node):
    node = make_node()
    declared = DeclaredParameters(node, Gait, prefix='gait')
    set_one(node, 'gait.frequency', 3.0)
    changed = declared.set({'kind': 'walk', 'frequency': 1.0, 'legs': 4})
    assert set(changed) == {'gait.kind', 'gait.frequency'}
    assert declared.value == Gait(kind='walk', frequency=1.0)
    with pytest.raises(ConfigurationError, match='walk at 2.5'):
        declared.set({'frequency': 2.5, 'legs': 6})
    assert declared.value == Gait(kind='walk', frequency=1.0)
    with pytest.raises(ConfigurationError, match="did you mean 'legs'"):
        declared.set({'leg': 6})


@dataclass(frozen=True, kw_only=True)
class LegGait(Gait):
    lags: tuple = leg_parameter(
        'lag', low=0.0, high=1.0, unit='-', doc='Of one leg.', follows=('kind',)
    )


def test_parameters_of_legs_are_declared_for_those_named_and_may_have_no_value(make_node):
    node = make_node(gait__lag__fr=0.25)
    unset = {'lag.fl': UNSET_LEG, 'lag.fr': UNSET_LEG}
    declared = DeclaredParameters(node, LegGait, prefix='gait', defaults=unset)
    refuse_unknown_overrides(node)
    assert declared.value.lags == (('fr', 0.25),)
    assert node.get_parameter('gait.lag.fl').value == UNSET_LEG
    (limits,) = node.describe_parameter('gait.lag.fl').floating_point_range
    assert (limits.from_value, limits.to_value) == (UNSET_LEG, 1.0)
    assert set_one(node, 'gait.lag.fl', 0).successful
    assert declared.value.lags == (('fl', 0.0), ('fr', 0.25))
    refused = set_one(node, 'gait.lag.fl', -0.5)
    assert not refused.successful and 'gait.lag.fl' in refused.reason
    assert set_one(node, 'gait.lag.fr', UNSET_LEG).successful
    assert declared.value.lags == (('fl', 0.0),)
    assert declared.set({'lag': {'fr': 0.5}}) == ('gait.lag.fr',)
    # A whole gait takes the values of legs that it lacks away.
    assert set(declared.replace(LegGait(frequency=2.0))) == {
        'gait.frequency',
        'gait.lag.fl',
        'gait.lag.fr',
    }
    assert declared.value == LegGait(frequency=2.0)
    with pytest.raises(ConfigurationError, match="did you mean 'lag.fr'"):
        declared.set({'lag.fk': 0.5})
    with pytest.raises(ConfigurationError, match="did you mean 'lag.fr'"):
        declared.replace(LegGait(lags=(('fk', 0.5),)))


def test_named_values_keep_their_types_in_messages():
    values = {'a': 1, 'b': 1.0, 'c': True, 'd': 'x', 'e': (0.5, 1.0), 'f': (1, 2), 'g': ()}
    back = from_parameter_values(to_parameter_values(values))
    assert back == values
    assert {name: type(value) for name, value in back.items()} == {
        name: type(value) for name, value in values.items()
    }
    with pytest.raises(ConfigurationError, match="parameter 'z' is"):
        to_parameter_values({'z': object()})
    with pytest.raises(ConfigurationError, match="'a' is given twice"):
        from_parameter_values(to_parameter_values({'a': 1}) * 2)


def test_two_dataclasses_on_one_node_leave_each_other_alone(make_node):
    node = make_node()
    first = DeclaredParameters(node, Gait, prefix='first')
    second = DeclaredParameters(node, Gait, prefix='second')
    assert set_one(node, 'first.frequency', 2).successful
    assert set_one(node, 'second.frequency', 3).successful
    node.declare_parameter('other', 1)
    assert set_one(node, 'other', 2).successful
    # Timers are of the clock that the node began with.
    assert not set_one(node, 'use_sim_time', True).successful
    assert (first.value, second.value) == (Gait(frequency=2.0), Gait(frequency=3.0))
