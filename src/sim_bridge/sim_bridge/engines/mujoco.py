"""The ``mujoco`` engine: MuJoCo behind the Engine contract, with exact resets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.contracts import Resumable
from gait_core.errors import ConfigurationError
from gait_core.robot.model import RobotModel
from gait_core.scene import Push, Scene
from sim_bridge.engines.bounds import (
    BALL_JOINTS,
    CARRIES,
    FORCE_ELEMENTS,
    GROUND_SPRINGS,
    PushWindow,
)
from sim_bridge.engines.mujoco_client import mj
from sim_bridge.engines.mujoco_kernel import ACTIVE
from sim_bridge.engines.mujoco_motors import Motors
from sim_bridge.engines.mujoco_options import MujocoOptions
from sim_bridge.engines.mujoco_rays import GroundRays
from sim_bridge.engines.mujoco_state import StateReader
from sim_bridge.engines.mujoco_world import World
from sim_bridge.engines.rigid_engine import RigidEngine
from sim_bridge.engines.rigid_states import StateLog

_ALL = int(mj.mjtState.mjSTATE_INTEGRATION)
"""What MuJoCo needs to continue; the table of the callback is among it."""


class _Shove:
    """A push as a column of the table: a wrench at the centre of mass of the body that has it."""

    def __init__(self, push: Push, world: World, scene: Scene, column: FloatArray) -> None:
        self.window = PushWindow(push, scene, world.full, world.fused)
        body = world.body(self.window.place.link)
        lever = self.window.place.position - world.model.body_ipos[body]
        column[:] = (body, 0.0, *lever, *push.force)
        self._column = column

    def act(self, acts: bool) -> None:
        """Push in the coming physics steps, or do not."""
        self._column[ACTIVE] = float(acts)


class MujocoEngine(RigidEngine[World, Motors, _Shove], Resumable):
    """
    Rigid bodies and contacts by MuJoCo; options are those of ``MujocoOptions``.

    The compiled model is kept while scenes need no other; every reset clears the whole state, the
    solver's memory included.
    """

    name = 'mujoco'
    Options = MujocoOptions
    Rays = GroundRays
    carries = (*CARRIES, BALL_JOINTS, FORCE_ELEMENTS, GROUND_SPRINGS)
    _state: StateReader

    def _open(self) -> World:
        return World()

    def _bind(
        self, world: World, robot: RobotModel, scene: Scene, options: MujocoOptions
    ) -> tuple[Motors, StateReader]:
        motors = Motors(world, robot, scene, options)
        return motors, StateReader(world, robot, scene, motors.table.pulls)

    def _shove(self, push: Push, world: World, scene: Scene) -> _Shove:
        return _Shove(push, world, scene, next(self._motors.table.push_columns))

    def _advance(self, steps: int) -> None:
        self._motors.drive(steps)

    def _advance_pushed(self, first: int, steps: int, pushes: Sequence[_Shove]) -> None:
        for index in range(first, first + steps):
            for push in pushes:
                push.act(push.window.within(index, index + 1))
            self._motors.drive(1)
        for push in pushes:
            push.act(False)

    def _play(self, log: StateLog, samples: int) -> None:
        first, end = self._tick * self._steps, (self._tick + len(log.rows)) * self._steps
        pushed = any(push.window.within(first, end) for push in self._pushes)
        if pushed or not (self._motors.plain and self._state.plain):
            super()._play(log, samples)
            return
        begun = self._tick
        while log.done < len(log.rows):
            self._state.play(log, self._motors, self._steps // samples)
            self._tick = begun + log.done

    def snapshot(self) -> dict[str, Any]:
        """
        Return the state, the solver's memory included; ProtocolError before a reset.

        Targets are no part of it: each control period brings its own.
        """
        self._check_ready()
        world = self._open_world()
        state: FloatArray = np.empty(mj.mj_stateSize(world.model, _ALL))
        mj.mj_getState(world.model, world.data, state, _ALL)
        return {
            'tick': self._tick,
            'state': state,
            **self._motors.snapshot(),
            **self._state.snapshot(),
        }

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """
        Continue from a snapshot of the same scene, after a reset of it; ProtocolError before one.

        What follows equals what followed the snapshot, to the last bit. ConfigurationError for a
        state of another size: it is of another robot, or of another contact law.
        """
        self._check_ready()
        world = self._open_world()
        found, needed = np.size(snapshot['state']), mj.mj_stateSize(world.model, _ALL)
        if found != needed:
            raise ConfigurationError(
                f'the snapshot is of another scene: {found} numbers of state, here {needed}'
            )
        mj.mj_setState(world.model, world.data, snapshot['state'], _ALL)
        self._motors.restore(snapshot)
        self._state.restore(snapshot)
        self._tick = int(snapshot['tick'])
