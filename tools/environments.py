# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Environments that `make setup` makes: the folders and the pinned wheels of each.

Kilted is at the root of the clone; another distribution is in a folder of its own, so that both
can be used at once.
"""

from __future__ import annotations

from dataclasses import dataclass
import os
from pathlib import Path
import shutil

ROOT = Path(__file__).resolve().parents[1]

SHARED_REQUIREMENTS = ('requirements.txt', 'requirements-optional.txt', 'requirements-dev.txt')
CMAKE_REQUIREMENTS = 'requirements-cmake.txt'

EXTRAS = ('ray',)
"""Sets of heavy libraries that are installed on request, by ``requirements-<extra>.txt``."""


@dataclass(frozen=True)
class Environment:
    """
    Environment of pinned wheels and the packages that are built in it.

    Attributes
    ----------
    ros : str
        Distribution of ROS 2; ``requirements-<ros>.txt`` has its wheels.
    base : Path
        Folder of ``.venv``, ``build``, ``install`` and ``log``.
    extras : tuple of str
        Installed sets of libraries, of ``EXTRAS``.

    """

    ros: str
    base: Path
    extras: tuple[str, ...] = ()

    @property
    def venv(self) -> Path:
        """Virtual environment with the wheels."""
        return self.base / '.venv'

    @property
    def python(self) -> Path:
        """Python of the virtual environment."""
        return self.venv / 'bin' / 'python'

    @property
    def build(self) -> Path:
        """Folder that colcon builds in."""
        return self.base / 'build'

    @property
    def install(self) -> Path:
        """Folder that colcon installs to."""
        return self.base / 'install'

    @property
    def log(self) -> Path:
        """Folder of the output of the tools."""
        return self.base / 'log'

    @property
    def script(self) -> Path:
        """Shell script that enters the environment."""
        return self.build / 'env.sh'

    @property
    def kernels(self) -> Path:
        """Cache of compiled kernels, which belong to one version of Numba."""
        return self.build / 'kernels'

    def requirement_files(self) -> list[str]:
        """Return the requirement files; CMake comes as a wheel only where the machine has none."""
        files = [*SHARED_REQUIREMENTS, f'requirements-{self.ros}.txt']
        files += [f'requirements-{extra}.txt' for extra in self.extras]
        path = os.pathsep.join(
            part
            for part in os.environ.get('PATH', '').split(os.pathsep)
            if Path(part or '.').resolve() != self.venv / 'bin'
        )
        if shutil.which('cmake', path=path) is None:
            files.append(CMAKE_REQUIREMENTS)
        return files

    def pins(self) -> str:
        """Return the pinned wheels as one requirement file."""
        texts = [(ROOT / name).read_text(encoding='utf-8') for name in self.requirement_files()]
        return merge_pins(texts)


ENVIRONMENTS = {
    environment.ros: environment
    for environment in (Environment('kilted', ROOT), Environment('jazzy', ROOT / '.jazzy'))
}


def merge_pins(texts: list[str]) -> str:
    """Return one requirement file; the pins of a name in a later text replace earlier ones."""
    pins: dict[str, list[str]] = {}
    for text in texts:
        of_text: dict[str, list[str]] = {}
        for line in text.splitlines():
            requirement = line.split('#')[0].strip()
            if requirement:
                name = requirement.split('==')[0].strip().lower()
                of_text.setdefault(name, []).append(requirement)
        pins.update(of_text)
    return ''.join(f'{requirement}\n' for lines in pins.values() for requirement in lines)
