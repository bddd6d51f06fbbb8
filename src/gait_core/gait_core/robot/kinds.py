"""Kinds of actuators and force elements, and the constants that each takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gait_core.errors import ConfigurationError, unknown
from gait_core.trial.scene import NOTHING


@dataclass(frozen=True, kw_only=True)
class Constants:
    """
    The constants of a kind, in SI units; none may be negative.

    Attributes
    ----------
    required : tuple of str
    optional : mapping of str to float
        With the value of each where none is given.

    """

    required: tuple[str, ...] = ()
    optional: Mapping[str, float] = field(default_factory=lambda: NOTHING)


NO_LIMIT = 1e9
"""Stands for no limit of velocity, effort or force."""
_UNDAMPED = {'damping': 0.0}

ACTUATORS: Mapping[str, Constants] = {
    'position': Constants(optional={'gain': 20.0}),
    'velocity': Constants(),
    'pd': Constants(required=('stiffness', 'damping')),
    'effort': Constants(),
    'exponential': Constants(required=('strength', 'rise'), optional=_UNDAMPED),
    'lead_screw': Constants(
        required=('lead', 'diameter', 'friction'),
        optional={'gain': 20.0, 'rpm': NO_LIMIT, 'torque': NO_LIMIT},
    ),
    'slider_crank': Constants(required=('stiffness', 'crank', 'rod'), optional=_UNDAMPED),
}
"""Of joints; what each does says ``gait_core.robot.model.Actuator``."""
BALL_ACTUATORS = ('effort', 'exponential', 'pd')
"""Those that the three joints of a ball joint may have."""

ELEMENTS: Mapping[str, Constants] = {
    'spring': Constants(required=('stiffness',), optional=_UNDAMPED),
    'cable': Constants(required=('stiffness',), optional=_UNDAMPED),
    'linear_servo': Constants(
        required=('stiffness',), optional={'damping': 0.0, 'effort': NO_LIMIT}
    ),
    'exponential': Constants(required=('strength', 'rise'), optional=_UNDAMPED),
}
"""Of force elements; what each does says ``gait_core.robot.model.ForceElement``."""


def check_kind(
    kinds: Mapping[str, Constants], what: str, owner: str, kind: str, given: Mapping[str, float]
) -> None:
    """
    Raise ConfigurationError unless a kind is known and has its constants, and no others.

    Parameters
    ----------
    kinds : mapping of str to Constants
    what, owner : str
        ``actuator`` of ``joint 'hip'``, for the message.
    kind : str
    given : mapping of str to float

    """
    if kind not in kinds:
        raise unknown(f'{what} of {owner}', kind, kinds)
    constants = kinds[kind]
    for name in constants.required:
        if name not in given:
            raise ConfigurationError(f"{owner}: its {kind} {what} has no constant '{name}'")
    for name, value in given.items():
        if name not in constants.required and name not in constants.optional:
            valid = (*constants.required, *constants.optional)
            raise ConfigurationError(f'{owner}: {unknown(f"constant of {kind}", name, valid)}')
        if not value >= 0.0:
            raise ConfigurationError(f"{owner}: constant '{name}' is {value:g}; nearest valid: 0")


def constant(
    kinds: Mapping[str, Constants], kind: str, given: Mapping[str, float], name: str
) -> float:
    """Return a constant of a checked kind; its default, or zero where the kind has none."""
    return float(given.get(name, kinds[kind].optional.get(name, 0.0)))
