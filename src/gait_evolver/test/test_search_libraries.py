# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Optimisers by a library search as the library's own loop does, and as published."""

from __future__ import annotations

import math

import cma
import numpy as np
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.algorithms.moo.nsga3 import NSGA3
from pymoo.algorithms.soo.nonconvex.de import DE
from pymoo.algorithms.soo.nonconvex.pso import PSO
from pymoo.core.problem import ElementwiseProblem
from pymoo.optimize import minimize
from pymoo.util.ref_dirs import get_reference_directions
import pytest

from gait_core.contracts import Evaluation
from gait_core.errors import ConfigurationError
from gait_core.registry import optimizer
from gait_core.testing.skips import need_optimizer
from gait_evolver.experiment import rebuild_experiment
from gait_evolver.plan import resolve_experiment


def ellipsoid(x):
    return float(np.sum(100.0 ** np.linspace(0.0, 1.0, len(x)) * (x - 0.4) ** 2))


def rastrigin(x):
    # The usual domain, [-5.12, 5.12]; local minima are about whole numbers.
    z = 10.24 * (x - 0.63)
    return float(np.sum(z**2 - 10.0 * np.cos(2.0 * np.pi * z) + 10.0))


def dtlz2(x):
    # Deb, Thiele, Laumanns and Zitzler (2005): on the front the squares of the three costs add
    # up to 1, and the genes but two are 0.5.
    g = 1.0 + np.sum((x[2:] - 0.5) ** 2)
    a, b = 0.5 * np.pi * x[:2]
    return g * np.array([np.cos(a) * np.cos(b), np.cos(a) * np.sin(b), np.sin(a)])


def run(search, cost, generations, constraint=None):
    """Return what each generation of a search asks for, and the least cost of a feasible one."""
    asked, least = [], math.inf
    while len(asked) < generations and not search.stop():
        candidates = search.ask()
        asked.append(np.array([candidate.values for candidate in candidates]))
        told = [
            Evaluation(
                id=candidate.id,
                status='ok',
                objectives=-np.atleast_1d(cost(candidate.values)),
                constraints={} if constraint is None else {'bound': constraint(candidate.values)},
            )
            for candidate in candidates
        ]
        feasible = [one for one in told if all(x <= 0.0 for x in one.constraints.values())]
        least = min([least, *(-one.fitness for one in feasible)])
        search.tell(told)
    return asked, least


def test_cma_es_asks_as_the_loop_of_the_library():
    seen = []

    def recorded(x):
        seen.append(np.clip(x, 0.0, 1.0))
        return ellipsoid(seen[-1])

    rng = np.random.default_rng(7)
    options = {
        'bounds': [0.0, 1.0],
        'seed': math.nan,
        'randn': lambda *shape: rng.standard_normal(shape),
        'popsize': 10,
        'verbose': -9,
        'verb_log': 0,
    }
    cma.CMAEvolutionStrategy(np.full(5, 0.5), 0.3, options).optimize(recorded, iterations=30)
    asked, _ = run(optimizer('cma_es')(dimension=5, seed=7, population=10), ellipsoid, 30)
    np.testing.assert_array_equal(np.concatenate(asked), np.array(seen))


class Recorded(ElementwiseProblem):
    """Problem of pymoo in five genes that keeps every point in the order of evaluation."""

    def __init__(self, cost, constraint):
        super().__init__(n_var=5, n_obj=len(np.atleast_1d(cost(np.zeros(5)))), n_ieq_constr=1)
        self.xl, self.xu = np.zeros(5), np.ones(5)
        self.cost, self.constraint, self.seen = cost, constraint, []

    def _evaluate(self, x, out, *_, **__):
        self.seen.append(x.copy())
        out['F'], out['G'] = self.cost(x), max(0.0, self.constraint(x))


def half_plane(x):
    """Return a constraint that the least cost violates: the first gene is at least 0.6."""
    return 0.6 - x[0]


def directions():
    return get_reference_directions('das-dennis', 3, n_partitions=4)


@pytest.mark.parametrize(
    ('name', 'settings', 'cost', 'constraint', 'make'),
    [
        ('nsga2', {}, ellipsoid, half_plane, NSGA2),
        ('nsga2', {'objectives': 3}, dtlz2, half_plane, NSGA2),
        # The tournament of the library is not seeded where candidates violate a constraint.
        (
            'nsga3',
            {'objectives': 3},
            dtlz2,
            lambda x: -1.0,
            lambda **of: NSGA3(directions(), **of),
        ),
        (
            'differential_evolution',
            {'base': 'best', 'crossover_rate': 0.2},
            ellipsoid,
            half_plane,
            DE,
        ),
        ('particle_swarm', {}, ellipsoid, half_plane, PSO),
    ],
)
def test_algorithms_of_pymoo_ask_as_its_own_loop(name, settings, cost, constraint, make):
    rng = np.random.default_rng(3)
    problem = Recorded(cost, constraint)
    search = make(pop_size=20, sampling=rng.random((20, 5)))
    minimize(problem, search, ('n_gen', 12), seed=rng, copy_algorithm=False)
    search = optimizer(name)(dimension=5, seed=3, population=20, **settings)
    asked, _ = run(search, cost, 12, constraint)
    np.testing.assert_array_equal(np.concatenate(asked), np.array(problem.seen))


@pytest.mark.parametrize(
    ('name', 'settings', 'cost', 'precision'),
    [
        ('differential_evolution', {'base': 'rand'}, ellipsoid, 1e-2),
        ('differential_evolution', {'base': 'best'}, ellipsoid, 1e-6),
        ('particle_swarm', {'adaptive': True}, ellipsoid, 1e-3),
        ('particle_swarm', {'adaptive': False, 'inertia': 0.7}, ellipsoid, 1e-3),
    ],
)
def test_algorithms_of_pymoo_converge_on_an_ellipsoid(name, settings, cost, precision):
    search = optimizer(name)(dimension=6, seed=2, population=30, **settings)
    _, least = run(search, cost, 100)
    assert least < precision


def test_nsga3_covers_the_front_of_three_objectives():
    search = optimizer('nsga3')(dimension=6, seed=1, population=45, objectives=3)
    run(search, dtlz2, 100)
    front = -search.pareto_front()
    np.testing.assert_allclose(np.sum(front**2, axis=1), 1.0, atol=0.05)
    # Each direction of Das and Dennis, a point of a unit simplex with 8 partitions, has a point.
    simplex = [(i, j, 8 - i - j) for i in range(9) for j in range(9 - i)]
    wanted = np.array([np.array(one) / np.linalg.norm(one) for one in simplex])
    nearest = np.linalg.norm(wanted[:, None, :] - front[None, :, :], axis=2).min(axis=1)
    assert np.mean(nearest < 0.08) > 0.9
    with pytest.raises(ConfigurationError, match='nearest valid: 5'):
        optimizer('nsga3')(dimension=6, seed=1, population=4, objectives=5)


@pytest.mark.parametrize('seed', [0, 1])
def test_restarts_with_larger_populations_find_the_global_minimum_among_many(seed):
    # Auger and Hansen (2005): a search of the default population ends in a local minimum of the
    # Rastrigin function, of which the least is 0.995 above the global one; restarts do not.
    settings = {'dimension': 3, 'seed': seed, 'tolerance': 1e-3}
    single, least = run(optimizer('cma_es')(**settings), rastrigin, 1000)
    assert len(single) < 1000
    assert least > 0.9
    asked, least = run(optimizer('cma_es')(restarts=5, **settings), rastrigin, 1000)
    assert least < 0.1
    sizes = list(dict.fromkeys(len(generation) for generation in asked))
    assert sizes == [7 * 2**i for i in range(6)]
    np.testing.assert_array_equal(asked[: len(single)], single)


def test_a_setting_of_a_later_version_changes_the_hash_of_a_run_only_where_it_is_used():
    def plan(**settings):
        content = {
            'robot': 'guroo',
            'controller': 'staged_walk',
            'duration': 1.0,
            'genes': {'knee_bend_deg': {}, 'ankle_move_deg': {}},
            'fitness': {'distance': 1.0},
            'optimizer': {'name': 'cma_es', 'settings': settings},
        }
        return resolve_experiment(rebuild_experiment(content, 'small', {}))

    assert 'restarts' not in plan(restarts=0).experiment.optimizer.settings
    assert plan(restarts=0).config_hash == plan().config_hash
    assert plan(restarts=1).config_hash != plan().config_hash
    assert plan(restarts=1).experiment.optimizer.settings['restarts'] == 1


def matern(a, b, length):
    """Return the kernel Matern 5/2 of all pairs: Rasmussen and Williams (2006), eq. 4.17."""
    r = np.sqrt(5.0) * np.linalg.norm(a[:, None] - b[None], axis=2) / length
    return (1.0 + r + r**2 / 3.0) * np.exp(-r)


def test_points_are_chosen_by_the_posterior_of_a_gaussian_process():
    gaussian_process = pytest.importorskip('gait_evolver.optimizers.gaussian_process')
    settings = gaussian_process.GaussianProcessSettings(population=5, noise=0.01, exploration=1.5)
    rng = np.random.default_rng(4)
    points, pool = rng.random((12, 3)), rng.random((40, 3))
    scores = np.sin(9.0 * points[:, 0]) + points[:, 1]
    chosen = gaussian_process.choose_points(points, scores, pool, settings)
    # Rasmussen and Williams (2006), eq. 2.25 and 2.26, with each chosen point added to the data.
    expected: list[int] = []
    for _ in range(5):
        known = np.concatenate([points, pool[expected]])
        cross = matern(pool, known, 0.4)
        inverse = np.linalg.inv(matern(known, known, 0.4) + 0.01 * np.eye(len(known)))
        variance = 1.0 - np.einsum('ij,jk,ik->i', cross, inverse, cross)
        if not expected:
            mean = cross @ inverse @ scores
        bounds = mean + 1.5 * np.sqrt(variance)
        bounds[expected] = -np.inf
        expected.append(int(np.argmax(bounds)))
    assert chosen.tolist() == expected
    # Of equal points the first wins.
    twice = np.concatenate([pool, pool])
    assert gaussian_process.choose_points(points, scores, twice, settings)[0] == expected[0]


@pytest.mark.parametrize(('name', 'share'), [('gaussian_process', 0.1), ('tpe', 0.7)])
def test_searches_for_few_trials_beat_as_many_random_points(name, share):
    def sphere(x):
        return float(np.sum((x - 0.3) ** 2))

    found, drawn = 0.0, 0.0
    for seed in range(2):
        search = need_optimizer(name)(dimension=6, seed=seed)
        found += run(search, sphere, 120 // search.Settings().population)[1]
        drawn += min(sphere(x) for x in np.random.default_rng(seed).random((120, 6)))
    assert found < share * drawn


def test_tpe_asks_as_the_loop_of_the_library():
    need_optimizer('tpe')
    import optuna

    def cost(trial):
        x = np.array([trial.suggest_float(f'{i:04d}', 0.0, 1.0) for i in range(4)])
        seen.append(x)
        if x[3] < 0.35:
            raise ArithmeticError
        return -ellipsoid(x)

    seen: list[np.ndarray] = []
    seed = int(np.random.SeedSequence(9).generate_state(1)[0])
    study = optuna.create_study(
        direction='maximize', sampler=optuna.samplers.TPESampler(seed=seed, multivariate=True)
    )
    study.optimize(cost, n_trials=40, catch=ArithmeticError)
    search = optimizer('tpe')(dimension=4, seed=9, population=1)
    asked = []
    for _ in range(40):
        (candidate,) = search.ask()
        asked.append(candidate.values)
        failed = candidate.values[3] < 0.35
        search.tell(
            [
                Evaluation(
                    id=candidate.id,
                    status='diverged' if failed else 'ok',
                    objectives=None if failed else np.array([-ellipsoid(candidate.values)]),
                )
            ]
        )
    np.testing.assert_array_equal(asked, seen)
    assert any(x[3] < 0.35 for x in seen)


@pytest.mark.parametrize(('name', 'most'), [('gaussian_process', 800), ('tpe', 3000)])
def test_a_run_that_cannot_be_resumed_in_a_minute_is_refused_with_the_number(name, most):
    need_optimizer(name)

    def plan(generations):
        content = {
            'robot': 'guroo',
            'controller': 'staged_walk',
            'duration': 1.0,
            'genes': {'knee_bend_deg': {}, 'ankle_move_deg': {}},
            'fitness': {'distance': 1.0},
            'generations': generations,
            'optimizer': {'name': name, 'settings': {'population': 40}},
        }
        return resolve_experiment(rebuild_experiment(content, 'small', {}))

    assert plan(most // 40).make_optimizer().max_candidates == most
    with pytest.raises(
        ConfigurationError,
        match=f"'{name}' allows {most} cand.*of 40; nearest valid: generations {most // 40}",
    ):
        plan(most // 40 + 1)


def true_cost_of_champion(seed, trials, repeats, **settings):
    """Return the cost without noise of the candidate that the genetic algorithm ends with."""

    def cost(x):
        return float(np.sum((x - 0.3) ** 2))

    search = optimizer('genetic')(dimension=6, seed=seed, **settings)
    rng = np.random.default_rng(1000 + seed)
    measured: dict[tuple[float, ...], list[float]] = {}
    while True:
        candidates = search.ask()
        trials -= repeats * len(candidates)
        if trials < 0:
            break
        told = []
        for candidate in candidates:
            # Without re-evaluation an equal candidate is another one.
            number = 0 if search.reevaluates else candidate.id
            values = measured.setdefault((number, *candidate.values), [])
            values += (0.2 * rng.normal(size=repeats) - cost(candidate.values)).tolist()
            objectives = np.array([np.mean(values)])
            told.append(Evaluation(id=candidate.id, status='ok', objectives=objectives))
        search.tell(told)
    # As in a run: with re-evaluation no single trial decides.
    sure = [one for one in measured if len(measured[one]) > search.reevaluates]
    return cost(np.array(max(sure, key=lambda one: np.mean(measured[one]))[1:]))


def test_with_noise_trials_of_elites_are_worth_more_than_repeats_of_all():
    def median(repeats, **settings):
        costs = [true_cost_of_champion(seed, 600, repeats, **settings) for seed in range(30)]
        return float(np.median(costs))

    assert median(1, reevaluate=True) < 0.8 * median(3)
