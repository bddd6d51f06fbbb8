# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of the controller ``phase_cpg``, and its presets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gait_core.parameters.declaration import (
    bool_parameter,
    float_parameter,
    fraction_parameter,
    hash_parameter,
    int_parameter,
    leg_parameter,
    str_parameter,
)
from gait_cpg.gaits import GAITS, OWN_GAIT, read_gait
from gait_cpg.reflexes.feet import FootReflexParams


@dataclass(frozen=True, kw_only=True)
class PhaseCpgParams(FootReflexParams):
    """Parameters of the phase-oscillator walk."""

    gait: str = str_parameter(
        'trot', choices=(*GAITS, OWN_GAIT), doc='Gait: which legs swing together.'
    )
    gait_file: str = str_parameter(
        '', doc='YAML file of the gait `own`: duty factor and phase lag of each leg.'
    )
    frequency: float = float_parameter(
        2.5, low=0.2, high=5.0, unit='Hz', doc='Gait cycles per second.'
    )
    duty_factor: float = float_parameter(
        GAITS['trot'].duty_factor,
        low=0.3,
        high=0.95,
        unit='-',
        doc='Share of a stride that is stance.',
    )
    stride_height: float = float_parameter(
        0.05, low=0.0, high=0.3, unit='m', doc='Height of a foot above the ground at mid-swing.'
    )
    body_height: float = float_parameter(
        0.0,
        low=-0.2,
        high=0.2,
        unit='m',
        doc='Height of the body above that of its nominal stance.',
    )
    body_shift: float = float_parameter(
        0.0,
        low=-0.2,
        high=0.2,
        unit='m',
        doc='Forward shift of the body over the feet of the nominal stance.',
    )
    stance_width: float = float_parameter(
        0.0,
        low=-0.1,
        high=0.2,
        unit='m',
        doc='Outward shift of each foot from the nominal stance.',
    )
    sway: float = float_parameter(
        0.0,
        low=0.0,
        high=0.2,
        unit='m',
        doc='Sideways shift of the body away from swinging legs, if all legs of one side swing at '
        'once; less if they alternate.',
    )
    max_forward: float = float_parameter(
        0.6, low=0.0, high=3.0, unit='m/s', doc='Largest speed forward and backward.'
    )
    max_sideways: float = float_parameter(
        0.3, low=0.0, high=2.0, unit='m/s', doc='Largest speed to either side.'
    )
    max_yaw_rate: float = float_parameter(
        1.0, low=0.0, high=5.0, unit='rad/s', doc='Largest yaw rate.'
    )
    acceleration: float = float_parameter(
        0.5, low=0.01, high=10.0, unit='m/s^2', doc='Largest change of the velocity per second.'
    )
    yaw_acceleration: float = float_parameter(
        1.5, low=0.01, high=30.0, unit='rad/s^2', doc='Largest change of the yaw rate per second.'
    )
    sub_samples: int = int_parameter(
        5,
        low=1,
        high=20,
        doc='Targets per control period; must divide its number of physics steps.',
    )
    convergence_rate: float = float_parameter(
        6.0,
        low=0.5,
        high=20.0,
        unit='1/s',
        doc='Rate at which phase lags, step length and changed parameters converge.',
    )
    heading_gain: float = float_parameter(
        0.0,
        low=0.0,
        high=5.0,
        unit='1/s',
        doc='Yaw rate per heading error; 0: the heading is not held.',
    )
    speed_gain: float = float_parameter(
        0.0,
        low=0.0,
        high=5.0,
        unit='1/s',
        doc='Rate at which a speed error is corrected; 0: the speed is not held.',
    )
    level: float = fraction_parameter(
        0.0,
        doc='Share of the slope of the ground that the legs compensate; 1: the body stays level.',
    )
    odometry: bool = bool_parameter(
        False,
        doc='Report the sum of the motion of the stance feet as `odom.x`, `odom.y` and `odom.yaw` '
        'in `gait_state`.',
    )
    leg_duty_factors: tuple[tuple[str, float], ...] = leg_parameter(
        'duty_factor',
        low=0.3,
        high=0.95,
        unit='-',
        doc='Duty factor of one leg, in place of that of all legs or of the gait file.',
        follows=('duty_factor', 'gait_file'),
    )
    leg_lags: tuple[tuple[str, float], ...] = leg_parameter(
        'lag',
        low=0.0,
        high=1.0,
        unit='cycles',
        doc='Phase lag of the lift-off of one leg, in place of that of the gait or its file.',
        follows=('gait', 'gait_file'),
    )
    gait_file_sha256: str = hash_parameter(
        'gait_file',
        doc='SHA-256 of the content of the gait file, which a trial checks; empty: any content.',
    )

    def __post_init__(self) -> None:
        """Check all fields; with the gait ``own``, also its file."""
        super().__post_init__()
        if self.gait == OWN_GAIT:
            read_gait(self.gait_file, self.gait_file_sha256)

    def with_file_hashes(self) -> PhaseCpgParams:
        """Return the parameters with the hash of the gait file, if it is used."""
        if self.gait != OWN_GAIT:
            return self
        return replace(self, gait_file_sha256=read_gait(self.gait_file).sha256)

    def without_effect(self, legs: Sequence[str]) -> Mapping[str, str]:
        """Return by name the parameters that others leave without effect, each with the reason."""
        reasons = dict(super().without_effect(legs))
        if set(legs) <= {leg for leg, _ in self.leg_duty_factors}:
            reasons['duty_factor'] = 'every leg has a duty factor of its own'
        elif self.gait == OWN_GAIT:
            reasons['duty_factor'] = (
                f"the gait file '{self.gait_file}' sets the duty factor of every leg; nearest "
                f'valid: duty_factor.{legs[0]}'
            )
        return reasons


PRESETS: Mapping[str, Mapping[str, Any]] = {
    'trot': {'gait': 'trot'},
    'walk': {
        'gait': 'walk',
        'frequency': 0.8,
        'duty_factor': GAITS['walk'].duty_factor,
        'sway': 0.06,
    },
    'pace': {'gait': 'pace', 'duty_factor': GAITS['pace'].duty_factor, 'frequency': 3.0},
    'bound': {'gait': 'bound', 'duty_factor': GAITS['bound'].duty_factor, 'frequency': 3.5},
    'crawl': {
        'gait': 'crawl',
        'duty_factor': GAITS['crawl'].duty_factor,
        'frequency': 0.5,
        'sway': 0.06,
    },
    'tripod': {'gait': 'tripod', 'duty_factor': GAITS['tripod'].duty_factor, 'frequency': 1.5},
    'ripple': {'gait': 'ripple', 'duty_factor': GAITS['ripple'].duty_factor, 'frequency': 1.2},
    'wave': {'gait': 'wave', 'duty_factor': GAITS['wave'].duty_factor, 'frequency': 0.6},
}
"""Differences from the defaults; the first is the default preset."""
