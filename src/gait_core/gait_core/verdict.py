# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Verdicts on measured numbers: of rows of studies, benchmarks and acceptance checks."""

from __future__ import annotations

from dataclasses import dataclass
import math

PASS, FAIL = 'pass', 'fail'


@dataclass(frozen=True, kw_only=True)
class Range:
    """
    Range in which a number has to lie, ends included.

    Examples
    --------
    >>> str(Range(low=2.0)), Range(low=2.0).verdict(1.9)
    ('at least 2', 'fail')

    """

    low: float = -math.inf
    high: float = math.inf

    def verdict(self, measured: float | None) -> str:
        """Return ``PASS`` or ``FAIL``; ``None`` and NaN fail."""
        return PASS if measured is not None and self.low <= measured <= self.high else FAIL

    def __str__(self) -> str:
        if self.low == -math.inf:
            return f'at most {self.high:g}'
        if self.high == math.inf:
            return f'at least {self.low:g}'
        return f'{self.low:g} to {self.high:g}'
