# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Champion as the parameter file of a node: defaults and checks of parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
import math
from pathlib import Path
from typing import Any

from gait_core.errors import ConfigurationError
from gait_core.files.archives import load_weights
from gait_core.robot.identity import compare_robots
from gait_core.robot.load import load_robot
from gait_core.trial.champion import (
    Champion,
    GaitFile,
    GaitOrigin,
    check_champion_robot,
    read_gait_file,
)
from gait_core.trial.loop import CONTROLLER_SEED, ENGINE_SEED
from gait_core.trial.randomisation import randomise_scene
from gait_core.trial.scene import EMPTY_MAPPING, Scene
from gait_core.trial.seeding import derived_seed
from gait_core.trial.spec import Command, TrialSpec
from gait_ros.nodes.parameter_files import FILE_OPTION, named_parameter_files

_CHAMPION_MARK = 'provenance.format'
_NO_PRESET_VALUES = ('', 'none')
_RATE_TOLERANCE = 1e-6


@dataclass(frozen=True, kw_only=True)
class NodeChampion:
    """
    Champion for a node.

    Attributes
    ----------
    file : Path
    champion : Champion
        Content of the file.
    spec : TrialSpec
        First trial of the champion, with random values drawn.

    """

    file: Path
    champion: Champion
    spec: TrialSpec

    @property
    def scene(self) -> Scene:
        """Scene of the trial, with random values drawn."""
        return self.spec.scene

    @property
    def origin(self) -> GaitOrigin:
        """Controller and robot of the champion."""
        scene = self.champion.spec.scene
        return GaitOrigin(
            controller=self.spec.controller,
            robot=scene.robot,
            identity=self.champion.robot,
            draw=scene.draw,
        )

    @property
    def control_rate(self) -> float:
        """Control rate of the trial [Hz]."""
        return 1.0 / self.scene.control_period

    @property
    def velocity(self) -> tuple[float, float, float] | None:
        """Commanded velocity of the trial; None if it changed, or set points were commanded."""
        commands = [item.command for item in self.spec.script] or [Command()]
        late = any(item.time > 0.0 for item in self.spec.script)
        if len(commands) > 1 or late or commands[0].set_points:
            return None
        return commands[0].velocity

    @property
    def is_network(self) -> bool:
        """True if the controller is a network, with weights in a file of their own."""
        return bool(self.spec.weights)

    def load_weights(self) -> tuple[Mapping[str, Any], ...]:
        """Return the weights, checked by their hash, as arguments of the controller."""
        if not self.is_network:
            return ()
        return (load_weights(self.spec.weights, self.spec.weights_sha256),)

    def controller_defaults(self) -> dict[str, Any]:
        """Return defaults of the parameters of a controller node that repeat the trial."""
        scene = self.scene
        return {
            'robot': scene.robot,
            'draw': scene.draw,
            'controller': self.spec.controller,
            'seed': derived_seed(self.spec.seed, CONTROLLER_SEED),
            'control_rate': self.control_rate,
            'weights': self.spec.weights,
            'weights_sha256': self.spec.weights_sha256,
        }

    def bridge_defaults(self) -> dict[str, Any]:
        """Return defaults of the parameters of a bridge that are not part of the scene."""
        return {
            'robot': self.scene.robot,
            'seed': derived_seed(self.spec.seed, ENGINE_SEED),
        }

    def check_parameters(self, values: Mapping[str, Any]) -> None:
        """Raise ConfigurationError if a parameter of the node contradicts the champion."""
        self.check_preset(values['preset'])
        if values['weights'] and not self.is_network:
            raise ConfigurationError(
                f"parameter 'weights' is '{values['weights']}', but {self.file} has no weights; "
                'leave weights out'
            )
        if values['weights_sha256'] != self.spec.weights_sha256:
            raise ConfigurationError(
                f"parameter 'weights_sha256' is '{values['weights_sha256']}', that of {self.file} "
                f"is '{self.spec.weights_sha256}'; leave weights_sha256 out"
            )
        self.check_rate(values['control_rate'])

    def check_preset(self, preset: str) -> None:
        """Raise ConfigurationError if a preset is named: the champion has every parameter."""
        if preset not in _NO_PRESET_VALUES:
            raise ConfigurationError(
                f"parameter 'preset' is '{preset}', but {self.file} has every parameter of the "
                'gait; leave preset out'
            )

    def check_command(self) -> None:
        """Raise ConfigurationError unless the trial had a single velocity as command."""
        if self.velocity is None:
            raise ConfigurationError(
                f'the trial of {self.file} has a script or set points, which a node cannot '
                'follow; give a velocity, e.g. command:=[0.1,0.0,0.0]'
            )

    def check_robot(self, robot: str) -> None:
        """Raise ConfigurationError if the champion is for another robot."""
        check_champion_robot(self.file, self.champion, robot)

    def check_body(self, robot: str, draw: int) -> None:
        """Raise ConfigurationError if a drawn robot has another body than the champion."""
        own_draw = self.scene.draw
        if load_robot(robot, draw) is not load_robot(robot, own_draw):
            raise ConfigurationError(
                f"{self.file} is a champion of robot '{robot}' with draw {own_draw}, this node "
                f'runs it with draw {draw}'
            )

    def check_rate(self, control_rate: float) -> None:
        """Raise ConfigurationError if the rate of a network differs from that of its trial."""
        if self.is_network and not math.isclose(
            control_rate, self.control_rate, rel_tol=_RATE_TOLERANCE
        ):
            raise ConfigurationError(
                f'control_rate is {control_rate:g} Hz, but the network of {self.file} counts its '
                f'memory in control periods of {self.scene.control_period:g} s; nearest valid: '
                f'{self.control_rate:.10g} Hz'
            )


def check_origin(origin: GaitOrigin, robot: str, controller: str) -> str:
    """
    Check that a gait is for the robot and the controller of a node.

    Returns
    -------
    str
        One line on properties that could not be compared; empty if all were.

    Raises
    ------
    ConfigurationError
        If the gait is for another robot or controller.

    """
    if origin.controller not in ('', controller):
        raise ConfigurationError(
            f"the gait file is for controller '{origin.controller}', this node runs '{controller}'"
        )
    if not origin.robot:
        return ''
    found = compare_robots(robot, origin.robot, origin.identity, origin.draw)
    if not found.is_same:
        raise ConfigurationError(
            f'the gait file is for robot {found.recorded}, this node runs {found.present}'
        )
    return found.warning


def read_node_champion(file: Path) -> NodeChampion:
    """Read a champion for a node; errors as in ``make_node_champion``."""
    return make_node_champion(read_gait_file(file))


def make_node_champion(gait_file: GaitFile) -> NodeChampion:
    """
    Return the champion of a gait file, for a node.

    Raises
    ------
    ConfigurationError
        If the file is not a champion, or its weights have no hash or are in another folder.

    """
    file, champion = gait_file.path, gait_file.champion()
    spec = champion.spec
    if spec.weights:
        if Path(spec.weights).parent.resolve() != file.parent.resolve():
            raise ConfigurationError(
                f"{file}: the weights '{spec.weights}' are not in its folder; `gait replay {file} "
                '--export NEW.yaml` writes both together'
            )
        if not spec.weights_sha256:
            raise ConfigurationError(f'{file}: weights_sha256 is missing')
    scene = randomise_scene(spec.scene, spec.randomise, spec.seed)
    return NodeChampion(
        file=file, champion=champion, spec=replace(spec, scene=scene, randomise=EMPTY_MAPPING)
    )


def find_node_champion(
    overrides: Mapping[str, Any], arguments: Sequence[str]
) -> NodeChampion | None:
    """
    Return the champion among the parameter files of a node; None if there is none.

    Parameters
    ----------
    overrides : mapping
        Values of parameter files and command line, by the full names of the parameters.
    arguments : sequence of str
        Command line with the paths of the parameter files. ROS passes their values but not their
        paths, which are needed to find the weights in the folder of the champion.

    Raises
    ------
    ConfigurationError
        If there are several champions, or the file is unreadable or not on the command line.

    """
    if _CHAMPION_MARK not in overrides:
        return None
    found: list[GaitFile] = []
    fault: ConfigurationError | None = None
    for file in dict.fromkeys(named_parameter_files(arguments)):
        try:
            read = read_gait_file(file)
            found += [read] if read.is_champion else []
        except ConfigurationError as error:
            # A plain parameter file or a damaged champion: an error if no file is a champion.
            fault = error
    if len(found) > 1:
        raise ConfigurationError(
            f'{found[0].path} and {found[1].path} are both champions; a node takes one of them'
        )
    if not found:
        raise fault or ConfigurationError(
            f"parameter '{_CHAMPION_MARK}' belongs to a champion, but no {FILE_OPTION} names its "
            'file'
        )
    return make_node_champion(found[0])
