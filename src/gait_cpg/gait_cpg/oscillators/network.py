# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Interface of oscillator networks: rates, signals and two integrators."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from gait_core.arrays import FloatArray, read_only_array
from gait_core.errors import SimulationDiverged
from gait_cpg.oscillators.kernels import Equations, integrate_euler, write_rates, write_signals


class OscillatorRun(NamedTuple):
    """State (..., s, n) at the end of an integration and signals (..., T, m) during it."""

    state: FloatArray
    signals: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class OscillatorNetwork(ABC):
    """
    Network of coupled oscillators, or a batch of such networks.

    Leading axes of the parameters broadcast to the shape ``batch``. A state (..., s, n) holds s
    variables of n oscillators. A drive (..., n), such as sensory feedback or a common rhythm, is
    added to the equation that the model names.
    """

    KIND: ClassVar[int]
    VARIABLES: ClassVar[tuple[str, ...]]
    """Names of the rows of a state."""

    batch: tuple[int, ...] = field(init=False, repr=False)
    """Shape of the leading axes; () for a single network."""
    _vector_stack: FloatArray = field(init=False, repr=False)
    _matrix_stack: FloatArray = field(init=False, repr=False)
    _zero_drive: FloatArray = field(init=False, repr=False)

    @abstractmethod
    def _vectors(self) -> tuple[FloatArray, ...]:
        """Return the coefficients per oscillator in the order of the kernel, each (..., n)."""

    @abstractmethod
    def _matrices(self) -> tuple[FloatArray, ...]:
        """Return the coupling matrices, transposed for the kernel, each (..., n, n)."""

    def __post_init__(self) -> None:
        """Freeze the arrays and pack them for the kernel."""
        for attribute in fields(self):
            value = getattr(self, attribute.name, None)
            if isinstance(value, (np.ndarray, list, tuple, float, int)):
                object.__setattr__(
                    self, attribute.name, read_only_array(value, name=attribute.name)
                )
        vectors, matrices = self._vectors(), self._matrices()
        n = matrices[0].shape[-1]
        batch = np.broadcast_shapes(
            *(np.shape(array)[:-1] for array in vectors),
            *(array.shape[:-2] for array in matrices),
        )
        vector_stack = np.stack(
            [np.broadcast_to(array, (*batch, n)) for array in vectors], axis=-2
        )
        matrix_stack = np.stack(
            [np.broadcast_to(array, (*batch, n, n)) for array in matrices], axis=-3
        )
        object.__setattr__(self, 'batch', batch)
        object.__setattr__(self, '_vector_stack', vector_stack.reshape(-1, len(vectors), n))
        object.__setattr__(self, '_matrix_stack', matrix_stack.reshape(-1, len(matrices), n, n))
        object.__setattr__(self, '_zero_drive', np.zeros((len(self._vector_stack), 1, n)))

    def _kernel_kind(self) -> int:
        """Return the number of the model in the kernel."""
        return self.KIND

    @property
    def _equations(self) -> Equations:
        """Equations of all networks of the batch."""
        return Equations(self._kernel_kind(), self._vector_stack, self._matrix_stack)

    @property
    def size(self) -> int:
        """Number n of oscillators, or of neurons."""
        return int(self._vector_stack.shape[-1])

    @property
    def outputs(self) -> int:
        """Number m of signals."""
        return self.size

    def rates(self, state: npt.ArrayLike, drive: npt.ArrayLike | None = None) -> FloatArray:
        """Return the time derivatives of a state, (..., s, n) [1/s]."""
        states = self._batched_states(state)
        out = np.empty_like(states)
        drives = self._batched_drives(drive, 1)[:, 0]
        write_rates(self._equations, states, drives, out)
        return self._unbatched(out)

    def signals(self, state: npt.ArrayLike) -> FloatArray:
        """Return the signals of a state, (..., m)."""
        states = self._batched_states(state)
        out = np.empty((len(states), self.outputs))
        write_signals(self._kernel_kind(), states, out)
        return out.reshape(*self.batch, self.outputs)

    def euler(
        self,
        state: npt.ArrayLike,
        dt: float,
        samples: int = 1,
        *,
        steps_per_sample: int = 1,
        drive: npt.ArrayLike | None = None,
    ) -> OscillatorRun:
        """
        Integrate by explicit Euler steps.

        Parameters
        ----------
        state : (..., s, n) array
            State at the start.
        dt : float [s]
            Euler step.
        samples : int
            Number T of samples of the signals.
        steps_per_sample : int
            Euler steps between two samples.
        drive : (..., n) or (..., T, n) array
            Constant drive, or one with an additional axis for the samples; default zero.

        Returns
        -------
        OscillatorRun
            Sample k is of the state after ``(k + 1) * steps_per_sample`` steps. A network that
            diverges raises nothing: ``diagnose`` reports it.

        """
        states = self._batched_states(state)
        signals = np.empty((len(states), samples, self.outputs))
        integrate_euler(
            self._equations,
            states,
            self._batched_drives(drive, samples),
            dt,
            steps_per_sample,
            signals,
        )
        return OscillatorRun(
            self._unbatched(states), signals.reshape(*self.batch, samples, self.outputs)
        )

    def solve(
        self,
        state: npt.ArrayLike,
        times: npt.ArrayLike,
        *,
        drive: npt.ArrayLike | None = None,
        method: str = 'RK45',
        rtol: float = 1e-8,
        atol: float = 1e-10,
    ) -> FloatArray:
        """
        Return the states at given times, integrated by SciPy with error control.

        Parameters
        ----------
        state : (..., s, n) array
            State at time 0.
        times : (T,) array [s]
            Increasing, not negative.
        drive : (..., n) array
            Constant drive; default zero.
        method, rtol, atol
            As in ``scipy.integrate.solve_ivp``; all networks of a batch share the steps.

        Returns
        -------
        (T, ..., s, n) array

        Raises
        ------
        SimulationDiverged
            If the integrator fails; the message names the time that it reached.

        """
        from scipy.integrate import solve_ivp

        start = self._unbatched(self._batched_states(state))
        sample_times = np.asarray(times, dtype=np.float64)
        solution = solve_ivp(
            lambda _, y: self.rates(y.reshape(start.shape), drive).ravel(),
            (0.0, float(sample_times[-1])),
            start.ravel(),
            t_eval=sample_times,
            method=method,
            rtol=rtol,
            atol=atol,
        )
        if not solution.success or not np.isfinite(solution.y).all():
            reached = float(solution.t[-1]) if len(solution.t) else 0.0
            raise SimulationDiverged(f'oscillators diverge after {reached:g} s')
        return np.asarray(solution.y.T.reshape(len(sample_times), *start.shape))

    def _batched_states(self, state: npt.ArrayLike) -> FloatArray:
        """Return a copy of a state with all networks along one axis, (b, s, n)."""
        array = np.asarray(state, dtype=np.float64)
        s, n = len(self.VARIABLES), self.size
        if array.shape[-2:] != (s, n):
            raise ValueError(f'state has shape {array.shape}, expected (..., {s}, {n})')
        shape = (*self.batch, s, n)
        if array.shape != shape:
            array = np.broadcast_to(array, shape)
        return np.array(array, order='C').reshape(-1, s, n)

    def _batched_drives(self, drive: npt.ArrayLike | None, samples: int) -> FloatArray:
        """Return a drive with all networks along one axis, (b, 1 or samples, n)."""
        if drive is None:
            return self._zero_drive
        array = np.asarray(drive, dtype=np.float64)
        n = self.size
        if array.ndim == len(self.batch) + 2:
            shape: tuple[int, ...] = (*self.batch, samples, n)
        else:
            shape = (*self.batch, 1, n)
            if array.ndim:
                array = array[..., None, :]
        # Copied, because Numba would compile the kernels again for a read-only array.
        return np.array(np.broadcast_to(array, shape), order='C').reshape(-1, shape[-2], n)

    def _unbatched(self, states: FloatArray) -> FloatArray:
        """Return states (b, ...) in the shape of the batch, (..., s, n)."""
        return states.reshape(*self.batch, *states.shape[1:])
