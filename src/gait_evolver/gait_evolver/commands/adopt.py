"""
Make a robot folder of any legged URDF, and name what is doubtful.

URDF is a .urdf or .xacro file. Legs, soles, what each joint does, counterparts and the forward
direction are read off its geometry and names; a stance is proposed and stood on the robot's
engine, each foot's reach measured. `gait walk DIR --cmd 0.3` runs what is written.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gait_evolver.commands.common import add_json, add_packages, print_json, read_packages

if TYPE_CHECKING:
    from gait_core.adopt.adoption import Adoption

_HEIGHTS = (0.0, 0.85, 0.65)
"""Heights that are tried, as shares of the stretched leg; 0 is the usual one."""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('urdf', metavar='URDF')
    parser.add_argument(
        '--out', required=True, metavar='DIR', help='the folder to make; its name is the robot'
    )
    add_packages(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Write the folder and print the report."""
    from gait_core.adopt.adoption import adopt
    from gait_core.adopt.folder import check_folder, write_folder
    from gait_core.errors import ConfigurationError
    from gait_core.robot.load import read_robot
    from gait_evolver.robot_picture import draw_robot

    source, folder = Path(options.urdf).expanduser(), Path(options.out).expanduser()
    packages = read_packages(options.package)
    if source.suffix not in ('.urdf', '.xacro'):
        raise ConfigurationError(f"'{source}': gait adopt takes a .urdf or .xacro file")
    check_folder(folder)
    for height in _HEIGHTS:
        adoption = adopt(source, packages, height)
        write_folder(folder, adoption, packages)
        stand = _stand(folder)
        if stand['stands']:
            break
    lines = _lines(adoption, stand, folder)
    (folder / 'report.txt').write_text('\n'.join(lines) + '\n', encoding='utf-8')
    draw_robot(folder / f'{folder.resolve().name}.png', read_robot(folder.resolve()),
               adoption.workspaces)  # fmt: skip
    if options.json:
        print_json({'folder': str(folder), **adoption.as_dict(), 'stand': stand})
    else:
        print('\n'.join(lines))
    return 0


def _stand(folder: Path) -> dict[str, Any]:
    """Let the robot hold its stance, and return how well it does."""
    from gait_core.adopt.stand import stand_on

    return stand_on(str(folder.resolve()))


def _lines(adoption: Adoption, stand: dict[str, Any], folder: Path) -> list[str]:
    lines = adoption.lines()
    if stand['stands']:
        lines.append(
            f'it stands on {stand["engine"]}: in {stand["seconds"]:g} s its base moved '
            f'{1e3 * stand["moved_m"]:.0f} mm and leans by {stand["tilt_deg"]:.1f} degrees'
        )
    else:
        lines.append(f'DOUBT: it does not stand on {stand["engine"]}: {stand["reason"]}')
    what = '--cmd 0.3' if adoption.gait else '--seconds 5'
    return [*lines, f'written: {folder}; next: gait walk {folder} {what}']
