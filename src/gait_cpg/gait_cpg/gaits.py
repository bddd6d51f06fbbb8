# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Gaits: phase lags of the legs and duty factors.

Two lags define a gait, one within a pair of legs and one between neighbouring pairs. The same
table thus serves any robot with pairs of legs: the trot of four legs is the tripod of six. Names
and orders of touch-down of the symmetric gaits: Hildebrand (1965), Science 150:701-708, and
Alexander (1984), Int. J. Robotics Research 3(2):49-59.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from gait_core.arrays import FloatArray, IntArray
from gait_core.errors import ConfigurationError, excerpt, unknown_leg_error, unknown_name_error
from gait_core.files.access import expand_user
from gait_core.parameters.plain_data import sha256_of
from gait_core.parameters.schema import Location, NumberRange, read_file, read_value
from gait_core.parameters.yaml_file import LIVE_FILE_LIMITS
from gait_core.trial.scene import EMPTY_MAPPING


@dataclass(frozen=True, kw_only=True)
class Gait:
    """
    Gait of legs in pairs.

    Attributes
    ----------
    duty_factor : float
        Usual duty factor, between 0 and 1.
    side_lag : float [cycles]
        Lag of a right leg behind the left leg of its pair.
    pair_lag : float or None [cycles]
        Lag of a pair behind the next pair to the rear. ``None`` spaces the touch-downs of all
        legs evenly: a wave from the rear to the front.

    """

    duty_factor: float
    side_lag: float
    pair_lag: float | None

    def __post_init__(self) -> None:
        """Check that the duty factor leaves a stance and a swing."""
        if not 0.0 < self.duty_factor < 1.0:
            raise ConfigurationError(
                f'duty_factor is {self.duty_factor}, it must lie between 0 and 1'
            )


GAITS: Mapping[str, Gait] = {
    'trot': Gait(duty_factor=0.55, side_lag=0.5, pair_lag=0.5),
    'walk': Gait(duty_factor=0.8, side_lag=0.5, pair_lag=None),
    'pace': Gait(duty_factor=0.55, side_lag=0.5, pair_lag=0.0),
    'bound': Gait(duty_factor=0.5, side_lag=0.0, pair_lag=0.5),
    'tripod': Gait(duty_factor=0.55, side_lag=0.5, pair_lag=0.5),
    'crawl': Gait(duty_factor=0.88, side_lag=0.5, pair_lag=None),
    'ripple': Gait(duty_factor=2.0 / 3.0, side_lag=0.5, pair_lag=1.0 / 3.0),
    'wave': Gait(duty_factor=0.85, side_lag=0.5, pair_lag=None),
}
"""
Gaits by name.

``walk`` is the lateral sequence: left rear, left front, right rear, right front; ``crawl`` is the
same with all feet in stance for half of the time. ``tripod``, ``ripple`` and ``wave`` are gaits of
six legs with three, two and one of them in swing; swings travel from the rear to the front (Wilson
1966, Annual Review of Entomology 11:103-122). Robots with other numbers of legs use the same lags.
"""


OWN_GAIT = 'own'
"""Name of the gait that a file defines."""


@dataclass(frozen=True, kw_only=True)
class OwnGaitFile:
    """
    Content of a gait file.

    Attributes
    ----------
    duty_factor : mapping of str to float, or float
        Duty factor by name of the leg, or of all legs; above 0 and below 1.
    lags : mapping of str to float [cycles]
        Lag of the lift-off by name of the leg.

    """

    duty_factor: Any
    lags: Mapping[str, Annotated[float, NumberRange(0.0, 1.0)]] = field(
        default_factory=lambda: EMPTY_MAPPING
    )


@dataclass(frozen=True, kw_only=True)
class OwnGait:
    """
    Gait of a file.

    Attributes
    ----------
    lags : mapping of str to float [cycles]
    duty_factor : mapping of str to float, or float
    location : Location
        Location of the content in the file, for messages.

    """

    lags: Mapping[str, float]
    duty_factor: Mapping[str, float] | float
    location: Location

    @property
    def sha256(self) -> str:
        """SHA-256 of lags and duty factors, independent of the form of the file."""
        return sha256_of({'lags': self.lags, 'duty_factor': self.duty_factor})

    def lags_and_duty_factors(self, legs: Sequence[str]) -> tuple[FloatArray, FloatArray]:
        """
        Return lags [cycles], in [0, 1), and duty factors of the legs of a robot, (n,) each.

        Raises
        ------
        ConfigurationError
            If the file lacks a leg, or names a leg that the robot lacks.

        """
        duty_factor = self.duty_factor
        duty_factors = (
            duty_factor if isinstance(duty_factor, Mapping) else dict.fromkeys(legs, duty_factor)
        )
        return (
            _values_by_leg(self.lags, legs, self.location / 'lags') % 1.0,
            _values_by_leg(duty_factors, legs, self.location / 'duty_factor'),
        )


def _values_by_leg(
    values: Mapping[str, float], legs: Sequence[str], location: Location
) -> FloatArray:
    """Return values in the order of the legs, (n,); ConfigurationError for other names."""
    for name in values:
        if name not in legs:
            raise ConfigurationError(
                f'{(location / name).owner}: {unknown_name_error("leg", name, legs)}'
            )
    for name in legs:
        if name not in values:
            raise location.error(f"leg '{name}' is missing; legs: {', '.join(legs)}")
    return np.array([values[name] for name in legs])


def read_gait(file: str, sha256: str = '') -> OwnGait:
    """
    Read a gait from a YAML file.

    Raises
    ------
    ConfigurationError
        If the file does not exist, its content is not that of ``OwnGaitFile``, or its hash is not
        ``sha256``, if that is given.

    """
    if not file:
        raise ConfigurationError(f"gait '{OWN_GAIT}' needs a gait_file")
    content, location = read_file(OwnGaitFile, expand_user(file), LIVE_FILE_LIMITS)
    kind: Any = Mapping[str, float] if isinstance(content.duty_factor, Mapping) else float
    duty_factor = read_value(kind, content.duty_factor, location / 'duty_factor')
    _check_duty_factors(duty_factor, location / 'duty_factor')
    gait = OwnGait(lags=content.lags, duty_factor=duty_factor, location=location)
    if sha256 and gait.sha256 != sha256:
        raise ConfigurationError(
            f'gait_file {excerpt(file)} was changed: its content has SHA-256 '
            f'{gait.sha256[:12]}..., expected {excerpt(sha256[:12])}...'
        )
    return gait


def _check_duty_factors(duty_factors: Mapping[str, float] | float, location: Location) -> None:
    """Raise ConfigurationError for a duty factor that leaves no stance or no swing."""
    if isinstance(duty_factors, Mapping):
        for leg, duty_factor in duty_factors.items():
            _check_duty_factors(duty_factor, location / leg)
    elif not 0.0 < duty_factors < 1.0:
        raise ConfigurationError(f'{location} is {duty_factors:g}, it must lie between 0 and 1')


def replace_leg_values(
    values: FloatArray,
    quantity: str,
    values_by_leg: Sequence[tuple[str, float]],
    legs: Sequence[str],
) -> FloatArray:
    """
    Return values of legs, (n,), replaced for the legs in ``values_by_leg``.

    ConfigurationError for an unknown leg.
    """
    replaced = np.array(values)
    for leg, value in values_by_leg:
        if leg not in legs:
            raise unknown_leg_error(f'{quantity}.{leg}', legs)
        replaced[list(legs).index(leg)] = value
    return replaced


def find_gait(name: str) -> Gait:
    """Return a gait by name; ConfigurationError, with the nearest name, if it is unknown."""
    if name not in GAITS:
        raise unknown_name_error('gait', name, GAITS)
    return GAITS[name]


def leg_sides_and_pairs(feet: FloatArray) -> tuple[IntArray, IntArray]:
    """
    Sort legs into sides and pairs by their feet.

    Parameters
    ----------
    feet : (n, 3) array [m]
        Feet in the nominal stance, in the base frame: x forward, y to the left.

    Returns
    -------
    side : (n,) int array
        0 for left, 1 for right.
    pair : (n,) int array
        0 for the rear leg of a side, 1 for the next leg forward, and so on.

    """
    side = (feet[:, 1] < 0.0).astype(np.int64)
    pair = np.zeros(len(feet), dtype=np.int64)
    for one_side in (0, 1):
        legs = np.flatnonzero(side == one_side)
        pair[legs[np.argsort(feet[legs, 0], kind='stable')]] = np.arange(len(legs))
    return side, pair


def leg_lags(gait: Gait, feet: FloatArray) -> FloatArray:
    """
    Return the phase lag of each leg behind the left rear leg.

    Parameters
    ----------
    gait : Gait
    feet : (n, 3) array [m]
        Feet in the nominal stance, in the base frame and in any order.

    Returns
    -------
    (n,) array [cycles]
        In [0, 1).

    """
    side, pair = leg_sides_and_pairs(feet)
    pair_lag = 0.5 / (pair.max() + 1) if gait.pair_lag is None else gait.pair_lag
    # Rounding to 1e-12 cycles makes equal lags equal: 3 / 6 + 1 / 2 is a whole cycle.
    return np.round(side * gait.side_lag + pair * pair_lag, 12) % 1.0
