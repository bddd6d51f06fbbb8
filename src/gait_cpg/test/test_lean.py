# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Tilt of the base: signs, excess over undisturbed walks, and their range."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gait_core.motion.observation import Imu
from gait_cpg.reflexes.tilt import Tilt, TiltParams

PARAMS = TiltParams(lean_lead=0.1, lean_up=0.2, lean_down=0.1, lean_side=0.3)


def imu(roll=0.0, pitch=0.0, yaw=0.0, rates=(0.0, 0.0, 0.0)) -> Imu:
    return Imu(
        orientation=Rotation.from_euler('ZYX', [yaw, pitch, roll]).as_quat(),
        angular_velocity=np.array(rates),
        linear_acceleration=np.zeros(3),
    )


@pytest.mark.parametrize('yaw', [0.0, 2.0])
def test_a_lean_is_roll_and_pitch_whatever_the_heading(yaw):
    lean = Tilt()
    lean.update(imu(0.25, -0.4, yaw), PARAMS)
    assert lean.predicted == pytest.approx([0.25, -0.4])
    # To the side within the range, backward beyond it.
    assert lean.excess == pytest.approx([0.0, -0.2])


def test_a_body_that_falls_is_met_before_it_has_fallen():
    lean = Tilt()
    lean.update(imu(rates=(-5.0, 3.0, 9.0)), PARAMS)
    assert lean.predicted == pytest.approx([-0.5, 0.3])
    assert lean.excess == pytest.approx([-0.2, 0.2])
    lean.reset()
    assert not lean.excess.any()


def test_its_thresholds_lie_a_share_of_the_range_beyond_what_was_felt():
    lean = Tilt()
    assert lean.thresholds(0.1) == {}
    for roll, pitch in ((-0.1, -0.3), (0.2, 0.1), (0.0, 0.0)):
        lean.update(imu(roll, pitch), PARAMS)
        lean.widen_recorded_range()
    assert lean.thresholds(0.0) == pytest.approx(
        {'lean_up': 0.3, 'lean_down': 0.1, 'lean_side': 0.2}
    )
    assert lean.thresholds(0.5) == pytest.approx(
        {'lean_up': 0.5, 'lean_down': 0.3, 'lean_side': 0.35}
    )
