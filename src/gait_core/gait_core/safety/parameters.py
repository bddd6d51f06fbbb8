# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Settings of the safety layer between a live controller and a robot."""

from __future__ import annotations

from dataclasses import dataclass

from gait_core.parameters.declaration import (
    Parameters,
    bool_parameter,
    float_parameter,
    str_parameter,
)


@dataclass(frozen=True, kw_only=True)
class SafetyParams(Parameters):
    """Limits that protect a robot from the targets of a live controller."""

    enabled: bool = bool_parameter(
        True,
        doc='Use the safety layer. False: only joint limits and the emergency stop act. In '
        'lock-step the layer is never used.',
        read_only=True,
    )
    start_speed: float = float_parameter(
        1.0,
        low=0.001,
        high=100.0,
        unit='rad/s or m/s',
        doc='Largest speed of a joint on its way to the first targets and to the fall pose. After '
        'a change of the gait a joint may exceed the speed of its targets by this value. At most '
        'the velocity limit of the joint.',
    )
    speed_share: float = float_parameter(
        1.0,
        low=0.01,
        high=1.0,
        unit='-',
        doc="Share of a joint's velocity limit that its targets may use.",
    )
    state_timeout: float = float_parameter(
        0.5,
        low=0.0,
        high=60.0,
        unit='s',
        doc='Age of the oldest joint state at which the joints hold; 0: no limit.',
    )
    fall_tilt: float = float_parameter(
        0.0,
        low=0.0,
        high=3.15,
        unit='rad',
        doc="Tilt at which the robot counts as fallen; 0: the robot's default.",
    )
    fall_time: float = float_parameter(
        0.1,
        low=0.0,
        high=10.0,
        unit='s',
        doc='Duration of a tilt above fall_tilt after which the robot counts as fallen.',
    )
    fall_action: str = str_parameter(
        'pose',
        choices=('pose', 'hold', 'ignore'),
        doc="Action after a fall: 'pose' moves to the fall pose of robot.yaml, or holds without "
        "one; 'hold' holds; 'ignore' continues the gait.",
    )
    recover: bool = bool_parameter(
        False,
        doc='Restart when a fallen robot has stood upright for a second. False: restart by '
        '~/resume.',
    )
