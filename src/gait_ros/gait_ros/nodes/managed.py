# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Lifecycle nodes that configure and activate themselves."""

from __future__ import annotations

import sys
import traceback
from typing import Any

from lifecycle_msgs.srv import (
    ChangeState,
    GetAvailableStates,
    GetAvailableTransitions,
    GetState,
)
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn

from gait_core.errors import ConfigurationError, describe_error
from gait_ros.nodes.faults import CAUGHT_EXCEPTIONS, destroyed_if_refused
from gait_ros.nodes.parameter_files import check_parameter_files
from gait_ros.nodes.rclpy_release import refuse_transitions
from gait_ros.nodes.services import SERVICE_QOS, resend_dropped_responses

_SUCCESS = TransitionCallbackReturn.SUCCESS
_SERVICES = {
    'change_state': ChangeState,
    'get_state': GetState,
    'get_available_states': GetAvailableStates,
    'get_available_transitions': GetAvailableTransitions,
    'get_transition_graph': GetAvailableTransitions,
}


class ManagedNode(LifecycleNode):
    """
    Lifecycle node that configures and activates itself unless ``autostart`` is false.

    Subclasses override ``configure``, ``activate``, ``deactivate`` and ``cleanup``. If one of the
    first two raises an exception, the transition fails, the log has the reason, and the node keeps
    its state. The owner of the node calls ``start`` once.

    Attributes
    ----------
    autostart : bool
    arguments : tuple of str
        Command line of the process and of the node.
    active : bool
        Whether the node is active.
    """

    autostart = True

    def __init__(self, name: str, **kwargs: Any) -> None:
        # LifecycleNode's own services queue 10 requests and lose the rest of a burst.
        super().__init__(name, enable_communication_interface=False, **kwargs)
        self.arguments = (*sys.argv, *(kwargs.get('cli_args') or ()))
        self.active = False
        self._refusal: BaseException | None = None
        with destroyed_if_refused(self):
            for service, kind in _SERVICES.items():
                answer = getattr(self, f'_LifecycleNodeMixin__on_{service}')
                if kind is ChangeState:
                    answer = refuse_transitions(answer)
                self.create_service(kind, f'~/{service}', answer, qos_profile=SERVICE_QOS)
            # Those of parameters too, which rclpy has created.
            for offered in self.services:
                resend_dropped_responses(self, offered)
            check_parameter_files(self, self.arguments)

    def destroy_node(self) -> None:
        """
        Deactivate and destroy the node, with the lifecycle services that rclpy does not destroy.

        The deactivation makes the robot hold when a signal or an exception ends the node.
        """
        if self.active:
            self.active = False
            try:
                self.deactivate()
            except CAUGHT_EXCEPTIONS as error:
                self.get_logger().error(f'deactivating failed: {describe_error(error)}')
        super().destroy_node()
        self._state_machine.destroy_when_not_in_use()

    def configure(self) -> None:
        """Acquire resources, without acting on messages yet."""

    def activate(self) -> None:
        """Start publishing and acting on messages."""

    def deactivate(self) -> None:
        """Stop publishing and acting."""

    def cleanup(self) -> None:
        """Release what ``configure`` acquired."""

    def start(self) -> None:
        """Configure and activate the node if ``autostart`` is true; raise its error if any."""
        if not self.autostart:
            return
        for trigger in (self.trigger_configure, self.trigger_activate):
            if trigger() != _SUCCESS:
                raise self._refusal or ConfigurationError(f'{self.get_name()} could not start')

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Run ``configure`` for the transition."""
        return self._attempt(self.configure, self.active)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Run ``activate`` for the transition."""
        return self._attempt(self.activate, True)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Run ``deactivate`` for the transition."""
        self.active = False
        self.deactivate()
        return _SUCCESS

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Run ``cleanup`` for the transition."""
        self.cleanup()
        return _SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Run ``deactivate``, if the node is active, and ``cleanup`` for the transition."""
        if self.active:
            self.active = False
            self.deactivate()
        self.cleanup()
        return _SUCCESS

    def _attempt(self, action: Any, active_after: bool) -> TransitionCallbackReturn:
        """Run a transition; keep and log an exception, and fail."""
        self._refusal = None
        try:
            action()
        except CAUGHT_EXCEPTIONS as error:
            self._refusal = error
            self.get_logger().error(describe_error(error))
            self.get_logger().debug(traceback.format_exc())
            return TransitionCallbackReturn.FAILURE
        self.active = active_after
        return _SUCCESS
