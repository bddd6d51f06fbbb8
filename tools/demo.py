# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Evolution of GuRoo's walk over ROS, and a walk of the champion: `make demo`.

Two sim_bridge workers run the trials. ./runs/<run> then holds the run, a film of the champion's
walk, its ZMP with the support polygons, and its gait diagram.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
import sys
import time

EXPERIMENT = 'guroo_quick'


def main(arguments: list[str] | None = None) -> int:
    """Run the demo and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--generations', type=int, default=5)
    parser.add_argument('--workers', type=int, default=2)
    parser.add_argument(
        '--seconds', type=float, default=20.0, help='duration of the walk at the end [s]'
    )
    options = parser.parse_args(arguments)
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    began = time.monotonic()
    from gait_core.errors import ConfigurationError
    from gait_core.testing.domain import DOMAIN_VARIABLE, claim_domain

    try:
        # An unused ROS domain keeps other graphs on this machine undisturbed.
        os.environ[DOMAIN_VARIABLE] = str(claim_domain())
        folder = evolve(options.generations, options.workers)
        status = walk(folder, options.seconds)
    except ConfigurationError as error:
        print(f'demo: {error}', file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print('demo: interrupted', file=sys.stderr)
        return 130
    print(f'\ntook {time.monotonic() - began:.0f} s')
    return 0 if status in ('ok', 'fell') else 1


def evolve(generations: int, workers: int) -> Path:
    """Evolve the experiment on new workers and return the run directory."""
    from gait_evolver.evaluators.ros import RosEvaluator
    from gait_evolver.loop import Evolution, new_run_folder
    from gait_evolver.plan import load_plan
    from gait_evolver.run.store import RunStore
    from gait_tools.progress import make_progress_display

    plan = load_plan(EXPERIMENT, {'generations': generations})
    print(f'Evolving {plan.experiment.robot}: {plan.experiment.description}')
    print(f'{len(plan.space)} genes, {generations} generations, {workers} sim_bridge workers\n')
    evaluator = RosEvaluator(workers=workers)
    try:
        store = RunStore.create(new_run_folder(plan.experiment.name, plan.experiment.seed), plan)
        display = make_progress_display()
        try:
            progress = Evolution(store, evaluator, listener=display).run()
        finally:
            display.close()
            store.close()
    finally:
        evaluator.close()
    first, best = progress.first_generation_best, progress.best
    print(
        f'\nfitness: {first or float("nan"):.3f} in the first generation, '
        f'{best.fitness if best else float("nan"):.3f} at the end; '
        f'{progress.evaluations} trials, {progress.rate:.1f} per second'
    )
    return store.folder


def walk(folder: Path, seconds: float) -> str:
    """Walk the champion of a run, print measures, draw pictures, and return the status."""
    from gait_core.errors import ConfigurationError
    from gait_core.trial.champion import read_champion
    from gait_core.trial.loop import run_loop
    from gait_core.trial.setup import make_scene
    from gait_core.trial.spec import TrialSpec
    from gait_tools.display import write_video
    from gait_tools.pictures.trial import draw_gait_diagram, draw_zmp

    champion = read_champion(folder / 'champion.yaml').spec
    spec = TrialSpec(
        # The robot's default scene, with a finer physics step than that of the search.
        scene=make_scene(champion.scene.robot, {}),
        controller=champion.controller,
        parameters=champion.parameters,
        script=champion.script,
        duration=seconds,
        settle_time=champion.settle_time,
    )
    loop = run_loop(spec)
    result, rollout = loop.result(), loop.rollout()
    print(f'\nThe champion walks for {seconds:g} s: {result.status} {result.reason}'.rstrip())
    for label, name, unit in (
        ('distance', 'distance_m', 'm'),
        ('mean speed', 'mean_speed_mps', 'm/s'),
        ('mean ZMP margin', 'zmp_margin_mean_m', 'm'),
        ('least ZMP margin', 'zmp_margin_min_m', 'm'),
        ('cost of transport', 'cost_of_transport', ''),
    ):
        value = result.metrics.get(name)
        shown = 'undefined' if value is None else f'{value + 0.0:.3f} {unit}'.rstrip()
        print(f'  {label + ":":19}{shown}')
    pictures = {
        'film': (folder / 'walk.gif', write_video),
        'ZMP plot': (folder / 'zmp.png', draw_zmp),
        'gait diagram': (folder / 'gait.png', draw_gait_diagram),
    }
    print()
    for label, (path, draw) in pictures.items():
        try:
            draw(path, rollout)
        except ConfigurationError as error:
            # Films need PyBullet, which has no wheel for some versions of Python.
            print(f'{label + ":":15}none: {error}')
        else:
            print(f'{label + ":":15}{path.resolve()}')
    print(f'{"run directory:":15}{folder.resolve()}')
    print(
        f'\nTo see it again: ./gait walk guroo --champion {folder / "champion.yaml"} '
        f'--seconds {seconds:g} --video again.gif'
    )
    return result.status


if __name__ == '__main__':
    sys.exit(main())
