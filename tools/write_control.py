# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Write the ros2_control macro beside every robot's own xacro: `python tools/write_control.py`."""

from pathlib import Path
import sys

from gait_core.robot.load import load_robot
from gait_ros.hardware.ros2_control import control_xacro

ROBOTS = Path(__file__).resolve().parents[1] / 'urdf' / 'robots'
ENDING = '.urdf.xacro'


def main() -> int:
    """Write the macro of every robot with a xacro file, and print the files that changed."""
    for path in sorted(ROBOTS.glob(f'*/*{ENDING}')):
        name = path.name.removesuffix(ENDING)
        if name != path.parent.name:
            continue
        macro = path.with_name(f'{name}.ros2_control.xacro')
        new = control_xacro(load_robot(str(path.parent)))
        if not macro.is_file() or macro.read_text(encoding='utf-8') != new:
            macro.write_text(new, encoding='utf-8')
            print(macro)
    return 0


if __name__ == '__main__':
    sys.exit(main())
