"""A controller's bulk weights: plain ``.npz`` arrays, checked by hash, never pickles."""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

from gait_core.errors import ConfigurationError, excerpt
from gait_core.files.access import read_bytes
from gait_core.files.archives import unpack_arrays


def load_weights(path: str, sha256: str = '') -> dict[str, npt.NDArray[np.generic]]:
    """
    Return the arrays of a weights file by name.

    Raises
    ------
    ConfigurationError
        If the file is missing, is no ``.npz``, holds objects, or differs from its hash.

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
        raise ConfigurationError(f'weights {name} are no plain .npz file: {error}') from error
