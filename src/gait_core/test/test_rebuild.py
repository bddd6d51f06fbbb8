"""Specs survive the way to plain data and back; wrong plain data is named."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st
import pytest

from gait_core.canonical import plain, rebuild, sha256_of
from gait_core.errors import ConfigurationError
from gait_core.scene import InitialState, Push, Scene, SensorModel, TerrainSpec
from gait_core.trial_spec import Command, TimedCommand, TrialResult, TrialSpec

FINITE = st.floats(-1e3, 1e3)
POSITIVE = st.floats(1e-6, 1e3)


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
    again = rebuild(TrialSpec, json.loads(json.dumps(plain(spec))))
    assert sha256_of(again) == sha256_of(spec)
    assert again.scene.pushes[0].force == (x, 0.0, 1.0)


@pytest.mark.parametrize('number', [float('nan'), float('inf'), -float('inf'), 10**400])
def test_a_number_that_is_not_finite_is_named(number):
    with pytest.raises(ConfigurationError, match=r'scene\.friction is .*finite'):
        rebuild(Scene, {'robot': 'guroo', 'friction': number}, 'scene')


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
    assert rebuild(TrialResult, plain(result)) == result


@pytest.mark.parametrize(
    ('data', 'message'),
    [
        ({'robot': 'a1', 'fricton': 1.0}, "'scene.fricton': did you mean 'scene.friction'"),
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
        rebuild(Scene, data, 'scene')


def test_a_whole_number_serves_as_a_float():
    scene = rebuild(Scene, {'robot': 'a1', 'friction': 1, 'draw': 2.0})
    assert isinstance(scene.friction, float)
    assert isinstance(scene.draw, int)
