"""The walk as a sequence of timetables whose stages overlap."""

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


class Phase(Enum):
    """Phase of the walk; the value is reported in ``gait_state``."""

    IDLE = 0
    LEAN = 1
    RAISE = 2
    CYCLE_ONE = 3
    CYCLE_TWO = 4
    EXIT = 5

    @property
    def in_cycle(self) -> bool:
        """True if the legs take turns."""
        return self in (Phase.CYCLE_ONE, Phase.CYCLE_TWO)


PHASE_STAGES = {Phase.LEAN: LEAN_STAGES, Phase.RAISE: RAISE_STAGES, Phase.EXIT: EXIT_STAGES}
"""Stages of the phases that are no cycles."""


def next_phase(phase: Phase, stop: bool) -> Phase:
    """Return what follows a phase that is over; only standing and cycles heed a stop request."""
    match phase:
        case Phase.IDLE:
            return Phase.IDLE if stop else Phase.LEAN
        case Phase.LEAN:
            return Phase.RAISE
        case Phase.RAISE:
            return Phase.CYCLE_ONE
        case Phase.CYCLE_ONE:
            return Phase.EXIT if stop else Phase.CYCLE_TWO
        case Phase.CYCLE_TWO:
            return Phase.EXIT if stop else Phase.CYCLE_ONE
        case Phase.EXIT:
            return Phase.IDLE


@dataclass(frozen=True, kw_only=True)
class HalfCycle:
    """The step of one leg, which lands in front of the other, from ``start`` [ns] on."""

    front: str
    start: int
    params: StagedWalkParams

    def elapsed(self, now: int) -> float:
        """Return the time since the start in units of the time scale."""
        return (now - self.start) / (self.params.time_scale * SECOND)


@dataclass(frozen=True, slots=True)
class TwistSignal:
    """At ``time`` [ns] leg ``swing`` is in the air and the other one carries the robot."""

    time: int
    swing: str


class StagedWalk:
    """
    The staged walk as a behaviour: start-up, cycles one and two in turn, exit.

    ``params`` come into force before the start and at the end of a cycle, nowhere else;
    a stop is granted there too. Each stage keeps the angles with which it was scheduled.

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
        """Ask it to stand."""
        self.params = replace(self.params, stop=True)

    def reset(self) -> None:
        """Stand still, with straight legs and no stage pending."""
        self.phase = Phase.IDLE
        self.phase_start = 0
        self.phase_end = 0
        self.current = self.params
        self.cycles = 0
        self.half_cycles: tuple[HalfCycle, ...] = ()
        self._signals: tuple[TwistSignal, ...] = ()
        self.angles: FloatArray = np.zeros(len(WALK_JOINTS))
        self._offsets = StageOffsets()
        self._pulses: list[Pulse] = []

    def update_phase(self, now: int, stop: bool, params: StagedWalkParams | None = None) -> None:
        """
        Leave a phase that is over at a time [ns]; to be called before every period.

        At the start and at the end of a cycle ``params`` come into force, by default its own.
        """
        while now >= self.phase_end:
            following = next_phase(self.phase, stop)
            if following is self.phase:
                return
            if self.phase is Phase.IDLE or self.phase.in_cycle:
                self.current = params or self.params
            self._enter(following, now)

    def step(self, period: Period) -> FloatArray:
        """Heed what asks for a stop and return the turn of each of ``JOINTS``, (n,) [rad]."""
        stop = period.command.set_points.get('stop', 0.0) > 0.5
        params = apply_velocity(self.params, period.command.velocity)
        self.update_phase(period.begin, stop or params.stop, params)
        return self.advance_angles(period.begin, period.end)

    def advance_angles(self, begin: int, end: int) -> FloatArray:
        """Return the turn of each of ``JOINTS`` between two times [ns], (n,) [rad]."""
        turned, any_ended = np.zeros(len(WALK_JOINTS)), False
        for pulse in self._pulses:
            # Most are still to come.
            if pulse.start < end:
                turned += pulse.share_between(begin, end) * pulse.angles
                any_ended |= pulse.end <= end
        if any_ended:
            self._pulses = [pulse for pulse in self._pulses if pulse.end > end]
        self.angles = self.angles + turned
        return turned

    def signals(self, begin: int, end: int) -> tuple[TwistSignal, ...]:
        """Return the signals that fall between two times [ns] of the present period."""
        return tuple(signal for signal in self._signals if begin <= signal.time < end)

    def active_stages(self, now: int) -> tuple[int, ...]:
        """Return the published numbers of the stages that move at a time [ns], ascending."""
        return tuple(sorted(p.stage for p in self._pulses if p.start <= now < p.end))

    def extending_legs(self, now: int) -> dict[str, int]:
        """Return the legs that are extended forward at a time [ns], and when they land [ns]."""
        return {
            leg: pulse.end
            for pulse in self._pulses
            for leg in [_EXTENDED_LEG.get(pulse.stage)]
            if leg is not None and pulse.start <= now < pulse.end
        }

    def scheduled_turns(self, now: int, end: int) -> FloatArray:
        """Return the turn of each of ``JOINTS`` by what is scheduled until then, (n,) [rad]."""
        turns = np.zeros(len(WALK_JOINTS))
        for pulse in self._pulses:
            turns += pulse.share_between(now, end) * pulse.angles
        return turns

    def _enter(self, phase: Phase, now: int) -> None:
        self.phase, self.phase_start = phase, now
        match phase:
            case Phase.IDLE:
                self.phase_end = now
            case Phase.LEAN | Phase.RAISE | Phase.EXIT:
                stages = PHASE_STAGES[phase]
                self._schedule(stages, now)
                self.phase_end = now + to_nanoseconds(max(stage.duration for stage in stages))
            case Phase.CYCLE_ONE | Phase.CYCLE_TWO:
                self._begin_cycle(now)
                self.phase_end = now + to_nanoseconds(CYCLE_DURATION * self.current.time_scale)

    def _begin_cycle(self, now: int) -> None:
        params = self.current
        stepping = now + to_nanoseconds(params.sway_lead * params.time_scale)
        swaying = [stage for stage in CYCLE_STAGES if stage.move is Move.SWAY]
        self._schedule(swaying, now, params.time_scale)
        self._schedule(
            [s for s in CYCLE_STAGES if s.move is not Move.SWAY], stepping, params.time_scale
        )
        begun = tuple(
            HalfCycle(
                front=leg,
                start=stepping + to_nanoseconds(start * params.time_scale),
                params=params,
            )
            for leg, start in (('left', 0.0), ('right', HALF_CYCLE_DURATION))
        )
        # Those of the cycle before may still be straightening a levelled leg.
        self.half_cycles = self.half_cycles[-2:] + begun
        self._signals = self._signals[-2:] + tuple(
            TwistSignal(stepping + to_nanoseconds(trigger.time * params.time_scale), trigger.swing)
            for trigger in TWIST_TRIGGERS
        )
        self.cycles += 1

    def _schedule(self, stages: Sequence[Stage], base: int, unit: float = 1.0) -> None:
        factors = CycleAngles.from_params(self.current)
        for stage in stages:
            joints, self._offsets = stage_motion(stage.move, stage.leg, factors, self._offsets)
            angles = np.zeros(len(WALK_JOINTS))
            for name, angle in joints.items():
                angles[_COLUMN[name]] = angle
            start = base + to_nanoseconds(stage.start * unit)
            self._pulses.append(
                Pulse(
                    stage=stage.numbers[self.phase is Phase.CYCLE_TWO],
                    start=start,
                    end=start + to_nanoseconds(stage.duration * unit),
                    angles=angles,
                )
            )
