# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Protocol of behaviours: motions that move one robot at the same time."""

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
    Control period with the inputs of a behaviour.

    Attributes
    ----------
    begin, end : int [ns]
        Times since the reset.
    command : Command
        Command during the period.
    observation : Observation
        Observation at the start; it holds at least the fields of the controller's ``needs``.

    """

    begin: int
    end: int
    command: Command = _EMPTY_COMMAND
    observation: Observation = _EMPTY_OBSERVATION


@cache
def no_turn(joints: int) -> FloatArray:
    """Return the turns of joints at rest, (joints,): always the same array, compared by ``is``."""
    turn = np.zeros(joints)
    turn.flags.writeable = False
    return turn


class Behaviour(Protocol):
    """
    Motion that adds to the joint velocities of other behaviours.

    An arbiter sums and integrates the turns of all behaviours. A behaviour thus knows neither the
    others nor the joint positions; for an offset of a joint it returns the change of the offset.
    """

    @property
    def joints(self) -> tuple[str, ...]:
        """Joints that it moves, in the order of ``step``; they never change."""

    @property
    def is_finished(self) -> bool:
        """True if it is over: the arbiter then removes it."""

    def step(self, period: Period) -> FloatArray:
        """
        Return the turns of ``joints`` in a period, (n,) [rad].

        While nothing moves return ``no_turn(n)`` itself: the arbiter then skips the sum.
        """
