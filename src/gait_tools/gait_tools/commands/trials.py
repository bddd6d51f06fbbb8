# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Trials of a command, in this process or over ROS, and their display."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gait_core.trial.rollout import Rollout
    from gait_core.trial.spec import TrialResult, TrialSpec


@dataclass(frozen=True, kw_only=True)
class TrialOutcome:
    """
    Outcome of a trial.

    Attributes
    ----------
    result : TrialResult
    rollout : Rollout or None
        None if it was not asked for, or the trial ended before its first tick.
    wall_time : float [s]
    pids : mapping of str to int or None
        Process ids of ``bridge`` and ``controller`` over ROS; None in this process.

    """

    result: TrialResult
    rollout: Rollout | None
    wall_time: float
    pids: Mapping[str, int] | None = None


def add_run_options(parser: ArgumentParser) -> None:
    """Declare the options ``--ros``, ``--video`` and ``--viewer``."""
    parser.add_argument(
        '--ros',
        action='store_true',
        help='controller and bridge as processes of their own, in lock-step',
    )
    parser.add_argument('--video', metavar='FILE', help='write a GIF of the trial')
    parser.add_argument('--viewer', action='store_true', help='show the trial in a window')


def print_exception(result: TrialResult) -> None:
    """Print the exception of a trial on standard error, because the JSON output lacks it."""
    from gait_core.trial.spec import EXCEPTION

    if result.status == EXCEPTION:
        print(f'gait: {result.reason}', file=sys.stderr)


def check_display_options(options: Namespace) -> None:
    """Raise ConfigurationError if a trial could not be shown; called before the trial."""
    from gait_tools import display

    if options.viewer:
        display.check_screen()
    if options.video:
        display.check_video(Path(options.video))


def show_trial(options: Namespace, rollout: Rollout | None) -> None:
    """Write the video and open the window that the options ask for."""
    from gait_tools import display

    if options.video and rollout is not None:
        display.write_video(Path(options.video), rollout)
    if options.viewer and rollout is not None:
        display.play_rollout(rollout)


def run_trials(
    specs: Sequence[TrialSpec], *, ros: bool, keep: bool, sensors: str = ''
) -> list[TrialOutcome]:
    """
    Run trials that differ in seed, body and start only, one after the other.

    Over ROS, bridge and controller start once for successive trials with the same body, the
    bridge with the named range sensors. ``keep`` asks for the rollouts.
    """
    if not ros:
        return [_run_in_process(spec, keep) for spec in specs]
    groups = groupby(specs, lambda spec: spec.scene.draw)
    return [
        outcome
        for _, same_body in groups
        for outcome in _run_over_ros([*same_body], keep, sensors)
    ]


def _run_in_process(spec: TrialSpec, keep: bool) -> TrialOutcome:
    """Run a trial in this process; a failure of the trial becomes its result."""
    from gait_core.errors import ConfigurationError, SimulationDiverged
    from gait_core.processes.exits import raise_on_os_exit
    from gait_core.trial.failures import exception_result, is_resource_shortage
    from gait_core.trial.loop import result_without_ticks, run_loop
    from gait_core.trial.spec import DIVERGED

    try:
        with raise_on_os_exit():
            loop = run_loop(spec)
            result = loop.result()
    except SimulationDiverged as error:
        return TrialOutcome(
            result=result_without_ticks(spec, DIVERGED, str(error)), rollout=None, wall_time=0.0
        )
    except KeyboardInterrupt:
        raise
    # A user's code may end in any exception, also that of sys.exit.
    except BaseException as error:
        if isinstance(error, ConfigurationError) or is_resource_shortage(error):
            raise
        return TrialOutcome(result=exception_result(spec, error), rollout=None, wall_time=0.0)
    return TrialOutcome(
        result=result, rollout=loop.rollout() if keep else None, wall_time=result.wall_time
    )


def _run_over_ros(specs: Sequence[TrialSpec], keep: bool, sensors: str) -> list[TrialOutcome]:
    """Run trials in one graph of ROS nodes; ``ConfigurationError`` if a node ends."""
    from gait_core.errors import ConfigurationError

    try:
        from gait_ros.graph.processes import NodeEnded
        from gait_ros.trials.session import TrialSession
        from gait_ros.trials.worker_client import WorkerLost
    except ImportError as error:
        raise ConfigurationError(f'--ros needs ROS 2: {error}') from error
    outcomes = []
    try:
        with TrialSession(specs[0], link_transforms=True, sensors=sensors) as session:
            for spec in specs:
                trial = session.run(spec, keep_rollout=keep)
                outcomes.append(
                    TrialOutcome(
                        result=trial.result,
                        rollout=trial.rollout,
                        wall_time=trial.wall_time,
                        pids=trial.pids,
                    )
                )
    except (NodeEnded, WorkerLost) as error:
        # Of a node's last lines of output the very last one names the exception.
        first, *output = str(error).splitlines()
        raise ConfigurationError(' '.join([first, *output[-1:]])) from error
    return outcomes
