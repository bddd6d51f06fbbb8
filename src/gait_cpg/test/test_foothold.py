# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Footholds stay where they are on the ground, and feet come down on them."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np

from gait_cpg.phase_cpg.swing import (
    StepParameters,
    ground_points_after,
    predict_footholds,
    write_foot_targets,
)


@settings(deadline=None)
@given(
    start=st.floats(0.0, 0.9),
    twist=st.tuples(*[st.floats(-0.5, 0.5)] * 3),
    later=st.floats(0.01, 0.99),
    extra=st.floats(-0.1, 0.2),
)
def test_a_foothold_stays_where_it_is_while_the_base_moves_on_and_the_foot_comes_down_there(
    start, twist, later, extra
):
    frequency, duty_factor, feet = 2.0, 0.55, np.array([[0.2, 0.1, -0.3, 1.0]])
    shape = [frequency, duty_factor - extra, 0.05, 0.02, -0.01, 0.03, 0.0]
    swing = 2.0 * np.pi * (1.0 - duty_factor)

    def foothold(phase):
        oscillators = np.array([[phase], [1.0], [0.0]])
        return predict_footholds(oscillators, feet, np.array([*twist, *shape]), np.array([extra]))[
            0
        ]

    begin = start * swing
    end = begin + later * (swing - begin)
    now, then = foothold(begin), foothold(end)
    time = (end - begin) / (2.0 * np.pi * frequency)
    np.testing.assert_allclose(
        ground_points_after(now[:2], np.array(twist), time), then[:2], atol=1e-12
    )
    steps = StepParameters(np.array(twist), np.array(shape), np.array([extra]))
    touching = np.empty((1, 1, 3))
    write_foot_targets(np.array([[swing]]), np.ones((1, 1)), feet, steps, steps, touching)
    np.testing.assert_allclose(foothold(swing - 1e-12), touching[0, 0], atol=1e-9)
