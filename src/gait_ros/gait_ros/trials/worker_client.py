# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Client of a worker: requests trials, watches its heartbeat, and cancels trials."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from rclpy.node import Node

from gait_core.errors import ConfigurationError, ProtocolError
from gait_core.parameters.plain_data import sha256_of
from gait_core.processes.worker_policy import HANG_TIME, WatchClock
from gait_core.trial.spec import TrialResult, TrialSpec
from gait_interfaces.msg import WorkerStatus
from gait_interfaces.srv import CancelTrial, RunTrial
from gait_ros.messages.conversions import from_result, to_spec
from gait_ros.nodes.qos import STREAM_QOS


class WorkerLost(RuntimeError):
    """Loss of a worker that neither answers nor proceeds; another may run its trial."""


class TrialRefused(ConfigurationError):
    """
    Trial that a worker did not finish, with the message of the worker.

    Attributes
    ----------
    result : TrialResult or None
        Result, if the trial itself caused the failure.
    shortage : bool
        Whether the machine of the worker ran out of memory, files or disk space.

    """

    def __init__(self, message: str, result: TrialResult | None, shortage: bool) -> None:
        super().__init__(message)
        self.result, self.shortage = result, shortage


class WorkerClient:
    """
    Client of one worker. No call blocks; the owner of the node spins it and polls.

    Parameters
    ----------
    node : Node
        Node of the caller.
    name : str
        Full name of the node of the worker, e.g. ``/worker0/sim_bridge``.
    hang : float [s]
        Time without a heartbeat or a control period after which the worker is lost.

    Attributes
    ----------
    status : WorkerStatus or None
        Last heartbeat.

    """

    def __init__(self, node: Node, name: str, hang: float = HANG_TIME) -> None:
        self.name = name
        self._hang = hang
        self._clock = WatchClock()
        self._last_heartbeat = self._clock.now()
        self._periods = -1
        self.status: WorkerStatus | None = None
        self._node = node
        self._run = node.create_client(RunTrial, f'{name}/run_trial')
        self._cancel = node.create_client(CancelTrial, f'{name}/cancel_trial')
        self._subscription = node.create_subscription(
            WorkerStatus, f'{name}/worker_status', self._on_status, STREAM_QOS
        )
        self._future: Any = None
        self._trial_id = self._spec_hash = ''

    @property
    def is_ready(self) -> bool:
        """True if the worker is active and offers its service."""
        is_active = self.status is not None and self.status.state != WorkerStatus.INACTIVE
        return bool(is_active and self._run.service_is_ready())

    @property
    def is_silent(self) -> bool:
        """True if no heartbeat has come for the time after which the worker is lost."""
        return self._clock.now() - self._last_heartbeat > self._hang

    @property
    def is_loading(self) -> bool:
        """True if the worker loads or compiles for the submitted trial, by its last heartbeat."""
        status = self.status
        if status is None or status.trial_id != self._trial_id:
            return False
        return bool(status.compiling)

    @property
    def is_busy(self) -> bool:
        """True if the result of a submitted trial has not been polled yet."""
        return self._future is not None

    def submit(self, spec: TrialSpec, *, external: bool = False, record: str = '') -> str:
        """
        Request a trial and return its id.

        Parameters
        ----------
        spec : TrialSpec
        external : bool
            Whether a controller node in lock-step runs the controller.
        record : str
            Folder for the record of the rollout, within that of the worker; empty: no record.

        """
        if self.is_busy:
            raise ProtocolError(f'{self.name} is busy with trial {self._trial_id}')
        self._trial_id = uuid4().hex
        self._future = self._run.call_async(
            RunTrial.Request(
                trial_id=self._trial_id,
                spec=to_spec(spec),
                external_controller=external,
                record=record,
            )
        )
        self._spec_hash = sha256_of(spec)
        self._last_progress = self._last_heartbeat = self._clock.now()
        self._periods = -1
        return self._trial_id

    def poll(self) -> TrialResult | None:
        """
        Return the result of the submitted trial; None until it has come.

        Raises
        ------
        TrialRefused
            If the worker refuses the trial; the message is that of the worker.
        ConfigurationError
            If the worker ran another trial than was sent, by the hash of the specification.
        WorkerLost
            If the worker neither sends heartbeats nor proceeds; a late answer is dropped.
        ProtocolError
            If no trial was submitted.

        """
        if self._future is None:
            raise ProtocolError('poll without a submitted trial')
        if self._future.done():
            answer = self._future.result()
            self._future = None
            if not answer.success:
                result = from_result(answer.result) if answer.result.status else None
                raise TrialRefused(answer.message, result, answer.shortage)
            done = from_result(answer.result)
            if done.spec_hash != self._spec_hash:
                raise ConfigurationError(
                    f'{self.name} has another version of the suite: it decoded a different trial '
                    'than was sent'
                )
            return done
        now = self._clock.now()
        reason = ''
        if now - self._last_heartbeat > self._hang:
            reason = f'no heartbeat for {self._hang:g} s'
        elif now - self._last_progress > self._hang:
            reason = f'ran no control period for {self._hang:g} s'
        if reason:
            self._forget_trial()
            raise WorkerLost(f'{self.name} is lost: {reason}')
        return None

    def cancel(self) -> None:
        """Request the end of the running trial and drop its answer."""
        self._cancel.call_async(CancelTrial.Request(trial_id=self._trial_id))
        self._forget_trial()

    def close(self) -> None:
        """Destroy the clients and the subscription."""
        self._forget_trial()
        self._node.destroy_client(self._run)
        self._node.destroy_client(self._cancel)
        self._node.destroy_subscription(self._subscription)

    def _forget_trial(self) -> None:
        """Forget the running trial and drop its answer."""
        if self._future is not None:
            self._run.remove_pending_request(self._future)
            self._future = None

    def _on_status(self, message: WorkerStatus) -> None:
        self.status = message
        self._last_heartbeat = self._clock.now()
        has_advanced = message.periods != self._periods
        if has_advanced or message.compiling or message.state == WorkerStatus.PAUSED:
            self._last_progress = self._last_heartbeat
        self._periods = message.periods
