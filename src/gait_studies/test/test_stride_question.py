"""The thesis's tables as runs, and the question of extending legs asked again."""

from __future__ import annotations

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_studies.cafarelli2017.strides.encoding import GENES, all_feasible, joints_of
from gait_studies.cafarelli2017.strides.experiments import (
    Outcome,
    discontinuity,
    outcomes,
    settings_of,
    single_leg_rows,
)
from gait_studies.cafarelli2017.strides.hexapod import HexapodParameters
from gait_studies.cafarelli2017.strides.leg import foot
from gait_studies.cafarelli2017.strides.legs import (
    CONSTANT,
    FREE,
    FROZEN,
    KINDS,
    LEADS,
    Legs,
    level_stride,
    rail_stride,
)
from gait_studies.cafarelli2017.strides.measures import MeasureSettings, measure
from gait_studies.cafarelli2017.strides.published import table
from gait_studies.cafarelli2017.strides.question import Question, Requirements, violations
from gait_studies.cafarelli2017.strides.search import PublishedSettings


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


@pytest.mark.parametrize('alike', [False, True])
@pytest.mark.parametrize('kind', KINDS)
def test_kinds_of_legs(kind, alike):
    legs = Legs(kind=kind, alike=alike)
    strides = legs.strides(np.random.default_rng(3).random((200, legs.dimension)))
    assert all_feasible(strides).all()
    table = strides.reshape(-1, 4, 3, 4)
    lengths = table[..., 2:]
    if kind in FROZEN:
        np.testing.assert_allclose(lengths, FROZEN[kind], rtol=1e-15)
    elif kind == CONSTANT:
        assert np.all(np.ptp(lengths, axis=1) == 0.0)
        assert np.ptp(lengths[0]) > 0.0
    else:
        assert np.all(np.ptp(lengths, axis=1) > 0.0)
    assert np.all(np.ptp(table, axis=2) == 0.0) == alike


@pytest.mark.parametrize('alike', [False, True])
@pytest.mark.parametrize('length', [6.0, 9.0, 12.0])
def test_level_stride_walks(length, alike):
    genes = level_stride(length)
    heights = foot(joints_of(genes))[:3, :, 1]
    np.testing.assert_allclose(heights, -0.016 * length, atol=1e-12)
    assert all_feasible(genes[None]).all()
    ours = measure(genes[None])
    assert ours.clearance[0] == pytest.approx(0.03)
    assert all(value[0] <= 0.0 for value in violations(ours).values())
    assert ours.distance[0] == pytest.approx(0.06)
    for kind in (FREE, CONSTANT, f'frozen_{length:g}'):
        legs = Legs(kind=kind, alike=alike)
        begun = legs.strides(np.array([legs.start(genes)]))
        np.testing.assert_allclose(begun[0], genes, rtol=1e-12)


def test_long_strokes_lower_the_hips_of_short_legs():
    ours = measure(level_stride(6.0, stroke=0.15)[None])
    assert ours.distance[0] == pytest.approx(0.15)


def test_a_lower_segment_as_a_rail_pushes_for_next_to_nothing():
    """No load acts along a screw on the ground, which the published rules allow."""
    rail = rail_stride()[None]
    assert all_feasible(rail).all()
    ours = measure(rail)
    assert ours.knees[0] == pytest.approx(0.0, abs=1e-12)
    # What is left are the rods of the swinging legs.
    assert ours.screw_signed[0] == pytest.approx(0.0, abs=0.1)
    no_rule = Requirements(knees=-1.0)
    assert all(value[0] <= 0.0 for value in violations(ours, no_rule).values())
    assert measure(rail).cost_of_transport()[0] < 0.06
    rubbing = measure(rail, hexapod=HexapodParameters(guide_friction=0.2))
    assert rubbing.cost_of_transport()[0] > 0.5


def test_the_lead_of_the_screws_is_a_gene():
    legs = Legs(kind=FREE, alike=True, lead=True)
    genome = np.array([legs.start(level_stride(9.0), 0.012)])
    assert legs.leads(genome) == pytest.approx([0.012])
    ends = np.repeat(genome, 2, axis=0)
    ends[:, -1] = 0.0, 1.0
    assert legs.leads(ends) == pytest.approx(LEADS)
    strides = legs.strides(ends)
    together = measure(strides, leads=legs.leads(ends)).energy
    apart = [
        measure(stride[None], hexapod=HexapodParameters(lead=lead)).energy[0]
        for stride, lead in zip(strides, LEADS, strict=True)
    ]
    np.testing.assert_array_equal(together, apart)
    assert Legs(kind=FREE).leads(ends) is None


@pytest.mark.parametrize(
    ('optimizer', 'settings'),
    [
        ('cma_es', {'population': 20, 'sigma': 0.1}),
        ('genetic', {'population': 30}),
        ('nsga2', {'population': 30}),
    ],
)
def test_a_search_never_loses_its_start(optimizer, settings):
    genes = level_stride(9.0)
    before = measure(genes[None]).cost_of_transport()[0]
    question = Question(legs=Legs(kind=FREE), optimizer=optimizer, evaluations=400)
    begin = {**settings, 'start': question.legs.start(genes)}
    first = question.search(1, begin)
    assert first.cost_of_transport <= before * (1.0 + 1e-9)
    assert first.evaluations <= 400
    np.testing.assert_array_equal(question.search(1, begin).genes, first.genes)


def test_a_search_from_a_walk_improves_it():
    legs = Legs(kind='frozen_9', alike=True)
    answer = Question(legs=legs, evaluations=2000).search(
        0, {'population': 20, 'sigma': 0.1, 'start': legs.start(level_stride(9.0))}
    )
    before = measure(level_stride(9.0)[None]).cost_of_transport()[0]
    assert answer.cost_of_transport < 0.9 * before
    assert answer.objectives == pytest.approx([-answer.cost_of_transport])
    assert all(value[0] <= 0.0 for value in violations(answer.measures).values())


def test_levelness_is_an_objective():
    """Uphill the body leans with the slope unless the legs' lengths differ."""
    legs = Legs(kind=FREE)
    answer = Question(
        legs=legs,
        optimizer='nsga2',
        evaluations=1500,
        objectives=('cost_of_transport', 'level'),
        conditions=MeasureSettings(slope_up=0.1),
    ).search(1, {'population': 50, 'start': legs.start(level_stride(9.0)), 'spread': 0.05})
    leans = -answer.front[:, 1]
    assert answer.front.shape[1] == 2
    assert leans.min() < 0.095 < 0.0999 < leans.max()
    assert answer.objectives[0] >= answer.front[:, 0].max()


def test_nothing_found_is_told():
    legs = Legs(kind='frozen_6', alike=True)
    impossible = Requirements(distance=0.4)
    answer = Question(legs=legs, evaluations=100, requirements=impossible).search(0)
    assert answer.cost_of_transport is None
    assert answer.objectives is None


def test_wrong_names_and_shapes_are_named():
    with pytest.raises(ConfigurationError, match="did you mean 'frozen_6'"):
        Legs(kind='frozen6')
    with pytest.raises(ConfigurationError, match='expected'):
        Legs(kind='frozen_6').strides(np.zeros((1, GENES)))
    with pytest.raises(ConfigurationError, match="did you mean 'level'"):
        Question(legs=Legs(kind=FREE), objectives=('levl',))
