"""
A rollout on disk: ``rollout.npz`` with the arrays and ``trial.json`` with spec and result.

Plain arrays and text only: any NumPy reads them, whatever the version of the suite.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from gait_core.archives import UNPACKED_LIMIT, unpack_arrays
from gait_core.canonical import plain
from gait_core.errors import ConfigurationError
from gait_core.files import DATA_LIMIT, read_bytes, read_json, write_atomically
from gait_core.robot.load import load_robot
from gait_core.robot.mass import heavier
from gait_core.rollout import Rollout
from gait_core.schema import read_value
from gait_core.trial_spec import TrialResult, TrialSpec

FORMAT = 1

_NO_ARRAYS = ('robot', 'spec', 'status', 'dt')


def write_record(folder: Path, rollout: Rollout, result: TrialResult) -> None:
    """
    Write a rollout and its result into a folder, which is made if need be.

    Raises
    ------
    ConfigurationError
        If it cannot be written.

    """
    arrays = {
        field.name: getattr(rollout, field.name)
        for field in fields(Rollout)
        if field.name not in _NO_ARRAYS and getattr(rollout, field.name) is not None
    }
    facts = {
        'format': FORMAT,
        'spec': plain(rollout.spec),
        'result': plain(result),
        'dt': rollout.dt,
        'joint_names': rollout.robot.joint_names,
        'target_names': rollout.robot.target_names,
        'root_links': rollout.robot.roots,
        'soles': rollout.robot.soles,
    }
    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / 'rollout.npz', packed.getvalue())
        write_atomically(folder / 'trial.json', json.dumps(facts, indent=1, allow_nan=False))
    except OSError as error:
        raise ConfigurationError(f'record {folder}: {error.strerror}') from error


def read_record(folder: Path) -> tuple[Rollout, TrialResult]:
    """
    Return a rollout and its result.

    Raises
    ------
    ConfigurationError
        If the folder holds no record, or its robot has other joints by now.

    """
    try:
        facts = read_json(folder / 'trial.json', DATA_LIMIT)
        arrays = unpack_arrays(read_bytes(folder / 'rollout.npz', UNPACKED_LIMIT))
    except ConfigurationError as error:
        raise ConfigurationError(f'record {error}') from error
    except ValueError as error:
        raise ConfigurationError(f'{folder} holds no record: {error}') from error
    if not isinstance(facts, dict) or facts.get('format') != FORMAT:
        raise ConfigurationError(f'record {folder}: expected format {FORMAT}')
    try:
        return _rebuilt(facts, arrays, folder)
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, ConfigurationError):
            raise
        raise ConfigurationError(f'record {folder} was changed: {error}') from error


def _rebuilt(
    facts: Mapping[str, Any], arrays: Mapping[str, Any], folder: Path
) -> tuple[Rollout, TrialResult]:
    spec: TrialSpec = read_value(TrialSpec, facts['spec'], 'spec')
    robot = heavier(load_robot(spec.scene.robot, spec.scene.draw), spec.scene.mass_factor)
    if list(robot.target_names) != facts['target_names']:
        raise ConfigurationError(
            f"record {folder}: robot '{robot.name}' has other joints than when it was recorded"
        )
    result: TrialResult = read_value(TrialResult, facts['result'], 'result')
    rollout = Rollout(robot=robot, spec=spec, status=result.status, dt=facts['dt'], **arrays)
    return rollout, result
