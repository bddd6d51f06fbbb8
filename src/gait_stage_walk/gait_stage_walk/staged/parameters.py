"""Parameters of the staged walk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gait_core.parameters.declaration import Parameters, bounded, flag


@dataclass(frozen=True, kw_only=True)
class StagedWalkParams(Parameters):
    """
    Search variables of the staged walk, in the degrees in which they were published.

    The four binding variables ``knee_bend_deg`` to ``hip_move_deg`` are given for a step of
    20 degrees and scale with ``step_size_deg``; their defaults are the published optimum.
    """

    step_size_deg: float = bounded(
        20.0, low=5.0, high=30.0, unit='deg', doc='Hip angle of the forward step.'
    )
    leg_lift_deg: float = bounded(
        25.0, low=10.0, high=35.0, unit='deg', doc='Knee angle of the lifted leg.'
    )
    sway_deg: float = bounded(9.0, low=4.0, high=12.0, unit='deg', doc='Roll to each side.')
    knee_bend_deg: float = bounded(
        22.272373, low=20.0, high=35.0, unit='deg', doc='Knee angle of the rear leg.'
    )
    ankle_place_deg: float = bounded(
        39.250172,
        low=20.0,
        high=40.0,
        unit='deg',
        doc='Toe-down ankle motion of the swing leg; twice the step keeps the foot flat.',
    )
    ankle_move_deg: float = bounded(
        16.447701,
        low=10.0,
        high=25.0,
        unit='deg',
        doc='Toe-up ankle motion of the rear leg; 3/4 of the knee bend keeps it flat.',
    )
    hip_move_deg: float = bounded(
        23.228657,
        low=10.0,
        high=25.0,
        unit='deg',
        doc='Without effect: the published timetable adds it and subtracts it at once.',
    )
    torso_lean_deg: float = bounded(
        0.0, low=-10.0, high=10.0, unit='deg', doc='Forward pitch of the torso in the walk.'
    )
    time_scale: float = bounded(
        0.9,
        low=0.6,
        high=1.2,
        unit='s',
        doc='Time unit of the timetable; a gait cycle takes 3.5 of them.',
    )
    sway_lead: float = bounded(
        0.02,
        low=0.0,
        high=0.3,
        unit='time_scale',
        doc='Time by which the sway precedes the steps.',
    )
    levelling: float = bounded(
        1.0,
        low=0.0,
        high=1.0,
        unit='-',
        doc='Share of the knee bend that makes the leg at touch-down as short as the other one; '
        '0: off.',
    )
    landing_clearance: float = bounded(
        0.004,
        low=0.0,
        high=0.02,
        unit='thigh',
        doc='Further shortening of that leg, so that it touches down later.',
    )
    level_hold: float = bounded(
        1.05,
        low=1.0,
        high=1.25,
        unit='time_scale',
        doc='Time from the start of its half-cycle at which that leg begins to straighten.',
    )
    level_release: float = bounded(
        0.7,
        low=0.4,
        high=0.8,
        unit='time_scale',
        doc='Duration of its straightening.',
    )
    turn_deg: float = bounded(
        0.0,
        low=-360.0,
        high=360.0,
        unit='deg',
        doc='Target heading, left positive; 0 is that of the start.',
    )
    max_twist_deg: float = bounded(
        10.0, low=2.0, high=15.0, unit='deg', doc='Largest change of heading per step.'
    )
    heading_gain: float = bounded(
        0.0,
        low=0.0,
        high=1.0,
        unit='-',
        doc='Share of the measured heading error that a step corrects; 0: turns are counted, not '
        'measured.',
    )
    balance_gain: float = bounded(
        0.0,
        low=0.0,
        high=2.0,
        unit='rad/rad',
        doc='Angle of a stance ankle per tilt of the base; above 0 an IMU is needed.',
    )
    balance_damping: float = bounded(
        0.0,
        low=0.0,
        high=0.5,
        unit='s',
        doc='Angle of a stance ankle per rate of that tilt.',
    )
    follow_velocity: bool = flag(
        False, doc='Take the step size from the commanded forward speed, and stand at zero.'
    )
    stop: bool = flag(False, doc='Stand still from the end of the present gait cycle.')


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
