# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The command `gait` of a clone opens sockets on loopback only, read from the kernel's tables."""

import ipaddress
import os
from pathlib import Path
import subprocess
import time

import pytest

from gait_core.testing.domain import own_domain

ROOT = Path(__file__).resolve().parents[2]
PROFILE = ROOT / 'install/gait_bringup/share/gait_bringup/config/loopback.xml'
LISTENING = '0A'
"""State of a listening TCP socket."""


def bound_sockets(pid):
    """Return the addresses and ports at which a process receives from others."""
    inodes = set()
    for link in Path(f'/proc/{pid}/fd').glob('*'):
        try:
            inodes.add(os.readlink(link))
        except OSError:
            continue
    found = set()
    for table in ('udp', 'udp6', 'tcp', 'tcp6'):
        for row in Path(f'/proc/{pid}/net/{table}').read_text().splitlines()[1:]:
            words = row.split()
            if f'socket:[{words[9]}]' not in inodes:
                continue
            if table.startswith('udp') or words[3] == LISTENING:
                address, port = words[1].split(':')
                found.add((table, read_address(address), int(port, 16)))
    return found


def read_address(digits):
    """Return an address that the kernel writes in words of 32 bits, lowest byte first."""
    words = (bytes.fromhex(digits[start : start + 8]) for start in range(0, len(digits), 8))
    return ipaddress.ip_address(b''.join(word[::-1] for word in words))


def process_tree(root):
    """Return a process and its descendants."""
    parents = {}
    for file in Path('/proc').glob('[0-9]*/stat'):
        try:
            parents[int(file.parent.name)] = int(file.read_text().rpartition(')')[2].split()[1])
        except OSError:
            continue
    tree = [root]
    for pid in tree:
        tree += [child for child, parent in parents.items() if parent == pid]
    return tree


def watch(arguments, folder):
    """Return the sockets of each process of a command, over its whole life."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(('FASTDDS_', 'FASTRTPS_', 'ROS_AUTOMATIC_DISCOVERY_RANGE'))
    }
    environment['ROS_DOMAIN_ID'] = str(own_domain())
    with (folder / 'output.log').open('w') as output:
        command = subprocess.Popen(
            [str(ROOT / 'gait'), *arguments],
            cwd=folder,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    sockets = {}
    try:
        deadline = time.monotonic() + 120.0
        while command.poll() is None and time.monotonic() < deadline:
            for pid in process_tree(command.pid):
                try:
                    sockets.setdefault(pid, set()).update(bound_sockets(pid))
                except OSError:
                    continue
            time.sleep(0.1)
    finally:
        command.kill()
    assert command.wait() == 0, (folder / 'output.log').read_text()
    return sockets


EVOLVE = 'evolve guroo_quick --generations 1 --set population=3 --set duration=0.2 --run-dir run'


@pytest.mark.parametrize(
    ('arguments', 'participants'),
    [
        ('walk guroo --seconds 1 --ros', 3),
        (f'{EVOLVE} --evaluator ros --workers 1', 2),
        (f'{EVOLVE} --workers 2', 0),
    ],
)
def test_command_listens_on_loopback_only(arguments, participants, tmp_path):
    if not PROFILE.exists():
        pytest.skip('this clone has no installed loopback profile: see make setup')
    sockets = watch(arguments.split(), tmp_path)
    listening = {pid: found for pid, found in sockets.items() if found}
    assert len(listening) == participants, listening
    exposed = [
        socket for found in listening.values() for socket in found if not socket[1].is_loopback
    ]
    assert not exposed
