# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""A ROS domain that no other run and no running graph on this machine uses."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
import socket
import tempfile

from gait_core.errors import ConfigurationError

DOMAIN_VARIABLE = 'ROS_DOMAIN_ID'
# Domains above 101 collide with Linux' ephemeral ports; 0 is everybody's default.
DOMAINS: tuple[int, ...] = tuple(range(1, 102))
# Highest domain whose ports are all below 65536.
_MAX_DOMAIN = 232
# RTPS gives each domain 250 UDP ports; a participant takes the first free one of these.
_FIRST_PORT, _PORTS = 7400, 250
_PARTICIPANTS = range(10, 10 + 2 * 32, 2)
# File handles of the locks held; the end of the process closes them and frees the locks.
_held_locks: list[int] = []


def own_domain() -> int:
    """
    Return the domain of this process: ``ROS_DOMAIN_ID``, or a claimed one until it ends.

    The variable is set, so that the children of the process are in the domain as well.
    """
    if not os.environ.get(DOMAIN_VARIABLE):
        os.environ[DOMAIN_VARIABLE] = str(claim_domain())
    text = os.environ[DOMAIN_VARIABLE]
    if not (text.isdecimal() and int(text) <= _MAX_DOMAIN):
        raise ConfigurationError(
            f"{DOMAIN_VARIABLE} is '{text}', expected a whole number from 0 to {_MAX_DOMAIN}; "
            'nearest valid: 0'
        )
    return int(text)


def claim_domain() -> int:
    """
    Return a domain without a holder and without participants; this process holds it.

    Raises
    ------
    ConfigurationError
        If there is none.

    """
    start = os.getpid() % len(DOMAINS)
    for domain in (*DOMAINS[start:], *DOMAINS[:start]):
        lock = _try_lock(Path(tempfile.gettempdir()) / f'ros-domain-{domain}.lock')
        if lock is None:
            continue
        if _is_silent(domain):
            _held_locks.append(lock)
            return domain
        os.close(lock)
    raise ConfigurationError(
        f'every ROS domain from {min(DOMAINS)} to {max(DOMAINS)} is in use on this machine; '
        f'set {DOMAIN_VARIABLE} to share one'
    )


def _try_lock(path: Path) -> int | None:
    """Return the locked handle of a file; ``None`` if another process holds the lock."""
    try:
        lock = _open_or_create(path)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock


def _open_or_create(path: Path) -> int:
    """Open a file, also of another user: Linux refuses O_CREAT for one in a sticky folder."""
    try:
        return os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return os.open(path, os.O_RDONLY | os.O_CREAT, 0o644)


def _is_silent(domain: int) -> bool:
    """Return whether no participant of the domain is on this machine."""
    return all(
        _is_port_free(_FIRST_PORT + _PORTS * domain + offset) for offset in (0, *_PARTICIPANTS)
    )


def _is_port_free(port: int) -> bool:
    # A participant binds loopback or every interface; either prevents this bind.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(('127.0.0.1', port))
        except OSError as error:
            return error.errno != errno.EADDRINUSE
    return True
