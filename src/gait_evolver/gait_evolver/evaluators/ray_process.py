# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Process that talks to Ray, as seen by the evaluator: addresses, environment, start and end.

Ray ends a Python process from C++ when it loses its cluster, so it must not be ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
import fcntl
import os
from pathlib import Path
import secrets
import select
import shutil
import socket
import subprocess
import tempfile
from typing import Any

from gait_core.errors import ConfigurationError, excerpt
from gait_core.processes.python_command import python_module_command
from gait_evolver.evaluators.channel import MessageChannel
from gait_evolver.evaluators.worker_process import WORKER_ENVIRONMENT

_PROBE_TIMEOUT = 5.0
_END_TIMEOUT = 5.0
_TOKEN_MODE, _TOKEN, _TOKEN_FILE = 'RAY_AUTH_MODE', 'RAY_AUTH_TOKEN', 'RAY_AUTH_TOKEN_PATH'
_TLS = 'RAY_USE_TLS'
_PREFACE = b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
_SETTINGS = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
_FRAME_TYPE = slice(3, 4)
"""A client begins with the preface and such a frame, a server with one (RFC 9113, section 3.4)."""
_PREFIX = 'gait-ray-'
_FOLDER = 'GAIT_RAY_FOLDER'
"""Variable with the folder of an own Ray, for the workers in it."""
_MAX_FOLDER = 30
"""Longest folder for temporary files: Ray's sockets in it may have 107 characters at most."""
_LOCAL_VARIABLES = {
    # Servers of Ray then listen on the loopback address alone.
    'RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER': '0',
    # Workers are as urgent as those of the evaluator ``local``; Ray's default is 15.
    'RAY_worker_niceness': '0',
    _TOKEN_MODE: 'token',
}
_COMMON_VARIABLES = {
    'RAY_USAGE_STATS_ENABLED': '0',
    'RAY_COLOR_PREFIX': '0',
    'RAY_DEDUP_LOGS': '0',
}


def parse_address(address: str) -> tuple[str, int]:
    """Return host and port of ``HOST:PORT``; ConfigurationError for anything else."""
    host, _, port = address.rpartition(':')
    if not host or '/' in host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ConfigurationError(
            f"address '{excerpt(address)}' is not HOST:PORT of the head of a Ray cluster, such as "
            '192.168.1.2:6379'
        )
    return host.strip('[]'), int(port)


def find_address_fault(host: str, port: int, timeout: float = _PROBE_TIMEOUT) -> str:
    """Return why an address accepts no connection; empty if it does."""
    try:
        socket.create_connection((host, port), timeout).close()
    except TimeoutError:
        return f'no answer within {timeout:g} s'
    except OSError as error:
        return error.strerror or str(error)
    return ''


def check_cluster(address: str) -> None:
    """Raise ConfigurationError if no Ray answers at an address, or there is no token for it."""
    fault = find_address_fault(*parse_address(address))
    if fault:
        raise ConfigurationError(f'no Ray cluster answers at {address}: {fault}')
    needs_token = os.environ.get(_TOKEN_MODE, 'token') == 'token' and not os.environ.get(_TOKEN)
    if needs_token and not token_file().is_file():
        raise ConfigurationError(
            f'no token for the Ray cluster at {address}: copy the file ~/.ray/auth_token of its '
            f'head to {token_file()}'
        )
    # ``ray.init`` would wait for an answer for more than half a minute.
    if os.environ.get(_TLS, '0') == '0' and not _speaks_http2(*parse_address(address)):
        raise ConfigurationError(f'what answers at {address} is no head of a Ray cluster')


def _speaks_http2(host: str, port: int) -> bool:
    """Return whether a server begins a connection of HTTP/2, as that of a head does."""
    try:
        with socket.create_connection((host, port), _PROBE_TIMEOUT) as connection:
            connection.sendall(_PREFACE + _SETTINGS)
            answer = connection.recv(len(_SETTINGS))
    except OSError:
        return False
    return answer[_FRAME_TYPE] == _SETTINGS[_FRAME_TYPE]


def token_file() -> Path:
    """Return the file of the token for clusters."""
    return Path(os.environ.get(_TOKEN_FILE) or Path.home() / '.ray' / 'auth_token')


class RayProcess:
    """
    Child process that talks to Ray and, unless an address is given, starts a Ray of its own.

    Neither outlives this object or this process, however that ends.

    Parameters
    ----------
    workers : int
        Processors of an own Ray.
    address : str
        Head of a running cluster; empty: an own Ray on the loopback address.
    log : Path or None
        File for the output of Ray and of the workers; None: one that is removed.

    """

    def __init__(self, workers: int, address: str, log: Path | None) -> None:
        self._folder, self._lock = make_locked_folder()
        self.log = log or self._folder / 'ray.log'
        ours, theirs = socket.socketpair()
        command = python_module_command('gait_evolver.evaluators.ray_driver')
        command += [str(theirs.fileno()), str(self._folder), str(workers), address]
        with theirs, self.log.open('ab') as output:
            self._process = subprocess.Popen(
                command,
                env=_environment(self._folder, address),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=(theirs.fileno(),),
                # Ctrl-C in a terminal signals the process group: only we end the child.
                start_new_session=True,
            )
        self._channel = MessageChannel(ours)

    def send(self, *message: Any) -> None:
        """Send a message; the end of the process is found by ``read``."""
        self._channel.send(message)

    def read(self, timeout: float) -> Iterator[list[Any]]:
        """Yield the messages that arrive within ``timeout`` [s]; EOFError: it has ended."""
        writing = select.POLLOUT if self._channel.is_writing else 0
        poll = select.poll()
        poll.register(self._channel.fileno(), select.POLLIN | writing)
        poll.poll(1000.0 * timeout)
        self._channel.flush()
        yield from self._channel.read_messages()

    def last_line(self) -> str:
        """Return the last line of the log that is not empty."""
        with suppress(OSError):
            lines = self.log.read_text(encoding='utf-8', errors='replace').splitlines()
            return next((line.strip() for line in reversed(lines) if line.strip()), '')
        return ''

    def close(self) -> None:
        """End the process, and with it an own Ray."""
        self._channel.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_TIMEOUT)
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)
        os.close(self._lock)


def _environment(folder: Path, address: str) -> dict[str, str]:
    """Return the variables of the process; RAY_ variables of the user are for a cluster only."""
    if address:
        return {_TOKEN_MODE: 'token', **os.environ, **_COMMON_VARIABLES}
    token = folder / 'token'
    with os.fdopen(os.open(token, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), 'w') as file:
        file.write(secrets.token_hex(32))
    own = {name: value for name, value in os.environ.items() if not name.startswith('RAY_')}
    variables = {**WORKER_ENVIRONMENT, **_COMMON_VARIABLES, **_LOCAL_VARIABLES}
    # Ray's workers, too, keep files in the folder, which is removed at the end.
    return {**own, **variables, _TOKEN_FILE: str(token), _FOLDER: str(folder)}


def make_locked_folder() -> tuple[Path, int]:
    """
    Return a new temporary folder, and the file descriptor of its lock.

    Each call removes the folders that killed processes have left: those whose lock no open
    descriptor holds.
    """
    usual = os.environ.get(_FOLDER) or tempfile.gettempdir()
    parent = usual if len(usual) <= _MAX_FOLDER else '/tmp'
    for file in Path(parent).glob(f'{_PREFIX}*/lock'):
        with suppress(OSError), file.open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(file.parent, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    fresh = folder / 'lock.new'
    own = os.open(fresh, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(own, fcntl.LOCK_EX)
    # Under this name only when it is locked.
    fresh.rename(folder / 'lock')
    return folder, own
