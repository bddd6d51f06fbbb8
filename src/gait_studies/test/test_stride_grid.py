# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The searches of the question by their names: keys, starts, assumptions."""

from __future__ import annotations

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_studies.cafarelli2017.strides.leg_freedom import (
    FREE,
    LEG_KINDS,
    LegFreedom,
    level_stride,
    rail_stride,
)
from gait_studies.cafarelli2017.strides.problem import requirement_violations
from gait_studies.cafarelli2017.strides.search_cases import (
    ASSUMPTIONS,
    CMA,
    FROM_BEST,
    FROM_LEVEL,
    FROM_RAIL,
    GENETIC,
    GROUNDS,
    METHODS,
    NSGA,
    STANDARD_ASSUMPTION,
    SearchCase,
    max_length_change,
    solve_case,
)


def case(**changed):
    given = {'legs': LegFreedom(kind=FREE, alike=True), 'ground': 'flat', 'seed': 3, 'number': 0}
    return SearchCase(**{**given, 'evaluations': 100, **changed})


def test_grounds_are_flat_and_three_slopes_both_ways():
    assert len(GROUNDS) == 7
    steep = case(ground='up_15').problem().conditions
    assert np.degrees(steep.slope_up) == pytest.approx(15.0)
    assert steep.slope_across == 0.0
    assert np.degrees(case(ground='across_5').problem().conditions.slope_across) == pytest.approx(
        5
    )


def test_each_assumption_changes_one_thing():
    standard = case().problem()
    for name in ASSUMPTIONS:
        changed = case(assumption=name).problem()
        differing = [
            getattr(changed, part) != getattr(standard, part)
            for part in ('requirements', 'conditions', 'hexapod')
        ]
        assert sum(differing) == (name != STANDARD_ASSUMPTION) + (name == 'knees_0_rub')


def test_every_case_has_a_key_of_its_own():
    cases = [
        case(legs=LegFreedom(kind=kind, alike=alike), method=method, begin=begin, assumption=name)
        for kind in LEG_KINDS
        for alike in (False, True)
        for method in METHODS
        for begin in (FROM_LEVEL, FROM_RAIL)
        for name in ASSUMPTIONS
    ]
    cases += [case(seed=4), case(evaluations=101), case(objectives=('energy',))]
    assert len({one.key for one in cases}) == len(cases)


@pytest.mark.parametrize('method', METHODS)
def test_a_search_begins_where_it_should(method):
    level = case(method=method, begin=FROM_LEVEL)
    genes = level.legs.decode_strides(np.array([level.settings()['start']]))[0]
    np.testing.assert_allclose(genes, level_stride(9.0, 0.06), rtol=1e-12)
    long = case(
        method=method, assumption='stroke_15', legs=LegFreedom(kind='frozen_6', alike=True)
    )
    begun = long.problem().legs.decode_strides(np.array([long.settings()['start']]))
    assert begun[0].reshape(4, 3, 4)[0, 0, 0] != genes[0]
    best = case(method=method, begin=f'{FROM_BEST}_of_free', start=tuple(rail_stride()))
    np.testing.assert_allclose(
        best.legs.decode_strides(np.array([best.settings()['start']]))[0],
        rail_stride(),
        rtol=1e-12,
    )


@pytest.mark.parametrize('kind', LEG_KINDS)
@pytest.mark.parametrize('assumption', ASSUMPTIONS)
def test_starts_nearly_walk_whatever_is_assumed(kind, assumption):
    """A search that begins far from any walk would say nothing about its kind of legs."""
    one = case(legs=LegFreedom(kind=kind), assumption=assumption)
    question = one.problem()
    measures = question._measure_genomes(np.array([one.settings()['start']]))
    missed = requirement_violations(measures, question.requirements)
    assert sum(max(0.0, value[0]) for value in missed.values()) < 0.08


@pytest.mark.parametrize('method', [CMA, GENETIC])
def test_an_answer_is_the_same_again_and_holds_what_tables_show(method):
    answer = solve_case(case(method=method))
    assert answer == solve_case(case(method=method))
    assert answer['cost_of_transport'] > 0.0
    assert answer['distance'] >= 0.05
    assert answer['lead'] == 0.006
    assert max_length_change(answer['genes']) >= 0.0


def test_fronts_are_kept():
    aims = ('distance', 'energy', 'margin')
    answer = solve_case(case(method=NSGA, evaluations=300, objectives=aims))
    assert np.shape(answer['front'])[1] == 3


def test_changes_of_lengths_are_those_of_one_segment():
    assert max_length_change(level_stride(9.0).tolist()) == 0.0
    assert max_length_change(rail_stride().tolist()) == pytest.approx(6.0)


@pytest.mark.parametrize(
    ('changed', 'hint'), [({'ground': 'up_1'}, 'up_10'), ({'assumption': 'knee_0'}, 'knees_0')]
)
def test_wrong_names_are_named(changed, hint):
    with pytest.raises(ConfigurationError, match=hint):
        case(**changed).problem()
