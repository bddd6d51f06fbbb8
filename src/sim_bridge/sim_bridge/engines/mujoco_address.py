"""Arrays at the addresses that MuJoCo gives to native code."""

from __future__ import annotations

from typing import Any

from numba import carray, njit, types
from numba.core import cgutils
from numba.extending import intrinsic
import numpy as np

ANY = 1 << 32
"""Length of an array of which only entries are used that MuJoCo's own indices name."""


@intrinsic
def pointer(typing: Any, address: Any) -> Any:
    """Return an address as a pointer."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(address), generate


@njit(cache=True)
def numbers_at(address, count):  # type: ignore[no-untyped-def]
    """Return MuJoCo's array at an address."""
    return carray(pointer(address), count, np.float64)
