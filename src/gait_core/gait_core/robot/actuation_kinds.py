# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Kinds of actuators and force elements, with their constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gait_core.errors import ConfigurationError, unknown_name_error
from gait_core.trial.scene import EMPTY_MAPPING


@dataclass(frozen=True, kw_only=True)
class KindConstants:
    """
    Constants of a kind, in SI units; negative values are invalid.

    Attributes
    ----------
    required : tuple of str
    optional : mapping of str to float
        Default of each optional constant.

    """

    required: tuple[str, ...] = ()
    optional: Mapping[str, float] = field(default_factory=lambda: EMPTY_MAPPING)


NO_LIMIT = 1e9
"""Value of an absent limit of velocity, effort or force."""
# Constants by which a law divides [m].
_LENGTHS = ('lead', 'diameter', 'crank', 'rod')
_SMALLEST_LENGTH = 1e-6
_UNDAMPED = {'damping': 0.0}

ACTUATOR_KINDS: Mapping[str, KindConstants] = {
    'position': KindConstants(optional={'gain': 20.0}),
    'velocity': KindConstants(),
    'pd': KindConstants(required=('stiffness', 'damping')),
    'effort': KindConstants(),
    'exponential': KindConstants(required=('strength', 'rise'), optional=_UNDAMPED),
    'lead_screw': KindConstants(
        required=('lead', 'diameter', 'friction'),
        optional={'gain': 20.0, 'rpm': NO_LIMIT, 'torque': NO_LIMIT},
    ),
    'slider_crank': KindConstants(required=('stiffness', 'crank', 'rod'), optional=_UNDAMPED),
}
"""Kinds of actuators of joints; their laws are in ``gait_core.robot.model.Actuator``."""
BALL_ACTUATOR_KINDS = ('effort', 'exponential', 'pd')
"""Kinds of actuators that the three joints of a ball joint may have."""

ELEMENT_KINDS: Mapping[str, KindConstants] = {
    'spring': KindConstants(required=('stiffness',), optional=_UNDAMPED),
    'cable': KindConstants(required=('stiffness',), optional=_UNDAMPED),
    'linear_servo': KindConstants(
        required=('stiffness',), optional={'damping': 0.0, 'effort': NO_LIMIT}
    ),
    'exponential': KindConstants(required=('strength', 'rise'), optional=_UNDAMPED),
}
"""Kinds of force elements; their laws are in ``gait_core.robot.model.ForceElement``."""


def check_kind(
    kinds: Mapping[str, KindConstants],
    part: str,
    owner: str,
    kind: str,
    values: Mapping[str, float],
) -> None:
    """
    Raise ConfigurationError for an unknown kind, or a constant missing, unknown or negative.

    Parameters
    ----------
    kinds : mapping of str to KindConstants
    part, owner : str
        Such as ``actuator`` and ``joint 'hip'``, for the message.
    kind : str
    values : mapping of str to float

    """
    if kind not in kinds:
        raise ConfigurationError(f'{owner}: {unknown_name_error(f"kind of {part}", kind, kinds)}')
    constants = kinds[kind]
    for name in constants.required:
        if name not in values:
            raise ConfigurationError(f"{owner}: its {kind} {part} has no constant '{name}'")
    for name, value in values.items():
        if name not in constants.required and name not in constants.optional:
            valid = (*constants.required, *constants.optional)
            raise ConfigurationError(
                f'{owner}, {part} {kind}: {unknown_name_error("constant", name, valid)}'
            )
        lowest = _SMALLEST_LENGTH if name in _LENGTHS else 0.0
        if not lowest <= value <= NO_LIMIT:
            nearest = NO_LIMIT if value > NO_LIMIT else lowest
            raise ConfigurationError(
                f"{owner}: constant '{name}' is {value:g}; nearest valid: {nearest:g}"
            )


def constant_or_default(
    kinds: Mapping[str, KindConstants], kind: str, values: Mapping[str, float], name: str
) -> float:
    """Return a constant of a kind, else its default, else zero."""
    return float(values.get(name, kinds[kind].optional.get(name, 0.0)))
