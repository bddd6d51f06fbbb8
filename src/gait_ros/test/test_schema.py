# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Specs survive the way to plain data and back; wrong data is named with its position."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
import json
from typing import Annotated, Any

from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

from gait_core.errors import ConfigurationError
from gait_core.parameters.plain_data import sha256_of, to_plain_data
from gait_core.parameters.schema import Location, NumberRange, Source, read_file, read_value
from gait_core.parameters.yaml_file import read_document
from gait_core.robot.robot_file import RobotFile, TrialDefaults
from gait_core.trial.scene import InitialState, Push, Scene, SensorModel, TerrainSpec
from gait_core.trial.spec import Command, TimedCommand, TrialResult, TrialSpec
from gait_ros.hardware.motors import HardwareFile, MotorEntry

FINITE = st.floats(-1e3, 1e3)
POSITIVE = st.floats(1e-6, 1e3)


@settings(deadline=None)
@given(
    friction=POSITIVE,
    x=FINITE,
    seed=st.integers(0, 2**63 - 1),
    gain=FINITE,
    duration=st.floats(0.1, 1e3),
    flag=st.booleans(),
)
def test_a_spec_is_rebuilt_to_the_last_bit(friction, x, seed, gain, duration, flag):
    spec = TrialSpec(
        scene=Scene(
            robot='guroo',
            friction=friction,
            engine_options={'solver_iterations': 50.0},
            terrain=TerrainSpec(name='rough', parameters={'range': 0.1}, seed=seed),
            initial=InitialState(x=x),
            sensors=SensorModel(delay_ticks=2),
            pushes=(Push(start=1.0, duration=0.2, force=(x, 0.0, 1.0)),),
        ),
        controller='hold',
        parameters={'gain': gain, 'on': flag, 'list': [1.0, 2.0]},
        script=(TimedCommand(time=0.0, command=Command(velocity=(x, 0.0, 0.0))),),
        seed=seed,
        duration=duration,
    )
    again = read_value(TrialSpec, json.loads(json.dumps(to_plain_data(spec))))
    assert sha256_of(again) == sha256_of(spec)
    assert again.scene.pushes[0].force == (x, 0.0, 1.0)


@pytest.mark.parametrize('number', [float('nan'), float('inf'), -float('inf'), 10**400])
def test_a_number_that_is_not_finite_is_named(number):
    with pytest.raises(ConfigurationError, match=r'scene\.friction is .*finite'):
        read_value(Scene, {'robot': 'guroo', 'friction': number}, 'scene')


def test_a_result_keeps_what_is_undefined():
    result = TrialResult(
        status='diverged',
        metrics={},
        terms={},
        fitness=None,
        trial_hash='a',
        spec_hash='b',
        fingerprint='c',
        ticks=3,
    )
    assert read_value(TrialResult, to_plain_data(result)) == result


@pytest.mark.parametrize(
    ('data', 'message'),
    [
        (
            {'robot': 'a1', 'fricton': 1.0},
            "unknown key 'scene.fricton': did you mean 'scene.friction'.*valid: contact_law, ",
        ),
        ({'robot': 'a1', 'friction': True}, 'scene.friction is True, expected a number'),
        ({'robot': 'a1', 'friction': 'high'}, "scene.friction is 'high', expected a number"),
        ({'robot': 'a1', 'gravity': [0, 0]}, 'scene.gravity has 2 values, expected 3'),
        ({'robot': 'a1', 'gravity': 9.81}, 'scene.gravity is 9.81, expected a list'),
        ({'robot': 'a1', 'terrain': 'rough'}, "scene.terrain is 'rough', expected named values"),
        ({'robot': 'a1', 'draw': 1.5}, 'scene.draw is 1.5, expected a whole number'),
        ({'robot': 'a1', 'engine_options': {'erp': 'x'}}, "scene.engine_options.erp is 'x'"),
        ({'robot': 'a1', 'pushes': [{'start': 0}]}, r'scene.pushes\[0\].duration is missing'),
        ({}, 'scene.robot is missing'),
    ],
)
def test_wrong_plain_data_is_named(data, message):
    with pytest.raises(ConfigurationError, match=message):
        read_value(Scene, data, 'scene')


def test_a_whole_number_serves_as_a_float():
    scene = read_value(Scene, {'robot': 'a1', 'friction': 1, 'draw': 2.0})
    assert isinstance(scene.friction, float)
    assert isinstance(scene.draw, int)


@dataclass(frozen=True, kw_only=True)
class Wheel:
    """A record with every form of value."""

    name: str
    radius: Annotated[float, NumberRange(0.0, 5.0, 'm')] = 0.1
    spokes: Annotated[int, NumberRange(0, 100)] = 8
    driven: bool = False
    at: tuple[float, float] = (0.0, 0.0)
    names: tuple[str, ...] = ()
    gains: Mapping[str, float] | None = None
    limit: float | None = None
    tags: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.spokes < 3:
            raise ConfigurationError(f'{self.spokes} spokes; nearest valid: 3')


@dataclass(frozen=True, kw_only=True)
class Cart:
    wheels: tuple[Wheel, ...] = ()
    by_axle: Mapping[str, Wheel] = field(default_factory=dict)


def read_cart(path, text):
    path.write_text(text)
    return read_file(Cart, path)[0]


def test_every_form_of_value_is_read(tmp_path):
    cart = read_cart(
        tmp_path / 'cart.yaml',
        'wheels:\n'
        '  - {name: a, radius: 1, spokes: 4.0, driven: true, at: [1, 2e-1], names: [x, 3]}\n'
        '  - {name: b, radius: 1e-3, gains: {p: 2}, limit: null, tags: {any: [thing, 1]}}\n'
        'by_axle:\n  front.left: {name: c, gains: null, limit: 4}\n',
    )
    first, second = cart.wheels
    assert first == Wheel(
        name='a', radius=1.0, spokes=4, driven=True, at=(1.0, 0.2), names=('x', '3')
    )
    assert isinstance(first.radius, float) and isinstance(first.spokes, int)
    assert second == Wheel(name='b', radius=0.001, gains={'p': 2.0}, tags={'any': ['thing', 1]})
    assert cart.by_axle == {'front.left': Wheel(name='c', limit=4.0)}


@pytest.mark.parametrize(
    ('text', 'position', 'problem'),
    [
        ('wheels: 3', 'line 1, column 1', 'wheels is 3, expected a list'),
        ('wheels:\n- {null: 1}', 'line 2, column 3', "unknown key 'wheels[0].None': did you mean"),
        ('wheels:\n- {name: a, 7: 1}', 'line 2, column 13', "unknown key 'wheels[0].7'"),
        ('wheels:\n- 3', 'line 2, column 3', 'wheels[0] is 3, expected named values'),
        ('wheels:\n- {radius: 1}', 'line 2, column 3', 'wheels[0].name is missing'),
        (
            'wheels:\n- name: a\n  radios: 1',
            'line 3, column 3',
            "unknown key 'wheels[0].radios': did you mean 'wheels[0].radius'? valid: at, driven",
        ),
        ('wheels:\n- {name: a, radius: .nan}', 'line 2, column 13', 'radius is nan, expected a f'),
        ('wheels:\n- {name: a, radius: wide}', 'line 2, column 13', "'wide', expected a number"),
        (
            'wheels:\n- {name: a, radius: -1}',
            'line 2, column 13',
            'wheels[0].radius is -1 m, outside [0, 5]; nearest valid: 0',
        ),
        (
            'wheels:\n- {name: a, spokes: -1}',
            'line 2, column 13',
            'spokes is -1, outside [0, 100]; nearest valid: 0',
        ),
        ('wheels:\n- {name: a, spokes: 2}', 'line 2, column 3', 'wheels[0]: 2 spokes; nearest'),
        ('wheels:\n- {name: a, spokes: 1.5}', 'line 2, column 13', 'is 1.5, expected a whole num'),
        ('wheels:\n- {name: a, driven: 1}', 'line 2, column 13', 'is 1, expected true or false'),
        ('wheels:\n- {name: 7}', 'line 2, column 4', 'wheels[0].name is 7, expected text'),
        ('wheels:\n- {name: a, at: [1]}', 'line 2, column 13', 'at has 1 values, expected 2'),
        ('wheels:\n- {name: a, at: [1, x]}', 'line 2, column 21', "wheels[0].at[1] is 'x'"),
        ('wheels:\n- {name: a, gains: {p: x}}', 'line 2, column 21', "wheels[0].gains.p is 'x'"),
        (
            'wheels:\n- {name: a, gains: x}',
            'line 2, column 13',
            "wheels[0].gains is 'x', expected",
        ),
        ('wheels:\n- {name: a, gains: [1]}', 'line 2, column 13', 'expected named values'),
        ('wheels:\n- {name: a, tags: 1}', 'line 2, column 13', 'tags is 1, expected named values'),
        ("by_axle: {'.*': {spoke: 1}}", 'line 1, column 18', "unknown key 'by_axle['.*'].spoke'"),
        ('a: &a {x: 1}\nwheels: [*a]', 'line 1, column 1', "unknown key 'a'"),
    ],
)
def test_a_mistake_is_named_with_file_line_and_column(tmp_path, text, position, problem):
    path = tmp_path / 'cart.yaml'
    with pytest.raises(ConfigurationError) as caught:
        read_cart(path, text)
    said = str(caught.value)
    assert said.startswith(f'{path}, {position}: ') and problem in said and '\n' not in said


def test_a_value_from_elsewhere_is_not_blamed_on_the_file(tmp_path):
    path = tmp_path / 'cart.yaml'
    path.write_text('wheels: []\nby_axle: {l: {name: l}}\n')
    document = read_document(path)
    content = {**document.content, 'by_axle': {'l': {'name': 'l', 'radius': 'wide'}}}
    replaced = {'by_axle': {'l': {'radius': 'wide'}}}
    location = Location('cart', Source(str(path), document, replaced=replaced))
    with pytest.raises(ConfigurationError, match="^cart.by_axle.l.radius is 'wide', expected"):
        read_value(Cart, content, location)
    with pytest.raises(ConfigurationError, match=f'^{path}, line 1, column 1: cart.wheels is 3'):
        read_value(Cart, {**content, 'wheels': 3}, location)


KINDS = (RobotFile, TrialDefaults, HardwareFile, MotorEntry, TrialSpec, Scene)


@pytest.mark.parametrize('kind', KINDS, ids=lambda kind: kind.__name__)
def test_a_misspelt_key_of_any_file_is_answered_with_the_right_one(kind):
    for name in (one.name for one in fields(kind)):
        wrong = f'{name[:-1]}_{name[-1]}'
        with pytest.raises(ConfigurationError, match=f"unknown key '{wrong}': .*'{name}'"):
            read_value(kind, {wrong: 1})


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
DATA = st.recursive(
    SCALARS,
    lambda items: st.lists(items, max_size=4) | st.dictionaries(SCALARS, items, max_size=4),
    max_leaves=10,
)


@settings(deadline=None)
@given(kind=st.sampled_from(KINDS), data=st.data())
def test_any_data_is_read_or_refused_in_one_line(kind, data):
    names = st.sampled_from([one.name for one in fields(kind)])
    content = data.draw(st.dictionaries(names, DATA, max_size=4) | DATA)
    try:
        read_value(kind, content, Location('', Source('own.yaml')))
    except ConfigurationError as error:
        assert str(error).startswith('own.yaml') and str(error).isprintable()
