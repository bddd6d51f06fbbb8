"""Trials that differ in their gait alone, advanced side by side by an engine that can do so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
import time

import numpy as np

from gait_core.contracts import BatchEngine, Engine
from gait_core.errors import BadCommand, SimulationDiverged
from gait_core.observation import Observation
from gait_core.targets import AppliedTape
from gait_core.trial import TrialLoop, engine_for, run_trial, start_trial
from gait_core.trial_spec import Command, TrialResult, TrialSpec

MOST = 64
"""Trials of one rollout: their records stay in memory until it is over, megabytes each."""

_Prepared = tuple[TrialLoop, AppliedTape, list[Command]]


def run_together(
    specs: Sequence[TrialSpec], threads: int = 1, engine: Engine | None = None
) -> list[TrialResult]:
    """
    Return what ``run_trial`` does of each trial, in order, from as few rollouts as possible.

    Trials of equal scenes with open-loop controllers are advanced together where the engine has
    ``rollout_batch``; all others one after the other.

    Parameters
    ----------
    specs : sequence of TrialSpec
    threads : int
        That the engine may use.
    engine : Engine
        Default: that of the scene.

    """
    results: dict[int, TrialResult] = {}
    for places in _alike(specs):
        chosen = engine or engine_for(specs[places[0]].scene.engine)
        if len(places) > 1 and isinstance(chosen, BatchEngine):
            ready = {i: one for i in places if (one := _prepared(specs[i], chosen)) is not None}
            results.update(zip(ready, _rolled(chosen, list(ready.values()), threads), strict=True))
        for i in places:
            if i not in results:
                results[i] = run_trial(specs[i], chosen)
    return [results[i] for i in range(len(specs))]


def _alike(specs: Sequence[TrialSpec]) -> Iterable[list[int]]:
    """Return the places of the trials that differ in their gait and seed alone, group by group."""
    groups: list[tuple[TrialSpec, list[int]]] = []
    for place, spec in enumerate(specs):
        for first, places in groups:
            if len(places) == MOST:
                continue
            alike = replace(
                spec, controller=first.controller, parameters=first.parameters, seed=first.seed
            )
            # Where scenes are drawn, other seeds mean other scenes.
            if alike == first and (not spec.randomise or spec.seed == first.seed):
                places.append(place)
                break
        else:
            groups.append((spec, [place]))
    return [places for _, places in groups]


def _prepared(spec: TrialSpec, engine: Engine) -> _Prepared | None:
    """Return a trial at its start and the tape that it will play; ``None`` without one."""
    loop = TrialLoop(spec, engine)
    try:
        controller = start_trial(loop)
        commands = loop.coming()
        tape = controller.tape(loop.dt, commands)
    except (BadCommand, SimulationDiverged):
        return None  # What became of it is told where it is run alone.
    if tape is None or len(commands) < spec.ticks:
        return None
    return loop, loop.applied(tape), commands


def _rolled(engine: Engine, ready: Sequence[_Prepared], threads: int) -> list[TrialResult]:
    """Return the results of trials by one rollout."""
    # An engine's seed may decide on where a robot begins: such trials are run alone.
    if not all(_same_state(loop.true, ready[-1][0].true) for loop, _, _ in ready):
        return [run_trial(loop.given, engine) for loop, _, _ in ready]
    if not ready:
        return []
    began = time.perf_counter()
    TrialLoop(ready[0][0].spec, engine).begin()
    assert isinstance(engine, BatchEngine)
    rollouts = engine.rollout_batch([applied for _, applied, _ in ready], threads)
    for (loop, applied, commands), states in zip(ready, rollouts, strict=True):
        loop.take(applied, commands, states)
    results = [loop.result() for loop, _, _ in ready]
    share = (time.perf_counter() - began) / len(ready)
    return [replace(result, wall_time=share) for result in results]


def _same_state(one: Observation, other: Observation) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ('joint_positions', 'joint_velocities', 'body_poses', 'body_twists')
    )
