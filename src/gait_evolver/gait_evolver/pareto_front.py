# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Pareto front of all evaluated candidates: the best compromises between objectives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gait_core.arrays import FloatArray


@dataclass(frozen=True, kw_only=True)
class FrontMember:
    """
    Candidate of the front.

    Attributes
    ----------
    generation, individual, id : int
        As in the log.
    objectives : (m,) array
        To be maximised; the first is the fitness.
    values : mapping of str to float
        Parameters by name, each in its unit.

    """

    generation: int
    individual: int
    id: int
    objectives: FloatArray
    values: Mapping[str, float]


class ParetoFront:
    """Candidates that no other candidate equals or exceeds in every objective."""

    def __init__(self) -> None:
        self.members: tuple[FrontMember, ...] = ()

    def add(self, new: FrontMember) -> bool:
        """Add a candidate unless a member dominates or equals it; return whether it was added."""
        if self.members:
            objectives = np.array([member.objectives for member in self.members])
            if (objectives >= new.objectives).all(axis=1).any():
                return False
            # Members that the new candidate dominates leave the front.
            dominated: list[bool] = np.all(objectives <= new.objectives, axis=1).tolist()
            pairs = zip(self.members, dominated, strict=True)
            self.members = tuple(member for member, is_dominated in pairs if not is_dominated)
        self.members = (*self.members, new)
        return True
