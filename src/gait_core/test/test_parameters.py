# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

from dataclasses import dataclass, replace
import math

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.parameters.declaration import (
    Parameters,
    bool_parameter,
    declared_parameters,
    float_parameter,
    floats_parameter,
    int_parameter,
    make_parameters,
    str_parameter,
)
from gait_core.parameters.space import Gene, ParameterSpace, parameter_space
from gait_core.parameters.tables import parameter_table


@dataclass(frozen=True, kw_only=True)
class Gait(Parameters):
    frequency: float = float_parameter(1.2, low=0.1, high=5.0, unit='Hz', doc='Cycles per second.')
    stiffness: float = float_parameter(
        10.0, low=1.0, high=1000.0, unit='1/s', doc='Gain.', log=True
    )
    cycles: int = int_parameter(3, low=1, high=10, doc='How many.')
    levelled: bool = bool_parameter(True, doc='Keeps the feet level.')
    pattern: str = str_parameter('trot', choices=('trot', 'walk', 'pace'), doc='Footfalls.')
    phases: tuple[float, ...] = floats_parameter(
        (0.0, 0.5), low=0.0, high=1.0, unit='cycle', doc='Lags.'
    )


@dataclass(frozen=True, kw_only=True)
class Seeded(Parameters):
    seed: int = int_parameter(0, low=0, high=2**63 - 1, doc='Of a draw.')


def refusal(**values):
    with pytest.raises(ConfigurationError) as caught:
        make_parameters(Gait, values)
    message = str(caught.value)
    assert '\n' not in message
    return message


def test_a_whole_number_becomes_a_float():
    frequency = make_parameters(Gait, {'frequency': 2}).frequency
    assert frequency == 2.0 and type(frequency) is float
    assert type(make_parameters(Gait, {'frequency': np.int32(2)}).frequency) is float


def test_a_float_without_fraction_becomes_a_whole_number():
    cycles = make_parameters(Gait, {'cycles': 4.0}).cycles
    assert cycles == 4 and type(cycles) is int
    assert 'cycles' in refusal(cycles=4.5)


def test_construction_checks_as_build_does():
    with pytest.raises(ConfigurationError, match='frequency'):
        Gait(frequency=7.0)
    with pytest.raises(ConfigurationError, match='frequency'):
        replace(Gait(), frequency=7.0)


@pytest.mark.parametrize(
    ('values', 'named'),
    [
        ({'frequency': 5.5}, ["'frequency' = 5.5", '[0.1, 5]', 'nearest valid: 5']),
        ({'frequency': 0.0}, ['nearest valid: 0.1']),
        ({'frequency': True}, ['frequency', 'True', 'Hz']),
        ({'frequency': '1.0'}, ['frequency', "'1.0'"]),
        ({'frequency': math.nan}, ['frequency', 'nan']),
        ({'frequency': math.inf}, ['frequency', 'inf']),
        ({'frequency': 10**400}, ['frequency', 'finite']),
        ({'cycles': math.inf}, ['cycles', 'inf']),
        ({'cycles': math.nan}, ['cycles', 'nan']),
        ({'levelled': 1}, ['levelled', 'true or false']),
        ({'pattern': 'trott'}, ['pattern', "'trott'", "'trot'"]),
        ({'pattern': 3}, ['pattern', '3']),
        ({'phases': 0.5}, ['phases', 'list']),
        ({'phases': '0.5'}, ['phases', 'list']),
        ({'phases': [0.0, 1.5]}, ['phases', '1.5']),
        ({'frequencies': 1.0}, ["'frequencies'", "did you mean 'frequency'"]),
    ],
)
def test_a_refusal_is_one_line_that_names_value_and_nearest_valid(values, named):
    message = refusal(**values)
    for part in named:
        assert part in message


def test_a_list_becomes_a_tuple_so_that_parameters_stay_hashable():
    gait = make_parameters(Gait, {'phases': [0, 1]})
    assert gait.phases == (0.0, 1.0)
    assert hash(gait) == hash(make_parameters(Gait, {'phases': np.array([0.0, 1.0])}))


def test_describe_lists_what_was_declared_in_order():
    infos = declared_parameters(Gait)
    assert [info.name for info in infos] == [
        'frequency', 'stiffness', 'cycles', 'levelled', 'pattern', 'phases',
    ]  # fmt: skip
    assert (infos[0].unit, infos[0].low, infos[0].high) == ('Hz', 0.1, 5.0)
    assert infos[1].log and not infos[0].log


def test_the_space_of_a_dataclass_has_its_floats_only():
    assert parameter_space(Gait).names == ('frequency', 'stiffness')
    assert parameter_space(Gait, ['stiffness']).genes == (
        Gene(name='stiffness', lower=1.0, upper=1000.0, unit='1/s', log=True),
    )
    with pytest.raises(ConfigurationError, match='stiffness'):
        parameter_space(Gait, ['stifness'])


def test_a_log_gene_has_its_geometric_mean_in_the_middle():
    space = ParameterSpace((Gene(name='k', lower=1.0, upper=100.0, log=True),))
    assert space.decode(np.array([0.5]))['k'] == pytest.approx(10.0)
    assert space.encode({'k': 10.0})[0] == pytest.approx(0.5)


def test_a_linear_gene_has_its_mean_in_the_middle():
    space = ParameterSpace((Gene(name='a', lower=-1.0, upper=3.0),))
    assert space.decode(np.array([0.5]))['a'] == pytest.approx(1.0)


bounds = st.tuples(st.floats(1e-3, 1e3), st.floats(1.01, 1e3)).map(lambda b: (b[0], b[0] * b[1]))
cube = st.floats(0.0, 1.0)


@given(bounds=bounds, log=st.booleans(), x=cube)
def test_encode_inverts_decode(bounds, log, x):
    space = ParameterSpace((Gene(name='g', lower=bounds[0], upper=bounds[1], log=log),))
    value = space.decode(np.array([x]))
    assert bounds[0] <= value['g'] <= bounds[1]
    # At worst a linear gene spans 1 % of its lower bound: 100 epsilon are lost.
    assert space.encode(value)[0] == pytest.approx(x, abs=1e-12)


@pytest.mark.parametrize('log', [False, True])
def test_rounding_carries_no_value_past_its_bound(log):
    # Without a clamp 1 % of these end above their upper bound, 5 % on a log scale.
    for low, high in np.sort(np.random.default_rng(0).uniform(0.1, 10.0, (200, 2)), axis=1):
        space = ParameterSpace((Gene(name='g', lower=low, upper=high, log=log),))
        for x, bound in ((0.0, low), (1.0, high)):
            value = space.decode(np.array([x]))['g']
            assert low <= value <= high
            assert value == pytest.approx(bound)


@given(bounds=bounds, log=st.booleans(), a=cube, b=cube)
def test_decode_keeps_the_order(bounds, log, a, b):
    space = ParameterSpace((Gene(name='g', lower=bounds[0], upper=bounds[1], log=log),))
    low, high = (space.decode(np.array([x]))['g'] for x in sorted((a, b)))
    assert low <= high


@given(x=st.floats(-5.0, 5.0))
def test_decode_clips_to_the_cube(x):
    space = ParameterSpace((Gene(name='g', lower=2.0, upper=4.0),))
    clipped = space.decode(np.array([min(max(x, 0.0), 1.0)]))
    assert space.decode(np.array([x])) == clipped


def test_genomes_of_the_wrong_shape_or_not_finite_are_refused():
    space = parameter_space(Gait)
    with pytest.raises(ValueError, match=r'\(3,\), expected \(2,\)'):
        space.decode(np.zeros(3))
    with pytest.raises(ValueError, match='not finite'):
        space.decode(np.array([0.0, np.nan]))


def test_encode_names_what_is_missing_unknown_or_outside():
    space = parameter_space(Gait)
    with pytest.raises(ConfigurationError, match="'stiffness' has no value"):
        space.encode({'frequency': 1.0})
    with pytest.raises(ConfigurationError, match='frequency'):
        space.encode({'frequenzy': 1.0, 'stiffness': 10.0})
    with pytest.raises(ConfigurationError, match=r"'frequency' = 9 Hz is outside \[0.1, 5\]"):
        space.encode({'frequency': 9.0, 'stiffness': 10.0})


def test_a_table_row_says_what_was_declared():
    rows = parameter_table(Gait).splitlines()
    assert rows[2] == '| `frequency` | 1.2 | 0.1 to 5 | Hz | Cycles per second. |'
    assert rows[5] == '| `levelled` | true |  | - | Keeps the feet level. |'
    assert len(rows) == 2 + len(declared_parameters(Gait))


def test_numbered_parameters_share_a_row_of_the_table():
    def weight(value, doc='Pull.'):
        return float_parameter(value, low=0.0, high=3.0, unit='-', doc=doc)

    @dataclass(frozen=True, kw_only=True)
    class Weights(Parameters):
        w1: float = weight(1.0)
        w2: float = weight(2.5)
        w3: float = weight(2.0)
        w4: float = weight(2.0, 'Push.')
        v1: float = weight(1.0, 'Pull.')
        v2: float = weight(1.0, 'Pull.')

    assert parameter_table(Weights).splitlines()[2:] == [
        '| `w1` to `w3` | 1 to 2.5 | 0 to 3 | - | Pull. |',
        '| `w4` | 2 | 0 to 3 | - | Push. |',
        '| `v1` to `v2` | 1 | 0 to 3 | - | Pull. |',
    ]


def test_genes_and_spaces_refuse_bad_declarations():
    with pytest.raises(ConfigurationError, match='lower'):
        Gene(name='g', lower=1.0, upper=1.0)
    with pytest.raises(ConfigurationError, match='log'):
        Gene(name='g', lower=0.0, upper=1.0, log=True)
    gene = Gene(name='g', lower=0.0, upper=1.0)
    with pytest.raises(ConfigurationError, match="'g' is declared 2 times"):
        ParameterSpace((gene, gene))


def test_a_seed_beyond_the_whole_numbers_of_a_float_is_kept():
    info = next(one for one in declared_parameters(Seeded) if one.name == 'seed')
    assert [info.coerce(seed) for seed in (2**63 - 1, 2**53 + 1)] == [2**63 - 1, 2**53 + 1]
    with pytest.raises(ConfigurationError, match=r'1\.5, expected a whole number'):
        info.coerce(1.5)
