# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Nodes of a graph as child processes, without ``launch``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
import os
from pathlib import Path
import signal
import subprocess
import tempfile
import time
from types import TracebackType
from typing import Any

import yaml

from gait_core.errors import ConfigurationError
from gait_core.processes.python_command import python_module_command
from gait_ros.graph.nodes import NodeSpec

# Time [s] from the interrupt of a node to its kill.
_STOP_TIMEOUT = 5.0
# Lines of output in the error of a node that ended.
_TAIL_LINES = 20


class NodeEnded(RuntimeError):
    """End of a node that should be running; the message has its last lines of output."""


class _Quoted(str):
    """Text in quotes: ROS would not read an unquoted hash or 'off' as text."""


class _Dumper(yaml.SafeDumper):
    """YAML dumper of quoted text."""


_Dumper.add_representer(
    _Quoted,
    lambda dumper, value: dumper.represent_scalar('tag:yaml.org,2002:str', str(value), style='"'),
)


def parameter_file_text(parameters: Mapping[str, Any]) -> str:
    """
    Return the text of a ROS parameter file for any node; floats are exact.

    Empty lists are left out, because ROS cannot know their type.
    """

    def plain(value: Any) -> Any:
        """Return a value with its texts quoted."""
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
    """Return the command line of a node, without its executable."""
    arguments = [*spec.arguments, '--ros-args', '-r', f'__node:={spec.name}']
    if spec.namespace:
        arguments += ['-r', f'__ns:=/{spec.namespace.strip("/")}']
    for source, target in spec.remappings:
        arguments += ['-r', f'{source}:={target}']
    for file in (*spec.parameter_files, *filter(None, (parameter_file,))):
        arguments += ['--params-file', file]
    return arguments


def node_entry_point(spec: NodeSpec) -> str:
    """Return ``module:function`` of the executable of a node, or raise ConfigurationError."""
    for entry in entry_points(group='console_scripts', name=spec.executable):
        if entry.value.partition('.')[0] == spec.package:
            return entry.value
    raise ConfigurationError(f'package {spec.package} has no executable {spec.executable}')


class NodeProcess:
    """Process of a node, with its own process group, and with its output in a file."""

    def __init__(self, spec: NodeSpec, folder: Path) -> None:
        self.spec = spec
        stem = spec.full_name.strip('/').replace('/', '.')
        self._output = folder / f'{stem}.log'
        parameter_file = ''
        if spec.parameters:
            parameter_file = str(folder / f'{stem}.yaml')
            Path(parameter_file).write_text(parameter_file_text(spec.parameters))
        command = [
            *python_module_command('gait_ros.graph.child'),
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
        """Exit code; None while the process runs."""
        return self._process.poll()

    def read_output(self) -> str:
        """Return the standard output and error of the node so far."""
        return self._output.read_text(errors='replace')

    def raise_if_ended(self) -> None:
        """
        Raise an error if the node has ended.

        Raises
        ------
        ConfigurationError
            If the node refused its configuration; the message is its own.
        NodeEnded
            If the node ended for any other reason.

        """
        if self.exit_code is None:
            return
        lines = [line for line in self.read_output().splitlines() if line.strip()]
        if self.exit_code == 2 and lines:
            raise ConfigurationError(lines[-1])
        tail = '\n'.join(lines[-_TAIL_LINES:])
        raise NodeEnded(f'{self.spec.full_name} ended with code {self.exit_code}:\n{tail}')

    def signal(self, number: int) -> None:
        """Send a signal to the process group of the node."""
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            pass

    def wait(self, timeout: float) -> bool:
        """Wait for the end of the process, at most ``timeout`` [s]; return whether it ended."""
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return False
        return True


class NodeProcesses:
    """
    Context manager of the processes of nodes, which it interrupts, then kills, at its end.

    The nodes are killed if this process, or the thread that entered the context, ends before them.
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
        """Raise the error of the first node that has ended; see ``NodeProcess.raise_if_ended``."""
        for node in self.nodes:
            node.raise_if_ended()

    def _stop(self) -> None:
        # Interrupt all nodes at once, so that they end together, then kill those that did not end.
        for node in self.nodes:
            node.signal(signal.SIGINT)
        deadline = time.monotonic() + _STOP_TIMEOUT
        for node in self.nodes:
            if not node.wait(max(0.0, deadline - time.monotonic())):
                node.signal(signal.SIGKILL)
                node.wait(_STOP_TIMEOUT)
        self._folder.cleanup()
