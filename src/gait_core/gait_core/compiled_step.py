"""A controller's step as native code, which an engine may call in the middle of a trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import ctypes
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from numba import types
import numpy as np

from gait_core.arrays import FloatArray, IntArray
from gait_core.observation import Observation
from gait_core.targets import AppliedTape

STEP_SIGNATURE = types.void(
    types.CPointer(types.float64),
    types.CPointer(types.float64),
    types.voidptr,
    types.CPointer(types.float64),
)
"""Of the native function: readings, commanded velocity (3), memory, and targets, written."""
_Function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)


@dataclass(frozen=True, kw_only=True)
class CompiledStep:
    """
    What ``Controller.step`` does in a control period of one length, as a native function.

    The controller itself calls it, too: whoever does, the targets are the same to the last bit.

    Attributes
    ----------
    function : int
        Address of a function of ``STEP_SIGNATURE``.
    memory : int
        Address that it is given; what lies there is the controller's own.
    reads : tuple of str
        Fields of Observation, flat, one after the other.
    names : tuple of str
        Joints and force elements of which it gives the target positions.

    """

    function: int
    memory: int
    reads: tuple[str, ...]
    names: tuple[str, ...]

    @cached_property
    def _call(self) -> Any:
        return _Function(self.function)

    def readings(self, observation: Observation) -> FloatArray:
        """Return what the function reads of a state."""
        return np.concatenate([getattr(observation, name).ravel() for name in self.reads])

    def targets(
        self, observation: Observation, velocity: tuple[float, float, float]
    ) -> FloatArray:
        """Run the function; return the target positions, (1, n) [rad or m]."""
        readings, command = self.readings(observation), np.array(velocity)
        found: FloatArray = np.empty((1, len(self.names)))
        self._call(readings.ctypes.data, command.ctypes.data, self.memory, found.ctypes.data)
        found.flags.writeable = False
        return found


@dataclass(frozen=True, kw_only=True)
class ClosedLoop:
    """
    T control periods of a compiled step, for an engine to run.

    Attributes
    ----------
    step : CompiledStep
    readings : (r,) array
        What the step reads of the present state.
    velocities : (T, 3) array [m/s, m/s, rad/s]
        Commanded.
    applied : AppliedTape
        (T, 1, m) arrays: what holds. The engine writes in what the step answers.
    columns : (n,) int array
        Where in it; -1 for a name that the robot does not have.

    """

    step: CompiledStep
    readings: FloatArray
    velocities: FloatArray
    applied: AppliedTape
    columns: IntArray


def places(reads: Sequence[str], sizes: Mapping[str, int]) -> dict[str, int]:
    """Return where each field begins in readings, by the sizes of the fields."""
    starts, at = {}, 0
    for name in reads:
        starts[name] = at
        at += sizes[name]
    return starts
