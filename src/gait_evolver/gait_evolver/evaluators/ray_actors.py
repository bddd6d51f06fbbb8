# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Connection to Ray in a process of its own; messages: ``ray_driver``."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from pathlib import Path
import socket
from typing import Any

import ray
from ray.exceptions import (
    ActorUnavailableError,
    OutOfMemoryError,
    RayActorError,
    RayError,
    RayTaskError,
)

from gait_core.errors import ConfigurationError
from gait_core.files.access import read_bytes
from gait_core.parameters.plain_data import sha256_of
from gait_evolver.evaluators.channel import MessageChannel
from gait_evolver.evaluators.ray_process import find_address_fault, parse_address
from gait_evolver.evaluators.ray_worker import TrialActor
from gait_evolver.evaluators.shipping import Files
from gait_evolver.evaluators.worker_process import WORKER_ENVIRONMENT

_OBJECT_STORE = 80 * 2**20
_WORKER_MEMORY = 500_000_000
"""Memory of a worker [bytes] that Ray reserves."""
_PULSE = 'pulse'
"""Group of calls that run beside a trial."""
_PULSE_PERIOD = 1.0
_PROBE_PERIOD, _PROBE_TIMEOUT, _MAX_PROBES = 2.0, 2.0, 3
_MAX_REASON = 200
_CAUSE = 'The actor is dead because '
_GUESSES = (' Worker exit type: SYSTEM_ERROR', ' Some common causes')
"""Words of Ray before and after the explanation of an actor's end."""
_MACHINE_DEATHS = ('node', 'low on memory', 'preempt')
"""Words of Ray for an actor that ended with its machine, and not by its trial."""


def serve(channel: socket.socket, folder: Path, workers: int, address: str) -> None:
    """
    Serve an evaluator until it closes the channel.

    Parameters
    ----------
    channel : socket
    folder : Path
        Folder for the files of an own Ray.
    workers : int
        Processors of an own Ray.
    address : str
        Head of a running cluster; empty: start an own Ray.

    """
    messages = MessageChannel(channel)
    try:
        if address:
            ray.init(address, log_to_driver=True)
        else:
            ray.init(
                num_cpus=workers,
                _memory=workers * _WORKER_MEMORY,
                object_store_memory=_OBJECT_STORE,
                include_dashboard=False,
                log_to_driver=True,
                _temp_dir=str(folder),
            )
    except Exception as error:
        # Ray documents no types: whatever it raises here is an answer to the user.
        messages.send(('refused', ' '.join(f'{type(error).__name__}: {error}'.split())))
        return
    asyncio.run(_Driver(messages, address).run())


class _Driver:
    """Actors of one evaluator by number."""

    def __init__(self, channel: MessageChannel, address: str) -> None:
        self._channel, self._address = channel, address
        # Nodes of a cluster lack our variables, which allow one thread.
        variables = {'env_vars': WORKER_ENVIRONMENT} if address else None
        self._class = ray.remote(
            num_cpus=1,
            memory=_WORKER_MEMORY,
            max_restarts=0,
            max_task_retries=0,
            concurrency_groups={_PULSE: 1},
            runtime_env=variables,
        )(TrialActor)
        self._actors: dict[int, Any] = {}
        self._parcels: dict[Files, Any] = {}
        self._ended = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Answer messages until the other side closes the channel."""
        resources = ray.cluster_resources()
        room = min(resources.get('CPU', 0.0), resources.get('memory', 0.0) / _WORKER_MEMORY)
        self._send('up', int(room))
        loop = asyncio.get_running_loop()
        loop.add_reader(self._channel.fileno(), self._read)
        if self._address:
            self._begin(self._watch_head())
        await self._ended.wait()
        ray.shutdown()

    def _begin(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _send(self, *message: Any) -> None:
        self._channel.send(message)
        self._flush()

    def _flush(self) -> None:
        """Send what waits to be sent, now or when the socket takes more."""
        loop = asyncio.get_running_loop()
        self._channel.flush()
        if self._channel.is_writing:
            loop.add_writer(self._channel.fileno(), self._flush)
        else:
            loop.remove_writer(self._channel.fileno())

    def _read(self) -> None:
        try:
            messages = self._channel.read_messages()
        except EOFError:
            self._ended.set()
            asyncio.get_running_loop().remove_reader(self._channel.fileno())
            return
        handlers: Mapping[str, Callable[..., Awaitable[None]]] = {
            'start': self._start,
            'check': self._check,
            'run': self._run,
        }
        for kind, number, *content in messages:
            if kind == 'stop':
                self._stop(number)
            else:
                self._begin(self._guarded(number, handlers[kind](number, *content)))

    async def _guarded(self, number: int, work: Awaitable[None]) -> None:
        """Do work on an actor, and report its loss."""
        try:
            await work
        except ConfigurationError as error:
            # A file that trials name cannot be read any more.
            self._send('checked', number, str(error))
        except RayError as error:
            if number not in self._actors:
                return
            if _is_raised_by_actor(error):
                # The worker's Python lacks the suite, or its disk is full.
                self._send('checked', number, str(error).strip().splitlines()[-1].strip())
                return
            self._stop(number)
            self._send('lost', number, *_describe_loss(error))

    async def _start(self, number: int) -> None:
        actor = self._actors[number] = self._class.remote()
        self._send('started', number, await actor.name.remote())
        self._begin(self._guarded(number, self._feel_pulse(number)))

    async def _check(self, number: int, expected: Any, files: list[Any]) -> None:
        parcels = [self._parcel(each) for each in files]
        refusal = await self._actors[number].check.remote(expected, *parcels)
        self._send('checked', number, refusal)

    async def _run(self, number: int, *trial: Any) -> None:
        index, spec, weights, files = trial
        # Ray puts large arguments into its store and frees them after the call.
        content = read_bytes(weights) if weights else b''
        parcel = self._parcel(files)
        answer = await self._actors[number].run.remote(spec, content, parcel)
        self._send('answer', number, index, *answer)

    def _parcel(self, listed: list[list[str]]) -> Any:
        """Return the reference of files in Ray's store; they are read at the first call."""
        files = tuple((name, path) for name, path in listed)
        if files not in self._parcels:
            contents = {name: read_bytes(path) for name, path in files}
            digests = [(name, sha256(each).hexdigest()) for name, each in contents.items()]
            self._parcels[files] = ray.put((sha256_of(sorted(digests)), contents))
        return self._parcels[files]

    async def _feel_pulse(self, number: int) -> None:
        pulse = self._actors[number].pulse.options(concurrency_group=_PULSE)
        while number in self._actors:
            state, idle_time = await pulse.remote()
            self._send('pulse', number, state, idle_time)
            await asyncio.sleep(_PULSE_PERIOD)

    def _stop(self, number: int) -> None:
        actor = self._actors.pop(number, None)
        if actor is not None:
            ray.kill(actor)

    async def _watch_head(self) -> None:
        """Report that the head of the cluster is gone: Ray ends this process a minute later."""
        host, port = parse_address(self._address)
        failures = 0
        while failures < _MAX_PROBES:
            await asyncio.sleep(_PROBE_PERIOD)
            fault = await asyncio.to_thread(find_address_fault, host, port, _PROBE_TIMEOUT)
            failures = failures + 1 if fault else 0
        self._send('head', fault)


def _is_raised_by_actor(error: RayError) -> bool:
    """Return whether code of the actor raised an exception, at its start or in a call."""
    return isinstance(error, RayTaskError) or (
        isinstance(error, RayActorError) and error.actor_init_failed
    )


def _describe_loss(error: RayError) -> tuple[str, bool]:
    """Return the reason of a loss in one line, and whether the trial may have caused it."""
    if isinstance(error, ActorUnavailableError):
        return 'its process or its machine cannot be reached', False
    text = ' '.join(str(error).split())
    text = text.partition(_CAUSE)[2] or text
    for words in _GUESSES:
        text = text.partition(words)[0]
    by_machine = isinstance(error, OutOfMemoryError) or any(
        word in text for word in _MACHINE_DEATHS
    )
    return text[:_MAX_REASON].rstrip('.'), not by_machine
