# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rules of the published stride score; text and program of the thesis differ in some."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from gait_core.parameters.declaration import (
    Parameters,
    float_parameter,
    fraction_parameter,
    int_parameter,
    str_parameter,
)

CODED, PRINTED = 'coded', 'printed'
_EITHER = (CODED, PRINTED)


class RuleFlags(NamedTuple):
    """Rules as a named tuple for compiled code; a flag is True if the program is followed."""

    intervals: int
    accumulated: bool
    line_for_one_joint: bool
    magnitudes: bool
    corner_angles: bool
    same_end: bool
    absolute_distance: bool
    pose_angles: bool
    front_height: bool
    dead_band: float
    side_clearance: bool
    rear_edge: bool
    buffer: float
    efficiency_weight: float
    dragging_weight: float
    stability_weight: float


@dataclass(frozen=True, kw_only=True)
class StrideRules(Parameters):
    """
    Rules of scoring a stride; the defaults are those of the program in appendix B.

    Where a parameter takes ``coded`` or ``printed``, text and program of the thesis differ.
    """

    intervals: int = int_parameter(
        100,
        low=1,
        high=10000,
        doc='Intervals of each joint range in the rotary sum: 10 in chapter 4, 100 in the '
        'listing.',
    )
    samples: str = str_parameter(
        CODED,
        choices=_EITHER,
        doc='Samples of a joint range. coded: as many as intervals or one more, by rounding of '
        'the running angle (one more is about 1 % of energy). printed: as many as intervals.',
    )
    one_joint: str = str_parameter(
        CODED,
        choices=_EITHER,
        doc='Energy of a phase in which one joint moves. coded: a line integral. printed: Eq. '
        '3.37, whose area is then zero.',
    )
    components: str = str_parameter(
        CODED,
        choices=_EITHER,
        doc='Components of force. coded: magnitudes, also of their sum. printed: signed (Eqs. '
        '3.21 and 3.36).',
    )
    corner_angles: str = str_parameter(
        CODED,
        choices=_EITHER,
        doc='Angles of the leg. coded: law of cosines. printed: sign error of Eqs. 3.26 and 3.31.',
    )
    order: str = str_parameter(
        CODED,
        choices=_EITHER,
        doc='Pairing of rotary work and screws; the lesser sum is used. coded: first lengths with '
        'first angles, or last with last. printed: first lengths with last angles, or the reverse '
        '(section 5.2.6).',
    )
    distance: str = str_parameter(
        CODED,
        choices=_EITHER,
        doc='Distance. coded: magnitude, so backward counts as forward. printed: signed.',
    )
    pose_angles: str = str_parameter(
        CODED,
        choices=_EITHER,
        doc='Angles of the pose. coded: law of cosines. printed: sign error of Eqs. 5.8 and 5.11.',
    )
    front_height: str = str_parameter(
        CODED,
        choices=_EITHER,
        doc='Angle of the front height, Eq. 5.14. coded: 180 degrees. printed: 108.',
    )
    dead_band: float = float_parameter(
        0.01,
        low=0.0,
        high=0.1,
        unit='m',
        doc='Difference of the heights of both sides up to which the body counts as level, as in '
        'the program; 0 as in the text.',
    )
    side_clearance: str = str_parameter(
        CODED,
        choices=_EITHER,
        doc='Distance between left and right corner hips. coded: twice `tripod_width` less '
        '`body_width`. printed: `body_width` (Eq. 5.27).',
    )
    rear_edge: str = str_parameter(
        CODED,
        choices=_EITHER,
        doc='Side of the edge from foot 2 to 3 on which the CoM must lie. coded: below. printed: '
        'above, and the offset has the other sign (Eqs. 5.41 and 5.44).',
    )
    buffer: float = float_parameter(
        0.0025,
        low=0.0,
        high=0.1,
        unit='m',
        doc='Smallest distance of the CoM to each edge of the triangle of feet.',
    )
    efficiency_weight: float = fraction_parameter(0.97, doc='Weight w0 of distance per energy.')
    dragging_weight: float = fraction_parameter(
        (1.0 - 0.97) / 2.0, doc='Weight w1 of feet that do not drag on the ground in swing.'
    )
    stability_weight: float = fraction_parameter(
        (1.0 - 0.97) / 2.0, doc='Weight w2 of static stability.'
    )

    def as_named_tuple(self) -> RuleFlags:
        """Return the rules for compiled code."""
        return RuleFlags(
            intervals=self.intervals,
            accumulated=self.samples == CODED,
            line_for_one_joint=self.one_joint == CODED,
            magnitudes=self.components == CODED,
            corner_angles=self.corner_angles == CODED,
            same_end=self.order == CODED,
            absolute_distance=self.distance == CODED,
            pose_angles=self.pose_angles == CODED,
            front_height=self.front_height == CODED,
            dead_band=self.dead_band,
            side_clearance=self.side_clearance == CODED,
            rear_edge=self.rear_edge == CODED,
            buffer=self.buffer,
            efficiency_weight=self.efficiency_weight,
            dragging_weight=self.dragging_weight,
            stability_weight=self.stability_weight,
        )


AS_CODED = StrideRules()

AS_PRINTED = StrideRules(
    samples=PRINTED,
    one_joint=PRINTED,
    components=PRINTED,
    corner_angles=PRINTED,
    order=PRINTED,
    distance=PRINTED,
    pose_angles=PRINTED,
    front_height=PRINTED,
    dead_band=0.0,
    side_clearance=PRINTED,
    rear_edge=PRINTED,
)


def rules_with_weight(efficiency_weight: float, intervals: int = 100) -> StrideRules:
    """Return the coded rules with w0 and ``w1 = w2 = (1 - w0) / 2``, as in every experiment."""
    other = (1.0 - efficiency_weight) / 2.0
    return StrideRules(
        intervals=intervals,
        efficiency_weight=efficiency_weight,
        dragging_weight=other,
        stability_weight=other,
    )
