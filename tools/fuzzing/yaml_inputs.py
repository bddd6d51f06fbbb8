# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Inputs of the YAML files that a user writes: robot, experiment, gait, champion, hardware."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

import yaml

from fuzzing.attacks import attacks_on, read_valid
from fuzzing.inputs import ACCEPTED, ANY, REFUSED, Input, Site, single
from fuzzing.judge import run_input
from fuzzing.schema_changes import ChangeMaker, Schema, changes, replaced
from gait_core import registry
from gait_core.parameters.declaration import parameter_values
from gait_core.robot.robot_file import RobotFile
from gait_core.testing.walkers import dog_urdf
from gait_core.trial.champion import Champion
from gait_core.trial.scene import Scene
from gait_evolver.experiment import Experiment
from gait_ros.hardware.motors import HardwareFile

_PLANTED = b'open("executed", "w")\n'
_HOLD = ('--controller', 'hold', '--seconds', '0.04', '--json')
_ROBOT_COMMANDS = (('check', './q'), ('walk', './q', *_HOLD), ('read-robot', './q'))
_DOG = {'q/dog.urdf': dog_urdf().encode()}
_WALKERS = {
    'insect_gait': 'roach',
    'keyframe_stride': 'hexapod',
    'matsuoka': 'tetraspine',
    'phase_cpg': 'a1',
    'staged_walk': 'guroo',
    'zmp_walk': 'guroo',
}
"""A robot for each controller whose parameters are changed."""
_SLOW_PATTERNS = ('(a+)+b', '(a|a)*b', '(.*)*x', '(a?){30}a{30}', f'{".*" * 200}x')
_FIXED = (
    *('sign', 'format', 'physics_step', 'control_period', 'sub_samples', 'solver_iterations'),
    *('bullet', 'mujoco'),  # below defaults.physics_steps
    'samples',
)
"""Keys whose number has to fit that of another key."""


@dataclass(frozen=True, kw_only=True)
class YamlKind:
    """
    Kind of YAML file.

    Attributes
    ----------
    name, file : str
        Name of the kind and path of its file.
    schema : Schema
    text : str
        A valid file.
    commands : sequence of words of ``gait``
        The last one is a reader.
    within : tuple of str
        Keys that lead to the content of the schema.
    files : mapping of str to bytes
        Further files.
    attacks : sequence of str
        Kinds of ``attacks.yaml``.

    """

    name: str
    file: str
    schema: Schema
    text: str
    commands: Sequence[Sequence[str]]
    within: tuple[str, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    attacks: Sequence[str] = ('yaml',)

    def sites(self) -> dict[str, Site]:
        """Return the changes of every key; ValueError if the valid file is refused."""
        outcome = run_input(self._input(self.text.encode(), change='none'))
        if outcome.signal or outcome.codes[-1]:
            raise ValueError(f'{self.name}: the valid file ends in {outcome}')
        content = yaml.safe_load(self.text)
        for key in self.within:
            content = content[key]
        found: dict[str, Site] = {
            key: [partial(self._change, make, outcome.outputs[-1]) for make in makes]
            for key, makes in changes(self.schema, content).items()
        }
        for attack in attacks_on(self.text, *self.attacks):
            found[attack.change] = single(self._input(**vars(attack)))
        return found

    def _change(self, make: ChangeMaker, unchanged: str, random: Random) -> Input:
        made = make(random)
        data = replaced(yaml.safe_load(self.text), self.within, made.data)
        return self._input(
            yaml.safe_dump(data, sort_keys=False).encode(),
            change=made.text,
            expected=made.expected,
            unchanged=unchanged if made.expected == ACCEPTED else '',
        )

    def _input(self, content: bytes | str, **others: Any) -> Input:
        files = {**self.files, self.file: content}
        return Input(kind=self.name, commands=self.commands, files=files, **others)


def yaml_kinds(champion: str) -> Iterator[tuple[str, YamlKind]]:
    """Yield the kinds of YAML files by name; ``champion`` is the file of one."""
    yield from _robot_kinds()
    yield from _experiment_kinds()
    yield from _champion_and_hardware_kinds(champion)
    yield from _gait_kinds()


def _robot_kinds() -> Iterator[tuple[str, YamlKind]]:
    """Yield the two kinds of robot files: with joints, and of free bodies."""
    robots: Mapping[str, Any] = {
        'robot.yaml': ('phase_cpg', ('yaml', 'robot.yaml'), _DOG),
        'bodies.yaml': ('hold', (), {}),
    }
    for name, (controller, attacks, files) in robots.items():
        yield (
            'robot',
            YamlKind(
                name='robot',
                file='q/robot.yaml',
                schema=Schema(
                    kind=RobotFile,
                    opaque={'scene': Scene, 'gait': registry.controller(controller).Params},
                    free_texts=('name',),
                    free_names=('signals', 'ball_joints'),
                    fixed=_FIXED,
                ),
                text=read_valid(name),
                commands=_ROBOT_COMMANDS,
                files={**files, 'evil/__init__.py': _PLANTED, 'evil/sub.py': _PLANTED},
                attacks=attacks,
            ),
        )


def _experiment_kinds() -> Iterator[tuple[str, YamlKind]]:
    """Yield the two kinds of experiments: with a fitness, and with objectives."""
    for name in ('experiment.yaml', 'objectives.yaml'):
        yield (
            'experiment',
            YamlKind(
                name='experiment',
                file='e.yaml',
                schema=Schema(
                    kind=Experiment,
                    opaque={
                        'scene': Scene,
                        'parameters': registry.controller('staged_walk').Params,
                        'settings': registry.optimizer('genetic').Settings,
                    },
                    free_texts=('name', 'description'),
                    free_names=('objectives', 'set_points'),
                    fixed=_FIXED,
                    unbounded=frozenset({'fitness', 'objectives', 'economy', 'gates'}),
                ),
                text=read_valid(name),
                commands=(
                    ('evolve', 'e.yaml', '--run-dir', 'run', '--workers', '1', '--json'),
                    ('read-experiment', 'e.yaml'),
                ),
                attacks=('yaml',) if name == 'experiment.yaml' else (),
            ),
        )


def _champion_and_hardware_kinds(champion: str) -> Iterator[tuple[str, YamlKind]]:
    """Yield the kinds of champions and of hardware files."""
    yield (
        'champion',
        YamlKind(
            name='champion',
            file='c.yaml',
            schema=Schema(
                kind=Champion,
                opaque={'scene': Scene},
                free_texts=('trial_hashes', 'status', 'fingerprint', 'name'),
                free_names=('metrics', 'terms', 'set_points'),
                free=frozenset({'run', 'platform'}),
                fixed=_FIXED,
                unbounded=frozenset({'fitness', 'metrics', 'terms', 'gates', 'fitness_terms'}),
            ),
            text=champion,
            within=('/**', 'ros__parameters', 'provenance'),
            commands=(('replay', 'c.yaml', '--json'), ('read-champion', 'c.yaml')),
        ),
    )
    yield (
        'hardware',
        YamlKind(
            name='hardware',
            file='hardware.yaml',
            schema=Schema(
                kind=HardwareFile,
                free_texts=('plugin', 'motor'),
                free=frozenset({'parameters'}),
                fixed=_FIXED,
            ),
            text=read_valid('hardware.yaml'),
            commands=(('read-hardware', 'hardware.yaml', 'a1'),),
        ),
    )


def _gait_kinds() -> Iterator[tuple[str, YamlKind]]:
    """Yield a kind of gait file for every controller that walks."""
    for controller, robot in _WALKERS.items():
        declared = registry.controller(controller).Params
        gait = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in parameter_values(declared()).items()
        }
        walk = ('walk', robot, '--controller', controller, '--seconds', '0.04', '--json')
        yield (
            f'gait of {controller}',
            YamlKind(
                name='gait',
                file='g.yaml',
                schema=Schema(kind=declared, fixed=_FIXED),
                text=yaml.safe_dump({'/**': {'ros__parameters': {'gait': gait}}}, sort_keys=False),
                within=('/**', 'ros__parameters', 'gait'),
                commands=((*walk, '--champion', 'g.yaml'), ('read-gait', 'g.yaml')),
                attacks=('yaml',) if controller == 'phase_cpg' else (),
            ),
        )


def folder_sites() -> dict[str, Site]:
    """Return robot folders with a model.py, or with slow patterns."""
    found: dict[str, Site] = {}
    for attack in attacks_on('', 'model.py'):
        found[attack.change] = single(
            Input(
                kind='robot folder',
                change=f'model.py: {attack.change}',
                commands=_ROBOT_COMMANDS,
                files={'q/model.py': attack.content},
                expected=REFUSED,
            )
        )
    for pattern in _SLOW_PATTERNS:
        data = {'urdf': 'dog.urdf', 'limits': {pattern: {'velocity': 5.0}}}
        urdf = dog_urdf().replace('FL_a', 'a' * 40).encode()
        found[pattern] = single(
            Input(
                kind='robot folder',
                change=f'pattern {pattern[:20]}',
                commands=_ROBOT_COMMANDS,
                files={'q/dog.urdf': urdf, 'q/robot.yaml': yaml.safe_dump(data).encode()},
                expected=REFUSED,
            )
        )
    return found


def named_code_sites(champion: str) -> dict[str, Site]:
    """Return champions and an experiment that name a robot folder with code."""
    experiment = read_valid('experiment.yaml').replace('robot: guroo', 'robot: ./evil')
    files = {
        'evil/model.py': _PLANTED,
        'c.yaml': champion.replace("robot: 'guroo'", "robot: './evil'").encode(),
        'e.yaml': experiment.encode(),
    }
    commands = (
        ('replay', 'c.yaml', '--json'),
        ('report', 'c.yaml', '--out', 'r.html'),
        ('walk', 'guroo', '--champion', 'c.yaml', '--seconds', '0.04', '--json'),
        ('evolve', 'e.yaml', '--run-dir', 'run', '--json'),
    )
    return {
        words[0]: single(
            Input(
                kind='robot folder',
                change=f'{words[0]}: a file names ./evil',
                commands=(words,),
                files=files,
                # The champion's robot has the content of guroo: walk needs no folder.
                expected=ANY if words[0] == 'walk' else REFUSED,
            )
        )
        for words in commands
    }
