# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rules of the optimisers one by one, against their distributions and counts."""

import math

import numpy as np
import pytest

from gait_core.contracts import Evaluation
from gait_core.errors import ConfigurationError, ProtocolError
from gait_core.parameters.declaration import declared_parameters
from gait_core.registry import load
from gait_evolver.optimizers.genetic import draw_first_population, reflect_into_cube
from gait_evolver.optimizers.ranking import AskTellLedger, sort_key, tied_ranks

GENES = 4000


def made(name='genetic', dimension=3, seed=1, **settings):
    return load('optimizers', name)(dimension=dimension, seed=seed, **settings)


def result(i, fitness=0.0, status='ok', **constraints):
    return Evaluation(id=i, status=status, objectives=np.array([fitness]), constraints=constraints)


def tell_ranked(optimizer):
    """Tell a generation in which each candidate is better than the next; return it."""
    asked = optimizer.ask()
    optimizer.tell([result(one.id, -float(one.id)) for one in asked])
    return asked


# Genetic algorithm


def test_mirrors_stand_at_both_faces_again_and_again():
    points = np.array([-2.25, -1.25, -0.25, 0.0, 0.3, 1.0, 1.25, 2.75, 3.5])
    found = reflect_into_cube(points)
    np.testing.assert_allclose(found, [0.25, 0.75, 0.25, 0.0, 0.3, 1.0, 0.75, 0.75, 0.5])


def test_a_population_without_a_start_fills_the_cube():
    genomes = draw_first_population(np.random.default_rng(1), (GENES, 2), (), 0.1)
    assert genomes.mean() == pytest.approx(0.5, abs=0.02)
    assert genomes.std() == pytest.approx(1.0 / math.sqrt(12.0), rel=0.03)
    assert 0.0 <= genomes.min() < 0.001 and 0.999 < genomes.max() <= 1.0


@pytest.mark.parametrize('size', [1, 2, 5])
def test_the_best_of_a_tournament_becomes_a_parent(size):
    optimizer = made(
        population=4000, elites=0, tournament=size, crossover_probability=0.0, mutations=0.0
    )
    first = tell_ranked(optimizer)
    offspring = optimizer.ask()
    assert all(len(one.parents) == 1 for one in offspring)
    ranks = np.array([one.parents[0] for one in offspring])
    # The least of k uniform draws has the mean 1 / (k + 1), and the median 1 - 2^(-1/k).
    assert ranks.mean() / 4000 == pytest.approx(1.0 / (size + 1), abs=0.02)
    assert np.median(ranks) / 4000 == pytest.approx(1.0 - 0.5 ** (1.0 / size), abs=0.03)
    # Neither crossed nor mutated, an offspring is its parent.
    for one in offspring[:50]:
        np.testing.assert_array_equal(one.values, first[one.parents[0]].values)


@pytest.mark.parametrize('alpha', [0.0, 0.5, 1.0])
def test_blend_crossover_is_uniform_about_the_middle_of_its_parents(alpha):
    optimizer = made(
        dimension=GENES, population=3, elites=0, tournament=1, crossover_probability=1.0,
        blend=alpha, mutations=0.0, start=(0.5,) * GENES, spread=0.02,
    )  # fmt: skip
    first = tell_ranked(optimizer)
    crossed = [one for one in optimizer.ask() if len(one.parents) == 2]
    assert crossed
    for one in crossed:
        a, b = (first[i].values for i in one.parents)
        place = (one.values - 0.5 * (a + b)) / np.abs(a - b)
        reach = 0.5 + alpha
        assert np.abs(place).max() == pytest.approx(reach, rel=0.01)
        assert np.abs(place).max() <= reach * (1.0 + 1e-9)
        assert place.mean() == pytest.approx(0.0, abs=0.06 * reach)
        assert place.std() == pytest.approx(reach / math.sqrt(3.0), rel=0.05)


def test_as_many_offspring_have_two_parents_as_the_probability_says():
    optimizer = made(population=2000, elites=0, tournament=1, crossover_probability=0.25)
    tell_ranked(optimizer)
    share = np.mean([len(one.parents) == 2 for one in optimizer.ask()])
    assert share == pytest.approx(0.25, abs=0.04)


@pytest.mark.parametrize(('mutations', 'share'), [(0.0, 0.0), (1000.0, 0.25), (1e3 - 1, 0.24975)])
def test_genes_mutate_by_steps_that_shrink_with_the_generations(mutations, share):
    optimizer = made(
        dimension=GENES, population=2, elites=0, crossover_probability=0.0,
        mutations=mutations, mutation_deviation=0.01, mutation_decay=0.5,
        start=(0.5,) * GENES, spread=0.0,
    )  # fmt: skip
    before = {one.id: one.values for one in tell_ranked(optimizer)}
    for deviation in (0.01, 0.005, 0.0025):
        asked = tell_ranked(optimizer)
        for one in asked:
            steps = one.values - before[one.parents[0]]
            changed = steps[steps != 0.0]
            assert len(changed) / GENES == pytest.approx(share, abs=0.03)
            if share:
                assert changed.std() == pytest.approx(deviation, rel=0.1)
                assert abs(changed.mean()) < 0.15 * deviation
        before = {one.id: one.values for one in asked}


def test_more_mutations_than_genes_are_one_of_each():
    optimizer = made(dimension=5, population=4, elites=0, crossover_probability=0.0, mutations=9.0)
    first = {one.id: one.values for one in tell_ranked(optimizer)}
    for one in optimizer.ask():
        assert (one.values != first[one.parents[0]]).all()


def test_elites_stay_on_a_plateau_and_only_a_better_one_replaces_them():
    optimizer = made(population=5, elites=2, tournament=1000, crossover_probability=0.0)
    optimizer.tell([result(one.id, 1.0) for one in optimizer.ask()])
    for _ in range(3):
        asked = optimizer.ask()
        assert len(asked) == 3
        # A tournament of a thousand is won by the best of five.
        assert {one.parents for one in asked} == {(0,)}
        optimizer.tell([result(one.id, 1.0) for one in asked])
    better = optimizer.ask()[1].id
    optimizer.tell([result(i, 1.0 + (i == better)) for i in (better - 1, better, better + 1)])
    assert {one.parents for one in optimizer.ask()} == {(better,)}


def test_elites_in_doubt_are_asked_again_under_new_ids():
    optimizer = made(population=5, elites=2, reevaluate=True, mutations=1.0)
    assert optimizer.reevaluates and not optimizer.keeps_fitness
    first = tell_ranked(optimizer)
    asked = optimizer.ask()
    assert [one.id for one in asked] == [5, 6, 7, 8, 9]
    assert [one.parents for one in asked[:2]] == [(0,), (1,)]
    for again, elite in zip(asked[:2], first, strict=False):
        np.testing.assert_array_equal(again.values, elite.values)
    # What counts is the new fitness alone.
    optimizer.tell([result(one.id, float(one.id)) for one in asked])
    assert [one.parents for one in optimizer.ask()[:2]] == [(9,), (8,)]


@pytest.mark.parametrize(('elites', 'keeps'), [(0, False), (1, True)])
def test_fitness_outlives_its_generation_only_with_elites(elites, keeps):
    optimizer = made(population=4, elites=elites)
    assert not optimizer.reevaluates and optimizer.keeps_fitness == keeps


def test_a_search_ends_when_its_population_is_one_point():
    alike = made(population=4, start=(0.2, 0.5, 0.9), spread=0.0)
    assert alike.stop() == ''
    tell_ranked(alike)
    assert alike.stop() == 'the population has become one point'
    # One gene of one candidate is enough to go on.
    almost = made(population=4, start=(0.2, 0.5, 0.9), spread=1e-9)
    tell_ranked(almost)
    assert almost.stop() == ''


def test_a_gene_in_which_all_agree_ends_no_search():
    optimizer = made(population=4)
    tell_ranked(optimizer)
    for one in optimizer._population:
        object.__setattr__(one, 'genome', np.array([0.5, 0.1 * one.id, 0.5]))
    assert optimizer.stop() == ''


# CMA-ES


def test_cma_es_begins_as_a_normal_cloud_about_its_start():
    start = (0.5, 0.4, 0.6)
    optimizer = made('cma_es', population=1000, sigma=0.03, start=start)
    np.testing.assert_allclose(optimizer.mean, start, atol=1e-12)
    genomes = np.array([one.values for one in optimizer.ask()])
    np.testing.assert_allclose(genomes.mean(axis=0), start, atol=0.004)
    np.testing.assert_allclose(genomes.std(axis=0), 0.03, rtol=0.1)
    np.testing.assert_allclose(made('cma_es').mean, 0.5)


@pytest.mark.parametrize(('dimension', 'size'), [(2, 6), (6, 9), (20, 12)])
def test_cma_es_asks_for_the_published_number_of_candidates(dimension, size):
    # Hansen and Ostermeier: 4 + floor(3 ln n).
    assert len(made('cma_es', dimension).ask()) == size == 4 + int(3.0 * math.log(dimension))
    assert len(made('cma_es', dimension, population=17).ask()) == 17
    assert len(made('cma_es', dimension, population=4).ask()) == 4


def test_cma_es_needs_two_genes_and_keeps_nothing():
    with pytest.raises(ConfigurationError, match='at least 2 genes, not 1'):
        made('cma_es', 1)
    optimizer = made('cma_es', 2)
    assert optimizer.keeps_fitness is optimizer.reevaluates is False


def test_cma_es_moves_towards_what_is_better_and_ends_at_its_tolerance():
    optimizer = made('cma_es', 2, seed=4, tolerance=1e-3)
    for _ in range(200):
        assert optimizer.stop() == ''
        asked = optimizer.ask()
        distances = [float(np.sum((one.values - [0.8, 0.3]) ** 2)) for one in asked]
        optimizer.tell([result(one.id, -d) for one, d in zip(asked, distances, strict=True)])
        if optimizer.stop():
            break
    assert optimizer.stop() == 'the step size fell below the tolerance'
    np.testing.assert_allclose(optimizer.mean, [0.8, 0.3], atol=0.01)


def test_cma_es_stays_in_the_cube_at_a_corner():
    optimizer = made('cma_es', 3, sigma=1.0, start=(0.0, 1.0, 1.0))
    for _ in range(5):
        genomes = np.array([one.values for one in tell_ranked(optimizer)])
        assert genomes.min() >= 0.0 and genomes.max() <= 1.0


# NSGA-II


def test_nsga2_asks_for_its_population_and_keeps_its_elders():
    optimizer = made('nsga2', population=10)
    for _ in range(3):
        assert len(tell_ranked(optimizer)) == 10
    np.testing.assert_array_equal(optimizer.pareto_front(), [[0.0]])
    assert optimizer.stop() == ''


def test_nsga2_prefers_the_least_violation_then_the_best_then_those_without_fitness():
    optimizer = made('nsga2', population=4, objectives=2)
    asked = [one.id for one in optimizer.ask()]
    one = {'status': 'ok', 'objectives': np.array([1.0, 2.0])}
    optimizer.tell([
        Evaluation(id=asked[0], **one, constraints={'a': 0.2}),
        Evaluation(id=asked[1], status='diverged', objectives=None),
        Evaluation(id=asked[2], status='ok', objectives=np.array([np.nan, 9.0])),
        Evaluation(id=asked[3], **one, constraints={'a': 0.1, 'b': -5.0}),
    ])  # fmt: skip
    # Violations of 0.2, none that compare, and 0.1: that below zero makes up for nothing.
    violations = optimizer._search.pop.get('G')[:, 0]
    np.testing.assert_allclose(np.sort(violations), [0.1, 0.2, np.inf, np.inf])
    assert optimizer.pareto_front().shape == (0, 2)
    asked = [one.id for one in optimizer.ask()]
    optimizer.tell([Evaluation(id=i, **one) for i in asked])
    np.testing.assert_array_equal(optimizer.pareto_front(), [[1.0, 2.0]] * 4)


@pytest.mark.parametrize(
    'bad',
    [
        {'status': 'diverged', 'objectives': np.array([9.0])},
        {'status': 'ok', 'objectives': np.array([9.0]), 'constraints': {'a': math.inf}},
        {'status': 'ok', 'objectives': np.array([-math.inf])},
    ],
)
def test_nsga2_ranks_what_has_no_comparable_fitness_last(bad):
    optimizer = made('nsga2', population=4)
    asked = [one.id for one in optimizer.ask()]
    optimizer.tell([Evaluation(id=asked[0], **bad), *(result(i, 1.0) for i in asked[1:])])
    np.testing.assert_array_equal(optimizer.pareto_front(), [[1.0]] * 3)


@pytest.mark.parametrize(
    ('settings', 'is_near'),
    [
        ({}, True),
        ({'crossover_probability': 0.0, 'crossover_index': 1.0}, True),
        ({'crossover_index': 1.0}, False),
        ({'crossover_probability': 0.0, 'mutation_index': 0.0}, False),
    ],
)
def test_nsga2_offspring_of_large_indices_are_near_their_parents(settings, is_near):
    large = {'crossover_index': 1000.0, 'mutation_index': 1000.0}
    optimizer = made('nsga2', dimension=100, population=4, **{**large, **settings})
    parents = np.array([one.values for one in tell_ranked(optimizer)])
    offspring = np.array([one.values for one in optimizer.ask()])
    away = np.abs(offspring[:, None] - parents[None]).min(axis=1)
    assert (away.max() < 0.01) == is_near


# Ranking and protocol


def test_violations_add_up_and_none_makes_up_for_another():
    assert sort_key(result(0, 2.0)) == (0, 0.0, -2.0)
    assert sort_key(result(0, 2.0, a=-1.0, b=0.0)) == (0, 0.0, -2.0)
    assert sort_key(result(0, 2.0, a=0.25, b=-3.0, c=0.5)) == (1, 0.75, -2.0)
    assert sort_key(result(0, 2.0, a=math.inf)) == (2, 0.0, 0.0)
    assert sort_key(result(0, 2.0, 'fell')) == (0, 0.0, -2.0)
    assert sort_key(result(0, 2.0, 'diverged')) == (2, 0.0, 0.0)
    assert sort_key(result(0, -math.inf)) == (2, 0.0, 0.0)


def test_equal_keys_share_the_mean_of_their_ranks():
    values = [3.0, 1.0, 3.0, 2.0, 3.0, 1.0]
    np.testing.assert_array_equal(
        tied_ranks([result(i, value) for i, value in enumerate(values)]),
        [1.0, 4.5, 1.0, 3.0, 1.0, 4.5],
    )


def test_a_ledger_counts_candidates_on_and_orders_their_evaluations():
    ledger = AskTellLedger()
    ledger.check_ask()
    genomes = [np.array([0.1]), np.array([0.2])]
    assert [c.id for c in ledger.issue_candidates(genomes, [(), ()])] == [0, 1]
    with pytest.raises(ProtocolError, match='2 candidates of the last ask'):
        ledger.check_ask()
    for wrong in ([0], [0, 0], [0, 1, 1], [0, 2]):
        with pytest.raises(ProtocolError, match=r'expected those of the last ask: \[0, 1\]'):
            ledger.match_evaluations([result(i) for i in wrong])
    assert [one.id for one in ledger.match_evaluations([result(1), result(0)])] == [0, 1]
    ledger.check_ask()
    with pytest.raises(ProtocolError, match='tell was called before ask'):
        ledger.match_evaluations([])
    issued = ledger.issue_candidates(genomes, [(0,), (0, 1)])
    assert [(c.id, c.parents) for c in issued] == [(2, (0,)), (3, (0, 1))]
    assert not issued[0].values.flags.writeable


# Settings

# Default, least and greatest value of each number. Defaults are those of the publications: BLX-0.5
# (Eshelman and Schaffer 1993); the probability and indices of NSGA-II and NSGA-III (Deb et al.
# 2002, Deb and Jain 2014; 15 is that of pymoo); F and CR (Storn and Price 1997); inertia and pulls
# (Zhan et al. 2009).
POPULATION = {'population': (100, 4, 100_000), 'spread': (0.1, 0.0, 1.0)}
NSGA = {**POPULATION, 'objectives': (1, 1, 20), 'mutation_index': (20.0, 0.0, 1000.0)}
RANGES = {
    'genetic': {
        'population': (20, 2, 100_000),
        'elites': (2, 0, 1000),
        'tournament': (3, 1, 1000),
        'crossover_probability': (0.9, 0.0, 1.0),
        'blend': (0.5, 0.0, 2.0),
        'mutations': (1.0, 0.0, 1000.0),
        'mutation_deviation': (0.1, 1e-9, 1.0),
        'mutation_decay': (1.0, 0.5, 1.0),
        'spread': (0.1, 0.0, 1.0),
    },
    'cma_es': {
        'population': (0, 0, 100_000),
        'sigma': (0.3, 1e-6, 1.0),
        'tolerance': (1e-11, 0.0, 0.1),
        'restarts': (0, 0, 10),
    },
    'nsga2': {
        **NSGA,
        'crossover_probability': (0.9, 0.0, 1.0),
        'crossover_index': (15.0, 0.0, 1000.0),
    },
    'nsga3': {
        **NSGA,
        'crossover_probability': (1.0, 0.0, 1.0),
        'crossover_index': (30.0, 0.0, 1000.0),
    },
    'differential_evolution': {
        **POPULATION,
        'population': (40, 4, 100_000),
        'weight': (0.5, 0.0, 2.0),
        'crossover_rate': (0.9, 0.0, 1.0),
    },
    'particle_swarm': {
        **POPULATION,
        'population': (25, 4, 100_000),
        'inertia': (0.9, 0.0, 2.0),
        'own_pull': (2.0, 0.0, 4.0),
        'common_pull': (2.0, 0.0, 4.0),
        'largest_step': (0.2, 1e-6, 1.0),
    },
}


@pytest.mark.parametrize('name', RANGES)
def test_settings_have_published_defaults_and_stated_ranges(name):
    kind = load('optimizers', name).Settings
    for setting, (default, low, high) in RANGES[name].items():
        assert getattr(kind(), setting) == default, setting
        beyond = (low - 1, high + 1)
        if isinstance(high, float):
            beyond = (math.nextafter(low, -math.inf), math.nextafter(high, math.inf))
        # Alone: elites, for one, also depend on the population.
        others = {'elites': 0} if setting == 'population' and name == 'genetic' else {}
        others = {'population': 100_000} if setting == 'elites' else others
        for bound in (low, high):
            assert getattr(kind(**{**others, setting: bound}), setting) == bound
        for bad in beyond:
            with pytest.raises(ConfigurationError, match=setting):
                kind(**{**others, setting: bad})
    numbers = {one.name for one in declared_parameters(kind) if one.kind in ('int', 'float')}
    assert numbers == set(RANGES[name])
    # Those that span decades.
    scaled = {one.name for one in declared_parameters(kind) if one.log}
    assert scaled == {'genetic': {'mutation_deviation'}, 'cma_es': {'sigma'}}.get(name, set())


@pytest.mark.parametrize('name', [name for name in RANGES if name != 'cma_es'])
def test_a_start_is_within_the_cube_and_switches_are_off_but_for_the_swarm(name):
    kind = load('optimizers', name).Settings
    assert kind().start == () and kind(start=(0.0, 1.0)).start == (0.0, 1.0)
    for beyond in (-1e-9, 1.0 + 1e-9):
        with pytest.raises(ConfigurationError, match='start'):
            kind(start=(0.5, beyond))
    assert not getattr(kind(), 'reevaluate', False)
    assert getattr(kind(), 'adaptive', True)
