# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Make a robot folder from any legged URDF, and name doubtful results.

URDF is a .urdf or .xacro file. Legs, soles, the role of each joint, mirror pairs and the forward
direction follow from geometry and names. The command proposes a stance, measures the reach of
each foot, and simulates 2 s of standing and 12 s of walking. `gait walk DIR` walks the new robot.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import replace
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gait_tools.commands.common import add_json, add_packages, print_json, read_packages

if TYPE_CHECKING:
    from gait_tools.adopt.adoption import Adoption

_HEIGHTS = (0.0, 0.85, 0.65)
"""Heights to try, as shares of the stretched leg; 0 is the default."""
_TALLER_HEIGHTS = (0.96,)
"""Heights for a robot on two legs that stands but does not walk: less bent knees carry more."""
_CALMER_SHARE = 0.67
"""
Largest ratio of rocking with which the calmest gait replaces the first that walks.

Rocking is the root mean square of the yaw rate.
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('urdf', metavar='URDF', help='URDF or xacro file')
    parser.add_argument(
        '--out',
        required=True,
        metavar='DIR',
        help='robot folder to make; its name is that of the robot',
    )
    add_packages(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Write the folder and print the report."""
    from gait_core.errors import ConfigurationError
    from gait_core.files.access import expand_user, write_atomically
    from gait_core.robot.load import read_robot
    from gait_tools.adopt.folder import check_folder
    from gait_tools.adopt.gaits import ZMP_WALK
    from gait_tools.pictures.robot import draw_robot

    source, folder = expand_user(options.urdf), expand_user(options.out)
    packages = read_packages(options.package)
    if source.suffix not in ('.urdf', '.xacro'):
        raise ConfigurationError(f"'{source}': gait adopt takes a .urdf or .xacro file")
    check_folder(folder)
    adoption, stand, walk = _try_heights(source, folder, packages, _HEIGHTS)
    if adoption.controller == ZMP_WALK and walk is not None and not walk['walks']:
        taller = _try_heights(source, folder, packages, _TALLER_HEIGHTS)
        if taller[2] is not None and taller[2]['walks']:
            adoption, stand, walk = taller
        else:
            adoption, stand, walk = _try_heights(source, folder, packages, _HEIGHTS)
    lines = _report_lines(adoption, stand, walk, folder)
    write_atomically(folder / 'report.txt', '\n'.join(lines) + '\n')
    picture = folder / f'{folder.resolve().name}.png'
    draw_robot(picture, read_robot(folder.resolve()), adoption.workspaces)
    if options.json:
        proof = {'stand': stand, 'walk': walk}
        print_json({'folder': str(folder), **adoption.as_dict(), **proof})
    else:
        print('\n'.join(lines))
    return 0


def _try_heights(
    source: Path, folder: Path, packages: dict[str, str], heights: tuple[float, ...]
) -> tuple[Adoption, dict[str, Any], dict[str, Any] | None]:
    """Write the folder of the first height at which the robot stands; return both trials."""
    from gait_tools.adopt.adoption import propose_adoption
    from gait_tools.adopt.folder import write_robot_folder
    from gait_tools.adopt.proof import try_standing

    for height in heights:
        adoption = propose_adoption(source, packages, height)
        write_robot_folder(folder, adoption, packages)
        stand = try_standing(str(folder.resolve()))
        if stand['stands']:
            break
    if not (adoption.controller and stand['stands']):
        return adoption, stand, None
    adoption, walk = _try_gaits(adoption, folder)
    return adoption, stand, walk


def _try_gaits(adoption: Adoption, folder: Path) -> tuple[Adoption, dict[str, Any]]:
    """Try the variants of the gait; write the best one and return it with its walk."""
    from gait_core.files.access import write_atomically
    from gait_tools.adopt.folder import format_robot_yaml
    from gait_tools.adopt.gaits import ZMP_WALK, gait_variants
    from gait_tools.adopt.proof import MAX_CALM_YAW_RATE, lower_limits, try_walking

    place = folder.resolve()
    # On two legs the base swings from side to side in every walk.
    calm = math.inf if adoption.controller == ZMP_WALK else MAX_CALM_YAW_RATE
    trials = []
    for gait in gait_variants(adoption.controller, dict(adoption.gait)):
        walk = try_walking(str(place), gait)
        trials.append((gait, walk))
        # A calm walk ends the search; without one, ``_best_gait`` compares those that walk.
        if walk['walks'] and walk['rocking_radps'] <= calm:
            break
    best = _best_gait(trials)
    if best is None:
        return adoption, trials[0][1]
    adoption = replace(adoption, gait=lower_limits(str(place), best[0]))
    write_atomically(place / 'robot.yaml', format_robot_yaml(adoption, place.name))
    return adoption, best[1]


def _best_gait(
    trials: Sequence[tuple[dict[str, Any], dict[str, Any]]],
) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return the first gait that walks, or the calmest one if it rocks much less; else None."""
    walked = [trial for trial in trials if trial[1]['walks']]
    if not walked:
        return None
    calmest = min(walked, key=lambda trial: trial[1]['rocking_radps'])
    is_much_calmer = calmest[1]['rocking_radps'] <= _CALMER_SHARE * walked[0][1]['rocking_radps']
    return calmest if is_much_calmer else walked[0]


def _report_lines(
    adoption: Adoption, stand: dict[str, Any], walk: dict[str, Any] | None, folder: Path
) -> list[str]:
    """Return the lines to print: what was found, how the robot stands and walks, what is next."""
    lines = adoption.lines()
    if stand['stands']:
        lines.append(
            f'it stands on {stand["engine"]}: in {stand["seconds"]:g} s its base moved '
            f'{1e3 * stand["moved_m"]:.0f} mm and tilts by {stand["tilt_deg"]:.1f} degrees'
        )
    else:
        lines.append(f'DOUBT: it does not stand on {stand["engine"]}: {stand["reason"]}')
    if walk is not None and walk['walks']:
        lines.append(
            f'with a command of {walk["told_mps"]:g} m/s it walks at {walk["speed_mps"]:.3f} m/s '
            f'and turns by {walk["turn_deg"]:+.1f} degrees in {walk["seconds"] - 2.0:g} s'
        )
        limits = [adoption.gait.get(name, 0.0) for name in ('max_forward', 'max_sideways')]
        lines.append(
            f'it stays upright at its limits, {limits[0]:g} m/s forward and {limits[1]:g} m/s '
            'sideways'
        )
    elif walk is not None:
        lines.append(
            f'DOUBT: it does not follow its command on {walk["engine"]}: {walk["reason"]}'
        )
    what = '--seconds 5' if walk is None else f'--cmd {walk["told_mps"]:g}'
    # A bare word would name a registered robot first.
    robot = folder if len(folder.parts) > 1 else f'./{folder}'
    return [*lines, f'written: {folder}; next: gait walk {robot} {what}']
