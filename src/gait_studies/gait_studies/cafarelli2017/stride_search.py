# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Searches of strides with frozen and with free leg lengths in physics, and replays of strides.

Both searches run the experiment ``cafarelli2017_flat`` from the same level walk at equal effort;
the frozen one lacks the two extension genes. Fitness is the reciprocal of the cost of transport,
0 after a fall. A stride must lift its feet by ``MIN_CLEARANCE``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
import math
from typing import Any

import numpy as np

from gait_core.contracts import Evaluation
from gait_core.errors import ConfigurationError
from gait_core.trial.loop import TrialLoop, run_loop
from gait_core.trial.spec import FELL, OK
from gait_evolver.experiment import OptimizerChoice, load_experiment
from gait_evolver.plan import Plan, TrialIndex, resolve_experiment
from gait_studies.cafarelli2017.stride_trials import (
    StrideWalk,
    ground_scene_changes,
    predicted_speed,
    run_stride,
    stride_trial,
    stride_walk_from_loop,
)
from gait_studies.cafarelli2017.strides.problem import DEFAULT_REQUIREMENTS

EXPERIMENT = 'cafarelli2017_flat'
EXTENSION_GENES = ('extension', 'lift_extension')
"""Genes that searches with frozen legs lack."""
LEVEL_WALK: Mapping[str, float] = {
    'stroke': 0.12,
    'height': 0.165,
    'lift': 0.03,
    'offset': 0.0,
    'upper': 0.09,
    'lower': 0.09,
    'duty': 0.55,
    'period': 2.0,
    'extension': 0.0,
    'lift_extension': 0.0,
}
"""Stride at which searches begin."""
MIN_CLEARANCE = DEFAULT_REQUIREMENTS.clearance
"""
Minimum foot clearance [m], as in the analytic searches.

Without it, straight legs that lift their feet by 2 mm win on perfectly even ground.
"""
_FINAL_DURATION = 30.0
"""Duration [s] of the trial that measures a champion."""


@dataclass(frozen=True, kw_only=True)
class StrideSearch:
    """
    Search of a stride by CMA-ES.

    Attributes
    ----------
    frozen : bool
        True: lengths are searched but constant during a stride.
    ground : str
        Key of ``stride_trials.GROUNDS``.
    seed : int
    trials : int
        Budget; the search ends with the generation that uses it up.
    sigma : float
        Initial deviation, as a share of the range of each gene.
    start : tuple of (str, float) pairs
        Genes of the first mean; missing ones are those of the level walk.

    """

    frozen: bool
    ground: str
    seed: int
    trials: int = 300
    sigma: float = 0.25
    start: tuple[tuple[str, float], ...] = ()

    @property
    def key(self) -> str:
        """Text of everything that the result depends on."""
        legs = 'frozen' if self.frozen else 'free'
        start = 'level' if not self.start else repr(self.start)
        return f'{legs}, {self.ground}, {self.trials}, {self.sigma:g}, {self.seed}, {start}'

    def plan(self, population: int = 10) -> Plan:
        """Return the plan of the experiment with the settings of this search."""
        experiment = load_experiment(EXPERIMENT)
        genes = {
            name: bounds
            for name, bounds in experiment.genes.items()
            if not (self.frozen and name in EXTENSION_GENES)
        }
        scene: Any = {**experiment.scene, **ground_scene_changes(self.ground)}
        changed_experiment = replace(
            experiment,
            genes=genes,
            scene=scene,
            fitness={'transport_efficiency': 1.0},
            population=population,
            seed=self.seed,
        )
        space = resolve_experiment(changed_experiment).space
        begin = {**LEVEL_WALK, **dict(self.start)}
        settings = {
            'sigma': self.sigma,
            'start': space.encode({name: begin[name] for name in space.names}).tolist(),
        }
        return resolve_experiment(
            replace(
                changed_experiment, optimizer=OptimizerChoice(name='cma_es', settings=settings)
            )
        )


def search_stride(search: StrideSearch) -> dict[str, Any]:
    """
    Search a stride in this process; measure the best for 30 s, and again with frozen lengths.

    Returns
    -------
    mapping
        ``best`` (genes by name), ``fitness``, ``curve`` (best fitness after each generation),
        ``trials``, ``invalid`` and ``fell`` (counts), ``walk`` and ``twin`` (StrideWalks as
        mappings). The twin is the best stride with frozen lengths; ``None`` if they were frozen.

    """
    plan = search.plan()
    optimizer = plan.make_optimizer()
    (engine,) = plan.scenes
    best, values = -math.inf, dict[str, float]()
    curve: list[float] = []
    statuses: list[str] = []
    while len(statuses) < search.trials and not optimizer.stop():
        evaluations = []
        for index, candidate in enumerate(optimizer.ask()):
            decoded = plan.space.decode(candidate.values)
            place = TrialIndex(generation=len(curve), individual=index, engine=engine)
            loop = run_loop(plan.spec(decoded, place))
            evaluation = _evaluate_loop(loop, search.ground, candidate.id)
            evaluations.append(evaluation)
            statuses.append(evaluation.status)
            is_valid = (
                evaluation.objectives is not None and evaluation.constraints['clearance'] <= 0.0
            )
            if is_valid and evaluation.fitness > best:
                best, values = evaluation.fitness, decoded
        optimizer.tell(evaluations)
        curve.append(best)
    if not values:
        raise ConfigurationError(
            f'search {search.key}: no stride lifts its feet by {MIN_CLEARANCE:g} m'
        )
    parameters = {**plan.experiment.parameters, **values}
    frozen = {**parameters, **dict.fromkeys(EXTENSION_GENES, 0.0)}
    return {
        'trials': len(statuses),
        'best': values,
        'fitness': best,
        'curve': curve,
        'fell': statuses.count(FELL),
        'invalid': sum(status.startswith('invalid') for status in statuses),
        'walk': _measure_champion(parameters, search.ground),
        'twin': None if search.frozen else _measure_champion(frozen, search.ground),
    }


def _evaluate_loop(loop: TrialLoop, ground: str, candidate: int) -> Evaluation:
    """Return the evaluation of a finished trial; too low a clearance is a violation [m]."""
    fitness = loop.result().fitness
    if fitness is None or loop.status not in (OK, FELL):
        return Evaluation(id=candidate, status=loop.status, objectives=None)
    low = MIN_CLEARANCE - stride_walk_from_loop(loop, ground).clearance
    return Evaluation(
        id=candidate,
        status=loop.status,
        objectives=np.array([fitness]),
        constraints={'clearance': low if math.isfinite(low) else MIN_CLEARANCE},
    )


def _measure_champion(parameters: Mapping[str, Any], ground: str) -> dict[str, Any]:
    return asdict(run_stride(stride_trial(parameters, ground, _FINAL_DURATION), ground))


@dataclass(frozen=True, kw_only=True)
class Replay:
    """Trial of a stride of the analytic grid, 48 genes [deg, cm]."""

    genes: tuple[float, ...]
    ground: str
    joined: str
    duration: float = 20.0


def replay_outcome(replay: Replay) -> dict[str, Any]:
    """Return ``walk``, a StrideWalk as a mapping, and the predicted speed ``foreseen`` [m/s]."""
    walk, foreseen = replay_stride(
        replay.genes, replay.ground, replay.joined, duration=replay.duration
    )
    return {'walk': asdict(walk), 'foreseen': foreseen}


def replay_stride(
    genes: Sequence[float], ground: str, joined: str, period: float = 4.0, duration: float = 30.0
) -> tuple[StrideWalk, float]:
    """
    Walk a stride of the analytic grid; return its measures and the predicted speed [m/s].

    Parameters
    ----------
    genes : 48 numbers [deg, cm]
    ground : str
        Key of ``stride_trials.GROUNDS``.
    joined : str
        ``joints``: joints move as in the analytic measures, at rest in each posture.
        ``feet``: feet move at constant speed between the same footholds.
    period, duration : float [s]
        Cycle time (published: 4), and duration of the trial.

    """
    parameters = {
        'postures': [float(gene) for gene in genes],
        'joined': joined,
        'period': period,
        'duty': 0.5,
        'beyond': 'nearest',
    }
    walk = run_stride(stride_trial(parameters, ground, duration), ground)
    return walk, predicted_speed(np.array(genes), period)
