# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The steady-state algorithm: published draws, rates, limits, replacement and stopping rules."""

from __future__ import annotations

from dataclasses import replace
import itertools

import numpy as np
import pytest

from gait_core.contracts import Evaluation
from gait_core.errors import ConfigurationError
from gait_core.registry import load
from gait_evolver.experiment import rebuild_experiment
from gait_evolver.plan import resolve_experiment
from gait_studies.korbel2013.steady_state import SteadyStateOptimizer

# 24 weights searched in [0, 20] and a time constant in [0.2, 2.2], as shares of these.
STEPS = (0.01,) * 24 + (0.025,)
WIDE = {
    'steps': STEPS,
    'initial_low': (0.05,) * 24 + (0.0,),
    'initial_high': (0.17,) * 24 + (0.15,),
}


def optimizer(**settings):
    return SteadyStateOptimizer(dimension=25, seed=3, **{**WIDE, **settings})


def told(candidates, value):
    return [
        Evaluation(id=one.id, status='ok', objectives=np.array([float(value(one.values))]))
        for one in candidates
    ]


def run(search, value, iterations):
    """Run iterations and yield the children of each."""
    search.tell(told(search.ask(), value))
    for _ in range(iterations):
        children = search.ask()
        search.tell(told(children, value))
        yield children


def rough(genome):
    return float(np.sum(np.sin(40.0 * genome)) - np.sum(genome))


def test_first_draws_lie_on_the_published_grids_and_below_their_upper_bounds():
    genes = np.array([one.values for one in optimizer(population=400).ask()])
    for values, low, step in ((20.0 * genes[:, :24], 1.0, 0.0012), (genes[:, 24] * 2, 0, 0.00015)):
        places = (values - low) / step
        np.testing.assert_allclose(places, np.round(places), atol=1e-7)
        assert places.min() > -1e-7
        assert places.max() < 1999.5
    # All of the range is used: each half of it as often, within five deviations.
    assert abs(np.mean(20.0 * genes[:, :24] < 2.2) - 0.5) < 5 * 0.5 / np.sqrt(400 * 24)


def moves_of(listing_compat=False):
    """Return parents, children and their differences over many iterations far from any bound."""
    settings = {
        'initial_low': (0.4,) * 25,
        'initial_high': (0.6,) * 25,
        'listing_compat': listing_compat,
        'population': 10,
        'steps': (0.001,) * 24 + (0.0005,),
    }
    search = optimizer(**settings)
    genomes = {}
    first = search.ask()
    search.tell(told(first, lambda genome: 0.0))
    for _ in range(5000):
        genomes = {one.id: one.genome for one in search.population}
        children = search.ask()
        parents = [[genomes[i] for i in child.parents] for child in children]
        # Equal fitness: no child takes a place, and parents stay those of the first draw.
        search.tell(told(children, lambda genome: 0.0))
        yield parents, [child.values for child in children]


def test_rates_of_swaps_and_steps_over_ten_thousand_children():
    swapped, stepped, sizes = [], [], []
    for parents, children in moves_of():
        if len(parents[0]) == 1:
            continue
        own, other = parents[0]
        for genome, (mine, theirs) in zip(children, ((own, other), (other, own)), strict=True):
            from_other = np.abs(genome - theirs) < np.abs(genome - mine)
            base = np.where(from_other, theirs, mine)
            apart = np.abs(mine - theirs) > 0.01
            swapped.append(from_other[apart])
            stepped.append((genome != base)[apart])
            sizes.append(np.abs(genome - base))
    assert np.mean(np.concatenate(swapped)) == pytest.approx(0.2, abs=0.005)
    assert np.mean(np.concatenate(stepped)) == pytest.approx(0.7, abs=0.01)
    largest = np.max([size[[0, 24]] * (size[[0, 24]] < 0.0011) for size in sizes], axis=0)
    assert largest[0] <= 0.001 + 1e-15
    assert largest[1] <= 0.0005 + 1e-15
    assert largest[0] > 0.00098


def test_limits_hold_and_nothing_else_does():
    search = optimizer(population=20)
    genomes = np.array(
        [one.values for pair in run(search, lambda genome: -genome[24], 3000) for one in pair]
    )
    # Weights stay above 0 and may leave the initial range on both sides; tau stays above 0.2,
    # towards which selection drives it here.
    assert genomes.min(axis=0)[:24].min() > 0.0
    assert genomes[:, :24].min() < 0.05
    assert genomes[:, :24].max() > 0.17
    assert (genomes[:, 24] >= 0.0).all()
    assert np.mean([one.genome[24] for one in search.population]) < 0.01
    assert genomes.max() < 1.0


@pytest.mark.parametrize('listing_compat', [False, True])
def test_population_keeps_its_size_and_its_mean_never_falls(listing_compat):
    search = optimizer(listing_compat=listing_compat)
    for _ in run(search, rough, 300):
        assert len(search.population) == 50
    assert np.all(np.diff(search.history) >= 0.0)
    assert search.history[-1] > search.history[0] + 1.0


def test_a_child_takes_the_place_of_the_worst_where_the_tournament_is_better():
    search = optimizer(population=3, tournament=1)
    candidates = search.ask()
    search.tell(told(candidates, lambda genome: 10.0))
    worst = search.population[0]
    search.population[0] = replace(worst, fitness=0.0, key=(0, 0.0, -0.0))
    children = search.ask()
    search.tell(told(children, lambda genome: 5.0))
    # Whichever member the tournament names, one child replaces the 0 and the other finds no place.
    assert sorted(one.fitness for one in search.population) == [5.0, 10.0, 10.0]
    assert search.population[0].id == children[0].id


def test_stopping_rules():
    flat = optimizer()
    reasons = [flat.stop() for _ in run(flat, lambda genome: 1.0, 201)]
    assert reasons[:200] == [''] * 200
    assert 'gained less than 0.03 in 100' in reasons[200]
    best = itertools.count()
    rising = optimizer(population=5, iterations=230)
    reasons = [rising.stop() for _ in run(rising, lambda genome: next(best), 230)]
    assert reasons[:229] == [''] * 229
    assert reasons[229] == 'all 230 iterations done'
    listed = optimizer(listing_compat=True, iterations=210)
    reasons = [listed.stop() for _ in run(listed, lambda genome: 1.0, 210)]
    assert [bool(reason) for reason in reasons] == [False] * 209 + [True]


def test_listing_never_steps_the_last_gene_and_shares_its_draws():
    search = optimizer(listing_compat=True)
    first = {one.values[24] for one in optimizer(listing_compat=True).ask()}
    for _ in run(search, rough, 200):
        pass
    assert {one.genome[24] for one in search.population} <= first
    for parents, children in itertools.islice(moves_of(listing_compat=True), 50):
        # A swap moves values between the children and leaves their sum; equal steps double.
        both = np.sum([parents[0][0], parents[0][-1]], axis=0)
        steps = np.sum(children, axis=0) - both
        apart = np.abs(parents[0][0] - parents[0][-1]) > 0.01
        same = apart & (np.abs(children[0] - parents[0][0]) < 0.0011)
        own = (children[0] - parents[0][0])[same]
        np.testing.assert_allclose(steps[same], 2.0 * own, atol=1e-12)


def test_failed_members_go_first_and_never_count_in_the_mean():
    search = optimizer(population=6)
    candidates = search.ask()
    spoilt = [replace(one, status='diverged') for one in told(candidates, rough)]
    search.tell([*told(candidates[:4], rough), *spoilt[4:]])
    children = search.ask()
    search.tell(told(children, lambda genome: -1e6))
    assert all(one.key[0] == 0 for one in search.population)
    assert np.isfinite(search.history[0])


def test_told_again_it_asks_the_same():
    original, log = optimizer(), []
    candidates = original.ask()
    for _ in range(40):
        log.append(told(candidates, rough))
        original.tell(log[-1])
        candidates = original.ask()
    rebuilt = optimizer()
    again = rebuilt.ask()
    for evaluations in log:
        rebuilt.tell(evaluations[::-1])
        again = rebuilt.ask()
    np.testing.assert_array_equal([a.values for a in again], [c.values for c in candidates])
    assert rebuilt.history == original.history


@pytest.mark.parametrize(
    ('settings', 'message'),
    [
        ({'steps': (0.1,)}, 'steps has 1 values, expected 25'),
        ({'initial_low': (0.2,) * 25, 'initial_high': (0.2,) * 25}, 'draws gene 0'),
        ({'tournement': 4}, "did you mean 'tournament'"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ConfigurationError, match=message):
        optimizer(**settings)


def small(**changes):
    content = {
        'robot': 'guroo',
        'controller': 'staged_walk',
        'genes': {
            'knee_bend_deg': {'initial': [20, 30], 'step': 2},
            'ankle_move_deg': {'initial': [10, 15], 'step': 5},
        },
        'duration': 1.0,
        'fitness': {'distance': 1.0},
        'optimizer': {'name': 'steady_state'},
    }
    return rebuild_experiment(content, 'small', changes)


def test_genes_give_their_steps_and_first_range_in_their_own_units():
    plan = resolve_experiment(small())
    search = plan.make_optimizer()
    values = [plan.space.decode(one.values) for one in search.ask()]
    assert all(20 <= one['knee_bend_deg'] < 30 for one in values)
    assert all(10 <= one['ankle_move_deg'] < 15 for one in values)
    # Written out, it is the same experiment: the genes keep what they say.
    assert resolve_experiment(plan.experiment).config_hash == plan.config_hash
    assert plan.experiment.genes['knee_bend_deg'].step == 2.0
    assert plan.experiment.optimizer.settings['steps'] == ()


@pytest.mark.parametrize(
    ('changes', 'message'),
    [
        ({'optimizer': {'name': 'genetic'}}, "'genetic' has no setting for initial of genes"),
        ({'genes': {'knee_bend_deg': {'step': None}}}, "'knee_bend_deg' has no step"),
        ({'genes': {'knee_bend_deg': {'step': 50}}}, 'nearest valid: 15'),
        ({'genes': {'knee_bend_deg': {'initial': [20, 50]}}}, r'outside \[20, 35\]'),
        ({'genes': {'ankle_move_deg': {'log': True}}}, 'log scale'),
        ({'optimizer': {'settings': {'steps': [0.1, 0.1]}}}, 'set one of them'),
    ],
)
def test_genes_that_do_not_fit_are_named(changes, message):
    with pytest.raises(ConfigurationError, match=message):
        resolve_experiment(small(**changes))


def test_it_is_registered():
    assert load('optimizers', 'steady_state') is SteadyStateOptimizer
