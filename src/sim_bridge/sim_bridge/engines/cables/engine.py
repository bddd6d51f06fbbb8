# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Engine ``cables``: free bodies, force elements and contact nodes in one compiled kernel."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.contracts import TapeEngine
from gait_core.kinematics.start_pose import root_poses_from_base
from gait_core.motion.observation import Observation
from gait_core.motion.state_tape import StateTape
from gait_core.motion.targets import AppliedTape, AppliedTargets
from gait_core.parameters.declaration import Parameters
from gait_core.processes import liveness
from gait_core.robot.load import load_robot
from gait_core.robot.model import RobotModel
from sim_bridge.engines.cables.kernel import (
    BodyMotion,
    CompiledScene,
    advance_period,
    allocate_buffers,
)
from sim_bridge.engines.cables.layout import (
    check_free_bodies,
    initial_body_states,
    make_ground,
    make_layout,
    make_pushes,
)
from sim_bridge.engines.cables.options import CablesOptions
from sim_bridge.engines.cables.state import StateReader
from sim_bridge.engines.shared.actuator_targets import ActuatorTargets
from sim_bridge.engines.shared.merged_joints import merge_joints
from sim_bridge.engines.shared.scene_checks import (
    CONTACT_NODES,
    FORCE_ELEMENTS,
    FREE_BODIES,
    PushWindow,
    divergence_error,
)
from sim_bridge.engines.shared.scene_engine import SceneEngine, SceneStart


class FreeBodies:
    """
    Free bodies of a scene and their ground, as the arrays of the kernel.

    Attributes
    ----------
    actuator_targets : ActuatorTargets
    layout, ground
        As of the kernel.
    state : (b, 13) array
    bristles : (c, 2) array [m]

    """

    engine_name: ClassVar[str] = 'cables'

    def rebuild(self, start: SceneStart) -> None:
        """Build the arrays of a scene with every body at its start pose, at rest."""
        robot, scene = start.robot, start.scene
        check_free_bodies(self.engine_name, robot, scene)
        self.actuator_targets = ActuatorTargets(robot, scene.physics_step)
        self.layout = make_layout(robot, scene.gravity, self.actuator_targets)
        self.ground = make_ground(scene, start.options, start.terrain)
        self.state = initial_body_states(robot, root_poses_from_base(robot, start.pose))
        self.bristles: FloatArray = np.zeros((len(robot.contact_nodes), 2))


class FreeBodiesEngine(SceneEngine):
    """Base of engines of free bodies on contact nodes; a subclass advances the bodies."""

    supported_features = (FREE_BODIES, FORCE_ELEMENTS, CONTACT_NODES, 'plane and height field')
    _bodies: FreeBodies

    @abstractmethod
    def _advance(self, targets: FloatArray, first: int) -> None:
        """Advance one control period under targets (3, K, e); ``first`` is its first step."""

    def _build(self, start: SceneStart) -> None:
        """Compile a scene: its bodies, its pushes and the buffers of its motion."""
        bodies, scene, robot = self._bodies, start.scene, start.robot
        bodies.rebuild(start)
        model = merge_joints(robot)
        windows = [PushWindow(push, scene, robot, model) for push in scene.pushes]
        self._compiled_scene = CompiledScene(
            layout=bodies.layout,
            ground=bodies.ground,
            pushes=make_pushes(windows, robot),
            dt=scene.physics_step,
            steps=self._steps,
        )
        self._motion = BodyMotion(bodies.state, bodies.bristles, allocate_buffers(bodies.layout))
        self._state = StateReader(robot, scene, bodies.layout)

    def _settle(self, positions: FloatArray, ticks: int) -> Observation:
        targets = np.zeros((3, 1, len(positions)))
        targets[0, 0] = positions
        observation = self._read(0)
        # Steps before tick 0 have negative indices, which lie in no window of a push.
        for tick in range(-ticks, 0):
            self._advance(targets, tick * self._steps)
            liveness.count_period()
            observation = self._read(0)
        return observation

    def _observe(self, tick: int) -> Observation:
        return self._state.read(tick, self._motion)

    def step(self, targets: AppliedTargets) -> Observation:
        """Advance one control period and return the state at its end."""
        self._check_ready()
        if self._scaling is not None:
            targets = self._scaling.scale_targets(targets)
        self._bodies.actuator_targets.load(targets, self._steps)
        target_rows = np.array((targets.position, targets.velocity, targets.effort))
        self._advance(target_rows, self._tick * self._steps)
        observation = self._read(self._tick + 1)
        self._tick += 1
        return observation


class CablesEngine(FreeBodiesEngine, TapeEngine):
    """
    Free rigid bodies with force elements and contact nodes, with the options of ``CablesOptions``.

    Semi-implicit Euler in every physics step: velocities from the forces at the start of the step,
    then positions from the new velocities (Korbel 2013). Bristles and dampers are explicit.
    """

    name = 'cables'
    Options: ClassVar[type[Parameters]] = CablesOptions

    def __init__(self, robots: Callable[[str, int], RobotModel] = load_robot) -> None:
        super().__init__(robots)
        self._bodies = FreeBodies()

    def _release(self) -> None:
        """Do nothing: the engine holds arrays only."""

    def _advance(self, targets: FloatArray, first: int) -> None:
        advance_period(self._compiled_scene, self._motion, targets, first)

    def rollout(self, tape: AppliedTape) -> StateTape:
        """
        Advance one control period per entry of a tape, in one compiled call.

        The states equal those of ``step`` to the last bit, and so do the errors.
        SimulationDiverged has the states up to the divergence.
        """
        self._check_ready()
        self._bodies.actuator_targets.load(tape[0], self._steps)
        if self._scaling is not None:
            tape = self._scaling.scale_tape(tape)
        targets = np.stack((tape.position, tape.velocity, tape.effort), axis=1)
        states = self._state.run_tape(self._compiled_scene, self._motion, targets, self._tick)
        if self._scaling is not None:
            observation = [
                self._scaling.unscale_observation(state, self._period) for state in states
            ]
            states = StateTape.from_states(observation)
        self._tick += len(states)
        if len(states) < len(tape):
            self._ready = False
            raise divergence_error(self._tick + 1, states)
        return states
