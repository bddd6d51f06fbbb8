"""The published timetable of the staged walk as data, and the motion of each of its stages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
import math

from gait_stage_walk.staged.parameters import StagedWalkParams

REFERENCE_STEP_DEG = 20.0
"""Step for which the binding variables are given."""

HALF_CYCLE_DURATION = 1.75
"""Time between the mirrored halves of a cycle [time_scale]."""

CYCLE_DURATION = 3.5
"""Time from a cycle's start to the next one [time_scale]; its last stage ends later."""


class Move(Enum):
    """Motion of a stage."""

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
    One row: ``move`` of ``leg`` from ``start`` for ``duration``.

    ``numbers`` are those in cycle one and two; the start-up and the exit have one only. Times
    count from the begin of the phase, in units of the time scale in a cycle, in s elsewhere.
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
In the order in which the stages hand over what they hold.

The triggers of the original move nothing: ``CYCLE_DURATION`` stands for those of the next cycle,
``SIGNALS`` for those of a turn.
"""


@dataclass(frozen=True, kw_only=True)
class Trigger:
    """A row that moves nothing: it tells at ``time`` [time_scale] that ``swing`` is in the air."""

    numbers: tuple[int, int]
    swing: str
    time: float


TWIST_TRIGGERS = (
    Trigger(numbers=(23, 25), swing='right', time=1.5),
    Trigger(numbers=(22, 24), swing='left', time=3.25),
)
"""
The moments at which a leg may be twisted, printed as ``TIMING1`` and ``TIMING2``.

As printed, the second falls at 3.75 in every other cycle. They are mirror images only with 3.25
in both.
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
"""Joints that the walk moves; knee, hip and ankle positive in flexion, ankle sides rightwards."""


@dataclass(frozen=True, kw_only=True)
class CycleAngles:
    """The angles of one cycle [rad], binding variables scaled by the step (Pike 2003, 6.4)."""

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
        """Return the factors that parameters ask for."""
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

    A stage undoes what was done, not what the present factors would have done. So a walk whose
    factors change still closes, where the original kept a bent or overstretched leg.
    """

    left: float = 0.0
    right: float = 0.0
    lean: float = 0.0
    torso: float = 0.0


def tilt_angles(angle: float) -> dict[str, float]:
    """Return the joint angles of a body lean to the right [rad] with parallel legs, flat soles."""
    return {
        'left_ankle_side': angle,
        'right_ankle_side': angle,
        'left_hip_side': -angle,
        'right_hip_side': angle,
    }


def bend_angles(leg: str, angle: float) -> dict[str, float]:
    """Return the joint angles that shorten a leg by bending its knee [rad], foot parallel."""
    return {f'{leg}_knee': angle, f'{leg}_hip_fwd': angle / 2.0, f'{leg}_ankle_fwd': angle / 2.0}


def opposite_leg(leg: str) -> str:
    """Return the other leg."""
    return 'right' if leg == 'left' else 'left'


def stage_motion(
    move: Move, leg: str, angles: CycleAngles, offsets: StageOffsets
) -> tuple[dict[str, float], StageOffsets]:
    """
    Return the joint angles of a stage [rad] and what is held after it.

    Parameters
    ----------
    move : Move
    leg : str
        The leg named in the timetable; a lean goes to it, a sway away from the other.
    factors : Factors
        Of the cycle.
    held : Held
        Before the stage.

    References
    ----------
    Pike (2003), Figures 6.4 to 6.13.

    """
    if move in (Move.LEAN, Move.SWAY, Move.CENTRE):
        return _tilt_motion(move, leg, angles, offsets)
    # Raise: knee +L, hip and ankle +L/2 (Figure 6.5); drop: the same back.
    if move is Move.RAISE:
        return bend_angles(leg, angles.lift), _with_lift(offsets, leg, angles.lift)
    if move is Move.DROP:
        return bend_angles(leg, -getattr(offsets, leg)), _with_lift(offsets, leg, 0.0)
    return _step_motion(move, leg, angles, offsets)


def _with_lift(held: StageOffsets, leg: str, lift: float) -> StageOffsets:
    return replace(held, left=lift) if leg == 'left' else replace(held, right=lift)


def _tilt_motion(
    move: Move, leg: str, factors: CycleAngles, held: StageOffsets
) -> tuple[dict[str, float], StageOffsets]:
    # Lean: ankle sides +W, hip sides -W and +W (Figure 6.4); sway: from one side to the other.
    target = 0.0
    if move is not Move.CENTRE:
        target = factors.sway if leg == 'right' else -factors.sway
    angles = tilt_angles(target - held.lean)
    held = replace(held, lean=target)
    if move is Move.CENTRE:
        return {**angles, 'torso_fwd': -held.torso}, replace(held, torso=0.0)
    return angles, held


def _step_motion(
    move: Move, leg: str, factors: CycleAngles, held: StageOffsets
) -> tuple[dict[str, float], StageOffsets]:
    # In the symbols of the publication: S step, L lift, K knee bend, P ankle place, M ankle move,
    # H hip move.
    f, other = factors, opposite_leg(leg)
    if move is Move.EXTEND:
        # Knee -L, hip S - L/2, ankle S - P - L/2; L is what the leg was lifted by.
        lift = getattr(held, leg)
        return {
            f'{leg}_knee': -lift,
            f'{leg}_hip_fwd': f.step - lift / 2.0,
            f'{leg}_ankle_fwd': f.step - f.ankle_place - lift / 2.0,
        }, _with_lift(held, leg, 0.0)
    if move is Move.LOWER:
        # Knee +K, ankle +M, hip +H.
        return {
            f'{leg}_knee': f.knee_bend,
            f'{leg}_ankle_fwd': f.ankle_move,
            f'{leg}_hip_fwd': f.hip_move,
        }, held
    if move is Move.STRAIGHTEN:
        # Standing leg: ankle P - S, hip -S. Other leg: hip -H, ankle +M/3.
        return {
            f'{leg}_ankle_fwd': f.ankle_place - f.step,
            f'{leg}_hip_fwd': -f.step,
            f'{other}_hip_fwd': -f.hip_move,
            f'{other}_ankle_fwd': f.ankle_move / 3.0,
            'torso_fwd': -f.torso_lean - held.torso,
        }, replace(held, torso=-f.torso_lean)
    # Move forward: knee L - K, ankle L/2 - 4M/3, hip +L/2.
    return {
        f'{leg}_knee': f.lift - f.knee_bend,
        f'{leg}_ankle_fwd': f.lift / 2.0 - 4.0 * f.ankle_move / 3.0,
        f'{leg}_hip_fwd': f.lift / 2.0,
    }, _with_lift(held, leg, f.lift)
