"""Starts a graph's nodes as processes of their own where ``launch`` is not installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
import os
from pathlib import Path
import signal
import subprocess
import sys
import tempfile
import time
from types import TracebackType
from typing import Any

import yaml

from gait_core.errors import ConfigurationError
from gait_ros.graph.nodes import NodeSpec

_STOP_TIMEOUT = 5.0
_TAIL_LINES = 20


class NodeEnded(RuntimeError):
    """A node that should be running has ended; the message has the end of its output."""


class _Quoted(str):
    """Text that YAML writes in quotes: ROS would read a bare hash or 'off' as something else."""


class _Dumper(yaml.SafeDumper):
    """Writes quoted text."""


_Dumper.add_representer(
    _Quoted,
    lambda dumper, value: dumper.represent_scalar('tag:yaml.org,2002:str', str(value), style='"'),
)


def parameter_file_text(parameters: Mapping[str, Any]) -> str:
    """
    Return a ROS parameter file for any node; floats keep every bit.

    Empty lists are left out: ROS has no empty list of a known type.
    """

    def plain(value: Any) -> Any:
        """Return a value whose texts are quoted."""
        if isinstance(value, (list, tuple)):
            return [plain(item) for item in value]
        return _Quoted(value) if isinstance(value, str) else value

    values = {
        name: plain(value)
        for name, value in parameters.items()
        if not (isinstance(value, (list, tuple)) and len(value) == 0)
    }
    document = {'/**': {'ros__parameters': values}}
    return str(yaml.dump(document, Dumper=_Dumper, sort_keys=False))


def ros_arguments(spec: NodeSpec, parameter_file: str = '') -> list[str]:
    """Return the command line of a node after its executable."""
    arguments = [*spec.arguments, '--ros-args', '-r', f'__node:={spec.name}']
    if spec.namespace:
        arguments += ['-r', f'__ns:=/{spec.namespace.strip("/")}']
    for source, target in spec.remappings:
        arguments += ['-r', f'{source}:={target}']
    for file in (*spec.parameter_files, *filter(None, (parameter_file,))):
        arguments += ['--params-file', file]
    return arguments


def node_entry_point(spec: NodeSpec) -> str:
    """Return ``module:function`` of a node's executable; ConfigurationError if there is none."""
    for entry in entry_points(group='console_scripts', name=spec.executable):
        if entry.value.partition('.')[0] == spec.package:
            return entry.value
    raise ConfigurationError(f'package {spec.package} has no executable {spec.executable}')


class NodeProcess:
    """One running node, in a process group of its own, with its output in a file."""

    def __init__(self, spec: NodeSpec, folder: Path) -> None:
        self.spec = spec
        stem = spec.full_name.strip('/').replace('/', '.')
        self._output = folder / f'{stem}.log'
        parameter_file = ''
        if spec.parameters:
            parameter_file = str(folder / f'{stem}.yaml')
            Path(parameter_file).write_text(parameter_file_text(spec.parameters))
        command = [
            sys.executable,
            '-m',
            'gait_ros.graph.child',
            str(os.getpid()),
            node_entry_point(spec),
        ]
        with self._output.open('wb') as output:
            self._process = subprocess.Popen(
                [*command, *ros_arguments(spec, parameter_file)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """Exit code, ``None`` while it runs."""
        return self._process.poll()

    def read_output(self) -> str:
        """Return what the node has written to standard output and error so far."""
        return self._output.read_text(errors='replace')

    def raise_if_ended(self) -> None:
        """
        Do nothing while the node runs.

        Raises
        ------
        ConfigurationError
            If it has ended over a user's mistake; the message is the node's own.
        NodeEnded
            If it has ended in any other way.

        """
        if self.exit_code is None:
            return
        lines = [line for line in self.read_output().splitlines() if line.strip()]
        if self.exit_code == 2 and lines:
            raise ConfigurationError(lines[-1])
        tail = '\n'.join(lines[-_TAIL_LINES:])
        raise NodeEnded(f'{self.spec.full_name} ended with code {self.exit_code}:\n{tail}')

    def signal(self, number: int) -> None:
        """Send a signal to the node and all it has started."""
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            pass

    def wait(self, timeout: float) -> bool:
        """Wait for the end [s]; tell whether it came."""
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return False
        return True


class NodeProcesses:
    """
    A context in which a graph's nodes run; at its end they are interrupted, then killed.

    Should this process be killed itself, its nodes are killed too. That holds for the thread that
    starts them: let it live as long as they do.
    """

    def __init__(self, specs: Sequence[NodeSpec]) -> None:
        self._specs = tuple(specs)
        self.nodes: list[NodeProcess] = []

    def __enter__(self) -> NodeProcesses:
        self._folder = tempfile.TemporaryDirectory(prefix='gait_nodes_')
        try:
            for spec in self._specs:
                self.nodes.append(NodeProcess(spec, Path(self._folder.name)))
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop()

    def raise_if_ended(self) -> None:
        """Raise what ended the first node that is not running any more."""
        for node in self.nodes:
            node.raise_if_ended()

    def _stop(self) -> None:
        for node in self.nodes:
            node.signal(signal.SIGINT)
        deadline = time.monotonic() + _STOP_TIMEOUT
        for node in self.nodes:
            if not node.wait(max(0.0, deadline - time.monotonic())):
                node.signal(signal.SIGKILL)
                node.wait(_STOP_TIMEOUT)
        self._folder.cleanup()
