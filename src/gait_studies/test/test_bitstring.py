# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The simple genetic algorithm on bit strings: published decoding, wheel and protocol."""

from __future__ import annotations

import numpy as np

from gait_core.contracts import Evaluation
from gait_core.registry import load
from gait_evolver.plan import load_plan
from gait_studies.pike2003.bitstring import read_integers, unit_from_integers, wheel_shares

PUBLISHED = {
    'knee_bend_deg': (9928, '22.272373'),
    'ankle_place_deg': (63078, '39.250172'),
    'ankle_move_deg': (28170, '16.447701'),
    'hip_move_deg': (57796, '23.228657'),
}


def optimizer(**settings):
    return load('optimizers', 'bitstring_ga')(dimension=3, seed=7, **settings)


def cost_of(genome):
    return float(np.sum((genome - 0.3) ** 2))


def evaluated(candidate, status='ok'):
    return Evaluation(
        id=candidate.id, status=status, objectives=np.array([-cost_of(candidate.values)])
    )


def test_the_published_integers_decode_to_the_published_angles():
    space = load_plan('pike2003').space
    integers = np.array([PUBLISHED[name][0] for name in space.names])
    values = space.decode(unit_from_integers(integers, 16))
    # The original prints single precision.
    assert {name: f'{np.float32(values[name]):.6f}' for name in space.names} == {
        name: text for name, (_, text) in PUBLISHED.items()
    }


def test_bits_are_read_most_significant_first_and_reach_both_bounds():
    bits = np.array([1] + [0] * 15 + [0] * 16 + [1] * 16)
    np.testing.assert_array_equal(read_integers(bits, 16), [32768, 0, 65535])
    np.testing.assert_array_equal(unit_from_integers(np.array([0, 65535]), 16), [0.0, 1.0])


def test_the_experiment_has_the_published_settings():
    plan = load_plan('pike2003')
    settings = plan.experiment.optimizer.settings
    assert plan.experiment.optimizer.name == 'bitstring_ga'
    assert settings['bits'] * len(plan.space) == 64
    assert (settings['population'], plan.experiment.generations) == (150, 1 + 75)
    assert (settings['crossover_probability'], settings['mutation_probability']) == (0.6, 0.005)
    assert settings['truncation'] == 2.0
    assert settings['elitist']
    bounds = [(gene.lower, gene.upper) for gene in plan.space.genes]
    assert bounds == [(20.0, 35.0), (20.0, 40.0), (10.0, 25.0), (10.0, 25.0)]
    assert plan.experiment.fitness == {'pike2003_zmp': -1.0}
    assert plan.trial.ticks == 240


def test_wheel_of_hand_computed_costs():
    # Mean 2, sample deviation 1: scaled 1, 2, 3 with k = 2; weights 3 + 1 - f = 3, 2, 1.
    np.testing.assert_allclose(wheel_shares(np.array([1.0, 2.0, 3.0]), 2.0), [3 / 6, 2 / 6, 1 / 6])
    # k = 0: costs below the mean are truncated to the same 0.
    np.testing.assert_allclose(wheel_shares(np.array([1.0, 2.0, 3.0]), 0.0), [0.5, 0.5, 0.0])
    np.testing.assert_allclose(wheel_shares(np.full(4, 7.0), 2.0), 0.25)


def test_the_wheel_ignores_a_shift_and_a_scale_of_all_costs():
    costs = np.array([0.3, 0.9, 0.5, 2.0])
    np.testing.assert_allclose(wheel_shares(10.0 * costs - 4.0, 2.0), wheel_shares(costs, 2.0))


def test_offspring_cross_at_one_point_and_flip_at_the_stated_rate():
    crossing = optimizer(population=200, mutation_probability=0.0, crossover_probability=1.0)
    crossing.tell([evaluated(candidate) for candidate in crossing.ask()])
    before = {one.id: one.bits for one in crossing._population}
    crossed = 0
    for candidate, bits in zip(crossing.ask(), crossing._asked, strict=True):
        parents = [before[parent] for parent in candidate.parents]
        assert len(parents) == 2
        crossed += 1
        # From the first parent up to the site, from the second behind it.
        assert any(
            np.array_equal(bits[1], np.concatenate([parents[0][:site], parents[1][site:]]))
            for site in range(49)
        )
    assert crossed > 100

    flipping = optimizer(population=500, mutation_probability=0.1, crossover_probability=0.0)
    flipping.tell([evaluated(candidate) for candidate in flipping.ask()])
    before = {one.id: one.bits for one in flipping._population}
    flips = [
        np.mean(bits != before[candidate.parents[0]])
        for candidate, (_, bits) in zip(flipping.ask(), flipping._asked, strict=True)
    ]
    # 500 strings of 48 bits: five deviations of the mean of 24000 draws.
    assert abs(np.mean(flips) - 0.1) < 5 * np.sqrt(0.1 * 0.9 / 24000)


def test_no_genome_is_evaluated_twice_and_the_best_never_worsens():
    searching, seen, best = optimizer(population=30), set(), np.inf
    for _ in range(40):
        candidates = searching.ask()
        keys = [candidate.values.tobytes() for candidate in candidates]
        assert len(set(keys)) == len(keys)
        assert not seen & set(keys)
        seen |= set(keys)
        searching.tell([evaluated(candidate) for candidate in candidates])
        now = min(-one.evaluation.fitness for one in searching._population)
        assert now <= best
        best = now
    assert len(seen) < 40 * 30
    assert best < 0.01
    assert best == min(cost_of(np.frombuffer(key)) for key in seen)


def test_without_elitism_the_best_can_be_lost():
    def bests(**settings):
        searching, found = optimizer(population=6, mutation_probability=0.2, **settings), []
        for _ in range(30):
            searching.tell([evaluated(candidate) for candidate in searching.ask()])
            found.append(min(-one.evaluation.fitness for one in searching._population))
        return np.diff(found)

    assert bests(elitist=True).max() <= 0.0
    assert bests(elitist=False).max() > 0.0


def test_a_fall_breeds_only_where_nobody_stands():
    searching = optimizer(population=20)
    candidates = searching.ask()
    fallen = {candidate.id for candidate in candidates[:15]}
    searching.tell([evaluated(c, 'fell' if c.id in fallen else 'ok') for c in candidates])
    parents = {parent for candidate in searching.ask() for parent in candidate.parents}
    assert parents
    assert not parents & fallen

    all_fell = optimizer(population=20)
    all_fell.tell([evaluated(candidate, 'fell') for candidate in all_fell.ask()])
    assert all_fell.ask()


def test_all_failing_and_odd_populations_are_survived():
    searching = optimizer(population=7)
    for _ in range(4):
        candidates = searching.ask()
        searching.tell(
            [Evaluation(id=one.id, status='diverged', objectives=None) for one in candidates]
        )
        assert len(searching._population) == 7
