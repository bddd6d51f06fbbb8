# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Array types and the freezing of arrays that cross a contract."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
ComplexArray = npt.NDArray[np.complex128]


def all_finite(array: FloatArray) -> bool:
    """Return whether every element is finite; fast on small arrays, as it runs every tick."""
    # A finite sum of squares proves it in one pass. An infinite one may be an overflow of finite
    # elements: then each is tested.
    flat = array.ravel()
    return math.isfinite(flat.dot(flat)) or bool(np.isfinite(flat).all())


def read_only_array(
    values: Any, shape: tuple[int | None, ...] | None = None, *, name: str
) -> FloatArray:
    """
    Return the values as a read-only float64 array of the wanted shape.

    Parameters
    ----------
    values : array-like
        Copied unless it is a read-only float64 array already.
    shape : tuple of int or None
        Expected shape; ``None`` for an axis of any length, or for any shape.
    name : str
        Name of the array in the error message.

    Raises
    ------
    ValueError
        If the shape differs; the message names the array and both shapes.

    """
    array = np.asarray(values, dtype=np.float64)
    if shape is not None and (
        array.ndim != len(shape)
        or any(
            want is not None and want != have
            for want, have in zip(shape, array.shape, strict=True)
        )
    ):
        expected_shape = tuple('any' if n is None else n for n in shape)
        raise ValueError(f'{name} has shape {array.shape}, expected {expected_shape}')
    if array.flags.writeable:
        array = array.copy()
        array.flags.writeable = False
    return array
