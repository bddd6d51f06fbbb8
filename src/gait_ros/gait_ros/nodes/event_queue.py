# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Event queue of a process: its delay, and dropping of messages while it is late."""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any

# Pause [s] between two measurements of the delay.
_MARK_INTERVAL = 0.05
# Delay [s] above which the queue is late, and streams are thinned.
_MAX_DELAY = 0.1
# While the queue is late: shortest pause [s] between two messages of a stream, and largest share
# of the time that its callback takes.
_MIN_SPACING = 0.02
_MAX_SHARE = 0.2


class EventQueue:
    """
    Queue in which messages, requests and timers of this process wait for their callbacks.

    The EventsExecutor adds an event to one queue for every message received, even if the message
    itself is replaced by a newer one before its callback is called. A stream that is faster than
    its callback would make the queue, and with it the delay of requests and timers, grow without
    bound. Therefore, while events wait for more than 0.1 s, a stream delivers one message per
    20 ms, and its callback takes a fifth of the time at most. The newest message is delivered
    once the queue is empty. A replaced message costs a few microseconds.

    Attributes
    ----------
    replaced_count : int
        Number of messages that were replaced by newer ones.

    """

    def __init__(self) -> None:
        self.replaced_count = 0
        self._mark_time: float | None = None
        self._pass_time = 0.0
        self._waiting: dict[StreamReceiver, bytes] = {}

    @property
    def delay(self) -> float:
        """Time [s] for which the mark has waited in the queue; 0 without a mark."""
        return 0.0 if self._mark_time is None else time.monotonic() - self._mark_time

    def measure_delay(self, executor: Any) -> None:
        """Add a mark to the queue of an executor unless it has one; to be called repeatedly."""
        now = time.monotonic()
        if self._mark_time is None and now - self._pass_time > _MARK_INTERVAL:
            self._mark_time = now
            executor.create_task(self._pass)

    def _pass(self) -> None:
        """Remove the mark, whose turn has come, and deliver the messages that were held back."""
        self._mark_time, self._pass_time = None, time.monotonic()
        waiting, self._waiting = self._waiting, {}
        for stream, data in waiting.items():
            stream.deliver(data)

    def hold_back(self, stream: StreamReceiver, data: bytes) -> None:
        """Keep a message, as the newest of its stream, until the queue is empty."""
        self.replaced_count += stream in self._waiting
        self._waiting[stream] = data

    def discard(self, stream: StreamReceiver) -> None:
        """Drop the held-back message of a stream, because a newer one is delivered."""
        self.replaced_count += self._waiting.pop(stream, None) is not None


EVENT_QUEUE = EventQueue()
"""Queue of this process; its nodes share one executor."""


class StreamReceiver:
    """
    Receiver of the serialised messages of a subscription.

    Parameters
    ----------
    handle : callable
        Called with a serialised message.

    """

    def __init__(self, handle: Callable[[bytes], None]) -> None:
        self._handle = handle
        self._due = 0.0

    def __call__(self, data: bytes) -> None:
        """Deliver a message, or hold it back while the queue is late."""
        if EVENT_QUEUE.delay > _MAX_DELAY and time.monotonic() < self._due:
            EVENT_QUEUE.hold_back(self, data)
        else:
            EVENT_QUEUE.discard(self)
            self.deliver(data)

    def deliver(self, data: bytes) -> None:
        """Call the callback of the subscription, and note when its next call is due."""
        begun = time.monotonic()
        self._handle(data)
        ended = time.monotonic()
        self._due = ended + max(_MIN_SPACING, (ended - begun) / _MAX_SHARE)
