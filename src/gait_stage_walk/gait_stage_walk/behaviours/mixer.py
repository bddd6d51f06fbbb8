# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Behaviours of a walk, started, stopped, changed and listed by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import re
from typing import Any

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError, unknown_name_error
from gait_core.parameters.declaration import Parameters
from gait_core.robot.model import RobotModel
from gait_core.trial.scene import EMPTY_MAPPING
from gait_stage_walk.behaviours.arbiter import Arbiter, parse_action
from gait_stage_walk.behaviours.behaviour import Behaviour, Period
from gait_stage_walk.behaviours.kinds import (
    BEHAVIOUR_KINDS,
    StartableBehaviour,
    make_behaviour,
    replace_params,
)
from gait_stage_walk.staged.walk import StagedWalk

_NAME_PATTERN = re.compile(r'[A-Za-z][A-Za-z0-9_]*')

WALK = 'walk'
"""Name of the walk as a behaviour."""


@dataclass(frozen=True, kw_only=True)
class RunningBehaviour:
    """Row of the list of behaviours; ``params`` is ``None`` for a resident of the walk."""

    name: str
    kind: str
    action: str
    params: Parameters | None


class Mixer:
    """
    A walk, the behaviours that belong to it (residents), and behaviours that are started by name.

    Parameters
    ----------
    robot : RobotModel
    walk : StagedWalk
        Registered first and never removed: after a stop it stands and can be started again.
    residents : mapping of str to Behaviour
        Registered next. Only parameters of the walk change or stop them.

    """

    def __init__(
        self, robot: RobotModel, walk: StagedWalk, residents: Mapping[str, Behaviour]
    ) -> None:
        self._robot = robot
        self._walk = walk
        start = [robot.nominal_stance.get(name, 0.0) for name in robot.joint_names]
        self._arbiter = Arbiter(robot.joint_names, np.array(start))
        self._started: dict[str, tuple[str, StartableBehaviour]] = {}
        for name, behaviour in {WALK: walk, **residents}.items():
            self._arbiter.register(name, behaviour)

    @property
    def position(self) -> FloatArray:
        """Angles of the robot's joints, (n,) [rad]."""
        return self._arbiter.position

    def step(self, period: Period) -> FloatArray:
        """Return the turns of all joints of the robot in a period, (n,) [rad]."""
        return self._arbiter.step(period)

    @property
    def running(self) -> tuple[RunningBehaviour, ...]:
        """Running behaviours, in order of registration."""
        rows = []
        for item in self._arbiter.registered:
            if item.behaviour.is_finished:
                continue
            kind, behaviour = self._started.get(item.name, (item.name, None))
            params = behaviour.params if behaviour else None
            if item.name == WALK:
                params = self._walk.params
            rows.append(
                RunningBehaviour(
                    name=item.name, kind=kind, action=item.action.value, params=params
                )
            )
        return tuple(rows)

    def find(self, name: str) -> RunningBehaviour:
        """Return a running behaviour; ConfigurationError, with the nearest name, if unknown."""
        for row in self.running:
            if row.name == name:
                return row
        raise unknown_name_error('behaviour', name, (row.name for row in self.running))

    def start(
        self,
        kind: str,
        values: Mapping[str, Any] = EMPTY_MAPPING,
        *,
        name: str = '',
        action: str = 'add',
    ) -> RunningBehaviour:
        """
        Start a behaviour, registered after those that run.

        Parameters
        ----------
        kind : str
            Name in ``BEHAVIOUR_KINDS``; or ``walk``, to walk on after a stop.
        values : mapping
            Parameters by name; others have their defaults.
        name : str
            Name of the behaviour; empty: the name of its kind.
        action : str
            ``add``, ``subtract`` or ``overwrite``: its effect on the joint velocities.

        Raises
        ------
        ConfigurationError
            If a name is unknown or in use, a value is out of range, or ``MAX_BEHAVIOURS`` run.
            Nothing has changed then.

        """
        if kind == WALK and self._walk.params.stop:
            self.set(WALK, {'stop': False, **values})
            return self.find(WALK)
        if kind not in BEHAVIOUR_KINDS:
            if kind in self._arbiter.names:
                raise ConfigurationError(f"behaviour '{kind}' is registered already")
            raise unknown_name_error('kind of behaviour', kind, (*BEHAVIOUR_KINDS, WALK))
        name, parsed_action = name or kind, parse_action(action)
        if not _NAME_PATTERN.fullmatch(name):
            raise ConfigurationError(
                f"'{name}' cannot name a behaviour: expected letters, digits and _, e.g. '{kind}'"
            )
        behaviour = make_behaviour(kind, self._robot, self._walk, values)
        self._arbiter.register(name, behaviour, parsed_action)
        self._started[name] = (kind, behaviour)
        return self.find(name)

    def stop(self, name: str) -> None:
        """Request the end of a behaviour; ConfigurationError if unknown or a resident."""
        self._find_settable(name).stop()

    def set(self, name: str, values: Mapping[str, Any]) -> None:
        """
        Change parameters of a behaviour while it runs.

        Raises
        ------
        ConfigurationError
            If it is unknown or a resident, or for a bad name or value of a parameter. Nothing has
            changed then.

        """
        self._find_settable(name).set_params(self.changed_params(name, values))

    def changed_params(self, name: str, values: Mapping[str, Any]) -> Any:
        """Return the parameters that ``set`` would set, without a change; raises as ``set``."""
        return replace_params(self._find_settable(name), values)

    def _find_settable(self, name: str) -> StartableBehaviour:
        registered = self._arbiter.find(name)
        if name == WALK:
            return self._walk
        started = self._started.get(name)
        if started is None or started[1] is not registered.behaviour:
            raise ConfigurationError(
                f"behaviour '{name}' belongs to the walk: set it by parameters of '{WALK}'"
            )
        return started[1]
