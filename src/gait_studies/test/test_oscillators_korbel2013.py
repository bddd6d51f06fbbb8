# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Measurements of the oscillators of Korbel (2013) against the thesis."""

from __future__ import annotations

import numpy as np
import pytest

from gait_studies.korbel2013 import oscillators


@pytest.fixture(scope='module')
def found():
    return oscillators.oscillator_measurements()


def test_the_named_cases_are_those_of_the_thesis(found):
    # At w = 1 + tau_A / tau_B the oscillation is harmonic: its frequency is 1 / (2 pi tau_A).
    for name, tau in (('sine', 0.3), ('target', 0.2274)):
        assert found[f'{name}_frequency'] == pytest.approx(1.0 / (2.0 * np.pi * tau), rel=1e-3)
        assert found[f'{name}_third_harmonic'] < 1e-3
    assert found['quick_last_peak'] < 0.02
    assert found['slow_last_peak'] > 0.2
    assert found['slow_third_harmonic'] > 0.05
    assert found['heavy_third_harmonic'] > found['slow_third_harmonic']
    assert found['reference_error'] < 1e-6
    assert found['equal_peak_0.25'] < 1e-6
    assert found['alive_share'] >= 0.86
    assert found['alive_share'] + found['dead_share'] <= 1.0
    assert found['largest_signal'] < 0.28


def test_third_harmonic_of_a_signal_made_of_known_ones():
    angle = 2.0 * np.pi * 0.5 * oscillators.EULER_STEP * np.arange(20000)
    signal = 0.1 + np.sin(angle + 0.3) + 0.25 * np.cos(3.0 * angle) + 0.5 * np.sin(2.0 * angle)
    assert oscillators._third_harmonic(signal, 0.5) == pytest.approx(0.25, abs=1e-9)
