"""The one way in which every node of the suite is run as a process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import gc
import sys
from typing import Any

import rclpy
from rclpy.exceptions import ParameterException
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions

from gait_core.errors import ConfigurationError
from gait_core.processes.compiling import announce_compiling
from gait_ros.nodes.event_queue import EVENT_QUEUE
from gait_ros.nodes.qos import describe_unused_overrides
from gait_ros.nodes.stop import Interrupted, StopFlag, ignore_signals, install_stop_flag

# Longest wait for an event: a signal that arrives between two waits is seen after it.
_MAX_WAIT = 0.1


def make_executor(context: Any = None) -> Any:
    """
    Return the executor of this suite's nodes: events where rclpy has them, else one thread.

    The MultiThreadedExecutor is never used: it loses most messages of a fast stream. Call only
    ``spin_once``: ``spin`` of the EventsExecutor stalls.
    """
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor(context=context)
    return EventsExecutor(context=context)


def run_node(make_node: Callable[[], Any], args: Sequence[str] | None = None) -> int:
    """
    Run a node until SIGINT, SIGTERM, SIGHUP or the end of its context.

    Parameters
    ----------
    make_node : callable
        The node's class. If the node has a method ``start``, it is called once before spinning;
        that is where an autostarting lifecycle node activates itself.
    args : sequence of str or None
        Command line; ``None``: that of the process.

    Returns
    -------
    int
        Exit code: 0 after a signal, also after a second one during clean-up; 2 after a
        ConfigurationError, whose one line goes to standard error.

    """
    # Handlers of Python instead of rclpy's: nothing is ever raised in the middle of clean-up.
    stop = install_stop_flag()
    announce_compiling(lambda line: print(line, file=sys.stderr, flush=True))
    code = 0
    node = None
    try:
        rclpy.init(
            args=None if args is None else [sys.argv[0], *args],
            signal_handler_options=SignalHandlerOptions.NO,
        )
        # Both may compile for half a minute; no robot has been commanded yet, so they may be
        # interrupted at any point.
        node = stop.run_interruptible(make_node)
        start = getattr(node, 'start', None)
        if start is not None:
            stop.run_interruptible(start)
        _spin(node, stop)
    except (ConfigurationError, ParameterException) as error:
        code = _print_refusal(node, str(error))
    except (ExternalShutdownException, Interrupted):
        pass
    except RuntimeError as error:
        # What rcl raises for a malformed parameter file or argument; anything else is ours.
        if node is not None or rclpy.ok():
            raise
        code = _print_refusal(node, str(error))
    finally:
        if node is not None:
            node.destroy_node()
        else:
            # A shutdown of the context must not destroy a node that is half made.
            gc.collect()
        rclpy.try_shutdown()
        # Python gives caught signals their deadly default back while it ends.
        ignore_signals()
    return code


def _spin(node: Any, stop: StopFlag) -> None:
    executor = make_executor()
    stop.set_wake(executor.wake)
    executor.add_node(node)
    try:
        for line in describe_unused_overrides(node):
            node.get_logger().warning(line)
        while not stop and rclpy.ok():
            executor.spin_once(timeout_sec=_MAX_WAIT)
            EVENT_QUEUE.measure_delay(executor)
    finally:
        executor.remove_node(node)
        executor.shutdown(timeout_sec=0.0)


def _print_refusal(node: Any, message: str) -> int:
    name = node.get_name() if node is not None else 'node'
    print(f'{name}: {" ".join(message.split())}', file=sys.stderr, flush=True)
    return 2
