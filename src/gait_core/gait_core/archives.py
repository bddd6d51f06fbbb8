"""Plain ``.npz`` archives: arrays by name, of a bounded size once they are unpacked."""

from __future__ import annotations

import io
import tokenize
import zipfile
import zlib

import numpy as np
import numpy.typing as npt

from gait_core.errors import excerpt
from gait_core.files import MEBIBYTE

UNPACKED_LIMIT = 256 * MEBIBYTE
"""Most bytes of all arrays of an archive."""

_MOST_ARRAYS = 1000
_ENTRY = b'PK\x01\x02'
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}

# What NumPy and zipfile let out of a damaged, an encrypted or an invented archive.
_DAMAGED = (
    EOFError,
    KeyError,
    MemoryError,
    NotImplementedError,
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
        If it is damaged or no archive of plain arrays, or if they are larger than
        ``UNPACKED_LIMIT``: that is read from the archive's directory before anything is unpacked.

    """
    try:
        # Each entry of the directory takes memory, before there is a number of them to look at.
        if content.count(_ENTRY) > _MOST_ARRAYS:
            raise ValueError(f'it holds more than {_MOST_ARRAYS} arrays')
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            if not entries:
                raise ValueError('it holds no array')
            # Others unpack more at a time than they are asked for.
            if any(entry.compress_type not in _METHODS for entry in entries):
                raise ValueError('it is packed as NumPy packs none')
            if sum(entry.file_size for entry in entries) > UNPACKED_LIMIT:
                most = UNPACKED_LIMIT // MEBIBYTE
                raise ValueError(f'its arrays are larger than {most} MiB, the most that is read')
            return {
                entry.filename.removesuffix('.npy'): _array(archive.read(entry))
                for entry in entries
            }
    except _DAMAGED as error:
        # NumPy goes on with how to trust the file.
        reason = str(error).partition('. ')[0] or type(error).__name__
        raise ValueError(excerpt(reason)) from error


def _array(content: bytes) -> npt.NDArray[np.generic]:
    """Return an array from its own file; ValueError."""
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
    # NumPy takes the room of the shape that the header tells before it looks for the numbers.
    if min(shape, default=0) < 0 or count * dtype.itemsize != len(content) - file.tell():
        raise ValueError('it holds an array of another length than its header tells')
    file.seek(0)
    array: npt.NDArray[np.generic] = np.lib.format.read_array(file, allow_pickle=False)
    return array
