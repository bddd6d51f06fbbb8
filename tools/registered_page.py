# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reference page of registered names: robots, controllers, engines, terrains and others."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

from gait_core import registry
from gait_core.robot.find import robot_names
from gait_core.robot.load import load_robot
from gait_core.testing.documents import named_table, summary_of
from gait_core.trial.gates import GATES
from gait_core.trial.robot_gait import choose_controller
from gait_evolver.experiment import experiment_names, load_experiment

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = frozenset(path.parent.name for path in ROOT.glob('src/*/setup.py'))
TEXTS = {
    'controllers': 'Selected by `gait walk ROBOT --controller NAME`, `controller` of a node or an '
    'experiment. Which robots they suit: [controllers.md](controllers.md).',
    'engines': 'Selected by `--engine NAME`, `engine` of a bridge, `scene.engine` of an '
    'experiment. How to choose: [engines.md](engines.md).',
    'terrains': 'Selected by `--terrain NAME:key=value,...`. How to choose: '
    '[terrains.md](terrains.md). Keys: [parameters.md](parameters.md#terrains).',
    'optimizers': 'Selected by `optimizer.name` of an experiment. Settings: '
    '[parameters.md](parameters.md#optimisers).',
    'evaluators': 'Selected by `gait evolve --evaluator NAME`.',
    'fitness_terms': 'Names and weights are in `fitness` of an experiment. Definitions: '
    '[measures.md](measures.md).',
    'studies': 'Selected by `gait study NAME`.',
    'experiment_folders': 'Functions that return a folder of experiments.',
    'renderers': 'Draw the pictures of `--video`.',
    'viewers': 'Open the window of `--viewer`.',
    'benchmarks': 'Run by `gait bench`.',
}
_HEADINGS = {
    'optimizers': 'Optimisers',
    'fitness_terms': 'Fitness terms',
    'experiment_folders': 'Experiments of other packages',
}
_HEAD = """\
<!-- Written by tools/write_tables.py from the entry points of the packages; a test compares. -->

# Registered names

Robots, experiments, controllers, engines and everything else that is selected by name. A package
of your own adds names by entry points in its `setup.py`: [design.md](design.md#2-packages).
`gait list KIND` prints the names on a machine. An unknown name is refused with the nearest valid
one.
"""


def page() -> str:
    """Return the page; ``NotInstalled`` if the library with a robot's files is missing."""
    lines = [_HEAD, *_robots(), *_experiments()]
    for kind, text in TEXTS.items():
        lines.append(f'## {_HEADINGS.get(kind, kind.capitalize())}\n\n{text}\n')
        lines.append(
            _controllers()
            if kind == 'controllers'
            else named_table(('Name', 'Meaning'), registered(kind))
        )
    return '\n'.join([*lines, *_gates()])


def registered(kind: str) -> dict[str, str]:
    """Return the names that the suite's packages register, with a line on each."""
    return {
        entry.name: summary_of(entry.module, entry.attr)
        for entry in sorted(entry_points(group=registry.GROUPS[kind]), key=lambda e: e.name)
        if entry.module.partition('.')[0] in PACKAGES
    }


def _controllers() -> str:
    lines = ['| Name | Meaning | Presets, the default first |\n|---|---|---|']
    for name, text in registered('controllers').items():
        presets = ', '.join(f'`{preset}`' for preset in registry.controller(name).presets)
        lines.append(f'| `{name}` | {text.replace("``", "`")} | {presets} |')
    return '\n'.join(lines) + '\n'


def _robots() -> Iterator[str]:
    """Yield the lines on the robots: a table with a row for each."""
    yield '## Robots\n'
    yield (
        'Folders of `urdf/robots`, selected by name or path. To add one: from any URDF by '
        '[adopt.md](adopt.md), or by hand, [add_a_robot.md](add_a_robot.md).\n'
    )
    yield (
        '| Robot | Legs | Joints | Mass [kg] | Default controller | Default preset |\n'
        + '|---' * 6
        + '|'
    )
    for name in robot_names():
        robot = load_robot(name)
        controller, preset = choose_controller(robot, '', '')
        cells = (len(robot.legs), len(robot.joint_names), f'{robot.mass:.4g}')
        chosen = f'`{controller}` | {f"`{preset}`" if preset else ""}'
        yield f'| `{name}` | {" | ".join(map(str, cells))} | {chosen} |'
    yield ''


def _experiments() -> Iterator[str]:
    yield '## Experiments\n'
    yield 'Selected by `gait evolve NAME`. How to write one: [experiments.md](experiments.md).\n'
    found = {name: load_experiment(name).description for name in experiment_names()}
    yield named_table(('Name', 'Search'), found)


def _gates() -> Iterator[str]:
    yield '## Gates\n'
    yield (
        '`gates` of an experiment replaces a limit; `null` turns a gate off. Default limits use '
        'the length scale l and mass m of the robot. What gates are for: '
        '[measures.md](measures.md#validity-gates).\n'
    )
    found = {name: f'{gate.text} [{gate.unit}]' for name, gate in GATES.items()}
    yield named_table(('Gate', 'Measured quantity and default limit'), found)
