# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Files that a user names: reading with a size limit, and atomic writing."""

from __future__ import annotations

import atexit
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
import json
import os
from pathlib import Path
import secrets
import shutil
import stat
import tempfile
from typing import Any

from gait_core.errors import ConfigurationError, excerpt

MEBIBYTE = 2**20

TEXT_LIMIT = MEBIBYTE
"""Largest text file [bytes]: YAML, a robot description, a table of settings."""

DATA_LIMIT = 64 * MEBIBYTE
"""Largest data file [bytes]: weights, meshes, recordings."""

MAX_DIGITS = 64
"""Longest number in a text [characters]: thousands of digits take long to convert."""

_CHUNK_SIZE = MEBIBYTE
_LFS_POINTER = b'version https://git-lfs.github.com/spec/'
_KINDS = (
    (stat.S_ISDIR, 'a folder'),
    (stat.S_ISFIFO, 'a pipe'),
    (stat.S_ISSOCK, 'a socket'),
    (stat.S_ISCHR, 'a device'),
    (stat.S_ISBLK, 'a device'),
)


def expand_user(path: str | Path) -> Path:
    """
    Return a path with ``~`` replaced by the home folder.

    ``~name`` of an unknown user is kept, as a path that does not exist, where
    ``Path.expanduser`` raises RuntimeError.
    """
    return Path(os.path.expanduser(path))


def read_bytes(path: str | Path, limit: int = DATA_LIMIT) -> bytes:
    """
    Return the content of a regular file.

    Parameters
    ----------
    path : str or Path
    limit : int [bytes]
        Largest size.

    Raises
    ------
    ConfigurationError
        If it cannot be read, is larger, is a pointer of Git LFS, or is not a regular file:
        reading a pipe would wait for its writer, and reading a device might never end.

    """
    name = excerpt(path)
    try:
        _check_regular_file(os.stat(path), limit, name)
        # The path may have been replaced since: open without waiting, and check again.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        with open(handle, 'rb', buffering=0) as file:
            _check_regular_file(os.fstat(handle), limit, name)
            parts, size = [], 0
            while size <= limit and (part := file.read(_CHUNK_SIZE)):
                parts.append(part)
                size += len(part)
    except OSError as error:
        raise ConfigurationError(f'{name}: {error.strerror or error}') from error
    except ValueError as error:
        if isinstance(error, ConfigurationError):
            raise
        # The name has a zero byte in it.
        raise ConfigurationError(f'{name!r} is not a valid file name: {error}') from error
    if size > limit:
        raise _too_large(name, limit)
    content = b''.join(parts)
    if content.startswith(_LFS_POINTER):
        raise ConfigurationError(
            f'{name} is a pointer of Git LFS in place of the file; to fetch it: git lfs pull'
        )
    return content


def read_text(path: str | Path, limit: int = TEXT_LIMIT) -> str:
    """Return the text of a regular file in UTF-8; ConfigurationError as ``read_bytes``."""
    content = read_bytes(path, limit)
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise ConfigurationError(
            f'{excerpt(path)}, byte {error.start}: it is not UTF-8 text'
        ) from error


def read_json(path: str | Path, limit: int = TEXT_LIMIT) -> Any:
    """Return the value of a JSON file; ConfigurationError as ``read_bytes``, or for other text."""
    return parse_json(read_text(path, limit), excerpt(path))


class RepeatedKey(ConfigurationError):
    """A key that an object of a JSON text holds twice, of which one value would be lost."""


def parse_json(text: str, name: str) -> Any:
    """Return the value of a JSON text; ConfigurationError, which begins with the text's name."""
    try:
        return json.loads(text, parse_int=parse_whole_number, object_pairs_hook=_mapping_of_pairs)
    except RepeatedKey as error:
        raise RepeatedKey(f'{name}: {error}') from error
    except ValueError as error:
        raise ConfigurationError(f'{name} is not JSON: {error}') from error
    except RecursionError as error:
        raise ConfigurationError(f'{name} is not JSON: nested too deeply') from error


def _mapping_of_pairs(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of a JSON text; RepeatedKey if two keys are equal."""
    mapping: dict[str, Any] = {}
    for key, value in pairs:
        if key in mapping:
            raise RepeatedKey(f"the key '{excerpt(key)}' is written twice")
        mapping[key] = value
    return mapping


def parse_whole_number(text: str) -> int:
    """Return the whole number of a text; ValueError for another text or over ``MAX_DIGITS``."""
    if len(text) > MAX_DIGITS:
        raise ValueError(f'a number of {len(text)} characters; at most {MAX_DIGITS} are read')
    return int(text)


def check_format(content: Any, version: int, name: str) -> dict[str, Any]:
    """Return the mapping in a file of a format; ConfigurationError for another format or none."""
    found = content.get('format') if isinstance(content, dict) else None
    if not isinstance(content, dict) or found != version:
        stated = 'no format' if found is None else f'format {excerpt(found)}'
        raise ConfigurationError(f'{name} has {stated}; this version reads format {version}')
    return content


def _check_regular_file(status: os.stat_result, limit: int, name: str) -> None:
    """Raise ConfigurationError unless it is a regular file within the size limit."""
    if not stat.S_ISREG(status.st_mode):
        kind = next((text for test, text in _KINDS if test(status.st_mode)), 'something else')
        raise ConfigurationError(f'{name} is {kind}, expected a regular file')
    if status.st_size > limit:
        raise _too_large(name, limit)


def _too_large(name: str, limit: int) -> ConfigurationError:
    return ConfigurationError(f'{name} is larger than the limit of {_format_size(limit)}')


def _format_size(count: int) -> str:
    return f'{count // MEBIBYTE} MiB' if count >= MEBIBYTE else f'{count} bytes'


def write_atomically(path: Path, content: str | bytes, *, durable: bool = True) -> None:
    """
    Write a temporary file in the same folder, then move it to the path.

    A reader sees either the old content or the new one, also if this process is killed. With
    ``durable``, which takes many times longer, the same holds after a power cut. A device or pipe
    is written in place.
    """
    try:
        raw = content.encode() if isinstance(content, str) else content
    except UnicodeEncodeError as error:
        # Python stands for a byte of a file name that is no UTF-8 with such a character.
        raise ConfigurationError(
            f'{excerpt(path)} cannot be written: its text would hold '
            f'{error.object[error.start]!r}, of a file name in another encoding than UTF-8'
        ) from error
    try:
        if path.is_char_device() or path.is_fifo():
            # A move would replace the device itself by a file.
            _write_in_place(path, raw)
            return
        _replace_file(path, raw, durable)
    except OSError as error:
        # Name the path, not the temporary file, which the user does not know.
        raise OSError(error.errno, error.strerror, str(path)) from error
    if not durable:
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _write_in_place(path: Path, raw: bytes) -> None:
    """Write to a device or pipe; OSError at once for a pipe without a reader."""
    with open(os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY), 'wb') as file:
        os.set_blocking(file.fileno(), True)
        file.write(raw)


def _replace_file(path: Path, raw: bytes, durable: bool) -> None:
    """Write a temporary file in the same folder and rename it; remove it if that fails."""
    temporary = _temporary_path(path)
    # Permissions by the umask; those of `tempfile` exclude other users.
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with open(handle, 'wb') as file:
            file.write(raw)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """
    Yield a temporary path at which to make a folder, then move the folder to its path.

    An exception within the context leaves nothing behind. An empty folder at the path is replaced.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    parent = _temporary_path(path)
    parent.mkdir()
    try:
        folder = parent / path.name
        yield folder
        # The permissions of the umask, like those of a folder that `mkdir` makes.
        shutil.copymode(parent, folder)
        os.replace(folder, path)
    finally:
        shutil.rmtree(parent, ignore_errors=True)


def temporary_folder(prefix: str) -> Path:
    """Return a new folder that is removed when this process ends, unless it is killed."""
    folder = tempfile.mkdtemp(prefix=prefix)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _temporary_path(path: Path) -> Path:
    """Return an unused hidden name in the same folder, within the length limit of names."""
    return path.with_name(f'.{path.name[:40]}.{secrets.token_hex(6)}')
