# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Measurements of the ground of Korbel (2013) against the equations of the thesis."""

import pytest

from gait_studies.korbel2013 import contact


@pytest.fixture(scope='module')
def found():
    return contact.contact_measurements()


def test_normal_force_of_equation_1(found):
    # k d and k d + lambda d d' with 25 lb/in and 27 lb s/in^2; it never pulls.
    assert found['push_still'] == pytest.approx(25.0 * 0.001, rel=1e-5)
    assert found['push_sinking'] == pytest.approx(0.001 * (25.0 + 27.0 * 0.5), rel=1e-4)
    assert found['push_least'] == 0.0
    assert found['damping_ratio'] == pytest.approx(1.0, abs=1e-3)


def test_friction_of_equations_3_to_5(found):
    assert found['sliding_force'] == pytest.approx(0.3 * 0.004, rel=1e-3)
    assert found['stiction_peak'] == pytest.approx(0.3 * 1.7 * 0.004, rel=1e-3)
    assert found['largest_state'] <= 0.004 + 1e-12
    assert found['largest_work'] <= 0.0
    assert found['friction_in_the_air'] == 0.0


def test_a_slider_stops_within_the_stiction_range_or_breaks_away_and_sticks_again(found):
    assert 0.0 < found['slide_slow_distance'] < 0.004
    assert found['slide_fast_distance'] == pytest.approx(5.5, abs=0.3)
    # The damper of the range takes sigma_1 p_o / m of the speed, its spring a little more.
    assert found['slide_fast_break'] == pytest.approx(18.5, abs=0.5)
    assert abs(found['slide_fast_state']) < 0.004
    assert found['slide_fast_speed'] < 0.05
