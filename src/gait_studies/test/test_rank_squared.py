# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The genetic algorithm of Bishop (2008) against its printed probabilities and permutations."""

from collections import Counter
import math

import numpy as np
import pytest

from gait_core.contracts import Evaluation
from gait_core.errors import ConfigurationError
from gait_core.robot.load import load_robot
from gait_cpg.perceptron.layout import PerceptronLayout
from gait_studies.bishop2008.breeding import (
    X_MIRROR_PAIRS,
    Y_MIRROR_PAIRS,
    Breeder,
    Mutations,
    permutation_from_pairs,
    relocation_order,
)
from gait_studies.bishop2008.rank_squared import RankSquaredOptimizer, parent_rank

LAYOUT = PerceptronLayout(perceptrons=30, memory=6, channels=35, outputs=16)


def bytes_of(candidate):
    return LAYOUT.join_weights(candidate.arrays).tobytes()


STILL = Mutations(
    mutation_probability=0.0,
    delay_probability=0.0,
    relocation_probability=0.0,
    input_jitter=0.0,
    output_jitter=0.0,
)


class Always:
    """A generator whose draws are fixed, so that chosen operators act and others do not."""

    def __init__(self, *draws):
        self._draws = list(draws)

    def random(self, *_, **__):
        return self._draws.pop(0)


def network(seed=0):
    return LAYOUT.random_weights(np.random.default_rng(seed))


def evaluations(optimizer, fitness):
    return [
        Evaluation(id=one.id, status='ok', objectives=np.array([fitness(one)]))
        for one in optimizer.ask()
    ]


def test_ranks_are_drawn_by_the_square_of_a_uniform_number():
    ranks = np.array(
        [parent_rank(u, 40) for u in np.random.default_rng(1).random(100000).tolist()]
    )
    assert (ranks == 0).mean() == pytest.approx(math.sqrt(1 / 40), abs=0.005)
    assert (ranks < 10).mean() == pytest.approx(0.5, abs=0.01)
    assert ranks.max() == 39


def test_perceptrons_come_whole_from_either_parent():
    first, second = (network(seed) for seed in (1, 2))
    for weights in (first, second):
        weights[:, : LAYOUT.inputs] /= np.linalg.norm(
            weights[:, : LAYOUT.inputs], axis=1, keepdims=True
        )
    breeder, rng, from_first = Breeder(LAYOUT, STILL), np.random.default_rng(3), []
    for _ in range(200):
        child = breeder.breed(first, second, rng)
        taken = np.abs(child - first).max(axis=1) < 1e-6
        assert np.all(taken | (np.abs(child - second).max(axis=1) < 1e-6))
        from_first.append(taken.mean())
    assert np.mean(from_first) == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize(('pairs', 'axis'), [(X_MIRROR_PAIRS, 0), (Y_MIRROR_PAIRS, 1)])
def test_mirrored_outputs_are_those_of_the_mirrored_servos(pairs, axis):
    order = permutation_from_pairs(pairs)
    assert np.array_equal(order[order], np.arange(16))
    robot = load_robot('spider')
    anchors = np.array([one.point_a[:2] for one in robot.force_elements[:8]])
    mirrored = anchors * np.where(np.arange(2) == axis, -1.0, 1.0)
    for i, place in enumerate(mirrored):
        assert anchors[order[i]] == pytest.approx(place)
    azimuths = np.radians([45.0, 135.0, 225.0, 315.0])
    legs = np.column_stack([np.cos(azimuths), np.sin(azimuths)])
    for first in (8, 12):
        for k in range(4):
            image = legs[k] * np.where(np.arange(2) == axis, -1.0, 1.0)
            assert legs[order[first + k] - first] == pytest.approx(image)


def test_a_delay_shifts_the_newest_frames_alone_by_whole_frames():
    breeder = Breeder(LAYOUT, STILL)
    inputs = np.arange(LAYOUT.inputs, dtype=np.float32)
    moved = inputs.copy()
    breeder.delay_inputs(moved, Always(0.5))
    newest = LAYOUT.channels * LAYOUT.memory
    assert moved[: newest - 3 * 35].tolist() == inputs[3 * 35 : newest].tolist()
    assert moved[newest - 3 * 35 : newest].tolist() == inputs[: 3 * 35].tolist()
    assert np.array_equal(moved[newest:], inputs[newest:])


def test_the_side_operator_negates_the_present_frame_and_swaps_outputs():
    breeder, before = Breeder(LAYOUT, STILL), network()[0]
    after = before.copy()
    breeder.mutate_perceptron(after, Always(1.0, 0.0, 1.0, 1.0, 1.0))
    assert np.array_equal(after[:35], -before[:35])
    assert np.array_equal(after[35 : LAYOUT.inputs], before[35 : LAYOUT.inputs])
    order = permutation_from_pairs(X_MIRROR_PAIRS)
    assert np.array_equal(after[LAYOUT.inputs :], before[LAYOUT.inputs :][order])


@pytest.mark.parametrize(('as_text', 'reached'), [(False, False), (True, True)])
def test_segments_reach_the_last_weight_only_as_the_text_has_it(as_text, reached):
    mutations = Mutations(
        mutation_probability=1.0,
        delay_probability=0.0,
        relocation_probability=0.0,
        input_jitter=0.0,
        output_jitter=0.0,
        as_text=as_text,
    )
    breeder, rng, last, lengths = Breeder(LAYOUT, mutations), np.random.default_rng(5), [], []
    for _ in range(3000):
        part = np.full(40, 9.0, dtype=np.float32)
        breeder.rewrite_segment(part, rng)
        changed = np.flatnonzero(part != 9.0)
        last.append(39 in changed)
        lengths.append(len(changed))
        assert np.abs(part[changed]).max(initial=0.0) <= 2.0 / math.sqrt(LAYOUT.inputs)
        assert np.array_equal(
            changed, np.arange(len(changed)) + (changed[0] if len(changed) else 0)
        )
    assert any(last) == reached
    assert np.mean(lengths) == pytest.approx(10.0, abs=0.9)


def test_operators_act_as_often_as_the_program_says():
    probability, trials = 0.4, 4000
    mutations = Mutations(
        mutation_probability=probability,
        delay_probability=0.75,
        relocation_probability=0.0,
        input_jitter=0.0,
        output_jitter=0.0,
    )
    breeder, rng, counts = Breeder(LAYOUT, mutations), np.random.default_rng(7), Counter()
    acted = {'rewrite_segment': breeder.rewrite_segment, 'delay_inputs': breeder.delay_inputs}
    for name, operator in acted.items():

        def counted(part, drawn, name=name, operator=operator):
            counts[name] += 1
            operator(part, drawn)

        setattr(breeder, name, counted)
    one = network()[0]
    for _ in range(trials):
        breeder.mutate_perceptron(one.copy(), rng)
    # A rewrite is of inputs and of outputs; a delay comes by itself or after the ends' swap.
    assert counts['rewrite_segment'] / 2 == pytest.approx(
        0.375 * trials, abs=3 * math.sqrt(trials / 4)
    )
    assert counts['delay_inputs'] == pytest.approx(
        (0.75 + 0.15) * trials, abs=3 * math.sqrt(trials / 3)
    )


def test_children_have_input_weights_of_norm_one_and_free_outputs():
    mutations = Mutations(
        mutation_probability=0.5,
        delay_probability=0.75,
        relocation_probability=0.95,
        input_jitter=0.01,
        output_jitter=1e-4,
    )
    child = Breeder(LAYOUT, mutations).breed(network(1), network(2), np.random.default_rng(1))
    assert np.linalg.norm(child[:, : LAYOUT.inputs], axis=1) == pytest.approx(1.0, abs=1e-5)
    outputs = np.linalg.norm(child[:, LAYOUT.inputs :], axis=1)
    assert np.ptp(outputs) > 0.0
    assert child.dtype == np.float32


def test_relocation_moves_one_segment_and_keeps_every_perceptron():
    rng, moved = np.random.default_rng(2), 0
    for _ in range(300):
        order = relocation_order(30, rng)
        assert sorted(order.tolist()) == list(range(30))
        # A segment put elsewhere breaks the order in three places at most.
        breaks = int((np.diff(order) != 1).sum())
        assert breaks <= 3
        moved += breaks > 0
    assert moved > 200
    assert relocation_order(4, rng).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(('carry', 'expected'), [(0.25, 2.0), (0.5, 3.0)])
def test_a_survivor_carries_a_share_of_its_score(carry, expected):
    optimizer = RankSquaredOptimizer(
        dimension=0, shapes=LAYOUT, seed=1, population=4, replaced=1, carry=carry
    )
    best = optimizer.ask()[0].id
    told = [
        Evaluation(id=i, status='ok', objectives=np.array([4.0 if i == best else 0.0]))
        for i in range(4)
    ]
    optimizer.tell(told)
    optimizer.tell(evaluations(optimizer, lambda one: 1.0 if one.id == best else -9.0))
    assert optimizer.scores[0] == pytest.approx(expected)


def test_survivors_keep_their_weights_and_the_last_ranks_give_way():
    optimizer = RankSquaredOptimizer(dimension=0, shapes=LAYOUT, seed=3, population=12, replaced=5)
    before = {one.id: LAYOUT.join_weights(one.arrays) for one in optimizer.ask()}
    optimizer.tell(
        [Evaluation(id=i, status='ok', objectives=np.array([float(i)])) for i in before]
    )
    after = optimizer.ask()
    assert [one.id for one in after[:7]] == [11, 10, 9, 8, 7, 6, 5]
    for one in after[:7]:
        assert np.array_equal(LAYOUT.join_weights(one.arrays), before[one.id])
    assert all(one.id >= 12 and one.parents for one in after[7:])
    assert optimizer.scores[7:] == (0.0,) * 5


def test_what_may_not_win_ranks_last_whatever_it_has_carried():
    optimizer = RankSquaredOptimizer(dimension=0, shapes=LAYOUT, seed=3, population=4, replaced=2)
    optimizer.tell(evaluations(optimizer, lambda one: 9.0 if one.id == 0 else -float(one.id)))
    bad = [
        Evaluation(id=one.id, status='invalid:speed', objectives=None)
        if one.id == 0
        else Evaluation(id=one.id, status='ok', objectives=np.array([-1.0]))
        for one in optimizer.ask()
    ]
    optimizer.tell(bad)
    assert 0 not in {one.id for one in optimizer.ask()}


def test_more_children_than_members_are_refused():
    with pytest.raises(ConfigurationError, match='nearest valid: 3'):
        RankSquaredOptimizer(dimension=0, shapes=LAYOUT, seed=1, population=4, replaced=4)
