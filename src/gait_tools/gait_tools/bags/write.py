# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Writer of a trial's rosbag2 directory, with spec and result in the bag's metadata."""

from __future__ import annotations

from collections.abc import Mapping
import hashlib
import json
import os
from pathlib import Path
from typing import Any, Literal

from gait_core.errors import ConfigurationError
from gait_core.files.access import MEBIBYTE, new_folder, read_bytes, read_text, write_atomically
from gait_core.parameters.plain_data import to_plain_data
from gait_core.trial.rollout import Rollout
from gait_core.trial.spec import TrialResult
from gait_tools.bags.messages import (
    BAG_TOPICS,
    DESCRIPTION_TOPIC,
    OBSERVATION_TOPIC,
    trial_messages,
)
from gait_tools.bags.types import load_typestore, quality_of_service

BAG_FORMAT = '2'
"""Version of the suite's entries in a bag's metadata; a reader refuses others."""

SEALED_ENTRIES = ('spec', 'result', 'about')
"""Metadata entries that the hash of a bag covers, besides the messages."""

_SEAL_PLACEHOLDER = 64 * '0'

MAX_BAG_SIZE = 512 * MEBIBYTE
"""Largest size of a file of messages [bytes]."""

_METADATA_VERSION: Literal[8, 9] = 9
"""Version of rosbag2's metadata: Jazzy writes it, later releases read it."""


def check_bag(folder: Path) -> None:
    """
    Raise ConfigurationError if a bag cannot be written; called before its trial.

    An empty folder may exist already.
    """
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise ConfigurationError(f"bag '{folder}' exists; nearest valid: '{unused_path(folder)}'")
    above = next(path for path in folder.absolute().parents if path.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise ConfigurationError(f"bag '{folder}': '{above}' is not a writable folder")


def write_bag(
    folder: Path, rollout: Rollout, result: TrialResult, about: Mapping[str, Any] | None = None
) -> None:
    """
    Write a trial as a new rosbag2 directory, with its messages as the live graph sends them.

    Parameters
    ----------
    folder : Path
        New or empty; the file inside has its name.
    rollout : Rollout
        With all sub-samples of the targets.
    result : TrialResult
    about : mapping of str to plain data
        Run and candidate of the trial. Under ``custom_data`` of metadata.yaml, ``gait.about``,
        ``gait.spec`` and ``gait.result`` hold it, the spec and the result as JSON;
        ``gait.sha256`` is the hash of these entries and of the messages.

    Raises
    ------
    ConfigurationError
        If rosbags is not installed, or the folder is not empty or cannot be made; no part of it
        is left then.

    """
    check_bag(folder)
    store = load_typestore()
    from rosbags.rosbag2 import CompressionFormat as Format
    from rosbags.rosbag2 import CompressionMode, StoragePlugin, Writer, WriterError

    texts = {
        'spec': json.dumps(to_plain_data(rollout.spec)),
        'result': json.dumps(to_plain_data(result)),
        'about': json.dumps(dict(about or {})),
    }
    try:
        with new_folder(folder) as temporary:
            writer = Writer(
                temporary, version=_METADATA_VERSION, storage_plugin=StoragePlugin.MCAP
            )
            writer.set_compression(CompressionMode.STORAGE, Format.ZSTD)
            for key, value in {**texts, 'format': BAG_FORMAT, 'sha256': _SEAL_PLACEHOLDER}.items():
                writer.set_custom_data(f'gait.{key}', value)
            with writer:
                _write_messages(writer, store, rollout)
            _write_seal(temporary, texts)
    except (OSError, WriterError) as error:
        # Name the user's folder, not the temporary one.
        text = getattr(error, 'strerror', None) or error
        raise ConfigurationError(f"bag '{folder}': {text}") from error


def _write_seal(folder: Path, texts: Mapping[str, str]) -> None:
    """Write the hash of a bag into its metadata, because checksums are optional in MCAP."""
    file = folder / 'metadata.yaml'
    content = read_bytes(folder / f'{folder.name}.mcap', MAX_BAG_SIZE)
    sealed = read_text(file).replace(_SEAL_PLACEHOLDER, compute_seal(texts, content))
    write_atomically(file, sealed, durable=False)


def compute_seal(texts: Mapping[str, str], content: bytes) -> str:
    """Return the SHA-256 of the metadata of ``SEALED_ENTRIES`` and of the file of messages."""
    digest = hashlib.sha256(json.dumps([texts[key] for key in SEALED_ENTRIES]).encode())
    digest.update(content)
    return digest.hexdigest()


def _write_messages(writer: Any, store: Any, rollout: Rollout) -> None:
    """Write the messages of a trial; a topic gets its connection with its first message."""
    connections = {}
    for topic, stamp, message in trial_messages(rollout):
        kind = BAG_TOPICS[topic]
        if topic not in connections:
            offered = quality_of_service(
                latched=topic == DESCRIPTION_TOPIC, keep_all=topic == OBSERVATION_TOPIC
            )
            connections[topic] = writer.add_connection(
                topic, kind, typestore=store, offered_qos_profiles=[offered]
            )
        writer.write(connections[topic], stamp, store.serialize_cdr(message, kind))


def unused_path(path: Path) -> Path:
    """Return the path with a number from 2 on after its stem, the first that no file has."""
    # The current folder and the root have no name.
    path, count = path if path.name else path / 'bag', 2
    while (other := path.with_stem(f'{path.stem}_{count}')).exists():
        count += 1
    return other
