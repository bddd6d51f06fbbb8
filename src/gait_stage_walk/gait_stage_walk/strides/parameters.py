# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of the keyframe strides, and their presets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gait_core.parameters.declaration import (
    Parameters,
    bool_parameter,
    float_parameter,
    floats_parameter,
    int_parameter,
    str_parameter,
)

_STEP_PARAMETERS = ('stroke', 'height', 'lift', 'offset')
"""Parameters of a stride without keyframes."""


@dataclass(frozen=True, kw_only=True)
class KeyframeStrideParams(Parameters):
    """Parameters of a keyframe stride."""

    postures: tuple[float, ...] = floats_parameter(
        (),
        low=-360.0,
        high=360.0,
        unit='deg, cm',
        doc='48 numbers as published: hip, knee, upper and lower length for each of 4 postures '
        'and 3 legs. Empty: feet are used.',
    )
    joined: str = str_parameter(
        'joints',
        choices=('joints', 'feet'),
        doc='Interpolation between postures. joints: minimum jerk, at rest in each posture. feet: '
        'constant velocity of the feet in stance.',
    )
    feet: tuple[float, ...] = floats_parameter(
        (),
        low=-1.0,
        high=1.0,
        unit='m',
        doc='24 numbers: distance of the foot ahead of and below its hip, for each of 4 keyframes '
        'and 3 legs. Empty: stroke, height, lift and offset are used.',
    )
    stroke: float = float_parameter(
        0.12,
        low=0.0,
        high=0.3,
        unit='m',
        doc='Distance that a foot moves in stance, relative to the body.',
    )
    height: float = float_parameter(
        0.165,
        low=0.05,
        high=0.24,
        unit='m',
        doc='Height of the hips above the centres of feet in stance.',
    )
    lift: float = float_parameter(
        0.03, low=0.0, high=0.15, unit='m', doc='Height of a foot above the ground at mid-swing.'
    )
    offset: float = float_parameter(
        0.0,
        low=-0.1,
        high=0.1,
        unit='m',
        doc='Distance of the middle of the stroke ahead of the hip.',
    )
    upper: float = float_parameter(
        0.09, low=0.06, high=0.12, unit='m', doc='Length of the upper segments at mid-stance.'
    )
    lower: float = float_parameter(
        0.09, low=0.06, high=0.12, unit='m', doc='Length of the lower segments at mid-stance.'
    )
    extension: float = float_parameter(
        0.0,
        low=-2.0,
        high=2.0,
        unit='-',
        doc='Share of the change of leg reach in stance that comes from telescoping segments; the '
        'knee makes the rest. 0: constant lengths. Unused with postures, which give lengths.',
    )
    lift_extension: float = float_parameter(
        0.0,
        low=-2.0,
        high=2.0,
        unit='-',
        doc='Share of the foot lift in swing that comes from telescoping segments; the knee makes '
        'the rest.',
    )
    duty: float = float_parameter(
        0.55,
        low=0.5,
        high=0.8,
        unit='-',
        doc="Duty factor. Unused with postures joined by 'joints'.",
    )
    period: float = float_parameter(
        2.0, low=0.2, high=20.0, unit='s', doc='Cycle time; published: 4 s.'
    )
    beyond: str = str_parameter(
        'refuse',
        choices=('refuse', 'nearest'),
        doc='Treatment of an angle, length or foot out of reach: refuse it, or use the nearest '
        'one in reach.',
    )
    follow_velocity: bool = bool_parameter(
        False, doc='Frequency follows the commanded forward speed; the robot stands at zero.'
    )
    fastest: float = float_parameter(
        1.5,
        low=0.1,
        high=5.0,
        unit='-',
        doc='Largest frequency that a command can ask for, as a multiple of 1 / period.',
    )
    start_time: float = float_parameter(
        1.0,
        low=0.1,
        high=10.0,
        unit='s',
        doc='Time from the nominal stance to the stride, or from one stride to another.',
    )
    ramp_time: float = float_parameter(
        0.5,
        low=0.05,
        high=10.0,
        unit='s',
        doc='Time from standing to the frequency 1 / period, and back.',
    )
    samples: int = int_parameter(
        5,
        low=1,
        high=50,
        doc='Targets per control period; must divide its number of physics steps.',
    )
    stop: bool = bool_parameter(False, doc='Stand still, as soon as both tripods are in stance.')

    def without_effect(self, legs: Sequence[str]) -> Mapping[str, str]:
        """Return by name the parameters that others leave without effect, each with the reason."""
        reasons = dict(super().without_effect(legs))
        if self.feet:
            reasons |= dict.fromkeys(_STEP_PARAMETERS, 'feet are given')
        if self.postures:
            unused = (*_STEP_PARAMETERS, 'upper', 'lower', 'extension', 'lift_extension')
            reasons |= dict.fromkeys(unused, 'postures are given')
            if self.joined == 'joints':
                reasons['duty'] = "postures are joined by 'joints'"
        if not self.follow_velocity:
            reasons['fastest'] = 'follow_velocity is off'
        return reasons


PRESETS: Mapping[str, Mapping[str, Any]] = {
    'fixed': {'follow_velocity': True},
    'extending': {
        'follow_velocity': True,
        'extension': 1.0,
        'lift_extension': 1.0,
        # The screws then run at most at 0.059 of their 0.06 m/s.
        'period': 3.2,
        'fastest': 1.0,
    },
}
"""Differences from the defaults; the first is the default preset."""
