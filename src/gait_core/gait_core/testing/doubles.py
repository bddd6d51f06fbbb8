# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Small robots, an engine without physics and specs for the tests of every package.

Nothing here is registered: a test passes the engine to ``run_trial``, or registers what it needs
for its own length with ``register_temporarily``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.spatial.transform import Rotation

from gait_core import registry
from gait_core.contracts import Controller, Engine, Evaluator, ProgressCallback
from gait_core.errors import ProtocolError, SimulationDiverged
from gait_core.kinematics.element_geometry import element_lengths_at
from gait_core.kinematics.start_pose import pose_on_terrain
from gait_core.motion.observation import Contacts, Imu, Observation
from gait_core.motion.targets import AppliedTargets, JointTargets
from gait_core.parameters.declaration import Parameters, float_parameter
from gait_core.processes.worker_policy import LossCallback
from gait_core.robot.legged_box import legged_box
from gait_core.robot.model import RobotModel
from gait_core.terrains import load_terrain
from gait_core.trial.loop import run_trial
from gait_core.trial.record import rollout_arrays, rollout_from_arrays
from gait_core.trial.rollout import Rollout
from gait_core.trial.scene import EMPTY_MAPPING, Scene
from gait_core.trial.spec import OK, Command, TrialResult, TrialSpec

_GAIN = 20.0
_PROPULSION = 0.1


class KinematicEngine(Engine):
    """
    Engine without physics, for tests of everything around an engine.

    Joints go to their targets at most at their velocity limits. A leg whose first joint does not
    swing forwards is in stance and bears its share of the weight. These legs move the base
    forwards. The base leans by the mean deviation of the joints from the stance, so a robot
    can be made to fall; a target beyond 100 rad counts as divergence. Force elements are as long
    as the joints make them and slack. Friction, pushes and physics step have no effect.

    Parameters
    ----------
    robot : RobotModel or None
        Replaces the robot of the scene; ``None``: a ``legged_box``.

    """

    def __init__(self, robot: RobotModel | None = None) -> None:
        self._robot = robot or legged_box()
        self._closed = False

    @property
    def robot(self) -> RobotModel:
        """The robot."""
        return self._robot

    def reset(self, scene: Scene, seed: int, settle_ticks: int = 0) -> Observation:
        """Return the initial state; settling changes nothing, for a robot that is at rest."""
        if self._closed:
            raise ProtocolError('reset of a closed engine')
        self._scene = scene
        self._terrain = load_terrain(scene.terrain)
        self._tick = 0
        start = {**self._robot.nominal_stance, **scene.initial.joint_positions}
        self._positions = np.array([start.get(name, 0.0) for name in self._robot.joint_names])
        self._velocities = np.zeros_like(self._positions)
        self._efforts = np.zeros_like(self._positions)
        self._pose = pose_on_terrain(self._robot, self._positions, scene.initial, self._terrain)
        self._speed = 0.0
        return self._observation()

    def step(self, targets: AppliedTargets) -> Observation:
        """Advance one control period."""
        if self._closed:
            raise ProtocolError('step of a closed engine')
        if np.abs(targets.position).max(initial=0.0) > 100.0:
            raise SimulationDiverged('a target beyond 100 rad')
        dt = self._scene.control_period / len(targets.position)
        n = len(self._positions)
        for row in targets.position[:, :n]:
            reach = self._robot.velocity_limit * dt
            move = np.clip(row - self._positions, -reach, reach)
            self._efforts = _GAIN * (row - self._positions)
            self._positions = self._positions + move
            self._velocities = move / dt
            self._advance_base(dt)
        self._tick += 1
        return self._observation()

    def close(self) -> None:
        """Refuse further calls."""
        self._closed = True

    def _advance_base(self, dt: float) -> None:
        """Move the base by the sweep of the stance legs; tilt it by the mean joint angle."""
        sweep = -self._velocities[self._hips()]
        self._speed = _PROPULSION * float(np.maximum(sweep, 0.0).sum())
        yaw = self._scene.initial.yaw
        self._pose = self._pose.copy()
        self._pose[0] += self._speed * np.cos(yaw) * dt
        self._pose[1] += self._speed * np.sin(yaw) * dt
        bent = self._positions - self._robot.stance[: len(self._positions)]
        lean = float(bent.mean()) if len(bent) else 0.0
        self._pose[3:] = Rotation.from_euler('xyz', [0.0, lean, yaw]).as_quat()

    def _hips(self) -> list[int]:
        return [self._robot.joint_index[leg.joints[0]] for leg in self._robot.legs]

    def _observation(self) -> Observation:
        """Return the state as an observation with an ideal IMU."""
        yaw = self._scene.initial.yaw
        twist = np.array([self._speed * np.cos(yaw), self._speed * np.sin(yaw), 0, 0, 0, 0])
        gravity = np.array(self._scene.gravity)
        return Observation(
            tick=self._tick,
            time=self._tick * self._scene.control_period,
            joint_names=self._robot.joint_names,
            joint_positions=self._positions.copy(),
            joint_velocities=self._velocities.copy(),
            joint_efforts=self._efforts.copy(),
            body_names=self._robot.roots,
            body_poses=self._pose[None].copy(),
            body_twists=twist[None],
            imu=Imu(
                orientation=self._pose[3:].copy(),
                angular_velocity=np.zeros(3),
                linear_acceleration=-gravity,
            ),
            contacts=self._contacts(),
            **self._elements(),
        )

    def _elements(self) -> dict[str, Any]:
        elements = self._robot.force_elements
        if not elements:
            return {}
        return {
            'element_names': tuple(element.name for element in elements),
            'element_lengths': element_lengths_at(self._robot, self._positions),
            'element_forces': np.zeros(len(elements)),
        }

    def _contacts(self) -> Contacts:
        """Return a contact under the hip of each leg in stance; they share the weight."""
        standing = np.flatnonzero(self._velocities[self._hips()] <= 0.0)
        points = np.zeros((len(standing), 3))
        for row, leg in enumerate(standing):
            points[row, :2] = self._pose[:2] + np.array(
                self._robot.joint[self._robot.legs[leg].joints[0]].xyz[:2]
            )
        points[:, 2] = self._terrain.height(points[:, 0], points[:, 1])
        forces = np.zeros((len(standing), 3))
        load = -self._scene.gravity[2] * self._robot.mass
        forces[:, 2] = load / max(1, len(standing))
        return Contacts(
            soles=self._robot.soles,
            sole=standing.astype(np.int64),
            points=points,
            forces=forces,
            depths=np.zeros(len(standing)),
        )


@dataclass(frozen=True, kw_only=True)
class WaveParams(Parameters):
    """A sine on every joint, legs in turn."""

    amplitude: float = float_parameter(0.2, low=0.0, high=1.0, unit='rad', doc='About the stance.')
    frequency: float = float_parameter(1.0, low=0.1, high=5.0, unit='Hz', doc='Waves per second.')


class WaveController(Controller):
    """Swings every joint about the nominal stance; the time is the sum of its steps."""

    Params: ClassVar[type[Parameters]] = WaveParams
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {'wave': {}}
    needs: ClassVar[frozenset[str]] = frozenset({'joint_positions'})

    def __init__(self, robot: RobotModel, params: WaveParams) -> None:
        super().__init__(robot, params)
        self._robot = robot
        self._lags = np.arange(len(robot.target_names)) * 1.0
        self._time = 0.0

    def reset(self, seed: int) -> None:
        """Restart the wave; the seed has no effect."""
        self._time = 0.0

    def step(self, dt: float, command: Command, observation: Observation) -> JointTargets:
        """Return the wave at the end of the control period."""
        self._time += dt
        phase = 2.0 * np.pi * self.params.frequency * self._time - self._lags
        wave = self._robot.stance + self.params.amplitude * np.sin(phase)
        return JointTargets(names=self._robot.target_names, position=wave)

    def state(self) -> Mapping[str, float]:
        """Return the phase [rad]."""
        return {'phase': 2.0 * np.pi * self.params.frequency * self._time}


class InProcessEvaluator(Evaluator):
    """
    Runs the trials in this process, one after the other.

    Parameters
    ----------
    stop_at : int or None
        Number of the trial at which it is interrupted, counted over all calls.
    spoil : callable or None
        Returns a result to record in place of one, from its number and the result.

    """

    def __init__(
        self,
        stop_at: int | None = None,
        spoil: Callable[[int, TrialResult], TrialResult] | None = None,
    ) -> None:
        super().__init__()
        self.calls, self._stop_at, self._spoil = 0, stop_at, spoil

    def evaluate(
        self,
        specs: Sequence[TrialSpec],
        progress: ProgressCallback | None = None,
        lost: LossCallback | None = None,
    ) -> list[TrialResult]:
        """Return one result per spec."""
        results = []
        for index, spec in enumerate(specs):
            if self.calls == self._stop_at:
                raise KeyboardInterrupt
            result = run_trial(spec)
            if self._spoil is not None:
                result = self._spoil(self.calls, result)
            self.calls += 1
            results.append(result)
            if progress is not None:
                progress(index, result)
        return results

    def close(self) -> None:
        """Do nothing."""


def spec_for_test(
    controller: str = 'wave', scene: Mapping[str, Any] = EMPTY_MAPPING, **changes: Any
) -> TrialSpec:
    """
    Return the spec of a trial of half a second on the ``kinematic`` engine.

    ``scene`` changes fields of its scene; other keywords change those of the spec.
    """
    base = Scene(robot='legged_box', engine='kinematic')
    return replace(
        TrialSpec(scene=replace(base, **scene), controller=controller, duration=0.5), **changes
    )


@contextmanager
def register_temporarily(extended: str, **objects: Any) -> Iterator[None]:
    """Register objects of a kind by name, in this process, while the context lasts."""
    load_registered, names_registered = registry.load, registry.names

    def load(kind: str, name: str) -> Any:
        """Load one of the objects or what is registered."""
        return (
            objects[name] if kind == extended and name in objects else load_registered(kind, name)
        )

    def names(kind: str) -> tuple[str, ...]:
        """Return the registered names and those of the objects."""
        more = objects if kind == extended else ()
        return tuple(sorted({*names_registered(kind), *more}))

    registry.load, registry.names = load, names
    try:
        yield
    finally:
        registry.load, registry.names = load_registered, names_registered


def make_rollout(
    robot: RobotModel, spec: TrialSpec, periods: int, status: str = OK, **arrays: Any
) -> Rollout:
    """Return a record of control periods from arrays by their names on disk; others are zero."""
    rows, m = periods + 1, len(robot.target_names)
    shapes: dict[str, tuple[int, ...]] = {
        **dict.fromkeys(
            ('joint_positions', 'joint_velocities', 'joint_efforts'),
            (rows, len(robot.joint_names)),
        ),
        'body_poses': (rows, len(robot.roots), 7),
        'body_twists': (rows, len(robot.roots), 6),
        **dict.fromkeys(('target_positions', 'target_velocities', 'target_efforts'), (periods, m)),
        'commands': (periods, 3),
        'contact_points': (0, 3),
        'contact_forces': (0, 3),
        'contact_depths': (0,),
    }
    no_contacts = np.zeros(0, dtype=np.int64)
    zeros = {name: np.zeros(shape) for name, shape in shapes.items()}
    return rollout_from_arrays(
        robot,
        spec,
        status,
        {**zeros, 'contact_tick': no_contacts, 'contact_sole': no_contacts, **arrays},
    )


def rollout_with_arrays(rollout: Rollout, **arrays: Any) -> Rollout:
    """Return a record with other arrays, by their names on disk."""
    return rollout_from_arrays(
        rollout.robot, rollout.spec, rollout.status, {**rollout_arrays(rollout), **arrays}
    )
