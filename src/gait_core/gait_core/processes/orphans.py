# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Child processes that end with their parent, also when that is killed."""

from __future__ import annotations

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1


def end_with_parent(parent: int) -> None:
    """
    Have Linux kill this process when its parent ends, or exit if it has ended already.

    The signal is SIGKILL, because a process that is stopped or stuck in native code handles no
    other. Linux also sends it when the thread that started this process ends: that thread must
    live as long as this process.

    Parameters
    ----------
    parent : int
        Process id of the parent.

    """
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
