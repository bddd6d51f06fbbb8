# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Simulated time of a bridge, its topics, and its supervision by other nodes."""

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
# Time [s] in which other publishers on /clock are discovered.
_DISCOVERY_TIME = 1.0
# Wall time [s] without a change of simulated time after which it counts as standing still.
_STANDSTILL_TIME = 3.0
# Largest difference between the stamps of a bridge and the clock that it follows [ns].
_MAX_LAG = 500_000_000


def to_stamp(nanoseconds: int) -> Time:
    """Convert a time [ns] to a stamp."""
    return Time(sec=nanoseconds // 1_000_000_000, nanosec=nanoseconds % 1_000_000_000)


class SimulatedTime:
    """
    Simulated time of a bridge, which increases over resets and is never zero.

    Parameters
    ----------
    rewind : bool
        Restart time at each reset, to test how nodes handle a backward jump.

    Attributes
    ----------
    nanoseconds : int
        Present time [ns].

    """

    def __init__(self, rewind: bool = False) -> None:
        self._rewind = rewind
        self._base = 0
        self._dt = 0
        # Last time of the followed clock [ns]; 0 before it has begun.
        self._followed = 0
        self.nanoseconds = 0

    def restart(self, dt: float, tick: int = 0) -> None:
        """Start a run at a tick, with a control period of ``dt`` [s], after the last stamp."""
        self._dt = round(dt * 1e9)
        # Zero means "no time yet" to every node under simulated time.
        now = self._dt if self._rewind else self.nanoseconds + self._dt
        self._base, self.nanoseconds = now - tick * self._dt, now

    def follow(self, now: int) -> None:
        """
        Set the time to that of another clock [ns] if it has begun, is ahead, or jumped back.

        Otherwise stamps stay one control period apart: the other clock has steps of its own.
        """
        has_begun = self._followed == 0 < now
        if has_begun or now < self._followed or now - self.nanoseconds > _MAX_LAG:
            self._base += now - self.nanoseconds
        self._followed = now

    def is_ahead(self, now: int) -> bool:
        """Return whether the stamps are so far ahead of another clock [ns] that they must wait."""
        return self.nanoseconds - now > _MAX_LAG and now >= self._followed > 0

    def advance_to(self, tick: int) -> Time:
        """Advance to a tick and return its stamp."""
        self.nanoseconds = self._base + tick * self._dt
        return self.now()

    def now(self) -> Time:
        """Return the present stamp."""
        return to_stamp(self.nanoseconds)


class ClockWatch:
    """
    Detector of simulated time that has not begun or stands still.

    Parameters
    ----------
    meanwhile : str
        Sentence for the log: behaviour of the robot before time begins.
    stopped : str
        The same while time stands still; empty: ``meanwhile``.

    """

    def __init__(self, meanwhile: str, stopped: str = '') -> None:
        self._meanwhile, self._stopped = meanwhile, stopped or meanwhile
        # Last simulated time [ns], and the wall time [s] of its change.
        self._last_change = 0, time.monotonic()

    def find_trouble(self, simulated: int) -> str:
        """Return one line if the simulated time [ns] has not changed for 3 s; empty otherwise."""
        if simulated != self._last_change[0]:
            self._last_change = simulated, time.monotonic()
        if time.monotonic() - self._last_change[1] < _STANDSTILL_TIME:
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
    """Publisher of a bridge's own time on ``~/clock``, whichever node publishes /clock."""

    def __init__(self, node: Node) -> None:
        self._publisher = advertise(node, Clock, '~/clock')

    def publish(self, stamp: Time) -> None:
        """Publish the time, if the topic has subscribers."""
        if self._publisher.get_subscription_count():
            self._publisher.publish(Clock(clock=stamp))


class ClockPublisher:
    """
    Publisher of simulated time on /clock, of which a domain has at most one.

    Raises
    ------
    ConfigurationError
        If another node already publishes /clock; the message names the node.

    """

    def __init__(self, node: Node) -> None:
        self._node = node
        # Other publishers show up only after their discovery.
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
        """Publish the time; nothing after ``close``."""
        if self._publisher is not None:
            self._publisher.publish(Clock(clock=stamp))

    def stop_if_duplicate(self) -> str:
        """
        Stop publishing if another clock was started at the same moment.

        Of two clocks, the one whose node comes first in alphabetical order continues.

        Returns
        -------
        str
            One line for the log; empty if this clock continues.

        """
        if self._publisher is None:
            return ''
        others = find_other_publishers(self._node, _TOPIC)
        own = self._node.get_fully_qualified_name()
        if not others or own < others[0]:
            return ''
        self.close()
        return f'{_TOPIC} is also published by {others[0]}; {own} stops publishing it'
