# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Rollout on disk: ``rollout.npz`` with the arrays and ``trial.json`` with spec and result.

Plain arrays and text only: any NumPy reads them, whatever the version of the suite.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
import io
from itertools import groupby
import json
from pathlib import Path
from typing import Any

import numpy as np

from gait_core.arrays import FloatArray, IntArray
from gait_core.errors import ConfigurationError
from gait_core.files.access import (
    DATA_LIMIT,
    check_format,
    read_bytes,
    read_json,
    write_atomically,
)
from gait_core.files.archives import UNPACKED_LIMIT, unpack_arrays
from gait_core.motion.observation import Contacts, Imu
from gait_core.motion.state_tape import StateTape
from gait_core.motion.targets import AppliedTape
from gait_core.parameters.plain_data import to_plain_data
from gait_core.parameters.schema import read_value
from gait_core.robot.load import load_robot
from gait_core.robot.mass import scale_mass
from gait_core.robot.model import RobotModel
from gait_core.trial.rollout import Rollout
from gait_core.trial.spec import TrialResult, TrialSpec

RECORD_FORMAT = 1

_IMU_FIELDS = {
    'specific_forces': 'linear_acceleration',
    'imu_orientations': 'orientation',
    'angular_velocities': 'angular_velocity',
}
_CONTACT_FIELDS = {
    'contact_sole': 'sole',
    'contact_points': 'points',
    'contact_forces': 'forces',
    'contact_depths': 'depths',
}
_TARGET_FIELDS = {
    'target_positions': 'position',
    'target_velocities': 'velocity',
    'target_efforts': 'effort',
}
# Arrays of states. Every record has the required ones; the optional ones depend on the engine.
_REQUIRED_ARRAYS = (
    'joint_positions',
    'joint_velocities',
    'joint_efforts',
    'body_poses',
    'body_twists',
)
_OPTIONAL_ARRAYS = ('joint_work', 'element_lengths', 'element_forces')
_ARRAY_NAMES = {
    *_REQUIRED_ARRAYS,
    *_OPTIONAL_ARRAYS,
    *_IMU_FIELDS,
    *_CONTACT_FIELDS,
    *_TARGET_FIELDS,
    'commands',
    'contact_tick',
    'sub_targets',
    'sub_samples',
}


def write_record(folder: Path, rollout: Rollout, result: TrialResult) -> None:
    """
    Write a rollout and its result into a folder, which is created if absent.

    Raises
    ------
    ConfigurationError
        If the files cannot be written.

    """
    facts = {
        'format': RECORD_FORMAT,
        'spec': to_plain_data(rollout.spec),
        'result': to_plain_data(result),
        'dt': rollout.dt,
        'joint_names': rollout.robot.joint_names,
        'target_names': rollout.robot.target_names,
        'root_links': rollout.robot.roots,
        'soles': rollout.robot.soles,
    }
    packed = io.BytesIO()
    np.savez_compressed(packed, **rollout_arrays(rollout))
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
        If the folder holds no record, or the joints of its robot have changed since.

    """
    try:
        facts = read_json(folder / 'trial.json', DATA_LIMIT)
        arrays = unpack_arrays(read_bytes(folder / 'rollout.npz', UNPACKED_LIMIT))
    except ConfigurationError as error:
        raise ConfigurationError(f'record {error}') from error
    except ValueError as error:
        raise ConfigurationError(f'{folder} holds no record: {error}') from error
    facts = check_format(facts, RECORD_FORMAT, f'record {folder}')
    try:
        return _rebuild_rollout(facts, arrays, folder)
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, ConfigurationError):
            raise
        raise ConfigurationError(f'record {folder} was changed: {error}') from error


def _rebuild_rollout(
    facts: Mapping[str, Any], arrays: Mapping[str, Any], folder: Path
) -> tuple[Rollout, TrialResult]:
    """Return rollout and result from the content of both files; the robot is loaded anew."""
    spec: TrialSpec = read_value(TrialSpec, facts['spec'], 'spec')
    robot = scale_mass(load_robot(spec.scene.robot, spec.scene.draw), spec.scene.mass_factor)
    if list(robot.target_names) != facts['target_names']:
        raise ConfigurationError(
            f"record {folder}: robot '{robot.name}' has other joints than when it was recorded"
        )
    result: TrialResult = read_value(TrialResult, facts['result'], 'result')
    return rollout_from_arrays(robot, spec, result.status, arrays), result


def rollout_arrays(rollout: Rollout) -> dict[str, Any]:
    """Return the arrays of a rollout by their names on disk, in the order of the file."""
    states, contacts = rollout.states, rollout.contacts
    arrays = {
        name: getattr(rollout, name) for name in (*_REQUIRED_ARRAYS, *_TARGET_FIELDS, 'commands')
    }
    arrays['contact_tick'] = rollout.contact_tick
    arrays |= {name: getattr(contacts, field) for name, field in _CONTACT_FIELDS.items()}
    arrays['contact_sole'] = contacts.sole.astype(np.int64)
    imu = (
        {}
        if states.imu is None
        else {name: getattr(states.imu, _IMU_FIELDS[name]) for name in _IMU_FIELDS}
    )
    if imu:
        arrays['specific_forces'] = imu.pop('specific_forces')
    arrays |= {name: getattr(states, name) for name in _OPTIONAL_ARRAYS}
    arrays |= imu
    if any(tape.position.shape[1] > 1 for tape in rollout.applied):
        arrays['sub_targets'] = np.concatenate(
            [
                np.stack([tape.position, tape.velocity, tape.effort], axis=2).reshape(
                    -1, 3, tape.position.shape[2]
                )
                for tape in rollout.applied
            ]
        )
        arrays['sub_samples'] = np.array(
            [tape.position.shape[1] for tape in rollout.applied for _ in tape], dtype=np.int64
        )
    return {name: array for name, array in arrays.items() if array is not None}


def rollout_from_arrays(
    robot: RobotModel, spec: TrialSpec, status: str, arrays: Mapping[str, Any]
) -> Rollout:
    """
    Return the rollout of arrays by their names on disk.

    Raises
    ------
    KeyError
        If one is absent.
    ValueError
        If one has another name.

    """
    if not arrays.keys() <= _ARRAY_NAMES:
        raise ValueError(f'unknown arrays: {sorted(arrays.keys() - _ARRAY_NAMES)}')
    periods = len(arrays['target_positions'])
    contacts = Contacts(
        soles=robot.soles, **{field: arrays[name] for name, field in _CONTACT_FIELDS.items()}
    )
    states = StateTape(
        ticks=np.arange(periods + 1),
        times=np.arange(periods + 1, dtype=np.float64) * spec.scene.control_period,
        joint_names=robot.joint_names,
        body_names=robot.roots,
        element_names=tuple(element.name for element in robot.force_elements),
        imu=Imu(**{field: arrays[name] for name, field in _IMU_FIELDS.items()})
        if 'imu_orientations' in arrays
        else None,
        contacts=contacts,
        contact_counts=np.bincount(arrays['contact_tick'], minlength=periods + 1),
        **{name: arrays[name] for name in _REQUIRED_ARRAYS},
        **{name: arrays.get(name) for name in _OPTIONAL_ARRAYS},
    )
    rows, counts = arrays.get('sub_targets'), arrays.get('sub_samples')
    if rows is None or counts is None:
        rows = np.stack([arrays[name] for name in _TARGET_FIELDS], axis=1)
        counts = np.ones(periods, dtype=np.int64)
    return Rollout(
        robot=robot,
        spec=spec,
        status=status,
        states=states,
        applied=tuple(_split_tapes(rows, counts)),
        commands=arrays['commands'],
    )


def _split_tapes(rows: FloatArray, counts: IntArray) -> Iterator[AppliedTape]:
    """Yield tapes of periods with equal numbers of sub-samples, from (s, 3, m) rows of all."""
    begin = 0
    for samples, group in groupby(counts.tolist()):
        periods = len(list(group))
        end = begin + periods * samples
        tape = rows[begin:end].reshape(periods, samples, *rows.shape[1:])
        yield AppliedTape(tape[:, :, 0], tape[:, :, 1], tape[:, :, 2])
        begin = end
