# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Kinds of behaviours that can be started by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
import math
from typing import Any, ClassVar, Protocol

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError, unknown_name_error
from gait_core.parameters.declaration import (
    Parameters,
    float_parameter,
    make_parameters,
    str_parameter,
)
from gait_core.robot.model import RobotModel
from gait_stage_walk.behaviours.behaviour import Behaviour, Period
from gait_stage_walk.behaviours.turn import Turn
from gait_stage_walk.staged.pulse import Pulse, to_nanoseconds
from gait_stage_walk.staged.walk import StagedWalk


class StartableBehaviour(Behaviour, Protocol):
    """
    Behaviour of a kind in ``BEHAVIOUR_KINDS``, made as ``cls(robot, walk, params)``.

    Class attributes
    ----------------
    Params : type of Parameters
    fixed : tuple of str
        Parameters that cannot be changed after the start.
    """

    Params: ClassVar[type[Parameters]]
    fixed: ClassVar[tuple[str, ...]]

    @property
    def params(self) -> Any:
        """Present parameters."""

    def set_params(self, params: Any) -> None:
        """Replace the parameters while it runs; fixed ones are unchanged."""

    def stop(self) -> None:
        """Finish as soon as possible."""


@dataclass(frozen=True, kw_only=True)
class JointPulseParams(Parameters):
    """Parameters of a motion of one joint."""

    joint: str = str_parameter('', doc='Joint that moves; fixed at the start.')
    angle_deg: float = float_parameter(
        10.0, low=-180.0, high=180.0, unit='deg', doc='Angle by which the joint moves.'
    )
    period: float = float_parameter(
        3.0, low=0.1, high=60.0, unit='s', doc='Duration of the motion; fixed at the start.'
    )


class JointPulse:
    """
    Behaviour that moves one joint by an angle in a given time, as a test; the joint stays there.

    References
    ----------
    Pike (2003), section 5.2, ``RobotBasics``.

    """

    Params: ClassVar[type[Parameters]] = JointPulseParams
    fixed: ClassVar[tuple[str, ...]] = ('joint', 'period')

    def __init__(self, robot: RobotModel, walk: StagedWalk, params: JointPulseParams) -> None:
        if params.joint not in robot.joint_index:
            raise unknown_name_error('joint', params.joint, robot.joint_names)
        self.joints = (params.joint,)
        self.is_finished = False
        self.params = params
        self._pulse: Pulse | None = None

    def set_params(self, params: JointPulseParams) -> None:
        """Replace the parameters; a new angle scales the rest of the motion."""
        self.params = params

    def stop(self) -> None:
        """End at once."""
        self.is_finished = True

    def step(self, period: Period) -> FloatArray:
        """Return the turn of the joint in a period, (1,) [rad]."""
        if self._pulse is None:
            end = period.begin + to_nanoseconds(self.params.period)
            self._pulse = Pulse(stage=0, start=period.begin, end=end, angles=np.ones(1))
        self.is_finished = period.end >= self._pulse.end
        share = self._pulse.share_between(period.begin, period.end)
        return np.array([share * math.radians(self.params.angle_deg)])


BEHAVIOUR_KINDS: Mapping[str, type[StartableBehaviour]] = {'pulse': JointPulse, 'turn': Turn}
"""Classes of behaviours by the name of their kind."""


def make_behaviour(
    kind: str, robot: RobotModel, walk: StagedWalk, values: Mapping[str, Any]
) -> StartableBehaviour:
    """
    Make a behaviour of a kind.

    Raises
    ------
    ConfigurationError
        For an unknown kind, parameter or joint, with the nearest valid one, or a value out of
        range.

    """
    if kind not in BEHAVIOUR_KINDS:
        raise unknown_name_error('kind of behaviour', kind, BEHAVIOUR_KINDS)
    cls: Any = BEHAVIOUR_KINDS[kind]
    return cls(robot, walk, make_parameters(cls.Params, values))  # type: ignore[no-any-return]


def replace_params(behaviour: StartableBehaviour, values: Mapping[str, Any]) -> Any:
    """Return the parameters of a behaviour with new values; ConfigurationError for bad values."""
    changed = make_parameters(behaviour.Params, {**asdict(behaviour.params), **values})
    for name in behaviour.fixed:
        old, new = getattr(behaviour.params, name), getattr(changed, name)
        if new != old:
            raise ConfigurationError(
                f"parameter '{name}' is {new!r}, but it is fixed at the start; "
                f'nearest valid: {old!r}'
            )
    return changed
