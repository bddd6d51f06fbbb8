# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Printing and parsing shared by several subcommands."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
import json
import math
from pathlib import Path
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gait_core.trial.spec import TrialResult, TrialSpec

EXIT_FAILED = 1

_TRIAL_LINES = (
    ('distance', 'distance_m', '{:.3f} m'),
    ('  forward', 'displacement_x_m', '{:+.3f} m'),
    ('  to the left', 'displacement_y_m', '{:+.3f} m'),
    ('turned', 'yaw_rad', '{:+.3f} rad'),
    ('duration', 'duration_s', '{:.2f} s'),
    ('mean speed', 'mean_speed_mps', '{:.3f} m/s'),
    ('largest speed', 'speed_max_mps', '{:.3f} m/s'),
    ('steps', 'steps', '{}'),
    ('  grazes', 'grazes', '{}'),
    ('share of stance', 'stance_fraction', '{:.2f}'),
    ('duty factor', 'duty_factor', '{:.2f}'),
    ('stride frequency', 'stride_frequency_hz', '{:.2f} Hz'),
    ('cost of transport', 'cost_of_transport', '{:.2f}'),
    ('positive work', 'energy_j', '{:.4g} J'),
    ('  signed', 'energy_signed_j', '{:.4g} J'),
    ('  absolute', 'energy_absolute_j', '{:.4g} J'),
    ('stands on an area', 'support_area_fraction', '{:.1%}'),
    ('  on a line', 'support_line_fraction', '{:.1%}'),
    ('  on a point', 'support_point_fraction', '{:.1%}'),
    ('  on nothing', 'zmp_undefined_fraction', '{:.1%}'),
    ('least ZMP margin', 'zmp_margin_min_m', '{:.3g} m'),
    ('  mean', 'zmp_margin_mean_m', '{:.3g} m'),
    ('  mean, inertial', 'inertial_zmp_margin_mean_m', '{:.3g} m'),
    ('  5 %, inertial', 'inertial_zmp_margin_p05_m', '{:.3g} m'),
    ('capture point off', 'capture_point_offset_m', '{:.4f} m'),
    ('mean height', 'height_mean_m', '{:.3f} m'),
    ('largest tilt', 'tilt_max_rad', '{:.3f} rad'),
    ('penetration', 'penetration_max_m', '{:.3g} m'),
    ('target jitter', 'command_jitter_rad_s2', '{:.3g} rad/s^2'),
    ('fell at', 'fell_at_s', '{:.2f} s'),
    ('fitness', 'fitness', '{:.4f}'),
    ('real-time factor', 'realtime_factor', '{:.1f}'),
    ('trial hash', 'trial_hash', '{}'),
)
"""Label, key and format of each printed line of a trial."""


def add_settings(parser: ArgumentParser, example: str) -> None:
    """Add ``--set`` and ``--json``."""
    parser.add_argument(
        '--set',
        action='append',
        default=[],
        metavar='NAME=VALUE',
        dest='settings',
        help=f'change a setting, such as {example}; may be repeated',
    )
    add_json(parser)


def add_json(parser: ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument(
        '--json', action='store_true', help='print one JSON object and nothing else'
    )


def add_packages(parser: ArgumentParser) -> None:
    """Add ``--package``."""
    parser.add_argument(
        '--package',
        action='append',
        default=[],
        metavar='NAME=PATH',
        help='folder of package://NAME; may be repeated',
    )


def read_packages(options: Sequence[str]) -> dict[str, str]:
    """Return the folders of packages by name; ConfigurationError names a malformed pair."""
    from gait_core.errors import ConfigurationError
    from gait_core.files.access import expand_user

    packages: dict[str, str] = {}
    for text in options:
        name, _, path = text.partition('=')
        if not (re.fullmatch('[A-Za-z0-9_-]+', name) and path):
            raise ConfigurationError(f"--package '{text}': expected NAME=PATH")
        folder = expand_user(path)
        if not folder.is_dir():
            raise ConfigurationError(f"--package '{text}': the folder '{folder}' does not exist")
        if name in packages:
            raise ConfigurationError(f"--package '{text}': the folder of '{name}' is set twice")
        packages[name] = str(folder)
    return packages


def check_set_once(settings: Mapping[str, Any], option: str, *names: str) -> None:
    """
    Refuse settings of ``--set`` that an option gives, too, since one of the two would be lost.

    Parameters
    ----------
    settings : mapping
        Settings of ``--set``, nested.
    option : str
        Option that is given.
    names : str
        Dotted names of the settings that the option sets.

    """
    from gait_core.errors import ConfigurationError

    for name in names:
        section: Any = settings
        for part in name.split('.'):
            section = section.get(part) if isinstance(section, Mapping) else section
        if section is not None:
            raise ConfigurationError(
                f'{option} sets {name}, --set does, too; leave one of them out'
            )


def check_output(flag: str, path: Path, is_former: Callable[[Path], bool], ending: str) -> None:
    """
    Raise ConfigurationError if an output cannot be written or would replace another file.

    Parameters
    ----------
    flag : str
        Option that names the output.
    path : Path
    is_former : callable
        Returns whether an existing file is an earlier output of the command.
    ending : str
        Ending of the path that is proposed for another file.

    """
    from gait_core.errors import ConfigurationError
    from gait_tools.bags.write import unused_path

    if not path.parent.is_dir():
        raise ConfigurationError(f"{flag} '{path}': the folder '{path.parent}' does not exist")
    if path.is_dir():
        raise ConfigurationError(f"{flag} '{path}' is a folder, expected a file")
    if path.is_file() and path.stat().st_size and not is_former(path):
        other = path.with_suffix(ending)
        raise ConfigurationError(
            f"{flag} '{path}' exists and was not written by this command; nearest valid: "
            f"'{unused_path(other) if other.exists() else other}'"
        )


def begins_with(path: Path, text: str) -> bool:
    """Return whether a file begins with a text."""
    from gait_core.files.access import read_bytes

    return read_bytes(path).startswith(text.encode())


def option_words(options: Namespace, names: Sequence[str]) -> list[str]:
    """Return the words of a command line that give those of the named options that were given."""
    given = {name: getattr(options, name) for name in names}
    return [word for name, value in given.items() if value for word in (f'--{name}', str(value))]


def print_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object; numbers that are not finite become null."""
    print(json.dumps(_finite(value), indent=1, allow_nan=False))


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def trial_as_json(
    spec: TrialSpec,
    result: TrialResult,
    wall_time: float,
    pids: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """
    Return the JSON object of a trial, with every metric.

    Parameters
    ----------
    spec, result
    wall_time : float [s]
        Wall time of the trial.
    pids : mapping of str to int or None
        Process ids of ``bridge`` and ``controller``; None without such processes.

    """
    from gait_core.measures.metrics import METRICS

    metrics: dict[str, Any] = {name: result.metrics.get(name) for name in METRICS}
    for name in ('steps', 'grazes'):
        value = metrics[name]
        metrics[name] = None if value is None else int(value)
    simulated = result.ticks * spec.scene.control_period
    return {
        'status': result.status,
        'robot': spec.scene.robot,
        'controller': spec.controller,
        'engine': spec.scene.engine,
        'seed': spec.seed,
        **metrics,
        'fell_at_s': result.fell_at,
        'fitness': result.fitness,
        'terms': dict(result.terms),
        'leg_metrics': {name: x for name, x in result.metrics.items() if name not in METRICS},
        'realtime_factor': simulated / wall_time if wall_time > 0.0 else None,
        'trial_hash': result.trial_hash,
        'pids': None if pids is None else dict(pids),
    }


def print_trial(values: Mapping[str, Any], reason: str) -> None:
    """Print a trial as text."""
    status = values['status'] + (f' ({reason})' if reason else '')
    print(f'{values["robot"]} with {values["controller"]} on {values["engine"]}: {status}')
    for label, name, form in _TRIAL_LINES:
        if values[name] is not None:
            print(f'  {label + ":":19}{form.format(values[name])}')
    if values['pids']:
        print(f'  {"processes:":19}' + ', '.join(f'{k} {v}' for k, v in values['pids'].items()))


def exit_code(status: str) -> int:
    """Return 0 for ``ok`` and ``fell``, else 1."""
    return 0 if status in ('ok', 'fell') else EXIT_FAILED
