# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

r"""
Preview control of the ZMP of a linear inverted pendulum.

A point mass at a constant height ``z`` obeys ``p = c - (z / g) c''`` on each horizontal axis, with
the ZMP ``p`` and the centre of mass ``c``. With the jerk, constant over a period, as input ``u``
this is the cart-table model ``x_{k+1} = A x_k + b u_k``, ``p_k = c x_k`` of position, velocity and
acceleration (Kajita 2003, Eq. 7 and 8). The input that minimises

.. math:: \sum_j Q (p_j - p^{ref}_j)^2 + R u_j^2

is a feedback of the state and a feedforward of the reference in the coming periods (their Eq. 10,
without the integral of the error: the model itself is three integrators in a row):

.. math:: u_k = -K x_k + \sum_{j=1}^{N} f_j p^{ref}_{k+j}, \quad
          f_j = (R + b^T P b)^{-1} b^T (A - b K)^{T (j-1)} c^T Q

References
----------
Kajita et al. (2003), Biped walking pattern generation by using preview control of zero-moment
point, ICRA, 1620-1626. Katayama et al. (1985), Int. J. Control 41(3):677-699: the gains.
"""

from __future__ import annotations

from dataclasses import dataclass
import math

from numba import njit
import numpy as np
from scipy.linalg import solve_discrete_are

from gait_core.arrays import FloatArray

GRAVITY = 9.81
JERK_WEIGHT = 1e-6
"""Weight R over Q [s^6], as in the example of the paper."""
PREVIEW_TIME_CONSTANTS = 6.0
"""Preview in time constants of the pendulum; later references count for less than 1 %."""


@dataclass(frozen=True, kw_only=True)
class PreviewGains:
    """
    Gains of preview control for a height and a period.

    Attributes
    ----------
    feedback : (3,) array [1/s^3, 1/s^2, 1/s]
        ``K``.
    forward : (N,) array [1/s^3]
        ``f``; the last element is the sum of all further ones, for a constant reference.
    height, period : float [m, s]
        Height of the pendulum and period of the plan.

    """

    feedback: FloatArray
    forward: FloatArray
    height: float
    period: float

    @property
    def natural_rate(self) -> float:
        """Natural rate of the pendulum, ``w = sqrt(g / z)`` [1/s]."""
        return math.sqrt(GRAVITY / self.height)


def preview_gains(height: float, period: float, weight: float = JERK_WEIGHT) -> PreviewGains:
    """
    Return the optimal gains.

    Parameters
    ----------
    height : float [m]
        Height of the pendulum over the ground.
    period : float [s]
        Period of the plan.
    weight : float [s^6]
        Weight of the squared jerk over that of the squared error of the ZMP, ``R / Q``.

    """
    # Kajita et al. (2003), Eq. 8: A, b and c of the cart-table.
    t = period
    transition = np.array([[1.0, t, 0.5 * t * t], [0.0, 1.0, t], [0.0, 0.0, 1.0]])
    input_vector = np.array([[t**3 / 6.0], [0.5 * t * t], [t]])
    output = np.array([[1.0, 0.0, -height / GRAVITY]])
    # Katayama et al. (1985): P of the Riccati equation; K = (R + b^T P b)^-1 b^T P A.
    riccati = solve_discrete_are(transition, input_vector, output.T @ output, np.array([[weight]]))
    scale = 1.0 / (weight + float((input_vector.T @ riccati @ input_vector)[0, 0]))
    feedback = scale * (input_vector.T @ riccati @ transition)[0]
    closed = transition - input_vector @ feedback[None, :]
    periods = max(2, math.ceil(PREVIEW_TIME_CONSTANTS * math.sqrt(height / GRAVITY) / period))
    # f_j = (R + b^T P b)^-1 b^T (A - b K)^(T (j - 1)) c^T Q, by repeated multiplication.
    forward = np.empty(periods)
    column = output[0].copy()
    for j in range(periods):
        forward[j] = scale * float(input_vector[:, 0] @ column)
        column = closed.T @ column
    # A shift of state and reference by the same distance needs no jerk: sum_j f_j = K[0].
    forward[-1] += feedback[0] - forward.sum()
    return PreviewGains(feedback=feedback, forward=forward, height=height, period=period)


@njit(cache=True)
def write_preview_jerk(feedback, forward, state, reference, jerk):  # type: ignore[no-untyped-def]
    """
    Write the jerk of the centre of mass on each axis.

    Parameters
    ----------
    feedback, forward : (3,), (N,) arrays
        Gains.
    state : (3, 2) array
        Position, velocity and acceleration of the centre of mass by axis.
    reference : (N or more, 2) array [m]
        Reference of the ZMP at the end of each coming period.
    jerk : (2,) array [m/s^3]
        Written.

    """
    # Kajita et al. (2003), Eq. 10: u = -K x + sum_j f_j p_ref.
    for axis in range(2):
        total = 0.0
        for i in range(3):
            total -= feedback[i] * state[i, axis]
        for j in range(len(forward)):
            total += forward[j] * reference[j, axis]
        jerk[axis] = total


@njit(cache=True)
def integrate_jerk(state, jerk, time, out):  # type: ignore[no-untyped-def]
    """Write the state (3, 2) after a time [s] with constant jerk (2,), Kajita (2003), Eq. 8."""
    for axis in range(2):
        c, v, a, j = state[0, axis], state[1, axis], state[2, axis], jerk[axis]
        out[0, axis] = c + time * (v + time * (0.5 * a + time * j / 6.0))
        out[1, axis] = v + time * (a + 0.5 * time * j)
        out[2, axis] = a + time * j
