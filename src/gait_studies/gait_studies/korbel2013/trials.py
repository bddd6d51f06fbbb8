# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study korbel2013: the ten evolutions, and detailed records of trials."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.constants import inch

from gait_core.arrays import FloatArray
from gait_core.contracts import Evaluation
from gait_core.kinematics.forward_kinematics import link_poses
from gait_core.measures.contact_nodes import contact_node_index, contact_node_positions
from gait_core.trial.loop import TrialLoop, start_trial, step_controller
from gait_core.trial.parts import cached_engine
from gait_core.trial.rollout import Rollout
from gait_core.trial.spec import TrialSpec
from gait_evolver.run.log import TrialRow
from gait_evolver.scoring import status_and_fitness
from gait_studies.korbel2013.fitness import NODE_1
from gait_studies.korbel2013.steady_state import SteadyStateOptimizer
from gait_tools.study.session import FinishedEvolution, StudySession, read_finished_evolution

EXPERIMENT = 'korbel2013'

EVOLUTION_COUNT = 10
"""Number of evolutions, each from its own random population."""

SCORED_FROM = 3.0
"""Time from which a gait is measured [s]."""

_QUICK_GENERATIONS = 101
_FINE_PERIOD = 0.002


def evolution_names(session: StudySession) -> list[str]:
    """Return the names of the study's evolutions."""
    return [f'trial_{number + 1:02d}' for number in range(1 if session.quick else EVOLUTION_COUNT)]


def run_evolutions(session: StudySession) -> list[FinishedEvolution]:
    """Run or resume the evolutions in parallel and return them; a quick study has short ones."""
    short = {'generations': _QUICK_GENERATIONS} if session.quick else {}
    return session.evolve_in_parallel(
        {
            name: (EXPERIMENT, {'seed': session.derive_seed(number), **short})
            for number, name in enumerate(evolution_names(session))
        }
    )


def read_evolutions(session: StudySession) -> list[FinishedEvolution]:
    """Return the evolutions of this study that have been run."""
    return [
        read_finished_evolution(session.folder / 'runs' / name)
        for name in evolution_names(session)
    ]


def replay_search(evolution: FinishedEvolution) -> SteadyStateOptimizer:
    """Return the optimiser of an evolution in its final state."""
    optimizer = evolution.plan.make_optimizer()
    assert isinstance(optimizer, SteadyStateOptimizer)
    for rows in evolution.generations:
        optimizer.ask()
        optimizer.tell([_evaluation(row) for row in rows])
    return optimizer


def _evaluation(row: TrialRow) -> Evaluation:
    status, fitness = status_and_fitness([row])
    objectives = None if fitness is None else np.array([fitness])
    return Evaluation(id=row.id, status=status, objectives=objectives)


def best_row(rows: Iterable[TrialRow]) -> TrialRow:
    """Return the row of the highest fitness; of equals the first."""
    return max(rows, key=lambda row: (-np.inf if row.fitness is None else row.fitness, -row.id))


def trial_of_row(evolution: FinishedEvolution, row: TrialRow) -> TrialSpec:
    """Return the trial of a row."""
    return evolution.plan.spec(row.values, replace(row.trial_index, repeat=0))


def best_evolution(evolutions: Sequence[FinishedEvolution]) -> FinishedEvolution:
    """Return the evolution with the best champion."""
    return max(evolutions, key=lambda evolution: evolution.champion.fitness)


@dataclass(frozen=True, kw_only=True)
class DetailedTrial:
    """
    Rollout with the state of cables at every tick.

    Attributes
    ----------
    rollout : Rollout
    lengths, tensions : (T + 1, e) arrays [m, N]
        In the order of ``robot.force_elements``.
    signals : (T, signals) array [N]
        Tension that each signal of the robot adds to its cables.

    """

    rollout: Rollout
    lengths: FloatArray
    tensions: FloatArray
    signals: FloatArray

    def cable_column(self, name: str) -> int:
        """Return the column of a cable in ``lengths`` and ``tensions``."""
        return [element.name for element in self.rollout.robot.force_elements].index(name)

    def corner_positions(self, cable: str) -> FloatArray:
        """Return the corner of every body at which a kind of cable begins, (T + 1, b, 3) [m]."""
        rollout = self.rollout
        robot = rollout.robot
        point = np.array(robot.force_elements[self.cable_column(f'gap1_{cable}')].point_a)
        frames = link_poses(robot, rollout.joint_positions, rollout.body_poses)
        frames = frames[:, [robot.link_index[root] for root in robot.roots]]
        return np.asarray(frames[..., :3, :3] @ point + frames[..., :3, 3])

    def normal_forces(self) -> FloatArray:
        """Return the normal force on each body, (T + 1, b) [N]."""
        robot = self.rollout.robot
        nodes = self.rollout.sole_forces()[:, :, 2]
        total = np.zeros((len(nodes), len(robot.roots)))
        for column, node in enumerate(robot.contact_nodes):
            total[:, robot.roots.index(node.link)] += nodes[:, column]
        return total


def record_details(spec: TrialSpec, period: float = _FINE_PERIOD) -> DetailedTrial:
    """
    Run a trial and return its rollout with cables, recorded every ``period``.

    Parameters
    ----------
    spec : TrialSpec
    period : float [s]
        Control period that replaces that of the trial; an open-loop gait stays the same.

    """
    looked = replace(spec, scene=replace(spec.scene, control_period=period))
    loop = TrialLoop(looked, cached_engine(spec.scene.engine))
    controller = start_trial(loop)
    states = [loop.true_state]
    while loop.is_running:
        step_controller(loop, controller)
        states.append(loop.true_state)
    rollout = loop.rollout()
    robot = rollout.robot
    targets = {name: column for column, name in enumerate(robot.target_names)}
    return DetailedTrial(
        rollout=rollout,
        lengths=np.array([state.element_lengths for state in states]),
        tensions=np.array([state.element_forces for state in states]),
        signals=np.stack(
            [rollout.target_efforts[:, targets[cables[0]]] for _, cables in robot.signals], axis=1
        )
        if robot.signals
        else np.zeros((rollout.ticks, 0)),
    )


def node_travel(rollout: Rollout) -> FloatArray:
    """Return the displacement of node 1 along x at every tick, (T + 1,) [in]."""
    row = contact_node_index(rollout.robot, NODE_1)
    x = contact_node_positions(rollout)[:, row, 0]
    return np.asarray((x - x[0]) / inch)
