# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Plain ``.npz`` archives: arrays by name, with a bound on their size; never pickles."""

from __future__ import annotations

import hashlib
import io
import tokenize
import zipfile
import zlib

import numpy as np
import numpy.typing as npt

from gait_core.errors import ConfigurationError, excerpt
from gait_core.files.access import MEBIBYTE, read_bytes

UNPACKED_LIMIT = 256 * MEBIBYTE
"""Largest total size [bytes] of the arrays of an archive."""

_MAX_ARRAYS = 1000
_ENTRY_SIGNATURE = b'PK\x01\x02'
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}

# Exceptions that NumPy and zipfile raise for a damaged, encrypted or forged archive.
_DAMAGE_ERRORS = (
    EOFError,
    KeyError,
    MemoryError,
    OSError,
    OverflowError,
    RecursionError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)


def unpack_arrays(content: bytes) -> dict[str, npt.NDArray[np.generic]]:
    """
    Return the arrays of an archive by name.

    Raises
    ------
    ValueError
        If it is damaged, is not an archive of plain arrays, or is larger than ``UNPACKED_LIMIT``.
        The size is read from the archive's directory before anything is unpacked.

    """
    try:
        # Counted in the raw bytes, because zipfile reads the whole directory into memory first.
        if content.count(_ENTRY_SIGNATURE) > _MAX_ARRAYS:
            raise ValueError(f'it holds more than {_MAX_ARRAYS} arrays')
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            if not entries:
                raise ValueError('it holds no array')
            # Other methods may unpack far more than the requested size in one step.
            if any(entry.compress_type not in _COMPRESSIONS for entry in entries):
                raise ValueError('its compression is not one that NumPy uses')
            if sum(entry.file_size for entry in entries) > UNPACKED_LIMIT:
                limit = UNPACKED_LIMIT // MEBIBYTE
                raise ValueError(f'its arrays are larger than the limit of {limit} MiB')
            return {
                entry.filename.removesuffix('.npy'): _read_array(archive.read(entry))
                for entry in entries
            }
    except _DAMAGE_ERRORS as error:
        # The first sentence only: NumPy's next one tells how to load untrusted pickles.
        reason = str(error).partition('. ')[0] or type(error).__name__
        raise ValueError(reason) from error


def _read_array(content: bytes) -> npt.NDArray[np.generic]:
    """Return the array of an ``.npy`` file; ValueError if it is damaged or holds objects."""
    file = io.BytesIO(content)
    header = _HEADERS.get(np.lib.format.read_magic(file))
    if header is None:
        raise ValueError('it holds an array of an unknown format')
    shape, _, dtype = header(file)
    if dtype.hasobject or not dtype.itemsize:
        raise ValueError('it holds objects, which are never loaded')
    count = 1
    for length in shape:
        count *= length
    # NumPy allocates the shape of the header before it reads the numbers: compare the sizes.
    if min(shape, default=0) < 0 or count * dtype.itemsize != len(content) - file.tell():
        raise ValueError('it holds an array whose length differs from its header')
    file.seek(0)
    array: npt.NDArray[np.generic] = np.lib.format.read_array(file, allow_pickle=False)
    return array


def load_weights(path: str, sha256: str = '') -> dict[str, npt.NDArray[np.generic]]:
    """
    Return the weights of a controller, arrays by name.

    Raises
    ------
    ConfigurationError
        If the file is missing, is not an ``.npz`` file, holds objects, or differs from its hash.

    """
    try:
        content = read_bytes(path)
    except ConfigurationError as error:
        raise ConfigurationError(f'weights {error}') from error
    name = excerpt(path)
    found = hashlib.sha256(content).hexdigest()
    if sha256 and found != sha256:
        raise ConfigurationError(
            f'weights {name} have SHA-256 {found[:12]}..., expected {sha256[:12]}...'
        )
    try:
        return unpack_arrays(content)
    except ValueError as error:
        raise ConfigurationError(f'weights {name} are not a plain .npz file: {error}') from error
