# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Messages between an evaluator and a worker process over a socket.

A message is the length of its content as 8 bytes, then the content as JSON, which preserves
every bit of a float. The evaluator's side never blocks.
"""

from __future__ import annotations

import json
import socket
from struct import Struct
from typing import Any

_LENGTH = Struct('<Q')
_CHUNK = 1 << 16
_MAX_SIZE = 1 << 30
"""Largest size [bytes] of a message; a larger length means a corrupt stream."""


def send_message(channel: socket.socket, message: Any) -> None:
    """Send a message and block until it is sent; OSError if the other side is closed."""
    channel.sendall(_encode_message(message))


def receive_message(channel: socket.socket) -> Any:
    """Block until a message arrives and return it; EOFError if the other side is closed."""
    (length,) = _LENGTH.unpack(_receive_bytes(channel, _LENGTH.size))
    return json.loads(_receive_bytes(channel, length))


def _receive_bytes(channel: socket.socket, count: int) -> bytes:
    content = bytearray()
    while len(content) < count:
        part = channel.recv(min(count - len(content), _CHUNK))
        if not part:
            raise EOFError
        content += part
    return bytes(content)


def _encode_message(message: Any) -> bytes:
    content = json.dumps(message).encode()
    return _LENGTH.pack(len(content)) + content


class MessageChannel:
    """
    The evaluator's end of a connection; it never waits for a worker that stops, dies or is slow.

    Parameters
    ----------
    channel : socket

    """

    def __init__(self, channel: socket.socket) -> None:
        channel.setblocking(False)
        self._socket = channel
        self._out = bytearray()
        self._in = bytearray()

    def fileno(self) -> int:
        """Return the file descriptor, for ``select.poll``."""
        return self._socket.fileno()

    @property
    def is_writing(self) -> bool:
        """True while a part of a message waits to be sent."""
        return bool(self._out)

    def send(self, message: Any) -> None:
        """Start to send a message; ``flush`` sends the rest that does not fit into the socket."""
        self._out += _encode_message(message)
        self.flush()

    def flush(self) -> None:
        """Send as much as fits into the socket; a closed socket is found by ``read_messages``."""
        try:
            while self._out:
                del self._out[: self._socket.send(self._out)]
        except BlockingIOError:
            pass
        except OSError:
            self._out.clear()

    def read_messages(self) -> list[Any]:
        """
        Return the complete messages that have arrived.

        Raises
        ------
        EOFError
            If no message is left and the other side is closed, even in the middle of a message,
            or if the bytes are not a message.

        """
        messages: list[Any] = []
        try:
            while part := self._socket.recv(_CHUNK):
                self._in += part
            ended = True
        except BlockingIOError:
            ended = False
        except OSError:
            ended = True
        while (message := self._next_message()) is not None:
            messages.append(message)
        # Messages that arrived before the end are returned first; the next call raises.
        if ended and not messages:
            raise EOFError('the connection ended')
        return messages

    def _next_message(self) -> Any:
        """Take the next message out of the received bytes; return None while it is incomplete."""
        if len(self._in) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack(self._in[: _LENGTH.size])
        if length > _MAX_SIZE:
            raise EOFError('a message was corrupt')
        end = _LENGTH.size + length
        if len(self._in) < end:
            return None
        content = bytes(self._in[_LENGTH.size : end])
        del self._in[:end]
        try:
            return json.loads(content)
        except ValueError as error:
            raise EOFError('a message was corrupt') from error

    def close(self) -> None:
        """Close the socket; the other side then reads the end of the stream."""
        self._socket.close()
