# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of the walk on a previewed ZMP."""

from __future__ import annotations

from dataclasses import dataclass

from gait_core.parameters.declaration import (
    Parameters,
    bool_parameter,
    float_parameter,
    int_parameter,
)


@dataclass(frozen=True, kw_only=True)
class ZmpWalkParams(Parameters):
    """Parameters of the walk on a previewed ZMP."""

    step_time: float = float_parameter(
        0.7,
        low=0.2,
        high=3.0,
        unit='s',
        doc='Time from the touch-down of one foot to that of the other.',
    )
    double_support: float = float_parameter(
        0.2, low=0.05, high=0.8, unit='-', doc='Share of a step in double support.'
    )
    stride_height: float = float_parameter(
        0.05, low=0.0, high=0.3, unit='m', doc='Height of a foot above the ground at mid-swing.'
    )
    leg_share: float = float_parameter(
        0.92,
        low=0.6,
        high=1.0,
        unit='-',
        doc='Height of the base, relative to its height on straight legs; never above that of the '
        'nominal stance.',
    )
    zmp_forward: float = float_parameter(
        0.0,
        low=-0.1,
        high=0.1,
        unit='m',
        doc='ZMP of a leg in stance, ahead of the middle of its sole.',
    )
    zmp_inward: float = float_parameter(
        0.0,
        low=-0.1,
        high=0.1,
        unit='m',
        doc='ZMP of a leg in stance, from the middle of its sole toward the other foot.',
    )
    max_forward: float = float_parameter(
        0.4, low=0.0, high=2.0, unit='m/s', doc='Largest speed forward and backward.'
    )
    max_sideways: float = float_parameter(
        0.15, low=0.0, high=1.0, unit='m/s', doc='Largest speed to either side.'
    )
    max_yaw_rate: float = float_parameter(
        0.4, low=0.0, high=2.0, unit='rad/s', doc='Largest yaw rate.'
    )
    acceleration: float = float_parameter(
        0.3, low=0.01, high=10.0, unit='m/s^2', doc='Largest change of the velocity per second.'
    )
    yaw_acceleration: float = float_parameter(
        0.6, low=0.01, high=30.0, unit='rad/s^2', doc='Largest change of the yaw rate per second.'
    )
    sub_samples: int = int_parameter(
        5,
        low=1,
        high=20,
        doc='Targets per control period; must divide its number of physics steps.',
    )
    balance_gain: float = float_parameter(
        0.5,
        low=0.0,
        high=3.0,
        unit='-',
        doc='Angle of soles in stance against tilt; above 0 it needs an IMU.',
    )
    balance_damping: float = float_parameter(
        0.05, low=0.0, high=0.5, unit='s', doc='Angle of soles in stance against the rate of tilt.'
    )
    capture_gain: float = float_parameter(
        0.0,
        low=0.0,
        high=3.0,
        unit='-',
        doc='Share of the error of the capture point by which the next foothold moves.',
    )
    heading_gain: float = float_parameter(
        0.0,
        low=0.0,
        high=5.0,
        unit='1/s',
        doc='Rate at which measured yaw that was not planned (slip of soles) is corrected.',
    )
    odometry: bool = bool_parameter(
        False,
        doc='Report the sum of the motion of the stance feet as `odom.x`, `odom.y` and `odom.yaw` '
        'in `gait_state`.',
    )

    @property
    def uses_imu(self) -> bool:
        """True if a gain of the tilt is above zero."""
        return self.balance_gain > 0.0 or self.balance_damping > 0.0 or self.capture_gain > 0.0
