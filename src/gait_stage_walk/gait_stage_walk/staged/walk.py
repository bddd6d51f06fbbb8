# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Staged walk: a sequence of modes whose stages overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import ClassVar

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.parameters.declaration import Parameters
from gait_stage_walk.behaviours.behaviour import Period
from gait_stage_walk.staged.pace import apply_velocity
from gait_stage_walk.staged.parameters import StagedWalkParams
from gait_stage_walk.staged.pulse import SECOND, Pulse, to_nanoseconds
from gait_stage_walk.staged.timetable import (
    CYCLE_DURATION,
    CYCLE_STAGES,
    EXIT_STAGES,
    HALF_CYCLE_DURATION,
    LEAN_STAGES,
    RAISE_STAGES,
    TWIST_TRIGGERS,
    WALK_JOINTS,
    CycleAngles,
    Move,
    Stage,
    StageOffsets,
    stage_motion,
)

_COLUMN = {name: i for i, name in enumerate(WALK_JOINTS)}
_EXTENDED_LEG = {
    n: stage.leg for stage in CYCLE_STAGES if stage.move is Move.EXTEND for n in stage.numbers
}


class WalkMode(Enum):
    """Mode of the walk; ``gait_state`` reports the value as ``stage``."""

    IDLE = 0
    LEAN = 1
    RAISE = 2
    CYCLE_ONE = 3
    CYCLE_TWO = 4
    EXIT = 5

    @property
    def in_cycle(self) -> bool:
        """True in cycle one and in cycle two."""
        return self in (WalkMode.CYCLE_ONE, WalkMode.CYCLE_TWO)


MODE_STAGES = {
    WalkMode.LEAN: LEAN_STAGES,
    WalkMode.RAISE: RAISE_STAGES,
    WalkMode.EXIT: EXIT_STAGES,
}
"""Stages of the modes outside the cycles."""


def next_mode(mode: WalkMode, stop: bool) -> WalkMode:
    """Return the mode after one that is over; a stop request acts in ``IDLE`` and in cycles."""
    match mode:
        case WalkMode.IDLE:
            return WalkMode.IDLE if stop else WalkMode.LEAN
        case WalkMode.LEAN:
            return WalkMode.RAISE
        case WalkMode.RAISE:
            return WalkMode.CYCLE_ONE
        case WalkMode.CYCLE_ONE:
            return WalkMode.EXIT if stop else WalkMode.CYCLE_TWO
        case WalkMode.CYCLE_TWO:
            return WalkMode.EXIT if stop else WalkMode.CYCLE_ONE
        case WalkMode.EXIT:
            return WalkMode.IDLE


@dataclass(frozen=True, kw_only=True)
class HalfCycle:
    """
    Step of the leg ``front``, which touches down in front of the other.

    Attributes
    ----------
    front : str
    start : int [ns]
    params : StagedWalkParams
        Parameters in force.

    """

    front: str
    start: int
    params: StagedWalkParams

    def elapsed(self, now: int) -> float:
        """Return the time since the start [time_scale]."""
        return (now - self.start) / (self.params.time_scale * SECOND)


@dataclass(frozen=True, slots=True)
class TwistSignal:
    """Signal that at ``time`` [ns] the leg ``swing`` is in swing and can be twisted."""

    time: int
    swing: str


class StagedWalk:
    """
    Staged walk as a behaviour: start-up, cycles one and two in turn, exit.

    New parameters and stop requests take effect before the start and at the end of a cycle. A
    scheduled stage keeps its angles.

    References
    ----------
    Pike (2003), Figures 6.2 to 6.16.

    """

    Params: ClassVar[type[Parameters]] = StagedWalkParams
    fixed: ClassVar[tuple[str, ...]] = ()
    joints = WALK_JOINTS
    is_finished = False

    def __init__(self, params: StagedWalkParams) -> None:
        self.params = params
        self.reset()

    def set_params(self, params: StagedWalkParams) -> None:
        """Replace the parameters."""
        self.params = params

    def stop(self) -> None:
        """Request to stand from the end of the cycle on."""
        self.params = replace(self.params, stop=True)

    def reset(self) -> None:
        """Return to standing, with straight legs and without pending stages."""
        self.mode = WalkMode.IDLE
        self.mode_start = 0
        self.mode_end = 0
        self.current = self.params
        self.cycles = 0
        self.half_cycles: tuple[HalfCycle, ...] = ()
        self._signals: tuple[TwistSignal, ...] = ()
        self.angles: FloatArray = np.zeros(len(WALK_JOINTS))
        self._offsets = StageOffsets()
        self._pulses: list[Pulse] = []

    def update_mode(self, now: int, stop: bool, params: StagedWalkParams | None = None) -> None:
        """
        Enter the next mode if the present one is over at a time [ns].

        Call it before each control period.

        Parameters
        ----------
        now : int [ns]
        stop : bool
            Whether to stand.
        params : StagedWalkParams, optional
            Parameters for the next start or cycle; default ``self.params``.

        """
        while now >= self.mode_end:
            following = next_mode(self.mode, stop)
            if following is self.mode:
                return
            if self.mode is WalkMode.IDLE or self.mode.in_cycle:
                self.current = params or self.params
            self._enter(following, now)

    def step(self, period: Period) -> FloatArray:
        """Advance by a control period; return the turns of ``WALK_JOINTS``, (n,) [rad]."""
        stop = period.command.set_points.get('stop', 0.0) > 0.5
        params = apply_velocity(self.params, period.command.velocity)
        self.update_mode(period.begin, stop or params.stop, params)
        return self.advance_angles(period.begin, period.end)

    def advance_angles(self, begin: int, end: int) -> FloatArray:
        """Advance between two times [ns]; return the turns of ``WALK_JOINTS``, (n,) [rad]."""
        turns, any_ended = np.zeros(len(WALK_JOINTS)), False
        for pulse in self._pulses:
            # Most pulses of a cycle start later.
            if pulse.start < end:
                turns += pulse.share_between(begin, end) * pulse.angles
                any_ended |= pulse.end <= end
        if any_ended:
            self._pulses = [pulse for pulse in self._pulses if pulse.end > end]
        self.angles = self.angles + turns
        return turns

    def signals(self, begin: int, end: int) -> tuple[TwistSignal, ...]:
        """Return the signals from ``begin`` to before ``end`` [ns]."""
        return tuple(signal for signal in self._signals if begin <= signal.time < end)

    def active_stages(self, now: int) -> tuple[int, ...]:
        """Return the published numbers of the stages in motion at a time [ns], ascending."""
        return tuple(sorted(p.stage for p in self._pulses if p.start <= now < p.end))

    def extending_legs(self, now: int) -> dict[str, int]:
        """Return the legs in extension at a time [ns], with the end of the extension [ns]."""
        return {
            leg: pulse.end
            for pulse in self._pulses
            for leg in [_EXTENDED_LEG.get(pulse.stage)]
            if leg is not None and pulse.start <= now < pulse.end
        }

    def scheduled_turns(self, now: int, end: int) -> FloatArray:
        """Return the scheduled turns of ``WALK_JOINTS`` between two times [ns], (n,) [rad]."""
        turns = np.zeros(len(WALK_JOINTS))
        for pulse in self._pulses:
            turns += pulse.share_between(now, end) * pulse.angles
        return turns

    def _enter(self, mode: WalkMode, now: int) -> None:
        """Enter a mode at a time [ns]: schedule its stages and set its end."""
        self.mode, self.mode_start = mode, now
        match mode:
            case WalkMode.IDLE:
                self.mode_end = now
            case WalkMode.LEAN | WalkMode.RAISE | WalkMode.EXIT:
                stages = MODE_STAGES[mode]
                self._schedule(stages, now)
                self.mode_end = now + to_nanoseconds(max(stage.duration for stage in stages))
            case WalkMode.CYCLE_ONE | WalkMode.CYCLE_TWO:
                self._begin_cycle(now)
                self.mode_end = now + to_nanoseconds(CYCLE_DURATION * self.current.time_scale)

    def _begin_cycle(self, now: int) -> None:
        """Schedule the stages, half-cycles and signals of a cycle that starts at a time [ns]."""
        params = self.current
        # The sway starts with the cycle, all other stages later by ``sway_lead``.
        stepping = now + to_nanoseconds(params.sway_lead * params.time_scale)
        swaying = [stage for stage in CYCLE_STAGES if stage.move is Move.SWAY]
        self._schedule(swaying, now, params.time_scale)
        self._schedule(
            [s for s in CYCLE_STAGES if s.move is not Move.SWAY], stepping, params.time_scale
        )
        new_half_cycles = tuple(
            HalfCycle(
                front=leg,
                start=stepping + to_nanoseconds(start * params.time_scale),
                params=params,
            )
            for leg, start in (('left', 0.0), ('right', HALF_CYCLE_DURATION))
        )
        # Half-cycles of the last cycle are kept: a levelled leg can still be straightening.
        self.half_cycles = self.half_cycles[-2:] + new_half_cycles
        self._signals = self._signals[-2:] + tuple(
            TwistSignal(stepping + to_nanoseconds(trigger.time * params.time_scale), trigger.swing)
            for trigger in TWIST_TRIGGERS
        )
        self.cycles += 1

    def _schedule(self, stages: Sequence[Stage], base: int, unit: float = 1.0) -> None:
        """Append the pulses of stages that count from ``base`` [ns] in a time unit [s]."""
        factors = CycleAngles.from_params(self.current)
        for stage in stages:
            joints, self._offsets = stage_motion(stage.move, stage.leg, factors, self._offsets)
            angles = np.zeros(len(WALK_JOINTS))
            for name, angle in joints.items():
                angles[_COLUMN[name]] = angle
            start = base + to_nanoseconds(stage.start * unit)
            self._pulses.append(
                Pulse(
                    stage=stage.numbers[self.mode is WalkMode.CYCLE_TWO],
                    start=start,
                    end=start + to_nanoseconds(stage.duration * unit),
                    angles=angles,
                )
            )
