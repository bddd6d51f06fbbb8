# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Search spaces of strides: frozen, constant or free lengths, equal legs or not, lead of the screws.

A genome is a point of the unit cube; it is decoded into a feasible stride and the lead of the
screws.
"""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError, unknown_name_error
from gait_studies.cafarelli2017.strides.encoding import (
    GENES,
    LEGS,
    LIMITS_AS_CODED,
    POSTURES,
    genes_from_legs,
    genes_from_unit,
    make_feasible,
    unit_from_genes,
)

FROZEN_LENGTHS = {'frozen_6': 6.0, 'frozen_9': 9.0, 'frozen_12': 12.0}
CONSTANT, FREE = 'constant', 'free'
LEG_KINDS = (*FROZEN_LENGTHS, CONSTANT, FREE)
"""Lengths frozen at 6, 9 or 12 cm, constant per leg and segment but searched, or free."""

LEAD_RANGE = (0.001, 0.04)
"""Smallest and largest lead of a screw [m]."""


@dataclass(frozen=True, kw_only=True)
class LegFreedom:
    """
    Search space of a stride.

    Attributes
    ----------
    kind : str
        One of ``LEG_KINDS``.
    alike : bool
        The three legs of a tripod make the same motion: a third of the genes.
    lead : bool
        The lead of the screws is a gene too, on a logarithmic scale.

    """

    kind: str
    alike: bool = False
    lead: bool = False

    def __post_init__(self) -> None:
        """Check the kind."""
        if self.kind not in LEG_KINDS:
            raise unknown_name_error('kind of leg', self.kind, LEG_KINDS)

    @property
    def dimension(self) -> int:
        """Number of genes."""
        return self._angle_count + self._length_count + self.lead

    @property
    def _distinct_legs(self) -> int:
        return 1 if self.alike else LEGS

    @property
    def _angle_count(self) -> int:
        return 2 * POSTURES * self._distinct_legs

    @property
    def _length_count(self) -> int:
        return self._distinct_legs * {CONSTANT: 2, FREE: 2 * POSTURES}.get(self.kind, 0)

    def decode_strides(self, unit: FloatArray) -> FloatArray:
        """
        Return feasible strides (k, 48) [deg, cm] of genomes (k, dimension).

        Raises
        ------
        ConfigurationError
            For the wrong number of genes.

        """
        if unit.ndim != 2 or unit.shape[1] != self.dimension:
            raise ConfigurationError(
                f"genomes of '{self.kind}' have shape {unit.shape}, expected (k, {self.dimension})"
            )
        table = np.empty((len(unit), POSTURES, self._distinct_legs, 4))
        table[..., :2] = unit[:, : self._angle_count].reshape(-1, POSTURES, self._distinct_legs, 2)
        lengths = unit[:, self._angle_count : self._angle_count + self._length_count]
        if self.kind in FROZEN_LENGTHS:
            low, high = LIMITS_AS_CODED.low[2], LIMITS_AS_CODED.high[2]
            table[..., 2:] = (FROZEN_LENGTHS[self.kind] - low) / (high - low)
        else:
            table[..., 2:] = lengths.reshape(len(unit), -1, self._distinct_legs, 2)
        every = np.broadcast_to(table, (len(unit), POSTURES, LEGS, 4))
        return make_feasible(genes_from_unit(every.reshape(-1, GENES)))

    def decode_leads(self, unit: FloatArray) -> FloatArray | None:
        """Return the lead [m] of genomes, (k,), or ``None`` if it is not a gene."""
        if not self.lead:
            return None
        low, high = np.log(LEAD_RANGE)
        return np.asarray(np.exp(low + unit[:, -1] * (high - low)))

    def encode_start(self, genes: FloatArray, lead: float = 0.006) -> tuple[float, ...]:
        """
        Return the genome nearest to a stride (48,) [deg, cm], for an optimiser's ``start``.

        Equal legs move as leg 1; constant lengths are those of posture 1.
        """
        table = np.clip(unit_from_genes(genes), 0.0, 1.0).reshape(POSTURES, LEGS, 4)[
            :, : self._distinct_legs
        ]
        lengths = table[: self._length_count // (2 * self._distinct_legs), :, 2:]
        unit = [table[..., :2].ravel(), lengths.ravel()]
        if self.lead:
            low, high = np.log(LEAD_RANGE)
            unit.append(np.array([(math.log(lead) - low) / (high - low)]))
        return tuple(float(x) for x in np.concatenate(unit))


def level_stride(length: float, stroke: float = 0.06, lift: float = 0.03) -> FloatArray:
    """
    Return a stride (48,) [deg, cm] of equal legs with all feet at one height in stance.

    Parameters
    ----------
    length : float [cm]
        Length of every segment. Hips are 1.6 lengths above the feet, or less for long strokes.
    stroke, lift : float [m]
        Backward motion of each foot in stance, and its lift in mid-swing.

    """
    legs, segment = [], length / 100.0
    down = min(1.6 * segment, 0.98 * math.sqrt(4.0 * segment**2 - 0.25 * stroke**2))
    for forward in (0.5 * stroke, 0.0, -0.5 * stroke):
        bend = math.acos(math.hypot(forward, down) / (2.0 * segment))
        hip = math.atan2(down, forward) - bend
        legs.append((math.degrees(hip), math.degrees(2.0 * bend), length, length))
    # In mid-swing the hip keeps its first angle; the knee folds until the foot is at the lift.
    hip = math.radians(legs[0][0])
    below = (down - lift) / segment - math.sin(hip)
    legs.append((legs[0][0], math.degrees(math.pi - math.asin(below) - hip), length, length))
    return genes_from_legs([legs] * 3)


def rail_stride(stroke: float = 0.06) -> FloatArray:
    """
    Return a stride (48,) [deg, cm] whose lower segments lie on the ground and extend like rails.

    The published rule (hip plus knee at most 180 degrees) allows it. Hips are 9 cm up.

    Parameters
    ----------
    stroke : float [m]
        At most the stroke of a screw, 0.06.

    """
    half = 50.0 * stroke
    legs = [(90.0, 90.0, 9.0, 9.0 + moved) for moved in (-half, 0.0, half)]
    return genes_from_legs([[*legs, (90.0, 115.0, 9.0, 9.0)]] * 3)
