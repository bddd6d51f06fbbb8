# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Table of the packages that rosdep finds for the keys in the manifests: `tools/rosdep.yaml`.

The real rosdep answers, from the lists in a clone of https://github.com/ros/rosdistro:

    git clone --depth 1 https://github.com/ros/rosdistro
    python -m venv rosdep && rosdep/bin/pip install rosdep
    python tools/resolve_rosdep.py rosdistro --rosdep rosdep/bin/rosdep
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
import os
from pathlib import Path
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

import yaml

ROOT = Path(__file__).resolve().parents[1]
TABLE = Path(__file__).with_name('rosdep.yaml')
REPOSITORY = 'https://github.com/ros/rosdistro'
# The supported distributions of ROS 2 with the system on which each is released.
SYSTEMS = {'jazzy': 'ubuntu:noble', 'kilted': 'ubuntu:noble', 'lyrical': 'ubuntu:resolute'}
LISTS = ('base', 'python', 'ruby')


def manifests() -> list[Path]:
    """Return the manifests that rosdep finds in a clone; it skips compat, as colcon does."""
    return [*ROOT.glob('src/*/package.xml'), *ROOT.glob('*/package.xml')]


def manifest_keys() -> list[str]:
    """Return the keys of all manifests but the names of the suite's own packages, sorted."""
    roots = [ElementTree.parse(path).getroot() for path in manifests()]
    own = {root.findtext('name') for root in roots}
    keys = {child.text or '' for root in roots for child in root if child.tag.endswith('depend')}
    return sorted(keys - own)


def run(command: list[str], env: Mapping[str, str]) -> str:
    """Return the output of a command; if it fails, its own message is the last."""
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(1)
    return done.stdout


def resolve(rosdep: str, distribution: str, env: Mapping[str, str]) -> dict[str, str]:
    """Return installer and packages of each key, e.g. ``apt python3-numpy``."""
    command = [rosdep, 'resolve', '--rosdistro', distribution, '--os', SYSTEMS[distribution]]
    answers = run([*command, *manifest_keys()], env)
    found = {}
    for answer in answers.split('#ROSDEP[')[1:]:
        key, _, rest = answer.partition(']')
        found[key] = ' '.join(rest.replace('#', ' ').split())
    return found


def main() -> int:
    """Write the table; exit status 1, and no table, if rosdep does not know a key."""
    parser = argparse.ArgumentParser(description='Resolve the rosdep keys of all manifests.')
    parser.add_argument('lists', type=Path, help='clone of github.com/ros/rosdistro')
    parser.add_argument('--rosdep', default='rosdep', help='command (default: that on PATH)')
    options = parser.parse_args()
    lists = options.lists.resolve()
    git = ['git', '-C', str(lists), 'log', '-1', '--format=%H %cs']
    commit, date = run(git, os.environ).split()
    distributions = {}
    with tempfile.TemporaryDirectory() as folder:
        sources = Path(folder) / 'sources'
        sources.mkdir()
        (sources / 'default.list').write_text(
            ''.join(f'yaml {(lists / "rosdep" / name).as_uri()}.yaml\n' for name in LISTS)
        )
        env = {
            **os.environ,
            'ROS_HOME': folder,
            'ROSDEP_SOURCE_PATH': str(sources),
            'ROSDISTRO_INDEX_URL': (lists / 'index-v4.yaml').as_uri(),
        }
        run([options.rosdep, 'update'], env)
        for distribution, system in SYSTEMS.items():
            distributions[distribution] = {
                'system': system,
                'keys': resolve(options.rosdep, distribution, env),
            }
    table = {
        'source': {'repository': REPOSITORY, 'commit': commit, 'date': date},
        'distributions': distributions,
    }
    head = '# Resolutions of the rosdep keys in the manifests, by tools/resolve_rosdep.py.\n'
    TABLE.write_text(head + yaml.safe_dump(table, sort_keys=False), encoding='utf-8')
    return 0


if __name__ == '__main__':
    sys.exit(main())
