# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reference page of parameters, generated from the dataclasses that declare them."""

from __future__ import annotations

from collections.abc import Iterator
import importlib
from importlib.util import find_spec
from typing import Any

from gait_core import registry
from gait_core.parameters.declaration import declared_parameters
from gait_core.parameters.tables import parameter_table
from gait_core.testing.documents import named_table, summary_of

Entry = tuple[str, str, str]
"""Heading, class as ``module:name``, prefix of its parameters."""

NODES: tuple[Entry, ...] = (
    ('sim_bridge', 'sim_bridge.settings:BridgeParams', ''),
    ('controller, cpg, stage_walk', 'gait_ros.live.node_parameters:ControllerNodeParams', ''),
    ('Safety layer', 'gait_core.safety.parameters:SafetyParams', 'safety.'),
    ('evolver', 'gait_evolver.node:EvolverParams', ''),
    ('waypoints', 'gait_ros.live.waypoints_node:WaypointsNodeParams', ''),
    ('hardware', 'gait_ros.hardware.node:HardwareNodeParams', ''),
)
BEHAVIOURS: tuple[Entry, ...] = (
    ('turn', 'gait_stage_walk.behaviours.turn:TurnParams', 'behaviour.NAME.'),
    ('pulse', 'gait_stage_walk.behaviours.kinds:JointPulseParams', 'behaviour.NAME.'),
)
STRIDES: tuple[Entry, ...] = (
    ('The hexapod', 'gait_studies.cafarelli2017.strides.hexapod:HexapodParameters', ''),
    (
        'Score of a stride',
        'gait_studies.cafarelli2017.strides.rules:StrideRules',
        '',
    ),
    (
        'Measurement of a stride',
        'gait_studies.cafarelli2017.strides.measures:MeasureSettings',
        '',
    ),
)
_HEAD = """\
<!-- Written by tools/write_tables.py from the dataclasses; a test compares. -->

# Parameters

Parameters of nodes, controllers, engines, terrains and optimisers: type, default, range, unit, and
whether they can change while the node runs (live). A value out of range, an unknown name or a
wrong type is refused in one line that names the nearest valid one. A double may be given as a
whole number.

| Place | Example for `frequency` of a controller |
|---|---|
| command line | `gait walk a1 --set gait.frequency=1.5` |
| start of a node | `ros2 run gait_cpg cpg_node --ros-args -p gait.frequency:=1.5` |
| file, for `--params-file`, `gait:=FILE`, `--champion FILE` | \
`/**: {ros__parameters: {gait: {frequency: 1.5}}}` |
| running node | `ros2 param set /cpg gait.frequency 1.5`, or `~/load_gait` with a file |
| all parameters of a node | `ros2 param dump /cpg > cpg.yaml`; then `--params-file` or \
`ros2 param load` |
| experiment | `parameters: {frequency: 1.5}`, or one of the searched `genes` |

Topics and services of each node are in [nodes.md](nodes.md). Every node also has `use_sim_time`,
and `qos_overrides.<topic>.<publisher or subscription>.<policy>` for its topics.
"""
_GAITS = """\
In ROS and on the command line the parameters of a controller have the prefix `gait.`. A live
change converges without a jump, or takes effect at the end of a gait cycle. A preset is a named
set of values; the first is the default. [controllers.md](controllers.md) and
[stage_walk.md](stage_walk.md) describe the controllers.
"""
_BEHAVIOUR_TEXT = """\
The service `~/set_behaviour` starts a behaviour under a NAME. While it runs, these are ROS
parameters of the node.
"""


def page() -> str:
    """Return the page; ImportError if a declaring module cannot be imported."""
    parts = (
        ('Nodes', '', NODES, True),
        ('Controllers', _GAITS, gaits(), True),
        (
            'Behaviours of stage_walk',
            _BEHAVIOUR_TEXT,
            BEHAVIOURS,
            False,
        ),
        (
            'Engines',
            'Set in `scene.engine_options`. How to choose an engine: [engines.md](engines.md).\n',
            engines(),
            False,
        ),
        (
            'Terrains',
            'Set by `--terrain NAME:key=value,...`: [terrains.md](terrains.md).\n',
            terrains(),
            False,
        ),
        (
            'Optimisers',
            'Set in `optimizer: {name: ..., settings: ...}` of an experiment.\n',
            optimizers(),
            False,
        ),
        (
            'Strides of the hexapod',
            'Settings of the model of a stride, in Python alone: [hexapod.md](hexapod.md).\n',
            STRIDES if find_spec('gait_studies') else (),
            False,
        ),
    )
    shown = [part for part in parts if part[2]]
    lines = [_HEAD]
    for heading, _, entries, _ in shown:
        links = (f'[{name}](#{_anchor(name)})' for name, *_ in entries)
        lines.append(f'- [{heading}](#{_anchor(heading)}): {", ".join(links)}')
    for heading, text, entries, is_of_node in shown:
        lines += [f'\n## {heading}\n', *filter(None, [text]), *_sections(entries, is_of_node)]
    return '\n'.join(lines)


def _anchor(heading: str) -> str:
    return ''.join(c for c in heading.lower().replace(' ', '-') if c.isalnum() or c in '-_')


def gaits() -> tuple[Entry, ...]:
    """Return the entries of all controllers with parameters."""
    found = ((n, registry.controller(n).Params) for n in registry.names('controllers'))
    return tuple((name, _place(cls), 'gait.') for name, cls in found if declared_parameters(cls))


def engines() -> tuple[Entry, ...]:
    """Return the entries of all engines."""
    return tuple(
        (name, f'sim_bridge.engines.{name}.options:{name.capitalize()}Options', '')
        for name in registry.names('engines')
    )


def terrains() -> tuple[Entry, ...]:
    """Return the entries of all terrains with parameters."""
    found = ((name, registry.terrain(name)) for name in registry.names('terrains'))
    return tuple((name, _place(cls), '') for name, cls in found if declared_parameters(cls))


def optimizers() -> tuple[Entry, ...]:
    """Return the entries of all optimisers with settings."""
    found = ((n, registry.optimizer(n).Settings) for n in registry.names('optimizers'))
    return tuple((name, _place(cls), '') for name, cls in found if declared_parameters(cls))


def _place(cls: Any) -> str:
    return f'{cls.__module__}:{cls.__qualname__}'


def _sections(entries: tuple[Entry, ...], is_of_node: bool) -> Iterator[str]:
    for heading, place, prefix in entries:
        module, _, name = place.partition(':')
        yield f'### {heading}\n'
        yield f'{summary_of(module, name)} Declared by `{place}`.\n'
        cls = getattr(importlib.import_module(module), name)
        yield parameter_table(cls, prefix, is_of_node)
        if prefix == 'gait.':
            yield named_table(('Preset', 'Values'), presets(heading))


def presets(controller: str) -> dict[str, str]:
    """Return the presets of a controller, each with its values that differ from the defaults."""
    return {
        name: ', '.join(f'`{key}` {_shown(value)}' for key, value in values.items()) or 'defaults'
        for name, values in registry.controller(controller).presets.items()
    }


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'{value:g}' if isinstance(value, float) else str(value)
