"""PyBullet, imported without its banner, and the connection that an engine owns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import os
from typing import Any

from gait_core.errors import ConfigurationError


@contextmanager
def _silence_descriptor(descriptor: int) -> Iterator[None]:
    """Send what C code writes to a file descriptor to nowhere."""
    kept = os.dup(descriptor)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, descriptor)
        yield
    finally:
        os.dup2(kept, descriptor)
        os.close(kept)
        os.close(nowhere)


# The banner with the build time would stand before a command's only line of error.
with _silence_descriptor(2):
    import pybullet

pb: Any = pybullet


def connect(mode: int = pybullet.DIRECT) -> int:
    """Return a new client; ConfigurationError when PyBullet grants none."""
    client: int = pb.connect(mode)
    if client < 0:
        raise ConfigurationError('PyBullet refused a connection: too many clients in this process')
    return client


def disconnect(client: int) -> None:
    """End a client; one that is gone already is no fault."""
    if pb.isConnected(client):
        pb.disconnect(client)
