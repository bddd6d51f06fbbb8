# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

from dataclasses import replace
import json
import math
from types import MappingProxyType

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from gait_core.parameters.plain_data import sha256_of, to_plain_data
from gait_core.testing.doubles import spec_for_test
from gait_core.trial.scene import InitialState, Push, Scene, SensorModel, TerrainSpec
from gait_core.trial.spec import Command, Milestone, TimedCommand

values = st.recursive(
    st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()),
    lambda inner: st.dictionaries(st.text(), inner, max_size=4) | st.lists(inner, max_size=4),
    max_leaves=12,
)


@given(value=st.dictionaries(st.text(), values, max_size=5))
def test_the_order_of_keys_makes_no_difference(value):
    turned = dict(reversed(value.items()))
    assert sha256_of(value) == sha256_of(turned) == sha256_of(MappingProxyType(turned))


@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_the_last_bit_of_a_float_makes_a_difference(value):
    other = math.nextafter(value, math.inf)
    if math.isfinite(other) and other != value:
        assert sha256_of([value]) != sha256_of([other])


def test_numpy_values_count_as_the_plain_ones():
    assert to_plain_data({'a': np.arange(3.0), 'b': np.float64(0.1), 'c': (1, 2)}) == {
        'a': [0.0, 1.0, 2.0],
        'b': 0.1,
        'c': [1, 2],
    }
    assert sha256_of(np.int64(3)) == sha256_of(3)


def test_nan_has_no_canonical_form():
    with pytest.raises(ValueError, match='JSON'):
        sha256_of({'a': math.nan})


def test_a_spec_is_plain_json():
    data = to_plain_data(spec_for_test())
    assert json.loads(json.dumps(data, allow_nan=False)) == data


def variations():
    base = spec_for_test()
    scene = {
        'robot': 'other', 'draw': 1, 'engine': 'other', 'engine_options': {'iterations': 9.0},
        'terrain': TerrainSpec(name='rough'), 'friction': 0.8, 'restitution': 0.1,
        'contact_law': 'other', 'gravity': (0.0, 0.1, -9.81), 'physics_step': 0.002,
        'control_period': 0.01, 'initial': InitialState(yaw=0.1),
        'pushes': (Push(start=0.0, duration=0.1, force=(1.0, 0.0, 0.0)),),
        'sensors': SensorModel(delay_ticks=1), 'length_scale': 0.5, 'fixed_base': True,
        'mass_factor': 1.1,
    }  # fmt: skip
    assert set(scene) == set(vars(base.scene)), 'a new field of Scene needs a variation here'
    for name, value in scene.items():
        yield f'scene.{name}', replace(base, scene=replace(base.scene, **{name: value}))
    spec = {
        'controller': 'hold', 'parameters': {'amplitude': 0.3},
        'script': (TimedCommand(time=0.0, command=Command(velocity=(0.1, 0.0, 0.0))),),
        'seed': 1, 'duration': 0.6, 'settle_time': 0.1, 'fitness_terms': {'distance': 1.0},
        'weights': 'weights.npz', 'weights_sha256': '00', 'gates': {'speed': 1.0},
        'randomise': {'mass': (0.9, 1.1)}, 'hopeless': (Milestone(time=0.1, moved=0.1),),
    }  # fmt: skip
    assert {*spec, 'scene'} == set(vars(base)), 'a new field of TrialSpec needs a variation here'
    for name, value in spec.items():
        # A hash of weights is that of a file.
        file = {'weights': spec['weights']} if name == 'weights_sha256' else {}
        yield name, replace(base, **{name: value, **file})


def test_every_field_of_a_spec_enters_its_hash():
    hashes = {'base': sha256_of(spec_for_test())}
    hashes.update({name: sha256_of(spec) for name, spec in variations()})
    assert len(set(hashes.values())) == len(hashes), hashes
    assert Scene(robot='a') == Scene(robot='a')
