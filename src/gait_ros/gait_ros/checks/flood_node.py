# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Wrapper of a node that counts its received messages, for the flood test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import wraps
import importlib
import json
import os
from pathlib import Path
import threading
from typing import Any

from gait_core.files.access import write_atomically
from gait_ros.nodes import qos

TARGET_VARIABLE, COUNTS_VARIABLE = 'GAIT_FLOOD_TARGET', 'GAIT_FLOOD_COUNTS'
"""Environment variables: ``module:function`` of the node, and the file of the counts."""

_PERIOD = 0.2


def main(args: Sequence[str] | None = None) -> int:
    """Run the node and write its counts by topic to a JSON file every 0.2 s."""
    counts: Counter[str] = Counter()
    guarded = qos.guard_callback

    def counting(node: Any, what: str, callback: Callable[..., Any]) -> Callable[..., None]:
        """Return a guarded callback that counts its messages."""
        call = guarded(node, what, callback)

        @wraps(callback)
        def counted(*message: Any) -> None:
            """Count a message and call the callback; the call of a timer has none."""
            counts[what] += len(message)
            call(*message)

        return counted

    def write() -> None:
        """Write the counts until the process ends."""
        file = Path(os.environ[COUNTS_VARIABLE])
        ended = threading.Event()
        while not ended.wait(_PERIOD):
            write_atomically(file, json.dumps(dict(counts)), durable=False)

    qos.guard_callback = counting
    threading.Thread(target=write, daemon=True).start()
    module, _, function = os.environ[TARGET_VARIABLE].partition(':')
    entry = getattr(importlib.import_module(module), function)
    return int(entry(args) or 0)
