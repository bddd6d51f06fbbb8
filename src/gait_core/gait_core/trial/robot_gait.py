# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Controller of a robot and its parameters, from defaults and from what a user names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gait_core import registry
from gait_core.errors import ConfigurationError, unknown_leg_error, unknown_name_error
from gait_core.parameters.declaration import (
    Parameters,
    leg_parameters,
    make_parameters,
    merge_parameters,
    parameter_values,
)
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
        Parameters of single legs, and those added in a later version, only if they are set.
    ignored : str
        One line that names the robot's own values if they are for another controller; '' if they
        apply, or if there are none.

    """

    controller: str
    preset: str
    parameters: Mapping[str, Any]
    ignored: str = ''

    @property
    def trial_parameters(self) -> dict[str, Any]:
        """The parameters for a trial, with the hash of every file that they name."""
        declared = registry.controller(self.controller).Params
        return parameter_values(make_parameters(declared, self.parameters).with_file_hashes())


def resolve_gait(
    robot: RobotModel,
    controller: str = '',
    preset: str = '',
    parameters: Mapping[str, Any] = EMPTY_MAPPING,
) -> RobotGait:
    """
    Return the gait of a robot, from layers of parameters.

    A value replaces those of the same parameter in earlier layers. The layers are, in order:

    1. Defaults of the controller.
    2. Its default preset, unless another one is named.
    3. The robot's own gait, ``defaults.gait`` of its robot.yaml, if it is for the controller.
    4. The named preset.
    5. ``parameters``.

    A value for all legs, such as ``duty_factor``, also replaces those of single legs in earlier
    layers. Genes of a search replace the parameters of the same name.

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
        For an unknown controller, preset, parameter or leg, or a value out of range.

    """
    chosen, applied = choose_controller(robot, controller, preset)
    cls = registry.controller(chosen)
    _, default_preset = choose_controller(robot, chosen)
    values = dict(cls.presets[applied]) if applied == default_preset else {}
    own: Mapping[str, Any] = robot.defaults.get('gait', {})
    own_controller = str(robot.defaults.get('controller', '')) or _NO_CONTROLLER
    ignored = ''
    if own and chosen == own_controller:
        values = merge_parameters(cls.Params, values, own)
        try:
            make_parameters(cls.Params, values)
            check_legs(cls.Params, values, robot)
        except ConfigurationError as error:
            raise ConfigurationError(f"robot '{robot.name}': defaults.gait: {error}") from error
    elif own:
        ignored = (
            f"the own gait of robot '{robot.name}' ({', '.join(own)}) is for controller "
            f"'{own_controller}': '{chosen}' starts from its preset '{applied}'"
        )
    if preset:
        values = merge_parameters(cls.Params, values, cls.presets[preset])
    values = merge_parameters(cls.Params, values, parameters)
    check_legs(cls.Params, values, robot)
    return RobotGait(
        controller=chosen,
        preset=applied,
        parameters=parameter_values(make_parameters(cls.Params, values)),
        ignored=ignored,
    )


def check_legs(declared: type[Parameters], names: Iterable[str], robot: RobotModel) -> None:
    """Raise ConfigurationError for a parameter ``<quantity>.<leg>`` of a leg that is absent."""
    legs, by_leg = [leg.name for leg in robot.legs], leg_parameters(declared)
    for name in names:
        quantity, dot, leg = name.partition('.')
        if dot and quantity in by_leg and leg not in legs:
            raise unknown_leg_error(name, legs)


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
