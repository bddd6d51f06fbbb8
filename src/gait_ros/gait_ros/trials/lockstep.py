# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Lock-step of a bridge and a controller.

The bridge publishes the observation of a tick and waits for the targets of that tick. The
controller steps in the callback of the observation. No result depends on a clock, so a trial over
topics equals the same trial in one process.
"""

from __future__ import annotations

from collections.abc import Callable
import random
import time
import traceback
from typing import Any

from rclpy.node import Node

from gait_core.contracts import Controller
from gait_core.errors import ConfigurationError, describe_error
from gait_core.messages.reader import read_command, read_observation
from gait_core.motion.observation import missing_fields
from gait_core.trial.loop import TrialLoop
from gait_interfaces.msg import LockstepObservation, LockstepTargets
from gait_ros.messages.conversions import BUILDER, to_targets
from gait_ros.nodes.faults import CAUGHT_EXCEPTIONS
from gait_ros.nodes.qos import LOCKSTEP_QOS, guard_callback

# Time [s] without an answer after which an observation is published again.
_RESEND_TIME = 0.5
# Time [s] for which the bridge polls without sleeping. If both processes have their own core, an
# answer comes within half a millisecond. On a loaded machine the bridge must sleep, so that the
# controller gets its core: polling for longer made a tick take up to twice as long.
_BUSY_TIME = 6e-4
# Sleep [s] between two polls after that.
_SLEEP_TIME = 2e-5


class NextSpin:
    """
    Awaitable that lets the executor run other callbacks before the coroutine continues.

    Parameters
    ----------
    executor
        Executor to wake, so that the coroutine continues at once. None: it continues at the next
        event or at the end of the wait of the executor; with an EventsExecutor also at once.
    nap : float [s]
        Time to sleep first, so that a waiting coroutine does not use all processor time.

    """

    def __init__(self, executor: Any = None, nap: float = 0.0) -> None:
        self._executor, self._nap = executor, nap

    def __await__(self) -> Any:
        if self._nap:
            time.sleep(self._nap)
        if self._executor is not None:
            self._executor.wake()
        yield


class LockstepServer:
    """Lock-step of a bridge: requests the targets of one tick at a time."""

    def __init__(self, node: Node) -> None:
        self._publisher = node.create_publisher(
            LockstepObservation, '~/lockstep/observation', LOCKSTEP_QOS
        )
        topic = '~/lockstep/targets'
        self._subscription = node.create_subscription(
            LockstepTargets, topic, guard_callback(node, topic, self._on_targets), LOCKSTEP_QOS
        )
        # Last observation, its answer, and the time [s] of its last publication.
        self._question: LockstepObservation | None = None
        self._answer: LockstepTargets | None = None
        self._send_time = 0.0

    def request_targets(self, trial_id: str, loop: TrialLoop) -> None:
        """Publish the observation of the present tick, and drop older answers."""
        last = self._question
        is_first = last is None or last.trial_id != trial_id
        self._question = LockstepObservation(
            trial_id=trial_id,
            tick=loop.tick,
            seed=loop.controller_seed if is_first else last.seed,
            dt=loop.dt,
            command=BUILDER.command(loop.command),
            observation=BUILDER.observation(loop.observation),
        )
        self._answer = None
        self._send()

    def poll(self) -> LockstepTargets | None:
        """Return the answer if it has come; publish an old observation again."""
        if self._answer is None and time.monotonic() - self._send_time > _RESEND_TIME:
            self._send()
        return self._answer

    def next_spin(self) -> NextSpin:
        """Return the awaitable to await before the next ``poll``."""
        is_early = time.monotonic() - self._send_time < _BUSY_TIME
        return NextSpin(nap=0.0 if is_early else _SLEEP_TIME)

    def close(self) -> None:
        """Ignore answers from now on."""
        self._question = None
        self._answer = None

    def _send(self) -> None:
        self._send_time = time.monotonic()
        self._publisher.publish(self._question)

    def _on_targets(self, message: LockstepTargets) -> None:
        """Keep the first answer to the last observation; ignore late and repeated answers."""
        question = self._question
        if question is None or self._answer is not None:
            return
        if (message.trial_id, message.tick) == (question.trial_id, question.tick):
            self._answer = message


class LockstepClient:
    """
    Lock-step of a controller: steps it for each observation and publishes its targets.

    Parameters
    ----------
    node : Node
    controller : Controller
        It is reset with the seed of the trial at tick 0, and must not be stepped elsewhere.
    bridge : str
        Name of the node of the bridge, relative to the namespace of this node.
    delay : callable
        Returns the longest random delay of an answer in wall time [s], for tests of the equality.
    stopped : callable
        Returns the reason why there are no targets, with which the bridge ends its trial; empty:
        there are targets.

    """

    def __init__(
        self,
        node: Node,
        controller: Controller,
        bridge: str,
        delay: Callable[[], float],
        stopped: Callable[[], str],
    ) -> None:
        self._node = node
        self._controller = controller
        self._delay, self._stopped = delay, stopped
        self._random = random.Random()
        self._answered: LockstepTargets | None = None
        self._publisher = node.create_publisher(
            LockstepTargets, f'{bridge}/lockstep/targets', LOCKSTEP_QOS
        )
        topic = f'{bridge}/lockstep/observation'
        self._subscription = node.create_subscription(
            LockstepObservation,
            topic,
            guard_callback(node, topic, self._on_observation),
            LOCKSTEP_QOS,
        )

    def close(self) -> None:
        """Destroy subscription and publisher."""
        self._node.destroy_subscription(self._subscription)
        self._node.destroy_publisher(self._publisher)

    def _on_observation(self, message: LockstepObservation) -> None:
        """Step the controller and publish its targets, or the reason why there are none."""
        last = self._answered
        if last is not None and last.trial_id == message.trial_id and message.tick <= last.tick:
            if message.tick == last.tick:
                # A repeated observation gets the same answer, without another step.
                self._publisher.publish(last)
            return
        # Random delays show in tests that results do not depend on the time of an answer.
        time.sleep(self._random.uniform(0.0, self._delay()))
        self._answered = LockstepTargets(trial_id=message.trial_id, tick=message.tick)
        try:
            if stopped := self._stopped():
                raise ConfigurationError(stopped)
            self._answered.targets = to_targets(self._step(message, last))
        except CAUGHT_EXCEPTIONS as error:
            self._node.get_logger().debug(traceback.format_exc())
            self._answered.error = describe_error(error)
        self._publisher.publish(self._answered)

    def _step(self, message: LockstepObservation, last: LockstepTargets | None) -> Any:
        """Return the targets of a tick, which must follow the last tick or begin a trial."""
        observation = read_observation(message.observation)
        if message.tick == 0:
            self._controller.reset(message.seed)
            absent = missing_fields(observation, self._controller.needs)
            if absent:
                raise ConfigurationError(
                    f'the controller needs {", ".join(absent)}, which the bridge does not report'
                )
        elif last is None or last.trial_id != message.trial_id or message.tick != last.tick + 1:
            raise ConfigurationError(
                f'tick {message.tick} of trial {message.trial_id} does not follow the last tick '
                'of this controller'
            )
        return self._controller.step(message.dt, read_command(message.command), observation)
