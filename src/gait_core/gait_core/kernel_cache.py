"""
Numba's cache of compiled kernels, for processes that compile at the same time.

A bridge and a controller, or two workers, that start together on a fresh clone compile the same
functions for different types. Numba numbers its files without looking at who else does: of two
that save at once, one type then finds the code of the other, and the process ends by a
segmentation fault, in every run from then on. Numba calls ``serialise_saves`` before it compiles
(entry point ``numba_extensions``).
"""

from __future__ import annotations

import fcntl
import functools
import os
from typing import Any

from numba.core.caching import IndexDataCacheFile


def serialise_saves() -> None:
    """Let one process at a time save a kernel of a folder."""
    save = IndexDataCacheFile.save
    if hasattr(save, '__wrapped__'):
        return

    @functools.wraps(save)
    def alone(self: Any, key: Any, data: Any) -> None:
        folder = os.open(self._cache_path, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            save(self, key, data)
        finally:
            # Closing it ends the lock.
            os.close(folder)

    IndexDataCacheFile.save = alone
