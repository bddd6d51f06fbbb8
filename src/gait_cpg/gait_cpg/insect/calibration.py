"""
Calibration of insect reflexes: what an undisturbed walk reaches, and thresholds beyond it.

McKenna (1990) names the rule, to record undisturbed walking and to set thresholds outside its
range, for each pair of legs apart, and never applied it.
"""

from __future__ import annotations

import numpy as np

from gait_core.arrays import FloatArray, IntArray
from gait_cpg.insect.motor_programs import LEG_PAIRS
from gait_cpg.insect.reflexes import POTENTIAL_STEP, STANCE, STEP, InsectReflexes
from gait_cpg.reflexes.tilt import Tilt


class ThresholdRecorder:
    """
    The most of each quantity that has a threshold, leg by leg, since the watch began.

    Parameters
    ----------
    row : (n,) int array
        0 for a front leg, counting backwards.

    """

    def __init__(self, row: IntArray) -> None:
        self._row = row
        legs = len(row)
        # Of joint 0 in stance, the torque of joint 1 before a step, the lag of joint 0 in a step
        # and the time of stance without ground.
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
        Take what is felt before legs that want to step begin.

        Parameters
        ----------
        dt : float [s]
        felt_by : Reflexes
        states : (n,) int array
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
        Return thresholds outside what was felt, by the names of the parameters.

        Parameters
        ----------
        margin : float
            Share of a quantity's range by which they lie beyond it.

        """
        thresholds = self._tilt.thresholds(margin)
        for name, maxima in self._maxima.items():
            minima = self._min_step_angle if name == 'step_angle' else np.zeros(len(maxima))
            for row, pair in enumerate(LEG_PAIRS):
                legs = self._row == row
                if np.isfinite(maxima[legs]).all():
                    highest = float(maxima[legs].max())
                    span = highest - float(minima[legs].min())
                    # What is felt is sampled once a period.
                    slack = self._dt if name == 'groundless' else 0.0
                    thresholds[f'{pair}_{name}'] = highest + margin * max(span, 0.0) + slack
        return thresholds
