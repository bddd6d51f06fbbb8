# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Plain-data form of specs and its hash, equal on every machine."""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
import hashlib
import json
from typing import Any

import numpy as np

ADDED = {'later': True}
"""Metadata of a field that a later version added."""


def added_field(default: Any = dataclasses.MISSING, factory: Any = dataclasses.MISSING) -> Any:
    """
    Declare a field that a later version added to a hashed dataclass.

    At its default it is left out of plain data, so that specs without it keep their hash.
    """
    return dataclasses.field(default=default, default_factory=factory, metadata=ADDED)


def to_plain_data(value: Any) -> Any:
    """Return dataclasses, mappings, arrays and tuples as dicts, lists and plain numbers."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: to_plain_data(getattr(value, field.name))
            for field in dataclasses.fields(value)
            if not (field.metadata and _is_added_default(field, getattr(value, field.name)))
        }
    if isinstance(value, Mapping):
        return {str(key): to_plain_data(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return to_plain_data(value.tolist())
    if isinstance(value, (list, tuple)):
        return [to_plain_data(item) for item in value]
    if isinstance(value, np.generic):
        return value.item()
    return value


def _is_added_default(field: Any, value: Any) -> bool:
    """Return whether a field was added later and has its default."""
    if not field.metadata.keys() >= ADDED.keys():
        return False
    has_factory = field.default_factory is not dataclasses.MISSING
    return bool(value == (field.default_factory() if has_factory else field.default))


def sha256_of(value: Any) -> str:
    """Return the SHA-256 of the value's canonical JSON; floats keep every bit."""
    encoded = json.dumps(
        to_plain_data(value), sort_keys=True, separators=(',', ':'), allow_nan=False
    )
    return hashlib.sha256(encoded.encode()).hexdigest()
