# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Champion of a run as a ROS parameter file that a controller node loads unchanged.

Controller parameters are below ``gait.``; everything else, as flat scalars and lists, is below
the reserved prefix ``provenance.``. Lists of records are written as ``item_0``, ``item_1``, ...
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
import os
from pathlib import Path
from typing import Any

import yaml

from gait_core.errors import ConfigurationError, excerpt
from gait_core.files.access import write_atomically
from gait_core.parameters.declaration import Parameters
from gait_core.parameters.plain_data import to_plain_data
from gait_core.parameters.schema import Location, Source, check_parameters, read_value
from gait_core.parameters.yaml_file import LIVE_FILE_LIMITS, Document, read_document
from gait_core.robot.identity import RobotIdentity, compare_robots
from gait_core.trial.scene import EMPTY_MAPPING
from gait_core.trial.spec import TrialSpec

CHAMPION_FORMAT = 1
"""Version of the file; a reader refuses others."""

_RUN, _ITEM = 'run', 'item_'


@dataclass(frozen=True, kw_only=True)
class Champion:
    """
    A gait, the trials of its evaluation, and its provenance.

    Attributes
    ----------
    spec : TrialSpec
        The trial of the first repeat; the others differ in their seed, and in body and start if
        these are drawn for each trial.
    seeds : tuple of int
        Seed of each repeat.
    draws : tuple of int
        ``scene.draw`` of each repeat; empty: that of ``spec``.
    starts_x, starts_y : tuple of float [m]
        ``scene.initial.x`` and ``.y`` of each repeat; empty: those of ``spec``.
    trial_hashes : tuple of str
        Hash of each repeat.
    fitness : float
        Mean over the repeats.
    metrics, terms : mapping of str to float
        Of the first repeat.
    status : str
        Of the first repeat.
    run : mapping of str to scalar or flat list
        Provenance: experiment, run id, run seed, generation, individual, version, ...
    fingerprint : str
        Platform on which the hashes hold.
    platform : mapping of str to str
        Its fields: processor, Python, libraries; empty in early files.
    robot : RobotIdentity or None
        Identity of ``spec.scene.robot`` with the body of ``spec.scene.draw``; ``None`` in early
        files.

    """

    spec: TrialSpec
    seeds: tuple[int, ...]
    trial_hashes: tuple[str, ...]
    fitness: float
    status: str
    fingerprint: str
    platform: Mapping[str, str] = field(default_factory=lambda: EMPTY_MAPPING)
    metrics: Mapping[str, float] = field(default_factory=lambda: EMPTY_MAPPING)
    terms: Mapping[str, float] = field(default_factory=lambda: EMPTY_MAPPING)
    run: Mapping[str, Any] = field(default_factory=lambda: EMPTY_MAPPING)
    robot: RobotIdentity | None = None
    draws: tuple[int, ...] = ()
    starts_x: tuple[float, ...] = ()
    starts_y: tuple[float, ...] = ()

    @property
    def specs(self) -> tuple[TrialSpec, ...]:
        """The trial of each repeat."""
        scene, count = self.spec.scene, len(self.seeds)
        draws = self.draws or (scene.draw,) * count
        starts_x = self.starts_x or (scene.initial.x,) * count
        starts_y = self.starts_y or (scene.initial.y,) * count
        return tuple(
            replace(
                self.spec,
                seed=seed,
                scene=replace(scene, draw=draw, initial=replace(scene.initial, x=x, y=y)),
            )
            for seed, draw, x, y in zip(self.seeds, draws, starts_x, starts_y, strict=True)
        )


def write_champion(path: Path, champion: Champion) -> None:
    """Write the file atomically: a reader sees the old champion or the new one, never half."""
    spec = to_plain_data(champion.spec)
    parameters = {'gait': spec.pop('parameters')} if champion.spec.parameters else {}
    spec.pop('parameters', None)
    provenance = {
        'format': CHAMPION_FORMAT,
        'spec': spec,
        'seeds': list(champion.seeds),
        'trial_hashes': list(champion.trial_hashes),
        'draws': list(champion.draws),
        'starts_x': list(champion.starts_x),
        'starts_y': list(champion.starts_y),
        'fitness': float(champion.fitness),
        'status': champion.status,
        'fingerprint': champion.fingerprint,
        'platform': to_plain_data(champion.platform),
        'robot': to_plain_data(champion.robot),
        'metrics': to_plain_data(champion.metrics),
        'terms': to_plain_data(champion.terms),
        _RUN: to_plain_data(champion.run),
    }
    document = {
        '/**': {
            'ros__parameters': {**_to_ros_data(parameters), 'provenance': _to_ros_data(provenance)}
        }
    }
    text = yaml.dump(document, Dumper=_Dumper, sort_keys=False, width=99, default_flow_style=None)
    write_atomically(path, text)


@dataclass(frozen=True, kw_only=True)
class GaitFile:
    """
    A ROS parameter file with a gait: a champion's or any other.

    Attributes
    ----------
    document : Document
    section : str
        ``/**``, or the full name of the only node of the file, as ``ros2 param dump`` writes it.
    parameters : mapping of str to object
        Values below ``ros__parameters`` of the section.

    """

    document: Document
    section: str
    parameters: Mapping[str, Any]

    @property
    def path(self) -> Path:
        """Path of the file."""
        return self.document.path

    @property
    def is_champion(self) -> bool:
        """True if the file is marked as a champion, valid or not."""
        provenance = self.parameters.get('provenance', {})
        return not isinstance(provenance, dict) or 'format' in provenance

    @property
    def origin(self) -> GaitOrigin:
        """Controller and robot that the file is for."""
        return read_origin(self.parameters.get('provenance'))

    def gait(self, declared: type[Parameters] | None = None) -> dict[str, Any]:
        """
        Return only the controller parameters.

        Raises
        ------
        ConfigurationError
            In one line with file, line and column: if they are no mapping, or one of them is
            undeclared, of a wrong type or out of range.

        """
        location = self._location('gait')
        gait: dict[str, Any] = read_value(
            Mapping[str, Any], _from_ros_data(self.parameters.get('gait', {})), location
        )
        if declared is not None:
            check_parameters(declared, gait, location)
        return gait

    def champion(self) -> Champion:
        """Return the champion; ConfigurationError for another file or another format version."""
        path = self.path
        provenance = _from_ros_data(self.parameters.get('provenance'))
        if not isinstance(provenance, dict) or 'format' not in provenance:
            raise ConfigurationError(f'{path} is not a champion: it has no provenance.format')
        version = provenance.pop('format')
        if version != CHAMPION_FORMAT:
            raise ConfigurationError(
                f'{path} has champion format {excerpt(version)}; this version reads '
                f'format {CHAMPION_FORMAT}'
            )
        location = self._location('provenance')
        spec = read_value(Mapping[str, Any], provenance.get('spec', {}), location / 'spec')
        if 'parameters' in spec:
            raise (location / 'spec' / 'parameters').error(
                "parameters of the controller are below 'gait', not in the spec"
            )
        spec = {**spec, 'parameters': _from_ros_data(self.parameters.get('gait', {}))}
        spec['weights'] = _weights_path(path, spec.get('weights', ''))
        champion: Champion = read_value(Champion, {**provenance, 'spec': spec}, location)
        if not len(champion.seeds) == len(champion.trial_hashes) >= 1:
            raise ConfigurationError(
                f'champion {path}: {len(champion.seeds)} seeds and {len(champion.trial_hashes)} '
                'trial_hashes, expected one of each per repeat'
            )
        for name in ('draws', 'starts_x', 'starts_y'):
            count = len(getattr(champion, name))
            if count not in (0, len(champion.seeds)):
                raise ConfigurationError(
                    f'champion {path}: {len(champion.seeds)} seeds and {count} {name}, expected '
                    'one of each per repeat, or none'
                )
        return champion

    def _location(self, key: str) -> Location:
        """Return the location of ``gait`` or ``provenance`` in the file."""
        owner = 'champion ' if self.is_champion else ''
        within = (self.section, 'ros__parameters', key)
        return Location(key, Source(f'{owner}{self.path}', self.document, within))


def read_gait_file(path: Path) -> GaitFile:
    """Return a ROS parameter file; ConfigurationError if it cannot be read or is another file."""
    document = read_document(path, LIVE_FILE_LIMITS)
    content = document.content
    section = next(iter(content)) if isinstance(content, dict) and len(content) == 1 else '/**'
    try:
        parameters = content[section]['ros__parameters']
    except (TypeError, KeyError) as error:
        raise ConfigurationError(
            f"{path} is not a ROS parameter file: '/**: ros__parameters:' is missing"
        ) from error
    if not isinstance(parameters, dict):
        raise ConfigurationError(f'{path}: ros__parameters holds no named values')
    return GaitFile(document=document, section=section, parameters=parameters)


def read_champion(path: Path) -> Champion:
    """
    Return the champion of a file.

    Raises
    ------
    ConfigurationError
        If the file cannot be read, is not a champion, or has another format version.

    """
    return read_gait_file(path).champion()


def check_champion_robot(path: Path, champion: Champion, robot: str = '') -> str:
    """
    Check that a robot is the one that a champion was evolved on.

    Parameters
    ----------
    path : Path
        Of the champion, for messages.
    champion : Champion
    robot : str
        Name or folder; empty: the robot that is now at the path of the champion's robot.

    Returns
    -------
    str
        One line that names the parts that could not be compared; empty if all were.

    Raises
    ------
    ConfigurationError
        If it is another robot, or the same one with another description.

    """
    scene = champion.spec.scene
    comparison = compare_robots(robot or scene.robot, scene.robot, champion.robot, scene.draw)
    if not comparison.is_same:
        raise ConfigurationError(
            f'{path} is a champion of robot {comparison.recorded}, not of {comparison.present}'
        )
    return comparison.warning


def read_gait_parameters(path: Path) -> dict[str, Any]:
    """Return only the controller parameters of a champion or other parameter file."""
    return read_gait_file(path).gait()


@dataclass(frozen=True, kw_only=True)
class GaitOrigin:
    """Controller and robot that a parameter file is for, as far as it names them."""

    controller: str = ''
    robot: str = ''
    identity: RobotIdentity | None = None
    draw: int = 0


def read_origin(provenance: Any) -> GaitOrigin:
    """Return the origin in the parameters of ``provenance.``; damaged values count as absent."""
    provenance = _from_ros_data(provenance)
    spec, scene, robot = (
        _nested_mapping(provenance, *names) for names in (('spec',), ('spec', 'scene'), ('robot',))
    )
    draw = scene.get('draw', 0)
    sha256 = robot.get('sha256')
    return GaitOrigin(
        controller=_text_or_empty(spec.get('controller')),
        robot=_text_or_empty(scene.get('robot')),
        identity=(
            RobotIdentity(name=_text_or_empty(robot.get('name')), sha256=sha256)
            if isinstance(sha256, str)
            else None
        ),
        draw=draw if isinstance(draw, int) and not isinstance(draw, bool) else 0,
    )


def _nested_mapping(value: Any, *names: str) -> Mapping[str, Any]:
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else EMPTY_MAPPING


def _text_or_empty(value: Any) -> str:
    return value if isinstance(value, str) else ''


def write_gait_parameters(path: Path, gait: Mapping[str, Any]) -> None:
    """
    Write controller parameters alone as a ROS parameter file.

    Raises
    ------
    ConfigurationError
        If the file cannot be written.

    """
    document = {'/**': {'ros__parameters': {'gait': _to_ros_data(to_plain_data(gait))}}}
    text = yaml.dump(document, Dumper=_Dumper, sort_keys=False, width=99, default_flow_style=None)
    try:
        write_atomically(path, text)
    except OSError as error:
        raise ConfigurationError(f'{path}: {error.strerror}') from error


def _weights_path(path: Path, weights: Any) -> Any:
    # The weights file is named relative to the champion, so that both can be moved together.
    if not isinstance(weights, str) or not weights or os.path.isabs(weights):
        return weights
    return str(path.parent / weights)


class _Quoted(str):
    """Text that is always quoted: ROS reads a bare hash such as 12e4567 as a number."""


class _Dumper(yaml.SafeDumper):
    """Writes quoted text and lists in one line."""


_Dumper.add_representer(
    _Quoted,
    lambda dumper, text: dumper.represent_scalar('tag:yaml.org,2002:str', str(text), style="'"),
)


def _to_ros_data(value: Any) -> Any:
    """
    Return plain data as a ROS parameter file can hold it.

    Null and empty values are left out; the items of a list of mappings become ``item_0``, ...
    """
    if isinstance(value, dict):
        items = ((key, _to_ros_data(item)) for key, item in value.items())
        return {key: item for key, item in items if item not in (None, {}, [])}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return {f'{_ITEM}{i}': _to_ros_data(item) for i, item in enumerate(value)}
    if isinstance(value, list):
        return [_to_ros_data(item) for item in value]
    return _Quoted(value) if isinstance(value, str) else value


def _from_ros_data(value: Any) -> Any:
    """Undo ``_to_ros_data``; null and empty values, which it left out, stay absent."""
    if isinstance(value, dict):
        items = [f'{_ITEM}{i}' for i in range(len(value))]
        if items and set(value) == set(items):
            return [_from_ros_data(value[item]) for item in items]
        return {str(key): _from_ros_data(item) for key, item in value.items()}
    return value
