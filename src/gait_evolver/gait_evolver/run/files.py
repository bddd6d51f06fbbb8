# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Locks, appended files and file errors of run directories."""

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
    """A run directory that cannot be written; its recorded generations stay complete."""


def format_csv(rows: Sequence[Sequence[Any]]) -> str:
    """Return rows as CSV text with line feeds as line ends."""
    text = io.StringIO()
    csv.writer(text, lineterminator='\n').writerows(rows)
    return text.getvalue()


def append_to_file(path: Path, content: bytes, *, durable: bool) -> None:
    """
    Append to a file; after an error it has its former length.

    Parameters
    ----------
    path : Path
    content : bytes
    durable : bool
        Whether to wait until the content is on the disk, safe from a power cut. It is always
        safe from a kill.

    """
    before = path.stat().st_size
    try:
        # Non-blocking, in case the file was replaced by a pipe without a reader.
        with open(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK), 'ab') as file:
            file.write(content)
            file.flush()
            if durable:
                os.fsync(file.fileno())
    except OSError:
        os.truncate(path, before)
        raise


def lock_folder(folder: Path) -> int:
    """Lock a run directory until the returned descriptor is closed; StoreError if it is locked."""
    handle = os.open(folder / 'run.lock', os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        raise StoreError(f'{folder} is in use by another process') from error
    return handle


@contextmanager
def hold_lock(file: Path) -> Iterator[None]:
    """Hold the lock of a file, made if there is none; wait while another process holds it."""
    with file.open('ab') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def store_errors(folder: Path) -> Iterator[None]:
    """Turn OSError into a StoreError of one line that names the run directory."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f'run directory {folder}: {error.strerror}; the recorded generations stay complete'
        ) from error
