"""Control periods of a live gait, by simulated or by wall time, however that passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.clock import Clock, ClockType, JumpThreshold
from rclpy.duration import Duration
from rclpy.node import Node

from gait_ros.faults import Repeated

# Control periods in one step from which time has jumped, not only passed late.
_JUMP = 10.0
# Shortest step of a clock that is coarser than control periods, in those, and the longest [s].
_COARSE, _COARSEST = 1.5, 0.25
_ALIKE, _IN_A_ROW = 0.1, 3


class StepClock:
    """
    Calls a gait at its control rate, and tells how much time has passed.

    Under ``use_sim_time`` that is simulated time, else one that nobody sets: a gait must not feel
    the system's clock being set. A clock that goes back begins the gait anew, and calls it at
    once, as one that starts does. One that goes ahead by a single step of more than ten control
    periods has jumped: no time has passed. Three such steps alike, of up to 0.25 s, are how that
    clock goes: then the time that it says has passed.

    Parameters
    ----------
    node : Node
    period : float [s]
        Control period.
    step : callable
        Called once per control period.
    restart : callable
        Called when time has gone back, before the next step.

    """

    def __init__(
        self, node: Node, period: float, step: Callable[[], None], restart: Callable[[], None]
    ) -> None:
        self._node, self._period = node, period
        self._step, self._restart = step, restart
        self._warn = Repeated(node.get_logger(), is_error=False)
        self.steady = Clock(clock_type=ClockType.STEADY_TIME)
        """Wall time, also while simulated time stands still."""
        self._timer: Any = None
        self._jump: Any = None
        self._tick: Any = None
        self.begin()

    @property
    def clock(self) -> Clock:
        """The clock of the gait."""
        simulated = self._node.get_parameter('use_sim_time').value
        return self._node.get_clock() if simulated else self.steady

    @property
    def is_simulated(self) -> bool:
        """Whether time is simulated."""
        return self.clock is not self.steady

    def now(self) -> int:
        """Return the present time [ns]; 0 before simulated time has begun."""
        return int(self.clock.now().nanoseconds)

    def start(self) -> None:
        """Begin to call the gait."""
        self.begin()
        if self.is_simulated:
            backward = JumpThreshold(
                min_forward=None, min_backward=Duration(nanoseconds=-1), on_clock_change=False
            )
            self._jump = self.clock.create_jump_callback(backward, post_callback=self._on_jump)
            # An executor that calls a timer once too often skips its next call: every time of
            # /clock is looked at.
            forward = JumpThreshold(
                min_forward=Duration(nanoseconds=1), min_backward=None, on_clock_change=False
            )
            self._tick = self.clock.create_jump_callback(
                forward, post_callback=lambda jump: self.catch_up()
            )
        self._timer = self._node.create_timer(self._period, self._on_timer, clock=self.clock)

    def stop(self) -> bool:
        """Call the gait no longer; return whether it was called."""
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
        """Count time from now on."""
        self._last, self._called = self.now(), False
        self._usual, self._steps = self._period, [self._period] * _IN_A_ROW

    def passed(self) -> tuple[float, float]:
        """
        Return the time since the last call, or since ``begin``, and that to the next one [s].

        A gait that is late makes up for the first in the second.
        """
        now = self.now()
        # Simulated time that has only now begun has not jumped.
        dt = (now - self._last) * 1e-9 if self._last and now != self._last else self._period
        self._last, self._called = now, True
        self._steps = [*self._steps[1:], dt]
        if dt <= _COARSEST and max(self._steps) - min(self._steps) <= _ALIKE * dt:
            self._usual = dt if dt > _COARSE * self._period else self._period
        if dt > max(_JUMP * self._period, (1.0 + _ALIKE) * self._usual):
            self._warn(f'time went ahead by {dt:.2f} s: the gait goes on from where it was')
            return self._period, self._period
        return dt, self._usual

    def catch_up(self) -> None:
        """Call the gait if it is due: where many requests would keep it waiting."""
        if self._timer is not None and self.now() - self._last >= self._period * 1e9:
            self._step()

    def _on_timer(self) -> None:
        if self._timer is None:
            # It was on its way already.
            return
        # What was caught up with is not due again, nor what is called twice at one time.
        since = self.now() - self._last
        early = since < 0.5e9 * self._period and (since > 0 or self._called)
        if not early:
            self._step()

    def _on_jump(self, jump: Any) -> None:
        if self._timer is not None:
            self._node.get_logger().warning('time went back: the controller starts anew')
            self.begin()
            self._restart()
            self._step()
