# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The thesis's tables as runs, and the question of extending legs asked again."""

from __future__ import annotations

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_studies.cafarelli2017.strides.encoding import GENES, are_feasible, joints_from_genes
from gait_studies.cafarelli2017.strides.hexapod import HexapodParameters
from gait_studies.cafarelli2017.strides.leg import foot_position
from gait_studies.cafarelli2017.strides.leg_freedom import (
    CONSTANT,
    FREE,
    FROZEN_LENGTHS,
    LEAD_RANGE,
    LEG_KINDS,
    LegFreedom,
    level_stride,
    rail_stride,
)
from gait_studies.cafarelli2017.strides.measures import MeasureSettings, measure_strides
from gait_studies.cafarelli2017.strides.problem import (
    Requirements,
    StrideProblem,
    requirement_violations,
)
from gait_studies.cafarelli2017.strides.published import published_table
from gait_studies.cafarelli2017.strides.published_sweeps import (
    RunOutcome,
    energy_over_knee_motion,
    run_outcomes,
    single_leg_rows,
    sweep_rows,
)
from gait_studies.cafarelli2017.strides.search import PublishedSettings


def test_single_leg_rows_stand_beside_the_printed_ones():
    for ours, printed in zip(single_leg_rows(), published_table('table_4_1_to_4_3'), strict=True):
        assert ours.power == pytest.approx(printed['power'], rel=1e-3)
        assert ours.last_x == pytest.approx(printed['last_x'], abs=5e-3)
        # The first x is printed as length minus x (trap T9).
        assert ours.first_length - ours.first_x == pytest.approx(printed['first_x'], abs=5e-3)
        assert ours.distance == pytest.approx(printed['distance'], abs=5e-3)


def test_every_sweep_is_named_with_its_setting():
    weights = sweep_rows('table_6_9')
    assert [row.settings.efficiency_weight for row in weights] == [row.value for row in weights]
    assert weights[-2].printed == 10
    assert weights[-2].deviation is None
    assert [row.settings.elites for row in sweep_rows('table_6_2')] == list(range(5, 55, 5))
    assert sweep_rows('table_6_3')[-1].settings == PublishedSettings(generations=1000)
    assert sweep_rows('table_6_4')[1].settings.mutation == 0.03
    with pytest.raises(ConfigurationError, match='table_6_2'):
        sweep_rows('table_62')


def test_outcomes_along_one_run():
    settings = PublishedSettings(generations=20, intervals=5)
    along = run_outcomes(settings, 5, interval=5)
    assert len(along) == 4
    assert np.all(np.diff([one.fitness for one in along]) >= 0.0)
    assert run_outcomes(settings, 5) == along[-1:]
    last = along[-1]
    flags = last.swings_free + last.stable
    assert last.fitness == pytest.approx(last.weighted_efficiency + 0.335 * flags)
    assert last.weighted_efficiency == pytest.approx(0.33 * last.efficiency)
    assert last.violates == (flags < 2)
    assert isinstance(last, RunOutcome)


def test_discontinuity_is_that_of_the_area():
    energies = dict(energy_over_knee_motion())
    assert energies[0.0] > 50.0 * energies[1.0] > 50.0 * 900.0 * energies[0.001]


@pytest.mark.parametrize('alike', [False, True])
@pytest.mark.parametrize('kind', LEG_KINDS)
def test_kinds_of_legs(kind, alike):
    legs = LegFreedom(kind=kind, alike=alike)
    strides = legs.decode_strides(np.random.default_rng(3).random((200, legs.dimension)))
    assert are_feasible(strides).all()
    table = strides.reshape(-1, 4, 3, 4)
    lengths = table[..., 2:]
    if kind in FROZEN_LENGTHS:
        np.testing.assert_allclose(lengths, FROZEN_LENGTHS[kind], rtol=1e-15)
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
    heights = foot_position(joints_from_genes(genes))[:3, :, 1]
    np.testing.assert_allclose(heights, -0.016 * length, atol=1e-12)
    assert are_feasible(genes[None]).all()
    ours = measure_strides(genes[None])
    assert ours.clearance[0] == pytest.approx(0.03)
    assert all(value[0] <= 0.0 for value in requirement_violations(ours).values())
    assert ours.distance[0] == pytest.approx(0.06)
    for kind in (FREE, CONSTANT, f'frozen_{length:g}'):
        legs = LegFreedom(kind=kind, alike=alike)
        begun = legs.decode_strides(np.array([legs.encode_start(genes)]))
        np.testing.assert_allclose(begun[0], genes, rtol=1e-12)


def test_long_strokes_lower_the_hips_of_short_legs():
    ours = measure_strides(level_stride(6.0, stroke=0.15)[None])
    assert ours.distance[0] == pytest.approx(0.15)


def test_a_lower_segment_as_a_rail_pushes_for_next_to_nothing():
    """No load acts along a screw on the ground, which the published rules allow."""
    rail = rail_stride()[None]
    assert are_feasible(rail).all()
    ours = measure_strides(rail)
    assert ours.knees[0] == pytest.approx(0.0, abs=1e-12)
    # What is left are the rods of the swinging legs.
    assert ours.screw_signed[0] == pytest.approx(0.0, abs=0.1)
    no_rule = Requirements(knees=-1.0)
    assert all(value[0] <= 0.0 for value in requirement_violations(ours, no_rule).values())
    assert measure_strides(rail).cost_of_transport()[0] < 0.06
    rubbing = measure_strides(rail, hexapod=HexapodParameters(guide_friction=0.2))
    assert rubbing.cost_of_transport()[0] > 0.5


def test_the_lead_of_the_screws_is_a_gene():
    legs = LegFreedom(kind=FREE, alike=True, lead=True)
    genome = np.array([legs.encode_start(level_stride(9.0), 0.012)])
    assert legs.decode_leads(genome) == pytest.approx([0.012])
    ends = np.repeat(genome, 2, axis=0)
    ends[:, -1] = 0.0, 1.0
    assert legs.decode_leads(ends) == pytest.approx(LEAD_RANGE)
    strides = legs.decode_strides(ends)
    together = measure_strides(strides, leads=legs.decode_leads(ends)).energy
    apart = [
        measure_strides(stride[None], hexapod=HexapodParameters(lead=lead)).energy[0]
        for stride, lead in zip(strides, LEAD_RANGE, strict=True)
    ]
    np.testing.assert_array_equal(together, apart)
    assert LegFreedom(kind=FREE).decode_leads(ends) is None


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
    before = measure_strides(genes[None]).cost_of_transport()[0]
    question = StrideProblem(legs=LegFreedom(kind=FREE), optimizer=optimizer, evaluations=400)
    begin = {**settings, 'start': question.legs.encode_start(genes)}
    first = question.search(1, begin)
    assert first.cost_of_transport <= before * (1.0 + 1e-9)
    assert first.evaluations <= 400
    np.testing.assert_array_equal(question.search(1, begin).genes, first.genes)


def test_a_search_from_a_walk_improves_it():
    legs = LegFreedom(kind='frozen_9', alike=True)
    answer = StrideProblem(legs=legs, evaluations=2000).search(
        0, {'population': 20, 'sigma': 0.1, 'start': legs.encode_start(level_stride(9.0))}
    )
    before = measure_strides(level_stride(9.0)[None]).cost_of_transport()[0]
    assert answer.cost_of_transport < 0.9 * before
    assert answer.objectives == pytest.approx([-answer.cost_of_transport])
    assert all(value[0] <= 0.0 for value in requirement_violations(answer.measures).values())


def test_levelness_is_an_objective():
    """Uphill the body leans with the slope unless the legs' lengths differ."""
    legs = LegFreedom(kind=FREE)
    answer = StrideProblem(
        legs=legs,
        optimizer='nsga2',
        evaluations=1500,
        objectives=('cost_of_transport', 'level'),
        conditions=MeasureSettings(slope_up=0.1),
    ).search(1, {'population': 50, 'start': legs.encode_start(level_stride(9.0)), 'spread': 0.05})
    leans = -answer.front[:, 1]
    assert answer.front.shape[1] == 2
    assert leans.min() < 0.095 < 0.0999 < leans.max()
    assert answer.objectives[0] >= answer.front[:, 0].max()


def test_nothing_found_is_told():
    legs = LegFreedom(kind='frozen_6', alike=True)
    impossible = Requirements(distance=0.4)
    answer = StrideProblem(legs=legs, evaluations=100, requirements=impossible).search(0)
    assert answer.cost_of_transport is None
    assert answer.objectives is None


def test_wrong_names_and_shapes_are_named():
    with pytest.raises(ConfigurationError, match="did you mean 'frozen_6'"):
        LegFreedom(kind='frozen6')
    with pytest.raises(ConfigurationError, match='expected'):
        LegFreedom(kind='frozen_6').decode_strides(np.zeros((1, GENES)))
    with pytest.raises(ConfigurationError, match="did you mean 'level'"):
        StrideProblem(legs=LegFreedom(kind=FREE), objectives=('levl',))
