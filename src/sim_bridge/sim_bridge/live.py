# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Live simulation of a scene without a fixed end, free of messages and clocks."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TypeVar

import numpy as np

from gait_core import registry
from gait_core.arrays import FloatArray
from gait_core.errors import BadCommand, ConfigurationError, SimulationDiverged, excerpt
from gait_core.motion.observation import Observation
from gait_core.motion.targets import AppliedTargets, JointTargets, TargetMemory
from gait_core.motion.trajectory import Trajectory
from gait_core.robot.model import RobotModel
from gait_core.sensors.noise import SensorSimulator
from gait_core.trial.loop import SENSOR_SEED
from gait_core.trial.parts import initial_positions
from gait_core.trial.scene import Scene
from gait_core.trial.seeding import derived_seed

# [s]
_TIME_TOLERANCE = 1e-9
# Largest magnitude of a target [rad, m, rad/s, m/s, N m, N].
_MAX_TARGET = 1e6
_MAX_UNKNOWN_NAMES = 20
RESET_DEAD_TIME = 0.1
"""Time from tick 0 for which commands are ignored after a reset of a commanded simulation [s]."""

CommandT = TypeVar('CommandT', JointTargets, Trajectory)


class LiveSimulation:
    """
    One live scene in an engine of its own, under the last targets received.

    Targets are applied from the next tick on. A joint without a command holds its initial
    position. At the end of a trajectory its last positions are held, at zero velocity and effort.

    Parameters
    ----------
    scene : Scene
    seed : int
        Seed of the engine.
    dead_time : float [s]
        Time from tick 0 for which commands are ignored: after a reset they still come from a
        controller in the middle of its gait.
    settle_time : float or None [s]
        Start as a trial does: settle for that time, then wait without physics for the first
        command. ``None``: physics run from tick 0, without settling.

    Raises
    ------
    ConfigurationError
        If the scene cannot be simulated.

    """

    def __init__(
        self, scene: Scene, seed: int, dead_time: float = 0.0, settle_time: float | None = None
    ) -> None:
        self.scene = scene
        self._settle_time = settle_time
        self._waiting = settle_time is not None
        self.seed = seed
        self.tick = 0
        self.is_commanded = False
        self.command_count = 0
        """Number of commands received."""
        self.applied: AppliedTargets | None = None
        self._dead_time = dead_time
        self._unknown: set[str] = set()
        self.engine = registry.engine(scene.engine)()
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def _begin(self) -> None:
        """Reset the engine; initialise sensors and targets."""
        try:
            ticks = round((self._settle_time or 0.0) / self.dt)
            self.observation = self.engine.reset(self.scene, self.seed, ticks)
        except SimulationDiverged as error:
            raise ConfigurationError(
                f'the simulation of this scene diverges before its first tick: {error}'
            ) from error
        self._sensors = SensorSimulator(self.scene.sensors, derived_seed(self.seed, SENSOR_SEED))
        self.noisy_observation = self._sensors.read(self.observation)
        names = self.robot.target_names
        self._index = {name: i for i, name in enumerate(names)}
        self._targets = initial_positions(self.robot, self.scene)
        self._memory = TargetMemory(names, self._targets)
        self._pending: tuple[JointTargets, ...] = ()
        self._trajectory: Trajectory | None = None
        self._started = 0.0
        self._start: FloatArray = np.zeros(0)

    def close(self) -> None:
        """Release the engine."""
        self.engine.close()

    @property
    def robot(self) -> RobotModel:
        """The simulated robot."""
        return self.engine.robot

    @property
    def dt(self) -> float:
        """Control period [s]."""
        return self.scene.control_period

    @property
    def unknown_joints(self) -> frozenset[str]:
        """Names in commands that the robot does not have; their targets were ignored."""
        return frozenset(self._unknown)

    def command(self, *targets: JointTargets) -> None:
        """
        Command targets, which are applied in their order at the next tick.

        Raises
        ------
        BadCommand
            If a value is larger than any joint can have.

        """
        usable = [self._known_part(command) for command in targets]
        self.is_commanded = True
        self.command_count += 1
        targets = tuple(command for command in usable if command.names)
        if self._ignores_commands() or not targets:
            return
        self._waiting = False
        for earlier in self._pending:
            # Earlier command in the same tick: joints that the new one does not name keep its
            # targets.
            self._memory.resolve(earlier)
        self._pending, self._trajectory = targets, None

    def follow(self, trajectory: Trajectory, delay: float = 0.0) -> None:
        """
        Follow a trajectory that starts after a delay [s]; negative: it has started already.

        Raises
        ------
        BadCommand
            If a value is larger than any joint can have.

        """
        trajectory = self._known_part(trajectory)
        self.is_commanded = True
        self.command_count += 1
        if self._ignores_commands() or not trajectory.names:
            return
        self._waiting = False
        self._trajectory, self._pending = trajectory, ()
        self._started = self.tick * self.dt + delay
        self._start = np.array([self._targets[self._index[name]] for name in trajectory.names])

    def step(self) -> Observation:
        """Advance one control period; SimulationDiverged if the physics diverges."""
        if self._waiting:
            self.tick += 1
            return self.observation
        applied = self._memory.resolve(self._next_targets())
        self._targets = applied.position[-1]
        self.observation = self.engine.step(applied)
        self.noisy_observation = self._sensors.read(self.observation)
        self.tick += 1
        self.applied = applied
        return self.observation

    def _known_part(self, command: CommandT) -> CommandT:
        """Return the part of a command for joints of this robot; remember the other names."""
        names, fields = command.names, {}
        known = [i for i, name in enumerate(names) if name in self._index]
        others = (name for name in names if name not in self._index)
        self._unknown.update(islice(others, _MAX_UNKNOWN_NAMES - len(self._unknown)))
        for field in ('position', 'velocity', 'effort'):
            values = getattr(command, field)
            if values is None:
                continue
            beyond = ~(np.abs(values) <= _MAX_TARGET).all(axis=0)
            if beyond.any():
                at = int(np.argmax(beyond))
                raise BadCommand(
                    f"{field} of joint '{excerpt(names[at])}' is beyond {_MAX_TARGET:g}: "
                    'check its unit'
                )
            fields[field] = values[:, known]
        if len(known) == len(names):
            return command
        return replace(command, names=tuple(names[i] for i in known), **fields)

    def _ignores_commands(self) -> bool:
        return self.tick * self.dt < self._dead_time - _TIME_TOLERANCE

    def _next_targets(self) -> JointTargets:
        """Return the targets of the next control period."""
        trajectory = self._trajectory
        if trajectory is None:
            pending, self._pending = self._pending, ()
            for targets in pending[:-1]:
                self._memory.resolve(targets)
            return pending[-1] if pending else JointTargets(names=())
        now = self.tick * self.dt - self._started
        if now + self.dt < 0.0:
            return JointTargets(names=())
        if now + self.dt >= trajectory.end - _TIME_TOLERANCE:
            self._trajectory, self._pending = None, _final_targets(trajectory)
        rows = self._rows(trajectory, now)
        return trajectory.at(now + self.dt * np.arange(1, rows + 1) / rows, self._start)

    def _rows(self, trajectory: Trajectory, now: float) -> int:
        """
        Return the number of sub-samples of the next control period.

        It is the number of trajectory points in the period if that divides the physics steps of
        the period, else 1.
        """
        times = trajectory.times
        inside = (times > now + _TIME_TOLERANCE) & (times <= now + self.dt + _TIME_TOLERANCE)
        points = max(1, int(np.count_nonzero(inside)))
        return points if self.scene.steps_per_tick % points == 0 else 1


def _final_targets(trajectory: Trajectory) -> tuple[JointTargets, ...]:
    """Return targets that hold the last positions of a trajectory, without velocity and effort."""
    if trajectory.position is None:
        return ()
    return (JointTargets(names=trajectory.names, position=trajectory.position[-1]),)
