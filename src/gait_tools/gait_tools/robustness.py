# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Robustness card of a champion: trials under conditions other than those of its evolution."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gait_core import registry
from gait_core.errors import ConfigurationError
from gait_core.parameters.plain_data import to_plain_data
from gait_core.robot.load import load_robot
from gait_core.robot.mass import scale_mass
from gait_core.robot.model import RobotModel
from gait_core.trial.champion import Champion
from gait_core.trial.gates import default_gate_limits
from gait_core.trial.loop import run_trial
from gait_core.trial.scene import InitialState, Scene, TerrainSpec
from gait_core.trial.seeding import derived_seed
from gait_core.trial.setup import scene_with_engine, usable_engines
from gait_core.trial.spec import OK, TrialResult, TrialSpec

CARD_START = '| Changed | To | Succeeded | Distance [m] | Fitness |'
"""First line of the card as a Markdown table."""

_UNSEEN_STARTS = 10
_STARTS_PER_CHANGE = 4
"""Unseen starts of each other condition, besides the recorded one."""
_TERRAIN_SEEDS = 4
_MAX_JOINT_ERROR = np.radians(1.0)
"""Largest error of an unseen start in roll, pitch and joints [rad; length scales if prismatic]."""
_MAX_DROP = 0.01
"""Largest added clearance of an unseen start, in length scales."""


@dataclass(frozen=True, kw_only=True)
class Condition:
    """Condition of a row of the card, with its trials."""

    group: str
    label: str
    specs: tuple[TrialSpec, ...]
    mass: float = 1.0
    """Factor on every mass and inertia."""


@dataclass(frozen=True, kw_only=True)
class CardRow:
    """
    Outcome of a condition.

    ``succeeded`` counts trials that ended as ``ok``, without a fall or an exceeded gate. Mean and
    standard deviation are over all finished trials, including falls; ``None`` without any.
    """

    group: str
    label: str
    trials: int
    succeeded: int
    distance_mean: float | None
    distance_deviation: float | None
    fitness_mean: float | None
    fitness_deviation: float | None


ProgressReport = Callable[[str], None]


def robustness_card(
    champion: Champion, progress: ProgressReport = lambda text: None
) -> list[CardRow]:
    """
    Run the trials of a champion's robustness card in this process, and return its rows.

    Gates apply to every trial: those of the champion's run, else the defaults of its robot.
    """
    rows = []
    for condition in card_conditions(champion):
        progress(f'{condition.group}: {condition.label}')
        rows.append(
            _card_row(
                condition, [_run_with_mass(spec, condition.mass) for spec in condition.specs]
            )
        )
    return rows


def card_conditions(champion: Champion) -> list[Condition]:
    """Return the conditions of the card in their order."""
    spec = champion.spec
    robot = load_robot(spec.scene.robot, spec.scene.draw)
    if not spec.gates:
        spec = replace(spec, gates=default_gate_limits(robot, spec.scene))
    recorded = replace(champion, spec=spec).specs
    found = [Condition(group='record', label='as recorded', specs=recorded)]
    unseen = tuple(_unseen_start(spec, robot, number) for number in range(_UNSEEN_STARTS))
    starts = (spec, *unseen[:_STARTS_PER_CHANGE])
    found.append(
        Condition(
            group='unseen starts',
            label=f'{_UNSEEN_STARTS} seeds: tilt and joints off by up to 1 degree, dropped up to '
            '1/100 of the length scale',
            specs=unseen,
        )
    )
    for factor in (0.5, 0.75, 1.25, 1.5):
        friction = factor * spec.scene.friction
        specs = tuple(_with_scene(start, friction=friction) for start in starts)
        found.append(Condition(group='friction', label=f'{friction:.3g}', specs=specs))
    for factor in (0.8, 0.9, 1.1, 1.2):
        found.append(
            Condition(group='mass', label=f'{factor - 1.0:+.0%}', specs=starts, mass=factor)
        )
    found += list(_terrain_conditions(spec, starts, robot))
    for engine in usable_engines():
        if engine != spec.scene.engine:
            specs = tuple(
                replace(start, scene=scene_with_engine(start.scene, engine)) for start in starts
            )
            found.append(Condition(group='other engine', label=engine, specs=specs))
    return found


def card_markdown(rows: Sequence[CardRow]) -> str:
    """Return the card as a Markdown table."""
    lines = [CARD_START, '|---|---|---|---|---|']
    for row in rows:
        cells = (
            row.group,
            row.label,
            f'{row.succeeded} of {row.trials}',
            format_spread(row.distance_mean, row.distance_deviation, row.trials),
            format_spread(row.fitness_mean, row.fitness_deviation, row.trials),
        )
        lines.append('| ' + ' | '.join(cells) + ' |')
    return '\n'.join(lines) + '\n'


def format_spread(mean: float | None, deviation: float | None, trials: int) -> str:
    """Return a mean as text, with its standard deviation if there are several trials."""
    if mean is None:
        return '-'
    return f'{mean:.3f}' + (f' ± {deviation:.3f}' if trials > 1 else '')


def _with_scene(spec: TrialSpec, **changes: Any) -> TrialSpec:
    scene: Scene = replace(spec.scene, **changes)
    return replace(spec, scene=scene)


def _unseen_start(spec: TrialSpec, robot: RobotModel, number: int) -> TrialSpec:
    """Return a trial with random errors of the start and another seed."""
    seed = derived_seed(spec.seed, number + 1)
    rng = np.random.default_rng(seed)
    known = spec.scene.initial
    joints = dict(to_plain_data(known)['joint_positions'])
    for i, name in enumerate(robot.joint_names):
        scale = robot.length_scale if robot.joint[name].kind == 'prismatic' else 1.0
        start = joints.get(name, float(robot.stance[i])) + scale * float(
            rng.uniform(-_MAX_JOINT_ERROR, _MAX_JOINT_ERROR)
        )
        # A joint must start within its limits.
        joints[name] = float(np.clip(start, robot.lower[i], robot.upper[i]))
    initial: InitialState = replace(
        known,
        roll=known.roll + float(rng.uniform(-_MAX_JOINT_ERROR, _MAX_JOINT_ERROR)),
        pitch=known.pitch + float(rng.uniform(-_MAX_JOINT_ERROR, _MAX_JOINT_ERROR)),
        clearance=known.clearance + float(rng.uniform(0.0, _MAX_DROP)) * robot.length_scale,
        joint_positions=joints,
    )
    return replace(spec, seed=seed, scene=replace(spec.scene, initial=initial))


def _terrain_conditions(
    spec: TrialSpec, starts: Sequence[TrialSpec], robot: RobotModel
) -> Iterator[Condition]:
    """Yield rough terrains of some per cent of the robot's length scale, and slopes."""
    length = robot.length_scale
    for share in (0.01, 0.02, 0.04):
        parameters = {'range': share * length, 'extent': 40.0 * length, 'flat_radius': 0.0}
        specs = tuple(
            _with_scene(spec, terrain=TerrainSpec(name='rough', parameters=parameters, seed=seed))
            for seed in range(_TERRAIN_SEEDS)
        )
        yield Condition(
            group='terrain', label=f'rough by {share * length * 1e3:.3g} mm', specs=specs
        )
    for angle in (-2.0, 2.0):
        parameters = {
            'angle_deg': angle,
            'start': 0.5 * length,
            'extent': 40.0 * length,
            'cell': 0.1 * length,
        }
        yield Condition(
            group='terrain',
            label=f'slope of {angle:+.0f} degrees',
            specs=tuple(
                _with_scene(start, terrain=TerrainSpec(name='slope', parameters=parameters))
                for start in starts
            ),
        )


def _run_with_mass(spec: TrialSpec, mass: float) -> TrialResult:
    """Run a trial with every mass and inertia of the robot multiplied by a factor."""
    if mass == 1.0:
        return run_trial(spec)
    name = spec.scene.engine
    cls = registry.engine(name)
    try:
        engine = cls(lambda robot, draw: scale_mass(load_robot(robot, draw), mass))
    except TypeError as error:
        raise ConfigurationError(
            f"engine '{name}' cannot change masses: {error}; nearest valid: bullet, mujoco"
        ) from error
    try:
        return run_trial(spec, engine)
    finally:
        engine.close()


def _card_row(condition: Condition, results: Sequence[TrialResult]) -> CardRow:
    """Return the row of a condition; a mean over no value is None."""
    distances = [r.metrics['displacement_x_m'] for r in results if 'distance_m' in r.metrics]
    fitness = [r.fitness for r in results if r.fitness is not None]
    return CardRow(
        group=condition.group,
        label=condition.label,
        trials=len(results),
        succeeded=sum(result.status == OK for result in results),
        distance_mean=float(np.mean(distances)) if distances else None,
        distance_deviation=float(np.std(distances)) if distances else None,
        fitness_mean=float(np.mean(fitness)) if fitness else None,
        fitness_deviation=float(np.std(fitness)) if fitness else None,
    )
