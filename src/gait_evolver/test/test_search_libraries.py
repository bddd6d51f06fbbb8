# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Optimisers by a library search as the library's own loop does, and as published."""

from __future__ import annotations

import math

import cma
import numpy as np
import pytest

from gait_core.contracts import Evaluation
from gait_core.registry import optimizer
from gait_evolver.experiment import rebuild_experiment
from gait_evolver.plan import resolve_experiment


def ellipsoid(x):
    return float(np.sum(100.0 ** np.linspace(0.0, 1.0, len(x)) * (x - 0.4) ** 2))


def rastrigin(x):
    # The usual domain, [-5.12, 5.12]; local minima are about whole numbers.
    z = 10.24 * (x - 0.63)
    return float(np.sum(z**2 - 10.0 * np.cos(2.0 * np.pi * z) + 10.0))


def run(search, cost, generations):
    """Return what each generation of a search asks for, and the least cost."""
    asked, least = [], math.inf
    while len(asked) < generations and not search.stop():
        candidates = search.ask()
        asked.append(np.array([candidate.values for candidate in candidates]))
        costs = [cost(candidate.values) for candidate in candidates]
        least = min(least, *costs)
        search.tell(
            [
                Evaluation(id=candidate.id, status='ok', objectives=np.array([-value]))
                for candidate, value in zip(candidates, costs, strict=True)
            ]
        )
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
