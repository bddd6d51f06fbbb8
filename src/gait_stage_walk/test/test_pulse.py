# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Velocity pulses against their closed form."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from scipy.integrate import trapezoid

from gait_stage_walk.staged.pulse import SECOND, Pulse, pulse_progress, to_nanoseconds

TICK = to_nanoseconds(0.02)


def turned_per_tick(duration: float, angle_deg: float, tick: int = TICK) -> np.ndarray:
    """Return the degrees that a pulse turns in each tick of its length."""
    end = to_nanoseconds(duration)
    pulse = Pulse(stage=0, start=0, end=end, angles=np.array([angle_deg]))
    return np.array([pulse.share_between(t, t + tick) * angle_deg for t in range(0, end, tick)])


def test_published_single_joint_pulse_peaks_at_52_encoder_counts_a_tick():
    turned = turned_per_tick(3.0, 22.5)
    assert turned.sum() == pytest.approx(22.5, abs=0.1)
    assert turned.max() == pytest.approx(0.3, rel=0.01)
    assert turned.max() / 360.0 * 62400 == pytest.approx(52.0, abs=1.0)


@given(
    duration=st.floats(0.1, 5.0),
    angle=st.floats(-90.0, 90.0),
    tick=st.integers(1_000_000, 100_000_000),
)
def test_a_pulse_of_any_length_turns_its_angle_exactly_at_any_control_period(
    duration, angle, tick
):
    assert turned_per_tick(duration, angle, tick).sum() == pytest.approx(angle, abs=1e-11)


@given(st.floats(0.0, 1.0))
def test_progress_is_the_integral_of_a_cosine_lobe(s):
    grid = np.linspace(0.0, s, 2001)
    lobe = 1.0 - np.cos(2.0 * np.pi * grid)
    assert pulse_progress(s) == pytest.approx(trapezoid(lobe, grid))
    assert pulse_progress(s) + pulse_progress(1.0 - s) == pytest.approx(1.0)


def test_pulses_sum_where_they_overlap():
    one = Pulse(stage=0, start=0, end=SECOND, angles=np.array([1.0]))
    other = Pulse(stage=1, start=SECOND // 2, end=3 * SECOND // 2, angles=np.array([-1.0]))
    both = (
        one.share_between(0, 2 * SECOND) * one.angles
        + other.share_between(0, 2 * SECOND) * other.angles
    )
    assert both[0] == pytest.approx(0.0, abs=1e-15)
