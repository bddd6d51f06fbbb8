# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study korbel2013: checks of the fitness and of the evolutionary algorithm."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.constants import inch
from scipy.spatial.transform import Rotation

from gait_core.arrays import FloatArray
from gait_core.contracts import Candidate, Evaluation
from gait_core.measures.contact_nodes import contact_node_index
from gait_core.trial.parts import fitness_terms
from gait_core.trial.rollout import Rollout
from gait_core.trial.setup import default_trial
from gait_evolver.plan import Plan, load_plan
from gait_studies.korbel2013.fitness import NODE_1, NODE_2, UNSCORED_TIME
from gait_studies.korbel2013.model import ROBOT
from gait_studies.korbel2013.steady_state import SteadyStateOptimizer
from gait_tools.study.definition import StudyRow, row_above, row_at_least, row_at_most, row_near
from gait_tools.study.session import StudySession

EXPERIMENT = 'korbel2013'

_RATE_ITERATIONS = 5000
"""Iterations over which rates are counted: 10 000 offspring."""


def load_search_plan(seed: int, **settings: Any) -> Plan:
    """Return the published search with some settings of the optimiser replaced."""
    changes = {'seed': seed, 'optimizer': {'settings': settings}}
    return load_plan(EXPERIMENT, changes)


def make_search(plan: Plan) -> SteadyStateOptimizer:
    """Return the plan's optimiser."""
    search = plan.make_optimizer()
    assert isinstance(search, SteadyStateOptimizer)
    return search


def measure_fitness(session: StudySession) -> Sequence[StudyRow]:
    """Measure check 20: the experiment's fitness of a record with a made-up end."""
    spec = replace(
        default_trial(ROBOT, UNSCORED_TIME + 1.0),
        controller='hold',
        parameters={},
        fitness_terms=load_plan(EXPERIMENT).trial.fitness_terms,
    )
    terms = fitness_terms(_end_as_stated(session.record(spec)))
    return [
        row_near(
            'check_20',
            'fitness of 10 inches ahead, 0.1 inches of twist and 0.5 inches aside',
            sum(spec.fitness_terms[name] * value for name, value in terms.items()),
            8.5,
            1e-9,
            'in',
            note='the length of the spine is logged and unscored',
        )
    ]


def _end_as_stated(record: Rollout) -> Rollout:
    """Return a record whose rear tetrahedron ends 10 in ahead, 0.5 in aside and turned."""
    robot = record.robot
    node, other = (
        np.array(robot.contact_nodes[contact_node_index(robot, name)].point)
        for name in (NODE_1, NODE_2)
    )
    # The turn sets the two lower corners 0.1 in apart along x.
    turn = Rotation.from_euler('z', np.arcsin(0.1 * inch / np.linalg.norm(node - other)))
    poses = np.tile(record.body_poses[0], (len(record.body_poses), 1, 1))
    upright = Rotation.from_quat(poses[0, 0, 3:])
    shift = upright.apply(node) - (turn * upright).apply(node)
    poses[-1, 0, :3] += shift + np.array([10.0, -0.5, 0.0]) * inch
    poses[-1, 0, 3:] = (turn * upright).as_quat()
    return replace(record, states=replace(record.states, body_poses=poses))


def measure_search(session: StudySession) -> Sequence[StudyRow]:
    """Measure checks 21 to 26 on test functions: draws, rates, limits, population, stops."""
    return [
        *_first_draw_rows(session),
        *_rate_rows(session),
        *_limit_rows(session),
        *_stop_rows(session),
        *_listing_rows(session),
    ]


def decode_genomes(plan: Plan, genomes: Sequence[FloatArray]) -> FloatArray:
    """Return genes in their units, (n, genes)."""
    return np.array([list(plan.space.decode(genome).values()) for genome in genomes])


def _evaluations(
    candidates: Sequence[Candidate], value: Callable[[FloatArray], float]
) -> list[Evaluation]:
    return [
        Evaluation(id=candidate.id, status='ok', objectives=np.array([value(candidate.values)]))
        for candidate in candidates
    ]


def _run_iterations(
    optimizer: SteadyStateOptimizer, value: Callable[[FloatArray], float], iterations: int
) -> Iterator[list[Candidate]]:
    optimizer.tell(_evaluations(optimizer.ask(), value))
    for _ in range(iterations):
        candidates = optimizer.ask()
        optimizer.tell(_evaluations(candidates, value))
        yield candidates


def _first_draw_rows(session: StudySession) -> list[StudyRow]:
    """Return the rows of check 21: grid and range of the first draws."""
    plan = load_search_plan(session.seed, population=2000)
    drawn = decode_genomes(plan, [candidate.values for candidate in make_search(plan).ask()])
    weights, tau = drawn[:, :-1], drawn[:, -1]
    steps = np.concatenate([((weights - 1.0) / 0.0012).ravel(), (tau - 0.2) / 0.00015])
    return [
        row_near(
            'check_21_grid',
            'largest distance of a gene of a first candidate from the published grids, in steps',
            float(np.abs(steps - np.round(steps)).max()),
            0.0,
            1e-6,
        ),
        row_near(
            'check_21_low', 'least weight of 2000 candidates', float(weights.min()), 1.0, 0.0025
        ),
        row_near(
            'check_21_high',
            'greatest weight of 2000 candidates',
            float(weights.max()),
            3.4,
            0.0025,
            note='below 3.4',
        ),
        row_near('check_21_tau_low', 'least time constant', float(tau.min()), 0.2, 0.0015, 's'),
        row_near(
            'check_21_tau_high', 'greatest time constant', float(tau.max()), 0.5, 0.0015, 's'
        ),
    ]


def _rate_rows(session: StudySession) -> list[StudyRow]:
    """Return the rows of check 22: rates and sizes of crossover and mutation."""
    # Equal fitness: no offspring replaces a candidate, so parents are those of the first draw.
    plan = load_search_plan(session.seed)
    optimizer = make_search(plan)
    optimizer.tell(_evaluations(optimizer.ask(), lambda genome: 0.0))
    known = {member.id: member.genome for member in optimizer.population}
    steps = np.array(make_search(plan)._steps)
    swaps, moves, sizes = [0, 0], [0, 0], np.zeros(len(steps))
    for _ in range(_RATE_ITERATIONS):
        children = optimizer.ask()
        optimizer.tell(_evaluations(children, lambda genome: 0.0))
        for child in children:
            if len(child.parents) < 2:
                continue
            own, other = (known[i] for i in child.parents)
            # Swaps are identifiable if parents differ by over two steps and no limit is near.
            are_apart = (np.abs(own - other) > 2.5 * steps) & (
                np.minimum(own, other) > 1.1 * steps
            )
            swapped = np.abs(child.values - other) < np.abs(child.values - own)
            step = np.abs(child.values - np.where(swapped, other, own))
            swaps = [swaps[0] + int(swapped[are_apart].sum()), swaps[1] + int(are_apart.sum())]
            moves = [
                moves[0] + int((step > 0.0)[are_apart].sum()),
                moves[1] + int(are_apart.sum()),
            ]
            sizes = np.maximum(sizes, np.where(are_apart, step, 0.0))
    width = np.array([gene.upper - gene.lower for gene in plan.space.genes])
    largest = sizes * width
    return [
        row_near('check_22_swaps', 'share of genes swapped', swaps[0] / swaps[1], 0.2, 0.005),
        row_near(
            'check_22_mutations', 'share of genes that take a step', moves[0] / moves[1], 0.7, 0.01
        ),
        row_at_most(
            'check_22_weight',
            'largest step of a weight',
            float(largest[:-1].max()),
            0.2 * (1 + 1e-9),
            note=f'in {2 * _RATE_ITERATIONS} offspring',
        ),
        row_at_most(
            'check_22_tau', 'largest step of tau_A', float(largest[-1]), 0.05 * (1 + 1e-9), 's'
        ),
    ]


def _limit_rows(session: StudySession) -> list[StudyRow]:
    """Return the rows of checks 23 and 24: limits of genes, population and mean."""
    plan = load_search_plan(session.seed, unstopped=10**6)
    optimizer = make_search(plan)
    children = [
        candidate.values
        for pair in _run_iterations(optimizer, lambda genome: -float(genome.sum()), 2000)
        for candidate in pair
    ]
    values = decode_genomes(plan, children)
    gains = np.diff(optimizer.history)
    return [
        row_above(
            'check_23_weight',
            'least weight in a search for small ones, 2000 iterations',
            float(values[:, :-1].min()),
            0.0,
            note='above 0',
        ),
        row_at_least(
            'check_23_tau', 'least tau_A in that search', float(values[:, -1].min()), 0.2, 's'
        ),
        row_near(
            'check_24_size',
            'size of the population after that search',
            float(len(optimizer.population)),
            50.0,
            0.0,
        ),
        row_at_least('check_24_mean', 'least gain of the mean fitness', float(gains.min()), 0.0),
    ]


def _stop_rows(session: StudySession) -> list[StudyRow]:
    """Return the rows of check 25: iterations at which a search stops."""
    flat, rising = (
        make_search(load_search_plan(session.seed)),
        make_search(load_search_plan(session.seed)),
    )
    count = iter(range(10**9))
    return [
        row_near(
            'check_25_flat',
            'iteration at which a search with a constant mean fitness ends',
            float(_iterations_until_stop(flat, lambda genome: 1.0)),
            201.0,
            0.0,
        ),
        row_near(
            'check_25_last',
            'iteration at which a search ends whose mean fitness always rises',
            float(_iterations_until_stop(rising, lambda genome: float(next(count)))),
            2000.0,
            0.0,
        ),
    ]


def _iterations_until_stop(
    optimizer: SteadyStateOptimizer, value: Callable[[FloatArray], float]
) -> int:
    for iteration, _ in enumerate(_run_iterations(optimizer, value, 3000)):
        if optimizer.stop():
            return iteration + 1
    return 3000


def _listing_rows(session: StudySession) -> list[StudyRow]:
    """Return the row of check 26: the program never mutates the last gene."""
    counts: Mapping[bool, int] = {
        mode: _count_new_taus(session.seed, mode) for mode in (True, False)
    }
    return [
        row_near(
            'check_26',
            'final values of tau_A that are no initial ones, listing_compat',
            float(counts[True]),
            0.0,
            0.0,
            note=f'{counts[False]} of 50 in the intended mode',
        )
    ]


def _count_new_taus(seed: int, listing_compat: bool) -> int:
    optimizer = make_search(load_search_plan(seed, listing_compat=listing_compat))
    first = {member.values[-1] for member in make_search(load_search_plan(seed)).ask()}
    for _ in _run_iterations(optimizer, lambda genome: float(np.sin(40.0 * genome).sum()), 400):
        pass
    return sum(member.genome[-1] not in first for member in optimizer.population)
