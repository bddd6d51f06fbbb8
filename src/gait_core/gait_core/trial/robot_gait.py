# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Controller of a robot and its parameters, from defaults and from what a user names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from gait_core import registry
from gait_core.errors import ConfigurationError, unknown_name_error
from gait_core.parameters.declaration import make_parameters
from gait_core.robot.model import RobotModel
from gait_core.trial.scene import EMPTY_MAPPING

_NO_CONTROLLER = 'hold'
"""Controller of a robot whose defaults name none."""


@dataclass(frozen=True, kw_only=True)
class RobotGait:
    """
    Controller of a robot with all its parameters.

    Attributes
    ----------
    controller, preset : str
        Registered name, and its preset that applies.
    parameters : mapping
        Every parameter of the controller, so that a recorded trial does not change with a default.
    ignored : str
        One line that names the robot's own values if they are for another controller; '' if they
        apply, or if there are none.

    """

    controller: str
    preset: str
    parameters: Mapping[str, Any]
    ignored: str = ''


def resolve_gait(
    robot: RobotModel,
    controller: str = '',
    preset: str = '',
    parameters: Mapping[str, Any] = EMPTY_MAPPING,
) -> RobotGait:
    """
    Return the gait of a robot: the one order in which parameters replace each other.

    1. Defaults of the controller.
    2. Its default preset, unless another one is named.
    3. The robot's own gait, ``defaults.gait`` of its robot.yaml, if it is for the controller.
    4. The named preset.
    5. ``parameters``.

    Genes of a search replace those.

    Parameters
    ----------
    robot : RobotModel
    controller : str
        Empty: the robot's default.
    preset : str
        Preset that a user or an experiment names. Empty: none.
    parameters : mapping

    Raises
    ------
    ConfigurationError
        For an unknown controller, preset or parameter, or a value out of range.

    """
    chosen, applied = choose_controller(robot, controller, preset)
    cls = registry.controller(chosen)
    _, default_preset = choose_controller(robot, chosen)
    values = dict(cls.presets[applied]) if applied == default_preset else {}
    own: Mapping[str, Any] = robot.defaults.get('gait', {})
    own_controller = str(robot.defaults.get('controller', '')) or _NO_CONTROLLER
    ignored = ''
    if own and chosen == own_controller:
        values |= own
        try:
            make_parameters(cls.Params, values)
        except ConfigurationError as error:
            raise ConfigurationError(f"robot '{robot.name}': defaults.gait: {error}") from error
    elif own:
        ignored = (
            f"the own gait of robot '{robot.name}' ({', '.join(own)}) is for controller "
            f"'{own_controller}': '{chosen}' starts from its preset '{applied}'"
        )
    if preset:
        values |= cls.presets[preset]
    return RobotGait(
        controller=chosen,
        preset=applied,
        parameters=asdict(make_parameters(cls.Params, {**values, **parameters})),
        ignored=ignored,
    )


def choose_controller(
    robot: RobotModel,
    controller: str = '',
    preset: str = '',
) -> tuple[str, str]:
    """Return controller and preset, from the robot's defaults where empty."""
    default = str(robot.defaults.get('controller', ''))
    chosen = controller or default or _NO_CONTROLLER
    presets = registry.controller(chosen).presets
    own_preset = str(robot.defaults.get('preset', '')) if chosen == default else ''
    for name, owner in ((preset, ''), (own_preset, f"robot '{robot.name}': defaults.preset: ")):
        if name and name not in presets:
            raise ConfigurationError(
                f'{owner}{unknown_name_error(f"preset of {chosen}", name, presets)}'
            )
    return chosen, preset or own_preset or next(iter(presets))
