# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Leg levelling: a leg is bent before touch-down until it is as short as the leg behind.

In the published timetable the front leg becomes longer than the rear leg while the body still
leans over the rear leg, and the robot tips onto the inner edge of the rear foot. The bent leg
touches down with a level pelvis, and straightens after the rear leg has left the ground.
"""

from __future__ import annotations

import math

import numpy as np

from gait_core.arrays import FloatArray
from gait_stage_walk.behaviours.behaviour import Period
from gait_stage_walk.staged.pulse import pulse_progress
from gait_stage_walk.staged.timetable import WALK_JOINTS, bend_angles, opposite_leg
from gait_stage_walk.staged.walk import HalfCycle, StagedWalk

_COLUMN = {name: i for i, name in enumerate(WALK_JOINTS)}
_HIP_COLUMN = {leg: _COLUMN[f'{leg}_hip_fwd'] for leg in ('left', 'right')}
_KNEE_COLUMN = {leg: _COLUMN[f'{leg}_knee'] for leg in ('left', 'right')}
_BEND = {
    leg: (
        np.array([_COLUMN[name] for name in bend_angles(leg, 1.0)]),
        np.array(list(bend_angles(leg, 1.0).values())),
    )
    for leg in ('left', 'right')
}


def vertical_leg_length(hip: float, knee: float) -> float:
    """
    Return the vertical distance from hip to ankle in thigh lengths.

    Thigh and shank are equally long and the pelvis is level; angles in rad, flexion positive.
    """
    return math.cos(hip) + math.cos(hip - knee)


def levelling_bend(hip: float, knee: float, length: float) -> float:
    r"""
    Return the additional knee bend that shortens a leg to a vertical length; 0 if it is shorter.

    With knee ``k + 2e``, hip ``h + e`` and ankle ``a + e`` the foot keeps its pitch, and

    .. math::
        \cos(h + e) + \cos(h - k - e) = 2 \cos(h - k/2) \cos(k/2 + e)

    has the closed solution for ``2e`` that is returned.

    Parameters
    ----------
    hip, knee : float [rad]
        Angles of the leg before the bend.
    length : float
        Vertical length to reach, in thigh lengths.

    """
    # length = 2 cos(h - k/2) cos(k/2 + e), solved for 2e.
    half_length = 2.0 * math.cos(hip - knee / 2.0)
    cosine = min(max(length / half_length, 0.0), 1.0)
    return max(2.0 * math.acos(cosine) - knee, 0.0)


class LegLevelling:
    """Behaviour that bends each leg before touch-down; registered after the staged walk."""

    joints = WALK_JOINTS
    is_finished = False

    def __init__(self, walk: StagedWalk) -> None:
        self._walk = walk
        self.reset()

    def reset(self) -> None:
        """Set the bends of both legs to zero."""
        self.bends = {'left': 0.0, 'right': 0.0}
        self._held_bends: dict[int, float] = {}

    def step(self, period: Period) -> FloatArray:
        """Return the turns of ``WALK_JOINTS`` in a period, (n,) [rad]."""
        end = period.end
        turns = np.zeros(len(WALK_JOINTS))
        bends = {'left': 0.0, 'right': 0.0}
        for half in self._walk.half_cycles:
            if half.start < end:
                bends[half.front] += self._wanted_bend(half, end, bends[opposite_leg(half.front)])
        for leg, bend in bends.items():
            if bend != self.bends[leg]:
                columns, shares = _BEND[leg]
                turns[columns] += (bend - self.bends[leg]) * shares
        self.bends = bends
        current = {half.start for half in self._walk.half_cycles}
        self._held_bends = {
            start: bend for start, bend in self._held_bends.items() if start in current
        }
        return turns

    def _wanted_bend(self, half: HalfCycle, now: int, rear_bend: float) -> float:
        """Return the knee bend of the front leg of a half-cycle at a time [ns], [rad]."""
        params, elapsed = half.params, half.elapsed(now)
        # After ``level_hold`` the last bend is released by a pulse; before, it follows the length
        # of the rear leg.
        if elapsed > params.level_hold:
            release = (elapsed - params.level_hold) / params.level_release
            return self._held_bends.get(half.start, 0.0) * (1.0 - pulse_progress(release))
        hip, knee = self._hip_and_knee(half.front)
        rear_hip, rear_knee = self._hip_and_knee(opposite_leg(half.front))
        length = vertical_leg_length(rear_hip + rear_bend / 2.0, rear_knee + rear_bend)
        bend = params.levelling * levelling_bend(hip, knee, length - params.landing_clearance)
        self._held_bends[half.start] = bend
        return bend

    def _hip_and_knee(self, leg: str) -> tuple[float, float]:
        angles = self._walk.angles
        return float(angles[_HIP_COLUMN[leg]]), float(angles[_KNEE_COLUMN[leg]])
