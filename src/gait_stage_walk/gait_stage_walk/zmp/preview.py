r"""
Preview control of the zero-moment point of a linear inverted pendulum.

A point mass at a constant height ``z`` obeys ``p = c - (z / g) c''`` with ``p`` the zero moment
point and ``c`` the centre of mass on either level axis. With the jerk as input over a period that
is the cart-table model ``x_{k+1} = A x_k + b u_k``, ``p_k = c x_k`` of position, velocity and
acceleration (Kajita 2003, Eq. 7 and 8). The input that minimises

.. math:: \sum_j Q (p_j - p^{ref}_j)^2 + R u_j^2

feeds back the state and feeds forward the reference of the coming periods (their Eq. 10, here
without the integral of the error, which three integrators in a row do not need):

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
"""R over Q [s^6], as in the paper's example."""
PREVIEW_TIME_CONSTANTS = 6.0
"""Preview in time constants: what comes later counts less than 1 %."""


@dataclass(frozen=True, kw_only=True)
class PreviewGains:
    """
    Gains of one height and period.

    Attributes
    ----------
    feedback : (3,) array [1/s^3, 1/s^2, 1/s]
        ``K``.
    forward : (N,) array [1/s^3]
        ``f``; the last one stands for all that come after, as if the reference then held.
    height, period : float [m, s]

    """

    feedback: FloatArray
    forward: FloatArray
    height: float
    period: float

    @property
    def natural_rate(self) -> float:
        """Of the pendulum, the reciprocal of its time constant [1/s]."""
        return math.sqrt(GRAVITY / self.height)


def preview_gains(height: float, period: float, weight: float = JERK_WEIGHT) -> PreviewGains:
    """
    Return the optimal gains.

    Parameters
    ----------
    height : float [m]
        Of the centre of mass over the ground.
    period : float [s]
    weight : float [s^6]
        Of the squared jerk against the squared error of the zero-moment point.

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
    # All of them add up to the first gain of the feedback: shifting everything changes nothing.
    forward[-1] += feedback[0] - forward.sum()
    return PreviewGains(feedback=feedback, forward=forward, height=height, period=period)


@njit(cache=True)
def write_preview_jerk(feedback, forward, state, reference, jerk):  # type: ignore[no-untyped-def]
    """
    Write the jerk of each axis, (2,) [m/s^3].

    Parameters
    ----------
    feedback, forward : (3,), (N,) arrays
        The gains.
    state : (3, 2) array
        Position, velocity and acceleration of the centre of mass by axis.
    reference : (N or more, 2) array [m]
        Zero-moment points wanted at the ends of the coming periods.
    jerk : (2,) array
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
    """Write the state (3, 2) after a time [s] of constant jerk (2,)."""
    for axis in range(2):
        c, v, a, j = state[0, axis], state[1, axis], state[2, axis], jerk[axis]
        out[0, axis] = c + time * (v + time * (0.5 * a + time * j / 6.0))
        out[1, axis] = v + time * (a + 0.5 * time * j)
        out[2, axis] = a + time * j
