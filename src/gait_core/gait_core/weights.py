"""A controller's bulk weights: plain ``.npz`` arrays, checked by hash, never pickles."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
import tokenize
import zipfile
import zlib

import numpy as np
import numpy.typing as npt

from gait_core.errors import ConfigurationError

# What NumPy and zipfile let out of a damaged, an encrypted or an invented archive.
_DAMAGED = (
    EOFError,
    KeyError,
    MemoryError,
    OSError,
    OverflowError,
    RuntimeError,
    SyntaxError,
    ValueError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)


def load_weights(path: str, sha256: str = '') -> dict[str, npt.NDArray[np.generic]]:
    """
    Return the arrays of a weights file by name.

    Raises
    ------
    ConfigurationError
        If the file is missing, is no ``.npz``, holds objects, or differs from its hash.

    """
    file = Path(path)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ConfigurationError(f'weights {file}: {error.strerror}') from error
    found = hashlib.sha256(content).hexdigest()
    if sha256 and found != sha256:
        raise ConfigurationError(
            f'weights {file} have SHA-256 {found[:12]}..., expected {sha256[:12]}...'
        )
    try:
        archive = np.load(io.BytesIO(content), allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise ValueError('it holds a single array')
        if not archive.files:
            raise ValueError('it holds no array')
        return {name: archive[name] for name in archive.files}
    except _DAMAGED as error:
        # NumPy goes on with how to trust the file.
        reason = str(error).partition('. ')[0]
        raise ConfigurationError(f'weights {file} are no plain .npz file: {reason}') from error
