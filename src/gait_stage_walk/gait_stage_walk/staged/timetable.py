# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Published timetable of the staged walk, and the joint motion of each stage."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
import math

from gait_stage_walk.staged.parameters import StagedWalkParams

REFERENCE_STEP_DEG = 20.0
"""Step size for which the binding variables are given [deg]."""

HALF_CYCLE_DURATION = 1.75
"""Time between the two mirrored halves of a cycle [time_scale]."""

CYCLE_DURATION = 3.5
"""Cycle time [time_scale]; the last stage of a cycle ends in the next cycle."""


class Move(Enum):
    """Kind of motion of a stage."""

    LEAN = 'lean to the side'
    RAISE = 'raise the leg'
    EXTEND = 'extend the leg forward'
    LOWER = 'lower the leg left behind'
    STRAIGHTEN = 'straighten the body over the leg'
    SWAY = 'sway to the other side'
    FORWARD = 'move the leg left behind forward'
    DROP = 'drop the leg'
    CENTRE = 'lean to the centre'


@dataclass(frozen=True, kw_only=True)
class Stage:
    """
    Row of the timetable: motion of a leg.

    Attributes
    ----------
    numbers : tuple of int
        Published numbers in cycle one and cycle two; a single one in start-up and exit.
    move : Move
    leg : str
    start, duration : float
        From the start of the mode (``WalkMode``); in a cycle [time_scale], else [s].

    """

    numbers: tuple[int, ...]
    move: Move
    leg: str
    start: float
    duration: float


# Pike (2003), Figure 6.2.
CYCLE_STAGES = (
    Stage(numbers=(6, 30), move=Move.EXTEND, leg='left', start=0.0, duration=1.0),
    Stage(numbers=(7, 31), move=Move.LOWER, leg='right', start=0.0, duration=1.25),
    Stage(numbers=(9, 38), move=Move.STRAIGHTEN, leg='left', start=0.0, duration=1.25),
    Stage(numbers=(19, 32), move=Move.SWAY, leg='left', start=0.0, duration=2.0),
    Stage(numbers=(10, 33), move=Move.FORWARD, leg='right', start=1.0, duration=1.0),
    Stage(numbers=(11, 34), move=Move.EXTEND, leg='right', start=1.75, duration=1.0),
    Stage(numbers=(12, 35), move=Move.LOWER, leg='left', start=1.75, duration=1.25),
    Stage(numbers=(14, 39), move=Move.STRAIGHTEN, leg='right', start=1.75, duration=1.25),
    Stage(numbers=(18, 36), move=Move.SWAY, leg='right', start=1.75, duration=2.0),
    Stage(numbers=(15, 37), move=Move.FORWARD, leg='left', start=2.75, duration=1.0),
)
"""
Stages of a cycle, in the order in which they change ``StageOffsets``.

Rows of the original that move nothing are left out: ``CYCLE_DURATION`` replaces the triggers of
the next cycle, ``TWIST_TRIGGERS`` holds those of a turn.
"""


@dataclass(frozen=True, kw_only=True)
class Trigger:
    """Row of the timetable without motion: leg ``swing`` is in swing at ``time`` [time_scale]."""

    numbers: tuple[int, int]
    swing: str
    time: float


TWIST_TRIGGERS = (
    Trigger(numbers=(23, 25), swing='right', time=1.5),
    Trigger(numbers=(22, 24), swing='left', time=3.25),
)
"""
Times at which a leg can be twisted, printed as ``TIMING1`` and ``TIMING2``.

The second is printed as 3.75 in every other cycle; only 3.25 in both makes the halves mirror
images.
"""

LEAN_STAGES = (Stage(numbers=(0,), move=Move.LEAN, leg='right', start=0.0, duration=1.0),)
RAISE_STAGES = (Stage(numbers=(5,), move=Move.RAISE, leg='left', start=0.0, duration=1.0),)
EXIT_STAGES = (
    Stage(numbers=(16,), move=Move.DROP, leg='left', start=0.0, duration=1.0),
    Stage(numbers=(1,), move=Move.CENTRE, leg='left', start=0.0, duration=1.0),
)

WALK_JOINTS = (
    'left_hip_side',
    'left_hip_fwd',
    'left_knee',
    'left_ankle_fwd',
    'left_ankle_side',
    'right_hip_side',
    'right_hip_fwd',
    'right_knee',
    'right_ankle_fwd',
    'right_ankle_side',
    'torso_fwd',
)
"""Joints that the walk moves; hip, knee and ankle positive in flexion, ankle_side to the right."""


@dataclass(frozen=True, kw_only=True)
class CycleAngles:
    """Angles of a cycle [rad]; binding variables scale with the step (Pike 2003, section 6.4)."""

    step: float
    lift: float
    sway: float
    knee_bend: float
    ankle_place: float
    ankle_move: float
    hip_move: float
    torso_lean: float

    @classmethod
    def from_params(cls, params: StagedWalkParams) -> CycleAngles:
        """Return the angles by the parameters of the walk."""
        # Pike (2003), Figure 6.16: K, P, M and H are (S / 20) times the tuned values.
        scale = params.step_size_deg / REFERENCE_STEP_DEG
        return cls(
            step=math.radians(params.step_size_deg),
            lift=math.radians(params.leg_lift_deg),
            sway=math.radians(params.sway_deg),
            knee_bend=math.radians(scale * params.knee_bend_deg),
            ankle_place=math.radians(scale * params.ankle_place_deg),
            ankle_move=math.radians(scale * params.ankle_move_deg),
            hip_move=math.radians(scale * params.hip_move_deg),
            torso_lean=math.radians(params.torso_lean_deg),
        )


@dataclass(frozen=True, kw_only=True)
class StageOffsets:
    """
    Offsets left by earlier stages [rad]: lift of each leg, lean to the right, torso joint.

    A stage takes back the recorded offset, not the angle of the present cycle. So a walk whose
    angles change returns to straight legs; the original kept a bent or overstretched leg.
    """

    left: float = 0.0
    right: float = 0.0
    lean: float = 0.0
    torso: float = 0.0


def tilt_angles(angle: float) -> dict[str, float]:
    """Return joint angles that lean the body to the right [rad], legs parallel and soles flat."""
    return {
        'left_ankle_side': angle,
        'right_ankle_side': angle,
        'left_hip_side': -angle,
        'right_hip_side': angle,
    }


def bend_angles(leg: str, angle: float) -> dict[str, float]:
    """Return joint angles that bend the knee of a leg [rad] and keep the pitch of its foot."""
    return {f'{leg}_knee': angle, f'{leg}_hip_fwd': angle / 2.0, f'{leg}_ankle_fwd': angle / 2.0}


def opposite_leg(leg: str) -> str:
    """Return the other leg."""
    return 'right' if leg == 'left' else 'left'


def stage_motion(
    move: Move, leg: str, angles: CycleAngles, offsets: StageOffsets
) -> tuple[dict[str, float], StageOffsets]:
    """
    Return the joint angles of a stage [rad] and the offsets after it.

    Parameters
    ----------
    move : Move
    leg : str
        Leg of the row; lean and sway are toward it.
    angles : CycleAngles
    offsets : StageOffsets
        Offsets before the stage.

    References
    ----------
    Pike (2003), Figures 6.4 to 6.13.

    """
    if move in (Move.LEAN, Move.SWAY, Move.CENTRE):
        return _tilt_motion(move, leg, angles, offsets)
    # Raise: knee +L, hip and ankle +L/2 (Figure 6.5); drop: back by the offset.
    if move is Move.RAISE:
        return bend_angles(leg, angles.lift), _with_lift(offsets, leg, angles.lift)
    if move is Move.DROP:
        return bend_angles(leg, -getattr(offsets, leg)), _with_lift(offsets, leg, 0.0)
    return _step_motion(move, leg, angles, offsets)


def _with_lift(offsets: StageOffsets, leg: str, lift: float) -> StageOffsets:
    """Return the offsets with the lift of a leg [rad]."""
    return replace(offsets, left=lift) if leg == 'left' else replace(offsets, right=lift)


def _tilt_motion(
    move: Move, leg: str, cycle_angles: CycleAngles, offsets: StageOffsets
) -> tuple[dict[str, float], StageOffsets]:
    """Return joint angles and offsets of a lean, sway or return to the centre."""
    # Lean: ankle sides +W, hip sides -W and +W (Figure 6.4); sway: from one side to the other.
    target = 0.0
    if move is not Move.CENTRE:
        target = cycle_angles.sway if leg == 'right' else -cycle_angles.sway
    angles = tilt_angles(target - offsets.lean)
    offsets = replace(offsets, lean=target)
    if move is Move.CENTRE:
        return {**angles, 'torso_fwd': -offsets.torso}, replace(offsets, torso=0.0)
    return angles, offsets


def _step_motion(
    move: Move, leg: str, cycle_angles: CycleAngles, offsets: StageOffsets
) -> tuple[dict[str, float], StageOffsets]:
    """Return joint angles and offsets of a stage of a step."""
    # In the symbols of the publication: S step, L lift, K knee bend, P ankle place, M ankle move,
    # H hip move.
    f, other = cycle_angles, opposite_leg(leg)
    if move is Move.EXTEND:
        # Extend: knee -L, hip S - L/2, ankle S - P - L/2; L is the recorded lift of the leg.
        lift = getattr(offsets, leg)
        return {
            f'{leg}_knee': -lift,
            f'{leg}_hip_fwd': f.step - lift / 2.0,
            f'{leg}_ankle_fwd': f.step - f.ankle_place - lift / 2.0,
        }, _with_lift(offsets, leg, 0.0)
    if move is Move.LOWER:
        # Lower: knee +K, ankle +M, hip +H.
        return {
            f'{leg}_knee': f.knee_bend,
            f'{leg}_ankle_fwd': f.ankle_move,
            f'{leg}_hip_fwd': f.hip_move,
        }, offsets
    if move is Move.STRAIGHTEN:
        # Straighten: ankle P - S, hip -S. Other leg: hip -H, ankle +M/3.
        return {
            f'{leg}_ankle_fwd': f.ankle_place - f.step,
            f'{leg}_hip_fwd': -f.step,
            f'{other}_hip_fwd': -f.hip_move,
            f'{other}_ankle_fwd': f.ankle_move / 3.0,
            'torso_fwd': -f.torso_lean - offsets.torso,
        }, replace(offsets, torso=-f.torso_lean)
    # Move forward: knee L - K, ankle L/2 - 4M/3, hip +L/2.
    return {
        f'{leg}_knee': f.lift - f.knee_bend,
        f'{leg}_ankle_fwd': f.lift / 2.0 - 4.0 * f.ankle_move / 3.0,
        f'{leg}_hip_fwd': f.lift / 2.0,
    }, _with_lift(offsets, leg, f.lift)
