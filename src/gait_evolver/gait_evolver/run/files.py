"""
Files of a run directory: appended to, locked, and failures in one line.

Nothing here knows what stands in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
import csv
import fcntl
import io
import os
from pathlib import Path
from typing import Any

from gait_core.errors import ConfigurationError


class StoreError(ConfigurationError):
    """The run directory cannot be written; what stands in it is whole."""


def format_csv(rows: Sequence[Sequence[Any]]) -> str:
    """Return rows as CSV with plain line ends."""
    text = io.StringIO()
    csv.writer(text, lineterminator='\n').writerows(rows)
    return text.getvalue()


def append_to_file(path: Path, content: bytes, *, durable: bool) -> None:
    """
    Append to a file; on failure it is as long as before.

    Parameters
    ----------
    path : Path
    content : bytes
    durable : bool
        Whether to wait until a power cut cannot undo it. A kill never can.

    """
    before = path.stat().st_size
    try:
        # Do not block if the file was replaced by a pipe without a reader.
        with open(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK), 'ab') as file:
            file.write(content)
            file.flush()
            if durable:
                os.fsync(file.fileno())
    except OSError:
        os.truncate(path, before)
        raise


def lock_folder(folder: Path) -> int:
    """Return the handle that holds a run directory until it is closed; StoreError if another."""
    handle = os.open(folder / 'run.lock', os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        raise StoreError(f'{folder} is in use by another process') from error
    return handle


@contextmanager
def store_errors(folder: Path) -> Iterator[None]:
    """Turn a failure of the file system into one line that says what became of the run."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f'run directory {folder}: {error.strerror}; what was recorded before stays whole'
        ) from error
