# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Trial as a plain sequence of MuJoCo calls, the reference for the overhead of the engine.

It makes the calls of the engine ``mujoco`` for a robot with position servos on flat ground, in the
same order, and no others. Its last state equals that of the engine to the last bit. Both use the
same compiled kernels for the references of servos and contacts.
"""

from __future__ import annotations

from collections.abc import Sequence
import time
from typing import Any

import numpy as np

from gait_core.errors import ConfigurationError
from gait_core.kinematics.start_pose import pose_on_terrain
from gait_core.motion.targets import AppliedTargets
from gait_core.parameters.declaration import make_parameters
from gait_core.robot.model import RobotModel
from gait_core.terrains import load_terrain
from gait_core.trial.parts import initial_positions
from gait_core.trial.scene import Scene
from sim_bridge.engines.mujoco.client import mj
from sim_bridge.engines.mujoco.constraint_kernel import (
    SERVO,
    add_servo_work,
    set_servo_targets,
    write_references,
)
from sim_bridge.engines.mujoco.model import build_model
from sim_bridge.engines.mujoco.options import MujocoOptions
from sim_bridge.engines.shared.actuator_targets import DEFAULT_GAIN, NO_LIMIT
from sim_bridge.engines.shared.merged_joints import merge_joints


def bare_trial(
    robot: RobotModel, scene: Scene, periods: Sequence[AppliedTargets]
) -> tuple[float, tuple[float, ...]]:
    """
    Run the targets of a trial; return the wall time [s] and the last joint positions.

    The wall time includes the reset of the state and every control period, but not the making of
    the model, which the engine keeps too.

    Raises
    ------
    ConfigurationError
        If the scene or robot has a feature that this script lacks.

    """
    options = make_parameters(MujocoOptions, scene.engine_options)
    _check_supported(robot, scene, options)
    terrain = load_terrain(scene.terrain)
    start = initial_positions(robot, scene)
    pose = pose_on_terrain(robot, start, scene.initial, terrain)
    model = build_model(merge_joints(robot), scene, options, terrain)
    data = mj.MjData(model)
    joints = [model.joint(name) for name in robot.joint_names]
    qpos_index = np.array([joint.qposadr[0] for joint in joints])
    dof_index = np.array([joint.dofadr[0] for joint in joints])
    step = scene.physics_step
    # Damping of a contact, 1 / (step impedance), times its friction coefficient [1/s], by which
    # sliding contacts are corrected.
    slip_damping = scene.friction / (step * options.contact_impedance)
    order = np.argsort(dof_index)
    servos = np.zeros(len(order), dtype=SERVO)
    servos['joint'], servos['row'], servos['rate_factor'] = order, np.arange(len(order)), 1.0
    servos['hardness'] = 1.0 / (step * options.servo_impedance)
    servos['qpos_index'], servos['dof_index'] = qpos_index[order], dof_index[order]
    servos['gain'] = [
        robot.actuators[robot.joint_names[i]].constants.get('gain', DEFAULT_GAIN) for i in order
    ]
    servos['velocity_limit'] = np.minimum(robot.velocity_limit, NO_LIMIT)[order]
    servos['strength'], servos['drive_ratio'], servos['backdrive_ratio'] = np.inf, 1.0, -1.0
    rows = [list(zip(targets.position, targets.velocity, strict=True)) for targets in periods]
    began = time.perf_counter()
    mj.mj_resetData(model, data)
    data.qpos[:3], data.qpos[3:7] = pose[:3], pose[[6, 3, 4, 5]]
    data.qpos[qpos_index] = start
    model.dof_frictionloss[dof_index] = np.minimum(robot.effort_limit, NO_LIMIT)
    state, acceleration = (data.qpos, data.qvel), data.qacc
    for samples in rows:
        steps = scene.steps_per_tick // len(samples)
        for position, velocity in samples:
            set_servo_targets(servos, np.clip(position, robot.lower, robot.upper), velocity)
            for _ in range(steps):
                mj.mj_step1(model, data)
                references = data.efc_aref
                contacts = len(servos) + data.nl
                write_references(servos, state, references, data.efc_vel, contacts, slip_damping)
                mj.mj_step2(model, data)
                add_servo_work(servos, step, data.efc_force, acceleration)
        _read_state(data)
    return time.perf_counter() - began, tuple(data.qpos[qpos_index].tolist())


def _check_supported(robot: RobotModel, scene: Scene, options: MujocoOptions) -> None:
    """Raise ``ConfigurationError`` if bare calls of MuJoCo cannot run the robot in the scene."""
    is_supported = (
        scene.terrain.name == 'flat'
        and scene.contact_law == 'engine'
        and not scene.pushes
        and not scene.fixed_base
        and not options.self_collision
        and not robot.force_elements
        and not any(joint.mimic for joint in robot.joints)
        and all(robot.actuators[name].kind == 'position' for name in robot.joint_names)
    )
    if not is_supported:
        raise ConfigurationError(
            'the comparison without the suite needs position servos on flat ground without '
            f"pushes, fixed base, self-collision or mimic joints; robot '{robot.name}' or its "
            'scene differs'
        )


def _read_state(data: Any) -> None:
    """Read the arrays from which an observation is made."""
    _ = data.qpos.copy(), data.qvel.copy(), data.efc_force.copy(), data.warning.number
    if data.ncon:
        found = data.contact
        _ = found.geom, found.exclude, found.dist, found.pos, found.frame
