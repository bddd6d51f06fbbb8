# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Calibration of insect reflexes: thresholds outside the range of an undisturbed walk.

McKenna (1990) gives the rule, for each pair of legs, but does not apply it: record undisturbed
walking and set the thresholds outside the recorded range.
"""

from __future__ import annotations

import numpy as np

from gait_core.arrays import FloatArray, IntArray
from gait_cpg.insect.motor_programs import LEG_PAIRS
from gait_cpg.insect.reflexes import POTENTIAL_STEP, STANCE, STEP, InsectReflexes
from gait_cpg.reflexes.tilt import Tilt


class ThresholdRecorder:
    """
    Recorder of the largest values, per leg, of the quantities that have thresholds.

    Parameters
    ----------
    row : (n,) int array
        Row of each leg: 0 in front, increasing backward.

    """

    def __init__(self, row: IntArray) -> None:
        self._row = row
        legs = len(row)
        # Angle of the coxa in stance, torque of the femur before a swing, lag of the coxa in a
        # swing, and time of a stance without contact.
        self._maxima = {
            name: np.full(legs, -np.inf) for name in ('step_angle', 'load', 'held', 'groundless')
        }
        self._min_step_angle: FloatArray = np.full(legs, np.inf)
        self._groundless: FloatArray = np.zeros(legs)
        self._dt = 0.0
        self._tilt = Tilt()

    def record(
        self, dt: float, reflexes: InsectReflexes, states: IntArray, rest: FloatArray
    ) -> None:
        """
        Record a control period, after the legs were triggered and before they begin to swing.

        Parameters
        ----------
        dt : float [s]
            Control period.
        reflexes : InsectReflexes
            Holds the measured quantities.
        states : (n,) int array
            ``STANCE``, ``POTENTIAL_STEP`` or ``STEP`` of each leg.
        rest : (n, joints) array [rad]
            Rest angles in force.

        """
        measured, self._tilt = reflexes.measured, reflexes.posture.tilt
        self._tilt.widen_recorded_range()
        standing, stepping = states == STANCE, states == STEP
        self._dt = dt
        self._groundless = np.where(~stepping & ~measured.grounded, self._groundless + dt, 0.0)
        for name, values, legs in (
            ('step_angle', measured.coxa, standing),
            ('load', measured.load, states == POTENTIAL_STEP),
            ('held', measured.coxa - rest[:, 0], stepping),
            ('groundless', self._groundless, ~stepping),
        ):
            np.maximum(self._maxima[name], values, out=self._maxima[name], where=legs)
        np.minimum(self._min_step_angle, measured.coxa, out=self._min_step_angle, where=standing)

    def thresholds(self, margin: float) -> dict[str, float]:
        """
        Return thresholds outside the recorded ranges, by parameter name.

        Parameters
        ----------
        margin : float
            Distance of a threshold from the range, as a share of the range.

        """
        thresholds = self._tilt.thresholds(margin)
        for name, maxima in self._maxima.items():
            minima = self._min_step_angle if name == 'step_angle' else np.zeros(len(maxima))
            for row, pair in enumerate(LEG_PAIRS):
                legs = self._row == row
                if np.isfinite(maxima[legs]).all():
                    highest = float(maxima[legs].max())
                    span = highest - float(minima[legs].min())
                    # Contacts are sampled once per control period: a time is that uncertain.
                    slack = self._dt if name == 'groundless' else 0.0
                    thresholds[f'{pair}_{name}'] = highest + margin * max(span, 0.0) + slack
        return thresholds
