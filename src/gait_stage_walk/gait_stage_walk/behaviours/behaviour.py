"""Base of motions that move one robot at the same time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Protocol

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.motion.observation import Observation
from gait_core.trial.spec import Command

_EMPTY_COMMAND = Command()
_EMPTY_OBSERVATION = Observation(tick=0, time=0.0)


@dataclass(frozen=True, slots=True)
class Period:
    """
    One control period and all that a behaviour may read of the world outside.

    Attributes
    ----------
    begin, end : int [ns]
        Since the reset.
    command : Command
        In force during it.
    observation : Observation
        At its begin. Only fields among the controller's ``needs`` are sure to be there.

    """

    begin: int
    end: int
    command: Command = _EMPTY_COMMAND
    observation: Observation = _EMPTY_OBSERVATION


@cache
def no_turn(joints: int) -> FloatArray:
    """Return the turn of so many joints that stand still: one array, known by its identity."""
    turn = np.zeros(joints)
    turn.flags.writeable = False
    return turn


class Behaviour(Protocol):
    """
    A motion that changes joint velocities beside those of others and owns no joint.

    An arbiter sums what its behaviours return and integrates the sum. A behaviour therefore needs
    to know neither the others nor where the joints stand. One that wants an offset of a joint
    returns by how much the offset has changed.
    """

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints that it moves, in the order of what ``step`` returns; they never change."""

    @property
    def is_finished(self) -> bool:
        """True if it is over: the arbiter then drops it instead of stepping it."""

    def step(self, period: Period) -> FloatArray:
        """
        Return the turn of each of its joints in a period, (n,) [rad].

        ``no_turn(n)`` spares the arbiter the sum while nothing moves.
        """
