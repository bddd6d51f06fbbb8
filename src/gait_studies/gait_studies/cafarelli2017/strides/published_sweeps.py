# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Settings and printed results of the thesis's tables, and outcomes of repeated runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gait_core.errors import unknown_name_error
from gait_studies.cafarelli2017.strides.leg import foot_position
from gait_studies.cafarelli2017.strides.published import published_table
from gait_studies.cafarelli2017.strides.rules import PRINTED, StrideRules
from gait_studies.cafarelli2017.strides.scoring import leg_power, score_strides
from gait_studies.cafarelli2017.strides.search import PublishedSettings, run_published_search

CONTROL_SETTINGS = PublishedSettings()
SEEDS = tuple(range(5, 55, 5))
"""Ten seeds per setting. The thesis does not state its seeds; its listing counts by 5."""

_SWEEP_COLUMNS = {
    'table_6_2': ('elites', 'mean_fitness'),
    'table_6_3': ('generations', 'mean_fitness'),
    'table_6_4': ('mutation', 'mean_fitness'),
    'table_6_5': ('efficiency_weight', 'mean_fitness'),
    'table_6_6': ('efficiency_weight', 'mean_weighted_efficiency'),
    'table_6_7': ('efficiency_weight', 'mean_fitness'),
    'table_6_8': ('efficiency_weight', 'mean_efficiency'),
    'table_6_9': ('efficiency_weight', 'violating'),
}


@dataclass(frozen=True, kw_only=True)
class SweepRow:
    """
    Row of a table of chapter 6 that varies one setting.

    Attributes
    ----------
    value : float
        Value of the varied setting.
    settings : PublishedSettings
        Control settings with that value.
    printed : float
        Mean of ten runs, or number of runs that violate an objective.
    deviation : float or None
        Sample deviation; ``None`` if the table prints none.
    """

    value: float
    settings: PublishedSettings
    printed: float
    deviation: float | None


@dataclass(frozen=True, kw_only=True)
class RunOutcome:
    """Outcome of one run; ``weighted_efficiency`` is w0 times efficiency, as in Table 6.6."""

    fitness: float
    efficiency: float
    weighted_efficiency: float
    swings_free: bool
    stable: bool

    @property
    def violates(self) -> bool:
        """True if the stride drags or is not stable (Table 6.9)."""
        return not (self.swings_free and self.stable)


def sweep_rows(name: str) -> list[SweepRow]:
    """Return the rows of a table of chapter 6, e.g. ``table_6_2``."""
    if name not in _SWEEP_COLUMNS:
        raise unknown_name_error('published sweep', name, _SWEEP_COLUMNS)
    varied, mean = _SWEEP_COLUMNS[name]
    return [
        SweepRow(
            value=row[varied],
            settings=_control_settings_with(varied, row[varied]),
            printed=row[mean],
            deviation=row.get('deviation'),
        )
        for row in published_table(name)
    ]


def _control_settings_with(name: str, value: float) -> PublishedSettings:
    changed: dict[str, Any] = {name: type(getattr(CONTROL_SETTINGS, name))(value)}
    return replace(CONTROL_SETTINGS, **changed)


def run_outcomes(
    settings: PublishedSettings, seed: int, interval: int | None = None
) -> list[RunOutcome]:
    """
    Return the outcome of a run every ``interval`` generations; by default only at its end.

    A run of 1000 generations with an interval of 100 gives a column of Table A.2.
    """
    run = run_published_search(settings, seed)
    step = settings.generations if interval is None else interval
    bests = [run[generation] for generation in range(step, settings.generations + 1, step)]
    scores = score_strides(np.array([best.genes for best in bests]), settings.rules())
    return [
        RunOutcome(
            fitness=best.fitness,
            efficiency=float(scores.efficiency[i]),
            weighted_efficiency=float(settings.efficiency_weight * scores.efficiency[i]),
            swings_free=bool(scores.swings_free[i]),
            stable=bool(scores.stable[i]),
        )
        for i, best in enumerate(bests)
    ]


@dataclass(frozen=True, kw_only=True)
class SingleLegRow:
    """Row of Tables 4.1 to 4.3, computed: [cm], [cm], [J], [cm], [cm], [m], [m/J]."""

    first_length: float
    last_length: float
    power: float
    first_x: float
    last_x: float
    distance: float
    efficiency: float


def single_leg_rows() -> list[SingleLegRow]:
    """
    Return Tables 4.1 to 4.3 computed with 10 intervals, segments of 1 kg and the printed order.

    The first x of the printed table is the length minus the correct x; its distances are correct.
    """
    rules = StrideRules(intervals=10, order=PRINTED)
    rows = []
    for row in published_table('table_4_1_to_4_3'):
        lengths = np.array([row['first_length'], row['last_length']])
        ends = np.array([[45.0, 45.0, *2 * [lengths[0]]], [135.0, 0.0, *2 * [lengths[1]]]])
        power = leg_power(ends[0], ends[1], stance=True, rules=rules)
        x = foot_position(ends * np.array([np.pi / 180.0, np.pi / 180.0, 1.0, 1.0]))[:, 0]
        distance = (x[0] - x[1]) / 100.0
        rows.append(
            SingleLegRow(
                first_length=float(lengths[0]),
                last_length=float(lengths[1]),
                power=power,
                first_x=float(x[0]),
                last_x=float(x[1]),
                distance=float(distance),
                efficiency=float(distance / power),
            )
        )
    return rows


def energy_over_knee_motion(
    knees_deg: tuple[float, ...] = (0.0, 0.001, 1.0, 30.0),
) -> list[tuple[float, float]]:
    """
    Return pairs of knee motion [deg] and published energy [thesis units] of a hip swing.

    The hip swings from 45 to 105 degrees in stance. The energy of equation 3.37 is discontinuous
    at a knee that does not move.
    """
    start = np.array([45.0, 30.0, 9.0, 9.0])
    return [
        (knee, leg_power(start, np.array([105.0, 30.0 + knee, 9.0, 9.0]), stance=True))
        for knee in knees_deg
    ]
