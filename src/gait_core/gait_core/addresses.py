"""Native code by addresses: arrays that lie at them, and functions that compiled code calls."""

from __future__ import annotations

from typing import Any

from numba import carray, njit, types
from numba.core import cgutils
from numba.extending import intrinsic
import numpy as np

ANY = 1 << 32
"""Length of an array of which only entries are used that its owner's own indices name."""
_ir = cgutils.ir


@intrinsic
def pointer(typing: Any, address: Any) -> Any:
    """Return an address as a pointer."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        """Turn the number into a pointer, in the code of the caller."""
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(address), generate


@njit(cache=True)
def numbers_at(address, count):  # type: ignore[no-untyped-def]
    """Return the array of float64 at an address."""
    return carray(pointer(address), count, np.float64)


@intrinsic
def call_with_two(typing: Any, address: Any, one: Any, two: Any) -> Any:
    """Call the function at an address, of two pointers, that returns nothing."""
    return types.void(*[types.int64] * 3), _calling(2)


def _calling(count: int) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        """Call the address with the pointers, in the code of the caller."""
        kind = _ir.FunctionType(_ir.VoidType(), [cgutils.voidptr_t] * count)
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        pointers = [builder.inttoptr(one, cgutils.voidptr_t) for one in arguments[1:]]
        builder.call(function, pointers)
        return context.get_dummy_value()

    return generate
