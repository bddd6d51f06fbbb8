"""The best compromises between several objectives, of all individuals seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gait_core.arrays import FloatArray


@dataclass(frozen=True, kw_only=True)
class FrontMember:
    """An individual of the front: where it stands in the log, objectives (m,) and parameters."""

    generation: int
    individual: int
    id: int
    objectives: FloatArray
    values: Mapping[str, float]


class ParetoFront:
    """Individuals that no other one equals or beats in every objective; larger is better."""

    def __init__(self) -> None:
        self.members: tuple[FrontMember, ...] = ()

    def add(self, new: FrontMember) -> bool:
        """Take an individual unless it is dominated; return whether it was taken."""
        if self.members:
            known = np.array([one.objectives for one in self.members])
            if (known >= new.objectives).all(axis=1).any():
                return False
            beaten: list[bool] = np.all(known <= new.objectives, axis=1).tolist()
            pairs = zip(self.members, beaten, strict=True)
            self.members = tuple(one for one, gone in pairs if not gone)
        self.members = (*self.members, new)
        return True
