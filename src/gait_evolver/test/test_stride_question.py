"""The thesis's tables as runs, and the question of extending legs asked again."""

from __future__ import annotations

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_evolver.strides.encoding import GENES, all_feasible, joints_of
from gait_evolver.strides.experiments import (
    Outcome,
    discontinuity,
    outcomes,
    settings_of,
    single_leg_rows,
)
from gait_evolver.strides.leg import foot
from gait_evolver.strides.measures import measure
from gait_evolver.strides.published import table
from gait_evolver.strides.question import (
    CONSTANT,
    DIMENSIONS,
    FREE,
    FROZEN,
    Question,
    level_stride,
    start_of,
    strides_of,
    violations,
)
from gait_evolver.strides.search import PublishedSettings


def test_single_leg_rows_stand_beside_the_printed_ones():
    for ours, printed in zip(single_leg_rows(), table('table_4_1_to_4_3'), strict=True):
        assert ours.power == pytest.approx(printed['power'], rel=1e-3)
        assert ours.last_x == pytest.approx(printed['last_x'], abs=5e-3)
        # The first x is printed as length minus x (trap T9).
        assert ours.first_length - ours.first_x == pytest.approx(printed['first_x'], abs=5e-3)
        assert ours.distance == pytest.approx(printed['distance'], abs=5e-3)


def test_every_sweep_is_named_with_its_setting():
    weights = settings_of('table_6_9')
    assert [row.run.efficiency_weight for row in weights] == [row.value for row in weights]
    assert weights[-2].printed == 10
    assert weights[-2].deviation is None
    assert [row.run.elites for row in settings_of('table_6_2')] == list(range(5, 55, 5))
    assert settings_of('table_6_3')[-1].run == PublishedSettings(generations=1000)
    assert settings_of('table_6_4')[1].run.mutation == 0.03
    with pytest.raises(ConfigurationError, match='table_6_2'):
        settings_of('table_62')


def test_outcomes_along_one_run():
    settings = PublishedSettings(generations=20, intervals=5)
    along = outcomes(settings, 5, every=5)
    assert len(along) == 4
    assert np.all(np.diff([one.fitness for one in along]) >= 0.0)
    assert outcomes(settings, 5) == along[-1:]
    last = along[-1]
    flags = last.swings_free + last.stable
    assert last.fitness == pytest.approx(last.weighted_efficiency + 0.335 * flags)
    assert last.weighted_efficiency == pytest.approx(0.33 * last.efficiency)
    assert last.violates == (flags < 2)
    assert isinstance(last, Outcome)


def test_discontinuity_is_that_of_the_area():
    energies = dict(discontinuity())
    assert energies[0.0] > 50.0 * energies[1.0] > 50.0 * 900.0 * energies[0.001]


@pytest.mark.parametrize('kind', DIMENSIONS)
def test_kinds_of_legs(kind):
    genomes = np.random.default_rng(3).random((200, DIMENSIONS[kind]))
    strides = strides_of(genomes, kind)
    assert all_feasible(strides).all()
    lengths = strides.reshape(-1, 4, 3, 4)[..., 2:]
    if kind in FROZEN:
        np.testing.assert_allclose(lengths, FROZEN[kind], rtol=1e-15)
    elif kind == CONSTANT:
        assert np.all(np.ptp(lengths, axis=1) == 0.0)
        assert np.ptp(lengths[0]) > 0.0
    else:
        assert np.all(np.ptp(lengths, axis=1) > 0.0)


@pytest.mark.parametrize('length', [6.0, 9.0, 12.0])
def test_level_stride_walks(length):
    genes = level_stride(length)
    heights = foot(joints_of(genes))[:3, :, 1]
    np.testing.assert_allclose(heights, -0.016 * length, atol=1e-12)
    assert all_feasible(genes[None]).all()
    ours = measure(genes[None])
    assert ours.clearance[0] == pytest.approx(0.03)
    assert all(value[0] <= 0.0 for value in violations(ours).values())
    assert ours.distance[0] == pytest.approx(0.06)
    for kind in (FREE, CONSTANT):
        begun = strides_of(np.array([start_of(genes, kind)]), kind)
        np.testing.assert_allclose(begun[0], genes, rtol=1e-12)


@pytest.mark.parametrize(
    ('optimizer', 'settings'),
    [('cma_es', {'population': 20, 'sigma': 0.1}), ('genetic', {'population': 30})],
)
def test_a_search_never_loses_its_start(optimizer, settings):
    genes = level_stride(9.0)
    before = measure(genes[None]).cost_of_transport()[0]
    question = Question(kind=FREE, optimizer=optimizer, evaluations=400)
    first = question.search(1, settings, genes)
    assert first.cost_of_transport <= before
    assert first.evaluations <= 400
    np.testing.assert_array_equal(question.search(1, settings, genes).genes, first.genes)


def test_a_search_from_a_walk_improves_it():
    start = start_of(level_stride(9.0), 'frozen_9')
    answer = Question(kind='frozen_9', evaluations=4000).search(
        0, {'population': 40, 'sigma': 0.1, 'start': start}
    )
    before = measure(level_stride(9.0)[None]).cost_of_transport()[0]
    assert answer.cost_of_transport < 0.9 * before
    assert all(value[0] <= 0.0 for value in violations(answer.measures).values())


def test_wrong_kind_and_shape_are_named():
    with pytest.raises(ConfigurationError, match="did you mean 'frozen_6'"):
        strides_of(np.zeros((1, 24)), 'frozen6')
    with pytest.raises(ConfigurationError, match='expected'):
        strides_of(np.zeros((1, GENES)), 'frozen_6')
