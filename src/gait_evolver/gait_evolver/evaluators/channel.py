"""
Messages between an evaluator and a worker process; the evaluator's side never waits.

They are JSON behind their length; its floats keep every bit.
"""

from __future__ import annotations

import json
import socket
from struct import Struct
from typing import Any

_LENGTH = Struct('<Q')
_CHUNK = 1 << 16
_MOST = 1 << 30
"""Bytes of a message; a longer one is no message."""


def send(channel: socket.socket, message: Any) -> None:
    """Send a message, waiting until it is on its way; OSError where nobody reads."""
    channel.sendall(_packed(message))


def receive(channel: socket.socket) -> Any:
    """Wait for a message and return it; EOFError where none will come."""
    (length,) = _LENGTH.unpack(_read(channel, _LENGTH.size))
    return json.loads(_read(channel, length))


def _read(channel: socket.socket, count: int) -> bytes:
    content = bytearray()
    while len(content) < count:
        part = channel.recv(min(count - len(content), _CHUNK))
        if not part:
            raise EOFError
        content += part
    return bytes(content)


def _packed(message: Any) -> bytes:
    content = json.dumps(message).encode()
    return _LENGTH.pack(len(content)) + content


class Channel:
    """
    The evaluator's side: a worker that is stopped, dies or sends half a message holds up nobody.

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
        """Return the descriptor to wait for."""
        return self._socket.fileno()

    @property
    def writing(self) -> bool:
        """Whether a message waits to be taken by the other side."""
        return bool(self._out)

    def send(self, message: Any) -> None:
        """Begin to send a message; ``flush`` sends what the other side has no room for yet."""
        self._out += _packed(message)
        self.flush()

    def flush(self) -> None:
        """Send what the other side has room for; its end shows when reading."""
        try:
            while self._out:
                del self._out[: self._socket.send(self._out)]
        except BlockingIOError:
            pass
        except OSError:
            self._out.clear()

    def received(self) -> list[Any]:
        """
        Return the whole messages that have come.

        Raises
        ------
        EOFError
            If no more will come and there is none, also in the middle of a message or where what
            came is no message.

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
        while (message := self._next()) is not None:
            found.append(message)
        if ended and not found:
            raise EOFError('the connection ended')
        return found

    def _next(self) -> Any:
        if len(self._in) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack(self._in[: _LENGTH.size])
        if length > _MOST:
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
        """Let the other side read an end."""
        self._socket.close()
