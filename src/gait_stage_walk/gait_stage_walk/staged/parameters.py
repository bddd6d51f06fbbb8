# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of the staged walk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gait_core.parameters.declaration import (
    Parameters,
    bool_parameter,
    float_parameter,
    fraction_parameter,
)


@dataclass(frozen=True, kw_only=True)
class StagedWalkParams(Parameters):
    """
    Parameters of the staged walk; angles in degrees, as published.

    The four angles ``knee_bend_deg`` to ``hip_move_deg`` are given for a step of 20 degrees; they
    scale with ``step_size_deg``. Pike (2003) calls them binding variables, because they join the
    stages of the walk. Their defaults are the published optimum.
    """

    step_size_deg: float = float_parameter(
        20.0, low=5.0, high=30.0, unit='deg', doc='Hip angle of the forward step.'
    )
    leg_lift_deg: float = float_parameter(
        25.0, low=10.0, high=35.0, unit='deg', doc='Knee angle of the lifted leg.'
    )
    sway_deg: float = float_parameter(
        9.0, low=4.0, high=12.0, unit='deg', doc='Roll of the body to each side.'
    )
    knee_bend_deg: float = float_parameter(
        22.272373, low=20.0, high=35.0, unit='deg', doc='Knee angle of the rear leg.'
    )
    ankle_place_deg: float = float_parameter(
        39.250172,
        low=20.0,
        high=40.0,
        unit='deg',
        doc='Toe-down ankle angle of the front leg; twice step_size_deg keeps the foot level.',
    )
    ankle_move_deg: float = float_parameter(
        16.447701,
        low=10.0,
        high=25.0,
        unit='deg',
        doc='Toe-up ankle angle of the rear leg; 3/4 of knee_bend_deg keeps the foot level.',
    )
    hip_move_deg: float = float_parameter(
        23.228657,
        low=10.0,
        high=25.0,
        unit='deg',
        doc='No effect: the published timetable adds and subtracts it at the same time.',
    )
    torso_lean_deg: float = float_parameter(
        0.0, low=-10.0, high=10.0, unit='deg', doc='Forward pitch of the torso during the walk.'
    )
    time_scale: float = float_parameter(
        0.9,
        low=0.6,
        high=1.2,
        unit='s',
        doc='Time unit of the timetable; a gait cycle takes 3.5 units.',
    )
    sway_lead: float = float_parameter(
        0.02,
        low=0.0,
        high=0.3,
        unit='time_scale',
        doc='Time by which the sway precedes the steps.',
    )
    levelling: float = fraction_parameter(
        1.0,
        doc='Share of the knee bend that makes the leg at touch-down as short as the other; 0: '
        'off.',
    )
    landing_clearance: float = float_parameter(
        0.004,
        low=0.0,
        high=0.02,
        unit='thigh',
        doc='Further shortening of the leg that levelling shortens; it delays the touch-down.',
    )
    level_hold: float = float_parameter(
        1.05,
        low=1.0,
        high=1.25,
        unit='time_scale',
        doc='Time from the start of a half-cycle until its levelled leg straightens.',
    )
    level_release: float = float_parameter(
        0.7,
        low=0.4,
        high=0.8,
        unit='time_scale',
        doc='Time in which a levelled leg straightens.',
    )
    turn_deg: float = float_parameter(
        0.0,
        low=-360.0,
        high=360.0,
        unit='deg',
        doc='Target heading relative to that at the start, positive to the left.',
    )
    max_twist_deg: float = float_parameter(
        10.0,
        low=2.0,
        high=15.0,
        unit='deg',
        doc='Largest twist of a leg, and so largest change of heading, per step.',
    )
    heading_gain: float = fraction_parameter(
        0.0,
        doc='Share of the measured heading error that a step corrects. 0: the heading is not '
        'measured but summed from the twists of the legs.',
    )
    balance_gain: float = float_parameter(
        0.0,
        low=0.0,
        high=2.0,
        unit='rad/rad',
        doc='Ankle angle of a leg in stance against roll and pitch; above 0 it needs an IMU.',
    )
    balance_damping: float = float_parameter(
        0.0,
        low=0.0,
        high=0.5,
        unit='s',
        doc='Ankle angle of a leg in stance against the rates of roll and pitch.',
    )
    follow_velocity: bool = bool_parameter(
        False, doc='Step size follows the commanded forward speed; the robot stands at zero.'
    )
    stop: bool = bool_parameter(False, doc='Stand still, from the end of the present cycle.')


PRESETS: Mapping[str, Mapping[str, Any]] = {
    'levelled': {},
    'balanced': {
        'balance_gain': 0.3,
        'balance_damping': 0.05,
        'heading_gain': 0.5,
        'follow_velocity': True,
    },
    'published': {'leg_lift_deg': 20.0, 'sway_deg': 6.5, 'levelling': 0.0, 'sway_lead': 0.0},
}
"""Differences from the defaults; the first is the default preset."""
