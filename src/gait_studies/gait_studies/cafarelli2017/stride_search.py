"""
Do extending legs save energy in physics? Searches of frozen and free strides, and replays.

Both searches are the experiment ``cafarelli2017_flat`` from the same level walk, at equal effort;
the frozen one lacks the two genes of extension. Fitness is the reciprocal of the cost of
transport, 0 after a fall; a stride must lift its feet by ``CLEARANCE``.
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
"""The genes that frozen legs lack."""
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
"""Where searches begin."""
MIN_CLEARANCE = DEFAULT_REQUIREMENTS.clearance
"""
How high feet must be lifted [m], as in the analytic question.

Else legs that vault stretched, and lift their feet by 2 mm, win on ground without a pebble.
"""
_FINAL_DURATION = 30.0
"""Duration [s] of the trial that measures a champion."""


@dataclass(frozen=True, kw_only=True)
class StrideSearch:
    """
    One search by CMA-ES.

    Attributes
    ----------
    frozen : bool
        Whether lengths are chosen, but stay.
    ground : str
        Of ``stride_trials.GROUNDS``.
    seed : int
    trials : int
        At most, by whole generations.
    sigma : float
        Initial deviation, as a share of the range of each gene.
    start : tuple of (str, float) pairs
        The stride that it begins with; genes that are missing are those of the level walk.

    """

    frozen: bool
    ground: str
    seed: int
    trials: int = 300
    sigma: float = 0.25
    start: tuple[tuple[str, float], ...] = ()

    @property
    def key(self) -> str:
        """All that the result depends on."""
        legs = 'frozen' if self.frozen else 'free'
        start = 'level' if not self.start else repr(self.start)
        return f'{legs}, {self.ground}, {self.trials}, {self.sigma:g}, {self.seed}, {start}'

    def plan(self, population: int = 10) -> Plan:
        """Return the experiment as this search has it."""
        experiment = load_experiment(EXPERIMENT)
        genes = {
            name: bounds
            for name, bounds in experiment.genes.items()
            if not (self.frozen and name in EXTENSION_GENES)
        }
        scene: Any = {**experiment.scene, **ground_scene_changes(self.ground)}
        asked = replace(
            experiment,
            genes=genes,
            scene=scene,
            fitness={'transport_efficiency': 1.0},
            population=population,
            seed=self.seed,
        )
        space = resolve_experiment(asked).space
        begin = {**LEVEL_WALK, **dict(self.start)}
        settings = {
            'sigma': self.sigma,
            'start': space.encode({name: begin[name] for name in space.names}).tolist(),
        }
        return resolve_experiment(
            replace(asked, optimizer=OptimizerChoice(name='cma_es', settings=settings))
        )


def search_stride(search: StrideSearch) -> dict[str, Any]:
    """
    Search a stride in this process and measure the best one for 30 s, and with its lengths frozen.

    Returns
    -------
    mapping
        ``best`` (genes by name), ``fitness``, ``curve`` (best fitness after each generation),
        ``trials``, ``invalid`` and ``fell`` (counts), ``walk`` and ``twin`` (StrideWalks as
        mappings; the twin is the best stride with its lengths frozen, of free legs only).

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
            judged = _evaluate_loop(loop, search.ground, candidate.id)
            evaluations.append(judged)
            statuses.append(judged.status)
            kept = judged.objectives is not None and judged.constraints['clearance'] <= 0.0
            if kept and judged.fitness > best:
                best, values = judged.fitness, decoded
        optimizer.tell(evaluations)
        curve.append(best)
    if not values:
        raise ConfigurationError(f'{search.key}: no stride lifts its feet by {MIN_CLEARANCE:g} m')
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
    """A stride of the analytic grid, 48 genes [deg, cm], and how to walk it."""

    genes: tuple[float, ...]
    ground: str
    joined: str
    duration: float = 20.0


def replay_outcome(replay: Replay) -> dict[str, Any]:
    """Return the ``walk`` (a StrideWalk as a mapping) and the ``foreseen`` speed [m/s]."""
    walk, foreseen = replay_stride(
        replay.genes, replay.ground, replay.joined, duration=replay.duration
    )
    return {'walk': asdict(walk), 'foreseen': foreseen}


def replay_stride(
    genes: Sequence[float], ground: str, joined: str, period: float = 4.0, duration: float = 30.0
) -> tuple[StrideWalk, float]:
    """
    Walk a stride of the analytic grid; return what became of it, and the speed foreseen.

    Parameters
    ----------
    genes : 48 numbers [deg, cm]
    ground : str
        Of ``stride_trials.GROUNDS``.
    joined : str
        ``joints``: on the path that the analytic measures follow, at rest in each posture;
        ``feet``: between the same footholds, evenly.
    period, duration : float [s]
        Of a cycle, published 4; of the trial.

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
