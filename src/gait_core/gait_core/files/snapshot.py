"""
Snapshots: the inner state of engines and controllers, as data that a file can keep.

What can be stopped and continued is ``Resumable``. A snapshot holds numbers, truth values, texts,
``None``, arrays, and lists and mappings of these. Files are JSON, whose numbers come back to the
last bit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
import copy
import json
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from gait_core.contracts import Resumable
from gait_core.errors import ConfigurationError, excerpt
from gait_core.files.access import read_text, write_atomically
from gait_core.files.archives import UNPACKED_LIMIT

_ARRAY = 'array'


class AttributeSnapshot(Resumable):
    """
    A resumable object whose inner state is some of its attributes.

    Class attributes
    ----------------
    STATE : tuple of str
        Attributes; keys of a snapshot are their names without leading underscores.
    PARTS : tuple of str
        Attributes that are resumable objects themselves.

    """

    STATE: ClassVar[tuple[str, ...]] = ()
    PARTS: ClassVar[tuple[str, ...]] = ()

    def snapshot(self) -> dict[str, Any]:
        """Return copies of the attributes, and snapshots of the parts."""
        found: dict[str, Any] = {}
        for name in self.STATE:
            value = getattr(self, name)
            copied = list(value) if isinstance(value, deque) else copy.deepcopy(value)
            found[name.lstrip('_')] = copied
        for name in self.PARTS:
            found[name.lstrip('_')] = getattr(self, name).snapshot()
        return found

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Set attributes and parts from a snapshot."""
        for name in self.STATE:
            value = copy.deepcopy(snapshot[name.lstrip('_')])
            is_queue = isinstance(getattr(self, name), deque)
            setattr(self, name, deque(value) if is_queue else value)
        for name in self.PARTS:
            getattr(self, name).restore(snapshot[name.lstrip('_')])


def write_snapshot(path: Path, snapshot: Mapping[str, Any]) -> None:
    """Write a snapshot to a file; ConfigurationError if it cannot be written."""
    try:
        write_atomically(path, json.dumps(snapshot, default=_plain))
    except OSError as error:
        raise ConfigurationError(f"snapshot '{path}': {error.strerror or error}") from error


def read_snapshot(path: Path) -> dict[str, Any]:
    """Read a snapshot from a file; ConfigurationError if it is none."""
    text = read_text(path, UNPACKED_LIMIT)
    try:
        snapshot = json.loads(text, object_hook=_array)
    except (KeyError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise ConfigurationError(f"snapshot '{path}': {excerpt(str(error))}") from error
    if not isinstance(snapshot, dict):
        raise ConfigurationError(f"snapshot '{path}' holds no mapping")
    return snapshot


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return {_ARRAY: str(value.dtype), 'shape': value.shape, 'values': value.ravel().tolist()}
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f'a snapshot holds no {type(value).__name__}')


def _array(mapping: dict[str, Any]) -> Any:
    if _ARRAY not in mapping:
        return mapping
    return np.array(mapping['values'], dtype=mapping[_ARRAY]).reshape(mapping['shape'])
