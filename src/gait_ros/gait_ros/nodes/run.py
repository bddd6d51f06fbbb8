# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Process of a node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import gc
import sys
from typing import Any

import rclpy
from rclpy.exceptions import NameValidationException, ParameterException
from rclpy.executors import ExternalShutdownException
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.signals import SignalHandlerOptions

from gait_core.errors import ConfigurationError, excerpt, one_line
from gait_core.processes.compiling import announce_compiling, is_compiling, mark_compiling
from gait_core.robot.model_code import permit_model_code
from gait_ros.nodes.discovery import obey_discovery_range
from gait_ros.nodes.event_queue import EVENT_QUEUE
from gait_ros.nodes.qos import describe_unused_overrides
from gait_ros.nodes.rclpy_release import make_executor
from gait_ros.nodes.services import answer_early_requests
from gait_ros.nodes.stop import (
    Interrupted,
    StopFlag,
    exit_after_signal,
    ignore_signals,
    install_stop_flag,
)

# Longest wait for an event [s]: a signal between two waits takes effect after the second.
_MAX_WAIT = 0.1
# Time [s] from a signal after which a node that compiles kernels in a callback ends as it is: it
# commands no robot meanwhile, and launch escalates after 5 s.
_MAX_COMPILING = 3.0


def run_node(
    make_node: Callable[[], Any],
    args: Sequence[str] | None = None,
    exit_code: Callable[[Any], int | None] = lambda node: None,
) -> int:
    """
    Run a node until SIGINT, SIGTERM, SIGHUP, the end of its work or of its context.

    Parameters
    ----------
    make_node : callable
        Class of the node. Its method ``start``, if it has one, is called once before spinning; a
        lifecycle node activates itself there.
    args : sequence of str or None
        Command line; None: that of the process.
    exit_code : callable
        Returns the exit code of a node whose work is done; None until then.

    Returns
    -------
    int
        Exit code: 0 after one or more signals; that of ``exit_code``; 2 after a
        ConfigurationError, whose line is printed to standard error.

    """
    _permit_named_robot(sys.argv[1:] if args is None else args)
    # Signal handlers of Python instead of rclpy's, so that nothing interrupts the clean-up.
    stop = install_stop_flag()
    announce_compiling(lambda line: print(line, file=sys.stderr, flush=True))
    mark_compiling()
    obey_discovery_range()
    code = 0
    node = None
    try:
        _refuse_other_arguments(sys.argv[1:] if args is None else args)
        rclpy.init(
            args=None if args is None else [sys.argv[0], *args],
            signal_handler_options=SignalHandlerOptions.NO,
        )
        # Construction and start may compile for half a minute. They may be interrupted anywhere,
        # because no robot has been commanded yet.
        node = stop.run_interruptible(make_node)
        start = getattr(node, 'start', None)
        if start is not None:
            stop.run_interruptible(start)
        code = _spin(node, stop, lambda: exit_code(node))
    except (ConfigurationError, NameValidationException, ParameterException) as error:
        code = _print_refusal(node, str(error))
    except (ExternalShutdownException, Interrupted):
        pass
    except RuntimeError as error:
        # rcl raises RuntimeError for a malformed parameter file or argument, and RCLError for a
        # node that the middleware refuses, e.g. without its keys. Later ones are faults of this
        # code.
        if node is not None or (
            rclpy.ok() and not isinstance(error, rclpy_implementation.RCLError)
        ):
            raise
        code = _print_refusal(node, str(error))
    finally:
        if node is not None:
            node.destroy_node()
        else:
            # Collect a partly constructed node before the shutdown of the context destroys it.
            gc.collect()
        rclpy.try_shutdown()
        # Python restores the default handlers while it ends, and a signal would kill it.
        ignore_signals()
    return code


def _permit_named_robot(args: Sequence[str]) -> None:
    """Permit the code of a robot that the command line names, unlike one of a parameter file."""
    for word in args:
        # -p robot:=NAME or -p NODE:robot:=NAME
        name, separator, robot = word.partition(':=')
        if separator and name.rpartition(':')[2] == 'robot':
            permit_model_code(robot.strip('"\''))


def _refuse_other_arguments(args: Sequence[str]) -> None:
    """
    Raise ConfigurationError for an argument outside of ``--ros-args ... --``.

    Nobody would read it, and ``robot:=guroo`` there is a remapping of a topic ``robot``.
    """
    is_ros = False
    for word in args:
        if not is_ros and word != '--ros-args':
            rule = excerpt(word) if ':=' in word else 'NAME:=VALUE'
            raise ConfigurationError(
                f"unknown argument '{excerpt(word)}'; nearest valid: --ros-args -p {rule}"
            )
        is_ros = word != '--'


def _spin(node: Any, stop: StopFlag, exit_code: Callable[[], int | None]) -> int:
    """Call the callbacks of a node until a signal or the end of its work or context."""
    executor = make_executor()
    stop.set_wake(executor.wake)
    executor.add_node(node)
    try:
        for line in describe_unused_overrides(node):
            node.get_logger().warning(line)
        # The first turn of the executor only asks to be told of messages and requests.
        executor.spin_once(timeout_sec=0.0)
        answer_early_requests(node, executor)
        with exit_after_signal(_MAX_COMPILING, is_compiling):
            while not stop and rclpy.ok() and exit_code() is None:
                executor.spin_once(timeout_sec=_MAX_WAIT)
                EVENT_QUEUE.measure_delay(executor)
        return exit_code() or 0
    finally:
        executor.remove_node(node)
        executor.shutdown(timeout_sec=0.0)


def _print_refusal(node: Any, message: str) -> int:
    """Print an error as one line and return the exit code."""
    name = node.get_name() if node is not None else 'node'
    print(f'{name}: {one_line(" ".join(message.split()))}', file=sys.stderr, flush=True)
    return 2
