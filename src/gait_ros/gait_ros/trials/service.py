# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Trials as the services ``~/run_trial`` and ``~/cancel_trial``, between other callbacks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
import time
import traceback
from typing import Any, Protocol

from rclpy.callback_groups import ReentrantCallbackGroup

from gait_core.contracts import Controller
from gait_core.errors import (
    BadCommand,
    ConfigurationError,
    SimulationDiverged,
    describe_error,
    excerpt,
)
from gait_core.processes import liveness
from gait_core.robot.name_checks import format_names
from gait_core.trial.failures import describe_exception, exception_result, is_resource_shortage
from gait_core.trial.loop import TrialLoop, result_without_ticks, start_trial, step_controller
from gait_core.trial.parts import cached_engine, load_trial_parts
from gait_core.trial.record import write_record
from gait_core.trial.spec import DIVERGED, TrialResult, invalid_status
from gait_interfaces.srv import CancelTrial, RunTrial
from gait_ros.messages.conversions import from_spec, from_targets, to_result
from gait_ros.nodes.managed import ManagedNode
from gait_ros.nodes.services import offer_service
from gait_ros.trials.lockstep import LockstepServer, NextSpin

# Wall time [s] of a trial between two turns of other callbacks; sleep [s] while it is paused.
_SLICE_TIME = 0.02
_PAUSE_SLEEP = 0.005

# Longest wait [s] for an answer to a step that a request may ask for.
_MAX_ANSWER_TIMEOUT = 3600.0
UNKNOWN_JOINTS = 'unknown joints'
"""Kind of the warning of commanded joints that the robot does not have."""


class TrialHost(Protocol):
    """Node that runs trials."""

    def on_trial_begin(self, loop: TrialLoop) -> None:
        """Start publishing a trial, which is at tick 0."""

    def on_trial_tick(self, loop: TrialLoop) -> None:
        """Publish the present tick of the trial."""

    def on_trial_end(self) -> None:
        """Return to the state before a trial that has begun."""

    def is_paused(self) -> bool:
        """Return whether simulations are paused."""

    def answer_timeout(self) -> float:
        """Return the longest wait [s] for targets in lock-step if the request has none."""

    def record_folder(self) -> Path:
        """Return the folder in which requests may name folders for records."""

    def warn_on_change(self, kind: str, text: str) -> None:
        """Log a line unless it equals the last line of its kind."""


@dataclass(kw_only=True)
class RunningTrial:
    """
    Running trial.

    Attributes
    ----------
    id : str
    loop : TrialLoop
    has_begun : bool
        Whether tick 0 has been published.
    is_cancelled : bool
        Whether its cancellation was requested.

    """

    id: str
    loop: TrialLoop
    has_begun: bool = False
    is_cancelled: bool = False


class TrialService:
    """
    Runner of one trial at a time, with its own controller or with a controller in lock-step.

    Parameters
    ----------
    node : ManagedNode
    host : TrialHost

    Attributes
    ----------
    running : RunningTrial or None

    """

    def __init__(self, node: ManagedNode, host: TrialHost) -> None:
        self._node, self._host = node, host
        self.running: RunningTrial | None = None
        self._lockstep = LockstepServer(node)
        # Reentrant, so that a second request is refused while a trial is running.
        offer_service(node, RunTrial, '~/run_trial', self._on_run, ReentrantCallbackGroup())
        offer_service(node, CancelTrial, '~/cancel_trial', self._on_cancel)

    @property
    def id(self) -> str:
        """Id of the running trial; empty without one."""
        return self.running.id if self.running is not None else ''

    def refuse_during_trial(self) -> None:
        """Raise ConfigurationError while a trial is running."""
        if self.running is not None:
            raise ConfigurationError(f'trial {self.running.id} is running')

    def cancel(self) -> None:
        """End the running trial, if any, before its next tick."""
        if self.running is not None:
            self.running.is_cancelled = True

    async def _on_run(
        self, request: RunTrial.Request, response: RunTrial.Response
    ) -> RunTrial.Response:
        """Run a requested trial and answer with its result, while other callbacks run."""
        response.trial_id = request.trial_id
        try:
            loop = self._admit(request)
        except Exception as error:
            if not is_resource_shortage(error):
                raise
            self._answer_failure(None, error, response)
            return response
        trial = self.running = RunningTrial(id=request.trial_id, loop=loop)
        try:
            response.result = to_result(await self._run(trial, request))
            response.success = True
        # Catch everything, including sys.exit of a controller: an exception that leaves a
        # coroutine ends the process on an EventsExecutor.
        except (Exception, SystemExit) as error:
            self._answer_failure(trial, error, response)
        finally:
            liveness.set_activity(liveness.IDLE)
            self.running = None
            self._lockstep.close()
            if trial.has_begun:
                self._host.on_trial_end()
        return response

    def _admit(self, request: RunTrial.Request) -> TrialLoop:
        """Return the loop of a requested trial, or raise the reason of its refusal."""
        if not self._node.active:
            raise ConfigurationError('this sim_bridge is not active')
        self.refuse_during_trial()
        if not request.trial_id:
            raise ConfigurationError('trial_id is empty')
        if not 0.0 <= request.answer_timeout <= _MAX_ANSWER_TIMEOUT:
            raise ConfigurationError(
                f'answer_timeout is {request.answer_timeout:g} s, expected 0, which means that of '
                f'the bridge, to {_MAX_ANSWER_TIMEOUT:g}'
            )
        spec = from_spec(request.spec)
        # Loading may take long: the state keeps a client from taking it for a hanging trial.
        liveness.set_activity(liveness.STARTING)
        try:
            load_trial_parts(spec)
            loop = TrialLoop(spec, cached_engine(spec.scene.engine))
        except BaseException:
            liveness.set_activity(liveness.IDLE)
            raise
        liveness.set_activity(liveness.RUNNING)
        return loop

    def _answer_failure(
        self, trial: RunningTrial | None, error: BaseException, response: RunTrial.Response
    ) -> None:
        """Answer a trial that raised an exception, as shortage, mistake of the user or status."""
        response.message = describe_exception(error)
        if is_resource_shortage(error):
            response.shortage = True
            return
        mistake = isinstance(error, ConfigurationError)
        if not mistake:
            self._node.get_logger().error(traceback.format_exc())
        if trial is not None:
            response.result = to_result(exception_result(trial.loop.original_spec, error))
            response.success = not mistake

    async def _run(self, trial: RunningTrial, request: RunTrial.Request) -> TrialResult:
        """Return the result of a trial, from its settling to its record."""
        loop = trial.loop
        try:
            if request.external_controller:
                loop.begin()
            else:
                controller = start_trial(loop)
        except SimulationDiverged as error:
            return result_without_ticks(loop.original_spec, DIVERGED, str(error))
        # Made before the trial, so that a bad path does not cost a finished trial.
        record = self._make_record_folder(request.record) if request.record else None
        trial.has_begun = True
        self._host.on_trial_begin(loop)
        if request.external_controller:
            await self._run_external(trial, request.answer_timeout)
        else:
            await self._run_internal(trial, controller)
        if loop.unknown_joints:
            self._host.warn_on_change(
                UNKNOWN_JOINTS,
                f'{UNKNOWN_JOINTS} are ignored: {format_names(loop.unknown_joints)}',
            )
        result = loop.result()
        if record is not None:
            write_record(record, loop.rollout(), result)
        return result

    def _make_record_folder(self, name: str) -> Path:
        """Return the folder of a record; ConfigurationError if it is outside of the worker's."""
        try:
            own = self._host.record_folder().resolve()
            folder = (own / name).resolve()
            if not folder.is_relative_to(own):
                raise ConfigurationError(
                    f"'{excerpt(name)}' is not in the folder {own} of this worker; nearest valid: "
                    f"'{excerpt(folder.name)}'"
                )
            folder.mkdir(parents=True, exist_ok=True)
        except (OSError, RuntimeError, ValueError) as error:
            raise ConfigurationError(f'record: {describe_error(error)}') from error
        return folder

    async def _run_internal(self, trial: RunningTrial, controller: Controller) -> None:
        """Run a trial in slices of wall time, and other callbacks between them."""
        loop = trial.loop
        while loop.is_running:
            end = time.monotonic() + _SLICE_TIME
            while loop.is_running and not self._must_wait(trial):
                step_controller(loop, controller)
                self._host.on_trial_tick(loop)
                if time.monotonic() > end:
                    break
            await NextSpin(
                self._node.executor, nap=_PAUSE_SLEEP if self._host.is_paused() else 0.0
            )

    async def _run_external(self, trial: RunningTrial, timeout: float) -> None:
        """Run a trial with a controller in lock-step; end it if an answer is late."""
        loop = trial.loop
        limit = timeout or self._host.answer_timeout()
        while loop.is_running:
            self._lockstep.request_targets(trial.id, loop)
            request_time = time.monotonic()
            answer = None
            while answer is None and loop.is_running:
                await self._lockstep.next_spin()
                if self._must_wait(trial):
                    request_time = time.monotonic()
                    continue
                answer = self._lockstep.poll()
                if answer is None and time.monotonic() - request_time > limit:
                    loop.end(
                        invalid_status('no_command'),
                        f'no targets for tick {loop.tick} within {limit:g} s',
                    )
            if answer is not None:
                self._apply(loop, answer)

    def _apply(self, loop: TrialLoop, answer: Any) -> None:
        if answer.error:
            loop.end(invalid_status('bad_command'), answer.error)
            return
        try:
            loop.advance(from_targets(answer.targets))
        except BadCommand as error:
            loop.end(invalid_status('bad_command'), str(error))
            return
        self._host.on_trial_tick(loop)

    def _must_wait(self, trial: RunningTrial) -> bool:
        """End a trial if it was cancelled; return whether it must not continue now."""
        if trial.is_cancelled:
            trial.loop.end(invalid_status('cancelled'), 'cancelled on request')
        return trial.is_cancelled or self._host.is_paused()

    def _on_cancel(
        self, request: CancelTrial.Request, response: CancelTrial.Response
    ) -> CancelTrial.Response:
        if self.running is None or request.trial_id not in ('', self.running.id):
            response.message = f"no trial '{request.trial_id}' is running"
            return response
        self.cancel()
        response.success = True
        return response
