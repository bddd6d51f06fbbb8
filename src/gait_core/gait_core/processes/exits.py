# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Ends of the process by code that a user added."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import os
from typing import NoReturn


@contextmanager
def raise_on_os_exit() -> Iterator[None]:
    """Make ``os._exit`` raise SystemExit, so that user code cannot end the process silently."""

    def leave(status: int) -> NoReturn:
        """Raise SystemExit in place of the end of the process."""
        raise SystemExit(f'os._exit({status})')

    before, os._exit = os._exit, leave
    try:
        yield
    finally:
        os._exit = before
