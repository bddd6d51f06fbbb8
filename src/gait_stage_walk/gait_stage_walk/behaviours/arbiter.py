# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Arbiter of behaviours: order of registration, actions and integration of joint turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from gait_core.arrays import FloatArray, IntArray
from gait_core.errors import ConfigurationError, name_hint, unknown_name_error
from gait_stage_walk.behaviours.behaviour import Behaviour, Period, no_turn

MAX_BEHAVIOURS = 10
"""Largest number of registered behaviours (Pike 2003, ``MAX_SLAVES``)."""


class Action(Enum):
    """Effect of a behaviour on the joint velocities of the behaviours before it."""

    ADD = 'add'
    SUBTRACT = 'subtract'
    OVERWRITE = 'overwrite'


def parse_action(name: str) -> Action:
    """Return an action by name; ConfigurationError, with the nearest name, if it is unknown."""
    try:
        return Action(name)
    except ValueError:
        raise unknown_name_error('action', name, (action.value for action in Action)) from None


@dataclass(frozen=True, kw_only=True)
class RegisteredBehaviour:
    """
    Behaviour with its name and action.

    Attributes
    ----------
    name : str
    behaviour : Behaviour
    action : Action
    columns : (n,) int array
        Indices of the joints of the behaviour.
    still : (n,) array
        Array that the behaviour returns while nothing moves: the same one each time.

    """

    name: str
    behaviour: Behaviour
    action: Action
    columns: IntArray
    still: FloatArray


class Arbiter:
    """
    Steps behaviours in order of registration and integrates the resulting joint velocities.

    A velocity is the turn of a joint in one control period; each period sums them anew.

    Parameters
    ----------
    joints : sequence of str
        All joints that behaviours can move.
    position : (n,) array [rad]
        Initial positions.

    References
    ----------
    Pike (2003), chapter 5, ``MasterControl``.

    """

    def __init__(self, joints: Sequence[str], position: FloatArray) -> None:
        self.joints = tuple(joints)
        self.position: FloatArray = np.array(position, dtype=np.float64)
        self._index = {name: i for i, name in enumerate(self.joints)}
        self._registered: list[RegisteredBehaviour] = []

    @property
    def registered(self) -> tuple[RegisteredBehaviour, ...]:
        """Registered behaviours, in order of registration."""
        return tuple(self._registered)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the registered behaviours, in order of registration."""
        return tuple(item.name for item in self._registered)

    def register(self, name: str, behaviour: Behaviour, action: Action = Action.ADD) -> None:
        """
        Add a behaviour behind the others.

        Raises
        ------
        ConfigurationError
            If the name is empty or in use, the behaviour is registered already, one of its joints
            does not exist, or ``MAX_BEHAVIOURS`` are registered.

        """
        if not name:
            raise ConfigurationError('a behaviour needs a name that is not empty')
        self._drop_finished()
        for item in self._registered:
            if name == item.name or behaviour is item.behaviour:
                raise ConfigurationError(
                    f"behaviour '{item.name}' is registered already; give another name or stop "
                    'it first'
                )
        if len(self._registered) >= MAX_BEHAVIOURS:
            raise ConfigurationError(
                f"behaviour '{name}' is one too many: at most {MAX_BEHAVIOURS} run at a time; "
                f'stop one of: {", ".join(self.names)}'
            )
        for joint in behaviour.joints:
            if joint not in self._index:
                raise ConfigurationError(
                    f"behaviour '{name}' moves joint '{joint}', which does not exist: "
                    f'{name_hint(joint, self.joints)}'
                )
        columns = np.array([self._index[joint] for joint in behaviour.joints], dtype=np.intp)
        self._registered.append(
            RegisteredBehaviour(
                name=name,
                behaviour=behaviour,
                action=action,
                columns=columns,
                still=no_turn(len(columns)),
            )
        )

    def unregister(self, name: str) -> Behaviour:
        """Remove a behaviour and return it; its joints stay where it moved them."""
        item = self.find(name)
        self._registered.remove(item)
        return item.behaviour

    def find(self, name: str) -> RegisteredBehaviour:
        """Return a behaviour by name; ConfigurationError, with the nearest name, if unknown."""
        for item in self._registered:
            if item.name == name:
                return item
        raise unknown_name_error('behaviour', name, self.names)

    def step(self, period: Period) -> FloatArray:
        """Step all behaviours; add the turns, (n,) [rad], to ``position`` and return them."""
        turns = np.zeros(len(self.joints))
        self._drop_finished()
        for item in self._registered:
            angles = item.behaviour.step(period)
            # Pike (2003), Figure 5.6: ADD, SUB and OVERWRITE. A behaviour at rest returns
            # ``still`` itself; it is skipped, except with OVERWRITE, where zero stops the joints.
            columns, action = item.columns, item.action
            if angles is item.still and action is not Action.OVERWRITE:
                continue
            if action is Action.ADD:
                turns[columns] += angles
            elif action is Action.SUBTRACT:
                turns[columns] -= angles
            else:
                turns[columns] = angles
        self.position = self.position + turns
        return turns

    def _drop_finished(self) -> None:
        for item in self._registered:
            if item.behaviour.is_finished:
                break
        else:
            return
        self._registered = [item for item in self._registered if not item.behaviour.is_finished]
