# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""PyBullet, imported without its banner, and its connections."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import os
from typing import Any

from gait_core.errors import ConfigurationError


@contextmanager
def _silence_descriptor(descriptor: int) -> Iterator[None]:
    """Discard the output of C code to a file descriptor."""
    copy = os.dup(descriptor)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, descriptor)
        yield
    finally:
        os.dup2(copy, descriptor)
        os.close(copy)
        os.close(nowhere)


# Without this the banner with the build time would precede the single error line of a command.
with _silence_descriptor(2):
    import pybullet

pb: Any = pybullet


def connect(mode: int = pybullet.DIRECT) -> int:
    """Return a new client; ConfigurationError if PyBullet has no free one."""
    client: int = pb.connect(mode)
    if client < 0:
        raise ConfigurationError('PyBullet refused a connection: too many clients in this process')
    return client


def disconnect(client: int) -> None:
    """End a client; without effect if it has ended already."""
    if pb.isConnected(client):
        pb.disconnect(client)
