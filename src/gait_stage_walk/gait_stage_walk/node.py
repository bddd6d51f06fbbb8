# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Node ``stage_walk``: a walk in stages; by default the staged walk on the guroo."""

from __future__ import annotations

import sys

if __name__ == '__main__':
    # A signal ends the imports below without a traceback.
    from gait_stage_walk.executables import stage_walk_node

    sys.exit(stage_walk_node())

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, cast

from gait_core.errors import ConfigurationError, unknown_name_error
from gait_interfaces.srv import SetBehaviour
from gait_ros.live.node import ControllerNode
from gait_ros.nodes.parameters import DeclaredParameters, from_parameter_values
from gait_ros.nodes.run import run_node
from gait_ros.nodes.services import offer_service
from gait_stage_walk.behaviours.kinds import BEHAVIOUR_KINDS
from gait_stage_walk.behaviours.mixer import WALK, Mixer
from gait_stage_walk.staged.controller import StagedWalkController

PARAMETER_PREFIX = 'behaviour'
"""Prefix of the parameters of behaviours: ``behaviour.<name>.<parameter>``."""


class StageWalkNode(ControllerNode):
    """Node that runs a walk and, with the staged walk, behaviours started by a service."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('stage_walk', robot='guroo', controller='staged_walk', **kwargs)
        self._parameters_mixer: Mixer | None = None
        """Mixer whose behaviours have parameters on the node; a reset makes another mixer."""
        self._behaviours: dict[str, DeclaredParameters[Any]] = {}
        if isinstance(self.controller, StagedWalkController):
            offer_service(self, SetBehaviour, '~/set_behaviour', self._on_set_behaviour)
            self.create_timer(1.0, self._forget_finished, clock=self._steady)

    @property
    def _mixer(self) -> Mixer:
        return cast(StagedWalkController, self.controller).mixer

    def behaviour(self) -> str:
        """Return the names of the running behaviours, in order, separated by commas."""
        if not isinstance(self.controller, StagedWalkController):
            return ''
        return ','.join(row.name for row in self._mixer.running)

    def requests_motion(self) -> bool:
        """Return whether a behaviour runs that the service started: it moves without a walk."""
        if not self._behaviours or self._parameters_mixer is not self._mixer:
            return False
        return any(row.name in self._behaviours for row in self._mixer.running)

    def _on_set_behaviour(
        self, request: SetBehaviour.Request, response: SetBehaviour.Response
    ) -> SetBehaviour.Response:
        """Answer the service ``~/set_behaviour`` with the running behaviours."""
        self.handle_due_work()
        self._forget_finished()
        try:
            self._handle_request(request)
            self._safe.layer.start_blend()
            response.success = True
        except ConfigurationError as error:
            response.message = str(error)
        self._forget_finished()
        running = self._mixer.running
        response.names = [row.name for row in running]
        response.kinds = [row.kind for row in running]
        response.actions = [row.action for row in running]
        response.available = [*BEHAVIOUR_KINDS, WALK]
        return response

    def _handle_request(self, request: SetBehaviour.Request) -> None:
        """Start, stop, set or list; ConfigurationError for an unknown request or a bad value."""
        values = from_parameter_values(request.parameters)
        match request.request:
            case SetBehaviour.Request.START:
                if refusal := self._walk_refusal():
                    raise ConfigurationError(f'the robot cannot move: {refusal}')
                self._start_behaviour(request, values)
            case SetBehaviour.Request.STOP if request.name == WALK:
                self._gait.set({'stop': True})
            case SetBehaviour.Request.STOP:
                self._mixer.stop(request.name)
            case SetBehaviour.Request.SET:
                self._set_parameters(request.name, values)
            case SetBehaviour.Request.LIST | '':
                return
            case _:
                actions = SetBehaviour.Request
                valid = (actions.START, actions.STOP, actions.SET, actions.LIST)
                raise unknown_name_error('request', request.request, valid)

    def _start_behaviour(self, request: SetBehaviour.Request, values: Mapping[str, Any]) -> None:
        """
        Start a behaviour and declare its parameters; or start the stopped walk again.

        The action of the request is ``add``, ``subtract`` or ``overwrite``: the effect of the
        behaviour on the joint velocities of those that were started before it.
        """
        if request.kind == WALK and self._mixer.find(WALK).params.stop:
            self._gait.set({'stop': False, **values})
            return
        started = self._mixer.start(
            request.kind, values, name=request.name, action=request.action or 'add'
        )
        name = started.name
        self._behaviours[name] = DeclaredParameters(
            self,
            type(started.params),
            prefix=f'{PARAMETER_PREFIX}.{name}',
            defaults=asdict(started.params),
            check=lambda params: self._mixer.changed_params(name, asdict(params)),
            on_change=lambda params: self._on_parameters(name, params),
        )

    def _on_parameters(self, name: str, params: Any) -> None:
        self._mixer.set(name, asdict(params))
        self._safe.layer.start_blend()

    def _set_parameters(self, name: str, values: Mapping[str, Any]) -> None:
        if name == WALK:
            self._gait.set(values)
        elif name in self._behaviours:
            self._behaviours[name].set(values)
        else:
            self._mixer.set(name, values)

    def _forget_finished(self) -> None:
        """Undeclare the parameters of behaviours that finished or that a reset removed."""
        running = (
            {row.name for row in self._mixer.running}
            if self._parameters_mixer is self._mixer
            else set()
        )
        self._parameters_mixer = self._mixer
        for name in [name for name in self._behaviours if name not in running]:
            self._behaviours.pop(name).undeclare()


def main(args: Sequence[str] | None = None) -> int:
    """Run the node until it is interrupted."""
    return run_node(StageWalkNode, args)
