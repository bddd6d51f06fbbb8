# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Plugins and robot of the tests, known to this process and to its children."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import sys

from gait_core import registry
from gait_core.robot.find import PATH_VARIABLE
from gait_core.robot.legged_box import legged_box
from gait_core.testing.folders import write_plugin_folder, write_robot_folder


@contextmanager
def workspace(folder: Path, controllers: str = '', engines: str = '') -> Iterator[None]:
    """
    Provide robot ``legged_box``, engine ``kinematic`` and controller ``wave`` in a context.

    Parameters
    ----------
    folder : Path
        Empty; its folder ``packages`` is on the path of this process and of its children.
    controllers, engines : str
        More of them, one ``name = module:class`` a line.

    """
    write_robot_folder(folder / 'robots' / 'legged_box', legged_box())
    packages = write_plugin_folder(folder / 'packages')
    if controllers or engines:
        metadata = packages / 'gait_testing_more-0.dist-info'
        metadata.mkdir()
        (metadata / 'METADATA').write_text(
            'Metadata-Version: 2.1\nName: gait_testing_more\nVersion: 0\n'
        )
        (metadata / 'entry_points.txt').write_text(
            f'[gait.controllers]\n{controllers}\n[gait.engines]\n{engines}'
        )
    added = {PATH_VARIABLE: folder / 'robots', 'PYTHONPATH': packages}
    before = {name: os.environ.get(name) for name in added}
    for name, path in added.items():
        os.environ[name] = os.pathsep.join(filter(None, (str(path), before[name])))
    sys.path.insert(0, str(packages))
    registry.clear_entry_cache()
    try:
        yield
    finally:
        sys.path.remove(str(packages))
        registry.clear_entry_cache()
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
