"""Parameters of the keyframe strides, and their presets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gait_core.parameters.declaration import Parameters, bounded, flag, floats, text, whole


@dataclass(frozen=True, kw_only=True)
class KeyframeStrideParams(Parameters):
    """Parameters of a keyframe stride."""

    postures: tuple[float, ...] = floats(
        (),
        low=-360.0,
        high=360.0,
        unit='deg, cm',
        doc='48 numbers: for each of 4 postures and 3 legs hip, knee, upper and lower length, as '
        'published. Empty: feet count.',
    )
    joined: str = text(
        'joints',
        choices=('joints', 'feet'),
        doc='What moves from posture to posture: joints with minimum jerk, at rest in each; or '
        'feet, evenly while they stand.',
    )
    feet: tuple[float, ...] = floats(
        (),
        low=-1.0,
        high=1.0,
        unit='m',
        doc='24 numbers: for each of 4 keyframes and 3 legs how far the foot is ahead of its hip '
        'and how deep below. Empty: stroke, height, lift and offset count.',
    )
    stroke: float = bounded(
        0.12, low=0.0, high=0.3, unit='m', doc='Way of a foot on the ground, under the body.'
    )
    height: float = bounded(
        0.165, low=0.05, high=0.24, unit='m', doc='Hips above the centres of standing feet.'
    )
    lift: float = bounded(0.03, low=0.0, high=0.15, unit='m', doc='Height of a step.')
    offset: float = bounded(
        0.0, low=-0.1, high=0.1, unit='m', doc='Middle of the stroke ahead of the hip.'
    )
    upper: float = bounded(
        0.09, low=0.06, high=0.12, unit='m', doc='Length of upper segments in mid-stance.'
    )
    lower: float = bounded(
        0.09, low=0.06, high=0.12, unit='m', doc='Length of lower segments in mid-stance.'
    )
    extension: float = bounded(
        0.0,
        low=-2.0,
        high=2.0,
        unit='-',
        doc='Share of a change of reach on the ground that lengths make and not knees; 0 freezes '
        'them. Not where postures give lengths.',
    )
    lift_extension: float = bounded(
        0.0, low=-2.0, high=2.0, unit='-', doc='The same for raising the foot.'
    )
    duty: float = bounded(
        0.55, low=0.5, high=0.8, unit='-', doc='Share of a cycle that moved feet stand.'
    )
    period: float = bounded(2.0, low=0.2, high=20.0, unit='s', doc='Of a cycle; published: 4 s.')
    beyond: str = text(
        'refuse',
        choices=('refuse', 'nearest'),
        doc='What a joint does with an angle, length or foot that it cannot reach.',
    )
    follow_velocity: bool = flag(
        False, doc='Step as often as the commanded forward speed asks for, and stand at none.'
    )
    fastest: float = bounded(
        1.5, low=0.1, high=5.0, unit='-', doc='Most cycles per period that a command can ask for.'
    )
    start_time: float = bounded(
        1.0,
        low=0.1,
        high=10.0,
        unit='s',
        doc='To get from the stance to the stride, or from one stride to another.',
    )
    ramp_time: float = bounded(
        0.5, low=0.05, high=10.0, unit='s', doc='From standing to a cycle per period, and back.'
    )
    samples: int = whole(
        5, low=1, high=50, doc='Targets per control period; must divide its physics steps.'
    )
    stop: bool = flag(False, doc='Stand still, from the next time on that both tripods stand.')


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
