# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The slider-crank against its geometry, its derivative and virtual work."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

from gait_core.kinematics.slider_crank import carriage_position, crank_angle

CRANK, REST, UPPER_LEG = 0.10, 1.5, 0.295
# Bishop (2008), eq. K0: the rod with which the carriage rests in the middle of the upper leg.
ROD = math.hypot(CRANK * math.cos(REST) + 0.5 * UPPER_LEG, CRANK * math.sin(REST))
angles = st.floats(0.05, 3.1)


def test_the_knee_of_the_middle_body_is_where_the_thesis_puts_it():
    place, slope = carriage_position(REST, CRANK, ROD)
    assert place == pytest.approx(0.5 * UPPER_LEG, abs=1e-9)
    assert slope == pytest.approx(0.0952, abs=5e-5)
    assert pytest.approx(0.1840, abs=5e-5) == ROD
    assert carriage_position(0.2, CRANK, ROD)[0] == pytest.approx(0.0849, abs=5e-5)
    assert carriage_position(2.8, CRANK, ROD)[0] == pytest.approx(0.2751, abs=5e-5)


@settings(deadline=None)
@given(angles)
def test_the_slope_is_the_derivative_of_the_place(angle):
    h = 1e-6
    ahead, behind = (carriage_position(angle + step, CRANK, ROD)[0] for step in (h, -h))
    assert carriage_position(angle, CRANK, ROD)[1] == pytest.approx(
        (ahead - behind) / (2.0 * h), abs=1e-6
    )


@settings(deadline=None)
@given(angles)
def test_the_rod_keeps_its_length(angle):
    place, _ = carriage_position(angle, CRANK, ROD)
    end = CRANK * math.cos(angle) + place, CRANK * math.sin(angle)
    assert math.hypot(*end) == pytest.approx(ROD, abs=1e-12)


@settings(deadline=None)
@given(angles)
def test_the_angle_of_a_place_is_the_one_it_came_from(angle):
    place, _ = carriage_position(angle, CRANK, ROD)
    assert crank_angle(place, CRANK, ROD) == pytest.approx(angle, abs=1e-7)


def test_places_out_of_reach_give_the_nearest_angle():
    assert crank_angle(0.0, CRANK, ROD) == pytest.approx(0.0, abs=1e-6)
    assert crank_angle(1.0, CRANK, ROD) == pytest.approx(math.pi, abs=1e-6)


def test_a_linkage_of_any_size_has_the_angles_of_its_shape():
    # A triangle of 2, 3 and 4: the law of cosines.
    for size in (0.01, 1.0, 100.0):
        found = crank_angle(4.0 * size, 2.0 * size, 3.0 * size)
        assert found == pytest.approx(math.acos(-11.0 / 16.0), abs=1e-12)
