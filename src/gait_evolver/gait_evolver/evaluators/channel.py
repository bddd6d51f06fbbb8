"""
Messages between an evaluator and a worker process; the evaluator's side never blocks.

A message is its length and then JSON, which keeps every bit of a float.
"""

from __future__ import annotations

import json
import socket
from struct import Struct
from typing import Any

_LENGTH = Struct('<Q')
_CHUNK = 1 << 16
_MAX_SIZE = 1 << 30
"""Largest size [bytes] of a message; a greater length is garbage."""


def send_message(channel: socket.socket, message: Any) -> None:
    """Send a message and wait until it is sent; OSError if the other side is closed."""
    channel.sendall(_encode_message(message))


def receive_message(channel: socket.socket) -> Any:
    """Wait for a message and return it; EOFError if the other side is closed."""
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
    The evaluator's side, which goes on if a worker is stopped, dies or sends half a message.

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
        """True if a part of a message is still to be sent."""
        return bool(self._out)

    def send(self, message: Any) -> None:
        """Start to send a message; ``flush`` sends what does not fit into the socket now."""
        self._out += _encode_message(message)
        self.flush()

    def flush(self) -> None:
        """Send as much as fits into the socket; a closed socket shows in ``received``."""
        try:
            while self._out:
                del self._out[: self._socket.send(self._out)]
        except BlockingIOError:
            pass
        except OSError:
            self._out.clear()

    def read_messages(self) -> list[Any]:
        """
        Return the complete messages that have come.

        Raises
        ------
        EOFError
            If there is none and the other side is closed, also in the middle of a message, or if
            the bytes are no message.

        """
        found: list[Any] = []
        try:
            while part := self._socket.recv(_CHUNK):
                self._in += part
            ended = True
        except BlockingIOError:
            ended = False
        except OSError:
            ended = True
        while (message := self._next_message()) is not None:
            found.append(message)
        if ended and not found:
            raise EOFError('the connection ended')
        return found

    def _next_message(self) -> Any:
        if len(self._in) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack(self._in[: _LENGTH.size])
        if length > _MAX_SIZE:
            raise EOFError('a message was garbled')
        end = _LENGTH.size + length
        if len(self._in) < end:
            return None
        content = bytes(self._in[_LENGTH.size : end])
        del self._in[:end]
        try:
            return json.loads(content)
        except ValueError as error:
            raise EOFError('a message was garbled') from error

    def close(self) -> None:
        """Close the socket; the other side reads its end."""
        self._socket.close()
