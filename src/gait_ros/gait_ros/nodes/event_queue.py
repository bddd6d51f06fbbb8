"""Delay of the events of this process, and thinning of messages that come faster than handled."""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any

_MARK_INTERVAL = 0.05
_MAX_DELAY = 0.1
_MIN_SPACING = 0.02
# Longest share of the time for the messages of one stream, while the queue is late.
_MAX_SHARE = 0.2


class EventQueue:
    """
    The queue in which messages, requests and timers of this process wait for their turn.

    The EventsExecutor puts an event into one queue for each message that comes in, also where the
    message itself is replaced by a newer one before its turn. Under a stream that is faster than
    its callback this queue, and with it the wait of requests and timers, would grow without bound.
    So while events wait for more than 0.1 s, a stream hands on one message per 20 ms, or in a
    fifth of the time where a message takes long: the newest, once the queue is empty again. A
    message that a newer one replaces costs a few microseconds.

    Attributes
    ----------
    left_out : int
        Number of messages that were replaced by newer ones.

    """

    def __init__(self) -> None:
        self.replaced_count = 0
        self._mark_time: float | None = None
        self._pass_time = 0.0
        self._waiting: dict[StreamReceiver, bytes] = {}

    @property
    def delay(self) -> float:
        """Time [s] for which the first event in the queue has waited, as far as is known."""
        return 0.0 if self._mark_time is None else time.monotonic() - self._mark_time

    def measure_delay(self, executor: Any) -> None:
        """Put a mark into the queue of an executor, unless one is in it; call it repeatedly."""
        now = time.monotonic()
        if self._mark_time is None and now - self._pass_time > _MARK_INTERVAL:
            self._mark_time = now
            executor.create_task(self._pass)

    def _pass(self) -> None:
        """Take the mark out, and hand on the messages that were held back."""
        self._mark_time, self._pass_time = None, time.monotonic()
        waiting, self._waiting = self._waiting, {}
        for stream, data in waiting.items():
            stream.deliver(data)

    def hold_back(self, stream: StreamReceiver, data: bytes) -> None:
        """Keep the newest message of a stream until the queue is empty."""
        self.replaced_count += stream in self._waiting
        self._waiting[stream] = data

    def discard(self, stream: StreamReceiver) -> None:
        """Leave out the message that is held back of a stream, for a newer one."""
        self.replaced_count += self._waiting.pop(stream, None) is not None


EVENT_QUEUE = EventQueue()
"""Queue of this process, whose nodes share one executor."""


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
        """Hand on a message, or hold it back while the queue is late."""
        if EVENT_QUEUE.delay > _MAX_DELAY and time.monotonic() < self._due:
            EVENT_QUEUE.hold_back(self, data)
        else:
            EVENT_QUEUE.discard(self)
            self.deliver(data)

    def deliver(self, data: bytes) -> None:
        """Call the callback of the subscription."""
        begun = time.monotonic()
        self._handle(data)
        ended = time.monotonic()
        self._due = ended + max(_MIN_SPACING, (ended - begun) / _MAX_SHARE)
