"""
Both ends of the lock-step channel.

The bridge publishes the observation of each tick and waits for the targets of that tick; the
controller steps in the callback of the observation. Neither reads a clock for what it computes,
so a trial over topics equals the same trial in one process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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

_RESEND_TIME = 0.5
# An answer comes within half a millisecond where both processes have a core of their own. Later
# the bridge waits asleep: a loaded machine then gives its core to the controller, and spinning hot
# for longer took up to twice as long per tick there.
_BUSY_TIME = 6e-4
_SLEEP_TIME = 2e-5


class NextSpin:
    """
    Awaitable that lets the executor's other callbacks run first.

    Parameters
    ----------
    executor
        Woken, so that it comes back at once; ``None``: at the next event, or when its wait ends.
        (An EventsExecutor comes back at once in any case.)
    nap : float [s]
        Slept first, so that a coroutine that only waits does not spin hot.

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
    """The bridge's end: asks for the targets of one tick at a time."""

    def __init__(self, node: Node) -> None:
        self._publisher = node.create_publisher(
            LockstepObservation, '~/lockstep/observation', LOCKSTEP_QOS
        )
        topic = '~/lockstep/targets'
        self._subscription = node.create_subscription(
            LockstepTargets, topic, guard_callback(node, topic, self._on_targets), LOCKSTEP_QOS
        )
        self._question: LockstepObservation | None = None
        self._answer: LockstepTargets | None = None
        self._asked = 0.0

    def request_targets(self, trial_id: str, loop: TrialLoop) -> None:
        """Publish what the controller sees at the present tick; forget older answers."""
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
        """Return the answer if it has come; repeat an old question for a late controller."""
        if self._answer is None and time.monotonic() - self._asked > _RESEND_TIME:
            self._send()
        return self._answer

    def next_spin(self) -> NextSpin:
        """Return what to await before the next ``poll``."""
        soon = time.monotonic() - self._asked < _BUSY_TIME
        return NextSpin(nap=0.0 if soon else _SLEEP_TIME)

    def close(self) -> None:
        """Drop answers that are still on their way."""
        self._question = None
        self._answer = None

    def _send(self) -> None:
        self._asked = time.monotonic()
        self._publisher.publish(self._question)

    def _on_targets(self, message: LockstepTargets) -> None:
        asked = self._question
        if asked is None or self._answer is not None:
            return
        if (message.trial_id, message.tick) == (asked.trial_id, asked.tick):
            self._answer = message


class LockstepClient:
    """
    The controller's end: steps a controller for each observation and publishes its answer.

    Parameters
    ----------
    node : Node
    controller : Controller
        Reset with the trial's seed at tick 0; nothing else may step it meanwhile.
    bridge : str
        Name of the bridge's node; relative names are resolved in this node's namespace.
    delay : callable
        Returns the longest random wall-clock delay of an answer [s]: for tests of the equality.
    stopped : callable
        Returns why no targets are to be given; empty: they are. The bridge then ends its trial.

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
        self.state: Mapping[str, float] = {}
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
        """Leave the channel."""
        self._node.destroy_subscription(self._subscription)
        self._node.destroy_publisher(self._publisher)

    def _on_observation(self, message: LockstepObservation) -> None:
        last = self._answered
        if last is not None and last.trial_id == message.trial_id and message.tick <= last.tick:
            if message.tick == last.tick:
                # The question was repeated: the answer is too, without another step.
                self._publisher.publish(last)
            return
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
        targets = self._controller.step(message.dt, read_command(message.command), observation)
        return targets
