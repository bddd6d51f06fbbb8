# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reader of a trial's bag: observations and applied targets, to the last bit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import io
from pathlib import Path
from typing import Any

import numpy as np

from gait_core.errors import ConfigurationError, describe_error
from gait_core.files.access import parse_json, read_bytes
from gait_core.messages.reader import read_command, read_observation, read_trajectory
from gait_core.motion.observation import Observation
from gait_core.motion.targets import AppliedTargets
from gait_core.parameters.schema import read_value
from gait_core.parameters.yaml_file import read_document
from gait_core.trial.spec import Command, TrialResult, TrialSpec
from gait_tools.bags.chunks import check_chunks
from gait_tools.bags.messages import OBSERVATION_TOPIC, TARGETS_TOPIC
from gait_tools.bags.types import load_typestore
from gait_tools.bags.write import BAG_FORMAT, MAX_BAG_SIZE, SEALED_ENTRIES, compute_seal


@dataclass(frozen=True, kw_only=True)
class RecordedPeriod:
    """
    Recorded control period.

    Attributes
    ----------
    observation : Observation
        Input of the controller, with the noise of the trial.
    command : Command
    seed : int
        Seed of the controller.
    dt : float [s]
        Control period.
    names : tuple of str
        Names of the columns of ``applied``.
    applied : AppliedTargets
        (K, m) arrays of K sub-samples.

    """

    observation: Observation
    command: Command
    seed: int
    dt: float
    names: tuple[str, ...]
    applied: AppliedTargets


@dataclass(frozen=True, kw_only=True)
class RecordedTrial:
    """
    Trial of a bag.

    ``about`` says which trial of which run it was; ``periods`` are its control periods.
    """

    spec: TrialSpec
    result: TrialResult
    about: Mapping[str, Any]
    periods: tuple[RecordedPeriod, ...]


def is_bag(folder: Path) -> bool:
    """Return whether a folder is a rosbag2 directory."""
    return (folder / 'metadata.yaml').is_file()


def read_bag(folder: Path) -> RecordedTrial:
    """
    Return the trial of a bag that ``write_bag`` wrote.

    Raises
    ------
    ConfigurationError
        If it is not a bag of this suite, has another format, or was changed.

    """
    store = load_typestore()
    texts, content = _read_sealed(folder)
    try:
        check_chunks(content)
        about = {key: parse_json(texts[key], f'gait.{key}') for key in SEALED_ENTRIES}
        questions, answers = _read_messages(store, content)
        return RecordedTrial(
            spec=read_value(TrialSpec, about['spec'], 'spec'),
            result=read_value(TrialResult, about['result'], 'result'),
            about=about['about'],
            periods=tuple(map(_read_period, questions, answers)),
        )
    except Exception as error:
        # Any exception of rosbags while it reads is a fault of the file.
        raise ConfigurationError(f"bag '{folder}': {describe_error(error)}") from error


def _read_messages(store: Any, content: bytes) -> tuple[list[Any], list[Any]]:
    """Return the controller's inputs and outputs, in order."""
    from rosbags.rosbag2 import Reader

    source: Any = _FileInMemory(content)
    found: dict[str, list[Any]] = {OBSERVATION_TOPIC: [], TARGETS_TOPIC: []}
    with Reader(source) as reader:
        for connection, _, raw in reader.messages():
            if connection.topic in found:
                found[connection.topic].append(store.deserialize_cdr(raw, connection.msgtype))
    questions, answers = found.values()
    if len(questions) != len(answers):
        raise ConfigurationError(
            f'{len(questions)} messages of {OBSERVATION_TOPIC} for {len(answers)} of '
            f'{TARGETS_TOPIC}'
        )
    return questions, answers


class _FileInMemory:
    """File in memory in place of a path, so that rosbags reads exactly the checked content."""

    suffix = '.mcap'

    def __init__(self, content: bytes) -> None:
        self._content = content

    def exists(self) -> bool:
        """Return True: the file exists."""
        return True

    def is_dir(self) -> bool:
        """Return False: it is a file."""
        return False

    def open(self, mode: str) -> io.BytesIO:
        """Return its content."""
        return io.BytesIO(self._content)


def _read_sealed(folder: Path) -> tuple[dict[str, str], bytes]:
    """Return this suite's entries in a bag's metadata, and the checked file of messages."""
    document = read_document(folder / 'metadata.yaml').content
    try:
        about = document['rosbag2_bagfile_information']
        found = dict(about['custom_data'] or {})
        (name,) = about.get('relative_file_paths') or ('',)
        texts = {key: str(found.get(f'gait.{key}', '')) for key in (*SEALED_ENTRIES, 'sha256')}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ConfigurationError(
            f"bag '{folder}': its metadata.yaml is not that of a rosbag2 bag"
        ) from error
    version = found.get('gait.format')
    if version is None:
        raise ConfigurationError(
            f"bag '{folder}' holds no trial of this suite: its metadata has no gait.format"
        )
    if version != BAG_FORMAT:
        raise ConfigurationError(
            f"bag '{folder}' has trial format {version}; this version reads format {BAG_FORMAT}"
        )
    content = read_bytes(folder / Path(str(name)).name, MAX_BAG_SIZE)
    if compute_seal(texts, content) != texts['sha256']:
        raise ConfigurationError(f"bag '{folder}' was changed since it was written, or is damaged")
    return texts, content


def _read_period(question: Any, answer: Any) -> RecordedPeriod:
    """Return one control period from the recorded request and reply of the controller."""
    names, applied = _read_targets(answer)
    return RecordedPeriod(
        observation=read_observation(question.observation),
        command=read_command(question.command),
        seed=question.seed,
        dt=question.dt,
        names=names,
        applied=applied,
    )


def _read_targets(message: Any) -> tuple[tuple[str, ...], AppliedTargets]:
    """Return the names and targets of a recorded trajectory."""
    if not message.joint_names:
        # A robot without motors: live, such a message is refused.
        nothing = np.zeros((len(message.points), 0))
        return (), AppliedTargets(nothing, nothing, nothing)
    targets = read_trajectory(message)
    assert targets.position is not None
    zero = np.zeros_like(targets.position)
    return targets.names, AppliedTargets(
        targets.position,
        zero if targets.velocity is None else targets.velocity,
        zero if targets.effort is None else targets.effort,
    )
