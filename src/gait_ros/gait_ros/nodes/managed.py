"""Lifecycle nodes that start by themselves unless told otherwise."""

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
from gait_ros.nodes.faults import CAUGHT_EXCEPTIONS
from gait_ros.nodes.services import SERVICE_QOS

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
    A lifecycle node; subclasses override ``configure``, ``activate``, ``deactivate``, ``cleanup``.

    An error in ``configure`` or ``activate`` refuses that transition with its reason in the log,
    and the node stays where it was. Whoever constructs the node calls ``start`` once:
    it does both transitions where the ``autostart`` parameter says so, and lets the error out.
    """

    autostart = True

    def __init__(self, name: str, **kwargs: Any) -> None:
        # LifecycleNode's own services queue 10 requests and lose the rest of a burst.
        super().__init__(name, enable_communication_interface=False, **kwargs)
        for service, kind in _SERVICES.items():
            answer = getattr(self, f'_LifecycleNodeMixin__on_{service}')
            self.create_service(kind, f'~/{service}', answer, qos_profile=SERVICE_QOS)
        self.arguments = (*sys.argv, *(kwargs.get('cli_args') or ()))
        self.active = False
        self._refusal: BaseException | None = None

    def destroy_node(self) -> None:
        """
        Deactivate the node, and destroy it with its lifecycle services, which rclpy leaves.

        A node that ends by a signal or an exception is deactivated here, so that it holds.
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
        """Acquire what the node needs; nothing runs yet."""

    def activate(self) -> None:
        """Begin to publish and to act on messages."""

    def deactivate(self) -> None:
        """Stop publishing and acting."""

    def cleanup(self) -> None:
        """Release what ``configure`` acquired."""

    def start(self) -> None:
        """Configure and activate if the node is to do so by itself; raise what refuses it."""
        if not self.autostart:
            return
        for trigger in (self.trigger_configure, self.trigger_activate):
            if trigger() != _SUCCESS:
                raise self._refusal or ConfigurationError(f'{self.get_name()} could not start')

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Answer the transition with ``configure``."""
        return self._attempt(self.configure, self.active)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Answer the transition with ``activate``."""
        return self._attempt(self.activate, True)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Answer the transition with ``deactivate``."""
        self.active = False
        self.deactivate()
        return _SUCCESS

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Answer the transition with ``cleanup``."""
        self.cleanup()
        return _SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Answer the transition with ``deactivate`` and ``cleanup``, as far as they are due."""
        if self.active:
            self.active = False
            self.deactivate()
        self.cleanup()
        return _SUCCESS

    def _attempt(self, action: Any, active_after: bool) -> TransitionCallbackReturn:
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
