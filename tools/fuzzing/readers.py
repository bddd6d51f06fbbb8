# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Commands of inputs: the `gait` command line, and readers that print what a file means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
import hashlib
from pathlib import Path
import sys
from typing import Any

from gait_core.errors import ConfigurationError
from gait_core.parameters.plain_data import to_plain_data
from gait_core.robot.load import load_robot
from gait_core.testing.doubles import InProcessEvaluator
from gait_core.trial.champion import read_champion, read_gait_file
from gait_evolver.evaluators.local import LocalEvaluator
from gait_evolver.plan import load_plan
from gait_ros.hardware.motors import read_hardware
from gait_tools.cli import main


def run_command(words: Sequence[str]) -> int:
    """Run a command of `gait`, or a reader of READERS; return its status."""
    if words[0] not in READERS:
        return main(words)
    try:
        content = to_plain_data(READERS[words[0]](*words[1:]))
        print(hashlib.sha256(repr(content).encode()).hexdigest())
    except ConfigurationError as error:
        print(f'gait: {error}', file=sys.stderr)
        return 2
    return 0


def evaluate_here() -> None:
    """Let local evaluators run trials in the process that asks: workers take seconds to start."""

    def evaluate(self: LocalEvaluator, specs: Any, progress: Any = None, lost: Any = None) -> Any:
        """Return one result per spec."""
        return InProcessEvaluator().evaluate(specs, progress, lost)

    LocalEvaluator.evaluate = evaluate  # type: ignore[method-assign]


def _robot(name: str) -> Any:
    return replace(load_robot(name), source='')


def _gait(file: str) -> Any:
    return read_gait_file(Path(file)).gait()


def _hardware(file: str, robot: str) -> Any:
    return read_hardware(file, load_robot(robot))


READERS: Mapping[str, Callable[..., Any]] = {
    'read-robot': _robot,
    'read-experiment': lambda file: load_plan(file).experiment,
    'read-champion': lambda file: read_champion(Path(file)),
    'read-gait': _gait,
    'read-hardware': _hardware,
}
"""Readers of files by the word that stands in place of a command of `gait`."""
