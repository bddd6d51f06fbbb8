# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Deviation of a walk's ZMP from an ideal one: the fitness of Pike (2003) and variants.

The ideal ZMP is a sine from foot to foot that moves forward at constant speed. The published score
is the mean *change* of the deviation per tick, although the text calls it the deviation. Both are
costs: their weight in a fitness is negative.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.kinematics.forward_kinematics import link_poses
from gait_core.measures.metrics import heading_angles, inertial_zmp
from gait_core.measures.stability import moving_mean
from gait_core.trial.rollout import Rollout
from gait_core.trial.spec import OK

TRIAL_TICKS = 240
"""Ticks of the published trial, 4.8 s."""

UNSCORED_TICKS = 102
"""First ticks, start-up of the walk, that are not scored."""

AVERAGED_SAMPLES = 2
"""Samples of the published low-pass filter, ``ZMP_AVG_DIV``."""

FALL_COST = 1000.0
"""
Cost of a fall, larger than that of any completed trial.

The original read -1 if a trial had no result, which is the best score under minimisation.
"""

_MAX_COST = 0.9 * FALL_COST
_CYCLE_UNITS = 3.5  # Units of the walk's time scale.
_PHASE = 0.125
_TIME_SCALE = 0.9  # s, the published one, for controllers that know no such parameter.
_PACE = 0.053 / 0.62  # Kinematic progress of the published walk, in hip heights per second.


@dataclass(frozen=True, kw_only=True)
class IdealZmp:
    """
    ZMP of an ideal walk that begins on the right foot.

    Attributes
    ----------
    amplitude : float [m]
        Amplitude of the sway: half the distance between the feet.
    speed : float [m/s]
    period : float [s]
        Cycle time; a cycle has two steps.
    start : float [s]
        Start of the first cycle.

    """

    amplitude: float
    speed: float
    period: float
    start: float = (UNSCORED_TICKS - 1) * 0.02

    def at(self, time: FloatArray) -> FloatArray:
        r"""
        Return the ideal ZMP relative to the start, (T, 2) [m]: forward, left; zero before it.

        .. math::
            r_{fwd} = v\,(t - t_0), \qquad
            r_{left} = -A \cos\left(2\pi\,\frac{t - t_0}{T} - \frac{2\pi}{28}\right)

        The phase is an eighth of a time scale, and a cycle has 3.5 of them: there the sway of the
        timetable crosses the middle.

        Parameters
        ----------
        time : (T,) array [s]

        References
        ----------
        Pike (2003), Figure 6.20: shape only; amplitude, speed and phase follow from the timetable.

        """
        since = time - self.start
        angle = 2.0 * np.pi * (since / self.period - _PHASE / _CYCLE_UNITS)
        ideal = np.column_stack([self.speed * since, -self.amplitude * np.cos(angle)])
        ideal[since <= 0.0] = 0.0
        return np.asarray(ideal)


def ideal_zmp(rollout: Rollout) -> IdealZmp:
    """
    Return the ideal ZMP for the feet of a rollout's robot and the trial's time scale.

    The speed is that of the published step, 0.053 m/s for GuRoo, for every step size.
    """
    robot = rollout.robot
    stance = np.array([[robot.nominal_stance.get(name, 0.0) for name in robot.joint_names]])
    poses = link_poses(robot, stance)[0]
    rows = {link.name: i for i, link in enumerate(robot.links)}
    sides = [poses[rows[sole], 1, 3] for sole in robot.soles]
    time_scale = float(rollout.spec.parameters.get('time_scale', _TIME_SCALE))
    return IdealZmp(
        amplitude=0.5 * float(max(sides) - min(sides)) if sides else 0.0,
        speed=_PACE * robot.length_scale,
        period=_CYCLE_UNITS * time_scale,
    )


def filtered_zmp(rollout: Rollout, samples: int = AVERAGED_SAMPLES) -> FloatArray:
    """
    Return the filtered inertial ZMP relative to the start, (T + 1, 2) [m]: forward, left.

    The inertial ZMP may leave the support polygon. While it is undefined the last value stays.
    Origin and axes are the first position and heading of the base.

    Parameters
    ----------
    rollout : Rollout
    samples : int
        Window of the moving mean, in ticks.

    """
    series = inertial_zmp(rollout)
    origin = rollout.body_poses[0, 0, :2]
    points = np.vstack([origin, series.points[:, :2]])
    # Row 0 of `points` is the origin: the value until the ZMP is defined for the first time.
    last = np.maximum.accumulate(
        np.where(series.defined, np.arange(1, len(series.defined) + 1), 0)
    )
    yaw = heading_angles(rollout.body_poses[:1, 0])[0]
    ahead, left = np.cos(yaw), np.sin(yaw)
    turn = np.array([[ahead, -left], [left, ahead]])
    return moving_mean((points[last] - origin) @ turn, samples)


def mean_deviation_change(
    ideal: FloatArray,
    measured: FloatArray,
    ticks: int = TRIAL_TICKS,
    unscored: int = UNSCORED_TICKS,
) -> float:
    r"""
    Return the mean change per tick of the deviation from the ideal [cm].

    .. math::
        d_u(n) = |r_u(n) - z_u(n)|, \qquad
        \frac{100}{2\,(N - k)} \sum_u \sum_{n = k + 1}^{N - 1} |d_u(n) - d_u(n - 1)|

    with :math:`d_u(k) := 0`, so that the first term is the deviation at the start. The sum of
    :math:`N - k - 1` terms is divided by :math:`N - k`. Both as in the published listing.

    Parameters
    ----------
    ideal, measured : (>= ticks, 2) arrays [m]
    ticks, unscored : int
        N and k.

    References
    ----------
    Pike (2003), Figures 6.18 and 6.19.

    """
    # Figure 6.18: half of each axis, over N - k ticks, times 100 (objective of the search).
    total = deviation_changes(ideal, measured, ticks, unscored).sum()
    return float(100.0 * 0.5 * total / (ticks - unscored))


def deviation_changes(
    ideal: FloatArray,
    measured: FloatArray,
    ticks: int = TRIAL_TICKS,
    unscored: int = UNSCORED_TICKS,
) -> FloatArray:
    """Return the terms of ``mean_deviation_change``, (ticks - unscored - 1, 2) [m]."""
    # d_u(n), and its change from tick to tick; before the first it is 0.
    scored = np.abs(ideal[unscored + 1 : ticks] - measured[unscored + 1 : ticks])
    return np.asarray(np.abs(np.diff(scored, axis=0, prepend=np.zeros((1, 2)))))


def mean_deviation(
    ideal: FloatArray,
    measured: FloatArray,
    ticks: int = TRIAL_TICKS,
    unscored: int = UNSCORED_TICKS,
) -> float:
    """Return the mean deviation [cm], as the text describes the score."""
    scored = np.abs(ideal[unscored + 1 : ticks] - measured[unscored + 1 : ticks])
    return float(100.0 * scored.mean())


def pike2003_zmp(rollout: Rollout) -> float:
    """Return the cost of Pike (2003) [cm]: mean change of the ZMP error; 1000 after a fall."""
    return _tracking_cost(rollout, AVERAGED_SAMPLES, TRIAL_TICKS, deviating=False)


def pike2003_zmp_smooth(rollout: Rollout) -> float:
    """Return the same cost for a ZMP averaged over 0.5 s, over the whole trial [cm]."""
    return _tracking_cost(rollout, round(0.5 / rollout.dt), rollout.ticks, deviating=False)


def zmp_deviation(rollout: Rollout) -> float:
    """Return the mean deviation from the ideal ZMP over the whole trial, a cost [cm]."""
    return _tracking_cost(rollout, AVERAGED_SAMPLES, rollout.ticks, deviating=True)


def _tracking_cost(rollout: Rollout, samples: int, ticks: int, deviating: bool) -> float:
    ticks = min(ticks, rollout.ticks)
    # A trial that ends within the start-up has no scored tick: it counts as a fall.
    if rollout.status != OK or ticks <= UNSCORED_TICKS + 1:
        return FALL_COST
    ideal = ideal_zmp(rollout).at(rollout.time)
    measure = mean_deviation if deviating else mean_deviation_change
    return min(measure(ideal, filtered_zmp(rollout, samples), ticks), _MAX_COST)
