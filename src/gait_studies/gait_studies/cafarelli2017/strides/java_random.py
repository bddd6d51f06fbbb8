# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Random numbers of ``java.util.Random``, to repeat runs of a Java program."""

from __future__ import annotations

from numba import njit
import numpy as np
import numpy.typing as npt

from gait_core.arrays import FloatArray

_MULTIPLIER = 0x5DEECE66D
_ADDEND = 0xB
_MASK = (1 << 48) - 1


class JavaRandom:
    """
    The 48-bit linear congruential generator of the Java class library.

    References
    ----------
    Oracle, *Java Platform, Standard Edition 8 API Specification*, class ``java.util.Random``:
    the algorithm is part of its contract.

    Examples
    --------
    >>> [round(float(x), 12) for x in JavaRandom(5).random(3)]
    [0.730519863614, 0.088258409676, 0.488904549852]

    """

    def __init__(self, seed: int) -> None:
        self._state = np.array([(seed ^ _MULTIPLIER) & _MASK], dtype=np.uint64)

    def random(self, size: int) -> FloatArray:
        """Return the next doubles in [0, 1), (size,)."""
        out: FloatArray = np.empty(size)
        _fill(self._state, out)
        return out


@njit(cache=True)
def _fill(state: npt.NDArray[np.uint64], out: FloatArray) -> None:
    multiplier, addend = np.uint64(_MULTIPLIER), np.uint64(_ADDEND)
    mask, shift_high, shift_low = np.uint64(_MASK), np.uint64(22), np.uint64(21)
    now = state[0]
    for i in range(len(out)):
        now = (now * multiplier + addend) & mask
        high = now >> shift_high
        now = (now * multiplier + addend) & mask
        out[i] = (float(high) * 134217728.0 + float(now >> shift_low)) / 9007199254740992.0
    state[0] = now
