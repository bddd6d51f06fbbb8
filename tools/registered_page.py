"""The page on everything that has a name: robots, controllers, engines, terrains and so on."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

from gait_core import registry
from gait_core.robot.find import robot_names
from gait_core.robot.load import load_robot
from gait_core.testing.documents import named_table, summary_of
from gait_core.trial.gates import GATES
from gait_core.trial.setup import choose_controller
from gait_evolver.experiment import experiment_names, load_experiment

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = frozenset(path.parent.name for path in ROOT.glob('src/*/setup.py'))
TEXTS = {
    'controllers': '`gait walk ROBOT --controller NAME`, the parameter `controller` of a node. '
    'To add one: [add_a_controller.md](add_a_controller.md).',
    'engines': '`--engine NAME`, the parameter `engine` of a bridge, `scene.engine` of an '
    'experiment. How they compare: [engines.md](engines.md).',
    'terrains': '`--terrain NAME:key=value,...`; keys and their ranges stand in '
    '[parameters.md](parameters.md#terrains).',
    'optimizers': '`optimizer.name` of an experiment; settings stand in '
    '[parameters.md](parameters.md#optimisers).',
    'evaluators': '`gait evolve --evaluator NAME`: where trials run.',
    'fitness_terms': '`fitness` of an experiment: names and weights; what they measure: '
    '[measures.md](measures.md).',
    'studies': '`gait study NAME`.',
    'experiment_folders': 'Functions that return a folder of YAML files, which `gait evolve` '
    'finds by name.',
    'renderers': 'What draws the pictures of `--video`.',
    'viewers': 'What opens the window of `--viewer`.',
    'benchmarks': 'What `gait bench` measures.',
}
_HEADINGS = {
    'optimizers': 'Optimisers',
    'fitness_terms': 'Fitness terms',
    'experiment_folders': 'Experiments of other packages',
}
_HEAD = """\
<!-- Written by tools/write_tables.py from the entry points of the packages; a test compares. -->

# Everything that has a name

What is registered here; packages of your own add to it by an entry point in their `setup.py`, and
nothing else need be told. `gait list KIND` prints what there is on a machine, and a wrong name is
answered with the nearest right one.
"""


def page() -> str:
    """Return the page; ``NotInstalled`` where a robot's files come with a library that is not."""
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
    """Return what the suite's own packages register, with a line on each."""
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
    yield '## Robots\n'
    yield (
        'Folders of `urdf/robots`, by name or by path. To add one: '
        '[add_a_robot.md](add_a_robot.md), or [adopt.md](adopt.md) from any URDF.\n'
    )
    yield (
        '| Robot | Legs | Joints | Mass [kg] | Its own controller | Preset |\n' + '|---' * 6 + '|'
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
    yield '`gait evolve NAME`. How they are written: [experiments.md](experiments.md).\n'
    found = {name: load_experiment(name).description for name in experiment_names()}
    yield named_table(('Name', 'Searches'), found)


def _gates() -> Iterator[str]:
    yield '## Gates\n'
    yield (
        '`gates` of an experiment, with a limit for each or `null` for none; after the semicolon '
        'the limit by default, where l is the length scale of the robot.\n'
    )
    found = {name: f'{gate.text} [{gate.unit}]' for name, gate in GATES.items()}
    yield named_table(('Gate', 'Measures'), found)
