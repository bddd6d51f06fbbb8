# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The thesis's sweeps over seeds: statistics, since its seeds are not stated (trap T16)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gait_studies.cafarelli2017.strides.published_sweeps import (
    CONTROL_SETTINGS,
    SEEDS,
    run_outcomes,
    sweep_rows,
)

# 5 intervals give the statistics of 100 for a seventh of the time; `gait study` has all seeds.
QUICK = replace(CONTROL_SETTINGS, intervals=5)
pytestmark = pytest.mark.slow


FEW = SEEDS[:3]


def ends(**changed):
    return [run_outcomes(replace(QUICK, **changed), seed)[0] for seed in FEW]


def mean(results):
    return np.mean([one.fitness for one in results])


@pytest.fixture(scope='module')
def control():
    return ends()


def test_control_run(control):
    printed = next(row for row in sweep_rows('table_6_3') if row.value == 200)
    assert mean(control) == pytest.approx(printed.printed, abs=1.5e-3)
    assert not any(one.violates for one in control)


def test_fitness_falls_with_the_mutation_rate(control):
    by_rate = [mean(ends(mutation=rate)) for rate in (0.03, 0.07)]
    assert np.all(np.diff([*by_rate, mean(control)]) < 0.0)


def test_efficiency_weight_of_the_final_run():
    results = ends(efficiency_weight=0.97)
    assert mean(results) == pytest.approx(0.049, abs=6e-3)
    assert not any(one.violates for one in results)


def test_too_much_weight_on_efficiency_violates():
    assert sum(one.violates for one in ends(efficiency_weight=0.998)) >= 2


def test_small_elites_are_worst(control):
    few = mean(ends(elites=5))
    assert few < mean(control) < few + 3e-3
