"""A sim_bridge seen from outside: trials are asked for, watched by heartbeat, and cancelled."""

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
    """A worker that neither answers nor moves; its trial may be given to another."""


class TrialRefused(ConfigurationError):
    """
    A trial that a worker did not finish; the message is the worker's.

    Attributes
    ----------
    result : TrialResult or None
        Result, if the failure was the trial's own fault.
    shortage : bool
        Whether the worker's machine ran out of memory, files or disk.

    """

    def __init__(self, message: str, result: TrialResult | None, shortage: bool) -> None:
        super().__init__(message)
        self.result, self.shortage = result, shortage


class WorkerClient:
    """
    One worker. All calls return at once; whoever owns the node spins it and polls.

    Parameters
    ----------
    node : Node
        Of the caller.
    name : str
        Full name of the worker's node, e.g. ``/worker0/sim_bridge``.
    hang : float [s]
        Time without a heartbeat or a control period after which it counts as lost.

    """

    def __init__(self, node: Node, name: str, hang: float = HANG_TIME) -> None:
        self.name = name
        self._hang = hang
        self._clock = WatchClock()
        self._heard = self._clock.now()
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
        """True if the worker answers and is active."""
        active = self.status is not None and self.status.state != WorkerStatus.INACTIVE
        return bool(active and self._run.service_is_ready())

    @property
    def is_silent(self) -> bool:
        """True if no heartbeat came for so long that it would lose a trial."""
        return self._clock.now() - self._heard > self._hang

    @property
    def is_loading(self) -> bool:
        """True if its last heartbeat shows it loading or compiling for the submitted trial."""
        status = self.status
        if status is None or status.trial_id != self._trial_id:
            return False
        return bool(status.compiling)

    @property
    def is_busy(self) -> bool:
        """True if a trial was submitted whose end was not polled yet."""
        return self._future is not None

    def submit(self, spec: TrialSpec, *, external: bool = False, record: str = '') -> str:
        """
        Ask for a trial and return its id.

        Parameters
        ----------
        spec : TrialSpec
        external : bool
            A controller node in lock-step runs the controller.
        record : str
            Folder for the rollout's record on the worker's machine; empty: none.

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
        self._last_progress = self._heard = self._clock.now()
        self._periods = -1
        return self._trial_id

    def poll(self) -> TrialResult | None:
        """
        Return the result once it is there.

        Raises
        ------
        TrialRefused
            If the worker refuses the trial; the message is the worker's.
        ConfigurationError
            If it ran another trial than was sent, by the hash of the specification.
        WorkerLost
            After ``hang`` seconds; the trial's late answer is dropped.

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
                    f'{self.name} read a trial differently from what was sent: it has another '
                    'version'
                )
            return done
        now = self._clock.now()
        reason = ''
        if now - self._heard > self._hang:
            reason = f'no heartbeat for {self._hang:g} s'
        elif now - self._last_progress > self._hang:
            reason = f'ran no control period for {self._hang:g} s'
        if reason:
            self.forget_trial()
            raise WorkerLost(f'{self.name} is lost: {reason}')
        return None

    def cancel(self) -> None:
        """Ask the worker to end the running trial; its result then comes as usual."""
        self._cancel.call_async(CancelTrial.Request(trial_id=self._trial_id))

    def forget_trial(self) -> None:
        """Forget the running trial and whatever answer may still come."""
        if self._future is not None:
            self._run.remove_pending_request(self._future)
            self._future = None

    def close(self) -> None:
        """Leave the worker alone."""
        self.forget_trial()
        self._node.destroy_client(self._run)
        self._node.destroy_client(self._cancel)
        self._node.destroy_subscription(self._subscription)

    def _on_status(self, message: WorkerStatus) -> None:
        self.status = message
        self._heard = self._clock.now()
        moved = message.periods != self._periods
        if moved or message.compiling or message.state == WorkerStatus.PAUSED:
            self._last_progress = self._heard
        self._periods = message.periods
