# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Clock of the control periods of a live gait, by simulated or wall time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.clock import Clock, ClockType, JumpThreshold
from rclpy.duration import Duration
from rclpy.node import Node

from gait_ros.nodes.faults import ThrottledLogger

# A step of more control periods than this is a jump of time, a shorter one is a late call.
_MAX_STEP = 10.0
# Steps from the start after which a jump is worth a warning.
_START_STEPS = 5
# A coarse clock has steps of at least this many control periods, and of at most this time [s].
_MIN_COARSE, _MAX_COARSE = 1.5, 0.25
# Steps are regular if this many in a row differ by at most this share.
_REGULAR_COUNT, _REGULAR_SHARE = 3, 0.1


class StepClock:
    """
    Timer that steps a gait at its control rate and measures the time between steps.

    Time is simulated with ``use_sim_time``; otherwise it is steady time, so that a change of the
    system clock does not affect a gait.

    - If time jumps back, the gait is restarted and stepped at once.
    - A step of more than ten control periods is a jump. It counts as one control period, and the
      gait continues from its present phase.
    - Three equal steps in a row, of more than 1.5 control periods and up to 0.25 s, are those of a
      coarse clock. They count in full.

    Parameters
    ----------
    node : Node
    period : float [s]
        Control period.
    step : callable
        Called once per control period.
    restart : callable
        Called after a backward jump of time, before the next step.

    Attributes
    ----------
    steady : Clock
        Steady clock of wall time.

    """

    def __init__(
        self, node: Node, period: float, step: Callable[[], None], restart: Callable[[], None]
    ) -> None:
        self._node, self._period = node, period
        self._step, self._restart = step, restart
        self._warn, self._warn_jump = (
            ThrottledLogger(node.get_logger(), is_error=False) for _ in range(2)
        )
        self.steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer: Any = None
        self._jump: Any = None
        self._tick: Any = None
        self.begin()

    @property
    def clock(self) -> Clock:
        """Clock of the gait."""
        simulated = self._node.get_parameter('use_sim_time').value
        return self._node.get_clock() if simulated else self.steady

    @property
    def is_simulated(self) -> bool:
        """True if time is simulated."""
        return self.clock is not self.steady

    def now(self) -> int:
        """Return the present time [ns]; 0 before the first /clock."""
        return int(self.clock.now().nanoseconds)

    def start(self) -> None:
        """Start stepping the gait."""
        self.begin()
        if self.is_simulated:
            backward = JumpThreshold(
                min_forward=None, min_backward=Duration(nanoseconds=-1), on_clock_change=False
            )
            self._jump = self.clock.create_jump_callback(backward, post_callback=self._on_jump)
            # Besides the timer, every message on /clock checks whether a step is due: the executor
            # may call a timer late or twice, and then skips its next call.
            forward = JumpThreshold(
                min_forward=Duration(nanoseconds=1), min_backward=None, on_clock_change=False
            )
            self._tick = self.clock.create_jump_callback(
                forward, post_callback=lambda jump: self.catch_up()
            )
        self._timer = self._node.create_timer(self._period, self._on_timer, clock=self.clock)

    def stop(self) -> bool:
        """Stop stepping the gait; return whether it had been started."""
        if self._jump is not None:
            self._jump.unregister()
            self._tick.unregister()
            self._jump = self._tick = None
        if self._timer is None:
            return False
        self._node.destroy_timer(self._timer)
        self._timer = None
        return True

    def begin(self) -> None:
        """Measure the time of the next step from now."""
        self._last, self._called, self._step_count = self.now(), False, 0
        # The usual step of the clock: the control period, or the tick of a coarser clock.
        self._usual, self._steps = self._period, [self._period] * _REGULAR_COUNT

    def advance(self) -> tuple[float, float]:
        """
        Return the time [s] since the last step or ``begin``, and the time [s] to the next step.

        The gait advances by the elapsed time, longer after a late call, so that it keeps up with
        the clock. Its targets are to be reached by the next step.
        """
        now = self.now()
        # Simulated time is 0 before the first /clock, so that the first step is no jump.
        dt = (now - self._last) * 1e-9 if self._last and now != self._last else self._period
        self._last, self._called, self._step_count = now, True, self._step_count + 1
        self._steps = [*self._steps[1:], dt]
        # Regular steps tell the period of the clock, if it is coarser than the control period.
        if dt <= _MAX_COARSE and max(self._steps) - min(self._steps) <= _REGULAR_SHARE * dt:
            self._usual = dt if dt > _MIN_COARSE * self._period else self._period
        if dt > max(_MAX_STEP * self._period, (1.0 + _REGULAR_SHARE) * self._usual):
            # The first steps load kernels, and time may go on meanwhile.
            self._warn(
                f'time jumped ahead by {dt:.2f} s: the gait continues from where it was',
                is_info=self._step_count <= _START_STEPS,
            )
            return self._period, self._period
        return dt, self._usual

    def catch_up(self) -> None:
        """Step the gait if it is due, so that waiting requests do not delay it."""
        if self._timer is not None and self.now() - self._last >= self._period * 1e9:
            self._step()

    def _on_timer(self) -> None:
        if self._timer is None:
            # The call was already queued when the timer was destroyed.
            return
        # Skip a step that ``catch_up`` has already made, and a second call at the same time.
        since = self.now() - self._last
        is_early = since < 0.5e9 * self._period and (since > 0 or self._called)
        if not is_early:
            self._step()

    def _on_jump(self, jump: Any) -> None:
        if self._timer is not None:
            self._warn_jump('time jumped back: the controller is reset')
            self.begin()
            self._restart()
            self._step()
