# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Engine ``mujoco``: rigid bodies by MuJoCo, with exact resets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import SimulationDiverged
from gait_core.motion.observation import Observation
from gait_core.motion.targets import AppliedTargets
from gait_core.processes import liveness
from gait_core.robot.load import load_robot
from gait_core.robot.model import RobotModel
from gait_core.trial.scene import Push, Scene
from sim_bridge.engines.mujoco.actuators import Actuators
from sim_bridge.engines.mujoco.client import mj
from sim_bridge.engines.mujoco.constraint_kernel import (
    add_servo_work,
    set_servo_targets,
    write_references,
)
from sim_bridge.engines.mujoco.force_kernel import add_torque_work, apply_push
from sim_bridge.engines.mujoco.ground import ContactLaw, GroundRayCaster
from sim_bridge.engines.mujoco.options import MujocoOptions
from sim_bridge.engines.mujoco.state import StateReader
from sim_bridge.engines.mujoco.world import World
from sim_bridge.engines.shared.scene_checks import (
    BALL_JOINTS,
    FORCE_ELEMENTS,
    GROUND_SPRINGS,
    RIGID_BODY_FEATURES,
    PushWindow,
)
from sim_bridge.engines.shared.scene_engine import SceneEngine, SceneStart


class _MujocoPush:
    """A push, as a wrench that MuJoCo applies to a body."""

    def __init__(self, push: Push, world: World, scene: Scene) -> None:
        self.window = PushWindow(push, scene, world.robot, world.merged)
        body = world.body_index(self.window.frame.link)
        # Views of MuJoCo's state. The force acts at the centre of mass of the pushed link, which
        # may be merged with others in the body: hence the lever from the body's centre of mass.
        self._wrench, self._rotation = world.data.xfrc_applied[body], world.data.xmat[body]
        self._lever: FloatArray = self.window.frame.position - world.model.body_ipos[body]
        self._force: FloatArray = np.array(push.force)

    def apply(self) -> None:
        """Add the push to the wrench on its body."""
        apply_push(self._wrench, self._rotation, self._lever, self._force)


class MujocoEngine(SceneEngine):
    """
    Rigid bodies and contacts by MuJoCo, with the options of ``MujocoOptions``.

    A physics step has two halves. In the first MuJoCo finds contacts and makes constraint rows;
    then actuators and contact law write reference accelerations and forces; in the second MuJoCo
    solves and integrates. The compiled model is kept while the scenes need the same one. Every
    reset clears the whole state, the warm start of the solver included.
    """

    name = 'mujoco'
    Options = MujocoOptions
    RayCaster = GroundRayCaster
    supported_features = (*RIGID_BODY_FEATURES, BALL_JOINTS, FORCE_ELEMENTS, GROUND_SPRINGS)

    def __init__(self, robots: Callable[[str, int], RobotModel] = load_robot) -> None:
        super().__init__(robots)
        self._world = World()

    def _build(self, start: SceneStart) -> None:
        """Set the world to the start of a scene; make actuators, contact law, reader, pushes."""
        world, robot, scene = self._world, start.robot, start.scene
        world.rebuild(start)
        self._actuators = Actuators(world, robot, scene)
        self._contact_law = ContactLaw(world, robot, scene, self._actuators)
        self._state = StateReader(world, robot, scene, self._actuators)
        self._step = scene.physics_step
        self._pushes = [_MujocoPush(push, world, scene) for push in scene.pushes]
        self._wrenches = world.data.xfrc_applied
        self._has_wrenches = bool(self._pushes or len(self._contact_law.soles))

    def _settle(self, positions: FloatArray, ticks: int) -> Observation:
        """Hold joint positions and element lengths, (m,), for ``ticks`` control periods."""
        self._actuators.hold_positions(positions, stiff=ticks > 0)
        observation = self._read(0)
        for _ in range(ticks):
            # Steps before tick 0 have negative indices, which lie in no window of a push.
            self._advance(-self._steps, self._steps)
            liveness.count_period()
            self._actuators.reset_work()
            observation = self._read(0)
        if ticks:
            self._actuators.end_hold()
        return observation

    def step(self, targets: AppliedTargets) -> Observation:
        """Advance one control period and return the state at its end."""
        self._check_ready()
        scaling, actuators, steps = self._scaling, self._actuators, self._steps
        # A scene with a length scale is simulated at that scale: its targets are scaled, too.
        if scaling is not None:
            targets = scaling.scale_targets(targets)
        actuator_targets = actuators.actuator_targets
        samples = actuator_targets.load(targets, steps)
        first, per_sample = self._tick * steps, steps // samples
        # If the physics diverges this stays false: only a reset is possible then.
        self._ready = False
        for sample in range(samples):
            if actuators.servos_only:
                position, velocity = (
                    actuator_targets.position[sample],
                    actuator_targets.velocity[sample],
                )
                set_servo_targets(actuators.servo_table, position, velocity)
            else:
                actuators.select_sample(sample)
            self._advance(first + sample * per_sample, per_sample)
        self._tick += 1
        observation = self._read(self._tick)
        self._ready = True
        return observation

    def _advance(self, first: int, steps: int) -> None:
        """
        Advance ``steps`` physics steps under the targets in force, from the step ``first`` on.

        Raises
        ------
        SimulationDiverged
            If MuJoCo ends with a fatal error, such as too little memory for the contacts.

        """
        actuators, contact_law, step = self._actuators, self._contact_law, self._step
        model, data = self._world.model, self._world.data
        servos, torques = actuators.servo_table, actuators.torque_table
        rows, slip, half_step = actuators.row_count, contact_law.slip_damping, actuators.half_step
        state, acceleration = actuators.state, data.qacc
        try:
            for index in range(steps):
                # First half: kinematics, contacts and constraint rows of the present state. Arrays
                # of rows (efc_...) are new in every step, so their views are taken after it.
                mj.mj_step1(model, data)
                references = data.efc_aref
                # Forces that follow from the state at the start of the step.
                if actuators.has_forces:
                    actuators.apply_forces(index * step)
                if self._has_wrenches:
                    self._apply_wrenches(first + index)
                if contact_law.has_springs:
                    contact_law.apply_springs(references)
                # References of servos and contacts. Servos are modelled by rows of dry friction.
                # MuJoCo orders rows: equalities, dry friction, joint limits (nl), contacts.
                contacts = rows + data.nl
                write_references(servos, state, references, data.efc_vel, contacts, slip)
                # Second half: constraint forces, accelerations, integration.
                mj.mj_step2(model, data)
                # Work needs the forces and accelerations that this step used.
                if actuators.has_servos:
                    add_servo_work(servos, step, data.efc_force, acceleration)
                if actuators.has_torques:
                    add_torque_work(torques, step, half_step, acceleration)
        except mj.FatalError as error:
            reason = ' '.join(str(error).split())
            raise SimulationDiverged(
                f'the physics ended with an error of MuJoCo: {reason}'
            ) from None

    def _apply_wrenches(self, step: int) -> None:
        """Apply the pushes of a step, counted from tick 0, and the springs of sticky soles."""
        self._wrenches[:] = 0.0
        for push in self._pushes:
            if push.window.within(step, step + 1):
                push.apply()
        if len(self._contact_law.soles):
            self._contact_law.pull_soles()

    def _observe(self, tick: int) -> Observation:
        return self._state.read(tick, self._contact_law)

    def _release(self) -> None:
        """Do nothing: MuJoCo frees model and data with the engine."""
