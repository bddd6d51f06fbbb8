# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Numeric behaviour of the optimisers; the contract is tested by test/conformance."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from gait_core.contracts import Evaluation
from gait_core.errors import ConfigurationError
from gait_core.registry import load
from gait_evolver.optimizers.genetic import reflect_into_cube
from gait_evolver.optimizers.ranking import sort_key, tied_ranks

NAMES = ('genetic', 'cma_es')


def sphere(x):
    return -float(np.sum((x - 0.7) ** 2))


def rotated_ellipsoid(x):
    # Condition number 1000 along axes that are no coordinate axes; optimum inside the cube.
    n = len(x)
    axes, _ = np.linalg.qr(np.random.default_rng(5).normal(size=(n, n)))
    return -float(np.sum(1000.0 ** (np.arange(n) / (n - 1)) * (axes.T @ (x - 0.4)) ** 2))


def evaluated(candidate, objective):
    return Evaluation(
        id=candidate.id, status='ok', objectives=np.array([objective(candidate.values)])
    )


def best_of_run(optimizer, objective, evaluations):
    best, used = -np.inf, 0
    while True:
        candidates = optimizer.ask()
        if used + len(candidates) > evaluations:
            return best
        used += len(candidates)
        told = [evaluated(candidate, objective) for candidate in candidates]
        best = max([best, *(one.fitness for one in told)])
        optimizer.tell(told)


# Evaluations and precision: five seeds, each must reach it. CMA-ES needs roughly 100 n
# evaluations for 1e-9 on the sphere (Hansen and Ostermeier 2001); the GA has no adaptation.
@pytest.mark.parametrize(
    ('name', 'objective', 'evaluations', 'precision', 'settings'),
    [
        ('genetic', sphere, 3000, 1e-4, {'population': 40}),
        ('genetic', rotated_ellipsoid, 8000, 0.3, {'population': 60}),
        ('nsga2', sphere, 3000, 1e-3, {'population': 40}),
        ('cma_es', sphere, 1000, 1e-9, {}),
        ('cma_es', rotated_ellipsoid, 3000, 1e-9, {}),
    ],
)
def test_converges_to_the_stated_precision(name, objective, evaluations, precision, settings):
    for seed in range(5):
        optimizer = load('optimizers', name)(dimension=6, seed=seed, **settings)
        assert best_of_run(optimizer, objective, evaluations) > -precision, seed


@pytest.mark.parametrize('name', NAMES)
def test_optimum_in_a_corner_is_reached(name):
    optimizer = load('optimizers', name)(dimension=4, seed=3, population=20)
    assert best_of_run(optimizer, lambda x: float(np.sum(x)), 2000) > 3.99


def genomes_of_run(name, objective, generations=12, seed=11, **settings):
    optimizer = load('optimizers', name)(dimension=5, seed=seed, population=12, **settings)
    genomes = []
    for _ in range(generations):
        candidates = optimizer.ask()
        genomes.append(np.array([candidate.values for candidate in candidates]))
        optimizer.tell([evaluated(candidate, objective) for candidate in candidates])
    return np.concatenate(genomes)


@pytest.mark.parametrize('name', NAMES)
@pytest.mark.parametrize(
    'transform', [lambda y: 1e6 * y - 3.0, lambda y: np.arctan(y), lambda y: -np.sqrt(-y)]
)
def test_invariant_to_monotone_transforms(name, transform):
    np.testing.assert_array_equal(
        genomes_of_run(name, lambda x: transform(sphere(x))), genomes_of_run(name, sphere)
    )


@pytest.mark.parametrize('name', NAMES)
def test_a_third_of_failures_leaves_a_finite_best(name):
    chance = np.random.default_rng(0)
    optimizer = load('optimizers', name)(dimension=4, seed=2, population=20)
    best = -np.inf
    for _ in range(60):
        told = []
        for candidate in optimizer.ask():
            draw = chance.random()
            if draw < 0.15:
                told.append(Evaluation(id=candidate.id, status='diverged', objectives=None))
            elif draw < 0.3:
                told.append(
                    Evaluation(id=candidate.id, status='ok', objectives=np.array([np.nan]))
                )
            else:
                told.append(evaluated(candidate, sphere))
                best = max(best, told[-1].fitness)
        optimizer.tell(told)
    assert -1e-2 < best <= 0.0


def test_elites_are_not_evaluated_again_and_best_never_falls():
    optimizer = load('optimizers', 'genetic')(dimension=4, seed=4, population=12, elites=3)
    assert len(optimizer.ask()) == 12
    optimizer = load('optimizers', 'genetic')(dimension=4, seed=4, population=12, elites=3)
    seen = {}
    best = -np.inf
    for generation in range(20):
        candidates = optimizer.ask()
        assert len(candidates) == (12 if generation == 0 else 9)
        told = [evaluated(candidate, sphere) for candidate in candidates]
        seen.update({one.id: one.fitness for one in told})
        optimizer.tell(told)
        best_in_population = max(-one.key[2] for one in optimizer._population)
        assert best_in_population >= best
        best = best_in_population
    assert best == max(seen.values())


@pytest.mark.parametrize(
    ('name', 'settings', 'message'),
    [
        ('genetic', {'population': 4, 'elites': 4}, 'nearest valid: 3'),
        ('genetic', {'populaton': 4}, "did you mean 'population'"),
        ('genetic', {'blend': -1.0}, 'outside'),
        ('cma_es', {'population': 3}, 'nearest valid: 4'),
        ('cma_es', {'start': (0.5,)}, '1 numbers for 3 genes'),
        ('genetic', {'start': (0.5,)}, '1 numbers for 3 genes'),
        ('nsga2', {'start': (0.5,)}, '1 numbers for 3 genes'),
        ('nsga2', {'objective': 2}, "did you mean 'objectives'"),
    ],
)
def test_bad_settings_are_named(name, settings, message):
    with pytest.raises(ConfigurationError, match=message):
        load('optimizers', name)(dimension=3, seed=1, **settings)


@pytest.mark.parametrize('name', ['genetic', 'nsga2'])
def test_first_population_lies_about_its_start(name):
    start = (0.02, 0.5, 0.9)
    optimizer = load('optimizers', name)(
        dimension=3, seed=1, population=500, start=start, spread=0.1
    )
    genomes = np.array([candidate.values for candidate in optimizer.ask()])
    np.testing.assert_allclose(genomes[0], start, rtol=1e-15)
    assert genomes.min() >= 0.0
    assert genomes[:, 1].mean() == pytest.approx(0.5, abs=4.0 * 0.1 / np.sqrt(500))
    assert genomes[:, 1].std() == pytest.approx(0.1, rel=0.15)


def front_after(generations, seed=3):
    """Return the front of two spheres about 0.2 and 0.8; sqrt(f1) + sqrt(f2) = sqrt(m) 0.6."""
    optimizer = load('optimizers', 'nsga2')(dimension=4, seed=seed, population=40, objectives=2)
    for _ in range(generations):
        optimizer.tell(
            [
                Evaluation(
                    id=one.id,
                    status='ok',
                    objectives=-np.array([np.sum((one.values - x) ** 2) for x in (0.2, 0.8)]),
                    constraints={'first': 0.3 - one.values[0]},
                )
                for one in optimizer.ask()
            ]
        )
    return optimizer.pareto_front()


def test_nsga2_spreads_over_the_front_of_two_spheres():
    front = front_after(80)
    assert len(front) == 40
    ends = np.sqrt(-front)
    # Where the first gene may not fall below 0.3 the front leaves the straight line.
    assert ends[:, 0].min() == pytest.approx(0.1, abs=0.03)
    assert ends[:, 1].min() == pytest.approx(0.0, abs=0.06)
    middle = ends[ends[:, 0] > 0.4]
    np.testing.assert_allclose(middle.sum(axis=1), 1.2, atol=0.06)
    order = np.argsort(front[:, 0])
    assert np.all(np.diff(front[order, 1]) <= 0.0)
    np.testing.assert_array_equal(front_after(5), front_after(5))


def test_nsga2_is_told_as_many_objectives_as_it_has():
    optimizer = load('optimizers', 'nsga2')(dimension=3, seed=1, population=4, objectives=2)
    with pytest.raises(ConfigurationError, match='nearest valid: 1'):
        optimizer.tell([evaluated(candidate, sphere) for candidate in optimizer.ask()])


def test_nsga2_has_no_front_while_nothing_is_feasible():
    optimizer = load('optimizers', 'nsga2')(dimension=3, seed=1, population=8)
    for _ in range(2):
        assert optimizer.pareto_front().shape == (0, 1)
        optimizer.tell(
            [
                Evaluation(id=c.id, status='ok', objectives=np.ones(1), constraints={'x': 1.0})
                for c in optimizer.ask()
            ]
        )
    assert optimizer.pareto_front().shape == (0, 1)


@given(st.floats(-50.0, 50.0))
def test_reflection_stays_in_the_cube_and_keeps_the_inside(x):
    inside = float(reflect_into_cube(np.array([x]))[0])
    assert 0.0 <= inside <= 1.0
    if 0.0 <= x <= 1.0:
        assert inside == pytest.approx(x, abs=1e-15)


def test_order_feasible_violating_failed():
    def one(i, status='ok', value=0.0, **constraints):
        return Evaluation(
            id=i, status=status, objectives=np.array([value]), constraints=constraints
        )

    ranked = [
        one(0, value=1.0),
        one(1, 'fell', value=0.5),
        one(2, value=9.0, width=0.1),
        one(3, value=9.5, width=0.2),
        one(4, 'diverged'),
        one(5, value=np.inf),
    ]
    shuffled = [ranked[i] for i in (5, 3, 0, 4, 2, 1)]
    assert [e.id for e in sorted(shuffled, key=lambda e: (sort_key(e), e.id))] == [
        0,
        1,
        2,
        3,
        4,
        5,
    ]
    np.testing.assert_array_equal(tied_ranks(ranked), [0, 1, 2, 3, 4.5, 4.5])
