"""Simulated time: one monotonic counter per bridge, and the one /clock of a domain."""

from __future__ import annotations

import time
from typing import Any

from builtin_interfaces.msg import Time
from rclpy.node import Node
from rosgraph_msgs.msg import Clock

from gait_core.errors import ConfigurationError
from gait_ros.nodes.publisher_checks import UNDISCOVERED, find_other_publishers
from gait_ros.nodes.qos import advertise

_TOPIC = '/clock'
_DISCOVERY_TIME = 1.0
_STANDSTILL_TIME = 3.0
# How far a bridge that follows the clock of another may fall behind it [ns].
_MAX_LAG = 500_000_000


def to_stamp(nanoseconds: int) -> Time:
    """Return a count of nanoseconds as a stamp."""
    return Time(sec=nanoseconds // 1_000_000_000, nanosec=nanoseconds % 1_000_000_000)


class SimulatedTime:
    """
    Turns ticks into stamps that increase over resets and are never zero.

    Parameters
    ----------
    rewind : bool
        Start again at each reset instead: to test how nodes take a jump.

    """

    def __init__(self, rewind: bool = False) -> None:
        self._rewind = rewind
        self._base = 0
        self._dt = 0
        self._heard = 0
        self.nanoseconds = 0

    def restart(self, dt: float, tick: int = 0) -> None:
        """Begin a trial or a live run with a control period of dt [s], or go on at a tick."""
        self._dt = round(dt * 1e9)
        # Zero means "no time yet" to every node under simulated time.
        now = self._dt if self._rewind else self.nanoseconds + self._dt
        self._base, self.nanoseconds = now - tick * self._dt, now

    def follow(self, now: int) -> None:
        """
        Take up the time of another's clock [ns]: first heard, well ahead, or gone back.

        Between these, stamps are ticks apart: the other's time comes in steps of its own.
        """
        first = self._heard == 0 < now
        if first or now < self._heard or now - self.nanoseconds > _MAX_LAG:
            self._base += now - self.nanoseconds
        self._heard = now

    def is_ahead(self, now: int) -> bool:
        """Tell whether the other's clock [ns] is to be waited for: the stamps are well ahead."""
        return self.nanoseconds - now > _MAX_LAG and now >= self._heard > 0

    def advance_to(self, tick: int) -> Time:
        """Advance to a tick and return its stamp."""
        self.nanoseconds = self._base + tick * self._dt
        return self.now()

    def now(self) -> Time:
        """Return the present stamp."""
        return to_stamp(self.nanoseconds)


class ClockWatch:
    """
    Tells a node under simulated time that its clock has not begun, or stands still.

    Parameters
    ----------
    meanwhile : str
        What the robot does without time, for a person.
    stopped : str
        The same while time stands still; empty: as without any.

    """

    def __init__(self, meanwhile: str, stopped: str = '') -> None:
        self._meanwhile, self._stopped = meanwhile, stopped or meanwhile
        self._passing = 0, time.monotonic()

    def find_trouble(self, simulated: int) -> str:
        """Return what is wrong with simulated time [ns], or nothing; called every second or so."""
        if simulated != self._passing[0]:
            self._passing = simulated, time.monotonic()
        if time.monotonic() - self._passing[1] < _STANDSTILL_TIME:
            return ''
        if simulated == 0:
            return (
                'use_sim_time is true but no /clock has come: start a simulator that publishes '
                f'it, or set use_sim_time to false. {self._meanwhile}'
            )
        return (
            f'/clock stands still at {simulated * 1e-9:.2f} s: is the simulator paused or gone? '
            f'{self._stopped}'
        )


class BridgeClockPublisher:
    """A bridge's own time on ``~/clock``, also where another bridge publishes /clock."""

    def __init__(self, node: Node) -> None:
        self._publisher = advertise(node, Clock, '~/clock')

    def publish(self, stamp: Time) -> None:
        """Publish the time, if anybody subscribes."""
        if self._publisher.get_subscription_count():
            self._publisher.publish(Clock(clock=stamp))


class ClockPublisher:
    """
    The publisher on /clock; at most one lives in a domain.

    Raises
    ------
    ConfigurationError
        If another node publishes /clock already; the message names it.

    """

    def __init__(self, node: Node) -> None:
        self._node = node
        # Who is there already shows within the time of discovery.
        others: list[str] = []
        deadline = time.monotonic() + _DISCOVERY_TIME
        while time.monotonic() < deadline:
            others = find_other_publishers(node, _TOPIC, own_count=0)
            if others and UNDISCOVERED not in others[0]:
                break
            time.sleep(0.05)
        if others:
            raise ConfigurationError(
                f'{_TOPIC} is published by {others[0]} already; with publish_clock:=false this '
                'bridge follows it'
            )
        self._publisher: Any = advertise(node, Clock, _TOPIC)

    def close(self) -> None:
        """Destroy the publisher."""
        if self._publisher is not None:
            self._node.destroy_publisher(self._publisher)
            self._publisher = None

    def publish(self, stamp: Time) -> None:
        """Publish the time, unless this clock gave way to another."""
        if self._publisher is not None:
            self._publisher.publish(Clock(clock=stamp))

    def stop_if_duplicate(self) -> str:
        """
        Stop publishing if another clock was started at the same moment.

        Returns
        -------
        str
            What happened, for the log; empty if this is the only clock. Of two clocks the one
            whose node's name comes first goes on.

        """
        if self._publisher is None:
            return ''
        others = find_other_publishers(self._node, _TOPIC)
        own = self._node.get_fully_qualified_name()
        if not others or own < others[0]:
            return ''
        self.close()
        return f'{_TOPIC} is also published by {others[0]}; {own} stops publishing it'
