"""Child processes that end with their parent, whatever ended that."""

from __future__ import annotations

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1


def end_with_parent(parent: int) -> None:
    """
    Have Linux kill this process when its parent ends; end at once if that has ended already.

    SIGKILL, because a process that is stopped or stuck in native code takes no other signal. It
    comes when the thread ends that started this process, too: let that live as long.

    Parameters
    ----------
    parent : int
        Process id of the parent.

    """
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
