# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study cafarelli2017: repeated runs compared with printed means, single runs and shares."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import mannwhitneyu, ttest_ind_from_stats

from gait_core.arrays import FloatArray
from gait_core.verdict import Range
from gait_studies.cafarelli2017.strides.published_sweeps import CONTROL_SETTINGS
from gait_studies.cafarelli2017.sweeps import INTERVAL
from gait_tools.study.definition import StudyRow

_LEVEL = 0.001
"""Least p-value with which a mean, or single runs, count as those of a table."""

_PRINTED_RUNS = 10
"""Runs behind each printed mean and deviation."""


def mean_row(
    row_id: str, what: str, values: FloatArray, printed: float, deviation: float | None
) -> StudyRow:
    """
    Return the row of the mean of some runs, compared with a printed mean by Welch's test.

    Parameters
    ----------
    row_id, what
    values : (n,) array
        One per run.
    printed : float
        Printed mean of ten runs.
    deviation : float or None
        Their sample deviation; ``None``, if none is printed: that of ``values``.

    """
    own_deviation = float(np.std(values, ddof=1))
    printed_deviation = own_deviation if deviation is None else deviation
    test = ttest_ind_from_stats(
        np.mean(values),
        own_deviation,
        len(values),
        printed,
        printed_deviation,
        _PRINTED_RUNS,
        equal_var=False,
    )
    note = f'deviation {own_deviation:.6f}' + (
        '' if deviation is None else f', printed {deviation:g}'
    )
    return StudyRow(
        id=row_id,
        what=what,
        published=printed,
        measured=float(np.mean(values)),
        tolerance=f"Welch's p at least {_LEVEL:g}",
        verdict=Range(low=_LEVEL).verdict(float(test.pvalue)),
        note=f'{note}; p = {test.pvalue:.2g}',
    )


def singles_row(row_id: str, what: str, values: FloatArray, printed: FloatArray) -> StudyRow:
    """Return the row of the median of single runs, compared with printed ones by rank."""
    p_value = float(mannwhitneyu(values, printed).pvalue)
    row = StudyRow(
        id=row_id,
        what=what,
        published=float(np.median(printed)),
        measured=float(np.median(values)),
        tolerance=f"Mann-Whitney's p at least {_LEVEL:g}",
        verdict=Range(low=_LEVEL).verdict(p_value),
        note=f'printed {_range_text(printed)}, ours {_range_text(values)}; p = {p_value:.2g}',
    )
    # Few runs, as those of a quick study, cannot have a smaller p-value than this.
    least = 2.0 / math.comb(len(values) + len(printed), len(values))
    return row if least < _LEVEL else row.without_bound()


def three_deviations(share: float, runs: int) -> float:
    """Return three deviations of the difference of a share of ten runs and one of ``runs``."""
    # Laplace's rule of succession: none of ten runs does not mean a probability of zero.
    chance = (10.0 * share + 1.0) / 12.0
    return round(3.0 * math.sqrt(chance * (1.0 - chance) * (0.1 + 1.0 / runs)), 2)


def late_cause(means: FloatArray, printed: float, ordered: bool) -> tuple[bool, str]:
    """
    Return whether a mean reaches the printed one later than it is printed, and the text.

    Parameters
    ----------
    means : (n,) array
        Mean fitness after each hundred generations.
    printed : float
        Printed mean after the generations of the control run.
    ordered : bool
        True if the means fall with the mutation rate as the printed ones do.

    """
    reaching = np.flatnonzero(means >= printed)
    if not ordered or not len(reaching):
        return False, ''
    generations = INTERVAL * (int(reaching[0]) + 1)
    along = ', '.join(
        f'{INTERVAL * (hundreds + 1)}: {mean:.4f}' for hundreds, mean in enumerate(means)
    )
    text = (
        f'the program as listed needs {generations} generations for the printed mean of '
        f'{CONTROL_SETTINGS.generations} (after {along}); the order holds'
    )
    return generations > CONTROL_SETTINGS.generations, text


def _range_text(values: FloatArray) -> str:
    return f'{np.min(values):.6f} to {np.max(values):.6f}'
