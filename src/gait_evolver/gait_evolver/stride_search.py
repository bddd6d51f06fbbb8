"""
Do extending legs save energy in physics? Searches of frozen and free strides, and replays.

Both searches are the experiment ``cafarelli2017_flat`` from the same level walk, at equal effort;
the frozen one lacks the two genes of extension. Fitness is the reciprocal of the cost of
transport, 0 after a fall.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from gait_core.contracts import Evaluation
from gait_core.trial import run_trial
from gait_core.trial_spec import FELL, OK
from gait_evolver.experiment import OptimizerChoice, load_experiment
from gait_evolver.plan import Plan, resolve
from gait_evolver.stride_trials import (
    StrideWalk,
    foreseen_speed,
    ground_scene,
    stride_trial,
    walk_stride,
)

EXPERIMENT = 'cafarelli2017_flat'
EXTENSIONS = ('extension', 'lift_extension')
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
_FINAL = 30.0
"""Duration [s] of the trial that measures a champion."""


def search_plan(frozen: bool, ground: str, seed: int, population: int = 10) -> Plan:
    """
    Return the plan of a search.

    Parameters
    ----------
    frozen : bool
        Whether lengths are chosen, but stay.
    ground : str
        Of ``stride_trials.GROUNDS``.
    seed, population : int

    """
    experiment = load_experiment(EXPERIMENT)
    genes = {
        name: bounds
        for name, bounds in experiment.genes.items()
        if not (frozen and name in EXTENSIONS)
    }
    scene: Any = {**experiment.scene, **ground_scene(ground)}
    asked = replace(
        experiment,
        genes=genes,
        scene=scene,
        fitness={'transport_efficiency': 1.0},
        population=population,
        seed=seed,
    )
    space = resolve(asked).space
    start = space.encode({name: LEVEL_WALK[name] for name in space.names}).tolist()
    settings = {**experiment.optimizer.settings, 'start': start}
    return resolve(replace(asked, optimizer=OptimizerChoice(name='cma_es', settings=settings)))


def search_strides(frozen: bool, ground: str, seed: int, trials: int = 300) -> dict[str, Any]:
    """
    Search a stride in this process and measure the best one for 30 s.

    Returns
    -------
    mapping
        ``best`` (parameters), ``fitness``, ``curve`` (best fitness after each generation),
        ``invalid`` and ``fell`` (counts of trials), ``walk`` (a StrideWalk as a mapping).

    """
    plan = search_plan(frozen, ground, seed)
    optimizer = plan.make_optimizer()
    (engine,) = plan.scenes
    best, values = -math.inf, dict[str, float]()
    curve: list[float] = []
    statuses: list[str] = []
    while len(statuses) < trials and not optimizer.stop():
        evaluations = []
        for index, candidate in enumerate(optimizer.ask()):
            decoded = plan.space.decode(candidate.genome)
            result = run_trial(plan.spec(decoded, len(curve), index, 0, engine))
            statuses.append(result.status)
            fitness = result.fitness
            known = fitness is not None and result.status in (OK, FELL)
            if known and fitness is not None and fitness > best:
                best, values = fitness, decoded
            objectives = np.array([fitness]) if known else None
            evaluations.append(
                Evaluation(id=candidate.id, status=result.status, objectives=objectives)
            )
        optimizer.tell(evaluations)
        curve.append(best)
    parameters = {**plan.experiment.parameters, **values}
    walk = walk_stride(stride_trial(parameters, ground, _FINAL))
    return {
        'frozen': frozen,
        'ground': ground,
        'seed': seed,
        'trials': len(statuses),
        'best': values,
        'fitness': best,
        'curve': curve,
        'fell': statuses.count(FELL),
        'invalid': sum(status.startswith('invalid') for status in statuses),
        'walk': asdict(walk),
    }


def replay_champions(file: Path, duration: float = 20.0) -> list[dict[str, Any]]:
    """
    Walk every champion of the study ``cafarelli2017`` in physics, on its own ground, both ways.

    Parameters
    ----------
    file : Path
        ``champions.json`` of a run of the study.
    duration : float [s]
        Of each trial.

    Returns
    -------
    list of mapping
        ``ground``, ``legs``, ``joined``, ``foreseen`` (cost of transport by the analytic measure
        and speed [m/s]) and ``walk`` (a StrideWalk as a mapping).

    """
    found = []
    for name, champion in json.loads(file.read_text()).items():
        ground, legs = name.split('/')
        for joined in ('joints', 'feet'):
            walk, speed = replay_stride(champion['genes'], ground, joined, duration=duration)
            found.append(
                {
                    'ground': ground,
                    'legs': legs,
                    'joined': joined,
                    'foreseen': {
                        'cost_of_transport': champion['cost_of_transport'],
                        'speed': speed,
                    },
                    'walk': asdict(walk),
                }
            )
    return found


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
    walk = walk_stride(stride_trial(parameters, ground, duration))
    return walk, foreseen_speed(np.array(genes), period)
