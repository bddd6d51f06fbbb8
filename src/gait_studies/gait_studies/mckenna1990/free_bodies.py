# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study mckenna1990: free bodies without gravity or contact, started with given velocities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.motion.observation import Observation
from gait_core.robot.model import Actuator, Joint, RobotModel
from gait_core.testing.free_bodies import applied_targets, free_box, solid_box
from gait_core.trial.setup import make_scene
from gait_tools.study.definition import StudyRow, row_at_most, row_near
from gait_tools.study.session import StudySession
from sim_bridge.engines.mujoco.engine import MujocoEngine
from sim_bridge.engines.shared.scene_engine import SceneStart

_CUBE_SIDE, _CUBE_MASS = 0.01, 1e-3
_INITIAL_TWIST = (0.03, -0.05, 0.02, 7.0, -4.0, 9.0)
_LINK_RATE = 20.0
"""Initial velocity of the last joint [rad/s]."""
_DURATION = 0.5
_PHYSICS_STEP = 1.0 / 38400.0


def measure_free_bodies(session: StudySession) -> Sequence[StudyRow]:
    """Measure the errors of a spinning cube and of a chain whose last link turns."""
    deviation, spin_change = _spinning_cube_errors()
    along, aside = _chain_acceleration()
    return [
        row_at_most(
            'check_7_way',
            'deviation of a free cube from a straight line, over the distance',
            deviation,
            1e-3,
            note=f'over {_DURATION:g} s, from a twist on three axes',
        ),
        row_at_most(
            'check_7_spin', 'change of its spin in a second, over the spin', spin_change, 1e-3
        ),
        row_near(
            'check_8_along',
            'acceleration of three links in a line, the last turning, over rate^2 length / 6',
            along,
            1.0,
            1e-6,
        ),
        row_at_most(
            'check_8_aside',
            'part of that acceleration across the line, in the first step',
            aside,
            1e-6,
        ),
    ]


class _MovingEngine(MujocoEngine):
    """
    MuJoCo engine whose scenes start with given velocities.

    Parameters
    ----------
    model : RobotModel
    velocities : (6 + n,) sequence [m/s, rad/s]
        Velocities of the root, then of the joints.

    """

    def __init__(self, model: RobotModel, velocities: Sequence[float]) -> None:
        super().__init__(lambda name, draw: model)
        self._velocities = velocities

    def _build(self, start: SceneStart) -> None:
        super()._build(start)
        self._world.data.qvel[:] = self._velocities


def _simulate_free(
    model: RobotModel, velocities: Sequence[float], period: float, periods: int
) -> list[Observation]:
    """Return the observations of a robot without gravity that starts with given velocities."""
    engine = _MovingEngine(model, velocities)
    scene = make_scene(
        'roach',
        {
            'length_scale': 1.0,
            'gravity': [0.0, 0.0, 0.0],
            'physics_step': _PHYSICS_STEP,
            'control_period': period,
            'initial': {'clearance': 1.0},
        },
    )
    engine.reset(scene, 0)
    observations = [engine.step(applied_targets(model)) for _ in range(periods)]
    engine.close()
    return observations


def _spinning_cube_errors() -> tuple[float, float]:
    """Return a free cube's lateral deviation over distance, and relative spin change [1/s]."""
    period = 16.0 * _PHYSICS_STEP
    observations = _simulate_free(
        free_box((_CUBE_SIDE,) * 3, _CUBE_MASS), _INITIAL_TWIST, period, round(_DURATION / period)
    )
    poses = np.array([observed.body_poses for observed in observations])
    twists = np.array([observed.body_twists for observed in observations])
    positions: FloatArray = poses[:, 0, :3]
    spins: FloatArray = twists[:, 0, 3:]
    displacement = positions[-1] - positions[0]
    length = float(np.linalg.norm(displacement))
    deviation = (
        np.linalg.norm(np.cross(positions - positions[0], displacement / length), axis=1).max()
        / length
    )
    spin_change = (
        np.linalg.norm(spins - spins[0], axis=1).max() / np.linalg.norm(spins[0]) / _DURATION
    )
    return float(deviation), float(spin_change)


def _chain_acceleration() -> tuple[float, float]:
    """Return a chain's first acceleration over the closed form, and its lateral share."""
    length = 2.0 * _CUBE_SIDE
    links = tuple(
        solid_box(name, (length, _CUBE_SIDE, _CUBE_SIDE), _CUBE_MASS, (0.5 * length, 0.0, 0.0))
        for name in ('first', 'second', 'third')
    )
    joints = tuple(
        Joint(
            name=child,
            kind='revolute',
            parent=parent,
            child=child,
            xyz=(length, 0.0, 0.0),
            axis=(0.0, 1.0, 0.0),
            lower=-3.0,
            upper=3.0,
        )
        for parent, child in (('first', 'second'), ('second', 'third'))
    )
    names = tuple(joint.name for joint in joints)
    free = free_box((_CUBE_SIDE,) * 3, _CUBE_MASS)
    model = replace(
        free,
        links=links,
        joints=joints,
        joint_names=names,
        actuators={name: Actuator(kind='effort', constants={}) for name in names},
        nominal_stance=dict.fromkeys(names, 0.0),
        legs=(replace(free.legs[0], sole='first'),),
    )
    before = np.array([*(0.0,) * 7, _LINK_RATE])
    (observation,) = _simulate_free(model, before.tolist(), _PHYSICS_STEP, 1)
    assert observation.body_twists is not None and observation.joint_velocities is not None
    twist, rates = observation.body_twists[0], observation.joint_velocities - before[6:]
    aside = np.abs([*twist[1:3], *(length * twist[3:]), *(length * rates)]).max()
    return float(twist[0] / _PHYSICS_STEP / (_LINK_RATE**2 * length / 6.0)), float(
        aside / abs(twist[0])
    )
